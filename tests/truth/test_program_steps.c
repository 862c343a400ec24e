/* What a program of many steps does, on SQLite: variables from results, draws that differ,
 * branches, sleeps and phases, counted and timed. links: run */
#include "bench_client.h"
#include "hist/quantile.h"

static const char *const two_draws =
    "return suite { 'draws', scenario { 'two', warmup = 0, samples = 200, steps = {\n"
    "  assign { 'a', uniform(1, 1000000) }, assign { 'b', uniform(1, 1000000) },\n"
    "  execute { sql = 'SELECT CASE WHEN :a = :b THEN 1 ELSE 0 END',\n"
    "    bind = { a = var 'a', b = var 'b' }, save = { same = 1 },\n"
    "    expect = { rows = 1, value = 0 } } } } }\n";

/* Two assignments of the same generator are two draws: not once in 200 executions equal. */
static void test_two_assignments_draw_apart(void **state)
{
    (void)state;
    struct bench_client bench;
    bench_open(&bench, two_draws, "sqlite::memory:");
    bench_run(&bench, 200, true);
    assert_int_equal(bench.client.operations, 200);
    assert_int_equal(bench.client.rows, 200);
    bench_close(&bench);
}

static const char *const branches =
    "return suite { 'branch', scenario { 'even', warmup = 0, samples = 100, steps = {\n"
    "  execute { sql = 'SELECT :n', bind = { n = modulo(row, 2) }, save = { odd = 1 } },\n"
    "  when { var 'odd', execute { sql = 'SELECT 1' }, execute { sql = 'SELECT 2' },\n"
    "    otherwise = { execute { sql = 'SELECT 3' } } } } } }\n";

/* Of 100 executions 50 have three operations and 50 have two. */
static void test_branches_follow_results(void **state)
{
    (void)state;
    struct bench_client bench;
    bench_open(&bench, branches, "sqlite::memory:");
    bench_run(&bench, 100, true);
    assert_int_equal(bench.client.operations, 50 * 3 + 50 * 2);
    assert_int_equal(bench.recorder.service.count, 100);
    bench_close(&bench);
}

static const char *const sleeps =
    "return suite { 'sleep', scenario { 'nap', warmup = 0, samples = 8, steps = {\n"
    "  execute { sql = 'SELECT 1', phase = 'before' }, pause { '20ms' },\n"
    "  execute { sql = 'SELECT 2', phase = 'after' } } } }\n";

/* A pause between two statements is part of the execution, of neither statement. */
static void test_a_pause_is_in_no_statement(void **state)
{
    (void)state;
    struct bench_client bench;
    bench_open(&bench, sleeps, "sqlite::memory:");
    bench_run(&bench, 8, true);
    assert_int_equal(bench.recorder.service.count, 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_true(bench.recorder.service.raw[i] >= 20 * NS_PER_MS);
    for (uint16_t phase = 0; phase < 2; phase++) {
        struct series *series = &bench.recorder.phases[phase];
        assert_int_equal(series->count, 8);
        assert_true(quantile_of(series->raw, series->count, QUANTILE_P50) < 5 * NS_PER_MS);
    }
    bench_close(&bench);
}

static const char *const marks =
    "return suite { 'mark', scenario { 'parts', warmup = 0, samples = 5, steps = {\n"
    "  mark { 'first' }, execute { sql = 'SELECT 1' }, pause { '10ms' },\n"
    "  mark { 'second' }, execute { sql = 'SELECT 2' } } } }\n";

/* Marks cut an execution into parts that add up to it. */
static void test_marks_add_up(void **state)
{
    (void)state;
    struct bench_client bench;
    bench_open(&bench, marks, "sqlite::memory:");
    bench_run(&bench, 5, true);
    assert_int_equal(bench.program.phase_count, 2);
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t whole = bench.recorder.service.raw[i];
        uint64_t parts = bench.recorder.phases[0].raw[i] + bench.recorder.phases[1].raw[i];
        assert_true(bench.recorder.phases[0].raw[i] >= 10 * NS_PER_MS);
        assert_true(parts <= whole + 1000 && whole <= parts + 1000);
    }
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_assignments_draw_apart),
        cmocka_unit_test(test_branches_follow_results),
        cmocka_unit_test(test_a_pause_is_in_no_statement),
        cmocka_unit_test(test_marks_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
