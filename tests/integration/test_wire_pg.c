/* links: driver server
 *
 * PostgreSQL's wire client against a real server: what test_drivers does not ask of it. */

#include "base/text.h"
#include "integration/driver_bench.h"

enum { PIPE = 64 };

static struct drv_conn *open_with(const struct bench *bench, const char *query,
                                  uint32_t in_flight)
{
    struct drv_target *target = arena_new(bench->arena, struct drv_target);
    *target = bench_target(bench, bench_url(bench, server_user(bench->server),
                                            server_password(bench->server), "postgres", query));
    struct drv_conn *conn = bench_open(target);
    conn->in_flight = in_flight;
    return conn;
}

static void prepare_all(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count)
{
    struct err err = {0};
    if (!conn->class->prepare(conn, stmts, count, &err))
        fail_msg("%s", err.text);
}

/* Submits all, then takes the answers. */
static void pipe_run(struct drv_conn *conn, struct drv_op *ops, uint32_t count,
                     struct drv_outcome *outcomes)
{
    for (uint32_t i = 0; i < count; i++) {
        ops[i].more = i + 1 < count;
        conn->class->submit(conn, &ops[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        enum drv_step step;
        outcomes[i] = finish(conn, &step);
        assert_int_equal(step, DRV_DONE);
    }
}

static void a_hundred_sessions_live_on(void **state)
{
    enum { AT_ONCE = 10, ROUNDS = 10 };
    const struct bench *bench = *state;
    struct drv_conn *conns[AT_ONCE];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < AT_ONCE; i++) {
            conns[i] = bench_open(&bench->target);
            prepare(conns[i], "SELECT 6 * 7", 0, false);
        }
        for (int i = 0; i < AT_ONCE; i++) {
            int fd = conns[i]->class->fd(conns[i]);
            assert_int_equal(run(conns[i], &(struct drv_op){0}).rows, 1);
            assert_int_equal(conns[i]->class->fd(conns[i]), fd);
            drv_close(&conns[i]);
        }
    }
}

struct number_sink {
    struct drv_sink base;
    int64_t number;
};

static void take_number(struct drv_sink *sink, const struct value *values, uint16_t count)
{
    assert_int_equal(count, 1);
    ((struct number_sink *)sink)->number = values[0].as.i;
}

static const struct prog_stmt divide = {.name = "divide",
                                        .sql = "SELECT 60 / $1::int",
                                        .param_count = 1};

static const char *const syncs[] = {"?sync=pipeline", "?sync=statement"};

static void pipelines_answer_in_order(void **state)
{
    for (size_t sync = 0; sync < ARRAY_COUNT(syncs); sync++) {
        struct drv_conn *conn = open_with(*state, syncs[sync], PIPE);
        struct number_sink sinks[PIPE];
        struct value params[PIPE];
        struct drv_op ops[PIPE];
        struct drv_outcome outcomes[PIPE];
        prepare_all(conn, &divide, 1);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < PIPE; i++) {
                sinks[i] = (struct number_sink){{take_number}, -1};
                params[i] = value_int(i + 1);
                ops[i] = (struct drv_op){.depth = PROG_DECODE,
                                         .param_count = 1,
                                         .params = &params[i],
                                         .sink = &sinks[i].base};
            }
            uint64_t calls = arena_calls();
            pipe_run(conn, ops, PIPE, outcomes);
            assert_int_equal(arena_calls(), calls);
            for (int i = 0; i < PIPE; i++) {
                assert_int_equal(outcomes[i].verdict, DRV_OK);
                assert_int_equal(outcomes[i].rows, 1);
                assert_int_equal(sinks[i].number, 60 / (i + 1));
            }
        }
        drv_close(&conn);
    }
}

/* One answer after the other, and what its failure says. */
static void check_one(struct drv_conn *conn, enum drv_verdict verdict, const char *sqlstate,
                      const char *words)
{
    enum drv_step step;
    struct drv_outcome outcome = finish(conn, &step);
    assert_int_equal(step, DRV_DONE);
    assert_int_equal(outcome.verdict, verdict);
    if (verdict == DRV_OK)
        return;
    assert_string_equal(outcome.sqlstate, sqlstate);
    if (!strstr(conn->class->last_error(conn), words))
        fail_msg("%s", conn->class->last_error(conn));
}

