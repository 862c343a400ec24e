#include "guard/guard.h"
#include "testing.h"

#include <string.h>

enum { NONE = -1 };

static struct guard_finding found[GUARD_FINDINGS_MAX];
static unsigned found_count;

/* Level of the finding with this id, or NONE. */
static int level_of(const char *id)
{
    for (unsigned i = 0; i < found_count; i++) {
        if (strcmp(found[i].id, id) == 0)
            return (int)found[i].level;
    }
    return NONE;
}

static const struct guard_finding *finding(const char *id)
{
    for (unsigned i = 0; i < found_count; i++) {
        if (strcmp(found[i].id, id) == 0)
            return &found[i];
    }
    fail_msg("no finding %s", id);
    return NULL;
}

static int judged_cell(void **state, struct guard_cell cell, const char *id)
{
    found_count = guard_judge_cell(*state, &cell, found);
    return level_of(id);
}

static int judged_run(void **state, struct guard_run run, const char *id)
{
    found_count = guard_judge_run(*state, &run, found);
    return level_of(id);
}

/* A second of quiet work: nothing to find. */
static struct guard_cell quiet_cell(void)
{
    return (struct guard_cell){.scenario = "s",
                               .target = "postgres",
                               .clients = 8,
                               .threads = 1,
                               .wall_ns = 1000000000,
                               .operations = 1000,
                               .thread_cpu_max_ns = 500000000,
                               .client_cpu_ns = 500000000,
                               .server_cpu_ns = 500000000,
                               .server_cpu_known = true,
                               .service_p50_ns = 100000,
                               .mean_service_ns = 8000000, /* all 8 at work */
                               .executions = 1000,
                               .clock_cost_ns = 30,
                               .has_binds = true,
                               .latency_claimed = true,
                               .cpus = 4};
}

static void quiet_facts_find_nothing(void **state)
{
    struct guard_cell cell = quiet_cell();
    assert_int_equal(guard_judge_cell(*state, &cell, found), 0);
    const struct guard_run run = {.duration_ns = 1000000000, .cpus = 2};
    assert_int_equal(guard_judge_run(*state, &run, found), 0);
    const struct guard_cell zeros = {0};
    assert_int_equal(guard_judge_cell(*state, &zeros, found), 0);
    const struct guard_run no_run = {0};
    assert_int_equal(guard_judge_run(*state, &no_run, found), 0);
}

static void levels_have_names(void **state)
{
    (void)state;
    assert_string_equal(guard_level_name(GUARD_INFO), "info");
    assert_string_equal(guard_level_name(GUARD_WARNING), "warning");
    assert_string_equal(guard_level_name(GUARD_INVALID), "invalid");
}

static int saturated(void **state, uint64_t busy_ns, struct guard_cell cell)
{
    cell.thread_cpu_max_ns = busy_ns;
    return judged_cell(state, cell, "client-saturated");
}

static void a_busy_client_is_a_warning_and_a_saturated_one_invalid(void **state)
{
    struct guard_cell cell = quiet_cell();
    assert_int_equal(saturated(state, 849000000, cell), NONE);
    assert_int_equal(saturated(state, 850000000, cell), GUARD_WARNING);
    assert_int_equal(saturated(state, 980000000, cell), GUARD_WARNING);
    assert_int_equal(saturated(state, 981000000, cell), GUARD_INVALID);
    assert_true(finding("client-saturated")->has_figure);
    assert_true(finding("client-saturated")->figure > 0.98);
    assert_string_equal(finding("client-saturated")->code, "D01");
    assert_non_null(strstr(finding("client-saturated")->text, "98 %"));
    cell.latency_claimed = false;
    assert_int_equal(saturated(state, 999000000, cell), GUARD_WARNING);
}

/* A thread a client: the client is slow, but no request waits for another. */
static void a_saturated_thread_with_one_client_is_a_warning(void **state)
{
    struct guard_cell cell = quiet_cell();
    cell.threads = 8;
    assert_int_equal(saturated(state, 999000000, cell), GUARD_WARNING);
    cell.threads = 5;
    assert_int_equal(saturated(state, 999000000, cell), GUARD_WARNING);
    cell.threads = 4;
    assert_int_equal(saturated(state, 999000000, cell), GUARD_INVALID);
}

