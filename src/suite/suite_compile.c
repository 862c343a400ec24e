#include "base/text.h"
#include "suite/suite_build_internal.h"

#include <assert.h>
#include <string.h>

/* ---- SQL text: compiled once a step for every dialect */
static bool is_shared(const struct suite_sql *sql)
{
    for (unsigned i = 1; i < DIALECT_COUNT; i++) {
        if (sql->text[i] != sql->text[0])
            return false;
    }
    return true;
}

static void sql_fault(struct suite_build *b, const struct suite_step *step, const char *why)
{
    const char *place = is_shared(&step->sql) ? "" : dialect_name(b->dialect);
    suite_build_fault(b, &step->where,
                      arena_printf(b->ld->arena, "SQL%s%s: %s", *place ? " for " : "", place,
                                   why));
}

static struct suite_bind *find_bind(const struct suite_step *step, const char *name)
{
    uint32_t low = 0, high = step->bind_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(name, step->binds[middle].name);
        if (order == 0)
            return &step->binds[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static void compile_sql(struct suite_build *b, struct suite_step *step)
{
    struct sqltext out;
    struct err err = {0};
    const char *text = step->sql.text[b->dialect];
    if (!sqltext_compile(b->ld->arena, text, b->dialect, &out, &err)) {
        sql_fault(b, step, err.text);
        return;
    }
    if (step->direct && out.param_count > 0)
        sql_fault(b, step, "a direct statement has no parameters");
    for (uint32_t i = 0; i < out.param_count && !step->direct; i++) {
        struct suite_bind *bind = find_bind(step, out.params[i]);
        if (bind) {
            bind->used = true;
        } else {
            sql_fault(b, step, arena_printf(b->ld->arena, ":%s has no bind", out.params[i]));
            return;
        }
    }
    struct sqltext *kept = arena_new(b->ld->arena, struct sqltext);
    *kept = out;
    step->compiled[b->dialect] = kept;
}

/* A bind has to be named in the text of one dialect at least. */
static void check_unused(struct suite_build *b, const struct suite_step *step)
{
    for (uint32_t i = 0; i < step->bind_count; i++) {
        if (!step->binds[i].used)
            suite_build_fault(b, &step->where,
                              arena_printf(b->ld->arena, "bind '%s' is not named in the SQL",
                                           step->binds[i].name));
    }
}

static bool is_unsupported(const struct suite_scenario_def *def, unsigned dialect)
{
    return def->s.unsupported && def->s.unsupported[dialect];
}

static void prepare_step(struct suite_build *b, struct suite_step *step);

static void prepare_steps(struct suite_build *b, struct suite_step *const *steps,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        prepare_step(b, steps[i]);
}

static void prepare_step(struct suite_build *b, struct suite_step *step)
{
    prepare_steps(b, step->body, step->body_count);
    prepare_steps(b, step->other, step->other_count);
    if (step->kind != PROG_EXECUTE || step->table)
        return;
    bool failed = false, tried = false;
    for (unsigned d = 0; d < DIALECT_COUNT; d++) {
        if (is_unsupported(b->def, d) || !step->sql.text[d])
            continue;
        b->dialect = (enum dialect)d;
        tried = true;
        if (!step->compiled[d] && !suite_over_limits(b->ld))
            compile_sql(b, step);
        failed |= !step->compiled[d];
    }
    if (tried && !failed)
        check_unused(b, step);
}

/* ---- variables */
struct vars {
    const char **names;
    uint32_t count;
};

static void add_var(struct suite_build *b, struct vars *vars, const struct suite_step *step,
                    const char *name)
{
    for (uint32_t i = 0; i < vars->count; i++) {
        if (strcmp(vars->names[i], name) == 0)
            return;
    }
    if (vars->count == PROG_VARS_MAX)
        suite_build_fault(b, &step->where, "more than 64 variables");
    else
        vars->names[vars->count++] = name;
}

static void collect_vars(struct suite_build *b, struct vars *vars,
                         struct suite_step *const *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct suite_step *step = steps[i];
        if (step->kind == PROG_SET)
            add_var(b, vars, step, step->var);
        for (uint32_t s = 0; s < step->save_count; s++)
            add_var(b, vars, step, step->saves[s].name);
        collect_vars(b, vars, step->body, step->body_count);
        collect_vars(b, vars, step->other, step->other_count);
    }
}

static uint16_t var_index(const struct suite_build *b, const char *name)
{
    for (uint32_t i = 0; i < b->scope.var_count; i++) {
        if (strcmp(b->scope.vars[i], name) == 0)
            return (uint16_t)i;
    }
    return 0; /* beyond the limit, which is a fault already */
}

/* ---- operations */
static gen_id lower(struct suite_build *b, const struct suite_step *step,
                    struct suite_expr *expr, const struct suite_scope *scope)
{
    const char *why = NULL;
    gen_id id = suite_expr_lower(b->ld, expr, scope, &why);
    if (id == GEN_NONE)
        suite_build_fault(b, &step->where, why);
    return id;
}

static void add_check(struct suite_build *b, const struct suite_step *step,
                      const struct suite_scope *scope, struct prog_check check,
                      struct suite_expr *expr)
{
    check.expected = lower(b, step, expr, scope);
    if (check.expected == GEN_NONE)
        return;
    check.constant = gen_is_constant(b->ld->pool, check.expected);
    if (check.constant)
        check.value = suite_tree_value(b->ld, check.expected, 0, 1);
    suite_build_check(b, &check);
}

static void add_error_check(struct suite_build *b, const char *code)
{
    if (!code) {
        b->reason =
            arena_printf(b->ld->arena, "no expected error for %s", dialect_name(b->dialect));
        return;
    }
    suite_build_check(b,
                      &(struct prog_check){.kind = PROG_CHECK_ERROR,
                                           .expected = GEN_NONE,
                                           .constant = true,
                                           .value = value_text(code, (uint32_t)strlen(code))});
}

static void add_checks(struct suite_build *b, const struct suite_step *step)
{
    const struct suite_expect *expect = &step->expect;
    const struct sqltext *sql = step->compiled[b->dialect];
    struct suite_scope scope = b->scope;
    struct prog_check check = {.kind = PROG_CHECK_ROWS};
    scope.pass = ++b->ld->pass;
    scope.bound = sql->params;
    scope.bound_count = sql->param_count;
    if (expect->rows)
        add_check(b, step, &scope, check, expect->rows);
    check.kind = PROG_CHECK_AFFECTED;
    if (expect->affected)
        add_check(b, step, &scope, check, expect->affected);
    check.kind = PROG_CHECK_VALUE;
    for (; check.column < expect->value_count; check.column++) {
        if (expect->values[check.column])
            add_check(b, step, &scope, check, expect->values[check.column]);
    }
    if (expect->has_error)
        add_error_check(b, expect->error[b->dialect]);
}

static void add_binds(struct suite_build *b, const struct suite_step *step,
                      const struct sqltext *sql)
{
    uint32_t number = b->p.op_count;
    for (uint32_t i = 0; i < sql->param_count; i++) {
        const struct suite_bind *bind = find_bind(step, sql->params[i]);
        assert(bind); /* a parameter without one was a fault when the SQL was compiled */
        struct prog_bind made = {.per_client = true};
        made.stream = gen_stream(b->def->s.name, bind->name, number);
        made.tree = lower(b, step, bind->expr, &b->scope);
        if (made.tree == GEN_NONE)
            return;
        suite_build_bind(b, &made);
    }
}

static void build_execute(struct suite_build *b, const struct suite_step *step)
{
    const struct sqltext *sql = step->compiled[b->dialect];
    if (!step->sql.text[b->dialect]) {
        b->reason = arena_printf(b->ld->arena, "no SQL text for %s", dialect_name(b->dialect));
        return;
    }
    if (!sql)
        return; /* a fault already */
    struct prog_op *op = suite_build_op(b, PROG_EXECUTE);
    op->stmt = suite_build_stmt(b, &(struct prog_stmt){.name = step->name,
                                                       .sql = sql->sql,
                                                       .param_count = sql->param_count,
                                                       .direct = step->direct});
    op->depth = step->depth;
    op->repeat = step->times;
    add_binds(b, step, sql);
    add_checks(b, step);
    for (uint32_t i = 0; i < step->save_count; i++)
        suite_build_save(b, &(struct prog_save){.column = step->saves[i].column,
                                                .var = var_index(b, step->saves[i].name)});
}

static void build_step(struct suite_build *b, const struct suite_step *step);

static void build_steps(struct suite_build *b, struct suite_step *const *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count && !b->reason; i++)
        build_step(b, steps[i]);
}

