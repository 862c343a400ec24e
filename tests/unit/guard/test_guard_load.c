/* Stalls that a closed loop hid, and an open loop's rate and lag. */
#include "guard/guard.h"
#include "testing.h"

#include <string.h>

enum { NONE = -1 };

static struct guard_finding found[GUARD_FINDINGS_MAX];

static int judged(void **state, struct guard_cell cell, const char *id, const char **text)
{
    unsigned count = guard_judge_cell(*state, &cell, found);
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(found[i].id, id) != 0)
            continue;
        if (text)
            *text = found[i].text;
        return (int)found[i].level;
    }
    return NONE;
}

/* Ten seconds of eight clients, all at work. */
static struct guard_cell closed_cell(void)
{
    return (struct guard_cell){.scenario = "s",
                               .target = "postgres",
                               .clients = 8,
                               .threads = 1,
                               .wall_ns = 10000000000,
                               .operations = 400000,
                               .executions = 400000,
                               .service_p50_ns = 190000,
                               .mean_service_ns = 200000,
                               .service_p99_ns = 400000,
                               .service_max_ns = 1000000000,
                               .latency_claimed = true,
                               .cpus = 4};
}

static void stalls_of_one_percent_are_found(void **state)
{
    const char *text = NULL;
    struct guard_cell cell = closed_cell();
    cell.omitted = 42000;
    cell.corrected_p99_ns = 910000000;
    cell.stall_ns = 99999999;
    assert_int_equal(judged(state, cell, "stalls-hidden", &text), NONE);
    cell.stall_ns = 100000000;
    assert_int_equal(judged(state, cell, "stalls-hidden", &text), GUARD_WARNING);
    assert_string_equal(
        text, "closed loop: stalls of 100 ms in all hid that 42000 requests were never "
              "sent; p99 with them would be 910 ms (it says 400 us); use --rate");
    assert_string_equal(found[0].code, "D03");
    assert_true(found[0].has_figure && found[0].figure == 0.01);
    cell.omitted = 0;
    assert_int_equal(judged(state, cell, "stalls-hidden", &text), NONE);
}

static void a_schedule_hides_no_stalls(void **state)
{
    struct guard_cell cell = closed_cell();
    cell.omitted = 42000;
    cell.stall_ns = 1000000000;
    cell.null_target = true;
    assert_int_equal(judged(state, cell, "stalls-hidden", NULL), NONE);
    cell.null_target = false;
    cell.open_loop = true;
    assert_int_equal(judged(state, cell, "stalls-hidden", NULL), NONE);
}

/* 1,000 a second that were all done, one in ten clients at work. */
static struct guard_cell open_cell(void)
{
    struct guard_cell cell = closed_cell();
    cell.open_loop = true;
    cell.executions = 10000;
    cell.offered_per_s = 1000;
    cell.achieved_per_s = 1000;
    cell.service_p50_ns = 700000;
    cell.mean_service_ns = 800000;
    cell.service_max_ns = 1900000;
    cell.lag_p99_ns = 20000;
    return cell;
}

static void a_rate_that_is_reached_is_quiet(void **state)
{
    struct guard_cell cell = open_cell();
    assert_int_equal(guard_judge_cell(*state, &cell, found), 0);
    cell.offered_per_s = cell.achieved_per_s = 0;
    assert_int_equal(judged(state, cell, "rate-not-reached", NULL), NONE);
}

static void a_rate_that_is_not_reached_is_a_warning(void **state)
{
    const char *text = NULL;
    struct guard_cell cell = open_cell();
    cell.achieved_per_s = 980;
    assert_int_equal(judged(state, cell, "rate-not-reached", NULL), NONE);
    cell.achieved_per_s = 979.9;
    assert_int_equal(judged(state, cell, "rate-not-reached", &text), GUARD_WARNING);
    assert_memory_equal(text,
                        "of 1000 executions/s that were due 980/s were done (98.0 %): ", 58);
    assert_non_null(strstr(text, "lower rate"));
    assert_true(found[0].figure < 0.98 && found[0].figure > 0.979);
    assert_string_equal(found[0].code, "D04");
    cell.null_target = true;
    assert_int_equal(judged(state, cell, "rate-not-reached", NULL), GUARD_INFO);
    cell.null_target = false;
    cell.open_loop = false;
    assert_int_equal(judged(state, cell, "rate-not-reached", NULL), NONE);
}