static void check_usable(struct drv_conn *conn)
{
    assert_int_equal(run_kind(conn, DRV_OP_PING).verdict, DRV_OK);
    assert_int_equal(ask(conn, "SELECT 5").as.i, 5);
}

static void submit_divisions(struct drv_conn *conn, const struct value *params, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct drv_op op = {.param_count = 1, .params = &params[i], .more = i + 1 < count};
        conn->class->submit(conn, &op);
    }
}

static void check_bad_division(struct drv_conn *conn, int bad, bool sync_each)
{
    static const char skipped[] = "skipped: an earlier statement of the pipeline failed";
    struct value params[5];
    prepare_all(conn, &divide, 1);
    for (int i = 0; i < 5; i++)
        params[i] = value_int(i == bad ? 0 : 1);
    submit_divisions(conn, params, 5);
    for (int i = 0; i < 5; i++) {
        bool fine = i < bad || (i > bad && sync_each);
        check_one(conn, fine ? DRV_OK : DRV_ERROR, i == bad ? "22012" : "",
                  i == bad ? "division by zero" : skipped);
    }
    check_usable(conn);
}

static void an_error_in_a_pipeline_is_told_apart(void **state)
{
    for (size_t sync = 0; sync < ARRAY_COUNT(syncs); sync++) {
        struct drv_conn *conn = open_with(*state, syncs[sync], 5);
        for (int bad = 0; bad < 5; bad++)
            check_bad_division(conn, bad, sync == 1);
        drv_close(&conn);
    }
}

/* Never sent: at the begin, in the middle and at the end. */
static void what_cannot_be_sent_fails_alone(void **state)
{
    const struct prog_stmt numeric = {.name = "numeric",
                                      .sql = "SELECT $1::numeric",
                                      .param_count = 1};
    for (size_t sync = 0; sync < ARRAY_COUNT(syncs); sync++) {
        struct drv_conn *conn = open_with(*state, syncs[sync], 3);
        for (int bad = 0; bad < 4; bad++) {
            struct value params[3];
            prepare_all(conn, &numeric, 1);
            for (int i = 0; i < 3; i++)
                params[i] = i == bad || bad == 3 ? value_text("1\0002", 3) : value_int(1);
            submit_divisions(conn, params, 3);
            for (int i = 0; i < 3; i++)
                check_one(conn, i == bad || bad == 3 ? DRV_ERROR : DRV_OK, "", "NUL");
            check_usable(conn);
        }
        drv_close(&conn);
    }
}

static void transactions_fit_into_a_pipeline(void **state)
{
    const struct prog_stmt stmts[] = {
        divide, {.name = "direct", .sql = "SELECT 1; SELECT 2", .direct = true}
    };
    for (size_t sync = 0; sync < ARRAY_COUNT(syncs); sync++) {
        struct drv_conn *conn = open_with(*state, syncs[sync], 8);
        for (int fails = 0; fails < 2; fails++) {
            struct value one = value_int(1), other = value_int(fails ? 0 : 1);
            const struct drv_op ops[] = {
                {.kind = DRV_OP_BEGIN, .more = true},
                {.param_count = 1,                    .params = &one, .more = true},
                {.stmt = 1,.more = true},
                {.kind = DRV_OP_PING,                    .more = true},
                {.param_count = 1,                      .params = &other, .more = true},
                {.kind = DRV_OP_COMMIT },
            };
            prepare_all(conn, stmts, 2);
            for (size_t i = 0; i < ARRAY_COUNT(ops); i++)
                conn->class->submit(conn, &ops[i]);
            for (int i = 0; i < 4; i++)
                check_one(conn, DRV_OK, "", "");
            check_one(conn, fails ? DRV_ERROR : DRV_OK, "22012", "zero");
            check_one(conn, fails ? DRV_ERROR : DRV_OK, "", "answered by ROLLBACK");
            check_usable(conn);
        }
        drv_close(&conn);
    }
}

