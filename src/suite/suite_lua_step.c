#include "base/text.h"
#include "suite/suite_figure_internal.h"
#include "suite/suite_lua_internal.h"

#include <string.h>

enum { TIMES_MAX = 1000000 };

static void push_step(lua_State *lua, struct suite_step *step)
{
    suite_box_push(lua, SUITE_BOX_STEP, step);
}

struct suite_step *suite_step_new(struct suite_spec *spec, enum prog_kind kind)
{
    struct suite_step *step = arena_new(spec->ld->arena, struct suite_step);
    int64_t times = 1;
    step->kind = kind;
    step->where = spec->where;
    step->depth = PROG_DECODE;
    step->total = 1;
    step->level = 1;
    suite_spec_whole(spec, "times", 1, TIMES_MAX, &times);
    step->times = (uint32_t)times;
    step->phase = suite_spec_text(spec, "phase");
    if (step->phase && !suite_is_name(step->phase)) {
        suite_spec_fault(spec, "phase: expected a name, got '%.40s'", step->phase);
        step->phase = NULL;
    }
    suite_spec_duration(spec, "deadline", &step->deadline_ns);
    return step;
}

/* ---- a statement */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct suite_bind *)a)->name, ((const struct suite_bind *)b)->name);
}

static size_t count_fields(lua_State *lua, int index)
{
    size_t count = 0;
    for (lua_pushnil(lua); lua_next(lua, index); lua_pop(lua, 1))
        count++;
    return count;
}