static void unfinished_work_is_said(void **state)
{
    const char *text = NULL;
    struct guard_cell cell = open_cell();
    cell.unfinished = 1;
    assert_int_equal(judged(state, cell, "rate-not-reached", &text), GUARD_WARNING);
    assert_non_null(strstr(text, ", 1 were not done at the end"));
    cell.achieved_per_s = 500;
    cell.unfinished = 2500;
    assert_int_equal(judged(state, cell, "rate-not-reached", &text), GUARD_WARNING);
    assert_non_null(strstr(text, "500/s were done (50.0 %), 2500 were not done at the end"));
}

static void lateness_of_the_stand_is_a_warning(void **state)
{
    const char *text = NULL;
    struct guard_cell cell = open_cell();
    cell.service_max_ns = 900000;
    cell.lag_p99_ns = 1000000;
    assert_int_equal(judged(state, cell, "late", NULL), NONE);
    cell.lag_p99_ns = 1000001;
    assert_int_equal(judged(state, cell, "late", &text), GUARD_WARNING);
    assert_non_null(strstr(text, "although clients were idle"));
    assert_true(found[0].figure == 1000001);
    cell.null_target = true;
    assert_int_equal(judged(state, cell, "late", NULL), GUARD_INFO);
    cell.null_target = false;
    cell.service_p50_ns = 1000001; /* no more than an ordinary execution takes */
    assert_int_equal(judged(state, cell, "late", NULL), NONE);
}

/* Work that waits for a client is the server's doing, or there are too few clients. */
static void lateness_of_busy_clients_is_no_fault_of_the_stand(void **state)
{
    const char *text = NULL;
    struct guard_cell cell = open_cell();
    cell.lag_p99_ns = 9000000;
    cell.mean_service_ns = 5599000; /* 69.99 % of the time of 8 clients */
    assert_int_equal(judged(state, cell, "late", NULL), GUARD_WARNING);
    cell.mean_service_ns = 5600000;
    assert_int_equal(judged(state, cell, "late", &text), GUARD_INFO);
    assert_non_null(strstr(text, "all clients were waiting for answers"));
    cell = open_cell(); /* a server that stood still once */
    cell.lag_p99_ns = 900000000;
    cell.service_max_ns = 899999999;
    assert_int_equal(judged(state, cell, "late", NULL), GUARD_WARNING);
    cell.service_max_ns = 1000000000;
    assert_int_equal(judged(state, cell, "late", NULL), GUARD_INFO);
}

static void a_rate_that_is_missed_is_not_told_twice(void **state)
{
    struct guard_cell cell = open_cell();
    cell.achieved_per_s = 500;
    cell.lag_p99_ns = 5000000000;
    assert_int_equal(judged(state, cell, "late", NULL), NONE);
    assert_int_equal(judged(state, cell, "rate-not-reached", NULL), GUARD_WARNING);
}

static int set_up(void **state)
{
    *state = arena_create(1 << 14);
    return 0;
}

static int tear_down(void **state)
{
    struct arena *arena = *state;
    arena_destroy(&arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stalls_of_one_percent_are_found),
        TEST(a_schedule_hides_no_stalls),
        TEST(a_rate_that_is_reached_is_quiet),
        TEST(a_rate_that_is_not_reached_is_a_warning),
        TEST(unfinished_work_is_said),
        TEST(lateness_of_the_stand_is_a_warning),
        TEST(lateness_of_busy_clients_is_no_fault_of_the_stand),
        TEST(a_rate_that_is_missed_is_not_told_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
