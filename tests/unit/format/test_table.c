#include "format/table.h"
#include "testing.h"

#include <string.h>

struct fixture {
    struct arena *arena;
    struct table *table;
    struct text out;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->arena = arena_create(4096);
    f->table = table_create(f->arena);
    text_init(&f->out, f->arena, 1 << 20);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_destroy(&f->arena);
    test_free(f);
    return 0;
}

static void add(struct fixture *f, const char *const *cells, size_t count)
{
    table_row(f->table);
    for (size_t i = 0; i < count; i++)
        table_cell(f->table, cells[i]);
}

/* The columns of a run on two targets. */
static void two_targets(struct fixture *f)
{
    table_column(f->table, NULL, "scenario", TABLE_LEFT, false);
    table_column(f->table, "sqlite (full)", "p50", TABLE_RIGHT, false);
    table_column(f->table, "sqlite (full)", "max", TABLE_RIGHT, true);
    table_column(f->table, "postgres (full)", "p50", TABLE_RIGHT, false);
    table_column(f->table, "postgres (full)", "max", TABLE_RIGHT, true);
    static const char *const point[] = {"id_point", "0.012", "0.030", "0.120", "1.500"};
    static const char *const scan[] = {"scan_50k", "12.346", "13.000", "100.00", "-"};
    add(f, point, 5);
    add(f, scan, 5);
}

static const char *render(struct fixture *f, unsigned width)
{
    text_reset(&f->out);
    table_render(f->table, &f->out, width);
    return f->out.at;
}

static void a_whole_table(void **state)
{
    struct fixture *f = *state;
    two_targets(f);
    static const char want[] = "          sqlite (full)   postgres (full)\n"
                               "scenario     p50     max     p50      max\n"
                               "-----------------------------------------\n"
                               "id_point   0.012   0.030   0.120    1.500\n"
                               "scan_50k  12.346  13.000  100.00        -\n";
    assert_string_equal(render(f, 0), want);
    assert_string_equal(render(f, 80), want);
    assert_string_equal(render(f, 41), want);
}

static void columns_drop_from_the_right(void **state)
{
    struct fixture *f = *state;
    table_column(f->table, NULL, "name", TABLE_LEFT, false);
    table_column(f->table, "one", "p50", TABLE_RIGHT, false);
    table_column(f->table, "one", "max", TABLE_RIGHT, true);
    table_column(f->table, "two", "p50", TABLE_RIGHT, false);
    table_column(f->table, "two", "max", TABLE_RIGHT, true);
    static const char *const cells[] = {"point", "1", "2", "3", "4"};
    add(f, cells, 5);
    assert_string_equal(render(f, 25), "         one       two\n"
                                       "name   p50  max  p50  max\n"
                                       "-------------------------\n"
                                       "point    1    2    3    4\n");
    assert_string_equal(render(f, 24), "         one     two\n"
                                       "name   p50  max  p50\n"
                                       "--------------------\n"
                                       "point    1    2    3\n");
    assert_string_equal(render(f, 19), "       one  two\n"
                                       "name   p50  p50\n"
                                       "---------------\n"
                                       "point    1    3\n");
}

/* A heading keeps its width as long as there are columns to drop. */
static void headings_outlive_columns(void **state)
{
    struct fixture *f = *state;
    two_targets(f);
    assert_string_equal(render(f, 40), "          sqlite (full)  postgres (full)\n"
                                       "scenario            p50              p50\n"
                                       "----------------------------------------\n"
                                       "id_point          0.012            0.120\n"
                                       "scan_50k         12.346           100.00\n");
    assert_string_equal(render(f, 30), "          sqlite (ful~  postg~\n"
                                       "scenario           p50     p50\n"
                                       "------------------------------\n"
                                       "id_point         0.012   0.120\n"
                                       "scan_50k        12.346  100.00\n");
}

static void figures_are_never_cut(void **state)
{
    struct fixture *f = *state;
    two_targets(f);
    static const char want[] = "          sqlit~  postg~\n"
                               "scenario     p50     p50\n"
                               "------------------------\n"
                               "id_point   0.012   0.120\n"
                               "scan_50k  12.346  100.00\n";
    assert_string_equal(render(f, 24), want);
    assert_string_equal(render(f, 1), want);
}

