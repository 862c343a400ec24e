#include "base/text.h"
#include "suite/suite_build_internal.h"

#include <assert.h>
#include <string.h>

enum { SCRATCH_BYTES_MAX = 256 << 20 };

/* A place for one more item in a growing array of the build. */
#define GROW(b, array, count, room)                                                            \
    ((array) =                                                                                 \
         arena_grow((b)->ld->arena, (array), (count), &(room), (count) + 1, sizeof(*(array))), \
     &(array)[(count)++])

void suite_build_init(struct suite_build *b, struct suite_loader *ld,
                      const struct suite_scenario_def *def, enum dialect dialect)
{
    *b = (struct suite_build){
        .ld = ld,
        .def = def,
        .dialect = dialect,
    };
    b->first_row = def->source.first_row > 0 ? def->source.first_row : 1;
    b->scope.pass = ++ld->pass;
}

void suite_build_fault(struct suite_build *b, const struct suite_place *where, const char *why)
{
    b->failed = true;
    suite_fault_add(b->ld, where, "scenario '%s': %s", b->def->s.name, why);
}

struct prog_op *suite_build_op(struct suite_build *b, enum prog_kind kind)
{
    struct prog_op *op = GROW(b, b->ops, b->p.op_count, b->op_room);
    uint64_t deadline = b->def->source.statement_deadline_ns;

    *op = (struct prog_op){.kind = kind,
                           .depth = PROG_DECODE,
                           .phase = PROG_NONE,
                           .repeat = 1,
                           .expr = GEN_NONE,
                           .check_first = b->p.check_count,
                           .save_first = b->p.save_count,
                           .bind_first = b->p.bind_count,
                           .deadline_ns = deadline > 0 ? deadline : b->def->s.deadline_ns};
    return op;
}

uint16_t suite_build_stmt(struct suite_build *b, const struct prog_stmt *stmt)
{
    for (uint32_t i = 0; i < b->p.stmt_count; i++) {
        if (b->stmts[i].direct == stmt->direct && strcmp(b->stmts[i].sql, stmt->sql) == 0)
            return (uint16_t)i;
    }
    *GROW(b, b->stmts, b->p.stmt_count, b->stmt_room) = *stmt;
    return (uint16_t)(b->p.stmt_count - 1);
}

static struct prog_op *last_op(struct suite_build *b)
{
    return &b->ops[b->p.op_count - 1];
}

void suite_build_bind(struct suite_build *b, const struct prog_bind *bind)
{
    *GROW(b, b->binds, b->p.bind_count, b->bind_room) = *bind;
    last_op(b)->bind_count++;
}

void suite_build_check(struct suite_build *b, const struct prog_check *check)
{
    *GROW(b, b->checks, b->p.check_count, b->check_room) = *check;
    last_op(b)->check_count++;
    if (!check->constant) {
        uint32_t bytes = gen_scratch_bytes(b->ld->pool, check->expected);
        if (bytes > b->check_scratch)
            b->check_scratch = bytes;
    }
}

void suite_build_save(struct suite_build *b, const struct prog_save *save)
{
    *GROW(b, b->saves, b->p.save_count, b->save_room) = *save;
    last_op(b)->save_count++;
}

uint16_t suite_build_phase(struct suite_build *b, const struct suite_place *where,
                           const char *phase)
{
    if (!phase)
        return PROG_NONE;
    for (uint16_t i = 0; i < b->p.phase_count; i++) {
        if (strcmp(b->phases[i], phase) == 0)
            return i;
    }
    if (b->p.phase_count == PROG_PHASES_MAX) {
        suite_build_fault(b, where, "more than 32 phases");
        return PROG_NONE;
    }
    *GROW(b, b->phases, b->p.phase_count, b->phase_room) = phase;
    return (uint16_t)(b->p.phase_count - 1);
}

