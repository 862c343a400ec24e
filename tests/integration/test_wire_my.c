/* links: driver server
 *
 * The wire client of MariaDB against a real server: what libmariadb's driver does not have, or
 * could do differently. */

#include "base/text.h"
#include "integration/driver_bench.h"
#include "os/fs.h"

#include <sys/stat.h>
#include <unistd.h>

static struct drv_target target_of(const struct bench *bench, const char *client)
{
    struct bench other = *bench;
    other.client = client;
    return bench_target(bench, bench_url(&other, server_user(bench->server),
                                         server_password(bench->server), "mysql", ""));
}

static struct drv_conn *open_wire(const struct bench *bench)
{
    struct drv_target target = target_of(bench, "wire");
    return bench_open(&target);
}

/* Steps until the operation is over, while it still sends too. */
static struct drv_outcome finish_both(struct drv_conn *conn)
{
    struct drv_outcome outcome = {0};
    enum drv_step step;
    while ((step = conn->class->step(conn, &outcome)) != DRV_DONE) {
        if (step == DRV_FAILED)
            fail_msg("%s", conn->class->last_error(conn));
        short events = step == DRV_WANT_WRITE ? POLLIN | POLLOUT : POLLIN;
        struct pollfd fd = {.fd = conn->class->fd(conn), .events = events};
        assert_int_equal(poll(&fd, 1, 20000), 1);
    }
    return outcome;
}

static void a_hundred_sessions_live_on(void **state)
{
    enum { SESSIONS = 100 };
    struct bench *bench = *state;
    struct drv_conn *conns[SESSIONS];
    for (int i = 0; i < SESSIONS; i++) {
        conns[i] = open_wire(bench);
        prepare(conns[i], "SELECT ? + 1", 1, false);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < SESSIONS; i++) {
            struct value param = value_int(i);
            struct seen seen = {.sink = {see}, .arena = conns[i]->arena};
            struct drv_op op = {.depth = PROG_DECODE,
                                .param_count = 1,
                                .params = &param,
                                .sink = &seen.sink};
            assert_int_equal(run(conns[i], &op).verdict, DRV_OK);
            assert_int_equal(seen.values[0][0].as.i, i + 1);
        }
    }
    struct value open = ask(conns[0], "SELECT count(DISTINCT id) FROM "
                                      "information_schema.processlist WHERE user = 'root'");
    assert_true(open.as.i >= SESSIONS);
    for (int i = 0; i < SESSIONS; i++)
        drv_close(&conns[i]);
}

/* --- every type as libmariadb gives it --- */

static const char *const types_sql =
    "CREATE OR REPLACE TABLE test.types (a TINYINT, b TINYINT UNSIGNED, c SMALLINT, "
    "d SMALLINT UNSIGNED, e MEDIUMINT, f MEDIUMINT UNSIGNED, g INT, h INT UNSIGNED, i BIGINT, "
    "j BIGINT UNSIGNED, k FLOAT, l DOUBLE, m DECIMAL(20,4), n CHAR(10), o VARCHAR(20), p TEXT, "
    "q BLOB, r VARBINARY(9), s BIT(11), t DATE, u TIME, v TIME(3), w DATETIME, x DATETIME(6), "
    "y TIMESTAMP(2) NULL, z YEAR, aa JSON, bb GEOMETRY, cc ENUM('x','y'), dd SET('p','q'), "
    "ee BOOLEAN, ff BINARY(3), gg INT(6) ZEROFILL, hh UUID, ii INET6, jj LONGTEXT)";

