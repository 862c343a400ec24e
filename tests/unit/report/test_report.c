#include "fake/sample_record.h"
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

static void reports_look_as_written_down(void **state)
{
    (void)state;
    struct text out = terminal(sample_record(arena), 80, false);
    expect_file("full_80.txt", &out);
    out = terminal(sample_record(arena), 140, false);
    expect_file("full_140.txt", &out);
    out = terminal(sample_failed_record(arena), 100, false);
    expect_file("failed_100.txt", &out);
    out = terminal(sample_interrupted_record(arena), 100, false);
    expect_file("interrupted_100.txt", &out);
    text_reset(&out);
    report_markdown(sample_record(arena), &out);
    expect_file("full.md", &out);
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
    for (unsigned width = 80; width < 200; width += 7) {
        struct text out = terminal(sample_record(arena), width, false);
        assert_true(widest_line(out.at) <= width);
        out = terminal(sample_failed_record(arena), width, false);
        assert_true(widest_line(out.at) <= width);
    }
    struct text out = terminal(sample_record(arena), 3, false);
    assert_true(widest_line(out.at) <= 80);
}

static void many_targets_come_in_several_tables(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    for (unsigned i = 0; i < 9; i++) {
        struct rec_cell *cell = sample_cell(record, "id_point", 0);
        cell->target = arena_printf(arena, "target_number_%u", i);
        sample_service(arena, cell, 7, UINT64_C(1000) * (i + 1));
    }
    struct text out = terminal(record, 80, false);
    assert_true(widest_line(out.at) <= 80);
    for (unsigned i = 0; i < 9; i++)
        assert_non_null(strstr(out.at, arena_printf(arena, "target_number_%u", i)));
}

/* The line of the table that begins with `name`. */
static const char *line_of(const char *report, const char *name)
{
    const char *at = strstr(report, arena_printf(arena, "\n%s ", name));
    assert_non_null(at);
    const char *end = strchr(at + 1, '\n');
    return arena_slice(arena, (struct slice){at + 1, (size_t)(end - at) - 1});
}

static void a_failed_cell_shows_no_figure(void **state)
{
    (void)state;
    const char *good = line_of(terminal(sample_record(arena), 100, false).at, "id_point");
    const char *bad = line_of(terminal(sample_failed_record(arena), 100, false).at, "id_point");
    assert_non_null(strstr(good, "45.20"));
    assert_null(strstr(good, "FAILED"));
    assert_null(strstr(bad, "45.20"));
    assert_null(strstr(bad, "135.6"));
    assert_non_null(strstr(bad, "FAILED"));
    assert_non_null(strstr(bad, "61.70"));
}

/* The rate of a load that was stopped says nothing of the whole. */
static void an_interrupted_load_shows_no_figure(void **state)
{
    (void)state;
    const char *good = line_of(terminal(sample_record(arena), 100, false).at, "load_orders");
    struct text out = terminal(sample_interrupted_record(arena), 100, false);
    const char *bad = line_of(out.at, "load_orders");
    assert_non_null(strstr(good, "112,345"));
    assert_null(strstr(bad, "112,345"));
    assert_null(strstr(bad, "445.1"));
    assert_non_null(strstr(bad, "171,234"));
    assert_non_null(strstr(bad, "interrupted"));
    struct record *record = sample_record(arena);
    for (size_t i = 0; i < record->cell_count; i++)
        record->cells[i].verdict = "interrupted";
    record->verdict = "interrupted";
    assert_string_equal(answer(record), "shop INTERRUPTED after 0 of 13 scenarios");
}

/* The null target takes nanoseconds for what others take milliseconds for. */
static void the_null_target_does_not_choose_the_unit(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    record->targets[0].kind = "null";
    struct rec_cell *cell = sample_find(record, "scan_users", "sqlite");
    cell->metric_count = 0;
    sample_service(arena, cell, 7, 57);
    struct text out = terminal(record, 100, false);
    const char *line = line_of(out.at, "scan_users");
    assert_non_null(strstr(line, " ms "));
    assert_non_null(strstr(line, "0.000057"));
    assert_non_null(strstr(line, "4.568"));
    assert_non_null(strstr(out.at, "commits wait for fsync (all but null)"));
    record->targets[0].label = "postgres";
    record->targets[1].label = "sqlite"; /* the same cells, now of a real target */
    line = line_of(terminal(record, 100, false).at, "scan_users");
    assert_non_null(strstr(line, " us ")); /* in ns the others have too many digits */
    assert_non_null(strstr(line, "0.057"));
}

