/* links: driver server
 *
 * The drivers of servers against real ones, one set of tests for both kinds. */

#include "base/text.h"
#include "integration/driver_bench.h"
#include "os/now.h"

#include <pthread.h>

/* Opens a connection that lives in a fresh place; place_drop ends both. */
struct place {
    struct drv_target target;
    struct drv_conn *conn;
};

static struct place place_make(const struct bench *bench, const char *query)
{
    const char *url =
        bench_url(bench, server_user(bench->server), server_password(bench->server),
                  is_postgres(bench) ? "postgres" : "", query);
    struct place place = {.target = bench_target(bench, url)};
    struct drv_conn *root = bench_root(bench);
    struct err err = {0};
    assert_true(root->class->place(root, "dbdyno_test", false, &err));
    if (!root->class->place(root, "dbdyno_test", true, &err))
        fail_msg("%s", err.text);
    drv_close(&root);
    place.target.place = "dbdyno_test";
    place.conn = bench_open(&place.target);
    return place;
}

static void place_drop(const struct bench *bench, struct place *place)
{
    struct err err = {0};
    drv_close(&place->conn);
    struct drv_conn *root = bench_root(bench);
    if (!root->class->place(root, "dbdyno_test", false, &err))
        fail_msg("%s", err.text);
    drv_close(&root);
}

static void the_server_describes_itself(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = bench_root(bench);
    struct drv_facts facts;
    struct err err = {0};
    assert_true(conn->class->describe(conn, bench->arena, &facts, &err));
    print_message("             %s | %s | %s (%s)\n", facts.server_version,
                  facts.client_version, drv_tier_name(facts.tier), facts.tier_why);
    assert_non_null(
        strstr(facts.server_version, is_postgres(bench) ? "PostgreSQL" : "MariaDB"));
    assert_int_equal(facts.tier, DRV_TIER_FSYNC);
    assert_true(facts.superuser);
    assert_false(facts.debug_build);
    assert_true(facts.setting_count > 0);
    for (uint32_t i = 0; i < facts.setting_count; i++) {
        const struct drv_setting *setting = &facts.settings[i];
        print_message("             %s = %s (%s)\n", setting->name, setting->value,
                      setting->source);
        assert_null(strstr(setting->value, server_password(bench->server)));
        if (i > 0)
            assert_true(strcmp(facts.settings[i - 1].name, setting->name) < 0);
    }
    drv_close(&conn);
}

static void a_place_holds_everything(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *root = bench_open(&bench->target);
    struct place place = place_make(bench, "");
    ask(place.conn, "CREATE TABLE users (id INT)");
    ask(place.conn, "INSERT INTO users VALUES (7)");
    struct drv_conn *second = bench_open(&place.target);
    assert_int_equal(ask(second, "SELECT id FROM users").as.i, 7);
    drv_close(&second);
    const char *where =
        "SELECT table_schema FROM information_schema.tables WHERE table_name = 'users' "
        "AND table_schema LIKE 'dbdyno%'";
    struct value found = ask(root, where);
    assert_memory_equal(found.as.text, "dbdyno_test", found.bytes);
    place_drop(bench, &place);
    assert_int_equal(ask(root, where).type, VALUE_NULL);
    drv_close(&root);
}

static const char *table_sql(const struct bench *bench)
{
    return is_postgres(bench)
               ? "CREATE TABLE t (id BIGINT PRIMARY KEY, r FLOAT8, s TEXT, b BYTEA, "
                 "d NUMERIC(20,2), f BOOLEAN, w DATE)"
               : "CREATE TABLE t (id BIGINT PRIMARY KEY, r DOUBLE, s LONGTEXT, "
                 "b LONGBLOB, d DECIMAL(20,2), f BOOLEAN, w DATE)";
}

static const char *insert_sql(const struct bench *bench)
{
    return is_postgres(bench) ? "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7)"
                              : "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)";
}

enum { COLUMNS = 7, BIG = 200000 };