static const char *const rows_sql[] = {
    "-128,255,-32768,65535,-8388608,16777215,-2147483648,4294967295,-9223372036854775808,"
    "18446744073709551615,0.1,0.1,-1234567890123456.7891,'char','varchar','text','blob','\\0\\1',"
    "b'10000000001','2024-02-29','-838:59:59','12:34:56.789','2024-02-29 12:34:56',"
    "'2024-02-29 12:34:56.123456','2024-02-29 12:34:56.12',2024,'{\"a\": [1, 2]}',point(1,2),"
    "'y','p,q',true,'ab',42,'123e4567-e89b-12d3-a456-426655440000','::1','long'",
    "NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,"
    "NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL",
    "0,0,0,0,0,0,0,0,0,0,0,0,0,'','','','','',b'0','0000-00-00','00:00:00','00:00:00',"
    "'0000-00-00 00:00:00','0000-00-00','2024-01-01',0,'{}',linestring(point(0,0),point(1,1)),"
    "'x','',false,'',0,'00000000-0000-0000-0000-000000000000','::',''",
    "1,1,1,1,1,1,1,1,1,9223372036854775807,-1.5e10,-1e300,0.5,'a','b','c','d','e',b'1',"
    "'1000-01-01','100:00:00','-00:00:00.5','9999-12-31 00:00:00','1970-01-02 00:00:01',"
    "'2038-01-19 03:14:07',1999,'1',polygon(linestring(point(0,0),point(1,0),point(1,1),"
    "point(0,0))),'x','p',1,'abc',999999,'123e4567-e89b-12d3-a456-426655440000',"
    "'2001:db8::ff00:42:8329',repeat('long ', 60000)",
};

enum { TYPES = 36 };

/* Every row's values in words, one a line. */
struct words {
    struct drv_sink sink;
    struct text text;
};

static void write_words(struct drv_sink *sink, const struct value *values, uint16_t count)
{
    struct words *words = (struct words *)sink;
    char text[300];
    for (uint16_t i = 0; i < count; i++) {
        value_print(text, sizeof(text), &values[i]);
        text_addf(&words->text, "%u: type %d, %u bytes, %s\n", i, (int)values[i].type,
                  values[i].type >= VALUE_TEXT ? values[i].bytes : 0, text);
    }
}

static const char *words_of(const struct bench *bench, const char *client, const char *sql,
                            bool direct)
{
    struct drv_target target = target_of(bench, client);
    struct drv_conn *conn = bench_open(&target);
    struct words words = {.sink = {write_words}};
    text_init(&words.text, bench->arena, 1 << 20);
    struct drv_op op = {.depth = PROG_DECODE, .sink = &words.sink};
    prepare(conn, sql, 0, direct);
    for (int i = 0; i < 2; i++) { /* the second time without definitions */
        if (run(conn, &op).verdict != DRV_OK)
            fail_msg("%s", conn->class->last_error(conn));
    }
    drv_close(&conn);
    return words.text.at;
}

static void every_type_is_as_the_library_has_it(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = open_wire(bench);
    ask(conn, "SET sql_mode = ''");
    ask(conn, types_sql);
    for (size_t i = 0; i < ARRAY_COUNT(rows_sql); i++)
        ask(conn,
            arena_printf(bench->arena, "INSERT INTO test.types VALUES (%s)", rows_sql[i]));
    for (int direct = 0; direct < 2; direct++) {
        const char *sql = "SELECT * FROM test.types";
        const char *wire = words_of(bench, "wire", sql, direct);
        assert_string_equal(wire, words_of(bench, NULL, sql, direct));
        assert_true(strlen(wire) > (size_t)TYPES * 4 * 10);
    }
    drv_close(&conn);
}

/* --- pipelines --- */

static void add_op(struct drv_conn *conn, uint16_t stmt, const struct value *param,
                   struct drv_sink *sink, bool more)
{
    struct drv_op op = {.stmt = stmt,
                        .depth = PROG_DECODE,
                        .param_count = param ? 1 : 0,
                        .params = param,
                        .sink = sink,
                        .more = more};
    conn->class->submit(conn, &op);
}

static struct drv_conn *open_pipe(const struct bench *bench, uint32_t depth)
{
    static const struct prog_stmt stmts[] = {
        {.name = "insert", .sql = "INSERT INTO test.p VALUES (?)",      .param_count = 1},
        {.name = "select", .sql = "SELECT id FROM test.p WHERE id = ?", .param_count = 1},
        {.name = "count",  .sql = "SELECT count(*) FROM test.p",        .direct = true  },
    };
    struct err err = {0};
    struct drv_conn *conn = open_wire(bench);
    ask(conn, "CREATE OR REPLACE TABLE test.p (id INT PRIMARY KEY)");
    conn->in_flight = depth;
    if (!conn->class->prepare(conn, stmts, ARRAY_COUNT(stmts), &err))
        fail_msg("%s", err.text);
    return conn;
}

