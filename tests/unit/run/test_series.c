/* Few values stay as they came, many go to a histogram, and nothing is lost when workers merge.
 */
#include "run/client_internal.h"
#include "testing.h"

static void few_stay_raw(void **state)
{
    struct series series;
    series_init(&series, *state, 3);
    series_record(&series, 30);
    series_record(&series, 10);
    series_record(&series, 20);
    assert_null(series.hist);
    assert_int_equal(series.count, 3);
    assert_int_equal(series.raw[0], 30);
    assert_int_equal(series.raw[2], 20);
}

static void many_and_unknown_go_to_a_histogram(void **state)
{
    struct series many, unknown;
    series_init(&many, *state, SERIES_RAW_MAX + 1);
    series_init(&unknown, *state, 0);
    assert_non_null(many.hist);
    assert_non_null(unknown.hist);
    assert_null(many.raw);
    series_record(&many, 5);
    assert_int_equal(many.hist->count, 1);
    assert_int_equal(many.count, 0);
}

static void merged_is_the_union(void **state)
{
    struct series whole, parts[3];
    series_init(&whole, *state, 6000);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 3; i++) {
        series_init(&parts[i], *state, 2000); /* raw each, a histogram together */
        for (uint64_t k = 0; k < 2000; k++) {
            series_record(&parts[i], 1000 * i + k);
            sum += 1000 * i + k;
        }
        series_append(&whole, &parts[i]);
    }
    assert_int_equal(whole.hist->count, 6000);
    assert_true(whole.hist->sum == sum);
    assert_int_equal(whole.hist->min, 0);
    assert_int_equal(whole.hist->max, 3999);
}

static int make_arena(void **state)
{
    *state = arena_create(65536);
    return 0;
}

static int drop_arena(void **state)
{
    arena_destroy((struct arena **)state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_stay_raw),
        cmocka_unit_test(many_and_unknown_go_to_a_histogram),
        cmocka_unit_test(merged_is_the_union),
    };
    return cmocka_run_group_tests(tests, make_arena, drop_arena);
}