/* A target whose times are far from the others' has its own unit where it has its own line. */
static void each_line_of_clients_has_its_unit(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    for (size_t i = 0; i < record->cell_count; i++) {
        struct rec_cell *cell = &record->cells[i];
        if (strcmp(cell->name, "concurrent") != 0 || strcmp(cell->target, "sqlite") == 0)
            continue;
        cell->metric_count = 0;
        sample_service(arena, cell, 1000, UINT64_C(10474141));
    }
    for (unsigned width = 80; width < 200; width += 60) {
        struct text out = terminal(record, width, false);
        assert_non_null(strstr(line_of(out.at, "concurrent"), "  us  "));
        assert_non_null(strstr(out.at, " postgres  ms        -  10.47  "));
        assert_null(strstr(out.at, "10,474"));
    }
}

static void names_are_whole_where_there_is_room(void **state)
{
    (void)state;
    for (unsigned width = 80; width < 200; width += 20) {
        struct text out = terminal(sample_record(arena), width, false);
        (void)line_of(out.at, "correlated_exists20_indexed");
        assert_null(strchr(out.at, '~'));
    }
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

static void where_times_begin_and_end_is_said_once(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    assert_int_equal(count_of(terminal(record, 80, false).at, "from submit to"), 1);
    for (size_t i = 0; i < record->cell_count; i++) {
        if (record->cells[i].phase)
            record->cells[i].timing = "from its submission";
    }
    const char *report = terminal(record, 80, false).at;
    assert_int_equal(count_of(report, "  Timed: from submit to"), 1);
    assert_int_equal(count_of(report, "  Phases are timed: from its submission."), 1);
}

/* What stands beside a relation's name. */
static const char *sides(const char *a, const char *b)
{
    struct record *record = sample_record(arena);
    for (size_t i = 0; i < record->relation_count; i++) {
        record->relations[i].a = a;
        record->relations[i].b = b;
    }
    struct text out = terminal(record, 400, false);
    const char *at = strstr(out.at, "  - 8 clients against 1 = ");
    assert_non_null(at);
    at += strlen("  - 8 clients against 1 = ");
    return arena_slice(arena, (struct slice){at, strcspn(at, "\n")});
}

static void relations_are_told_in_words(void **state)
{
    (void)state;
    assert_string_equal(sides("insert200 value wall_ns", "transaction200 value wall_ns"),
                        "wall time of insert200 : wall time of transaction200");
    assert_string_equal(sides("c clients=8 value throughput_per_s",
                              "c clients=1 value throughput_per_s"),
                        "throughput of c with 8 clients : with 1 client");
    assert_string_equal(sides("c clients=8 mean service_ns", "d clients=1 p50 service_ns"),
                        "mean service time of c with 8 clients : median service time of d "
                        "with 1 client");
    assert_string_equal(sides("t commit p50 service_ns", "some words"),
                        "median service time of t commit : some words");
    assert_string_equal(sides("p50 service_ns", ""), "p50 service_ns : -");
}

static void relations_that_nobody_knows_are_only_named(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    for (size_t i = 0; i < record->relation_count; i++) {
        if (strcmp(record->relations[i].name, "index speed-up") == 0)
            record->relations[i] = (struct rec_relation){.name = "index speed-up",
                                                         .target = record->relations[i].target,
                                                         .reason = "not run"};
    }
    const char *report = terminal(record, 80, false).at;
    assert_int_equal(count_of(report, "index speed-up"), 1);
    assert_non_null(strstr(report, "  - not known, as a side has no result: index speed-up\n"));
    assert_int_equal(count_of(report, "8 clients against 1"), 2);
}

static void the_first_line_is_the_answer(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    assert_string_equal(
        answer(record),
        "shop: 13 scenarios on sqlite, postgres and mariadb (44 cells): all answers right, 3 "
        "scenarios with a warning; one-row read id_point: sqlite 3.12 us, postgres "
        "45.2 us, mariadb 61.7 us");
    record->quick = true;
    assert_memory_equal(answer(record), "shop (quick): 13 ", 17);
    assert_string_equal(answer(sample_failed_record(arena)),
                        "shop FAILED: 2 of 13 scenarios; first: id_point on postgres: rows: "
                        "expected 1, found 2");
    record = sample_failed_record(arena);
    sample_find(record, "id_point", "postgres")->verdict = "valid";
    assert_string_equal(answer(record),
                        "shop FAILED: 1 of 13 scenarios: insert_single on mariadb: "
                        "Duplicate entry '1' for key 'PRIMARY'");
    sample_find(record, "insert_single", "mariadb")->reason = NULL;
    assert_non_null(strstr(answer(record), "for key 'PRIMARY' (SQLSTATE 23000)"));
    assert_memory_equal(answer(sample_interrupted_record(arena)),
                        "shop INTERRUPTED after 11 of 13 scenarios: all answers until then",
                        65);
    record = sample_record(arena);
    record->verdict = "invalid";
    record->reason = "the client was saturated";
    assert_string_equal(answer(record), "shop NOT VALID: the client was saturated");
}

static void keep_cells(struct record *record, const char *const *names, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < record->cell_count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (strcmp(record->cells[i].name, names[k]) == 0) {
                record->cells[kept++] = record->cells[i];
                break;
            }
        }
    }
    record->cell_count = kept;
}

