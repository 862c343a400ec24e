/* links: base format math gen program suite
 *
 * Any bytes as a suite. It loads or says why, within small limits; a suite that loads has a
 * program or a reason for every scenario and dialect. */

#include "suite/suite.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_suite(struct arena *arena, const struct suite *suite)
{
    for (uint32_t i = 0; i < suite->scenario_count; i++) {
        for (unsigned d = 0; d < DIALECT_COUNT; d++) {
            struct program program;
            struct err err = {0};
            bool done = suite_compile(arena, suite, &suite->scenarios[i], (enum dialect)d,
                                      &program, &err);
            if (done ? !program_verify(&program, &err) : err.text[0] == '\0')
                abort();
        }
    }
}

static void check_faults(const struct suite_faults *faults, const struct err *err)
{
    if (err->kind != ERR_CONFIG || faults->count == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(1 << 16);
    struct suite_options options = {.name = "fuzz.lua",
                                    .seed = 42,
                                    .quick = true,
                                    .instructions_max = 200000,
                                    .memory_bytes_max = 4 << 20};
    struct suite suite = {0};
    struct suite_faults faults = {0};
    struct err err = {0};
    struct slice source = {(const char *)data, size};
    if (suite_load_text(arena, source, &options, &suite, &faults, &err))
        check_suite(arena, &suite);
    else
        check_faults(&faults, &err);
    arena_destroy(&arena);
    return 0;
}
