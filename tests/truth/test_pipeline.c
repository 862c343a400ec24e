/* What a pipeline sends, in which order, and that each answer meets the checks of its own
 * operation: on a driver that keeps operations in flight and answers ten times its parameter.
 * links: run */
#include "bench_client.h"
#include "fake_driver.h"

#define SEEN_MAX 4096

struct seen {
    uint16_t stmt;
    bool more;
    int64_t param;
    uint32_t in_flight; /* with this one */
};

static struct seen seen[SEEN_MAX];
static uint32_t seen_count, answered, wrong_at;

static void fake_submit(struct drv_conn *conn, const struct drv_op *op)
{
    (void)conn;
    assert_true(seen_count < SEEN_MAX);
    seen[seen_count] = (struct seen){
        .stmt = op->stmt,
        .more = op->more,
        .param = op->param_count > 0 ? op->params[0].as.i : -1,
        .in_flight = seen_count - answered + 1,
    };
    seen_count++;
}

static struct drv_sink *fake_sink; /* every operation of a client has the same */

static enum drv_step fake_submit_with_sink(struct drv_conn *conn, const struct drv_op *op)
{
    fake_sink = op->sink;
    fake_submit(conn, op);
    return DRV_DONE;
}

static enum drv_step fake_step(struct drv_conn *conn, struct drv_outcome *outcome)
{
    (void)conn;
    assert_true(answered < seen_count);
    const struct seen *op = &seen[answered++];
    struct value value = value_int(op->param * 10 + (answered == wrong_at));
    if (fake_sink)
        fake_sink->row(fake_sink, &value, 1);
    *outcome = (struct drv_outcome){.verdict = DRV_OK, .rows = 1, .affected = -1};
    return DRV_DONE;
}

static const char *fake_error(const struct drv_conn *conn)
{
    (void)conn;
    return "";
}

static const struct drv_class fake = {
    .name = "fake",
    .abi = DRV_ABI,
    .caps = DRV_CAP_PIPELINE,
    .conn_bytes = sizeof(struct drv_conn),
    .open = fake_open,
    .close = fake_close,
    .prepare = fake_prepare,
    .submit = fake_submit_with_sink,
    .step = fake_step,
    .last_error = fake_error,
};

static const char *const suite =
    "return suite { 'pipes', scenario { 'both', warmup = 0, samples = 50, steps = {\n"
    "  execute { sql = 'SELECT 10 * :a', bind = { a = uniform(1, 1000) },\n"
    "    expect = { rows = 1, value = affine(10, bound 'a', 0) } },\n"
    "  pipeline { execute { sql = 'SELECT :b * 10', bind = { b = uniform(1, 1000) },\n"
    "      times = 3, expect = { rows = 1, value = affine(10, bound 'b', 0) } },\n"
    "    execute { sql = 'SELECT 5 * 2 * :c', bind = { c = sequence(7) }, phase = 'last',\n"
    "      expect = { rows = 1, value = affine(10, bound 'c', 0) } } } } } }\n";

/* One alone, then four in flight, of which the last says that it is the last. */
static void test_all_are_sent_before_the_first_answer(void **state)
{
    (void)state;
    struct bench_client bench;
    wrong_at = 0;
    seen_count = answered = 0;
    bench_open_with(&bench, suite, "sqlite::memory:", &fake);
    assert_int_equal(program_in_flight(&bench.program), 4);
    bench_run(&bench, 50, true);
    assert_int_equal(seen_count, 50 * 5);
    assert_int_equal(bench.client.operations, 50 * 5);
    assert_int_equal(bench.client.rows, 50 * 5);
    assert_int_equal(bench.recorder.service.count, 50);
    assert_int_equal(bench.recorder.phases[0].count, 50);
    for (uint32_t i = 0; i < seen_count; i++) {
        uint32_t place = i % 5;
        assert_int_equal(seen[i].more, place > 0 && place < 4);
        assert_int_equal(seen[i].in_flight, place == 0 ? 1 : place);
        assert_int_equal(seen[i].stmt, place == 0 ? 0 : place < 4 ? 1 : 2);
        if (place == 4)
            assert_int_equal(seen[i].param, 7 + i / 5);
    }
    bench_close(&bench);
}

/* Repetitions draw apart, and the same numbers as without a pipeline. */
static void test_draws_are_those_of_the_long_way(void **state)
{
    (void)state;
    struct bench_client bench;
    static int64_t piped[SEEN_MAX];
    struct drv_class plain = fake;
    seen_count = answered = 0;
    bench_open_with(&bench, suite, "sqlite::memory:", &fake);
    bench_run(&bench, 50, true);
    for (uint32_t i = 0; i < seen_count; i++)
        piped[i] = seen[i].param;
    bench_close(&bench);
    plain.caps = 0;
    seen_count = answered = 0;
    bench_open_with(&bench, suite, "sqlite::memory:", &plain);
    bench_run(&bench, 50, true);
    assert_int_equal(seen_count, 50 * 5);
    for (uint32_t i = 0; i < seen_count; i++) {
        assert_int_equal(seen[i].param, piped[i]);
        assert_false(seen[i].more);
        assert_int_equal(seen[i].in_flight, 1);
    }
    bench_close(&bench);
}

/* A wrong answer in the middle is that operation's failure. */
static void test_a_wrong_answer_is_found(void **state)
{
    (void)state;
    struct bench_client bench;
    wrong_at = 5 * 20 + 3; /* the second of the pipeline, in the 21st execution */
    seen_count = answered = 0;
    bench_open_with(&bench, suite, "sqlite::memory:", &fake);
    client_begin(&bench.client, 50, true);
    worker_run_alone(&bench.client);
    assert_true(bench.client.failure.failed);
    assert_string_equal(bench.client.failure.what, "value");
    assert_int_equal(bench.client.failure.execution, 21);
    assert_int_equal(bench.client.failure.found.as.i, bench.client.failure.expected.as.i + 1);
    wrong_at = 0;
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_sent_before_the_first_answer),
        cmocka_unit_test(test_draws_are_those_of_the_long_way),
        cmocka_unit_test(test_a_wrong_answer_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
