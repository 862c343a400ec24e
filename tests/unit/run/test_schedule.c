#include "math/math.h"
#include "run/schedule.h"
#include "testing.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define START (UINT64_C(123456789) * NS_PER_S)

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint64_t take(struct schedule *schedule)
{
    uint64_t due_ns = 0;
    assert_true(schedule_take(schedule, &due_ns));
    return due_ns;
}

/* Of everything that the schedule hands out. */
static uint64_t take_all(const struct schedule_spec *spec)
{
    struct schedule schedule;
    uint64_t due_ns = 0, last_ns = START, count = 0;
    schedule_init(&schedule, spec);
    schedule_start(&schedule, START);
    for (; schedule_take(&schedule, &due_ns); count++) {
        assert_true(due_ns >= last_ns);
        last_ns = due_ns;
    }
    assert_false(schedule_take(&schedule, &due_ns));
    if (spec->window_ns > 0)
        assert_true(last_ns < START + spec->window_ns);
    schedule_done(&schedule);
    return count;
}

/* Exactly start + k / rate, at any rate and far out: errors do not add up. */
static void test_fixed_times(void **state)
{
    (void)state;
    static const double rates[] = {1000, 3, 7777.7, 1e9, 1.0 / 3600, 0.1};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        struct schedule_spec spec = {.rate_per_s = rates[r], .arrivals = SUITE_FIXED};
        struct schedule schedule;
        schedule_init(&schedule, &spec);
        schedule_start(&schedule, START);
        for (uint64_t k = 0; k < 100000; k++) {
            long double exact = (long double)k * 1e9L / (long double)rates[r];
            long double found = (long double)(take(&schedule) - START);
            if (fabsl(exact - found) >= 1.1L)
                fail_msg("rate %g: number %" PRIu64 " is off by %Lg ns", rates[r], k,
                         exact - found);
        }
        schedule_done(&schedule);
    }
}

static void test_fixed_counts(void **state)
{
    (void)state;
    struct schedule_spec spec = {.rate_per_s = 1000, .window_ns = 5 * NS_PER_S};
    spec.arrivals = SUITE_FIXED;
    assert_int_equal(take_all(&spec), 5000);
    spec.count = 4999;
    assert_int_equal(take_all(&spec), 4999);
    spec.rate_per_s = 1.0 / 3600;
    assert_int_equal(take_all(&spec), 1); /* the first is due at once */
    spec = (struct schedule_spec){.rate_per_s = 250, .arrivals = SUITE_FIXED, .count = 1000};
    assert_int_equal(take_all(&spec), 1000);
    struct schedule schedule;
    schedule_init(&schedule, &spec);
    assert_int_equal(schedule_window_ns(&schedule), 4 * NS_PER_S);
    schedule_done(&schedule);
}

enum { GAPS = 20000 };

static void draw_gaps(double *gaps, double rate, uint64_t seed)
{
    struct schedule_spec spec = {rate, SUITE_POISSON, seed, 0, 0};
    struct schedule schedule;
    uint64_t last_ns = START;
    schedule_init(&schedule, &spec);
    schedule_start(&schedule, START);
    for (size_t i = 0; i < GAPS; i++) {
        uint64_t due_ns = take(&schedule);
        gaps[i] = (double)(due_ns - last_ns);
        last_ns = due_ns;
    }
    schedule_done(&schedule);
}

/* Kolmogorov and Smirnov: the p-value of gaps under 1 - exp(-rate * gap). */
static double exponential_p(const double *gaps, double rate)
{
    static double sorted[GAPS];
    double distance = 0;
    memcpy(sorted, gaps, sizeof sorted);
    qsort(sorted, GAPS, sizeof *sorted, order);
    for (size_t i = 0; i < GAPS; i++) {
        double law = -expm1(-sorted[i] * rate / 1e9);
        distance = fmax(distance, fmax((double)(i + 1) / GAPS - law, law - (double)i / GAPS));
    }
    return math_ks_tail(distance, GAPS);
}

/* The correlation of each gap with the next: 0, give or take 1 / sqrt(n), when none knows of
 * the one before. */
