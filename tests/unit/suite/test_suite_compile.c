#include "base/text.h"
#include "suite_testing.h"

static const char *sql_of(const struct program *p, uint32_t op)
{
    return p->stmts[p->ops[op].stmt].sql;
}

static const struct prog_check *check_of(const struct program *p, uint32_t op, uint32_t index)
{
    assert_true(index < p->ops[op].check_count);
    return &p->checks[p->ops[op].check_first + index];
}

/* ---- loads: rows a statement and rows a commit */
struct load_row {
    const char *fields;
    uint32_t rows; /* of the table */
    uint64_t rows_per_statement, rows_per_commit;
    uint64_t executions[2]; /* of the stages; 0: no such stage */
    uint32_t ops[2];
};

static const struct load_row loads[] = {
    {"batch = 5, commit = 5",     20,   5,   5,   {4, 0}, {1, 0}},
    {"batch = 5, commit = 5",     22,   5,   5,   {4, 1}, {1, 1}},
    {"batch = 5, commit = 10",    20,   5,   10,  {2, 0}, {3, 0}}, /* BEGIN, 2 INSERT, COMMIT */
    {"batch = 5, commit = 12",    30,   5,   12,  {2, 1}, {4, 4}}, /* 5 5 2 | 5 1 */
    {"batch = 5, commit = 'all'", 22,   5,   22,  {1, 0}, {4, 0}},
    {"batch = 1, commit = 1",     3,    1,   1,   {3, 0}, {1, 0}},
    {"commit = 3",                9,    3,   3,   {3, 0}, {1, 0}},
    {"",                          7,    7,   7,   {1, 0}, {1, 0}},
    {"",                          1200, 500, 500, {2, 1}, {1, 1}},
};

static uint64_t rows_inserted(const struct program *p)
{
    uint64_t rows = 0;
    for (uint32_t s = 0; s < p->stage_count; s++) {
        for (uint32_t i = p->stages[s].first_op; i < p->stages[s].end_op; i++)
            rows += p->stages[s].executions * p->ops[i].rows * p->ops[i].repeat;
    }
    return rows;
}

static void loads_insert_every_row_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(loads); i++) {
        char source[300];
        text_print(source, sizeof(source),
                   "local t = table { 't', rows = %u, column { 'a', 'INT', row } }\n"
                   "return suite { 'x', load { 'l', t%s%s } }",
                   loads[i].rows, loads[i].fields[0] ? ", " : "", loads[i].fields);
        struct loaded l = load_ok(source);
        const struct suite_scenario *s = &l.suite.scenarios[0];
        struct program p = compiled(&l, 0, DIALECT_POSTGRES);
        assert_int_equal(s->rows_loaded, loads[i].rows);
        assert_int_equal(s->rows_per_statement, loads[i].rows_per_statement);
        assert_int_equal(s->rows_per_commit, loads[i].rows_per_commit);
        assert_int_equal(s->warmup, 0);
        assert_int_equal(rows_inserted(&p), loads[i].rows);
        assert_int_equal(p.stage_count, loads[i].executions[1] > 0 ? 2 : 1);
        for (uint32_t k = 0; k < p.stage_count; k++) {
            assert_int_equal(p.stages[k].executions, loads[i].executions[k]);
            assert_int_equal(p.stages[k].end_op - p.stages[k].first_op, loads[i].ops[k]);
        }
        assert_int_equal(s->after_count, 1);
        assert_string_equal(s->after[0].sql.text[DIALECT_MYSQL], "SELECT count(*) FROM t");
        assert_int_equal(s->after[0].value.as.i, loads[i].rows);
        unload(&l);
    }
}

static void statements_hold_30000_values(void **state)
{
    (void)state;
    struct loaded l = load_ok(
        "local t = table { 't', rows = 40000, column { 'a', 'INT', row }, column { 'b', 'INT', 1 } }\n"
        "return suite { 'x', load { 'l', t, batch = 20000 } }");
    struct program p = compiled(&l, 0, DIALECT_SQLITE);
    assert_int_equal(l.suite.scenarios[0].rows_per_statement, 15000);
    assert_int_equal(l.suite.scenarios[0].rows_per_commit, 20000);
    assert_int_equal(p.stages[0].executions, 2);
    assert_int_equal(p.ops[0].kind, PROG_BEGIN);
    assert_int_equal(p.ops[1].rows, 15000);
    assert_int_equal(p.ops[2].rows, 5000);
    assert_int_equal(p.values_max, 30000);
    unload(&l);
}

