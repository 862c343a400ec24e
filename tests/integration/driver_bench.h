#ifndef TESTS_DRIVER_BENCH_H
#define TESTS_DRIVER_BENCH_H

/* A private server of one kind and connections to it, for the tests of the server drivers. */

#include "base/text.h"
#include "driver/driver.h"
#include "os/now.h"
#include "os/proc.h"
#include "server/reaper.h"
#include "server/server.h"
#include "testing.h"

#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

struct bench {
    struct arena *arena;
    enum server_kind kind;
    const char *client; /* "wire"; NULL: the library */
    struct server *server;
    struct drv_target target; /* as superuser; a copy of it is a target of one's own */
};

static inline bool is_postgres(const struct bench *bench)
{
    return bench->kind == SERVER_POSTGRES;
}

/* PERCENT marks what a password would need encoded; here it is the server's own, all letters.
 */
static inline const char *bench_url(const struct bench *bench, const char *user,
                                    const char *password, const char *database,
                                    const char *query)
{
    const char *client = bench->client ? arena_printf(bench->arena, "%cclient=%s",
                                                      *query ? '&' : '?', bench->client)
                                       : "";
    return arena_printf(bench->arena, "%s://%s:%s@%s:%u/%s%s%s",
                        is_postgres(bench) ? "postgresql" : "mariadb", user, password,
                        server_host(bench->server), server_port(bench->server), database, query,
                        client);
}

static inline struct drv_target bench_target(const struct bench *bench, const char *url)
{
    struct drv_target target;
    struct err err = {0};
    if (!drv_target_parse(bench->arena, url, &target, &err))
        fail_msg("%s", err.text);
    return target;
}

static inline struct drv_conn *bench_open(const struct drv_target *target)
{
    struct drv_conn *conn = NULL;
    struct err err = {0};
    if (!drv_open(target, &conn, &err))
        fail_msg("%s", err.text);
    return conn;
}

/* Opening has to fail, and to say why without the password. */
static inline struct err bench_refused(const struct drv_target *target)
{
    struct drv_conn *conn = NULL;
    struct err err = {0};
    assert_false(drv_open(target, &conn, &err));
    assert_null(conn);
    assert_null(strstr(err.text, "S3cret"));
    print_message("             refused: %s\n", err.text);
    return err;
}

/* A connection that makes places, asks and describes; some clients leave that to another. */
static inline struct drv_conn *bench_root(const struct bench *bench)
{
    struct drv_target target = drv_control_target(bench->arena, &bench->target);
    return bench_open(&target);
}

static inline void prepare(struct drv_conn *conn, const char *sql, uint32_t params, bool direct)
{
    struct prog_stmt stmt = {.name = "it", .sql = sql, .param_count = params, .direct = direct};
    struct err err = {0};
    if (!conn->class->prepare(conn, &stmt, 1, &err))
        fail_msg("%s", err.text);
}

/* Steps until the operation has completed; the last step goes to *last. */
static inline struct drv_outcome finish(struct drv_conn *conn, enum drv_step *last)
{
    struct drv_outcome outcome = {.code = 4711};
    enum drv_step step = conn->class->step(conn, &outcome);
    while (step == DRV_WANT_READ || step == DRV_WANT_WRITE) {
        struct pollfd fd = {.fd = conn->class->fd(conn),
                            .events =
                                (short)(step == DRV_WANT_READ ? POLLIN : POLLIN | POLLOUT)};
        assert_int_equal(poll(&fd, 1, 20000), 1);
        step = conn->class->step(conn, &outcome);
    }
    *last = step;
    return outcome;
}

static inline struct drv_outcome run(struct drv_conn *conn, const struct drv_op *op)
{
    enum drv_step step;
    conn->class->submit(conn, op);
    struct drv_outcome outcome = finish(conn, &step);
    assert_int_equal(step, DRV_DONE);
    return outcome;
}

static inline struct drv_outcome run_kind(struct drv_conn *conn, enum drv_op_kind kind)
{
    return run(conn, &(struct drv_op){.kind = kind});
}

/* Prepares (or sends directly) one statement without parameters, and runs it. */
static inline struct drv_outcome run_sql(struct drv_conn *conn, const char *sql, bool direct)
{
    prepare(conn, sql, 0, direct);
    return run(conn, &(struct drv_op){0});
}

enum { SEEN_ROWS = 4, SEEN_COLUMNS = 12 };

struct seen {
    struct drv_sink sink;
    struct arena *arena;
    uint64_t rows, bytes;
    uint16_t count;
    bool without_values;
    struct value values[SEEN_ROWS][SEEN_COLUMNS];
};

static inline void see(struct drv_sink *sink, const struct value *values, uint16_t count)
{
    struct seen *seen = (struct seen *)sink;
    seen->count = count;
    seen->without_values = !values;
    for (uint16_t i = 0; values && i < count; i++) {
        seen->bytes += values[i].bytes;
        if (seen->arena && seen->rows < SEEN_ROWS && i < SEEN_COLUMNS)
            seen->values[seen->rows][i] = value_copy(seen->arena, &values[i]);
    }
    seen->rows++;
}