static double autocorrelation(const double *gaps)
{
    double mean = 0, variance = 0, product = 0;
    for (size_t i = 0; i < GAPS; i++)
        mean += gaps[i] / GAPS;
    for (size_t i = 0; i < GAPS; i++) {
        variance += (gaps[i] - mean) * (gaps[i] - mean);
        if (i + 1 < GAPS)
            product += (gaps[i] - mean) * (gaps[i + 1] - mean);
    }
    return product / variance;
}

static void test_poisson_gaps(void **state)
{
    (void)state;
    static const double rates[] = {1000, 0.01, 50000};
    static double gaps[GAPS];
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            draw_gaps(gaps, rates[r], seed);
            double p = exponential_p(gaps, rates[r]), lag = autocorrelation(gaps);
            print_message("rate %g seed %" PRIu64 ": KS p = %.4f, lag-1 %.4f\n", rates[r], seed,
                          p, lag);
            assert_true(p > 1e-4 && p < 1 - 1e-9);
            assert_true(fabs(lag) < 4 / sqrt(GAPS));
        }
    }
    /* and the test can tell: a rate that is 10 % off is not the law */
    draw_gaps(gaps, 1000, 1);
    assert_true(exponential_p(gaps, 1100) < 1e-6);
}

static void test_poisson_counts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct schedule_spec spec = {1000, SUITE_POISSON, seed, 10 * NS_PER_S, 0};
        double count = (double)take_all(&spec);
        assert_true(fabs(count - 10000) < 5 * sqrt(10000));
        struct schedule schedule;
        uint64_t due_ns = 0;
        spec = (struct schedule_spec){1000, SUITE_POISSON, seed, 0, 777};
        assert_int_equal(take_all(&spec), 777);
        schedule_init(&schedule, &spec);
        uint64_t window_ns = schedule_window_ns(&schedule);
        schedule_start(&schedule, START);
        while (schedule_take(&schedule, &due_ns)) {
        }
        assert_int_equal(due_ns - START, window_ns); /* until the last is due */
        schedule_done(&schedule);
    }
}

static void test_seeds(void **state)
{
    (void)state;
    static double one[GAPS], again[GAPS], other[GAPS];
    draw_gaps(one, 1000, 1);
    draw_gaps(again, 1000, 1);
    draw_gaps(other, 1000, 2);
    assert_memory_equal(one, again, sizeof one);
    size_t same = 0;
    for (size_t i = 0; i < GAPS; i++)
        same += one[i] == other[i];
    assert_true(same < 10);
}

/* ---- who takes them changes nothing */

enum { TAKERS = 4, TAKEN = 40000 };

struct taker {
    pthread_t thread;
    struct schedule *schedule;
    uint64_t due_ns[TAKEN];
    size_t count;
};

static void *take_many(void *context)
{
    struct taker *taker = context;
    while (schedule_take(taker->schedule, &taker->due_ns[taker->count]))
        taker->count++;
    return NULL;
}

static int order_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_threads(void **state)
{
    (void)state;
    static struct taker takers[TAKERS];
    static uint64_t all[TAKEN];
    struct schedule_spec spec = {5000, SUITE_POISSON, 42, 0, TAKEN - 1};
    struct schedule schedule;
    size_t count = 0;
    schedule_init(&schedule, &spec);
    schedule_start(&schedule, START);
    for (size_t i = 0; i < TAKERS; i++) {
        takers[i].schedule = &schedule;
        assert_int_equal(pthread_create(&takers[i].thread, NULL, take_many, &takers[i]), 0);
    }
    for (size_t i = 0; i < TAKERS; i++) {
        pthread_join(takers[i].thread, NULL);
        for (size_t k = 0; k < takers[i].count; k++) {
            assert_true(k == 0 || takers[i].due_ns[k] >= takers[i].due_ns[k - 1]);
            all[count++] = takers[i].due_ns[k];
        }
    }
    schedule_done(&schedule);
    assert_int_equal(count, TAKEN - 1);
    qsort(all, count, sizeof *all, order_times);
    schedule_init(&schedule, &spec);
    schedule_start(&schedule, START);
    for (size_t k = 0; k < count; k++)
        assert_int_equal(all[k], take(&schedule));
    schedule_done(&schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_times),  cmocka_unit_test(test_fixed_counts),
        cmocka_unit_test(test_poisson_gaps), cmocka_unit_test(test_poisson_counts),
        cmocka_unit_test(test_seeds),        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