static void build_when(struct suite_build *b, const struct suite_step *step)
{
    uint32_t test = b->p.op_count;

    suite_build_op(b, PROG_BRANCH)->expr = lower(b, step, step->expr, &b->scope);
    build_steps(b, step->body, step->body_count);
    if (step->other_count > 0) {
        uint32_t leave = b->p.op_count;

        struct value zero = value_int(0);
        suite_build_op(b, PROG_BRANCH)->expr = gen_const(b->ld->pool, &zero);
        b->ops[test].target = b->p.op_count;
        build_steps(b, step->other, step->other_count);
        b->ops[leave].target = b->p.op_count;
    } else {
        b->ops[test].target = b->p.op_count;
    }
}

static void build_pipeline(struct suite_build *b, const struct suite_step *step)
{
    suite_build_op(b, PROG_PIPE_START);
    build_steps(b, step->body, step->body_count);
    suite_build_op(b, PROG_PIPE_END);
}

static void build_insert(struct suite_build *b, const struct suite_step *step)
{
    struct prog_op *op = suite_build_insert(b, step->table, step->rows, &step->where);
    op->repeat = step->times;
    if (step->first > 0 && b->has_first)
        suite_build_fault(b, &step->where,
                          "the inserts of a scenario share one row number: first "
                          "is given once");
    if (step->first > 0) {
        b->first_row = step->first;
        b->has_first = true;
    }
}