static void check_row(const struct seen *seen, uint32_t row, const struct value *want)
{
    for (int i = 0; i < COLUMNS; i++) {
        char a[300], b[300];
        value_print(a, sizeof(a), &want[i]);
        value_print(b, sizeof(b), &seen->values[row][i]);
        if (!value_same(&want[i], &seen->values[row][i]))
            fail_msg("column %d: %s came back as %s", i, a, b);
    }
}

static void check_round_trip(const struct bench *bench, const char *query)
{
    struct place place = place_make(bench, query);
    struct drv_conn *conn = place.conn;
    char *big = arena_alloc(bench->arena, BIG, 1);
    memset(big, 'x', BIG);
    const struct value null = {.type = VALUE_NULL};
    const struct value blob = {.type = VALUE_BLOB, .bytes = 4, .as.text = "\0\377\\'"};
    const struct value big_blob = {.type = VALUE_BLOB, .bytes = BIG, .as.text = big};
    const struct value rows[4][COLUMNS] = {
        {value_int(INT64_MIN), value_real(0.1), value_text("a'\"\\\xc3\xa9", 6),       blob,
         value_text("12345678901234567.25",                                                                                   20),  value_int(1), value_text("2024-02-29", 10)},
        {value_int(0),
         value_real(-1e300),
         value_text(NULL,                                                 0),
         {.type = VALUE_BLOB},
         value_text("3.00",                                                                                                4),
         value_int(0),
         null                                                                                                                                                    },
        {value_int(1),                    null,                        null,                            null,         null, null, null},
        {value_int(INT64_MAX),       value_real(3),  value_text(big,                        BIG), big_blob,            value_int(5),
         value_int(1),                                                                                     value_text("1999-12-31",         10)},
    };
    ask(conn, table_sql(bench));
    prepare(conn, insert_sql(bench), COLUMNS, false);
    uint64_t calls = arena_calls();
    for (int i = 0; i < 4; i++) {
        struct drv_op op = {.param_count = COLUMNS, .params = rows[i]};
        struct drv_outcome outcome = run(conn, &op);
        if (outcome.verdict != DRV_OK)
            fail_msg("%s", conn->class->last_error(conn));
        assert_int_equal(outcome.affected, 1);
    }
    assert_int_equal(arena_calls(), calls);
    for (int direct = 0; direct < 2; direct++) {
        struct seen seen = {.sink = {see}, .arena = bench->arena};
        prepare(conn, "SELECT * FROM t ORDER BY id", 0, direct);
        struct drv_op op = {.depth = PROG_DECODE, .sink = &seen.sink};
        struct drv_outcome outcome = run(conn, &op);
        assert_int_equal(outcome.rows, 4);
        assert_int_equal(outcome.affected, -1);
        assert_int_equal(seen.count, COLUMNS);
        for (uint32_t i = 0; i < 4; i++)
            check_row(&seen, i, rows[i]);
        assert_int_equal(seen.values[0][0].type, VALUE_INT);
        assert_int_equal(seen.values[0][1].type, VALUE_REAL);
        assert_int_equal(seen.values[0][3].type, VALUE_BLOB);
        assert_int_equal(seen.values[0][5].type, VALUE_INT);
        seen = (struct seen){.sink = {see}};
        op.depth = PROG_WALK;
        assert_int_equal(run(conn, &op).rows, 4);
        assert_true(seen.bytes >= 2 * (uint64_t)BIG);
        seen = (struct seen){.sink = {see}};
        op.depth = PROG_DRAIN;
        assert_int_equal(run(conn, &op).rows, 4);
        assert_true(seen.rows == 4 && seen.without_values);
        op.sink = NULL;
        assert_int_equal(run(conn, &op).rows, 4);
    }
    place_drop(bench, &place);
}

static void values_come_back_whole(void **state)
{
    check_round_trip(*state, "");
}

/* The wire clients have no other way. */
static bool has_rows_option(const struct bench *bench)
{
    return !bench->client;
}

