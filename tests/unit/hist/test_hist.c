#include "hist/hist.h"
#include "hist/quantile.h"
#include "testing.h"

#include <string.h>

struct fixture {
    struct arena *arena;
    struct hist *hist;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->arena = arena_create(1 << 16);
    f->hist = hist_create(f->arena);
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

/* Buckets lie end to end from 0 to 2^44 - 1, exact below 2,048 and never wider than 1/1,024. */
static void buckets_cover_the_range(void **state)
{
    (void)state;
    uint64_t next = 0;
    for (uint32_t i = 0; i < HIST_BUCKET_COUNT; i++) {
        uint64_t low = hist_bucket_low(i);
        uint64_t high = hist_bucket_high(i);
        assert_true(low == next && high >= low);
        assert_int_equal(hist_index(low), i);
        assert_int_equal(hist_index(high), i);
        if (high < 2048)
            assert_true(low == high);
        assert_true((high - low + 1) * 1024 <= (low > 1024 ? low : 1024));
        next = high + 1;
    }
    assert_true(next == UINT64_C(1) << HIST_VALUE_BITS);
}

static void empty_histogram(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(f->hist->count, 0);
    assert_true(f->hist->min == UINT64_MAX && f->hist->max == 0);
    assert_true(hist_mean(f->hist) == 0);
    struct hist *other = hist_create(f->arena);
    hist_record(other, 5);
    hist_merge(other, f->hist);
    assert_true(other->min == 5 && other->max == 5 && other->count == 1);
}

/* 172 s on average, and a p95 of 100 s, as another tool printed: quantiles stay in min .. max.
 */
static void quantiles_stay_between_min_and_max(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 100; i++)
        hist_record(f->hist, 172 * NS_PER_S + (uint64_t)i);
    for (uint32_t q = 0; q <= 1000000; q += 50000) {
        uint64_t v = hist_quantile(f->hist, q);
        assert_true(v >= 172 * NS_PER_S && v <= 172 * NS_PER_S + 99);
    }
}

/* Events of 30 ns keep their digits. */
static void nanoseconds_are_exact(void **state)
{
    struct fixture *f = *state;
    for (uint64_t v = 25; v <= 35; v++)
        hist_record(f->hist, v);
    assert_int_equal(hist_quantile(f->hist, QUANTILE_P50), 30);
    assert_int_equal(hist_quantile(f->hist, QUANTILE_P95), 35);
    assert_int_equal(hist_quantile(f->hist, 0), 25);
    assert_true(hist_mean(f->hist) == 30);
}

static void overflow_is_counted_and_answers_max(void **state)
{
    struct fixture *f = *state;
    const uint64_t end = UINT64_C(1) << HIST_VALUE_BITS;
    hist_record(f->hist, end - 1);
    assert_int_equal(f->hist->overflow, 0);
    hist_record(f->hist, end);
    hist_record(f->hist, end + 77);
    assert_int_equal(f->hist->overflow, 2);
    assert_int_equal(f->hist->count, 3);
    assert_true(f->hist->sum == 3 * (__uint128_t)end + 76);
    assert_true(hist_quantile(f->hist, 300000) == end - 1);
    assert_true(hist_quantile(f->hist, QUANTILE_P50) == end + 77);
    assert_true(f->hist->max == end + 77);
    hist_reset(f->hist);
    hist_record_many(f->hist, end + 5, 4);
    assert_int_equal(f->hist->overflow, 4);
    assert_true(hist_quantile(f->hist, 0) == end + 5);
}

static void the_sum_does_not_wrap(void **state)
{
    struct fixture *f = *state;
    hist_record_many(f->hist, UINT64_MAX, UINT64_MAX / 2);
    hist_record_many(f->hist, UINT64_MAX, UINT64_MAX / 2);
    assert_true(f->hist->sum == (__uint128_t)UINT64_MAX * (UINT64_MAX - 1));
    double mean = hist_mean(f->hist);
    assert_true(mean > 1.8446744e19 && mean < 1.8446745e19);
}

static void recording_many_is_recording_often(void **state)
{
    struct fixture *f = *state;
    struct hist *other = hist_create(f->arena);
    hist_record_many(f->hist, 123456789, 1000);
    hist_record_many(f->hist, 5, 0);
    for (int i = 0; i < 1000; i++)
        hist_record(other, 123456789);
    assert_memory_equal(f->hist, other, sizeof(*other));
    hist_reset(f->hist);
    assert_memory_equal(f->hist, hist_create(f->arena), sizeof(*other));
}

static void bad_pairs_are_refused(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct hist *empty = hist_create(f->arena);
    assert_false(hist_load_pair(f->hist, UINT64_C(1) << HIST_VALUE_BITS, 1, &err));
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_false(hist_load_pair(f->hist, 2049, 1, &err)); /* 2048 .. 2049 is one bucket */
    assert_non_null(strstr(err.text, "2048"));
    assert_false(hist_load_pair(f->hist, 2048, 0, &err));
    assert_memory_equal(f->hist, empty, sizeof(*empty));
    assert_true(hist_load_pair(f->hist, 2048, 1, &err));
    assert_false(hist_load_pair(f->hist, 2048, 1, &err));
    assert_false(hist_load_pair(f->hist, 4096, UINT64_MAX, &err));
    assert_int_equal(f->hist->count, 1);
}

static void exact_figures_must_belong(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    const uint64_t end = UINT64_C(1) << HIST_VALUE_BITS;
    assert_true(hist_load_done(hist_create(f->arena), UINT64_MAX, 0, 0, 0, &err));
    assert_false(hist_load_done(f->hist, 0, 0, 0, 0, &err));
    assert_true(hist_load_pair(f->hist, 10, 2, &err));
    assert_true(hist_load_pair(f->hist, 4096, 1, &err));
    assert_false(hist_load_done(f->hist, 11, 4097, 0, 4119, &err)); /* min of another bucket */
    assert_false(hist_load_done(f->hist, 10, 4100, 0, 4120, &err)); /* max of another */
    assert_false(hist_load_done(f->hist, 10, 4097, 1, 4117, &err)); /* overflow without a max */
    assert_false(hist_load_done(f->hist, 10, end, 0, 4117, &err));  /* the other way round */
    assert_false(hist_load_done(f->hist, 10, 4097, 0, 29, &err));   /* sum below 3 * min */
    assert_false(hist_load_done(f->hist, 10, 4097, 0, 12292, &err));
    assert_false(hist_load_done(f->hist, 10, end, UINT64_MAX, 4117, &err));
    assert_int_equal(f->hist->count, 3);
    assert_true(f->hist->min == UINT64_MAX && f->hist->sum == 0);
    assert_true(hist_load_done(f->hist, 10, 4097, 0, 4117, &err));
    assert_true(f->hist->min == 10 && f->hist->max == 4097 && f->hist->sum == 4117);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_cover_the_range),
        cmocka_unit_test_setup_teardown(empty_histogram, setup, teardown),
        cmocka_unit_test_setup_teardown(quantiles_stay_between_min_and_max, setup, teardown),
        cmocka_unit_test_setup_teardown(nanoseconds_are_exact, setup, teardown),
        cmocka_unit_test_setup_teardown(overflow_is_counted_and_answers_max, setup, teardown),
        cmocka_unit_test_setup_teardown(the_sum_does_not_wrap, setup, teardown),
        cmocka_unit_test_setup_teardown(recording_many_is_recording_often, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_pairs_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(exact_figures_must_belong, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
