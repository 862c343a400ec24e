#include "fake/sample_record_open.h"
#include "os/fs.h"
#include "record/jsonw.h"
#include "record/record_json.h"
#include "testing.h"

#include <math.h>
#include <unistd.h>

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create(1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static void json_items_are_spelled_right(void **state)
{
    (void)state;
    struct text out;
    struct jsonw json;
    text_init(&out, arena, 4096);
    jsonw_init(&json, &out);
    jsonw_array(&json, NULL, true);
    jsonw_slice(&json, NULL, (struct slice){"a\"\\\n\x01\0z", 7});
    jsonw_slice(&json, NULL, (struct slice){"\xc3\xa4\xff\xed\xa0\x80", 6});
    jsonw_real(&json, NULL, 0.1);
    jsonw_real(&json, NULL, 3);
    jsonw_real(&json, NULL, 1e300);
    jsonw_real(&json, NULL, 0.30000000000000004);
    jsonw_real(&json, NULL, (double)NAN);
    jsonw_i64(&json, NULL, INT64_MIN);
    jsonw_u64(&json, NULL, INT64_MAX);
    jsonw_u64(&json, NULL, UINT64_MAX);
    jsonw_u128(&json, NULL, (__uint128_t)UINT64_MAX + 1);
    jsonw_text(&json, NULL, NULL);
    jsonw_bool(&json, NULL, true);
    jsonw_end(&json);
    assert_string_equal(
        out.at, "[\"a\\\"\\\\\\n\\u0001\\u0000z\", "
                "\"\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\", 0.1, 3.0, "
                "1e+300, 0.30000000000000004, null, -9223372036854775808, "
                "9223372036854775807, \"18446744073709551615\", "
                "\"18446744073709551616\", null, true]");
}

static void objects_are_laid_out_a_line_an_item(void **state)
{
    (void)state;
    struct text out;
    struct jsonw json;
    text_init(&out, arena, 4096);
    jsonw_init(&json, &out);
    jsonw_object(&json, NULL, false);
    jsonw_object(&json, "flat", true);
    jsonw_i64(&json, "a", 1);
    jsonw_i64(&json, "b", 2);
    jsonw_end(&json);
    jsonw_array(&json, "none", false);
    jsonw_end(&json);
    jsonw_end(&json);
    assert_string_equal(out.at, "{\n  \"flat\": {\"a\": 1, \"b\": 2},\n  \"none\": []\n}");
}

static void a_record_comes_back_the_same(void **state)
{
    (void)state;
    struct record *(*const makers[])(struct arena *) = {sample_record, sample_failed_record,
                                                        sample_interrupted_record,
                                                        sample_open_record};
    for (size_t i = 0; i < ARRAY_COUNT(makers); i++) {
        size_t bytes, bytes_again;
        struct record *back;
        struct err err = {0};
        const char *json = record_to_json(arena, makers[i](arena), &bytes);
        if (!record_from_json(arena, json, bytes, &back, &err))
            fail_msg("%s", err.text);
        const char *again = record_to_json(arena, back, &bytes_again);
        assert_int_equal(bytes, bytes_again);
        assert_memory_equal(json, again, bytes);
        assert_int_equal(json[bytes - 1], '\n');
    }
}

static void figures_that_are_not_finite_are_said_to_be_none(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    struct record *back;
    struct err err = {0};
    size_t bytes;
    sample_single(arena, &record->cells[0], "broken", "1/s", (double)INFINITY);
    record->relations[0].ratio = (double)NAN;
    *record_add_cost(record) =
        (struct rec_cost){.name = "x", .known = true, .wire_cpu_ns = (double)INFINITY};
    const char *json = record_to_json(arena, record, &bytes);
    assert_true(record_from_json(arena, json, bytes, &back, &err));
    assert_non_null(rec_cell_metric(&back->cells[0], "broken")->unavailable);
    assert_false(back->relations[0].known);
    assert_non_null(back->relations[0].reason);
    assert_false(back->costs[0].known);
    assert_non_null(back->costs[0].reason);
}

/* The sample's JSON with the first `old` replaced, or all of it by `now` when old is NULL. */
static void expect_fault(const char *old, const char *now, const char *fault)
{
    size_t bytes;
    struct err err = {0};
    struct record *back = NULL;
    const char *json = record_to_json(arena, sample_record(arena), &bytes);
    struct text changed;
    text_init(&changed, arena, 1 << 24);
    const char *at = old ? strstr(json, old) : json;
    assert_non_null(at);
    text_add_slice(&changed, (struct slice){json, (size_t)(at - json)});
    text_add(&changed, now);
    text_add(&changed, old ? at + strlen(old) : "");
    assert_false(record_from_json(arena, changed.at, changed.bytes, &back, &err));
    assert_null(back);
    assert_int_equal(err.kind, ERR_CONFIG);
    if (!strstr(err.text, fault))
        fail_msg("expected \"%s\" in \"%s\"", fault, err.text);
}

static void faults_name_their_place(void **state)
{
    (void)state;
    expect_fault("record/1", "record/2",
                 "schema: expected \"dbdyno.record/1\", got \"dbdyno.rec");
    expect_fault("\"n\": 1,", "\"n\": \"seven\",",
                 "scenarios[0].metrics.service_ns.n: expected a whole number, got \"seven\"");
    expect_fault("\"n\": 1,", "\"n\": -1,", "service_ns.n: expected a whole number, got -1");
    expect_fault("\"n\": 500,", "\"n\": [],",
                 "floors.fsync_append.before.n: expected a whole number, got an array");
    expect_fault("\"verdict\": \"valid\"", "\"verdict\": \"splendid\"",
                 "scenarios[0].verdict: expected one of \"valid\" \"reserve\"");
    expect_fault("\"label\": \"sqlite\"", "\"label\": null",
                 "targets[0].label: expected a string that is not empty, got null");
    expect_fault("\"known\": true", "\"known\": 1",
                 "relations[0].known: expected true or false");
    expect_fault("[3000, 1]", "[3001, 1]", "runs[0].histogram.pairs[0]: histogram: no bucket");
    expect_fault("\"count\": 2", "\"count\": 3", "histogram.count: expected 2, got 3");
    expect_fault("\"count\": 2", "\"count\": 2, \"count\": 2", "duplicate object key");
    expect_fault("\"cpus_online\": 2", "\"cpus_online\": [2]",
                 "host.cpus_online: expected null");
    expect_fault("\"cpus_online\": 2", "\"cpus_online\": 2000000000000000000000", "too big");
    expect_fault("\"quick\": false", "\"quick\": 0",
                 "suite.quick: expected true or false, got 0");
    expect_fault("\"libpq\"", "\"lib\\u0000pq\"", "targets[1].client: has a zero byte");
    expect_fault("\"costs\": []", "\"costs\": [{\"name\": \"\"}]",
                 "costs[0].name: expected a string that is not empty");
    expect_fault("\"searches\": []",
                 "\"searches\": [{\"name\": \"a\", \"steps\": [{\"kept\": 1}]}]",
                 "searches[0].steps[0].kept: expected true or false, got 1");
}

static void what_is_no_record_is_refused(void **state)
{
    (void)state;
    expect_fault(NULL, "", "line 1");
    expect_fault(NULL, "[]", "expected an object, got an array");
    expect_fault(NULL, "{}", "schema: expected \"dbdyno.record/1\", got nothing");
    expect_fault(NULL, "{\"schema\": \"dbdyno.record/1\"}",
                 "suite: expected an object, got nothing");
    char deep[101] = "";
    memset(deep, '[', 100);
    expect_fault(NULL, deep, "nested deeper than 32");
}

static void unknown_members_are_passed_over(void **state)
{
    (void)state;
    struct err err = {0};
    struct record *back;
    const char *json =
        "{\"schema\": \"dbdyno.record/1\", \"later\": [1], \"suite\": {\"name\": "
        "\"x\", \"new\": {}}, \"run\": {}, \"verdict\": \"valid\"}";
    if (!record_from_json(arena, json, strlen(json), &back, &err))
        fail_msg("%s", err.text);
    assert_string_equal(back->suite, "x");
    assert_int_equal(back->cell_count, 0);
}

/* Before there were open loops. */
static void a_record_without_later_parts_is_read(void **state)
{
    (void)state;
    struct err err = {0};
    struct record *back;
    const char *json =
        "{\"schema\": \"dbdyno.record/1\", \"suite\": {\"name\": \"x\"}, \"run\": {}, "
        "\"scenarios\": [{\"name\": \"a\", \"target\": \"t\", \"runs\": [{\"samples\": [3]}], "
        "\"metrics\": {\"service_ns\": {\"unit\": \"ns\", \"kind\": \"timed\", \"better\": "
        "\"lower\", \"n\": 1}}, \"verdict\": \"valid\"}], \"verdict\": \"valid\"}";
    if (!record_from_json(arena, json, strlen(json), &back, &err))
        fail_msg("%s", err.text);
    assert_null(back->cells[0].runs[0].metric);
    assert_false(back->cells[0].metrics[0].bounded_from.known);
    assert_int_equal(back->cost_count, 0);
    assert_int_equal(back->search_count, 0);
}

static void costs_and_searches_come_back(void **state)
{
    (void)state;
    struct err err = {0};
    struct record *back;
    size_t bytes;
    const char *json = record_to_json(arena, sample_open_record(arena), &bytes);
    assert_true(record_from_json(arena, json, bytes, &back, &err));
    assert_int_equal(back->cost_count, 2);
    assert_true(back->costs[0].known);
    assert_true(back->costs[0].library_cpu_ns == 7250 && back->costs[0].wire_cpu_ns == 3125);
    assert_int_equal(back->costs[0].library_p50_ns, 45200);
    assert_false(back->costs[1].known);
    assert_int_equal(back->search_count, 1);
    assert_string_equal(back->searches[0].limit, "p99 <= 5 ms");
    assert_true(back->searches[0].rate_per_s == 12300);
    assert_int_equal(back->searches[0].step_count, 4);
    assert_true(back->searches[0].steps[2].value.known);
    assert_int_equal(back->searches[0].steps[3].unfinished, 812);
    assert_false(back->searches[0].steps[3].kept);
    assert_string_equal(back->searches[0].steps[3].why, "achieved 93 % of the rate");
    const struct rec_cell *cell = record_find_cell(back, "point_open", "postgres", 8, NULL);
    assert_string_equal(cell->runs[1].metric, "response_ns");
    assert_int_equal(rec_cell_metric(cell, "response_ns")->bounded_from.value, 5000000000);
}

static void files_are_written_and_read(void **state)
{
    (void)state;
    const char *folder, *path;
    struct err err = {0};
    struct record *back;
    assert_true(fs_make_temp(arena, "dbdyno-test", NULL, NULL, &folder, &err));
    path = arena_printf(arena, "%s/r.json", folder);
    assert_true(record_write(sample_record(arena), path, &err));
    assert_true(record_read(arena, path, &back, &err));
    assert_int_equal(back->seed, 42);
    assert_true(fs_write_atomic(path, "{", 1, &err));
    assert_false(record_read(arena, path, &back, &err));
    assert_non_null(strstr(err.text, path));
    assert_false(record_read(arena, arena_printf(arena, "%s/none", folder), &back, &err));
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_false(record_write(back, arena_printf(arena, "%s/no/r.json", folder), &err));
    assert_true(fs_remove_tree(folder, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_items_are_spelled_right),
        cmocka_unit_test(objects_are_laid_out_a_line_an_item),
        cmocka_unit_test(a_record_comes_back_the_same),
        cmocka_unit_test(figures_that_are_not_finite_are_said_to_be_none),
        cmocka_unit_test(faults_name_their_place),
        cmocka_unit_test(what_is_no_record_is_refused),
        cmocka_unit_test(unknown_members_are_passed_over),
        cmocka_unit_test(a_record_without_later_parts_is_read),
        cmocka_unit_test(costs_and_searches_come_back),
        cmocka_unit_test(files_are_written_and_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