static void values_come_back_as_a_stream(void **state)
{
    if (has_rows_option(*state))
        check_round_trip(*state, "?rows=stream");
}

static void changed_rows_are_counted(void **state)
{
    struct bench *bench = *state;
    struct place place = place_make(bench, "");
    assert_int_equal(
        run_sql(place.conn, "CREATE TABLE t (id INT PRIMARY KEY, v INT)", true).affected, -1);
    assert_int_equal(
        run_sql(place.conn, "INSERT INTO t VALUES (1,1),(2,2),(3,3)", false).affected, 3);
    /* found, though nothing changes */
    assert_int_equal(run_sql(place.conn, "UPDATE t SET v = v WHERE id < 3", false).affected, 2);
    assert_int_equal(run_sql(place.conn, "UPDATE t SET v = v WHERE id < 3", true).affected, 2);
    assert_int_equal(run_sql(place.conn, "DELETE FROM t WHERE id = 99", false).affected, 0);
    struct drv_outcome outcome = run_sql(place.conn, "SELECT v FROM t", true);
    assert_int_equal(outcome.affected, -1);
    assert_int_equal(outcome.rows, 3);
    place_drop(bench, &place);
}

static void errors_are_outcomes(void **state)
{
    struct bench *bench = *state;
    struct place place = place_make(bench, "");
    struct drv_conn *conn = place.conn;
    ask(conn, "CREATE TABLE t (id INT PRIMARY KEY)");
    prepare(conn, "INSERT INTO t VALUES (1)", 0, false);
    assert_int_equal(run(conn, &(struct drv_op){0}).verdict, DRV_OK);
    struct drv_outcome outcome = run(conn, &(struct drv_op){0});
    assert_int_equal(outcome.verdict, DRV_ERROR);
    assert_string_equal(outcome.sqlstate, is_postgres(bench) ? "23505" : "23000");
    assert_int_equal(outcome.code, is_postgres(bench) ? 0 : 1062);
    assert_non_null(strstr(conn->class->last_error(conn), "uplicate"));
    struct value extra = value_int(1);
    struct drv_op op = {.param_count = 1, .params = &extra};
    assert_int_equal(run(conn, &op).verdict, DRV_ERROR);
    assert_int_equal(run_sql(conn, "SELEKT 1", true).verdict, DRV_ERROR);
    assert_int_equal(run_kind(conn, DRV_OP_PING).verdict, DRV_OK);
    assert_int_equal(run_sql(conn, "SELECT 1", false).rows, 1);
    struct err err = {0};
    struct prog_stmt bad = {.name = "bad", .sql = "SELECT * FROM missing"};
    assert_false(conn->class->prepare(conn, &bad, 1, &err));
    assert_int_equal(err.kind, ERR_DATABASE);
    assert_string_equal(err.sqlstate, is_postgres(bench) ? "42P01" : "42S02");
    bad = (struct prog_stmt){.name = "bad", .sql = "SELECT 1", .param_count = 2};
    assert_false(conn->class->prepare(conn, &bad, 1, &err));
    struct value value = value_int(3);
    if (conn->class->query)
        assert_false(conn->class->query(conn, bench->arena, "nonsense", &value, NULL, &err));
    assert_int_equal(value.as.i, 3);
    place_drop(bench, &place);
}

