/* links: driver server
 *
 * Ctrl-C while a driver connects or while it waits for a statement of the setup. */

#include "integration/driver_bench.h"
#include "os/now.h"
#include "os/sig.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void *signal_soon(UNUSED void *context)
{
    os_sleep_ns(200 * NS_PER_MS);
    sig_request(SIGINT);
    return NULL;
}

/* In a process of its own, because a signal stays pending. 0: stopped, and still of use. */
static int interrupted_query(const struct bench *bench)
{
    struct drv_conn *conn = NULL;
    struct err err = {0};
    struct value value = {.type = VALUE_NULL};
    pthread_t thread;
    const char *sql = is_postgres(bench) ? "SELECT pg_sleep(20)" : "SELECT sleep(20)";
    struct drv_target target = drv_control_target(bench->arena, &bench->target);
    if (!drv_open(&target, &conn, &err) ||
        pthread_create(&thread, NULL, signal_soon, NULL) != 0)
        return 1;
    if (conn->class->query(conn, bench->arena, sql, NULL, NULL, &err) ||
        err.kind != ERR_CANCELLED)
        return 2;
    pthread_join(thread, NULL);
    if (!conn->class->query(conn, bench->arena, "SELECT 5", &value, NULL, &err) ||
        value.as.i != 5)
        return 3;
    drv_close(&conn);
    return 0;
}

static void a_signal_stops_setup_but_no_clean_up(void **state)
{
    int status;
    uint64_t start_ns = os_now_ns();
    pid_t child = fork();
    if (child == 0)
        _exit(interrupted_query(*state));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(os_now_ns() - start_ns < 10 * NS_PER_S);
}

static bool ask_or_prepare(const struct bench *bench, struct drv_conn *conn, struct err *err)
{
    const struct prog_stmt stmt = {.name = "it", .sql = "SELECT 1"};
    return conn->class->query
               ? conn->class->query(conn, bench->arena, stmt.sql, NULL, NULL, err)
               : conn->class->prepare(conn, &stmt, 1, err);
}

/* The request to stop is not answered either. */
static int interrupted_on_ice(const struct bench *bench)
{
    struct drv_conn *conn = NULL;
    struct err err = {0};
    pthread_t thread;
    if (!drv_open(&bench->target, &conn, &err))
        return 1;
    struct ice ice = bench_freeze(bench);
    int result = 0;
    if (pthread_create(&thread, NULL, signal_soon, NULL) != 0)
        result = 2;
    else if (ask_or_prepare(bench, conn, &err) || err.kind != ERR_CANCELLED)
        result = 3;
    if (result != 2)
        pthread_join(thread, NULL);
    drv_close(&conn);
    if (waitpid(-1, NULL, WNOHANG) != -1) /* a child is left */
        result = 4;
    bench_thaw(&ice);
    return result;
}

static void a_signal_stops_waiting_for_a_frozen_server(void **state)
{
    int status;
    uint64_t start_ns = os_now_ns();
    pid_t child = fork();
    if (child == 0)
        _exit(interrupted_on_ice(*state));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(os_now_ns() - start_ns < 8 * NS_PER_S);
}

/* To a socket that takes connections and never says a word. */
static int interrupted_connect(struct arena *arena)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    struct drv_target target;
    struct drv_conn *conn = NULL;
    struct err err = {0};
    pthread_t thread;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, bytes) != 0 || listen(fd, 5) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
        return 1;
    const char *url =
        arena_printf(arena, "postgres://u@127.0.0.1:%u/d", ntohs(address.sin_port));
    if (!drv_target_parse(arena, url, &target, &err) ||
        pthread_create(&thread, NULL, signal_soon, NULL) != 0)
        return 2;
    if (drv_open(&target, &conn, &err) || err.kind != ERR_CANCELLED)
        return 3;
    pthread_join(thread, NULL);
    return 0;
}

static void a_signal_stops_connecting(void **state)
{
    struct bench *bench = *state;
    int status;
    uint64_t start_ns = os_now_ns();
    pid_t child = fork();
    if (child == 0)
        _exit(interrupted_connect(bench->arena));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(os_now_ns() - start_ns < 5 * NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(a_signal_stops_setup_but_no_clean_up),
        BENCH_TEST(a_signal_stops_connecting),
        BENCH_TEST(a_signal_stops_waiting_for_a_frozen_server),
    };
    return bench_run(tests, ARRAY_COUNT(tests));
}