/* Advice names only options that there are. */
static void advice_can_be_followed(void **state)
{
    static const uint64_t busy_ns[] = {900000000, 999000000};
    for (size_t i = 0; i < ARRAY_COUNT(busy_ns); i++) {
        (void)saturated(state, busy_ns[i], quiet_cell());
        const char *text = finding("client-saturated")->text;
        for (const char *at = text; (at = strstr(at, "--")) != NULL; at += 2)
            assert_memory_equal(at, "--on ", 5);
        assert_non_null(strstr(text, "fewer clients"));
        assert_non_null(strstr(text, "another machine"));
    }
}

static void open_loop_needs_more_spare_time(void **state)
{
    struct guard_cell cell = quiet_cell();
    cell.open_loop = true;
    cell.clients = 1;
    assert_int_equal(saturated(state, 950000000, cell), GUARD_WARNING);
    assert_int_equal(saturated(state, 951000000, cell), GUARD_INVALID);
}

static void embedded_and_null_targets_use_the_core_by_nature(void **state)
{
    struct guard_cell cell = quiet_cell();
    cell.embedded = true;
    assert_int_equal(saturated(state, 999000000, cell), GUARD_INFO);
    assert_int_equal(saturated(state, 849000000, cell), NONE);
    cell.embedded = false;
    cell.null_target = true;
    assert_int_equal(saturated(state, 999000000, cell), GUARD_INFO);
}

static int starved(void **state, uint64_t wait_ns, struct guard_cell cell)
{
    cell.run_wait_ns = wait_ns;
    return judged_cell(state, cell, "client-starved");
}

static void waiting_for_a_core_is_starving(void **state)
{
    struct guard_cell cell = quiet_cell();
    assert_int_equal(starved(state, 100000000, cell), NONE);
    assert_int_equal(starved(state, 101000000, cell), GUARD_WARNING);
    assert_int_equal(starved(state, 900000000, cell), GUARD_WARNING);
    cell.open_loop = true;
    assert_int_equal(starved(state, 250000000, cell), GUARD_WARNING);
    assert_int_equal(starved(state, 251000000, cell), GUARD_INVALID);
    cell.threads = 4; /* the waits of all four are summed */
    assert_int_equal(starved(state, 400000000, cell), NONE);
    assert_int_equal(starved(state, 1004000000, cell), GUARD_INVALID);
}

static void full_cores_are_shared(void **state)
{
    struct guard_cell cell = quiet_cell();
    cell.cpus = 2;
    cell.server_cpu_ns = 1290000000;
    assert_int_equal(judged_cell(state, cell, "shared-cores"), NONE);
    cell.server_cpu_ns = 1300000000;
    assert_int_equal(judged_cell(state, cell, "shared-cores"), GUARD_INFO);
    cell.server_cpu_known = false;
    assert_int_equal(judged_cell(state, cell, "shared-cores"), NONE);
}

static void short_times_contain_the_clock(void **state)
{
    struct guard_cell cell = quiet_cell();
    cell.service_p50_ns = 600;
    assert_int_equal(judged_cell(state, cell, "clock-cost"), NONE);
    cell.service_p50_ns = 599;
    assert_int_equal(judged_cell(state, cell, "clock-cost"), GUARD_WARNING);
    assert_non_null(strstr(finding("clock-cost")->text, "599 ns"));
    cell.service_p50_ns = 0;
    assert_int_equal(judged_cell(state, cell, "clock-cost"), NONE);
}

static void the_same_parameters_each_time(void **state)
{
    struct guard_cell cell = quiet_cell();
    cell.distinct_binds = 2;
    assert_int_equal(judged_cell(state, cell, "same-parameters"), NONE);
    cell.distinct_binds = 0;
    cell.query_cache = true;
    assert_int_equal(judged_cell(state, cell, "same-parameters"), NONE);
    cell.distinct_binds = 1;
    assert_int_equal(judged_cell(state, cell, "same-parameters"), GUARD_WARNING);
    cell.is_write = true;
    assert_int_equal(judged_cell(state, cell, "same-parameters"), GUARD_INFO);
    cell.is_write = false;
    cell.query_cache = false;
    assert_int_equal(judged_cell(state, cell, "same-parameters"), GUARD_INFO);
    cell.operations = 1;
    assert_int_equal(judged_cell(state, cell, "same-parameters"), NONE);
}