static void transactions_end_as_told(void **state)
{
    struct bench *bench = *state;
    struct place place = place_make(bench, "");
    struct drv_conn *conn = place.conn;
    ask(conn, "CREATE TABLE t (id INT PRIMARY KEY)");
    prepare(conn, "INSERT INTO t VALUES (1)", 0, false);
    assert_int_equal(run_kind(conn, DRV_OP_BEGIN).verdict, DRV_OK);
    assert_int_equal(run(conn, &(struct drv_op){0}).affected, 1);
    assert_int_equal(run_kind(conn, DRV_OP_ROLLBACK).verdict, DRV_OK);
    assert_int_equal(run_kind(conn, DRV_OP_ROLLBACK).verdict, DRV_OK);
    assert_int_equal(ask(conn, "SELECT count(*) FROM t").as.i, 0);
    prepare(conn, "INSERT INTO t VALUES (1)", 0, false);
    run_kind(conn, DRV_OP_BEGIN);
    run(conn, &(struct drv_op){0});
    assert_int_equal(run_kind(conn, DRV_OP_COMMIT).verdict, DRV_OK);
    assert_int_equal(ask(conn, "SELECT count(*) FROM t").as.i, 1);
    prepare(conn, "INSERT INTO t VALUES (1)", 0, false);
    /* PostgreSQL answers the COMMIT of a failed transaction with a ROLLBACK. */
    run_kind(conn, DRV_OP_BEGIN);
    assert_int_equal(run(conn, &(struct drv_op){0}).verdict, DRV_ERROR);
    assert_int_equal(run_kind(conn, DRV_OP_COMMIT).verdict,
                     is_postgres(bench) ? DRV_ERROR : DRV_OK);
    place_drop(bench, &place);
}

static void conflicts_are_to_be_retried(void **state)
{
    struct bench *bench = *state;
    struct place place = place_make(bench, "");
    struct drv_conn *a = place.conn, *b = bench_open(&place.target);
    ask(a, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    ask(a, "INSERT INTO t VALUES (1, 1)");
    if (is_postgres(bench)) { /* could not serialize access */
        ask(b, "SET default_transaction_isolation = 'repeatable read'");
        run_kind(b, DRV_OP_BEGIN);
        ask(b, "SELECT v FROM t");
        ask(a, "UPDATE t SET v = 2");
    } else { /* lock wait timeout */
        ask(b, "SET SESSION innodb_lock_wait_timeout = 0");
        run_kind(a, DRV_OP_BEGIN);
        ask(a, "UPDATE t SET v = 2");
    }
    struct drv_outcome outcome = run_sql(b, "UPDATE t SET v = 3", true);
    assert_int_equal(outcome.verdict, DRV_RETRY);
    run_kind(b, DRV_OP_ROLLBACK);
    run_kind(a, DRV_OP_COMMIT);
    assert_int_equal(run_sql(b, "UPDATE t SET v = 3", true).verdict, DRV_OK);
    drv_close(&b);
    place_drop(bench, &place);
}

static void *cancel_soon(void *context)
{
    struct drv_conn *conn = context;
    os_sleep_ns(200 * NS_PER_MS);
    conn->class->cancel(conn);
    return NULL;
}

static void another_thread_cancels(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = bench_open(&bench->target);
    for (int direct = 0; direct < 2; direct++) {
        prepare(conn, is_postgres(bench) ? "SELECT pg_sleep(20)" : "SELECT sleep(20)", 0,
                direct);
        pthread_t thread;
        enum drv_step step;
        uint64_t start_ns = os_now_ns();
        conn->class->submit(conn, &(struct drv_op){0});
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, conn), 0);
        struct drv_outcome outcome = finish(conn, &step);
        pthread_join(thread, NULL);
        assert_int_equal(step, DRV_DONE);
        assert_int_equal(outcome.verdict, DRV_TIMEOUT);
        assert_true(os_now_ns() - start_ns < 10 * NS_PER_S);
        print_message("             %s\n", conn->class->last_error(conn));
        assert_int_equal(run_kind(conn, DRV_OP_PING).verdict, DRV_OK);
    }
    drv_close(&conn);
}

static void a_lost_connection_is_told(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *root = bench_open(&bench->target), *conn = bench_open(&bench->target);
    struct value id =
        ask(conn, is_postgres(bench) ? "SELECT pg_backend_pid()" : "SELECT connection_id()");
    prepare(conn, "SELECT 1", 0, false);
    ask(root, arena_printf(bench->arena,
                           is_postgres(bench) ? "SELECT pg_terminate_backend(%lld, 5000)"
                                              : "KILL HARD %lld",
                           (long long)id.as.i));
    for (int i = 0; i < 2; i++) {
        enum drv_step step;
        conn->class->submit(conn, &(struct drv_op){0});
        struct drv_outcome outcome = finish(conn, &step);
        assert_int_equal(step, DRV_FAILED);
        assert_int_equal(outcome.verdict, DRV_LOST);
        assert_true(strlen(conn->class->last_error(conn)) > 0);
        print_message("             %s\n", conn->class->last_error(conn));
    }
    drv_close(&conn);
    drv_close(&root);
}