static const char *insert_sql(struct suite_build *b, const struct suite_table *table,
                              uint32_t rows)
{
    struct text sql;
    text_init(&sql, b->ld->arena, SQLTEXT_BYTES_MAX);
    text_addf(&sql, "INSERT INTO %s (", table->name);
    for (uint32_t i = 0; i < table->column_count; i++)
        text_addf(&sql, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
    text_add(&sql, ") VALUES ");
    bool numbered = dialect_placeholder(b->dialect) == '$';
    uint32_t number = 0;
    for (uint32_t row = 0; row < rows; row++) {
        text_add(&sql, row > 0 ? ", (" : "(");
        for (uint32_t i = 0; i < table->column_count; i++) {
            text_add(&sql, i > 0 ? ", " : "");
            if (numbered)
                text_addf(&sql, "$%u", ++number);
            else
                text_add_char(&sql, '?');
        }
        text_add_char(&sql, ')');
    }
    assert(!sql.cut);
    return sql.at;
}

/* Counts what a submit of the last operation binds; false: too much. */
static bool count_binds(struct suite_build *b, const struct prog_op *op)
{
    uint32_t rows = op->rows > 0 ? op->rows : 1;
    uint64_t scratch = 0;
    for (uint32_t i = 0; i < op->bind_count; i++) {
        gen_id tree = b->binds[op->bind_first + i].tree;
        if (tree != GEN_NONE)
            scratch += gen_scratch_bytes(b->ld->pool, tree);
    }
    scratch *= rows;
    if (scratch > SCRATCH_BYTES_MAX)
        return false;
    if (scratch > b->bind_scratch)
        b->bind_scratch = (uint32_t)scratch;
    if (rows * op->bind_count > b->p.values_max)
        b->p.values_max = rows * op->bind_count;
    return true;
}

static bool are_constant(struct suite_build *b, const struct prog_op *op)
{
    for (uint32_t i = 0; i < op->bind_count; i++) {
        gen_id tree = b->binds[op->bind_first + i].tree;
        if (tree == GEN_NONE || !gen_is_constant(b->ld->pool, tree))
            return false;
    }
    return op->rows == 0;
}

struct prog_op *suite_build_insert(struct suite_build *b, const struct suite_table_def *def,
                                   uint32_t rows, const struct suite_place *where)
{
    const struct suite_table *table = &def->table;
    struct prog_op *op = suite_build_op(b, PROG_EXECUTE);
    struct prog_stmt stmt = {.name = arena_printf(b->ld->arena, "insert_%s", table->name),
                             .sql = insert_sql(b, table, rows),
                             .param_count = rows * table->column_count};
    op->stmt = suite_build_stmt(b, &stmt);
    op->rows = rows;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct suite_column *column = &table->columns[i];
        suite_build_bind(b,
                         &(struct prog_bind){.tree = column->tree, .stream = column->stream});
    }
    suite_build_check(b, &(struct prog_check){.kind = PROG_CHECK_AFFECTED,
                                              .expected = GEN_NONE,
                                              .constant = true,
                                              .value = value_int(rows)});
    if (!count_binds(b, op))
        suite_build_fault(b, where, "the values of one INSERT take more than 256 MiB");
    return op;
}

void suite_build_stage(struct suite_build *b, uint32_t first_op, uint64_t executions)
{
    uint64_t rows = 0;
    for (uint32_t i = first_op; i < b->p.op_count; i++) {
        struct prog_op *op = &b->ops[i];
        if (op->kind != PROG_EXECUTE)
            continue;
        rows += (uint64_t)op->rows * op->repeat;
        op->repeatable_bind = are_constant(b, op);
        if (op->rows == 0 && !count_binds(b, op))
            suite_build_fault(b, &b->def->where,
                              "the values of a statement take more than 256 MiB");
    }
    if (rows > SUITE_ROWS_MAX)
        suite_build_fault(b, &b->def->where, "more than 1,000,000,000 rows in one execution");
    *GROW(b, b->stages, b->p.stage_count, b->stage_room) =
        (struct prog_stage){.first_op = first_op,
                            .end_op = b->p.op_count,
                            .executions = executions,
                            .rows_per_execution = (uint32_t)rows};
}

struct program *suite_build_finish(struct suite_build *b)
{
    if (b->failed)
        return NULL;
    struct program *p = arena_new(b->ld->arena, struct program);
    *p = b->p;
    p->dialect = b->dialect;
    p->pool = b->ld->pool;
    p->seed = b->ld->options->seed;
    p->first_row = b->first_row;
    p->stmts = b->stmts;
    p->ops = b->ops;
    p->binds = b->binds;
    p->checks = b->checks;
    p->saves = b->saves;
    p->stages = b->stages;
    p->phases = b->phases;
    p->vars = b->scope.vars;
    p->var_count = (uint16_t)b->scope.var_count;
    p->scratch_bytes = b->bind_scratch + b->check_scratch;
    struct err err = {0};
    bool right = program_verify(p, &err);
    assert(right);
    return p;
}
