#include "hist/quantile.h"
#include "testing.h"

/* The smallest rank k >= 1 with k / n >= q, by trying them all. */
static uint64_t rank_by_trying(uint64_t n, uint32_t q_ppm)
{
    uint64_t k = 1;
    while (k * 1000000 < n * q_ppm)
        k++;
    return k;
}

static void rank_is_the_nearest(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 200; n++)
        for (uint32_t q = 0; q <= 1000000; q += 500)
            assert_int_equal(quantile_rank(n, q), rank_by_trying(n, q));
    assert_int_equal(quantile_rank(UINT64_MAX, 1000000), UINT64_MAX);
    assert_int_equal(quantile_rank(UINT64_MAX, 500000), UINT64_MAX / 2 + 1);
    assert_int_equal(quantile_rank(7, QUANTILE_P50), 4);
    assert_int_equal(quantile_rank(8, QUANTILE_P50), 4);
}

/* From which count on each quantile is shown: n >= 10 / (1 - q), the median from 3. */
static void known_from_enough_samples(void **state)
{
    (void)state;
    static const uint64_t first[][2] = {
        {QUANTILE_P50,  3     },
        {QUANTILE_P95,  200   },
        {QUANTILE_P99,  1000  },
        {QUANTILE_P999, 10000 },
        {999900,        100000},
        {900000,        100   },
        {0,             10    },
        {1000000,       1     }
    };
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        uint32_t q = (uint32_t)first[i][0];
        assert_false(quantile_known(first[i][1] - 1, q));
        assert_true(quantile_known(first[i][1], q));
        assert_true(quantile_known(UINT64_MAX, q));
    }
}

/* A tie, one value, and an order that qsort has to mend. */
static void of_values(void **state)
{
    (void)state;
    uint64_t one[] = {7};
    assert_int_equal(quantile_of(one, 1, 0), 7);
    assert_int_equal(quantile_of(one, 1, 1000000), 7);
    uint64_t values[] = {UINT64_MAX, 3, 0, 3, 9};
    assert_int_equal(quantile_of(values, 5, QUANTILE_P50), 3);
    assert_int_equal(values[0], 0);
    assert_true(values[4] == UINT64_MAX);
    assert_int_equal(quantile_of(values, 5, 200000), 0);
    assert_int_equal(quantile_of(values, 5, 200001), 3);
    assert_int_equal(quantile_of(values, 5, 800000), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_is_the_nearest),
        cmocka_unit_test(known_from_enough_samples),
        cmocka_unit_test(of_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
