#include "fake/sample_record.h"
#include "testing.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create(1 << 16);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static void lists_grow_and_keep_their_items(void **state)
{
    (void)state;
    struct record *record = record_create(arena);
    for (uint64_t i = 0; i < 1000; i++)
        record_add_floor(record)->n = i;
    assert_int_equal(record->floor_count, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(record->floors[i].n, i);
        assert_null(record->floors[i].name);
    }
}

static void a_pair_is_replaced_by_its_name(void **state)
{
    (void)state;
    struct rec_pairs pairs = {0};
    rec_pairs_add(arena, &pairs, "a", value_int(1));
    rec_pairs_add(arena, &pairs, "b", value_int(2));
    rec_pairs_add(arena, &pairs, "a", value_int(3));
    assert_int_equal(pairs.count, 2);
    assert_int_equal(rec_pairs_find(&pairs, "a")->as.i, 3);
    assert_string_equal(pairs.items[0].name, "a");
    assert_null(rec_pairs_find(&pairs, "c"));
}

static void cells_are_found_by_their_key(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    const struct rec_cell *eight = record_find_cell(record, "concurrent", "postgres", 8, NULL);
    assert_non_null(eight);
    assert_int_equal(rec_pairs_find(&eight->params, "clients")->as.i, 8);
    assert_non_null(record_find_cell(record, "concurrent", "postgres", 0, NULL));
    assert_null(record_find_cell(record, "concurrent", "postgres", 3, NULL));
    assert_null(record_find_cell(record, "concurrent", "oracle", 0, NULL));
    assert_null(record_find_cell(record, "id_point", "sqlite", 1, NULL));
    const struct rec_cell *commit =
        record_find_cell(record, "transaction200", "sqlite", 0, "commit");
    assert_string_equal(commit->phase, "commit");
    assert_null(record_find_cell(record, "transaction200", "sqlite", 0, NULL)->phase);
    assert_null(rec_cell_metric(commit, "rows"));
    assert_non_null(rec_cell_metric(eight, "rows"));
}

static void a_statistic_that_is_not_known_is_refused(void **state)
{
    (void)state;
    double figure = -1;
    struct rec_metric metric = {.name = "service_ns", .distribution = true, .n = 2};
    metric.mean = 1.5;
    metric.min = 1;
    metric.max = 2;
    assert_false(rec_metric_stat(&metric, "p50", &figure));
    assert_false(rec_metric_stat(&metric, "value", &figure));
    assert_false(rec_metric_stat(&metric, "median", &figure));
    assert_true(figure < 0);
    assert_true(rec_metric_stat(&metric, "mean", &figure) && figure == 1.5);
    assert_true(rec_metric_stat(&metric, "max", &figure) && figure == 2);
    assert_true(rec_metric_stat(&metric, "n", &figure) && figure == 2);
    metric.p999 = (struct rec_number){true, 7};
    assert_true(rec_metric_stat(&metric, "p999", &figure) && figure == 7);
    metric.n = 0;
    assert_false(rec_metric_stat(&metric, "mean", &figure));
    metric.unavailable = "no counter";
    assert_false(rec_metric_stat(&metric, "n", &figure));
    struct rec_metric single = {.name = "rows", .value = 12};
    assert_true(rec_metric_stat(&single, "value", &figure) && figure == 12);
    assert_false(rec_metric_stat(&single, "p50", &figure));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_grow_and_keep_their_items),
        cmocka_unit_test(a_pair_is_replaced_by_its_name),
        cmocka_unit_test(cells_are_found_by_their_key),
        cmocka_unit_test(a_statistic_that_is_not_known_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
