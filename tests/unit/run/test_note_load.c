/* What a cell of an open loop says of itself, and what the client library costs: invented
 * cells into a record. */
#include "run/note_internal.h"
#include "testing.h"

#include <string.h>

static struct arena *arena;
static struct runner runner;
static struct suite suite;
static struct run_options options;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create(1 << 20);
    suite = (struct suite){.name = "s", .seed = 7};
    options = (struct run_options){.suite = &suite};
    runner = (struct runner){.arena = arena, .options = &options, .cpus = 2};
    runner.record = record_create(arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static const struct drv_class library_class = {.name = "libpq", .caps = DRV_CAP_REMOTE};
static const struct drv_class wire_class = {.name = "wire",
                                            .caps = DRV_CAP_REMOTE | DRV_CAP_PIPELINE};

static struct session *session(const char *label, const struct drv_class *class)
{
    struct session *made = arena_new(arena, struct session);
    made->target = (struct drv_target){.label = label,
                                       .class = class,
                                       .dialect = DIALECT_POSTGRES,
                                       .home = DRV_HOME_MANAGED};
    made->facts.server_version = "PostgreSQL 15.18";
    struct rec_target *target = record_add_target(runner.record);
    target->label = label;
    target->address = "unix socket";
    return made;
}

static struct suite_scenario scenario = {.name = "point",
                                         .clients_named = true,
                                         .rate_per_s = 1000,
                                         .duration_ns = 10 * NS_PER_S};

static void fill(struct series *series, uint64_t count, uint64_t from, uint64_t to)
{
    series_init(series, arena, 0);
    for (uint64_t i = 0; i < count; i++)
        series_record(series, from + (to - from) * i / count);
}

/* A server that does 500 a second, asked for 1,000: after 10 s it is 5 s behind, and 5 s more
 * are not enough. */
static struct cell overloaded(struct session *on)
{
    struct cell cell = {.scenario = &scenario, .session = on, .clients = 1, .threads = 1};
    cell.due = 10000;
    cell.executions = cell.total.operations = 7500;
    cell.window_ns = 10 * NS_PER_S;
    cell.drain_ns = 5 * NS_PER_S;
    cell.wall_ns = 15 * NS_PER_S;
    cell.spin_ns = 1234;
    fill(&cell.total.service, 7500, 2000000, 2000000);
    fill(&cell.total.lag, 7500, 0, 7500 * NS_PER_MS);
    fill(&cell.total.response, 7500, 2000000, 7502 * NS_PER_MS);
    for (uint64_t i = 0; i < 2500; i++)
        series_record(&cell.total.response, 5 * NS_PER_S + (2500 - i) * NS_PER_MS);
    cell.total.unfinished = 2500;
    cell.total.unfinished_least_ns = 5 * NS_PER_S + NS_PER_MS;
    return cell;
}

static double figure(const struct rec_cell *cell, const char *name, const char *stat)
{
    double value = -1;
    const struct rec_metric *metric = rec_cell_metric(cell, name);
    if (!metric || !rec_metric_stat(metric, stat, &value))
        fail_msg("no %s of %s", stat, name);
    return value;
}

static void rates_of_an_overloaded_server_are_true(void **state)
{
    (void)state;
    struct cell cell = overloaded(session("pg", &library_class));
    note_cell(&runner, &cell);
    const struct rec_cell *out = &runner.record->cells[0];
    assert_string_equal(out->metrics[0].name, "offered_per_s");
    assert_string_equal(out->metrics[1].name, "achieved_per_s");
    assert_true(figure(out, "offered_per_s", "value") == 1000);
    assert_true(figure(out, "achieved_per_s", "value") == 500);
    assert_true(figure(out, "unfinished", "value") == 2500);
    assert_true(figure(out, "spin_ns", "value") == 1234);
    assert_null(rec_cell_metric(out, "throughput_per_s"));
    assert_string_equal(out->verdict, "reserve");
    assert_string_equal(out->guards[0].id, "rate-not-reached");
}

static void a_rate_that_was_kept_is_not_less_for_the_last_answer(void **state)
{
    (void)state;
    struct cell cell = overloaded(session("pg", &library_class));
    cell.executions = cell.due;
    cell.total.unfinished = 0;
    cell.drain_ns = NS_PER_S; /* one answer took a second, at the end */
    fill(&cell.total.lag, 10000, 0, 100000);
    assert_in_range((uint64_t)cell_achieved_per_s(&cell), 999, 1000);
    /* but a second in which nothing could begin counts */
    series_record(&cell.total.lag, NS_PER_S);
    assert_int_equal((uint64_t)cell_achieved_per_s(&cell), 909);
    cell.window_ns = 0;
    assert_true(cell_achieved_per_s(&cell) == 0 && cell_offered_per_s(&cell) == 0);
}

static void unfinished_work_bounds_the_distribution(void **state)
{
    (void)state;
    struct cell cell = overloaded(session("pg", &library_class));
    note_cell(&runner, &cell);
    const struct rec_cell *out = &runner.record->cells[0];
    const struct rec_metric *response = rec_cell_metric(out, "response_ns");
    assert_int_equal(response->n, 10000);
    assert_true(response->bounded_from.known);
    assert_int_equal(response->bounded_from.value, 5001000000);
    assert_false(rec_cell_metric(out, "service_ns")->bounded_from.known);
    assert_int_equal(rec_cell_metric(out, "service_ns")->n, 7500);
    static const char *const names[] = {"service_ns", "response_ns", "lag_ns"};
    assert_int_equal(out->run_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(out->runs[i].metric, names[i]);
    assert_int_equal(out->runs[1].histogram->count, 10000);
    cell.total.unfinished = 0;
    note_cell(&runner, &cell);
    out = &runner.record->cells[1];
    assert_false(rec_cell_metric(out, "response_ns")->bounded_from.known);
}

static void an_open_loop_says_what_it_is(void **state)
{
    (void)state;
    struct cell cell = overloaded(session("pg", &library_class));
    note_cell(&runner, &cell);
    const struct rec_cell *out = &runner.record->cells[0];
    assert_string_equal(out->mode, "open loop, poisson, 1000/s, seed 7, 1 client on 1 threads, "
                                   "10 s, all due work awaited for 5 s more");
    assert_non_null(strstr(out->timing, "response from when an execution was due"));
    assert_int_equal(rec_pairs_find(&out->params, "rate_per_s")->type, VALUE_INT);
    assert_int_equal(rec_pairs_find(&out->params, "rate_per_s")->as.i, 1000);
    const struct value *arrivals = rec_pairs_find(&out->params, "arrivals");
    assert_int_equal(arrivals->bytes, 7);
    assert_memory_equal(arrivals->as.text, "poisson", 7);
    struct suite_scenario slow = scenario;
    slow.rate_per_s = 0.5;
    slow.arrivals = SUITE_FIXED;
    slow.duration_ns = 0;
    slow.warmup_ns = 2 * NS_PER_S;
    cell.scenario = &slow;
    cell.asked = 20;
    note_cell(&runner, &cell);
    out = &runner.record->cells[1];
    assert_true(rec_pairs_find(&out->params, "rate_per_s")->as.r == 0.5);
    assert_string_equal(out->mode,
                        "open loop, fixed, 0.5/s, seed 7, 1 client on 1 threads, 2 s "
                        "of warm-up + 20 executions, all due work awaited for 5 s "
                        "more");
}

/* ---- stalls in a closed loop */

static struct cell closed(struct session *on)
{
    static struct suite_scenario plain = {.name = "point",
                                          .clients_named = true,
                                          .duration_ns = 10 * NS_PER_S};
    struct cell cell = {.scenario = &plain, .session = on, .clients = 4, .threads = 1};
    cell.executions = cell.total.operations = 40000;
    cell.wall_ns = 10 * NS_PER_S;
    cell.client_cpu_ns = 40000 * UINT64_C(7250);
    fill(&cell.total.service, 40000, 900000, 1100000);
    return cell;
}

static bool has_guard(const struct rec_cell *cell, const char *id)
{
    for (size_t i = 0; i < cell->guard_count; i++) {
        if (strcmp(cell->guards[i].id, id) == 0)
            return true;
    }
    return false;
}

static void a_freeze_in_closed_loop_is_flagged(void **state)
{
    (void)state;
    struct cell cell = closed(session("pg", &library_class));
    note_cell(&runner, &cell);
    assert_string_equal(runner.record->cells[0].runs[0].metric, "service_ns");
    assert_false(has_guard(&runner.record->cells[0], "stalls-hidden"));
    assert_non_null(rec_cell_metric(&runner.record->cells[0], "throughput_per_s"));
    for (int i = 0; i < 4; i++)
        series_record(&cell.total.service, NS_PER_S);
    note_cell(&runner, &cell);
    assert_true(has_guard(&runner.record->cells[1], "stalls-hidden"));
    struct suite_scenario load = *cell.scenario;
    load.rows_loaded = 1;
    cell.scenario = &load;
    note_cell(&runner, &cell);
    assert_false(has_guard(&runner.record->cells[2], "stalls-hidden"));
}

static void a_warm_up_by_time_is_said(void **state)
{
    (void)state;
    struct cell cell = closed(session("pg", &library_class));
    struct suite_scenario warm = *cell.scenario;
    warm.warmup_ns = 1500000000;
    cell.scenario = &warm;
    note_cell(&runner, &cell);
    assert_string_equal(runner.record->cells[0].mode,
                        "1.5 s of warm-up + 10 s, 4 clients on 1 threads, closed loop");
}

/* ---- the driver's cost */

static const struct rec_cost *cost_of(struct cell cells[2])
{
    size_t before = runner.record->cost_count;
    note_cell(&runner, &cells[0]);
    note_cell(&runner, &cells[1]);
    note_costs(&runner, cells, 2);
    assert_int_equal(runner.record->cost_count, before + 1);
    return &runner.record->costs[before];
}

static void the_cost_is_client_cpu_of_an_execution(void **state)
{
    (void)state;
    struct cell cells[2] = {closed(session("w", &wire_class)),
                            closed(session("pg", &library_class))};
    cells[0].client_cpu_ns = 50000 * UINT64_C(3125);
    cells[0].executions = 50000;
    fill(&cells[0].total.service, 50000, 800000, 800000);
    const struct rec_cost *cost = cost_of(cells);
    assert_true(cost->known);
    assert_string_equal(cost->name, "point");
    assert_string_equal(cost->library, "pg");
    assert_string_equal(cost->wire, "w");
    assert_string_equal(cost->library_client, "libpq");
    assert_true(cost->library_cpu_ns == 7250 && cost->wire_cpu_ns == 3125);
    assert_in_range(cost->library_p50_ns, 999000, 1001000);
    assert_in_range(cost->wire_p50_ns, 799200, 800800);
    assert_int_equal(rec_pairs_find(&cost->params, "clients")->as.i, 4);
}

static void a_cost_needs_enough_work(void **state)
{
    (void)state;
    struct cell cells[2] = {closed(session("pg", &library_class)),
                            closed(session("w", &wire_class))};
    cells[0].executions = 99;
    const struct rec_cost *cost = cost_of(cells);
    assert_false(cost->known);
    assert_non_null(strstr(cost->reason, "fewer than 100 executions"));
    cells[0].executions = 100;
    cells[1].client_cpu_ns = 10 * NS_PER_MS - 1;
    assert_false(cost_of(cells)->known);
    cells[1].client_cpu_ns = 10 * NS_PER_MS;
    assert_true(cost_of(cells)->known);
}

static void a_cost_needs_equal_sides(void **state)
{
    (void)state;
    struct prog_op ops[] = {{.kind = PROG_PIPE_START}, {.kind = PROG_PIPE_END}};
    struct cell cells[2] = {closed(session("pg", &library_class)),
                            closed(session("w", &wire_class))};
    runner.record->targets[1].address = "127.0.0.1:5433";
    assert_string_equal(cost_of(cells)->reason,
                        "one side went over a unix socket, the other over TCP");
    runner.record->targets[0].address = "127.0.0.1:5432";
    assert_true(cost_of(cells)->known);
    cells[0].program.ops = cells[1].program.ops = ops;
    cells[0].program.op_count = cells[1].program.op_count = 2;
    assert_string_equal(cost_of(cells)->reason, "only one side can pipeline");
    cells[0].program.op_count = cells[1].program.op_count = 0;
    cells[1].verdict = cells[1].reason = "failed";
    assert_string_equal(cost_of(cells)->reason, "one side has no valid result");
}

static void other_servers_are_no_pair(void **state)
{
    (void)state;
    struct cell cells[3] = {closed(session("pg", &library_class)),
                            closed(session("w", &wire_class)),
                            closed(session("pg2", &library_class))};
    cells[1].session->facts.server_version = "PostgreSQL 16.1";
    note_costs(&runner, cells, 3);
    cells[1].session->facts.server_version = "";
    cells[0].session->facts.server_version = cells[2].session->facts.server_version = "";
    note_costs(&runner, cells, 3);
    assert_int_equal(runner.record->cost_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rates_of_an_overloaded_server_are_true),
        TEST(a_rate_that_was_kept_is_not_less_for_the_last_answer),
        TEST(unfinished_work_bounds_the_distribution),
        TEST(an_open_loop_says_what_it_is),
        TEST(a_freeze_in_closed_loop_is_flagged),
        TEST(a_warm_up_by_time_is_said),
        TEST(the_cost_is_client_cpu_of_an_execution),
        TEST(a_cost_needs_enough_work),
        TEST(a_cost_needs_equal_sides),
        TEST(other_servers_are_no_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