static void inserts_bind_the_columns(void **state)
{
    (void)state;
    struct loaded l = load_ok(
        "local t = table { 't', rows = 4, column { 'a', 'INT', row }, column { 'b', 'TEXT', format('n%d', row) } }\n"
        "return suite { 'x', create { 'c', t }, load { 'l', t, batch = 2 } }");
    struct program create = compiled(&l, 0, DIALECT_MARIADB);
    assert_string_equal(sql_of(&create, 0), "CREATE TABLE t (a INT, b TEXT)");
    assert_true(create.stmts[0].direct);
    struct program lite = compiled(&l, 1, DIALECT_SQLITE),
                   pg = compiled(&l, 1, DIALECT_POSTGRES);
    assert_string_equal(sql_of(&lite, 0), "INSERT INTO t (a, b) VALUES (?, ?), (?, ?)");
    assert_string_equal(sql_of(&pg, 0), "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)");
    assert_int_equal(check_of(&pg, 0, 0)->kind, PROG_CHECK_AFFECTED);
    assert_int_equal(check_of(&pg, 0, 0)->value.as.i, 2);
    assert_false(pg.binds[0].per_client);
    assert_true(pg.binds[1].stream == l.suite.tables[0].columns[1].stream);
    assert_true(pg.scratch_bytes > 0);
    unload(&l);
}

/* ---- statements */
static void binds_and_checks(void **state)
{
    (void)state;
    struct loaded l = load_ok(
        "local t = table { 't', rows = 100, column { 'a', 'INT', permute(row, 100) } }\n"
        "return suite { 'x', scenario { 's', sql = 'SELECT a, :k FROM t WHERE id = :id OR id = :k',\n"
        "  bind = { id = uniform(1, 100), k = 7 }, depth = 'walk', deadline = '4s',\n"
        "  expect = { rows = 1, values = { at(t, 'a', bound 'id'), 7 } } } }");
    struct program lite = compiled(&l, 0, DIALECT_SQLITE),
                   pg = compiled(&l, 0, DIALECT_POSTGRES);
    assert_int_equal(lite.ops[0].bind_count, 3);
    assert_int_equal(pg.ops[0].bind_count, 2);
    assert_string_equal(sql_of(&pg, 0), "SELECT a, $1 FROM t WHERE id = $2 OR id = $1");
    assert_true(lite.binds[0].tree == lite.binds[2].tree);
    assert_true(lite.binds[0].stream == lite.binds[2].stream && lite.binds[0].per_client);
    assert_true(lite.binds[1].stream != lite.binds[2].stream);
    assert_false(pg.ops[0].repeatable_bind);
    assert_int_equal(pg.ops[0].depth, PROG_WALK);
    assert_int_equal(pg.ops[0].deadline_ns, 4 * NS_PER_S);
    assert_int_equal(check_of(&pg, 0, 0)->kind, PROG_CHECK_ROWS);
    assert_true(check_of(&pg, 0, 2)->constant && check_of(&pg, 0, 2)->value.as.i == 7);
    assert_int_equal(check_of(&pg, 0, 2)->column, 1);
    /* The second place of PostgreSQL and of SQLite is `id`: the expected value of id = 42. */
    const struct prog_check *check = check_of(&pg, 0, 1);
    struct value bound[2] = {value_int(7), value_int(42)}, value, loaded_value;
    struct gen_ctx ctx = {.pool = pg.pool, .seed = pg.seed, .row = 1, .bound = bound};
    assert_false(check->constant);
    gen_eval(&ctx, check->expected, &value);
    ctx.stream = l.suite.tables[0].columns[0].stream;
    ctx.row = 42;
    gen_eval(&ctx, l.suite.tables[0].columns[0].tree, &loaded_value);
    assert_true(value_same(&value, &loaded_value));
    unload(&l);
}

static void any_is_not_checked(void **state)
{
    (void)state;
    struct loaded l = load_ok("return suite { 'x', scenario { 's', sql = 'SELECT 1, 2, 3',\n"
                              "  expect = { values = { any, 2, any } } } }");
    struct program p = compiled(&l, 0, DIALECT_SQLITE);
    assert_int_equal(p.ops[0].check_count, 1);
    assert_int_equal(check_of(&p, 0, 0)->kind, PROG_CHECK_VALUE);
    assert_int_equal(check_of(&p, 0, 0)->column, 1);
    assert_int_equal(check_of(&p, 0, 0)->value.as.i, 2);
    unload(&l);
}

