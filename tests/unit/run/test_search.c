/* The search for the highest rate, on invented servers. */
#include "run/search.h"
#include "testing.h"

#include <math.h>

#define CLOSED 10000.0

struct found {
    double low, high;
    uint32_t steps;
};

/* Does the invented server keep the limit at this rate? */
typedef bool (*keeps_fn)(void *context, double rate);

static struct found look(double closed_per_s, keeps_fn keeps, void *context)
{
    struct search search;
    double tried[RUN_SEARCH_STEPS];
    uint32_t count = 0;
    search_begin(&search, closed_per_s);
    while (search.next > 0) {
        assert_true(count < RUN_SEARCH_STEPS);
        assert_true(search.next <= closed_per_s * SEARCH_TOP * 1.005);
        for (uint32_t i = 0; i < count; i++)
            assert_true(tried[i] != search.next);
        tried[count++] = search.next;
        search_tell(&search, keeps(context, search.next));
        assert_int_equal(search.steps, count);
        if (search.low > 0 && search.high > 0)
            assert_true(search.low < search.high);
    }
    return (struct found){search.low, search.high, count};
}

static bool below(void *context, double rate)
{
    return rate <= *(const double *)context;
}

/* Wherever the cliff is within reach, it is found to within 5 % (and what three digits leave).
 */
static void test_cliff(void **state)
{
    (void)state;
    for (int i = 0; i < 225; i++) {
        double cliff = CLOSED / 16 * pow(1.013, i);
        struct found found = look(CLOSED, below, &cliff);
        assert_true(found.low > 0 && found.high > 0);
        assert_true(found.low <= cliff && cliff < found.high);
        assert_true(found.high / found.low <= 1.06);
    }
}

static bool always(void *context, double rate)
{
    (void)context;
    (void)rate;
    return true;
}

static bool never(void *context, double rate)
{
    (void)context;
    (void)rate;
    return false;
}

static void test_always(void **state)
{
    (void)state;
    struct found found = look(CLOSED, always, NULL);
    assert_true(found.high <= 0);
    assert_true(fabs(found.low - CLOSED * SEARCH_TOP) < 1);
    assert_int_equal(found.steps, 3); /* 0.5, 1, 1.2 */
}

static void test_never(void **state)
{
    (void)state;
    struct found found = look(CLOSED, never, NULL);
    assert_true(found.low <= 0);
    assert_int_equal(found.steps, RUN_SEARCH_STEPS);
    assert_true(found.high < CLOSED / 500);
}

/* Slow databases: rates far below one a second, down to one an hour. */
static void test_slow(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        double closed = pow(1.7, i) / 3000;
        double cliff = closed * 0.8;
        struct found found = look(closed, below, &cliff);
        assert_true(found.low <= 0 || found.low <= cliff);
        (void)look(closed, never, NULL);
        (void)look(closed, always, NULL);
    }
}

struct noisy {
    struct test_random random;
    double middle, width;
};

/* Near the cliff it is a matter of luck. */
static bool mostly_below(void *context, double rate)
{
    struct noisy *noisy = context;
    double luck = (double)test_random_below(&noisy->random, 1000001) / 1e6 - 0.5;
    return rate <= noisy->middle * (1 + luck * noisy->width);
}

/* With noise of ± 10 % the answer is at most that far away. */
static void test_noise(void **state)
{
    (void)state;
    struct noisy noisy = {.random = test_random_init(), .width = 0.2};
    for (int i = 0; i < 2000; i++) {
        noisy.middle = CLOSED * (0.1 + (double)test_random_below(&noisy.random, 1000) / 1000);
        struct found found = look(CLOSED, mostly_below, &noisy);
        assert_true(found.low > 0);
        assert_true(found.low <= noisy.middle * 1.11);
        assert_true(found.high <= 0 || found.high >= noisy.middle * 0.89);
        assert_true(found.high <= 0 || found.high / found.low <= 1.06);
    }
}

/* Rates are to be read by people. */
static void test_digits(void **state)
{
    (void)state;
    struct search search;
    search_begin(&search, 2468.13579);
    assert_true(fabs(search.next - 1230) < 1e-9);
    search_tell(&search, true);
    search_tell(&search, false);
    assert_true(fabs(search.next - 1740) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cliff), cmocka_unit_test(test_always),
        cmocka_unit_test(test_never), cmocka_unit_test(test_slow),
        cmocka_unit_test(test_noise), cmocka_unit_test(test_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