static void the_longest_text_is_cut(void **state)
{
    struct fixture *f = *state;
    table_column(f->table, NULL, "name", TABLE_LEFT, false);
    table_column(f->table, NULL, "ms", TABLE_RIGHT, false);
    table_column(f->table, NULL, "what it says", TABLE_LEFT, false);
    static const char *const cells[] = {"exists_indexed", "1.234", "a rather long explanation"};
    add(f, cells, 3);
    assert_string_equal(render(f, 40), "name               ms  what it says\n"
                                       "----------------------------------------\n"
                                       "exists_indexed  1.234  a rather long ex~\n");
    assert_string_equal(render(f, 30), "name           ms  what it sa~\n"
                                       "------------------------------\n"
                                       "exists_in~  1.234  a rather l~\n");
}

/* Code points count, not bytes, and no character is cut in two. */
static void widths_count_characters(void **state)
{
    struct fixture *f = *state;
    table_column(f->table, NULL, "name", TABLE_LEFT, false);
    table_column(f->table, NULL, "\xc2\xb5s", TABLE_RIGHT, false);
    static const char *const umlauts[] = {"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc"
                                          "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4",
                                          "1"};
    static const char *const plain[] = {"abc", "12"};
    add(f, umlauts, 2);
    add(f, plain, 2);
    assert_string_equal(render(f, 0), "name        \xc2\xb5s\n"
                                      "--------------\n"
                                      "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4"
                                      "\xc3\xb6\xc3\xbc\xc3\xa4   1\n"
                                      "abc         12\n");
    assert_string_equal(render(f, 12),
                        "name      \xc2\xb5s\n"
                        "------------\n"
                        "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4~"
                        "   1\n"
                        "abc       12\n");
}

static void rules_and_missing_cells(void **state)
{
    struct fixture *f = *state;
    table_column(f->table, NULL, "name", TABLE_LEFT, false);
    table_column(f->table, NULL, "figure", TABLE_RIGHT, false);
    table_rule(f->table, "reads");
    static const char *const cells[] = {"point", "1"};
    add(f, cells, 1);
    table_rule(f->table, NULL);
    add(f, cells, 2);
    table_rule(f->table, "a title that is too long");
    assert_string_equal(render(f, 0), "name   figure\n"
                                      "-------------\n"
                                      "-- reads ----\n"
                                      "point\n"
                                      "-------------\n"
                                      "point       1\n"
                                      "-- a title ~\n");
}

/* A server's message may hold anything. */
static void control_characters_are_blanks(void **state)
{
    struct fixture *f = *state;
    table_column(f->table, NULL, "m", TABLE_LEFT, false);
    static const char *const cells[] = {"a\nb\tc\x1b[31m"};
    add(f, cells, 1);
    assert_string_equal(render(f, 0), "m\n----------\na b c [31m\n");
}

static void an_empty_table(void **state)
{
    struct fixture *f = *state;
    table_column(f->table, NULL, "name", TABLE_LEFT, true);
    assert_string_equal(render(f, 0), "name\n----\n");
    assert_string_equal(render(f, 2), "\n\n"); /* all dropped */
}

static void markdown(void **state)
{
    struct fixture *f = *state;
    table_column(f->table, NULL, "name", TABLE_LEFT, false);
    table_column(f->table, "sqlite", "p50", TABLE_RIGHT, true);
    static const char *const cells[] = {"a|b <c> \\ `d` *e* id_point", "1.5"};
    add(f, cells, 2);
    table_rule(f->table, "reads");
    table_rule(f->table, NULL);
    add(f, cells + 1, 1);
    text_reset(&f->out);
    table_render_markdown(f->table, &f->out);
    assert_string_equal(f->out.at, "| name | sqlite p50 |\n"
                                   "| --- | ---: |\n"
                                   "| a\\|b \\<c> \\\\ \\`d\\` \\*e\\* id_point | 1.5 |\n"
                                   "| **reads** | |\n"
                                   "| 1.5 | |\n");
}