/* Without parameters a statement is always the same: only a cache makes that a fault. */
static void a_constant_statement_and_a_query_cache(void **state)
{
    struct guard_cell cell = quiet_cell();
    cell.has_binds = false;
    cell.distinct_binds = 1;
    assert_int_equal(judged_cell(state, cell, "same-parameters"), NONE);
    cell.query_cache = true;
    assert_int_equal(judged_cell(state, cell, "same-parameters"), GUARD_WARNING);
}

static int in_flight(void **state, double mean_ns, struct guard_cell cell)
{
    cell.mean_service_ns = mean_ns;
    return judged_cell(state, cell, "few-in-flight");
}

/* A thousand executions in a second: a mean of 1 ms keeps one client at work. */
static void clients_that_do_not_overlap(void **state)
{
    struct guard_cell cell = quiet_cell();
    assert_int_equal(in_flight(state, 5600000, cell), NONE);
    assert_int_equal(in_flight(state, 5590000, cell), GUARD_WARNING);
    assert_string_equal(finding("few-in-flight")->code, "D52");
    assert_non_null(strstr(finding("few-in-flight")->text, "some were done before others"));
    assert_int_equal(in_flight(state, 900000, cell), GUARD_WARNING);
    assert_string_equal(finding("few-in-flight")->text,
                        "of 8 clients 0.9 were at work on average: each was done before the "
                        "next began; ask for more requests");
    assert_true(finding("few-in-flight")->figure > 0.89 &&
                finding("few-in-flight")->figure < 0.91);
    cell.null_target = true;
    assert_int_equal(in_flight(state, 900000, cell), GUARD_INFO);
    cell.null_target = false;
    cell.clients = 1;
    assert_int_equal(in_flight(state, 100, cell), NONE);
    cell.clients = 8;
    cell.executions = 0;
    assert_int_equal(in_flight(state, 0, cell), NONE);
}

static void the_most_severe_comes_first(void **state)
{
    struct guard_cell cell = quiet_cell();
    cell.distinct_binds = 1;            /* info */
    cell.service_p50_ns = 60;           /* warning */
    cell.thread_cpu_max_ns = 999000000; /* invalid */
    found_count = guard_judge_cell(*state, &cell, found);
    assert_int_equal(found_count, 3);
    assert_int_equal(found[0].level, GUARD_INVALID);
    assert_int_equal(found[1].level, GUARD_WARNING);
    assert_int_equal(found[2].level, GUARD_INFO);
}

static struct guard_target with_tier(const char *label, int tier, const char *name)
{
    return (struct guard_target){.label = label,
                                 .durable_claimed = true,
                                 .tier = tier,
                                 .tier_name = name,
                                 .tier_why = "because"};
}

static void durability_below_fsync_and_unequal(void **state)
{
    struct guard_target targets[] = {with_tier("a", 4, "fsync"),
                                     with_tier("b", 4, "fsync"),
                                     {.label = "null"}};
    struct guard_run run = {.targets = targets, .target_count = 3};
    assert_int_equal(judged_run(state, run, "not-durable"), NONE);
    assert_int_equal(level_of("unequal-durability"), NONE);
    targets[1] = with_tier("b", 3, "page cache");
    assert_int_equal(judged_run(state, run, "not-durable"), GUARD_WARNING);
    assert_int_equal(level_of("unequal-durability"), GUARD_WARNING);
    assert_non_null(strstr(finding("not-durable")->text, "b acknowledges"));
    assert_non_null(strstr(finding("unequal-durability")->text, "a: fsync, b: page cache"));
    run.reads_only = true;
    assert_int_equal(judged_run(state, run, "not-durable"), NONE);
    assert_int_equal(level_of("unequal-durability"), GUARD_INFO);
    run.reads_only = false;
    targets[1] = with_tier("b", 0, "unknown");
    assert_int_equal(judged_run(state, run, "unequal-durability"), NONE);
    assert_int_equal(level_of("durability-unknown"), GUARD_INFO);
}

