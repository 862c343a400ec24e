#include "cli/cli_internal.h"
#include "testing.h"

#include <unistd.h>

static void test_line(void **state)
{
    (void)state;
    char line[200];
    struct run_progress progress = {"id_point on mariadb (4 clients)", 12, 80, 42 * NS_PER_S};
    cli_progress_line(line, sizeof(line), 79, &progress);
    assert_string_equal(line, "[12/80] id_point on mariadb (4 clients), 0:42");
    progress = (struct run_progress){"floors", 0, 0, 3725 * NS_PER_S};
    cli_progress_line(line, sizeof(line), 79, &progress);
    assert_string_equal(line, "floors, 62:05");
}

/* The step is cut, the time is not; it never gets wider than the terminal. */
static void test_width(void **state)
{
    (void)state;
    char line[200];
    struct run_progress progress = {"a step with a very long name indeed", 1, 2, 61 * NS_PER_S};
    for (unsigned width = 10; width < 60; width++) {
        size_t bytes = cli_progress_line(line, sizeof(line), width, &progress);
        assert_true(bytes <= width);
        assert_string_equal(line + bytes - 6, ", 1:01");
    }
}

static void test_terminal(void **state)
{
    (void)state;
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    setenv("TERM", "xterm", 1);
    assert_false(cli_colour(pipe_ends[1])); /* not a terminal */
    assert_false(cli_can_rewrite(pipe_ends[1]));
    setenv("COLUMNS", "132", 1);
    assert_int_equal(cli_width(pipe_ends[1]), 132);
    setenv("COLUMNS", "20", 1);
    assert_int_equal(cli_width(pipe_ends[1]), 80);
    setenv("COLUMNS", "wide", 1);
    assert_int_equal(cli_width(pipe_ends[1]), 80);
    unsetenv("COLUMNS");
    assert_int_equal(cli_width(pipe_ends[1]), 80);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
