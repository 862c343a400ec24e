/* links: base format math gen program suite */

#include "base/defs.h"
#include "suite/suite.h"
#include "testing.h"

#include <dirent.h>
#include <string.h>

/* Every file of the corpus that hangs or escapes a naive sandbox ends in a fault, within two
 * seconds of CPU time. */

#define CPU_NS_MAX (TEST_SLOWDOWN * UINT64_C(2) * NS_PER_S)

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void try_file(const char *folder, const char *name)
{
    struct arena *arena = arena_create(1 << 16);
    struct suite suite = {0};
    struct suite_faults faults = {0};
    struct err err = {0};
    struct suite_options options = {.name = arena_printf(arena, "%s/%s", folder, name)};
    uint64_t start_ns = cpu_ns();
    bool done = suite_load(arena, &options, &suite, &faults, &err);
    uint64_t spent_ns = cpu_ns() - start_ns;
    print_message("%s: %llu ms: %s\n", name, (unsigned long long)(spent_ns / NS_PER_MS),
                  err.text);
    assert_false(done);
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_true(faults.count >= 1);
    assert_true(spent_ns < CPU_NS_MAX);
    arena_destroy(&arena);
}

static void escapes_end_in_a_fault(void **state)
{
    (void)state;
    static const char folder[] = DBDYNO_SOURCE_DIR "/tests/fuzz/corpus/suite";
    DIR *corpus = opendir(folder);
    unsigned count = 0;
    assert_non_null(corpus);
    for (const struct dirent *entry; (entry = readdir(corpus)) != NULL;) {
        if (strncmp(entry->d_name, "escape_", 7) != 0)
            continue;
        try_file(folder, entry->d_name);
        count++;
    }
    closedir(corpus);
    assert_true(count >= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(escapes_end_in_a_fault)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