static void refusals_say_what_to_do(void **state)
{
    struct bench *bench = *state;
    const char *user = server_user(bench->server), *password = server_password(bench->server);
    struct drv_target target =
        bench_target(bench, bench_url(bench, user, "S3cret", "mysql", ""));
    struct err err = bench_refused(&target);
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_non_null(strstr(err.text, "check user and password"));
    target = bench_target(bench, bench_url(bench, user, password, "no_such_database", ""));
    err = bench_refused(&target);
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_non_null(strstr(err.text, "create"));
    const char *scheme = is_postgres(bench) ? "postgresql" : "mariadb";
    target =
        bench_target(bench, arena_printf(bench->arena, "%s://u:S3cret@127.0.0.1:1/d", scheme));
    err = bench_refused(&target);
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_non_null(
        strstr(err.text, is_postgres(bench) ? "Is the server running" : "is a server running"));
    target = bench_target(bench, arena_printf(bench->arena, "%s://u:S3cret@%%2Fno%%2Fwhere/d",
                                              scheme));
    err = bench_refused(&target);
    assert_int_equal(err.kind, ERR_SYSTEM);
    if (!is_postgres(bench))
        return;
    target = bench_target(bench, "postgresql://u:S3cret%zz@h/d");
    assert_int_equal(bench_refused(&target).kind, ERR_USAGE);
    target = bench_target(bench, "conninfo:password=x S3cret");
    assert_int_equal(bench_refused(&target).kind, ERR_USAGE);
}

/* Passwords that other tools stumble over, through TCP and the unix socket. */
static void odd_passwords_work(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *root = bench_open(&bench->target);
    const char *port = arena_printf(bench->arena, ":%u", server_port(bench->server));
    const char *socket = arena_printf(bench->arena, "%s", server_socket(bench->server));
    struct text host;
    text_init(&host, bench->arena, 1000);
    for (; *socket; socket++)
        text_add(&host, *socket == '/' ? "%2F" : (char[]){*socket, '\0'});
    if (is_postgres(bench))
        text_add(&host, port);
    ask(root, is_postgres(bench)
                  ? "CREATE USER odd PASSWORD 'p%+=$l4@/:?#& ''\"\\'"
                  : "CREATE USER odd@'%' IDENTIFIED BY 'p%+=$l4@/:?#& ''\"\\\\'");
    const char *encoded = "p%25%2B%3D$l4%40%2F%3A%3F%23%26%20'%22%5C";
    const char *scheme = is_postgres(bench) ? "postgresql" : "mariadb";
    const char *hosts[2] = {arena_printf(bench->arena, "%s%s", server_host(bench->server),
                                         port),
                            host.at};
    for (int i = 0; i < 2; i++) {
        struct drv_target target =
            bench_target(bench, arena_printf(bench->arena, "%s://odd:%s@%s/%s", scheme, encoded,
                                             hosts[i], is_postgres(bench) ? "postgres" : ""));
        struct drv_conn *conn = bench_open(&target);
        struct drv_facts facts;
        struct err err = {0};
        assert_int_equal(ask(conn, "SELECT 1").as.i, 1);
        assert_true(conn->class->describe(conn, bench->arena, &facts, &err));
        assert_false(facts.superuser);
        assert_null(strstr(target.shown, "l4"));
        drv_close(&conn);
    }
    ask(root, is_postgres(bench) ? "DROP USER odd" : "DROP USER odd@'%'");
    drv_close(&root);
}