/* More than the buffers of both sides hold, in both directions at once. */
static void a_pipeline_cannot_block_itself(void **state)
{
    enum { MANY = 400000 };
    const struct bench *bench = *state;
    const struct prog_stmt echo = {.name = "echo", .sql = "SELECT $1::text", .param_count = 1};
    char *bytes = arena_alloc(bench->arena, MANY, 1);
    memset(bytes, 'z', MANY);
    struct value value = value_text(bytes, MANY);
    for (size_t sync = 0; sync < ARRAY_COUNT(syncs); sync++) {
        struct drv_conn *conn = open_with(bench, syncs[sync], PIPE);
        struct seen seen = {.sink = {see}};
        struct drv_op ops[PIPE];
        struct drv_outcome outcomes[PIPE];
        prepare_all(conn, &echo, 1);
        for (int i = 0; i < PIPE; i++)
            ops[i] = (struct drv_op){.depth = PROG_WALK,
                                     .param_count = 1,
                                     .params = &value,
                                     .sink = &seen.sink};
        pipe_run(conn, ops, PIPE, outcomes);
        for (int i = 0; i < PIPE; i++)
            assert_int_equal(outcomes[i].verdict, DRV_OK);
        assert_int_equal(seen.bytes, (uint64_t)MANY * PIPE);
        drv_close(&conn);
    }
}

enum { ALL_TYPES = 12 };

static const struct prog_stmt types_stmt = {
    .name = "types",
    .sql = "SELECT $1::int2, $2::int4, $3::int8, $4::float8, $5::float4, $6::numeric, "
           "$7::bool, $8::text, $9::bytea, $10::date, $11::oid, $12::varchar",
    .param_count = ALL_TYPES,
};

static struct seen ask_types(const struct bench *bench, const char *query,
                             const struct value *params)
{
    struct drv_conn *conn = open_with(bench, query, 1);
    struct seen seen = {.sink = {see}, .arena = bench->arena};
    struct drv_op op = {.depth = PROG_DECODE,
                        .param_count = ALL_TYPES,
                        .params = params,
                        .sink = &seen.sink};
    prepare_all(conn, &types_stmt, 1);
    for (int i = 0; i < 2; i++) {
        if (run(conn, &op).verdict != DRV_OK)
            fail_msg("%s: %s", query, conn->class->last_error(conn));
    }
    assert_int_equal(seen.rows, 2);
    assert_int_equal(seen.count, ALL_TYPES);
    drv_close(&conn);
    return seen;
}

/* However it is asked for, an answer is the same, and the same as through libpq. */
static void every_way_gives_the_same_values(void **state)
{
    static const char *const ways[] = {
        "?client=wire&format=text",
        "?client=wire&format=binary",
        "?client=wire&describe=once",
        "?client=wire&describe=once&format=binary",
        "?client=wire&mode=extended",
        "?client=wire&mode=extended&format=binary&describe=once&sync=statement",
    };
    struct bench plain = *(const struct bench *)*state;
    const struct value null = {.type = VALUE_NULL};
    const struct value blob = {.type = VALUE_BLOB, .bytes = 3, .as.text = "\0\377x"};
    const struct value rows[][ALL_TYPES] = {
        {value_int(-32768),      value_int(INT32_MIN), value_int(INT64_MIN), value_real(0.1),
         value_real(0.1),                                            value_text("12.50", 5),   value_int(1),                             value_text("a\xc3\xa9",                     3),
         blob,                                                                                                                                                                                                                   value_text("2024-02-29", 10), value_int(4294967295), value_text("", 0)},
        {value_text("5", 1),        value_real(5),                          value_text("-7",                                         2), value_int(3),                 value_int(3),
         value_int(3), value_text("t", 1), value_int(12), value_text("x",                                                                                                                                                                                                                                    1), null,
         value_int(0), value_text("a text of more than thirty-two bytes", 36)},
        {null,                    null,                           null,                                 null,                                              null,               null,                                                                   null,                      null,                                                           null,                                                                                                     null,                                                                                                              null,                                                                                                                   null                                                                                                           },
    };
    plain.client = NULL;
    for (size_t row = 0; row < ARRAY_COUNT(rows); row++) {
        struct seen libpq = ask_types(&plain, "", rows[row]);
        for (size_t way = 0; way < ARRAY_COUNT(ways); way++) {
            struct seen seen = ask_types(&plain, ways[way], rows[row]);
            for (int i = 0; i < ALL_TYPES; i++) {
                assert_int_equal(seen.values[1][i].type, libpq.values[1][i].type);
                assert_true(value_same(&seen.values[1][i], &libpq.values[1][i]));
            }
        }
    }
}