/* Cells of a lost server have no figures, and stand in the same rows as the others'. */
static void a_lost_target_stands_in_every_table(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    for (size_t i = 0; i < record->cell_count; i++) {
        struct rec_cell *cell = &record->cells[i];
        if (strcmp(cell->name, "load_users") == 0)
            cell->mode = "load, 500 rows a statement, 500 rows a commit";
        if (strcmp(cell->target, "sqlite") != 0)
            continue;
        cell->verdict = "not-run";
        cell->reason = "the server is gone";
        cell->metric_count = 0;
        if (strncmp(cell->name, "load_", 5) == 0)
            cell->params.count = 0;
    }
    struct text out = terminal(record, 100, false);
    assert_int_equal(count_of(out.at, "\nload_users "), 1);
    assert_int_equal(count_of(out.at, "\nload_orders "), 1);
    const char *line = line_of(out.at, "load_orders");
    assert_non_null(strstr(line, "50,000      500  not run"));
    assert_non_null(strstr(line, "171,234"));
    keep_cells(record, (const char *const[]){"load_users"}, 1);
    for (size_t i = 0; i < record->cell_count; i++) {
        record->cells[i].metric_count = record->cells[i].params.count = 0;
        record->cells[i].verdict = "not-run";
    }
    out = terminal(record, 100, false);
    assert_non_null(strstr(out.at, "\nLoads\n"));
    assert_non_null(strstr(line_of(out.at, "load_users"), "not run"));
}

/* Names are keys: whatever the width, each is there whole. */
static void long_names_are_never_cut(void **state)
{
    (void)state;
    static const char name[] =
        "a_scenario_with_a_name_of_as_many_letters_as_a_suite_may_give_i";
    struct record *record = sample_record(arena);
    for (size_t i = 0; i < record->cell_count; i++) {
        struct rec_cell *cell = &record->cells[i];
        if (!strcmp(cell->name, "id_point") || !strcmp(cell->name, "load_users") ||
            !strcmp(cell->name, "concurrent"))
            cell->name = name;
    }
    for (unsigned width = 80; width < 160; width += 11) {
        struct text out = terminal(record, width, false);
        assert_true(widest_line(out.at) <= width);
        assert_true(count_of(out.at, arena_printf(arena, "\n%s", name)) >= 5);
        assert_null(strchr(out.at, '~'));
        assert_non_null(strstr(out.at, "52,346"));
    }
}

/* Of eight clients less than one was at work: the ratio says little. */
static void weak_relations_are_marked(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    for (size_t i = 0; i < record->cell_count; i++) {
        struct rec_cell *cell = &record->cells[i];
        const struct value *clients = rec_pairs_find(&cell->params, "clients");
        if (clients && clients->as.i == 8 && strcmp(cell->target, "sqlite") == 0)
            *rec_cell_add_guard(arena, cell) =
                (struct rec_guard){.id = "few-in-flight",
                                   .code = "D52",
                                   .level = "warning",
                                   .text = "of 8 clients 0.9 were at work"};
    }
    struct text out = terminal(record, 100, false);
    const char *line = line_of(out.at, "8 clients against 1");
    assert_non_null(strstr(line, " 1.5x* "));
    assert_null(strstr(line, "3.1x*"));
    assert_null(strchr(line_of(out.at, "index speed-up"), '*'));
    out = terminal(record, 400, false);
    assert_non_null(strstr(out.at, "; * sqlite: of 8 clients 0.9 were at work\n"));
}