static void debug_builds(void **state)
{
    struct guard_target target = with_tier("a", 4, "fsync");
    struct guard_run run = {.targets = &target, .target_count = 1};
    target.debug_build = true;
    target.debug_why = "debug_assertions=on";
    assert_int_equal(judged_run(state, run, "debug-build"), GUARD_WARNING);
    assert_non_null(strstr(finding("debug-build")->text, "debug_assertions=on"));
    target.debug_build = false;
    run.stand_debug = true;
    assert_int_equal(judged_run(state, run, "debug-build"), NONE);
    assert_int_equal(level_of("stand-debug"), GUARD_WARNING);
    run.stand_sanitizer = true;
    assert_int_equal(judged_run(state, run, "stand-sanitizer"), GUARD_WARNING);
    assert_int_equal(level_of("stand-debug"), NONE); /* said once */
}

static void slow_and_coarse_clocks(void **state)
{
    struct guard_run run = {.clock_cost_ns = 1000, .clock_step_ns = 1000};
    assert_int_equal(judged_run(state, run, "clock-slow"), NONE);
    assert_int_equal(level_of("clock-coarse"), NONE);
    run.clock_cost_ns = 1001;
    run.clock_source = "acpi_pm";
    assert_int_equal(judged_run(state, run, "clock-slow"), GUARD_WARNING);
    assert_non_null(strstr(finding("clock-slow")->text, "acpi_pm"));
    run.clock_step_ns = 1001;
    assert_int_equal(judged_run(state, run, "clock-coarse"), GUARD_WARNING);
}

static int drifted(void **state, int64_t drift_ns, uint64_t duration_ns, const char *id)
{
    const struct guard_run run = {.clock_drift_ns = drift_ns, .duration_ns = duration_ns};
    return judged_run(state, run, id);
}

static void drift_and_steps_of_the_clock(void **state)
{
    const uint64_t ten_s = UINT64_C(10000000000);
    assert_int_equal(drifted(state, 10000000, ten_s, "clock-drift"), NONE);
    assert_int_equal(drifted(state, 10000001, ten_s, "clock-drift"), GUARD_WARNING);
    assert_int_equal(drifted(state, -10000001, ten_s, "clock-drift"), GUARD_WARNING);
    assert_non_null(strstr(finding("clock-drift")->text, "back"));
    /* A short run: the reading itself is not that exact. */
    assert_int_equal(drifted(state, 999999, 1000000, "clock-drift"), NONE);
    assert_int_equal(drifted(state, 500000000, ten_s, "clock-step"), NONE);
    assert_int_equal(level_of("clock-drift"), GUARD_WARNING);
    assert_int_equal(drifted(state, 500000001, ten_s, "clock-step"), GUARD_INVALID);
    assert_int_equal(drifted(state, -500000001, ten_s, "clock-step"), GUARD_INVALID);
    assert_int_equal(level_of("clock-drift"), NONE);
}

static void a_machine_that_is_not_quiet(void **state)
{
    struct guard_run run = {.cpus = 4, .steal_share = 0.01, .load_before = 2.0};
    assert_int_equal(judged_run(state, run, "steal"), NONE);
    assert_int_equal(level_of("load-before"), NONE);
    run.steal_share = 0.011;
    run.load_before = 2.01;
    assert_int_equal(judged_run(state, run, "steal"), GUARD_WARNING);
    assert_int_equal(level_of("load-before"), GUARD_WARNING);
    assert_int_equal(level_of("throttled"), NONE);
    run.throttled_count = 1;
    run.cpu_pressure_share = 0.1;
    assert_int_equal(judged_run(state, run, "throttled"), GUARD_WARNING);
    assert_int_equal(level_of("cpu-pressure"), NONE);
    run.cpu_pressure_share = 0.11;
    assert_int_equal(judged_run(state, run, "cpu-pressure"), GUARD_INFO);
}

