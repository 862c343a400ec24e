#include "cli/cli_internal.h"
#include "testing.h"

static const char *const names[] = {"sqlite", "postgres", NULL, "mariadb", "mysql", "null"};

static const char *near(const char *word)
{
    return cli_nearest(word, names, ARRAY_COUNT(names));
}

static void test_mistakes(void **state)
{
    (void)state;
    assert_string_equal(near("sqlight"), "sqlite");
    assert_string_equal(near("SQLite"), "sqlite");
    assert_string_equal(near("postgers"), "postgres"); /* neighbours swapped */
    assert_string_equal(near("post"), "postgres");     /* a beginning */
    assert_string_equal(near("mraiadb"), "mariadb");
    assert_string_equal(near("nul"), "null");
    assert_string_equal(near("mysql"), "mysql");
}

static void test_strangers(void **state)
{
    (void)state;
    assert_null(near("oracle"));
    assert_null(near(""));
    assert_null(near("x"));
    assert_null(cli_nearest("sqlite", NULL, 0));
    char longer[300];
    memset(longer, 's', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_null(near(longer));
    const char *const long_names[] = {longer};
    assert_null(cli_nearest("sss", long_names, 1));
}

/* Every name with one letter changed is found again, unless another is nearer. */
static void test_every_letter(void **state)
{
    (void)state;
    static const char *const all[] = {"sqlite", "postgres", "mariadb"};
    char word[16];
    for (size_t i = 0; i < ARRAY_COUNT(all); i++)
        for (size_t k = 0; all[i][k]; k++) {
            text_print(word, sizeof(word), "%s", all[i]);
            word[k] = '_';
            assert_string_equal(cli_nearest(word, all, ARRAY_COUNT(all)), all[i]);
        }
}

static void test_sentence(void **state)
{
    (void)state;
    struct cli cli = {.arena = arena_create(4096)};
    assert_string_equal(cli_did_you_mean(&cli, "sqlit", names, ARRAY_COUNT(names)),
                        ", did you mean 'sqlite'?");
    assert_string_equal(cli_did_you_mean(&cli, "oracle", names, ARRAY_COUNT(names)), "");
    arena_destroy(&cli.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_every_letter),
        cmocka_unit_test(test_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
