/* links: driver server
 *
 * A server that is frozen in the middle of a statement: `sever` from another thread makes the
 * call that waits for it return. */

#include "integration/driver_bench.h"
#include "os/now.h"

#include <fcntl.h>
#include <pthread.h>

#define BEFORE_NS (300 * NS_PER_MS)
#define SOON_NS   (2 * NS_PER_S)

struct blade {
    struct drv_conn *conn;
    uint64_t cut_ns, took_ns;
};

static void *cut_soon(void *context)
{
    struct blade *blade = context;
    os_sleep_ns(BEFORE_NS);
    blade->cut_ns = os_now_ns();
    blade->conn->class->sever(blade->conn);
    blade->took_ns = os_now_ns() - blade->cut_ns;
    return NULL;
}

/* What runs is the caller's; then: how long after the cut did it end? */
static pthread_t start_blade(struct blade *blade)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cut_soon, blade), 0);
    return thread;
}

static void check_blade(const struct blade *blade, pthread_t thread)
{
    uint64_t end_ns = os_now_ns();
    pthread_join(thread, NULL);
    assert_true(end_ns >= blade->cut_ns); /* it did wait */
    assert_true(end_ns - blade->cut_ns < SOON_NS);
    assert_true(blade->took_ns < NS_PER_S / 2);
}

static void a_step_is_lost(void **state)
{
    struct bench *bench = *state;
    for (int direct = 0; direct < 2; direct++) {
        struct blade blade = {.conn = bench_open(&bench->target)};
        struct drv_conn *conn = blade.conn;
        enum drv_step step;
        prepare(conn, is_postgres(bench) ? "SELECT pg_sleep(60)" : "SELECT sleep(60)", 0,
                direct);
        struct ice ice = bench_freeze(bench);
        pthread_t thread = start_blade(&blade);
        conn->class->submit(conn, &(struct drv_op){0});
        struct drv_outcome outcome = finish(conn, &step);
        check_blade(&blade, thread);
        assert_int_equal(step, DRV_FAILED);
        assert_int_equal(outcome.verdict, DRV_LOST);
        assert_true(strlen(conn->class->last_error(conn)) > 0);
        print_message("             %s\n", conn->class->last_error(conn));
        conn->class->submit(conn, &(struct drv_op){.kind = DRV_OP_PING});
        assert_int_equal(finish(conn, &step).verdict, DRV_LOST);
        conn->class->sever(conn); /* once more, when the library has closed it */
        drv_close(&conn);
        bench_thaw(&ice);
    }
}

static void a_query_fails(void **state)
{
    struct bench *bench = *state;
    struct blade blade = {.conn = bench_root(bench)};
    struct err err = {0};
    struct ice ice = bench_freeze(bench);
    pthread_t thread = start_blade(&blade);
    assert_false(
        blade.conn->class->query(blade.conn, bench->arena, "SELECT 1", NULL, NULL, &err));
    check_blade(&blade, thread);
    assert_int_equal(err.kind, ERR_SYSTEM);
    print_message("             %s\n", err.text);
    assert_false(blade.conn->class->place(blade.conn, "dbdyno_cut", true, &err));
    drv_close(&blade.conn);
    bench_thaw(&ice);
}

static void a_prepare_fails(void **state)
{
    struct bench *bench = *state;
    struct blade blade = {.conn = bench_open(&bench->target)};
    const struct prog_stmt stmt = {.name = "it", .sql = "SELECT 1"};
    struct err err = {0};
    struct ice ice = bench_freeze(bench);
    pthread_t thread = start_blade(&blade);
    assert_false(blade.conn->class->prepare(blade.conn, &stmt, 1, &err));
    check_blade(&blade, thread);
    print_message("             %s\n", err.text);
    drv_close(&blade.conn);
    bench_thaw(&ice);
}

/* The number of a socket that the library has closed may be another connection's by now. */
static void nobody_else_is_cut(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = bench_open(&bench->target);
    int fd = conn->class->fd ? conn->class->fd(conn) : -1;
    enum drv_step step;
    conn->class->sever(conn);
    conn->class->submit(conn, &(struct drv_op){.kind = DRV_OP_PING});
    assert_int_equal(finish(conn, &step).verdict, DRV_LOST);
    if (conn->class->fd) { /* a loop has yet to forget it */
        assert_int_equal(conn->class->fd(conn), fd);
        assert_true(fcntl(fd, F_GETFD) >= 0);
    }
    struct drv_conn *other = bench_open(&bench->target);
    conn->class->sever(conn);
    assert_int_equal(ask(other, "SELECT 7").as.i, 7);
    drv_close(&other);
    drv_close(&conn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(a_step_is_lost),
        BENCH_TEST(a_query_fails),
        BENCH_TEST(a_prepare_fails),
        BENCH_TEST(nobody_else_is_cut),
    };
    return bench_run(tests, ARRAY_COUNT(tests));
}
