/* Stalls that a closed loop hid: invented series, and an oracle that writes all omitted values
 * out and sorts them. */
#include "hist/quantile.h"
#include "run/note_internal.h"
#include "testing.h"

#include <stdlib.h>

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

static struct series many(void)
{
    struct series series;
    series_init(&series, arena, 0);
    return series;
}

/* A closed loop of ten seconds in which `service_ns` is usual and the server once stands still:
 * each client has one execution of that length. */
static struct stalls frozen(uint32_t clients, uint64_t service_ns, uint64_t stall_ns)
{
    struct stalls stalls;
    struct series series = many();
    uint64_t each = (10 * NS_PER_S - stall_ns) / service_ns;
    for (uint64_t i = 0; i < each * clients; i++)
        series_record(&series, service_ns + i % 100 * service_ns / 200);
    for (uint32_t i = 0; i < clients; i++)
        series_record(&series, stall_ns);
    stalls_look(&series, clients, &stalls);
    return stalls;
}

static void a_freeze_is_found_with_any_number_of_clients(void **state)
{
    static const uint32_t clients[] = {1, 4, 8, 64};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(clients); i++) {
        struct stalls stalls = frozen(clients[i], 1000000, NS_PER_S);
        assert_true(stalls.judged);
        /* a second, whatever the number of clients: they waited side by side */
        assert_in_range(stalls.stall_ns, 990000000, 1000000000);
        /* 1,000 ms at 1.25 ms each */
        assert_in_range(stalls.omitted, 795 * clients[i], 800 * clients[i]);
        assert_int_equal(stalls.max_ns, NS_PER_S);
        /* of 10,000 that should have been, 800 wait from 0 to 1 s: one in a hundred 880 ms */
        assert_in_range(stalls.corrected_p99_ns, 850000000, 910000000);
        assert_in_range(stalls.p99_ns, 1400000, 1600000);
    }
}

static void hiccups_are_no_stalls(void **state)
{
    struct stalls stalls;
    struct series series = many();
    (void)state;
    for (int i = 0; i < 100000; i++)
        series_record(&series, 20000 + (uint64_t)(i % 1000) * 10);
    for (int i = 0; i < 50; i++)
        series_record(&series, 8 * NS_PER_MS);
    stalls_look(&series, 1, &stalls);
    assert_true(stalls.judged);
    assert_int_equal(stalls.omitted, 0);
    assert_int_equal(stalls.stall_ns, 0);
    assert_int_equal(stalls.corrected_p99_ns, stalls.p99_ns);
    series_record(&series, STALL_LEAST_NS + STALL_LEAST_NS / 1000);
    stalls_look(&series, 1, &stalls);
    assert_true(stalls.omitted > 0);
}

static void a_stall_is_twenty_times_the_tail(void **state)
{
    struct stalls stalls;
    struct series series = many();
    (void)state;
    for (int i = 0; i < 20000; i++)
        series_record(&series, i < 19900 ? 1 * NS_PER_MS : 4 * NS_PER_MS);
    series_record(&series, 79 * NS_PER_MS);
    stalls_look(&series, 1, &stalls);
    assert_int_equal(stalls.tail_ns / NS_PER_MS, 4);
    assert_int_equal(stalls.omitted, 0);
    series_record(&series, 81 * NS_PER_MS);
    stalls_look(&series, 1, &stalls);
    assert_in_range(stalls.omitted, 79, 80);
}

/* The tail must not be the stall itself. */
static void the_tail_leaves_room_for_all_clients(void **state)
{
    struct stalls stalls;
    (void)state;
    stalls = frozen(500, 5000000, NS_PER_S); /* p99.9 lies within the 500 */
    assert_true(stalls.judged);
    assert_in_range(stalls.stall_ns, 980000000, 1000000000);
}

static void few_executions_are_not_judged(void **state)
{
    struct stalls stalls;
    struct series series;
    (void)state;
    series_init(&series, arena, 1000);
    for (int i = 0; i < 999; i++)
        series_record(&series, i < 990 ? 1000 : NS_PER_S);
    stalls_look(&series, 1, &stalls);
    assert_false(stalls.judged);
    series_record(&series, 1000);
    stalls_look(&series, 1, &stalls);
    assert_true(stalls.judged);
    assert_int_equal(series.raw[999], 1000); /* in the order of measuring */
    assert_in_range(stalls.omitted, 9 * 998000, 9 * 999999);
    struct series none = many();
    stalls_look(&none, 1, &stalls);
    assert_false(stalls.judged);
}

static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* What the module works out from buckets alone: every omitted value written down. */
static uint64_t oracle(struct series *series, uint64_t p50_ns, uint64_t from_ns,
                       uint64_t *omitted)
{
    size_t room = 4000000, count = 0;
    uint64_t *all = arena_array(arena, uint64_t, room);
    *omitted = 0;
    for (uint64_t i = 0; i < series->count; i++) {
        uint64_t value = hist_bucket_low(hist_index(series->raw[i]));
        all[count++] = value;
        for (uint64_t v = value; value >= from_ns && v >= 2 * p50_ns; ++*omitted)
            all[count++] = v -= p50_ns;
    }
    qsort(all, count, sizeof *all, by_value);
    return all[quantile_rank(count, QUANTILE_P99) - 1];
}

static void the_corrected_quantile_agrees_with_values_written_out(void **state)
{
    struct test_random random = test_random_init();
    (void)state;
    for (int round = 0; round < 8; round++) {
        struct stalls stalls;
        struct series series;
        uint64_t omitted, usual = 200000 + test_random_below(&random, 2000000);
        series_init(&series, arena, 3000);
        for (int i = 0; i < 2990; i++)
            series_record(&series, usual + test_random_below(&random, usual));
        for (int i = 0; i < 9; i++)
            series_record(&series, usual * 45 + test_random_below(&random, 400000000));
        stalls_look(&series, 1, &stalls);
        assert_true(stalls.judged);
        uint64_t from_ns = 20 * stalls.tail_ns;
        from_ns = from_ns > STALL_LEAST_NS ? from_ns : STALL_LEAST_NS;
        uint64_t expected = oracle(&series, stalls.p50_ns, from_ns, &omitted);
        assert_int_equal(stalls.omitted, omitted);
        assert_in_range(stalls.corrected_p99_ns, expected, expected + expected / 500);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_freeze_is_found_with_any_number_of_clients),
        cmocka_unit_test(hiccups_are_no_stalls),
        cmocka_unit_test(a_stall_is_twenty_times_the_tail),
        cmocka_unit_test(the_tail_leaves_room_for_all_clients),
        cmocka_unit_test(few_executions_are_not_judged),
        cmocka_unit_test(the_corrected_quantile_agrees_with_values_written_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