static void settings_are_of_the_session(void **state)
{
    struct bench *bench = *state;
    const char *url =
        bench_url(bench, server_user(bench->server), server_password(bench->server),
                  is_postgres(bench) ? "postgres" : "",
                  is_postgres(bench) ? "?set.work_mem=3MB&set.jit=off"
                                     : "?set.sql_mode=ANSI_QUOTES&set.lock_wait_timeout=77");
    struct drv_target target = bench_target(bench, url);
    struct drv_conn *conn = bench_open(&target);
    struct value mode =
        ask(conn, is_postgres(bench) ? "SHOW work_mem" : "SELECT @@SESSION.sql_mode");
    assert_memory_equal(mode.as.text, is_postgres(bench) ? "3MB" : "ANSI_QUOTES", mode.bytes);
    drv_close(&conn);
}

/* Nothing ran: it is the command line that is wrong. */
static void wrong_settings_are_refused(void **state)
{
    static const struct {
        bool postgres;
        const char *query, *name, *why;
    } cases[] = {
        {true,  "?set.jit=banana",                       "set.jit: ",      "requires a Boolean value"              },
        {true,  "?set.nope=1",                           "set.nope: ",     "unrecognized configuration"            },
        {true,  "?set.fsync=off",                        "set.fsync: ",    "cannot change it, set it on the server"},
        {true,  "?set.jit=off&set.work_mem=-5",          "set.work_mem: ", "outside the valid range"               },
        {false, "?set.nope=1",                           "set.nope: ",     "Unknown system variable"               },
        {false, "?set.sql_mode=banana",                  "set.sql_mode: ", "can't be set to the value"             },
        {false, "?set.innodb_flush_log_at_trx_commit=0",
         "set.innodb_flush_log_at_trx_commit: ",                           "cannot change it, set it on the server"},
        {false, "?set.version=1",                        "set.version: ",  "set it on the server"                  },
    };
    struct bench *bench = *state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        if (cases[i].postgres != is_postgres(bench))
            continue;
        const char *url =
            bench_url(bench, server_user(bench->server), server_password(bench->server),
                      is_postgres(bench) ? "postgres" : "", cases[i].query);
        struct drv_target target = bench_target(bench, url);
        struct err err = bench_refused(&target);
        assert_int_equal(err.kind, ERR_USAGE);
        assert_memory_equal(err.text, cases[i].name, strlen(cases[i].name));
        assert_non_null(strstr(err.text, cases[i].why));
    }
}

static void check_large(const struct bench *bench, const char *query)
{
    struct place place = place_make(bench, query);
    const char *sql = is_postgres(bench)
                          ? "SELECT i, repeat('x', 100) FROM generate_series(1, 50000) i"
                          : "SELECT seq, repeat('x', 100) FROM seq_1_to_50000";
    for (int direct = 0; direct < 2; direct++) {
        struct seen seen = {.sink = {see}};
        prepare(place.conn, sql, 0, direct);
        struct drv_op op = {.depth = PROG_DECODE, .sink = &seen.sink};
        assert_int_equal(run(place.conn, &op).rows, 50000);
        assert_int_equal(seen.rows, 50000);
        assert_int_equal(seen.bytes, 50000 * 100);
    }
    place_drop(bench, &place);
}

static void large_results_arrive(void **state)
{
    check_large(*state, "");
    if (has_rows_option(*state))
        check_large(*state, "?rows=stream");
}

/* More than a socket's buffers hold, in both directions. */
static void large_parameters_leave(void **state)
{
    enum { MANY = 8 << 20 };
    struct bench *bench = *state;
    struct place place = place_make(bench, "");
    char *bytes = arena_alloc(bench->arena, MANY, 1);
    memset(bytes, 'y', MANY);
    struct value value = value_text(bytes, MANY);
    struct seen seen = {.sink = {see}};
    struct drv_op op = {.depth = PROG_WALK,
                        .param_count = 1,
                        .params = &value,
                        .sink = &seen.sink};
    prepare(place.conn, is_postgres(bench) ? "SELECT $1::text" : "SELECT length(?)", 1, false);
    struct drv_outcome outcome = run(place.conn, &op);
    if (outcome.verdict != DRV_OK)
        fail_msg("%s", place.conn->class->last_error(place.conn));
    if (is_postgres(bench))
        assert_int_equal(seen.bytes, MANY);
    place_drop(bench, &place);
}