static void an_error_does_not_stop_a_pipeline(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = open_pipe(bench, 8);
    for (int round = 0; round < 3; round++) {
        struct seen seen = {.sink = {see}, .arena = bench->arena};
        const struct value ids[] = {value_int(round), value_int(round), value_int(round + 100)};
        uint64_t calls = arena_calls();
        add_op(conn, 0, &ids[0], NULL, true);
        add_op(conn, 0, &ids[1], NULL, true); /* is there already */
        add_op(conn, 1, NULL, NULL, true);    /* wrong number of parameters */
        add_op(conn, 0, &ids[2], NULL, true);
        add_op(conn, 1, &ids[2], &seen.sink, true);
        conn->class->submit(conn, &(struct drv_op){.kind = DRV_OP_PING, .more = true});
        add_op(conn, 2, NULL, &seen.sink, false);
        assert_int_equal(finish_both(conn).affected, 1);
        struct drv_outcome outcome = finish_both(conn);
        assert_int_equal(outcome.verdict, DRV_ERROR);
        assert_int_equal(outcome.code, 1062);
        assert_string_equal(outcome.sqlstate, "23000");
        assert_non_null(strstr(conn->class->last_error(conn), "Duplicate"));
        assert_int_equal(finish_both(conn).verdict, DRV_ERROR);
        assert_non_null(strstr(conn->class->last_error(conn), "parameters"));
        assert_int_equal(finish_both(conn).affected, 1);
        assert_int_equal(finish_both(conn).rows, 1);
        outcome = finish_both(conn);
        assert_true(outcome.verdict == DRV_OK && outcome.rows == 0 && outcome.affected == -1);
        assert_int_equal(finish_both(conn).rows, 1);
        assert_int_equal(arena_calls(), calls);
        assert_int_equal(seen.values[0][0].as.i, round + 100);
        assert_int_equal(seen.values[1][0].as.i, 2 * (round + 1));
    }
    drv_close(&conn);
}

/* Operations refused one after the other, with nothing that the server could answer. */
static void refused_operations_need_no_server(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = open_pipe(bench, 2);
    for (int i = 0; i < 3; i++) {
        struct drv_outcome outcome = {0};
        add_op(conn, 1, NULL, NULL, true);
        add_op(conn, 1, NULL, NULL, false);
        assert_int_equal(conn->class->step(conn, &outcome), DRV_DONE);
        assert_int_equal(outcome.verdict, DRV_ERROR);
        assert_int_equal(conn->class->step(conn, &outcome), DRV_DONE);
        assert_int_equal(outcome.verdict, DRV_ERROR);
    }
    assert_int_equal(run_kind(conn, DRV_OP_PING).verdict, DRV_OK);
    drv_close(&conn);
}

/* Far more than all buffers hold, in both directions at once. */
static void a_pipeline_cannot_lock_itself_up(void **state)
{
    enum { DEPTH = 200, BYTES = 100000 };
    struct bench *bench = *state;
    struct drv_conn *conn = open_wire(bench);
    struct seen seen = {.sink = {see}};
    char *bytes = arena_alloc(bench->arena, BYTES, 1);
    memset(bytes, 'p', BYTES);
    const struct value param = value_text(bytes, BYTES);
    conn->in_flight = DEPTH;
    prepare(conn, "SELECT ?", 1, false);
    for (int i = 0; i < DEPTH; i++)
        add_op(conn, 0, &param, &seen.sink, i + 1 < DEPTH);
    for (int i = 0; i < DEPTH; i++) {
        struct drv_outcome outcome = finish_both(conn);
        assert_true(outcome.verdict == DRV_OK && outcome.rows == 1);
    }
    assert_int_equal(seen.rows, DEPTH);
    assert_int_equal(seen.bytes, (uint64_t)DEPTH * BYTES);
    drv_close(&conn);
}

