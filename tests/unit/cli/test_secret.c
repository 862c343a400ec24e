#include "cli/cli_internal.h"
#include "testing.h"

static int set_up(void **state)
{
    *state = arena_create(4096);
    return 0;
}

static int tear_down(void **state)
{
    struct arena *arena = *state;
    arena_destroy(&arena);
    return 0;
}

/* In every one of these the secret is "s3cret". */
static const char *const secrets[] = {
    "postgresql://u:s3cret@h/db",
    "mysql://u:s3cret@h:3306/db?x=1",
    "pg=postgresql://u:s3cret@h/db",
    "--on=postgresql://u:s3cret@h/db",
    "--on=pg=postgresql://u:s3cret@h/db",
    "postgresql://u@h/db?password=s3cret",
    "pg=postgresql://u@h/db?sslmode=require&sslpassword=s3cret",
    "conninfo:host=h password=s3cret dbname=d",
    "conninfo:host=h password='s3cret with blanks'",
    "pg=conninfo:password=s3cret host=h",
    "--on=conninfo:password=s3cret",
    "--on=pg=conninfo:password=s3cret",
    "psql postgresql://u:s3cret@h/db -c 'SELECT 1'",
    "psql 'postgresql://u:s3cret@h/db'",
    "--around=mysql mysql://u:s3cret@h/db",
    "postgresql://u:with blank s3cret@h/db",
    "postgresql://u:with/slash s3cret@h/db",
    "a mysql://u:s3cret@h/db b postgresql://u:s3cret@h/db",
};

static const char *const plain[] = {
    "run",
    "shop",
    "--on=sqlite",
    "pg=postgres?set.jit=off",
    "@staging.url",
    "pg=@staging.url",
    "users=1000",
    "--fact=note=two  blanks,  a = b",
    "perf record -g -p $DBDYNO_PID --output=x.data",
    "postgresql://u@h:5432/db?sslmode=require",
    "",
};

static void test_redact(void **state)
{
    for (size_t i = 0; i < ARRAY_COUNT(secrets); i++) {
        const char *clean = cli_redact(*state, secrets[i]);
        assert_null(strstr(clean, "s3cret"));
        assert_non_null(strstr(clean, "***"));
    }
}

static void test_unchanged(void **state)
{
    for (size_t i = 0; i < ARRAY_COUNT(plain); i++)
        assert_string_equal(cli_redact(*state, plain[i]), plain[i]);
}

static void test_around_the_secret(void **state)
{
    assert_string_equal(cli_redact(*state, "--on=pg=postgresql://u:s3cret@h/db"),
                        "--on=pg=postgresql://u:***@h/db");
    assert_string_equal(cli_redact(*state, "psql 'postgresql://u:s3cret@h/db' -c x"),
                        "psql 'postgresql://u:***@h/db' -c x");
}

/* The words keep their length: that is what the kernel shows as the process title. */
static void test_in_place(void **state)
{
    char *words[ARRAY_COUNT(secrets) + 2];
    size_t lengths[ARRAY_COUNT(secrets)];
    words[0] = arena_text(*state, "dbdyno");
    for (size_t i = 0; i < ARRAY_COUNT(secrets); i++) {
        words[i + 1] = arena_text(*state, secrets[i]);
        lengths[i] = strlen(secrets[i]);
    }
    words[ARRAY_COUNT(secrets) + 1] = NULL;
    cli_hide_secrets(*state, ARRAY_COUNT(secrets) + 1, words);
    for (size_t i = 0; i < ARRAY_COUNT(secrets); i++) {
        assert_int_equal(strlen(words[i + 1]), lengths[i]);
        assert_null(strstr(words[i + 1], "s3cret"));
    }
    assert_string_equal(words[1], "postgresql://u:******@h/db");
}

static void test_in_place_unchanged(void **state)
{
    char *words[ARRAY_COUNT(plain) + 1];
    words[0] = arena_text(*state, "dbdyno");
    for (size_t i = 0; i < ARRAY_COUNT(plain); i++)
        words[i + 1] = arena_text(*state, plain[i]);
    cli_hide_secrets(*state, ARRAY_COUNT(plain) + 1, words);
    for (size_t i = 0; i < ARRAY_COUNT(plain); i++)
        assert_string_equal(words[i + 1], plain[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_redact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unchanged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_around_the_secret, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_place_unchanged, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