static void a_target_that_is_missing_is_named_at_once(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    record->targets[2].verdict = "unavailable";
    record->targets[2].reason = "no mariadbd found; install mariadb-server";
    assert_non_null(strstr(answer(record),
                           "; mariadb unavailable: no mariadbd found; install mariadb-server"));
}

static void nothing_checked_is_not_called_right(void **state)
{
    (void)state;
    struct record *record = record_create(arena);
    record->suite = "bare";
    record->verdict = "valid";
    sample_service(arena, sample_cell(record, "one", 0), 7, 1000);
    assert_string_equal(answer(record), "bare: 1 scenario on sqlite: no answer was checked");
}

/* Texts of a server must not steer the terminal. */
static void control_characters_do_not_come_through(void **state)
{
    (void)state;
    struct record *record = sample_failed_record(arena);
    struct rec_cell *cell = sample_find(record, "insert_single", "mariadb");
    cell->failures[0].text = "evil \x1b[2J \xc2\x9b"
                             "31m \x7f\r\ttext <b>";
    record->limits[0] = "a\nb";
    struct text out = terminal(record, 80, false);
    assert_null(strchr(out.at, '\x1b'));
    assert_null(strstr(out.at, "\xc2\x9b"));
    assert_null(strchr(out.at, '\r'));
    assert_null(strchr(out.at, '\x7f'));
    assert_non_null(strstr(out.at, "  - a b\n"));
    text_reset(&out);
    report_markdown(record, &out);
    assert_null(strstr(out.at, "<b>"));
}

static void colours_change_nothing_but_colours(void **state)
{
    (void)state;
    struct text plain = terminal(sample_failed_record(arena), 100, false);
    struct text colour = terminal(sample_failed_record(arena), 100, true);
    struct text stripped;
    text_init(&stripped, arena, 1 << 24);
    size_t codes = 0;
    for (size_t i = 0; i < colour.bytes; i++) {
        if (colour.at[i] == '\x1b') {
            while (colour.at[i] != 'm')
                i++;
            codes++;
        } else {
            text_add_char(&stripped, colour.at[i]);
        }
    }
    assert_string_equal(stripped.at, plain.at);
    assert_true(codes > 10 && codes % 2 == 0);
    assert_non_null(strstr(colour.at, "\x1b[1;31mFAILED\x1b[0m"));
}

static void an_empty_record_is_reported(void **state)
{
    (void)state;
    struct record *record = record_create(arena);
    record->verdict = "valid";
    struct text out = terminal(record, 80, true);
    report_markdown(record, &out);
    assert_true(out.bytes > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_look_as_written_down),
        cmocka_unit_test(every_width_is_kept),
        cmocka_unit_test(many_targets_come_in_several_tables),
        cmocka_unit_test(a_failed_cell_shows_no_figure),
        cmocka_unit_test(an_interrupted_load_shows_no_figure),
        cmocka_unit_test(the_null_target_does_not_choose_the_unit),
        cmocka_unit_test(names_are_whole_where_there_is_room),
        cmocka_unit_test(where_times_begin_and_end_is_said_once),
        cmocka_unit_test(relations_are_told_in_words),
        cmocka_unit_test(relations_that_nobody_knows_are_only_named),
        cmocka_unit_test(the_first_line_is_the_answer),
        cmocka_unit_test(each_line_of_clients_has_its_unit),
        cmocka_unit_test(a_lost_target_stands_in_every_table),
        cmocka_unit_test(long_names_are_never_cut),
        cmocka_unit_test(weak_relations_are_marked),
        cmocka_unit_test(a_target_that_is_missing_is_named_at_once),
        cmocka_unit_test(nothing_checked_is_not_called_right),
        cmocka_unit_test(control_characters_do_not_come_through),
        cmocka_unit_test(colours_change_nothing_but_colours),
        cmocka_unit_test(an_empty_record_is_reported),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