static void values_of_many_packets_go_both_ways(void **state)
{
    enum { BYTES = 17 << 20 };
    struct bench *bench = *state;
    struct drv_conn *conn = open_wire(bench);
    char *bytes = malloc(BYTES);
    assert_non_null(bytes);
    memset(bytes, 'm', BYTES);
    const struct value param = value_text(bytes, BYTES);
    prepare(conn, "SELECT ?", 1, false);
    for (int i = 0; i < 2; i++) {
        struct seen seen = {.sink = {see}};
        add_op(conn, 0, &param, &seen.sink, false);
        assert_int_equal(finish_both(conn).rows, 1);
        assert_int_equal(seen.bytes, BYTES);
    }
    free(bytes);
    assert_int_equal(ask(conn, "SELECT length(repeat('x', 17000000))").as.i, 17000000);
    struct seen seen = {.sink = {see}};
    prepare(conn, "SELECT repeat('x', 17000000)", 0, true); /* the row begins like an end */
    add_op(conn, 0, NULL, &seen.sink, false);
    assert_int_equal(finish_both(conn).rows, 1);
    assert_int_equal(seen.bytes, 17000000);
    drv_close(&conn);
}

/* --- results --- */

static void several_results_are_one_answer(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = open_wire(bench);
    ask(conn, "CREATE OR REPLACE TABLE test.m (id INT, v VARCHAR(9))");
    ask(conn, "INSERT INTO test.m VALUES (1, 'one'), (2, 'two'), (3, NULL)");
    ask(conn,
        "CREATE OR REPLACE PROCEDURE test.two() BEGIN SELECT id FROM test.m; "
        "SELECT v, id + 0.5, curdate() FROM test.m WHERE id < 3; UPDATE test.m SET v = v; "
        "END");
    ask(conn, "CREATE OR REPLACE PROCEDURE test.bad() BEGIN SELECT id FROM test.m; "
              "SIGNAL SQLSTATE '45000' SET message_text = 'stop'; END");
    for (int direct = 0; direct < 2; direct++) {
        struct seen seen = {.sink = {see}, .arena = bench->arena};
        struct drv_op op = {.depth = PROG_DECODE, .sink = &seen.sink};
        prepare(conn, "CALL test.two()", 0, direct);
        for (int i = 0; i < 2; i++) {
            struct drv_outcome outcome = run(conn, &op);
            assert_true(outcome.verdict == DRV_OK && outcome.rows == 5);
            assert_int_equal(outcome.affected, -1);
        }
        assert_int_equal(seen.rows, 10);
        assert_int_equal(seen.values[1][0].as.i, 2);
        assert_memory_equal(seen.values[3][0].as.text, "one", 3);
        assert_true(seen.values[3][1].as.r == 1.5);
        assert_int_equal(seen.values[3][2].bytes, 10);
        prepare(conn, "CALL test.bad()", 0, direct);
        struct drv_outcome outcome = run(conn, &op);
        assert_true(outcome.verdict == DRV_ERROR && outcome.code == 1644);
        assert_string_equal(outcome.sqlstate, "45000");
        assert_string_equal(conn->class->last_error(conn), "stop");
        assert_int_equal(run_kind(conn, DRV_OP_PING).verdict, DRV_OK);
    }
    drv_close(&conn);
}

