/* Reports of open loops, of searches for a rate, and of what a library costs. */
#include "fake/sample_record_open.h"
#include "os/fs.h"
#include "unit/report/reporting.h"

#define EXPECTED DBDYNO_SOURCE_DIR "/tests/unit/report/expected/"

/* Compares with a file beside this test; DBDYNO_UPDATE=1 writes it instead. */
static void expect_file(const char *name, const struct text *found)
{
    struct err err = {0};
    const char *content;
    size_t bytes;
    const char *path = arena_printf(arena, "%s%s", EXPECTED, name);
    if (getenv("DBDYNO_UPDATE")) {
        assert_true(fs_write_atomic(path, found->at, found->bytes, &err));
        return;
    }
    if (!fs_read(arena, path, 1 << 20, &content, &bytes, &err))
        fail_msg("%s", err.text);
    assert_string_equal(found->at, content);
}

/* Open loops and what goes with them, nothing else. */
static struct record *open_record(void)
{
    struct record *record = sample_record(arena);
    record->cells = NULL;
    record->cell_count = record->cell_room = 0;
    record->relation_count = record->floor_count = 0;
    record->guard_count = record->limit_count = 0;
    sample_add_open_cells(record);
    sample_add_costs(record);
    return record;
}

static struct record *search_record(void)
{
    struct record *record = open_record();
    sample_add_search(record);
    return record;
}

static struct text markdown(const struct record *record)
{
    struct text out;
    text_init(&out, arena, 1 << 20);
    report_markdown(record, &out);
    return out;
}

static void open_loops_look_as_written_down(void **state)
{
    (void)state;
    struct text out = terminal(open_record(), 80, false);
    expect_file("open_80.txt", &out);
    out = terminal(search_record(), 140, false);
    expect_file("open_140.txt", &out);
    out = markdown(search_record());
    expect_file("open.md", &out);
}

static const char *place(const struct text *text, const char *what)
{
    const char *at = strstr(text->at, what);
    if (!at)
        fail_msg("no \"%s\" in\n%s", what, text->at);
    return at;
}

static void what_was_asked_for_and_done_comes_first(void **state)
{
    (void)state;
    const char *line = answer(open_record());
    assert_non_null(strstr(line, "point_open with 8 clients: sqlite 1,000 of 1,000/s, postgres "
                                 "500 of 1,000/s"));
    struct record *record = sample_open_record(arena);
    struct text out = terminal(record, 140, false);
    assert_true(place(&out, "Open loop") < place(&out, "Loads"));
    assert_true(place(&out, "offered") < place(&out, "p99.9"));
}

static void bounds_are_marked_and_nothing_else(void **state)
{
    (void)state;
    struct record *record = open_record();
    struct text out = terminal(record, 140, false);
    (void)place(&out, "2.500  3.750  >=5.000  >=6.250  >=7.500");
    (void)place(&out, "due but never done: point_open on postgres 2,496; >= is a lower bound");
    struct rec_metric *response = &record->cells[1].metrics[2];
    response->bounded_from.value++; /* just above the p99 */
    out = terminal(record, 140, false);
    (void)place(&out, "3.750  5.000  >=6.250");
    response->bounded_from.known = false;
    record->cells[1].metrics[5].value = 0;
    out = terminal(record, 140, false);
    assert_null(strstr(out.at, ">="));
    assert_null(strstr(out.at, "never done"));
}

static void failed_cells_have_words_instead(void **state)
{
    (void)state;
    struct record *record = open_record();
    record->cells[1].verdict = "failed";
    struct text out = terminal(record, 100, false);
    (void)place(&out, "FAILED\n");
    record->cells[0].verdict = record->cells[1].verdict = "invalid";
    out = terminal(record, 140, false);
    (void)place(&out, "1,000! ");
    (void)place(&out, ">=7.500!");
    (void)place(&out, "! not valid: the warnings say why");
}

static void phases_have_their_service_time(void **state)
{
    (void)state;
    struct record *record = open_record();
    struct rec_cell *cell = sample_cell(record, "point_open", 1);
    cell->phase = "commit";
    cell->params = record->cells[1].params;
    sample_service(arena, cell, 7504, 9000000);
    struct text out = terminal(record, 140, false);
    const char *at = place(&out, "\n  commit ");
    assert_true(strstr(at, "9.000") < strchr(at + 1, '\n'));
}

static size_t widest_line(const char *text)
{
    size_t widest = 0, line = 0;
    for (; *text; text++) {
        line = *text == '\n' ? 0 : line + (((unsigned char)*text & 0xc0) != 0x80);
        widest = line > widest ? line : widest;
    }
    return widest;
}