static void no_more_findings_than_there_is_room_for(void **state)
{
    struct guard_target targets[40];
    for (size_t i = 0; i < 40; i++)
        targets[i] = with_tier("t", 0, "unknown");
    const struct guard_run run = {.targets = targets,
                                  .target_count = 40,
                                  .clock_drift_ns = 1000000000,
                                  .duration_ns = 1};
    found_count = guard_judge_run(*state, &run, found);
    assert_int_equal(found_count, GUARD_FINDINGS_MAX);
    assert_string_equal(found[0].id, "clock-step");
}

static void answers_must_be_equal(void **state)
{
    const char *const labels[] = {"sqlite", "postgres", "mariadb"};
    uint64_t checksums[] = {7, 7, 7}, rows[] = {3, 3, 3};
    struct guard_answer answer = {"top", labels, checksums, rows, 3};
    assert_int_equal(guard_judge_answer(*state, &answer, found), 0);
    checksums[2] = 8;
    found_count = guard_judge_answer(*state, &answer, found);
    assert_int_equal(found_count, 1);
    assert_int_equal(level_of("answers-differ"), GUARD_INVALID);
    assert_non_null(strstr(found[0].text, "mariadb 3 rows"));
    checksums[2] = 7;
    rows[1] = 2;
    assert_int_equal(guard_judge_answer(*state, &answer, found), 1);
    answer.count = 1;
    assert_int_equal(guard_judge_answer(*state, &answer, found), 0);
    answer.count = 0;
    assert_int_equal(guard_judge_answer(*state, &answer, found), 0);
}

/* Every id and code that the module can say stands in the documentation. */
static void the_documentation_knows_every_guard(void **state)
{
    static const char *const known[] = {
        "client-saturated",   "client-starved",     "shared-cores",    "clock-cost",
        "clock-slow",         "clock-coarse",       "clock-drift",     "clock-step",
        "debug-build",        "stand-debug",        "stand-sanitizer", "not-durable",
        "durability-unknown", "unequal-durability", "steal",           "throttled",
        "load-before",        "cpu-pressure",       "same-parameters", "answers-differ",
        "few-in-flight",      "another-run"};
    (void)state;
    char text[32768], cell[64];
    FILE *file = fopen(DBDYNO_SOURCE_DIR "/docs/guards.md", "re");
    assert_non_null(file);
    size_t bytes = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[bytes] = '\0';
    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        snprintf(cell, sizeof(cell), "| `%s` |", known[i]);
        if (!strstr(text, cell))
            fail_msg("docs/guards.md does not know %s", known[i]);
    }
}

static int make_arena(void **state)
{
    *state = arena_create(4096);
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
        cmocka_unit_test(quiet_facts_find_nothing),
        cmocka_unit_test(levels_have_names),
        cmocka_unit_test(a_busy_client_is_a_warning_and_a_saturated_one_invalid),
        cmocka_unit_test(a_saturated_thread_with_one_client_is_a_warning),
        cmocka_unit_test(advice_can_be_followed),
        cmocka_unit_test(open_loop_needs_more_spare_time),
        cmocka_unit_test(embedded_and_null_targets_use_the_core_by_nature),
        cmocka_unit_test(waiting_for_a_core_is_starving),
        cmocka_unit_test(full_cores_are_shared),
        cmocka_unit_test(short_times_contain_the_clock),
        cmocka_unit_test(the_same_parameters_each_time),
        cmocka_unit_test(a_constant_statement_and_a_query_cache),
        cmocka_unit_test(clients_that_do_not_overlap),
        cmocka_unit_test(the_most_severe_comes_first),
        cmocka_unit_test(durability_below_fsync_and_unequal),
        cmocka_unit_test(debug_builds),
        cmocka_unit_test(slow_and_coarse_clocks),
        cmocka_unit_test(drift_and_steps_of_the_clock),
        cmocka_unit_test(a_machine_that_is_not_quiet),
        cmocka_unit_test(no_more_findings_than_there_is_room_for),
        cmocka_unit_test(answers_must_be_equal),
        cmocka_unit_test(the_documentation_knows_every_guard),
    };
    return cmocka_run_group_tests_name("guard", tests, make_arena, drop_arena);
}