/* The server prepares the statement again by itself, and says so by defining its columns. */
static void columns_may_change(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = open_wire(bench), *other = open_wire(bench);
    ask(conn, "CREATE OR REPLACE TABLE test.c (id INT)");
    ask(conn, "INSERT INTO test.c VALUES (7)");
    prepare(conn, "SELECT * FROM test.c", 0, false);
    for (uint16_t columns = 1; columns < 6; columns++) {
        for (int i = 0; i < 3; i++) {
            struct seen seen = {.sink = {see}, .arena = bench->arena};
            struct drv_op op = {.depth = PROG_DECODE, .sink = &seen.sink};
            assert_int_equal(run(conn, &op).rows, 1);
            assert_int_equal(seen.count, columns);
            for (uint16_t k = 1; k < columns; k++)
                assert_memory_equal(seen.values[0][k].as.text, "2024-02-29", 10);
        }
        ask(other,
            arena_printf(bench->arena, "ALTER TABLE test.c ADD c%u DATE DEFAULT '2024-02-29'",
                         columns));
    }
    ask(other, "ALTER TABLE test.c DROP c1, DROP c2, DROP c3, DROP c4, DROP c5");
    ask(other, "ALTER TABLE test.c MODIFY id VARCHAR(9)");
    struct seen seen = {.sink = {see}, .arena = bench->arena};
    struct drv_op op = {.depth = PROG_DECODE, .sink = &seen.sink};
    assert_int_equal(run(conn, &op).rows, 1);
    assert_true(seen.count == 1 && seen.values[0][0].type == VALUE_TEXT);
    drv_close(&other);
    drv_close(&conn);
}

/* --- the prepared set --- */

static int64_t prepared_count(struct drv_conn *conn)
{
    return ask(conn, "SELECT CAST(variable_value AS INT) FROM information_schema.global_status "
                     "WHERE variable_name = 'Prepared_stmt_count'")
        .as.i;
}

/* The server ends closed connections, and their statements, when it gets to it. */
static void wait_nothing_prepared(struct drv_conn *conn)
{
    for (uint64_t end_ns = os_now_ns() + 30 * NS_PER_S;
         prepared_count(conn) > 0 && os_now_ns() < end_ns;)
        os_sleep_ns(10 * NS_PER_MS);
    assert_int_equal(prepared_count(conn), 0);
}

static void old_statements_are_closed(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = open_wire(bench);
    struct err err = {0};
    wait_nothing_prepared(conn);
    const struct prog_stmt bad[] = {
        {.name = "good", .sql = "SELECT 1"                  },
        {.name = "bad",  .sql = "SELECT * FROM test.nothing"}
    };
    for (int i = 0; i < 5; i++) {
        prepare(conn, "SELECT 1", 0, false);
        assert_false(conn->class->prepare(conn, bad, 2, &err));
        assert_non_null(strstr(err.text, "statement bad: "));
        assert_int_equal(err.code, 1146);
    }
    assert_int_equal(prepared_count(conn), 0);
    drv_close(&conn);
    conn = open_wire(bench); /* and prepared again on a new connection */
    assert_int_equal(run_sql(conn, "SELECT 1", false).rows, 1);
    drv_close(&conn);
}

static void too_many_statements_are_explained(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = open_wire(bench);
    const struct prog_stmt stmt = {.name = "it", .sql = "SELECT 1"};
    struct err err = {0};
    int64_t limit = ask(conn, "SELECT @@max_prepared_stmt_count").as.i;
    ask(conn, "SET GLOBAL max_prepared_stmt_count = 0");
    assert_false(conn->class->prepare(conn, &stmt, 1, &err));
    assert_int_equal(err.code, 1461);
    assert_non_null(strstr(err.text, "raise max_prepared_stmt_count"));
    ask(conn, arena_printf(bench->arena, "SET GLOBAL max_prepared_stmt_count = %lld",
                           (long long)limit));
    prepare(conn, "SELECT 1", 0, false);
    drv_close(&conn);
}

static void no_file_is_sent(void **state)
{
    struct bench *bench = *state;
    struct drv_conn *conn = open_wire(bench);
    ask(conn, "CREATE OR REPLACE TABLE test.f (v TEXT)");
    struct drv_outcome outcome =
        run_sql(conn, "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE test.f", true);
    assert_int_equal(outcome.verdict, DRV_ERROR);
    print_message("             %s\n", conn->class->last_error(conn));
    assert_int_equal(ask(conn, "SELECT count(*) FROM test.f").as.i, 0);
    drv_close(&conn);
}

/* --- TLS --- */