/* A key that is longer than its column stands over its row and widens nothing. */
static void a_line_of_its_own(void **state)
{
    struct fixture *f = *state;
    table_column(f->table, NULL, "name", TABLE_LEFT, false);
    table_column(f->table, NULL, "p50", TABLE_RIGHT, false);
    static const char *const cells[] = {"", "1.5"};
    table_line(f->table, "a_long_name");
    add(f, cells, 2);
    assert_string_equal(render(f, 12), "name  p50\n"
                                       "---------\n"
                                       "a_long_name\n"
                                       "      1.5\n");
    text_reset(&f->out);
    table_render_markdown(f->table, &f->out);
    assert_non_null(strstr(f->out.at, "| a_long_name | |\n| | 1.5 |\n"));
}

static void the_last_column_is_wrapped(void **state)
{
    struct fixture *f = *state;
    table_column(f->table, NULL, "n", TABLE_LEFT, false);
    table_column(f->table, NULL, "what it does", TABLE_LEFT, false);
    static const char *const cells[] = {"a", "one two three four five six seven"};
    static const char *const longer[] = {"b", "a-word-that-is-longer-than-any-column-may-be x"};
    static const char *const none[] = {"c", ""};
    table_wrap_last(f->table);
    add(f, cells, 2);
    add(f, longer, 2);
    add(f, none, 2);
    assert_string_equal(render(f, 27), "n  what it does\n"
                                       "---------------------------\n"
                                       "a  one two three four five\n"
                                       "   six seven\n"
                                       "b  a-word-that-is-longer-th\n"
                                       "   an-any-column-may-be x\n"
                                       "c\n");
    assert_non_null(strstr(render(f, 80), "\na  one two three four five six seven\n"));
}

/* Random tables at every width: no line is wider than asked once the columns allow it, none
 * ends in a blank, and figures are whole. */
static void random_tables_fit(void **state)
{
    struct fixture *f = *state;
    struct test_random random = test_random_init();
    for (int round = 0; round < 30; round++) {
        struct table *table = table_create(f->arena);
        table_column(table, NULL, "scenario", TABLE_LEFT, false);
        for (int i = 0; i < 6; i++)
            table_column(table, i < 3 ? "first target" : "the second target", "p50",
                         TABLE_RIGHT, i % 3 > 0);
        for (int i = 0; i < 5; i++) {
            char name[40] = "";
            table_row(table);
            text_print(name, sizeof(name), "%.*s", (int)test_random_below(&random, 39),
                       "a_scenario_with_quite_a_long_name_indeed");
            table_cell(table, name);
            for (int k = 0; k < 6; k++) {
                text_print(name, sizeof(name), "%u.5",
                           (unsigned)test_random_below(&random, 100000));
                table_cell(table, name);
            }
        }
        for (unsigned width = 30; width < 130; width++) {
            text_reset(&f->out);
            table_render(table, &f->out, width);
            const char *at = f->out.at;
            for (const char *end; (end = strchr(at, '\n')); at = end + 1) {
                assert_true((size_t)(end - at) <= width);
                assert_true(end > at && end[-1] != ' ');
            }
            assert_int_equal(*at, '\0');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_table, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_drop_from_the_right, setup, teardown),
        cmocka_unit_test_setup_teardown(headings_outlive_columns, setup, teardown),
        cmocka_unit_test_setup_teardown(figures_are_never_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(the_longest_text_is_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(widths_count_characters, setup, teardown),
        cmocka_unit_test_setup_teardown(rules_and_missing_cells, setup, teardown),
        cmocka_unit_test_setup_teardown(control_characters_are_blanks, setup, teardown),
        cmocka_unit_test_setup_teardown(an_empty_table, setup, teardown),
        cmocka_unit_test_setup_teardown(markdown, setup, teardown),
        cmocka_unit_test_setup_teardown(a_line_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_column_is_wrapped, setup, teardown),
        cmocka_unit_test_setup_teardown(random_tables_fit, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