/* What does not fit a binary type goes as text, and the server says so. */
static void values_out_of_range_are_the_servers(void **state)
{
    struct drv_conn *conn = open_with(*state, "?format=binary", 1);
    struct value large = value_int(INT64_MAX);
    struct drv_op op = {.param_count = 1, .params = &large};
    prepare_all(conn, &divide, 1);
    struct drv_outcome outcome = run(conn, &op);
    assert_int_equal(outcome.verdict, DRV_ERROR);
    assert_string_equal(outcome.sqlstate, "22003");
    drv_close(&conn);
}

static void lost_statements_are_explained(void **state)
{
    const struct prog_stmt stmts[] = {
        divide, {.name = "drop", .sql = "DEALLOCATE ALL", .direct = true}
    };
    static const char *const modes[] = {"?mode=prepared", "?mode=extended"};
    struct value one = value_int(1);
    const struct drv_op op = {.param_count = 1, .params = &one};
    for (int mode = 0; mode < 2; mode++) {
        struct drv_conn *conn = open_with(*state, modes[mode], 1);
        prepare_all(conn, stmts, 2);
        assert_int_equal(run(conn, &op).verdict, DRV_OK);
        assert_int_equal(run(conn, &(struct drv_op){.stmt = 1}).verdict, DRV_OK);
        struct drv_outcome outcome = run(conn, &op);
        assert_int_equal(outcome.verdict, mode ? DRV_OK : DRV_ERROR);
        if (mode == 0) {
            assert_string_equal(outcome.sqlstate, "26000");
            assert_non_null(strstr(conn->class->last_error(conn), "?mode=extended"));
            print_message("             %s\n", conn->class->last_error(conn));
        }
        prepare_all(conn, stmts, 2);
        assert_int_equal(run(conn, &op).verdict, DRV_OK);
        drv_close(&conn);
    }
}

/* In the middle of operations, and never in their way. */
static void other_messages_are_passed_over(void **state)
{
    struct drv_conn *conn = open_with(*state, "", 1);
    assert_int_equal(run_sql(conn, "LISTEN dbdyno_test", true).verdict, DRV_OK);
    for (int direct = 0; direct < 2; direct++) {
        run_sql(conn, "NOTIFY dbdyno_test, 'it'", direct);
        run_sql(conn, "SET application_name = 'other'", direct);
        assert_int_equal(run_sql(conn, "SELECT pg_notify('dbdyno_test', 'x')", direct).rows, 1);
        assert_int_equal(run_sql(conn, "DO $$BEGIN RAISE WARNING 'w'; END$$", direct).verdict,
                         DRV_OK);
        assert_int_equal(run_sql(conn, "", direct).verdict, DRV_OK);
        assert_int_equal(run_sql(conn, "SELECT", direct).rows, 1);
    }
    drv_close(&conn);
}

static void copies_of_prepared_statements_are_refused(void **state)
{
    struct drv_conn *conn = open_with(*state, "", 1);
    ask(conn, "CREATE TEMPORARY TABLE c (id INT)");
    for (int direct = 0; direct < 2; direct++) {
        assert_int_equal(run_sql(conn, "COPY c FROM STDIN", direct).verdict, DRV_ERROR);
        assert_non_null(strstr(conn->class->last_error(conn), "COPY between"));
        check_usable(conn);
        assert_int_equal(
            run_sql(conn, "COPY (SELECT generate_series(1, 9999)) TO STDOUT", direct).verdict,
            DRV_ERROR);
        assert_non_null(strstr(conn->class->last_error(conn), "COPY between"));
        check_usable(conn);
    }
    drv_close(&conn);
}

