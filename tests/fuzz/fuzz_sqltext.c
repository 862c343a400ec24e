/* links: base program
 *
 * SQL text of any bytes, for every dialect. What comes out has as many placeholders as names.
 */

#include "program/sqltext.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sqltext *out, size_t given_bytes)
{
    if (strlen(out->sql) > (given_bytes + 8) * 3)
        abort();
    for (uint32_t i = 0; i < out->param_count; i++) {
        size_t bytes = strlen(out->params[i]);
        if (bytes == 0 || bytes > 63)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(4096);
    char *sql = arena_array(arena, char, size + 1);
    if (size > 0)
        memcpy(sql, data, size);
    for (unsigned i = 0; i < DIALECT_COUNT; i++) {
        struct sqltext out;
        struct err err = {0};
        if (sqltext_compile(arena, sql, (enum dialect)i, &out, &err))
            check(&out, strlen(sql));
        else if (err.kind != ERR_CONFIG || err.text[0] == '\0')
            abort();
    }
    arena_destroy(&arena);
    return 0;
}