static void every_width_is_kept(void **state)
{
    (void)state;
    struct record *record = search_record();
    record->cells[0].name = record->cells[1].name = "a_scenario_with_a_rather_long_name";
    record->searches[0].steps[3].why =
        "achieved 93 % of the rate, and then some more words that "
        "have to go onto lines of their own";
    for (unsigned width = 80; width < 180; width += 7) {
        struct text out = terminal(record, width, false);
        assert_true(widest_line(out.at) <= width);
        (void)place(&out, "a_scenario_with_a_rather_long_name");
        (void)place(&out, "offered");
    }
}

static void a_search_says_its_answer(void **state)
{
    (void)state;
    struct record *record = search_record();
    const char *words = "highest rate that keeps p99 <= 5 ms: 12,300/s (closed loop: 15,100/s)";
    assert_non_null(strstr(answer(record), words));
    struct text out = terminal(record, 140, false);
    (void)place(&out, arena_printf(arena, "id_point with 8 clients on postgres: %s\n", words));
    (void)place(&out, "no: achieved 93 % of the rate; 812 never done");
    record->searches[0].known = false;
    record->searches[0].closed_per_s = 0;
    record->searches[0].reason = "even 10/s breaks it";
    record->searches[0].steps[0].value.known = false;
    out = terminal(record, 140, false);
    (void)place(&out,
                "the highest rate that keeps p99 <= 5 ms is not known; even 10/s breaks it");
    record->searches[0].limit = "p50 <= 1 ms"; /* the median stands once */
    out = terminal(record, 140, false);
    const char *at = place(&out, "asked");
    assert_true(strstr(strstr(at, "p50") + 1, "p50") > strchr(at, '\n'));
}

static void steps_of_a_search_stand_in_its_curve_alone(void **state)
{
    (void)state;
    struct record *record = search_record();
    record->searches[0].name = "point_open";
    struct text out = terminal(record, 140, false);
    assert_null(strstr(out.at, "Open loop"));
    (void)place(&out, "point_open with 8 clients on postgres: highest rate");
}

static void a_cost_is_the_difference(void **state)
{
    (void)state;
    struct record *record = open_record();
    struct text out = terminal(record, 140, false);
    (void)place(&out, "libpq on postgres, wire client on postgres_wire");
    (void)place(&out, "7.25 us  3.13 us        4.13 us  45.2 us  41.1 us");
    (void)place(&out,
                "not known, too few executions: 1, at least 1,000 on each side: index_build");
    record->costs[0].library_cpu_ns = 3000;
    record->costs[0].wire_p50_ns = 0;
    out = terminal(record, 140, false);
    (void)place(&out, "3.00 us  3.13 us        -125 ns  45.2 us     -");
    record->costs[0].known = false;
    record->costs[0].reason = record->costs[1].reason;
    out = terminal(record, 140, false);
    (void)place(&out, ": id_point, index_build\n");
    assert_null(strstr(out.at, "wire client on"));
}

static const char *filled(const struct record *record, const char *document)
{
    struct text out;
    struct err err = {0};
    text_init(&out, arena, 1 << 20);
    if (!report_fill(record, document, strlen(document), &out, &err))
        fail_msg("%s", err.text);
    return out.at;
}

static void documents_are_filled(void **state)
{
    (void)state;
    struct err err = {0};
    struct record *record = search_record();
    const char *figure =
        filled(record,
               "<!-- dbdyno:point_open/postgres,clients=8/response_ns/p99 --><!-- /dbdyno -->");
    assert_non_null(strstr(figure, "-->>= 5.00 s<!--"));
    assert_int_equal(report_fill_check(arena, figure, strlen(figure), &err), 1);
    assert_non_null(
        strstr(filled(record, "<!-- dbdyno:point_open/postgres/response_ns/p95 --><!-- /dbdyno "
                              "-->"),
               "-->3.75 s<!--"));
    static const char *const blocks[] = {"table", "costs", "searches"};
    static const char *const words[] = {"| 1,000 | 500", "| 4.13 us |", "| 12,300 |"};
    for (size_t i = 0; i < ARRAY_COUNT(blocks); i++) {
        const char *block =
            filled(record,
                   arena_printf(arena, "<!-- dbdyno:%s --><!-- /dbdyno -->\n", blocks[i]));
        if (!strstr(block, words[i]))
            fail_msg("no \"%s\" in %s", words[i], block);
        assert_int_equal(report_fill_check(arena, block, strlen(block), &err), 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(open_loops_look_as_written_down),
        TEST(what_was_asked_for_and_done_comes_first),
        TEST(bounds_are_marked_and_nothing_else),
        TEST(failed_cells_have_words_instead),
        TEST(phases_have_their_service_time),
        TEST(every_width_is_kept),
        TEST(a_search_says_its_answer),
        TEST(steps_of_a_search_stand_in_its_curve_alone),
        TEST(a_cost_is_the_difference),
        TEST(documents_are_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