static void build_kind(struct suite_build *b, const struct suite_step *step)
{
    switch (step->kind) {
    case PROG_EXECUTE:
        if (step->table)
            build_insert(b, step);
        else
            build_execute(b, step);
        break;
    case PROG_SET: {
        struct prog_op *op = suite_build_op(b, PROG_SET);
        op->var = var_index(b, step->var);
        op->expr = lower(b, step, step->expr, &b->scope);
        break;
    }
    case PROG_SLEEP:
        suite_build_op(b, PROG_SLEEP)->expr = lower(b, step, step->expr, &b->scope);
        break;
    case PROG_BRANCH: build_when(b, step); break;
    case PROG_PIPE_START: build_pipeline(b, step); break;
    case PROG_PING: suite_build_op(b, PROG_PING)->repeat = step->times; break;
    case PROG_BEGIN:
    case PROG_COMMIT:
    case PROG_ROLLBACK:
    case PROG_MARK: suite_build_op(b, step->kind); break;
    case PROG_PIPE_END: assert(false); break; /* made by PIPE_START */
    }
}

static void build_step(struct suite_build *b, const struct suite_step *step)
{
    uint32_t first = b->p.op_count;
    if (suite_over_limits(b->ld)) {
        suite_build_fault(b, &step->where, "the suite is too large");
        return;
    }
    build_kind(b, step);
    if (b->p.op_count == first || step->kind == PROG_BRANCH || step->kind == PROG_PIPE_START)
        return;
    struct prog_op *op = &b->ops[first];
    op->phase = suite_build_phase(b, &step->where, step->phase);
    if (step->deadline_ns > 0)
        op->deadline_ns = step->deadline_ns;
    if (op->expr != GEN_NONE) {
        uint32_t bytes = gen_scratch_bytes(b->ld->pool, op->expr);
        if (bytes > b->check_scratch)
            b->check_scratch = bytes;
    }
}