static void dialects_have_their_own_text(void **state)
{
    (void)state;
    struct loaded l = load_ok(
        "return suite { 'x', scenario { 's', sql = { mariadb = 'M', default = 'D' },\n"
        "    unsupported = { postgres = 'because' } },\n"
        "  scenario { 'e', sql = { sqlite = 'E' }, expect = { error = { sqlite = '19' } } },\n"
        "  ping { 'p' } }");
    struct program p = compiled(&l, 0, DIALECT_SQLITE);
    assert_string_equal(sql_of(&p, 0), "D");
    p = compiled(&l, 0, DIALECT_MYSQL);
    assert_string_equal(sql_of(&p, 0), "M");
    p = compiled(&l, 1, DIALECT_SQLITE);
    assert_int_equal(check_of(&p, 0, 0)->kind, PROG_CHECK_ERROR);
    assert_memory_equal(check_of(&p, 0, 0)->value.as.text, "19", 2);
    static const struct {
        uint32_t index;
        enum dialect dialect;
        const char *why;
    } not_there[] = {
        {0, DIALECT_POSTGRES, "because"                      },
        {1, DIALECT_MARIADB,  "no SQL text for mariadb"      },
        {2, DIALECT_SQLITE,   "embedded: no protocol to ping"}
    };
    for (size_t i = 0; i < ARRAY_COUNT(not_there); i++) {
        assert_false(suite_compile(l.arena, &l.suite, &l.suite.scenarios[not_there[i].index],
                                   not_there[i].dialect, &p, &l.err));
        assert_int_equal(l.err.kind, ERR_NONE);
        assert_string_equal(l.err.text, not_there[i].why);
    }
    unload(&l);
}

/* ---- steps */
static void steps_become_operations(void **state)
{
    (void)state;
    static const enum prog_kind kinds[] = {PROG_BEGIN,      PROG_EXECUTE, PROG_EXECUTE,
                                           PROG_SET,        PROG_BRANCH,  PROG_SLEEP,
                                           PROG_BRANCH,     PROG_MARK,    PROG_ROLLBACK,
                                           PROG_PIPE_START, PROG_EXECUTE, PROG_PING,
                                           PROG_PIPE_END,   PROG_COMMIT};
    struct loaded l = load_ok(
        "local t = table { 't', rows = 4, column { 'a', 'INT', row } }\n"
        "return suite { 'x', scenario { 's', warmup = 0, samples = 1, statement_deadline = '3s', steps = {\n"
        "  begin { phase = 'begin', deadline = '1s' },\n"
        "  insert { t, times = 20, first = 201, rows = 2, phase = 'insert' },\n"
        "  execute { 'SELECT a FROM t WHERE a = :x', bind = { x = 1 }, save = { w = 2, v = 1 }, times = 3 },\n"
        "  assign { 'v', var 'v' + 1 },\n"
        "  when { is(var 'v', '>', 3), pause { '5ms' }, otherwise = { mark { 'm' }, rollback() } },\n"
        "  pipeline { execute { 'SELECT 1' }, ping { times = 2 } },\n"
        "  commit { phase = 'commit' } } } }");
    struct program p = compiled(&l, 0, DIALECT_POSTGRES);
    assert_int_equal(p.op_count, ARRAY_COUNT(kinds));
    for (uint32_t i = 0; i < p.op_count; i++)
        assert_int_equal(p.ops[i].kind, kinds[i]);
    assert_int_equal(p.first_row, 201);
    assert_int_equal(p.stages[0].rows_per_execution, 40);
    assert_int_equal(p.ops[1].rows, 2);
    assert_int_equal(p.ops[1].repeat, 20);
    assert_int_equal(p.ops[2].repeat, 3);
    assert_true(p.ops[2].repeatable_bind);
    assert_int_equal(p.var_count, 2);
    assert_int_equal(p.ops[2].save_count, 2);
    assert_string_equal(p.vars[p.saves[p.ops[2].save_first].var], "v");
    assert_int_equal(p.saves[p.ops[2].save_first].column, 0);
    assert_int_equal(p.ops[4].target, 7);
    assert_int_equal(p.ops[6].target, 9);
    assert_string_equal(p.phases[p.ops[7].phase], "m");
    assert_int_equal(p.ops[0].deadline_ns, NS_PER_S);
    assert_int_equal(p.ops[2].deadline_ns, 3 * NS_PER_S);
    assert_int_equal(p.phase_count, 4);
    struct value value;
    struct gen_ctx ctx = {.pool = p.pool, .seed = p.seed, .row = 1};
    gen_eval(&ctx, p.ops[5].expr, &value);
    assert_int_equal(value.as.i, 5 * NS_PER_MS);
    unload(&l);
}

