/*
 * Laws of histograms over random inputs, against sorted values.
 *
 * links: base hist */

#include "hist/hist.h"
#include "hist/quantile.h"
#include "testing.h"

#include <string.h>

enum { VALUES_MAX = 3000 };

struct fixture {
    struct arena *arena;
    struct test_random random;
    uint64_t values[VALUES_MAX];
    uint64_t count;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->arena = arena_create(1 << 20);
    f->random = test_random_init();
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

/* Values of all sizes up to `bits` bits, some of them many times. */
static void draw_values(struct fixture *f, unsigned bits)
{
    f->count = 1 + test_random_below(&f->random, VALUES_MAX);
    for (uint64_t i = 0; i < f->count; i++) {
        uint64_t width = 64 - bits + test_random_below(&f->random, bits);
        bool again = i > 0 && test_random_below(&f->random, 4) == 0;
        f->values[i] = again ? f->values[test_random_below(&f->random, i)]
                             : test_random_u64(&f->random) >> width;
    }
}

static struct hist *hist_of(struct fixture *f, uint64_t from, uint64_t to)
{
    struct hist *hist = hist_create(f->arena);
    for (uint64_t i = from; i < to; i++)
        hist_record(hist, f->values[i]);
    return hist;
}

/* The answer is the upper edge of the true value's bucket, so it is never below the true value
 * and at most 1/1,024 above; and it is exact below 2,048 and where it meets max. */
static void quantiles_err_by_a_thousandth_at_most(void **state)
{
    struct fixture *f = *state;
    for (int round = 0; round < 40; round++) {
        arena_reset(f->arena);
        draw_values(f, 1 + (unsigned)test_random_below(&f->random, HIST_VALUE_BITS));
        const struct hist *hist = hist_of(f, 0, f->count);
        quantile_of(f->values, f->count, 0); /* sorts */
        for (uint32_t q = 0; q <= 1000000; q += 12500) {
            uint64_t truth = f->values[quantile_rank(f->count, q) - 1];
            uint64_t got = hist_quantile(hist, q);
            if (got < truth || got - truth > truth / 1024 || got > hist->max)
                fail_msg("q %u of %ju values: %ju, the truth is %ju", q, (uintmax_t)f->count,
                         (uintmax_t)got, (uintmax_t)truth);
            if (truth < 2048)
                assert_true(got == truth);
        }
        assert_true(hist_quantile(hist, 1000000) == f->values[f->count - 1]);
    }
}

/* With overflow: what lies above the range answers max, what lies below stays as it was. */
static void overflow_answers_max(void **state)
{
    struct fixture *f = *state;
    for (int round = 0; round < 40; round++) {
        arena_reset(f->arena);
        draw_values(f, 48);
        const struct hist *hist = hist_of(f, 0, f->count);
        quantile_of(f->values, f->count, 0);
        uint64_t above = 0;
        for (uint64_t i = 0; i < f->count; i++)
            above += f->values[i] >> HIST_VALUE_BITS != 0;
        assert_int_equal(hist->overflow, above);
        for (uint32_t q = 0; q <= 1000000; q += 25000) {
            uint64_t truth = f->values[quantile_rank(f->count, q) - 1];
            uint64_t got = hist_quantile(hist, q);
            if (truth >> HIST_VALUE_BITS)
                assert_true(got == hist->max);
            else
                assert_true(got >= truth && got - truth <= truth / 1024);
        }
    }
}

static void merged_is_the_histogram_of_the_union(void **state)
{
    struct fixture *f = *state;
    for (int round = 0; round < 40; round++) {
        arena_reset(f->arena);
        draw_values(f, 48);
        const struct hist *whole = hist_of(f, 0, f->count);
        struct hist *merged = hist_create(f->arena);
        for (uint64_t from = 0; from < f->count;) {
            uint64_t to = from + 1 + test_random_below(&f->random, f->count - from);
            hist_merge(merged, hist_of(f, from, to));
            from = to;
        }
        assert_memory_equal(merged, whole, sizeof(*whole));
    }
}

struct loading {
    struct hist *hist;
    uint64_t last;
    bool any;
};

static void load_pair(void *context, uint64_t low, uint64_t count)
{
    struct loading *loading = context;
    struct err err;
    assert_true(!loading->any || low > loading->last);
    loading->any = true;
    loading->last = low;
    assert_true(hist_load_pair(loading->hist, low, count, &err));
}

static void pairs_make_the_same_histogram(void **state)
{
    struct fixture *f = *state;
    for (int round = 0; round < 40; round++) {
        arena_reset(f->arena);
        draw_values(f, 48);
        const struct hist *hist = hist_of(f, 0, f->count);
        struct loading loading = {.hist = hist_create(f->arena)};
        struct err err;
        hist_each(hist, load_pair, &loading);
        assert_true(hist_load_done(loading.hist, hist->min, hist->max, hist->overflow,
                                   hist->sum, &err));
        assert_memory_equal(loading.hist, hist, sizeof(*hist));
    }
}

/* The exact figures beside the buckets, added up another way. */
static void exact_figures_are_exact(void **state)
{
    struct fixture *f = *state;
    draw_values(f, 64);
    const struct hist *hist = hist_of(f, 0, f->count);
    __uint128_t sum = 0;
    uint64_t min = UINT64_MAX;
    uint64_t max = 0;
    for (uint64_t i = 0; i < f->count; i++) {
        sum += f->values[i];
        min = f->values[i] < min ? f->values[i] : min;
        max = f->values[i] > max ? f->values[i] : max;
    }
    assert_true(hist->sum == sum && hist->min == min && hist->max == max);
    assert_int_equal(hist->count, f->count);
    double mean = hist_mean(hist);
    assert_true(mean >= (double)min && mean <= (double)max);
}

/* The rule for quantiles, for every small n and many q, against counting. */
static void the_quantile_is_the_smallest_that_covers_q(void **state)
{
    struct fixture *f = *state;
    for (uint64_t n = 1; n <= 200; n++) {
        uint64_t values[200];
        for (uint64_t i = 0; i < n; i++)
            values[i] = test_random_below(&f->random, 100);
        for (int k = 0; k < 100; k++) {
            uint32_t q = (uint32_t)test_random_below(&f->random, 1000001);
            uint64_t got = quantile_of(values, n, q);
            uint64_t below = 0;
            uint64_t up_to = 0;
            for (uint64_t i = 0; i < n; i++) {
                below += values[i] < got;
                up_to += values[i] <= got;
            }
            assert_true(up_to * 1000000 >= n * q);
            assert_true(below * 1000000 < n * q || below == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(quantiles_err_by_a_thousandth_at_most, setup, teardown),
        cmocka_unit_test_setup_teardown(overflow_answers_max, setup, teardown),
        cmocka_unit_test_setup_teardown(merged_is_the_histogram_of_the_union, setup, teardown),
        cmocka_unit_test_setup_teardown(pairs_make_the_same_histogram, setup, teardown),
        cmocka_unit_test_setup_teardown(exact_figures_are_exact, setup, teardown),
        cmocka_unit_test_setup_teardown(the_quantile_is_the_smallest_that_covers_q, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