/* ---- scenarios */
static void build_create(struct suite_build *b)
{
    const struct suite_table *table = &b->def->source.table->table;
    struct text sql;
    text_init(&sql, b->ld->arena, SQLTEXT_BYTES_MAX);
    text_addf(&sql, "CREATE TABLE %s (", table->name);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const char *type = table->columns[i].type[b->dialect];
        if (!type) {
            b->reason = arena_printf(b->ld->arena, "column '%s' has no type for %s",
                                     table->columns[i].name, dialect_name(b->dialect));
            return;
        }
        text_addf(&sql, "%s%s %s", i > 0 ? ", " : "", table->columns[i].name, type);
    }
    text_add_char(&sql, ')');
    if (sql.cut)
        suite_build_fault(b, &b->def->where, "the CREATE TABLE has more than 1 MiB");
    struct prog_op *op = suite_build_op(b, PROG_EXECUTE);
    op->stmt = suite_build_stmt(b, &(struct prog_stmt){.name = b->def->s.name,
                                                       .sql = sql.at,
                                                       .direct = true});
    suite_build_stage(b, 0, 0);
}

/* The statements of one commit. */
static void build_commit(struct suite_build *b, uint64_t rows, uint64_t executions)
{
    const struct suite_source *source = &b->def->source;
    uint32_t first_op = b->p.op_count;
    bool wrapped = source->commit != source->batch;
    uint64_t full = rows / source->batch, rest = rows % source->batch;
    if (wrapped)
        suite_build_op(b, PROG_BEGIN);
    if (full > 0)
        suite_build_insert(b, source->table, (uint32_t)source->batch, &b->def->where)->repeat =
            (uint32_t)full;
    if (rest > 0)
        suite_build_insert(b, source->table, (uint32_t)rest, &b->def->where);
    if (wrapped)
        suite_build_op(b, PROG_COMMIT);
    suite_build_stage(b, first_op, executions);
}

static void build_load(struct suite_build *b)
{
    const struct suite_source *source = &b->def->source;
    uint64_t rows = source->table->table.rows;
    if (rows >= source->commit)
        build_commit(b, source->commit, rows / source->commit);
    if (rows % source->commit > 0)
        build_commit(b, rows % source->commit, 1);
}

static void build_all_steps(struct suite_build *b)
{
    const struct suite_source *source = &b->def->source;
    build_steps(b, source->steps, source->step_count);
    if (!b->reason && !b->failed)
        suite_build_stage(b, 0, 0);
}

static void compile_for(struct suite_loader *ld, struct suite_scenario_def *def,
                        const struct vars *vars, enum dialect dialect)
{
    struct suite_build b;
    suite_build_init(&b, ld, def, dialect);
    b.scope.vars = vars->names;
    b.scope.var_count = vars->count;
    switch (def->source.origin) {
    case SUITE_STEPS: build_all_steps(&b); break;
    case SUITE_CREATE: build_create(&b); break;
    case SUITE_LOAD: build_load(&b); break;
    }
    if (b.reason)
        def->source.reasons[dialect] = b.reason;
    else if (b.p.stage_count > 0)
        def->source.programs[dialect] = suite_build_finish(&b);
}

void suite_compile_all(struct suite_loader *ld, struct suite_scenario_def *def)
{
    struct suite_source *source = &def->source;
    struct suite_build b;
    struct vars vars = {.names = arena_array(ld->arena, const char *, PROG_VARS_MAX)};
    suite_build_init(&b, ld, def, DIALECT_SQLITE);
    if (source->origin == SUITE_STEPS && source->step_count == 0)
        return; /* after a fault */
    prepare_steps(&b, source->steps, source->step_count);
    collect_vars(&b, &vars, source->steps, source->step_count);
    for (unsigned d = 0; d < DIALECT_COUNT; d++) {
        if (is_unsupported(def, d))
            source->reasons[d] = def->s.unsupported[d];
        else if (!b.failed)
            compile_for(ld, def, &vars, (enum dialect)d);
    }
}

bool suite_compile(struct arena *arena, const struct suite *suite,
                   const struct suite_scenario *scenario, enum dialect dialect,
                   struct program *program, struct err *err)
{
    const struct suite_source *source = scenario->source;
    (void)arena;
    (void)suite;
    assert(dialect < DIALECT_COUNT);
    if (source->programs[dialect]) {
        *program = *source->programs[dialect];
        return true;
    }
    assert(source->reasons[dialect]);
    err_set(err, ERR_CONFIG, "%s", source->reasons[dialect]);
    err->kind = ERR_NONE;
    return false;
}
