/* A connection that is lost is never the error that a scenario expects, whatever SQLSTATE
 * stands in the outcome. links: run */
#include "bench_client.h"
#include "fake_driver.h"

static enum drv_step fake_submit(struct drv_conn *conn, const struct drv_op *op)
{
    (void)conn, (void)op;
    return DRV_DONE;
}

static uint32_t errors_left;

static enum drv_step fake_step(struct drv_conn *conn, struct drv_outcome *outcome)
{
    (void)conn;
    *outcome = (struct drv_outcome){.verdict = DRV_ERROR, .affected = -1, .sqlstate = "22012"};
    return errors_left-- > 0 ? DRV_DONE : DRV_FAILED;
}

static const char *fake_error(const struct drv_conn *conn)
{
    (void)conn;
    return "the server is gone";
}

static const struct drv_class fake = {
    .name = "fake",
    .abi = DRV_ABI,
    .conn_bytes = sizeof(struct drv_conn),
    .open = fake_open,
    .close = fake_close,
    .prepare = fake_prepare,
    .submit = fake_submit,
    .step = fake_step,
    .last_error = fake_error,
};

static void test_loss_is_no_expected_error(void **state)
{
    (void)state;
    struct bench_client bench;
    errors_left = 10;
    bench_open_with(&bench,
                    "return suite { 'lost', scenario { 'e', sql = 'SELECT 1/0', warmup = 0,\n"
                    "  samples = 50, expect = { error = '22012' } } }\n",
                    "sqlite::memory:", &fake);
    client_begin(&bench.client, 50, true);
    worker_run_alone(&bench.client);
    assert_true(bench.client.failure.failed);
    assert_int_equal(bench.client.failure.verdict, DRV_LOST);
    assert_string_equal(bench.client.failure.message, "the server is gone");
    assert_int_equal(bench.client.operations, 10);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss_is_no_expected_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