/* The first value that a statement answers. A client without `query` sends it as an operation,
 * which replaces what was prepared. */
static inline struct value ask(struct drv_conn *conn, const char *sql)
{
    struct value value = {.type = VALUE_NULL};
    struct seen seen = {.sink = {see}, .arena = conn->arena};
    struct err err = {0};
    if (conn->class->query) {
        if (!conn->class->query(conn, conn->arena, sql, &value, NULL, &err))
            fail_msg("%s", err.text);
        return value;
    }
    prepare(conn, sql, 0, true);
    struct drv_op op = {.depth = PROG_DECODE, .sink = &seen.sink};
    if (run(conn, &op).verdict != DRV_OK)
        fail_msg("%s: %s", sql, conn->class->last_error(conn));
    return seen.rows > 0 ? seen.values[0][0] : value;
}

/* The server and a target for it; false, said aloud, where it is not installed. */
static inline bool bench_start(struct bench *bench, enum server_kind kind)
{
    struct err err = {0};
    *bench = (struct bench){.arena = arena_create(1 << 16), .kind = kind};
    if (!server_find(bench->arena, kind, NULL)) {
        print_message("SKIPPED: %s is not installed\n", server_package(kind));
        arena_destroy(&bench->arena);
        return false;
    }
    struct server_spec spec = {.kind = kind, .connections = 20};
    if (!server_start(bench->arena, &spec, &bench->server, &err))
        fail_msg("%s", err.text);
    bench->target = bench_target(bench, bench_url(bench, server_user(bench->server),
                                                  server_password(bench->server),
                                                  is_postgres(bench) ? "postgres" : "", ""));
    return true;
}

/* The processes of the server, all stopped until bench_thaw(). */
struct ice {
    pid_t pids[64];
    unsigned count;
};

/* "T" for each thread. A signal reaches the threads of a process one after the other, and one
 * that runs goes on until it does. */
static inline bool is_stopped(pid_t pid)
{
    char pattern[64], state = 'T';
    glob_t found;
    text_print(pattern, sizeof(pattern), "/proc/%d/task/*/stat", (int)pid);
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && state == 'T'; i++) {
        FILE *file = fopen(found.gl_pathv[i], "re");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        if (file)
            fclose(file);
    }
    globfree(&found);
    return state == 'T';
}

static inline struct ice bench_freeze(const struct bench *bench)
{
    struct ice ice = {.count = 0};
    ice.count = proc_family(server_pid(bench->server), ice.pids, ARRAY_COUNT(ice.pids));
    for (unsigned i = 0; i < ice.count; i++)
        (void)kill(ice.pids[i], SIGSTOP);
    for (unsigned i = 0; i < ice.count; i++) {
        for (int tries = 0; tries < 2000 && !is_stopped(ice.pids[i]); tries++)
            os_sleep_ns(NS_PER_MS);
    }
    return ice;
}

static inline void bench_thaw(const struct ice *ice)
{
    for (unsigned i = 0; i < ice->count; i++)
        (void)kill(ice->pids[i], SIGCONT);
}

/* Every test gets the bench of the kind of server that is on. */
static struct bench the_bench;
#define BENCH_TEST(test) cmocka_unit_test_prestate(test, &the_bench)

/* The tests with one client of the server that is on. */
static inline int bench_run_client(const char *client, const struct CMUnitTest *tests,
                                   size_t count)
{
    struct bench *bench = &the_bench;
    bench->client = client;
    bench->target = bench_target(bench, bench_url(bench, server_user(bench->server),
                                                  server_password(bench->server),
                                                  is_postgres(bench) ? "postgres" : "", ""));
    const char *name = arena_printf(bench->arena, "%s %s", server_package(bench->kind),
                                    bench->target.class->name);
    return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}

/* The tests against each kind of server that is installed, with each of its clients; what
 * main() returns. */
static inline int bench_run(const struct CMUnitTest *tests, size_t count)
{
    static const struct {
        enum server_kind kind;
        enum dialect dialect;
    } kinds[] = {
        {SERVER_POSTGRES, DIALECT_POSTGRES},
        {SERVER_MARIADB,  DIALECT_MARIADB },
    };
    struct err err = {0};
    int failed = 0, tried = 0;
    if (!reaper_start(NULL, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (!bench_start(&the_bench, kinds[i].kind))
            continue;
        tried++;
        failed += bench_run_client(NULL, tests, count);
        if (drv_find_client(kinds[i].dialect, slice_of("wire")))
            failed += bench_run_client("wire", tests, count);
        server_stop(&the_bench.server);
        arena_destroy(&the_bench.arena);
    }
    reaper_finish();
    return tried > 0 ? failed : 77;
}

#endif