/* The server makes its own certificate, in its folder. False: there is no openssl. */
static bool serve_tls(const struct bench *bench)
{
    static const char make[] =
        "COPY (SELECT 1) TO PROGRAM 'openssl req -new -x509 -days 2 -nodes -subj /CN=localhost "
        "-keyout server.key -out server.crt 2>/dev/null && chmod 600 server.key'";
    struct drv_conn *root = bench_root(bench);
    struct err err = {0};
    bool made = root->class->query(root, bench->arena, make, NULL, NULL, &err);
    if (made) {
        ask(root, "ALTER SYSTEM SET ssl = on");
        ask(root, "SELECT pg_reload_conf()");
    }
    drv_close(&root);
    return made;
}

static void a_tls_session_is_taken_over(void **state)
{
    const struct bench *bench = *state;
    struct drv_target target = bench_target(bench, bench_url(bench, server_user(bench->server),
                                                             server_password(bench->server),
                                                             "postgres", "?sslmode=require"));
    struct drv_conn *conn = NULL;
    struct err err = {0};
    if (!serve_tls(bench)) {
        print_message("             no openssl: not tried\n");
        return;
    }
    for (int tries = 0; tries < 500 && !drv_open(&target, &conn, &err); tries++)
        os_sleep_ns(20 * NS_PER_MS); /* until the server has read its settings again */
    if (!conn) {
        fail_msg("%s", err.text);
        return;
    }
    assert_int_equal(
        ask(conn, "SELECT ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid()").as.i, 1);
    enum { MANY = 3 << 20 };
    char *bytes = arena_alloc(bench->arena, MANY, 1);
    memset(bytes, 't', MANY);
    struct value value = value_text(bytes, MANY);
    struct seen seen = {.sink = {see}};
    struct drv_op op = {.depth = PROG_WALK,
                        .param_count = 1,
                        .params = &value,
                        .sink = &seen.sink};
    prepare(conn, "SELECT $1::text", 1, false);
    for (int i = 0; i < 3; i++)
        assert_int_equal(run(conn, &op).verdict, DRV_OK);
    assert_int_equal(seen.bytes, 3 * MANY);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(run_kind(conn, DRV_OP_PING).verdict, DRV_OK);
    enum drv_step step;
    conn->class->sever(conn);
    conn->class->submit(conn, &(struct drv_op){.kind = DRV_OP_PING});
    assert_int_equal(finish(conn, &step).verdict, DRV_LOST);
    print_message("             %s\n", conn->class->last_error(conn));
    drv_close(&conn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(a_hundred_sessions_live_on),
        BENCH_TEST(pipelines_answer_in_order),
        BENCH_TEST(an_error_in_a_pipeline_is_told_apart),
        BENCH_TEST(what_cannot_be_sent_fails_alone),
        BENCH_TEST(transactions_fit_into_a_pipeline),
        BENCH_TEST(a_pipeline_cannot_block_itself),
        BENCH_TEST(every_way_gives_the_same_values),
        BENCH_TEST(values_out_of_range_are_the_servers),
        BENCH_TEST(lost_statements_are_explained),
        BENCH_TEST(other_messages_are_passed_over),
        BENCH_TEST(copies_of_prepared_statements_are_refused),
        BENCH_TEST(a_tls_session_is_taken_over),
    };
    struct err err = {0};
    if (!reaper_start(NULL, &err))
        return 1;
    int failed = 77;
    if (bench_start(&the_bench, SERVER_POSTGRES)) {
        failed = bench_run_client("wire", tests, ARRAY_COUNT(tests));
        server_stop(&the_bench.server);
        arena_destroy(&the_bench.arena);
    }
    reaper_finish();
    return failed;
}