static void text_that_does_not_fit_is_an_error(void **state)
{
    struct bench *bench = *state;
    if (!is_postgres(bench))
        return;
    enum { MANY = 70000 };
    const char *option = bench->client ? "message_bytes" : "param_bytes";
    struct place place = place_make(bench, arena_printf(bench->arena, "?%s=65536", option));
    char *text = arena_alloc(bench->arena, MANY, 1);
    memset(text, '1', MANY);
    const struct value values[2] = {value_text(text, 900), value_text(text, MANY)};
    struct drv_op op = {.param_count = 2, .params = values};
    prepare(place.conn, "SELECT $1::numeric, $2::numeric", 2, false);
    assert_int_equal(run(place.conn, &op).verdict, DRV_ERROR);
    assert_non_null(strstr(place.conn->class->last_error(place.conn), option));
    const struct value fits[2] = {values[0], value_real(1.5)};
    op.params = fits;
    assert_int_equal(run(place.conn, &op).verdict, DRV_OK);
    const struct value odd[2] = {value_text("1\0002", 3), value_int(1)};
    op.params = odd;
    assert_int_equal(run(place.conn, &op).verdict, DRV_ERROR);
    place_drop(bench, &place);
}

/* Nobody would read or send the rows. With libpq the connection counts as lost; our own client
 * tells the server so. The text says why. */
static void copy_is_refused(void **state)
{
    struct bench *bench = *state;
    if (!is_postgres(bench) || bench->client) /* the wire client can refuse it and go on */
        return;
    for (int in = 0; in < 2; in++) {
        struct drv_conn *conn = bench_open(&bench->target);
        struct err err = {0};
        enum drv_step step;
        const char *sql = in ? "COPY t FROM STDIN" : "COPY t TO STDOUT";
        ask(conn, "CREATE TEMPORARY TABLE t (id INT)");
        if (conn->class->query) {
            assert_false(conn->class->query(conn, bench->arena, sql, NULL, NULL, &err));
            assert_non_null(strstr(err.text, "COPY"));
        }
        assert_int_equal(ask(conn, "SELECT 1").as.i, 1);
        prepare(conn, sql, 0, true);
        conn->class->submit(conn, &(struct drv_op){0});
        assert_int_equal(finish(conn, &step).verdict, bench->client ? DRV_ERROR : DRV_LOST);
        assert_int_equal(step, bench->client ? DRV_DONE : DRV_FAILED);
        assert_non_null(strstr(conn->class->last_error(conn), "COPY"));
        if (bench->client)
            assert_int_equal(ask(conn, "SELECT 2").as.i, 2);
        drv_close(&conn);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(the_server_describes_itself),
        BENCH_TEST(a_place_holds_everything),
        BENCH_TEST(values_come_back_whole),
        BENCH_TEST(values_come_back_as_a_stream),
        BENCH_TEST(changed_rows_are_counted),
        BENCH_TEST(errors_are_outcomes),
        BENCH_TEST(transactions_end_as_told),
        BENCH_TEST(conflicts_are_to_be_retried),
        BENCH_TEST(another_thread_cancels),
        BENCH_TEST(a_lost_connection_is_told),
        BENCH_TEST(refusals_say_what_to_do),
        BENCH_TEST(odd_passwords_work),
        BENCH_TEST(settings_are_of_the_session),
        BENCH_TEST(wrong_settings_are_refused),
        BENCH_TEST(large_results_arrive),
        BENCH_TEST(large_parameters_leave),
        BENCH_TEST(text_that_does_not_fit_is_an_error),
        BENCH_TEST(copy_is_refused),
    };
    return bench_run(tests, ARRAY_COUNT(tests));
}