static void tls_is_refused_with_a_way_out(void **state)
{
    struct bench *bench = *state;
    const char *query = "?tls=required&client=wire";
    struct drv_target target =
        bench_target(bench, bench_url(bench, server_user(bench->server),
                                      server_password(bench->server), "mysql", query));
    struct drv_conn *root = open_wire(bench);
    bool offered = ask(root, "SELECT @@have_ssl = 'YES'").as.i == 1;
    drv_close(&root);
    struct err err = bench_refused(&target);
    if (!offered) {
        print_message("             no openssl: the server offers no TLS\n");
        return;
    }
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.text, "client=libmariadb"));
}

/* A certificate for the server, where there is openssl; readable for whoever runs the server.
 */
static bool make_certificate(struct arena *arena, const char *folder)
{
    const char *key = arena_printf(arena, "%s/key.pem", folder);
    const char *const argv[] = {"openssl",  "req",
                                "-x509",    "-newkey",
                                "rsa:2048", "-nodes",
                                "-subj",    "/CN=dbdyno",
                                "-days",    "2",
                                "-keyout",  key,
                                "-out",     arena_printf(arena, "%s/cert.pem", folder),
                                NULL};
    const char *output;
    struct err err;
    return proc_capture(arena, argv, 20 * NS_PER_S, 100000, &output, &err) &&
           chmod(key, 0644) == 0 && chmod(folder, 0755) == 0;
}

static int serve_tests(const struct CMUnitTest *tests, size_t count, const char *folder)
{
    struct bench *bench = &the_bench;
    struct err err = {0};
    const char *cert = arena_printf(bench->arena, "%s/cert.pem", folder);
    const char *own = arena_printf(bench->arena, "%s/key.pem", folder);
    const struct server_setting settings[] = {
        {"max_allowed_packet", "64M"},
        {"local_infile",       "1"  },
        {"ssl_cert",           cert },
        {"ssl_key",            own  },
    };
    bool tls = make_certificate(bench->arena, folder);
    struct server_spec spec = {.kind = SERVER_MARIADB,
                               .settings = settings,
                               .setting_count = tls ? 4 : 2,
                               .connections = 150,
                               .statements = 1000};
    if (!server_start(bench->arena, &spec, &bench->server, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    struct drv_target target = target_of(bench, NULL);
    struct drv_conn *root = bench_open(&target);
    ask(root, "CREATE DATABASE IF NOT EXISTS test");
    drv_close(&root);
    int failed = _cmocka_run_group_tests("wire", tests, count, NULL, NULL);
    server_stop(&bench->server);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(a_hundred_sessions_live_on),
        BENCH_TEST(every_type_is_as_the_library_has_it),
        BENCH_TEST(an_error_does_not_stop_a_pipeline),
        BENCH_TEST(refused_operations_need_no_server),
        BENCH_TEST(a_pipeline_cannot_lock_itself_up),
        BENCH_TEST(values_of_many_packets_go_both_ways),
        BENCH_TEST(several_results_are_one_answer),
        BENCH_TEST(columns_may_change),
        BENCH_TEST(old_statements_are_closed),
        BENCH_TEST(too_many_statements_are_explained),
        BENCH_TEST(no_file_is_sent),
        BENCH_TEST(tls_is_refused_with_a_way_out),
    };
    char folder[] = "/tmp/dbdyno-wire-XXXXXX";
    struct err err = {0};
    the_bench = (struct bench){.arena = arena_create(1 << 16), .kind = SERVER_MARIADB};
    if (!server_find(the_bench.arena, SERVER_MARIADB, NULL)) {
        printf("SKIPPED: %s is not installed\n", server_package(SERVER_MARIADB));
        arena_destroy(&the_bench.arena);
        return 77;
    }
    if (!mkdtemp(folder) || !reaper_start(NULL, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    int failed = serve_tests(tests, ARRAY_COUNT(tests), folder);
    if (!fs_remove_tree(folder, &err))
        fprintf(stderr, "%s\n", err.text);
    arena_destroy(&the_bench.arena);
    reaper_finish();
    return failed;
}