static struct suite_bind *read_binds(struct suite_spec *spec, uint32_t *count)
{
    lua_State *lua = spec->lua;
    struct suite_spec inner;
    *count = 0;
    if (!suite_spec_enter(spec, "bind", NULL, 0, &inner))
        return NULL;
    size_t room = count_fields(lua, inner.index);
    if (room > SUITE_BINDS_MAX)
        luaL_error(lua, "bind: more than %d parameters", SUITE_BINDS_MAX);
    struct suite_bind *binds = arena_array(spec->ld->arena, struct suite_bind, room);
    lua_pushnil(lua);
    while (lua_next(lua, inner.index)) {
        const char *name = suite_lua_text(lua, -2);
        struct suite_expr *expr = suite_lua_expr(lua, -1);
        if (!name || !suite_is_identifier(name))
            suite_spec_fault(spec, "bind: expected names, as bind = { id = 1 }");
        else if (!expr)
            suite_spec_fault(spec,
                             "bind: %s: expected a generator, number, text or boolean, got %s",
                             name, suite_lua_describe(lua, -1));
        else
            binds[(*count)++] = (struct suite_bind){name, expr, false};
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    if (*count > 1)
        qsort(binds, *count, sizeof(*binds), by_name);
    return binds;
}

static struct suite_expr *expected(struct suite_spec *spec, const char *key)
{
    struct suite_expr *expr = suite_spec_expr(spec, key);
    if (!expr || !(expr->uses & (SUITE_USE_DRAW | SUITE_USE_COLUMN)))
        return expr;
    suite_spec_fault(spec, "expect: a right answer draws nothing: use bound \"name\" and at()");
    return NULL;
}

static bool is_any(struct suite_spec *spec, const char *key)
{
    if (!suite_spec_push(spec, key))
        return false;
    bool any = suite_box_get(spec->lua, -1, SUITE_BOX_ANY);
    lua_pop(spec->lua, 1);
    return any;
}

static void expect_values(struct suite_spec *spec, struct suite_expect *expect)
{
    struct suite_spec inner;
    if (suite_spec_has(spec, "value")) {
        expect->values = arena_new(spec->ld->arena, struct suite_expr *);
        expect->values[0] = expected(spec, "value");
        expect->value_count = expect->values[0] ? 1 : 0;
        if (suite_spec_has(spec, "values"))
            suite_spec_fault(spec, "expect has value and values");
        return;
    }
    if (!suite_spec_enter(spec, "values", (const char *const[]){NULL}, SUITE_COLUMNS_MAX,
                          &inner))
        return;
    lua_Integer count = (lua_Integer)lua_rawlen(spec->lua, inner.index);
    if (count > SUITE_COLUMNS_MAX)
        count = SUITE_COLUMNS_MAX;
    expect->values = arena_array(spec->ld->arena, struct suite_expr *, (size_t)count);
    bool looked_at = count == 0;
    for (lua_Integer i = 1; i <= count; i++) {
        char key[24];
        text_print(key, sizeof(key), "%lld", (long long)i);
        bool any = is_any(&inner, key);
        struct suite_expr *expr = any ? NULL : expected(&inner, key);
        if (expr || any)
            expect->values[expect->value_count++] = expr;
        looked_at |= !any;
    }
    if (!looked_at)
        suite_spec_fault(spec, "values: expected one at least that is not any");
    lua_pop(spec->lua, 1);
}

/* The whole answer, its number of rows included. */
static void expect_answer(struct suite_spec *spec, struct suite_expect *expect,
                          struct suite_scenario *scenario)
{
    if (!suite_spec_has(spec, "answer"))
        return;
    const struct suite_answer *answer = suite_spec_box(spec, "answer", SUITE_BOX_ANSWER);
    if (suite_spec_has(spec, "rows"))
        suite_spec_fault(spec, "expect has answer and rows: an answer knows its rows");
    if (!answer)
        return;
    struct value rows = value_int((int64_t)answer->rows);
    expect->rows = suite_expr_const(spec->ld, &rows);
    scenario->has_answer = true;
    scenario->answer = answer->checksum;
}

static void expect_growth(struct suite_spec *spec, struct suite_scenario *scenario)
{
    struct suite_spec inner;
    int64_t growth = 0;
    if (!suite_spec_enter(spec, "growth", (const char *const[]){NULL}, 2, &inner))
        return;
    const struct suite_table_def *table = suite_spec_box(&inner, "1", SUITE_BOX_TABLE);
    if (!suite_spec_whole(&inner, "2", -(int64_t)SUITE_ROWS_MAX, (int64_t)SUITE_ROWS_MAX,
                          &growth) &&
        !suite_spec_has(&inner, "2"))
        suite_spec_fault(spec, "growth: expected { table, rows }");
    if (table) {
        scenario->growth_table = table->table.name;
        scenario->growth = growth;
    }
    lua_pop(spec->lua, 1);
}

void suite_step_expect(struct suite_spec *spec, struct suite_expect *expect,
                       struct suite_scenario *scenario)
{
    static const char *const fields[] = {"rows",  "value",  "values", "affected",
                                         "error", "growth", "answer", NULL};
    static const char *const of_statements[] = {"rows",     "value", "values",
                                                "affected", "error", NULL};
    struct suite_spec inner;
    if (!suite_spec_enter(spec, "expect", scenario ? fields : of_statements, 0, &inner))
        return;
    expect->rows = expected(&inner, "rows");
    expect->affected = expected(&inner, "affected");
    expect_values(&inner, expect);
    if (scenario)
        expect_answer(&inner, expect, scenario);
    expect->has_error = suite_spec_dialects(&inner, "error", expect->error);
    if (expect->has_error && (expect->rows || expect->affected || expect->value_count > 0))
        suite_spec_fault(spec,
                         "expect: a statement that fails has no rows, values or affected");
    if (scenario)
        expect_growth(&inner, scenario);
    lua_pop(spec->lua, 1);
}

static void insert_save(struct suite_save *saves, uint32_t count, struct suite_save save)
{
    uint32_t at = count;
    for (; at > 0 && strcmp(saves[at - 1].name, save.name) > 0; at--)
        saves[at] = saves[at - 1];
    saves[at] = save;
}

/* save = { name = column number }, kept in order of the names. */
static void read_saves(struct suite_spec *spec, struct suite_step *step)
{
    lua_State *lua = spec->lua;
    struct suite_spec inner;
    if (!suite_spec_enter(spec, "save", NULL, 0, &inner))
        return;
    struct suite_save *saves = arena_array(spec->ld->arena, struct suite_save, PROG_VARS_MAX);
    lua_pushnil(lua);
    while (lua_next(lua, inner.index)) {
        const char *name = suite_lua_text(lua, -2);
        int64_t column = 0;
        if (!name || !suite_is_identifier(name) || !suite_lua_whole(lua, -1, &column) ||
            column < 1 || column > SUITE_COLUMNS_MAX)
            suite_spec_fault(spec, "save: expected { name = column number from 1 }");
        else if (step->save_count == PROG_VARS_MAX)
            suite_spec_fault(spec, "save: more than %d variables", PROG_VARS_MAX);
        else
            insert_save(saves, step->save_count++,
                        (struct suite_save){name, (uint16_t)(column - 1)});
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    step->saves = saves;
}

void suite_step_statement(struct suite_spec *spec, struct suite_step *step)
{
    static const char *const depths[] = {"drain", "walk", "decode", NULL};
    unsigned depth = PROG_DECODE;
    suite_spec_choice(spec, "depth", depths, &depth);
    step->depth = (enum prog_depth)depth;
    suite_spec_flag(spec, "direct", &step->direct);
    step->binds = read_binds(spec, &step->bind_count);
    if (step->direct && step->bind_count > 0)
        suite_spec_fault(spec, "a direct statement has no bind");
    read_saves(spec, step);
}

static int new_execute(lua_State *lua)
{
    static const char *const fields[] = {"sql",   "bind",   "expect",   "save",  "phase",
                                         "times", "direct", "deadline", "depth", NULL};
    struct suite_spec spec = suite_spec_open(lua, "execute", fields, 1);
    struct suite_step *step = suite_step_new(&spec, PROG_EXECUTE);
    spec.name = NULL;
    const char *key = suite_spec_has(&spec, "sql") ? "sql" : "1";
    step->name = step->phase ? step->phase : "execute";
    if (!suite_spec_dialects(&spec, key, step->sql.text))
        suite_spec_fault(&spec, "expected sql = text");
    else if (key[0] == 's' && suite_spec_has(&spec, "1"))
        suite_spec_fault(&spec, "SQL is given twice");
    suite_step_statement(&spec, step);
    suite_step_expect(&spec, &step->expect, NULL);
    push_step(lua, step);
    return 1;
}

static int new_insert(lua_State *lua)
{
    static const char *const fields[] = {"rows", "times", "first", "phase", "deadline", NULL};
    struct suite_spec spec = suite_spec_open(lua, "insert", fields, 1);
    struct suite_step *step = suite_step_new(&spec, PROG_EXECUTE);
    int64_t rows = 1, first = 0;
    step->table = suite_spec_box(&spec, "1", SUITE_BOX_TABLE);
    suite_spec_whole(&spec, "rows", 1, SUITE_VALUES_MAX, &rows);
    suite_spec_whole(&spec, "first", 1, INT64_MAX / 2, &first);
    step->rows = (uint32_t)rows;
    step->first = (uint64_t)first;
    if (!step->table)
        step->kind = PROG_BEGIN; /* something that compiles */
    else if (rows * step->table->table.column_count > SUITE_VALUES_MAX) {
        suite_spec_fault(&spec,
                         "%lld rows of %u columns are more than %d values in a statement",
                         (long long)rows, step->table->table.column_count, SUITE_VALUES_MAX);
        step->rows = 1;
    }
    push_step(lua, step);
    return 1;
}

/* begin { }, also begin() */
static int new_plain(lua_State *lua, const char *what, enum prog_kind kind)
{
    static const char *const fields[] = {"phase", "deadline", NULL};
    if (lua_gettop(lua) == 0)
        lua_newtable(lua);
    struct suite_spec spec = suite_spec_open(lua, what, fields, 0);
    push_step(lua, suite_step_new(&spec, kind));
    return 1;
}

static int new_begin(lua_State *lua)
{
    return new_plain(lua, "begin", PROG_BEGIN);
}

static int new_commit(lua_State *lua)
{
    return new_plain(lua, "commit", PROG_COMMIT);
}

static int new_rollback(lua_State *lua)
{
    return new_plain(lua, "rollback", PROG_ROLLBACK);
}

static int new_ping(lua_State *lua)
{
    static const char *const fields[] = {"phase", "times", "deadline", NULL};
    if (lua_gettop(lua) == 0)
        lua_newtable(lua);
    if (lua_type(lua, 1) == LUA_TTABLE) {
        bool named = lua_rawgeti(lua, 1, 1) != LUA_TNIL;
        lua_pop(lua, 1);
        if (named)
            return suite_lua_ping_scenario(lua);
    }
    struct suite_spec spec = suite_spec_open(lua, "ping", fields, 0);
    push_step(lua, suite_step_new(&spec, PROG_PING));
    return 1;
}

/* An expression of a step: not NULL. */
static struct suite_expr *step_expr(struct suite_spec *spec, const char *key)
{
    struct suite_expr *expr = suite_spec_expr(spec, key);
    if (expr)
        return expr;
    if (!suite_spec_has(spec, key))
        suite_spec_fault(spec, "element %s: expected a generator or value", key);
    struct value one = value_int(1);
    return suite_expr_const(spec->ld, &one);
}

static int new_assign(lua_State *lua)
{
    static const char *const fields[] = {NULL};
    struct suite_spec spec = suite_spec_open(lua, "assign", fields, 2);
    struct suite_step *step = suite_step_new(&spec, PROG_SET);
    step->var = suite_spec_name(&spec);
    if (!suite_is_identifier(step->var))
        suite_spec_fault(&spec,
                         "a variable's name is a letter or _ and then letters, digits, _");
    step->expr = step_expr(&spec, "2");
    push_step(lua, step);
    return 1;
}

static int new_pause(lua_State *lua)
{
    static const char *const fields[] = {NULL};
    struct suite_spec spec = suite_spec_open(lua, "pause", fields, 1);
    struct suite_step *step = suite_step_new(&spec, PROG_SLEEP);
    spec.name = NULL;
    uint64_t ns = NS_PER_MS;
    lua_rawgeti(lua, spec.index, 1);
    if (suite_box_get(lua, -1, SUITE_BOX_EXPR)) {
        step->expr = step_expr(&spec, "1");
    } else {
        if (!suite_spec_duration(&spec, "1", &ns) && !suite_spec_has(&spec, "1"))
            suite_spec_fault(&spec, "expected a duration, pause { \"5ms\" }");
        struct value value = value_int((int64_t)ns);
        step->expr = suite_expr_const(spec.ld, &value);
    }
    push_step(lua, step);
    return 1;
}

static int new_mark(lua_State *lua)
{
    static const char *const fields[] = {NULL};
    struct suite_spec spec = suite_spec_open(lua, "mark", fields, 1);
    struct suite_step *step = suite_step_new(&spec, PROG_MARK);
    step->phase = suite_spec_name(&spec);
    push_step(lua, step);
    return 1;
}

/* ---- steps within steps */
struct suite_step *const *suite_step_list(struct suite_spec *spec, lua_Integer first,
                                          uint32_t *count)
{
    void **items = suite_spec_boxes(spec, first, SUITE_BOX_STEP, count);
    struct suite_step **steps = arena_array(spec->ld->arena, struct suite_step *, *count);
    for (uint32_t i = 0; i < *count; i++)
        steps[i] = items[i];
    return steps;
}

static void add_totals(struct suite_spec *spec, struct suite_step *step,
                       struct suite_step *const *steps, uint32_t count)
{
    uint64_t total = step->total;
    for (uint32_t i = 0; i < count; i++) {
        total += steps[i]->total;
        if (steps[i]->level >= step->level)
            step->level = steps[i]->level + 1;
    }
    step->total = total > SUITE_STEPS_MAX ? SUITE_STEPS_MAX + 1 : (uint32_t)total;
    if (step->level > SUITE_NEST_MAX || step->total > SUITE_STEPS_MAX) {
        suite_spec_fault(spec, "more than %d steps, or more than %d levels", SUITE_STEPS_MAX,
                         SUITE_NEST_MAX);
        step->body_count = step->other_count = 0;
        step->level = step->total = 1;
    }
}

static int new_when(lua_State *lua)
{
    static const char *const fields[] = {"otherwise", NULL};
    struct suite_spec spec = suite_spec_open(lua, "when", fields, SUITE_STEPS_MAX);
    struct suite_step *step = suite_step_new(&spec, PROG_BRANCH);
    struct suite_spec inner;
    spec.name = NULL;
    step->expr = step_expr(&spec, "1");
    lua_pushvalue(lua, spec.index);
    step->body = suite_step_list(&spec, 2, &step->body_count);
    lua_pop(lua, 1);
    if (suite_spec_enter(&spec, "otherwise", NULL, 0, &inner)) {
        step->other = suite_step_list(&spec, 1, &step->other_count);
        lua_pop(lua, 1);
    }
    add_totals(&spec, step, step->body, step->body_count);
    add_totals(&spec, step, step->other, step->other_count);
    push_step(lua, step);
    return 1;
}

static bool is_piped(const struct suite_step *step)
{
    return step->kind == PROG_EXECUTE || step->kind == PROG_PING || step->kind == PROG_BEGIN ||
           step->kind == PROG_COMMIT || step->kind == PROG_ROLLBACK;
}

static int new_pipeline(lua_State *lua)
{
    static const char *const fields[] = {NULL};
    struct suite_spec spec = suite_spec_open(lua, "pipeline", fields, SUITE_STEPS_MAX);
    struct suite_step *step = suite_step_new(&spec, PROG_PIPE_START);
    lua_pushvalue(lua, spec.index);
    step->body = suite_step_list(&spec, 1, &step->body_count);
    for (uint32_t i = 0; i < step->body_count; i++) {
        if (!is_piped(step->body[i])) {
            suite_spec_fault(&spec, "a pipeline holds execute, insert, ping, begin, commit and "
                                    "rollback only");
            step->body_count = 0;
        }
    }
    add_totals(&spec, step, step->body, step->body_count);
    push_step(lua, step);
    return 1;
}

void suite_lua_steps(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"execute",  new_execute },
        {"insert",   new_insert  },
        {"begin",    new_begin   },
        {"commit",   new_commit  },
        {"rollback", new_rollback},
        {"ping",     new_ping    },
        {"assign",   new_assign  },
        {"pause",    new_pause   },
        {"mark",     new_mark    },
        {"when",     new_when    },
        {"pipeline", new_pipeline},
        {NULL,       NULL        },
    };
    lua_pushglobaltable(lua);
    luaL_setfuncs(lua, functions, 0);
    lua_pop(lua, 1);
    suite_box_push(lua, SUITE_BOX_ANY, suite_loader(lua));
    lua_setglobal(lua, "any");
}