static void scenario_fields(void **state)
{
    (void)state;
    struct loaded l = load_ok(
        "local t = table { 't', rows = 4, column { 'a', 'INT', row } }\n"
        "return suite { 'x', summary = 'sum', scenario { 's', sql = 'SELECT 1', help = 'h', clients = { 1, 8 },\n"
        "  per_client = 100, warmup = 2, equal = 'rows', expect = { affected = 3, growth = { t, -2 } },\n"
        "  after = { query { 'q q', sql = 'SELECT 2', value = 'two', rows = 1 } } },\n"
        "  scenario { 'd', sql = 'SELECT 1', duration = 0.5 },\n"
        "  relation { 'r 1', a = { 's', clients = 8 }, b = { 's', clients = 1 }, metric = 'throughput_per_s' } }");
    const struct suite_scenario *s = &l.suite.scenarios[0];
    assert_string_equal(l.suite.summary, "sum");
    assert_string_equal(s->where, "t.lua:2");
    assert_true(s->client_count == 2 && s->clients[1] == 8 && s->clients_named);
    assert_true(s->samples == 100 && s->warmup == 2 && s->equal == SUITE_EQUAL_ROWS);
    assert_true(s->growth == -2 && strcmp(s->growth_table, "t") == 0);
    assert_true(s->after_count == 1 && s->after[0].has_rows && s->after[0].has_value);
    assert_int_equal(s->deadline_ns, 300 * NS_PER_S);
    const struct suite_scenario *d = &l.suite.scenarios[1];
    assert_true(d->samples == 0 && d->duration_ns == NS_PER_S / 2 && !d->clients_named);
    assert_int_equal(d->deadline_ns, 300 * NS_PER_S + NS_PER_S / 2); /* beside the duration */
    const struct suite_relation *r = &l.suite.relations[0];
    assert_true(r->a_clients == 8 && r->b_clients == 1 && strcmp(r->stat, "value") == 0);
    unload(&l);
}

static void open_loops(void **state)
{
    (void)state;
    struct loaded l =
        load_ok("return suite { 'x', ping { 'a', rate = 0.5, warmup = '2s' },\n"
                "  ping { 'b', rate = 1000, arrivals = 'fixed', samples = 30, clients = 4 },\n"
                "  ping { 'c', rate = 1 / 3600, duration = '24h', warmup = 0 } }");
    const struct suite_scenario *s = l.suite.scenarios;
    assert_true(s[0].rate_per_s == 0.5 && s[0].arrivals == SUITE_POISSON);
    assert_true(s[0].duration_ns == 10 * NS_PER_S && s[0].samples == 0);
    assert_true(s[0].warmup_ns == 2 * NS_PER_S && s[0].warmup == 0);
    assert_int_equal(s[0].deadline_ns, 312 * NS_PER_S);
    assert_true(s[1].rate_per_s == 1000 && s[1].arrivals == SUITE_FIXED);
    assert_true(s[1].duration_ns == 0 && s[1].samples == 30 && s[1].warmup == 1);
    assert_true(s[2].warmup_ns == 0 && s[2].warmup == 0);
    unload(&l);
}

/* ---- the built-in suites, quick and full, on every dialect */
static void load_builtin(const char *name, bool quick)
{
    struct loaded l = {.arena = arena_create(1 << 16)};
    struct suite_options options = {.name = name, .quick = quick, .seed = 42};
    uint32_t compiled_count = 0;
    l.done = suite_load(l.arena, &options, &l.suite, &l.faults, &l.err);
    for (uint32_t i = 0; i < l.faults.count; i++)
        print_error("%s\n", l.faults.texts[i]);
    assert_true(l.done);
    assert_string_equal(l.suite.path, "built-in");
    for (uint32_t i = 0; i < l.suite.scenario_count; i++) {
        for (unsigned d = 0; d < DIALECT_COUNT; d++) {
            struct program program;
            bool done = suite_compile(l.arena, &l.suite, &l.suite.scenarios[i], (enum dialect)d,
                                      &program, &l.err);
            assert_true(done || (l.err.kind == ERR_NONE && l.err.text[0] != '\0'));
            assert_true(!done || program_verify(&program, &l.err));
            compiled_count += done;
        }
    }
    assert_true(compiled_count >= 3 * l.suite.scenario_count);
    unload(&l);
}

static void builtins_compile_everywhere(void **state)
{
    (void)state;
    assert_true(suite_builtin_count >= 2);
    for (uint32_t i = 0; i < suite_builtin_count; i++) {
        assert_int_equal(strlen(suite_builtins[i].source), suite_builtins[i].bytes);
        load_builtin(suite_builtins[i].name, false);
        load_builtin(suite_builtins[i].name, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_insert_every_row_once),
        cmocka_unit_test(statements_hold_30000_values),
        cmocka_unit_test(inserts_bind_the_columns),
        cmocka_unit_test(binds_and_checks),
        cmocka_unit_test(any_is_not_checked),
        cmocka_unit_test(dialects_have_their_own_text),
        cmocka_unit_test(steps_become_operations),
        cmocka_unit_test(scenario_fields),
        cmocka_unit_test(open_loops),
        cmocka_unit_test(builtins_compile_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
