#include "suite_testing.h"

/* Every whole suite in docs/suites.md loads; other examples are parts of one. */

static char *read_manual(struct arena *arena)
{
    enum { ROOM = 1 << 18 };
    FILE *file = fopen(DBDYNO_SOURCE_DIR "/docs/suites.md", "re");
    char *text = arena_array(arena, char, ROOM);
    assert_non_null(file);
    assert_true(fread(text, 1, ROOM - 1, file) > 0);
    fclose(file);
    return text;
}

static void examples_load(void **state)
{
    (void)state;
    static const char open[] = "```lua\n", close[] = "```";
    struct arena *arena = arena_create(1 << 16);
    char *at = read_manual(arena);
    unsigned count = 0;
    while ((at = strstr(at, open)) != NULL) {
        at += strlen(open);
        char *end = strstr(at, close);
        assert_non_null(end);
        *end = '\0';
        if (strstr(at, "return suite {")) {
            struct loaded l = load_ok(at);
            assert_true(l.suite.scenario_count > 0);
            unload(&l);
            count++;
        }
        at = end + 1;
    }
    assert_true(count >= 3);
    arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_load)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
