#include "base/arena.h"
#include "driver/driver.h"
#include "os/now.h"
#include "os/sig.h"
#include "testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS_MAX = 8, COLUMNS_MAX = 8 };

struct fixture {
    struct arena *arena;
    char path[64];
    struct drv_target target;
    struct drv_conn *conn;
};

struct seen {
    struct drv_sink sink;
    struct arena *arena;
    uint32_t rows;
    uint16_t count;
    bool null_values;
    struct value values[ROWS_MAX][COLUMNS_MAX];
};

static void see(struct drv_sink *sink, const struct value *values, uint16_t count)
{
    struct seen *seen = (struct seen *)sink;
    seen->count = count;
    seen->null_values = values == NULL;
    for (uint16_t i = 0; values && i < count && seen->rows < ROWS_MAX; i++) {
        seen->values[seen->rows][i] = values[i];
        if (values[i].type >= VALUE_TEXT)
            seen->values[seen->rows][i] = value_copy(seen->arena, &values[i]);
    }
    seen->rows++;
}

static struct drv_conn *opened(const struct drv_target *target)
{
    struct drv_conn *conn = NULL;
    struct err err = {0};
    if (!drv_open(target, &conn, &err))
        fail_msg("%s", err.text);
    return conn;
}

static void query(struct drv_conn *conn, const char *sql)
{
    struct err err = {0};
    if (!conn->class->query(conn, conn->arena, sql, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

static struct value asked(struct drv_conn *conn, const char *sql)
{
    struct err err = {0};
    struct value value = {.type = VALUE_NULL};
    if (!conn->class->query(conn, conn->arena, sql, &value, NULL, &err))
        fail_msg("%s", err.text);
    return value;
}

static void prepare(struct drv_conn *conn, const char *sql, uint32_t params, bool direct)
{
    struct prog_stmt stmt = {.name = "it", .sql = sql, .param_count = params, .direct = direct};
    struct err err = {0};
    if (!conn->class->prepare(conn, &stmt, 1, &err))
        fail_msg("%s", err.text);
}

static struct drv_outcome run(struct drv_conn *conn, const struct drv_op *op)
{
    struct drv_outcome outcome = {.code = 4711};
    conn->class->submit(conn, op);
    assert_int_equal(conn->class->step(conn, &outcome), DRV_DONE);
    return outcome;
}

static struct drv_outcome run_kind(struct drv_conn *conn, enum drv_op_kind kind)
{
    return run(conn, &(struct drv_op){.kind = kind});
}

static int setup(void **state)
{
    struct fixture *it = calloc(1, sizeof(*it));
    it->arena = arena_create(4096);
    memcpy(it->path, "/tmp/dbdyno-sqlite-XXXXXX", 26);
    int fd = mkstemp(it->path);
    assert_true(fd >= 0);
    close(fd);
    it->target = (struct drv_target){.label = "lite",
                                     .kind = "sqlite",
                                     .path = it->path,
                                     .class = drv_find(slice_of("sqlite"))};
    it->conn = opened(&it->target);
    *state = it;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *it = *state;
    char other[80];
    drv_close(&it->conn);
    unlink(it->path);
    snprintf(other, sizeof(other), "%s-wal", it->path);
    unlink(other);
    snprintf(other, sizeof(other), "%s-shm", it->path);
    unlink(other);
    arena_destroy(&it->arena);
    free(it);
    return 0;
}

static void test_values(void **state)
{
    struct fixture *it = *state;
    query(it->conn, "CREATE TABLE t (i, r, s, b, n)");
    prepare(it->conn, "INSERT INTO t VALUES (?, ?, ?, ?, ?)", 5, false);
    struct value params[5] = {
        value_int(INT64_MIN),
        value_real(0.1),
        value_text("a'\0b", 4),
        {.type = VALUE_BLOB,     .bytes = 3, .as.text = "\0\377\1"},
        {.type = VALUE_NULL}
    };
    struct drv_op op = {.param_count = 5, .params = params};
    struct drv_outcome outcome = run(it->conn, &op);
    assert_int_equal(outcome.verdict, DRV_OK);
    assert_int_equal(outcome.affected, 1);
    assert_int_equal(outcome.rows, 0);
    assert_int_equal(outcome.code, 0);
    prepare(it->conn, "SELECT i, r, s, b, n FROM t WHERE i = ?", 1, false);
    struct seen seen = {.sink = {see}, .arena = it->arena};
    op = (struct drv_op){.depth = PROG_DECODE,
                         .param_count = 1,
                         .params = params,
                         .sink = &seen.sink};
    outcome = run(it->conn, &op);
    assert_int_equal(outcome.rows, 1);
    assert_int_equal(outcome.affected, -1);
    assert_int_equal(seen.count, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(seen.values[0][i].type, params[i].type);
        assert_true(value_same(&seen.values[0][i], &params[i]));
    }
}

static void test_empty_values(void **state)
{
    struct fixture *it = *state;
    prepare(it->conn, "SELECT typeof(?), typeof(?)", 2, false);
    struct value params[2] = {value_text(NULL, 0), {.type = VALUE_BLOB}};
    struct seen seen = {.sink = {see}, .arena = it->arena};
    run(it->conn, &(struct drv_op){.depth = PROG_DECODE,
                                   .param_count = 2,
                                   .params = params,
                                   .sink = &seen.sink});
    assert_memory_equal(seen.values[0][0].as.text, "text", 4);
    assert_memory_equal(seen.values[0][1].as.text, "blob", 4);
}

static void test_depths(void **state)
{
    struct fixture *it = *state;
    const char *sql = "VALUES (1, 'abc', NULL), (2, x'0102', 1.5)";
    prepare(it->conn, sql, 0, false);
    struct seen seen = {.sink = {see}, .arena = it->arena};
    struct drv_op op = {.depth = PROG_DRAIN, .sink = &seen.sink};
    assert_int_equal(run(it->conn, &op).rows, 2);
    assert_int_equal(seen.rows, 2);
    assert_true(seen.null_values);
    seen = (struct seen){.sink = {see}, .arena = it->arena};
    op.depth = PROG_WALK;
    assert_int_equal(run(it->conn, &op).rows, 2);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.values[0][1].bytes, 3);
    assert_int_equal(seen.values[0][2].type, VALUE_NULL);
    assert_int_equal(seen.values[1][1].type, VALUE_BLOB);
    assert_int_equal(seen.values[1][1].bytes, 2);
    op.sink = NULL;
    assert_int_equal(run(it->conn, &op).rows, 2);
    prepare(it->conn, sql, 0, true); /* direct */
    seen = (struct seen){.sink = {see}, .arena = it->arena};
    op = (struct drv_op){.depth = PROG_DECODE, .sink = &seen.sink};
    assert_int_equal(run(it->conn, &op).rows, 2);
    assert_true(seen.values[1][2].type == VALUE_REAL);
    assert_int_equal(seen.values[1][0].as.i, 2);
}

static void test_affected(void **state)
{
    struct fixture *it = *state;
    query(it->conn, "CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
    prepare(it->conn, "INSERT INTO t VALUES (1,1),(2,2),(3,3)", 0, false);
    assert_int_equal(run(it->conn, &(struct drv_op){0}).affected, 3);
    prepare(it->conn, "/* c */ -- d\n update t SET v = v WHERE id < 3", 0, false);
    assert_int_equal(run(it->conn, &(struct drv_op){0}).affected, 2);
    prepare(it->conn, "WITH x(i) AS (SELECT 3) DELETE FROM t WHERE id IN x", 0, false);
    assert_int_equal(run(it->conn, &(struct drv_op){0}).affected, 1);
    prepare(it->conn, "WITH x(i) AS (SELECT 3) SELECT i FROM x", 0, false);
    assert_int_equal(run(it->conn, &(struct drv_op){0}).affected, -1);
    prepare(it->conn, "CREATE TABLE u (x)", 0, true);
    assert_int_equal(run(it->conn, &(struct drv_op){0}).affected, -1);
    prepare(it->conn, "DELETE FROM t WHERE id = 99", 0, true);
    assert_int_equal(run(it->conn, &(struct drv_op){0}).affected, 0);
}

static void test_errors(void **state)
{
    struct fixture *it = *state;
    query(it->conn, "CREATE TABLE t (id INTEGER PRIMARY KEY)");
    prepare(it->conn, "INSERT INTO t VALUES (1)", 0, false);
    assert_int_equal(run(it->conn, &(struct drv_op){0}).verdict, DRV_OK);
    struct drv_outcome outcome = run(it->conn, &(struct drv_op){0});
    assert_int_equal(outcome.verdict, DRV_ERROR);
    assert_int_equal(outcome.code, 1555); /* SQLITE_CONSTRAINT_PRIMARYKEY */
    assert_non_null(strstr(it->conn->class->last_error(it->conn), "UNIQUE"));
    struct value extra = value_int(1);
    struct drv_op op = {.param_count = 1, .params = &extra};
    assert_int_equal(run(it->conn, &op).verdict, DRV_ERROR);
    prepare(it->conn, "SELECT * FROM missing", 0, true);
    assert_int_equal(run(it->conn, &(struct drv_op){0}).verdict, DRV_ERROR);
    struct err err = {0};
    struct prog_stmt bad = {.name = "bad", .sql = "SELECT * FROM missing"};
    assert_false(it->conn->class->prepare(it->conn, &bad, 1, &err));
    assert_int_equal(err.kind, ERR_DATABASE);
    assert_non_null(strstr(err.text, "no such table"));
    bad = (struct prog_stmt){.name = "bad", .sql = "SELECT ?", .param_count = 2};
    assert_false(it->conn->class->prepare(it->conn, &bad, 1, &err));
    struct value value = value_int(3);
    assert_false(it->conn->class->query(it->conn, it->arena, "nonsense", &value, NULL, &err));
    assert_int_equal(value.as.i, 3);
}

/* SQLite by itself runs the first and forgets the rest. */
static void test_one_statement(void **state)
{
    static const struct {
        const char *sql, *why; /* NULL: it is one */
    } cases[] = {
        {"SELECT 1;",                               NULL                     },
        {";; SELECT 1 ; ; -- c\n /* d; */\t; -- e", NULL                     },
        {"SELECT 1; /* open",                       NULL                     },
        {"SELECT ';'; SELECT 2",                    "one statement at a time"},
        {"SELECT 1; -- c\nSELECT 2",                "one statement at a time"},
        {"SELECT 1;/* c */ nonsense",               "one statement at a time"},
        {"SELECT 1; - 2",                           "one statement at a time"},
        {" -- c",                                   "no statement"           },
        {"",                                        "no statement"           },
    };
    struct fixture *it = *state;
    const struct drv_class *class = it->conn->class;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct prog_stmt stmt = {.name = "it", .sql = cases[i].sql};
        struct err prepared = {0}, queried = {0};
        bool good = cases[i].why == NULL;
        assert_int_equal(class->prepare(it->conn, &stmt, 1, &prepared), good);
        assert_int_equal(class->query(it->conn, it->arena, stmt.sql, NULL, NULL, &queried),
                         good);
        prepare(it->conn, stmt.sql, 0, true);
        struct drv_outcome outcome = run(it->conn, &(struct drv_op){0});
        assert_int_equal(outcome.verdict, good ? DRV_OK : DRV_ERROR);
        if (good)
            continue;
        assert_int_equal(prepared.kind, ERR_DATABASE);
        assert_non_null(strstr(prepared.text, cases[i].why));
        assert_non_null(strstr(queried.text, cases[i].why));
        assert_non_null(strstr(class->last_error(it->conn), cases[i].why));
        assert_int_equal(outcome.code, 1); /* SQLITE_ERROR */
        assert_string_equal(outcome.sqlstate, "");
    }
    /* the refusal does not stay */
    struct err err = {0};
    assert_false(class->query(it->conn, it->arena, "SELECT * FROM missing", NULL, NULL, &err));
    assert_non_null(strstr(err.text, "no such table"));
}

static void test_transactions(void **state)
{
    struct fixture *it = *state;
    query(it->conn, "CREATE TABLE t (id)");
    prepare(it->conn, "INSERT INTO t VALUES (1)", 0, false);
    assert_int_equal(run_kind(it->conn, DRV_OP_BEGIN).verdict, DRV_OK);
    run(it->conn, &(struct drv_op){0});
    assert_int_equal(run_kind(it->conn, DRV_OP_ROLLBACK).verdict, DRV_OK);
    assert_int_equal(run_kind(it->conn, DRV_OP_ROLLBACK).verdict, DRV_OK);
    assert_int_equal(asked(it->conn, "SELECT count(*) FROM t").as.i, 0);
    assert_int_equal(run_kind(it->conn, DRV_OP_COMMIT).verdict, DRV_ERROR);
    run_kind(it->conn, DRV_OP_BEGIN);
    run(it->conn, &(struct drv_op){0});
    assert_int_equal(run_kind(it->conn, DRV_OP_COMMIT).verdict, DRV_OK);
    assert_int_equal(asked(it->conn, "SELECT count(*) FROM t").as.i, 1);
    assert_int_equal(run_kind(it->conn, DRV_OP_PING).verdict, DRV_OK);
}

static void test_busy_is_a_retry(void **state)
{
    struct fixture *it = *state;
    query(it->conn, "CREATE TABLE t (id)");
    struct drv_target hasty = it->target;
    struct drv_pair setting = {"busy_timeout", "0"};
    hasty.settings = &setting;
    hasty.setting_count = 1;
    struct drv_conn *other = opened(&hasty);
    query(other, "BEGIN IMMEDIATE");
    prepare(it->conn, "INSERT INTO t VALUES (1)", 0, false);
    query(other, "ROLLBACK");
    query(it->conn, "BEGIN IMMEDIATE");
    prepare(other, "INSERT INTO t VALUES (1)", 0, false);
    assert_int_equal(run(other, &(struct drv_op){0}).verdict, DRV_RETRY);
    query(it->conn, "COMMIT");
    assert_int_equal(run(other, &(struct drv_op){0}).verdict, DRV_OK);
    drv_close(&other);
}

/* Cancels again and again until the operation has ended, so that no moment is the wrong one. */
struct canceller {
    struct drv_conn *conn;
    _Atomic bool done;
};

static void *cancel_until_done(void *context)
{
    struct canceller *it = context;
    for (int i = 0; i < 2000 && !it->done; i++) {
        it->conn->class->cancel(it->conn);
        os_sleep_ns(NS_PER_MS);
    }
    return NULL;
}

static struct drv_outcome run_cancelled(struct drv_conn *conn)
{
    struct canceller canceller = {.conn = conn};
    struct drv_outcome outcome;
    pthread_t thread;
    conn->class->submit(conn, &(struct drv_op){0});
    assert_int_equal(pthread_create(&thread, NULL, cancel_until_done, &canceller), 0);
    assert_int_equal(conn->class->step(conn, &outcome), DRV_DONE);
    canceller.done = true;
    pthread_join(thread, NULL);
    return outcome;
}

static void test_cancel(void **state)
{
    struct fixture *it = *state;
    prepare(
        it->conn,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
        0, false);
    assert_int_equal(run_cancelled(it->conn).verdict, DRV_TIMEOUT);
    assert_non_null(strstr(it->conn->class->last_error(it->conn), "interrupted"));
    prepare(it->conn, "SELECT 1", 0, false);
    assert_int_equal(run(it->conn, &(struct drv_op){0}).verdict, DRV_OK);
    /* and while it waits for a lock */
    query(it->conn, "CREATE TABLE t (id)");
    struct drv_conn *other = opened(&it->target);
    query(other, "BEGIN IMMEDIATE");
    prepare(it->conn, "INSERT INTO t VALUES (1)", 0, false);
    uint64_t start = os_now_ns();
    assert_int_equal(run_cancelled(it->conn).verdict, DRV_TIMEOUT);
    assert_true(os_now_ns() - start < 3 * NS_PER_S);
    drv_close(&other);
}

static void *sever_soon(void *context)
{
    struct drv_conn *conn = context;
    os_sleep_ns(20 * NS_PER_MS);
    conn->class->sever(conn);
    return NULL;
}

static void test_sever(void **state)
{
    static const char endless[] =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    struct fixture *it = *state;
    struct drv_conn *other = opened(&it->target);
    struct drv_outcome outcome;
    struct err err = {0};
    pthread_t thread;
    prepare(it->conn, endless, 0, false);
    it->conn->class->submit(it->conn, &(struct drv_op){0});
    assert_int_equal(pthread_create(&thread, NULL, sever_soon, it->conn), 0);
    assert_int_equal(it->conn->class->step(it->conn, &outcome), DRV_FAILED);
    pthread_join(thread, NULL);
    assert_int_equal(outcome.verdict, DRV_LOST);
    /* it stays lost */
    it->conn->class->submit(it->conn, &(struct drv_op){0});
    assert_int_equal(it->conn->class->step(it->conn, &outcome), DRV_FAILED);
    assert_int_equal(pthread_create(&thread, NULL, sever_soon, other), 0);
    assert_false(other->class->query(other, it->arena, endless, NULL, NULL, &err));
    pthread_join(thread, NULL);
    drv_close(&other);
}

static void *signal_soon(UNUSED void *context)
{
    os_sleep_ns(20 * NS_PER_MS);
    sig_request(SIGINT);
    return NULL;
}

/* In a process of its own, because a signal stays pending. */
static int interrupted(const struct fixture *it, const char *lock, const char *sql)
{
    struct drv_conn *conn = NULL, *other = NULL;
    struct value value = {.type = VALUE_NULL};
    struct err err = {0};
    pthread_t thread;
    if (!drv_open(&it->target, &conn, &err) || !drv_open(&it->target, &other, &err))
        return 1;
    if (!other->class->query(other, it->arena, lock, NULL, NULL, &err) ||
        pthread_create(&thread, NULL, signal_soon, NULL) != 0)
        return 2;
    if (conn->class->query(conn, it->arena, sql, NULL, NULL, &err) || err.kind != ERR_CANCELLED)
        return 3;
    pthread_join(thread, NULL);
    /* a clean-up goes on, however long it is */
    static const char long_one[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                                   "FROM n WHERE i < 20000) SELECT max(i) FROM n";
    if (!conn->class->query(conn, it->arena, long_one, &value, NULL, &err) ||
        value.as.i != 20000)
        return 4;
    drv_close(&conn);
    drv_close(&other);
    return 0;
}

static void test_signal(void **state)
{
    static const char *const cases[][2] = {
        {"SELECT 1",        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                     "SELECT max(i) FROM n"},
        {"BEGIN IMMEDIATE", "CREATE TABLE t (id)"              },
    };
    struct fixture *it = *state;
    drv_close(&it->conn); /* SQLite's connections may not go through a fork */
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        int status;
        uint64_t start = os_now_ns();
        pid_t child = fork();
        if (child == 0)
            _exit(interrupted(it, cases[i][0], cases[i][1]));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_true(os_now_ns() - start < 3 * NS_PER_S);
    }
}

static void test_memory_is_shared(void **state)
{
    (void)state;
    struct drv_target a = {.label = "a",
                           .path = ":memory:",
                           .class = drv_find(slice_of("sqlite"))};
    struct drv_target b = a;
    b.label = "b";
    struct drv_conn *one = opened(&a), *two = opened(&a), *three = opened(&b);
    query(one, "CREATE TABLE t (id)");
    query(two, "INSERT INTO t VALUES (1)");
    assert_int_equal(asked(one, "SELECT count(*) FROM t").as.i, 1);
    assert_int_equal(asked(three, "SELECT count(*) FROM sqlite_master").as.i, 0);
    struct drv_facts facts;
    struct err err = {0};
    assert_true(one->class->describe(one, one->arena, &facts, &err));
    assert_int_equal(facts.tier, DRV_TIER_MEMORY);
    drv_close(&one);
    drv_close(&two);
    drv_close(&three);
    one = opened(&a);
    assert_int_equal(asked(one, "SELECT count(*) FROM sqlite_master").as.i, 0);
    drv_close(&one);
}

static void test_describe(void **state)
{
    struct fixture *it = *state;
    struct drv_facts facts;
    struct err err = {0};
    assert_true(it->conn->class->describe(it->conn, it->arena, &facts, &err));
    assert_memory_equal(facts.server_version, "SQLite 3.", 9);
    assert_int_equal(facts.tier, DRV_TIER_FSYNC);
    assert_string_equal(facts.tier_why, "journal_mode=wal, synchronous=FULL");
    assert_int_equal(facts.setting_count, 2);
    static const struct {
        struct drv_pair pair;
        enum drv_tier tier;
    } cases[] = {
        {{"synchronous", "NORMAL"},  DRV_TIER_CACHE},
        {{"synchronous", "off"},     DRV_TIER_NONE },
        {{"journal_mode", "DELETE"}, DRV_TIER_FSYNC},
        {{"journal_mode", "MEMORY"}, DRV_TIER_NONE },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct drv_target target = it->target;
        target.settings = &cases[i].pair;
        target.setting_count = 1;
        drv_close(&it->conn);
        it->conn = opened(&target);
        assert_true(it->conn->class->describe(it->conn, it->arena, &facts, &err));
        assert_int_equal(facts.tier, cases[i].tier);
        assert_int_equal(facts.setting_count, 2);
        assert_true(strcmp(facts.settings[0].name, facts.settings[1].name) < 0);
    }
}

static void test_open_errors(void **state)
{
    struct fixture *it = *state;
    struct drv_target target = it->target;
    struct drv_conn *conn = NULL;
    struct err err = {0};
    target.path = "/nonexistent/folder/x.db";
    assert_false(drv_open(&target, &conn, &err));
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_null(conn);
    target = it->target;
    struct drv_pair setting = {"no_such_pragma", "1"};
    target.settings = &setting;
    target.setting_count = 1;
    assert_false(drv_open(&target, &conn, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.text, "no_such_pragma"));
    assert_false(it->conn->class->place(it->conn, "x", true, &err));
}

static void test_measured_part_allocates_nothing(void **state)
{
    struct fixture *it = *state;
    query(it->conn, "CREATE TABLE t (id INTEGER PRIMARY KEY, s)");
    prepare(it->conn, "INSERT INTO t (s) VALUES (?)", 1, false);
    struct value text = value_text("abc", 3);
    uint64_t calls = arena_calls();
    for (int i = 0; i < 10; i++)
        run(it->conn, &(struct drv_op){.param_count = 1, .params = &text});
    assert_int_equal(arena_calls(), calls);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(test_values),
        WITH_FILE(test_empty_values),
        WITH_FILE(test_depths),
        WITH_FILE(test_affected),
        WITH_FILE(test_errors),
        WITH_FILE(test_one_statement),
        WITH_FILE(test_transactions),
        WITH_FILE(test_busy_is_a_retry),
        WITH_FILE(test_cancel),
        WITH_FILE(test_sever),
        WITH_FILE(test_signal),
        cmocka_unit_test(test_memory_is_shared),
        WITH_FILE(test_describe),
        WITH_FILE(test_open_errors),
        WITH_FILE(test_measured_part_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
