#include "program/program.h"

#include <assert.h>

/* What is being looked at, for the message. */
struct look {
    const struct program *p;
    const struct prog_stage *stage;
    const struct prog_op *op;
    uint32_t index; /* of op */
    struct err *err;
};

static bool fault(const struct look *look, const char *what)
{
    return err_set(look->err, ERR_CONFIG, "operation %u: %s", look->index, what);
}

static bool fits(uint64_t first, uint64_t count, uint64_t room)
{
    return first <= room && count <= room - first;
}

static bool is_tree(const struct look *look, gen_id id)
{
    const struct gen_pool *pool = look->p->pool;
    return id != GEN_NONE && (!pool || id < pool->count);
}

static bool verify_checks(const struct look *look)
{
    const struct prog_op *op = look->op;
    if (!fits(op->check_first, op->check_count, look->p->check_count))
        return fault(look, "checks out of range");
    for (uint32_t i = 0; i < op->check_count; i++) {
        const struct prog_check *check = &look->p->checks[op->check_first + i];
        if (check->kind > PROG_CHECK_ERROR)
            return fault(look, "unknown kind of check");
        if (!check->constant && !is_tree(look, check->expected))
            return fault(look, "a check without an expectation");
    }
    return true;
}

static bool verify_saves(const struct look *look)
{
    const struct prog_op *op = look->op;
    if (!fits(op->save_first, op->save_count, look->p->save_count))
        return fault(look, "saves out of range");
    for (uint32_t i = 0; i < op->save_count; i++) {
        if (look->p->saves[op->save_first + i].var >= look->p->var_count)
            return fault(look, "a save to a variable that does not exist");
    }
    return true;
}

static bool verify_binds(const struct look *look)
{
    const struct prog_op *op = look->op;
    const struct prog_stmt *stmt = &look->p->stmts[op->stmt];
    if (!fits(op->bind_first, op->bind_count, look->p->bind_count))
        return fault(look, "binds out of range");
    for (uint32_t i = 0; i < op->bind_count; i++) {
        if (!is_tree(look, look->p->binds[op->bind_first + i].tree))
            return fault(look, "a bind without a generator");
    }
    uint64_t values = (uint64_t)op->bind_count * (op->rows > 0 ? op->rows : 1);
    if (values != stmt->param_count)
        return fault(look, "the statement has another number of parameters than values");
    if (values > look->p->values_max)
        return fault(look, "more values than values_max");
    if (stmt->direct && values > 0)
        return fault(look, "a direct statement has no parameters");
    return true;
}

static bool verify_execute(const struct look *look)
{
    if (look->op->stmt >= look->p->stmt_count)
        return fault(look, "a statement that does not exist");
    return verify_binds(look) && verify_checks(look) && verify_saves(look);
}

static bool verify_branch(const struct look *look)
{
    if (look->op->target < look->stage->first_op || look->op->target > look->stage->end_op)
        return fault(look, "a branch out of its stage");
    if (!is_tree(look, look->op->expr))
        return fault(look, "a branch without a condition");
    return true;
}

static bool verify_set(const struct look *look)
{
    if (look->op->var >= look->p->var_count || !is_tree(look, look->op->expr))
        return fault(look, "a set without a variable or value");
    return true;
}

static bool verify_kind(const struct look *look)
{
    switch (look->op->kind) {
    case PROG_EXECUTE: return verify_execute(look);
    case PROG_SET: return verify_set(look);
    case PROG_BRANCH: return verify_branch(look);
    case PROG_SLEEP:
        return is_tree(look, look->op->expr) || fault(look, "a sleep without a duration");
    case PROG_MARK:
        return look->op->phase != PROG_NONE || fault(look, "a mark without a phase");
    case PROG_PING:
    case PROG_BEGIN:
    case PROG_COMMIT:
    case PROG_ROLLBACK:
    case PROG_PIPE_START:
    case PROG_PIPE_END: return true;
    }
    return fault(look, "unknown kind");
}

static bool verify_op(const struct look *look)
{
    const struct prog_op *op = look->op;
    if (op->repeat == 0)
        return fault(look, "repeated 0 times");
    if (op->phase != PROG_NONE && op->phase >= look->p->phase_count)
        return fault(look, "a phase that does not exist");
    if (op->depth > PROG_DECODE)
        return fault(look, "unknown depth");
    return verify_kind(look);
}

static bool allowed_in_pipe(enum prog_kind kind)
{
    return kind != PROG_SET && kind != PROG_BRANCH && kind != PROG_SLEEP && kind != PROG_MARK;
}

/* Pipelines are closed within their stage, do not nest, and hold what is submitted only. */
static bool verify_pipes(const struct look *stage)
{
    struct look look = *stage;
    bool open = false;
    for (look.index = look.stage->first_op; look.index < look.stage->end_op; look.index++) {
        enum prog_kind kind = look.p->ops[look.index].kind;
        if (kind == PROG_PIPE_START && open)
            return fault(&look, "a pipeline within a pipeline");
        if (kind == PROG_PIPE_END && !open)
            return fault(&look, "the end of a pipeline that has not begun");
        if (open && !allowed_in_pipe(kind))
            return fault(&look, "a set, branch, sleep or mark within a pipeline");
        open = kind == PROG_PIPE_START || (open && kind != PROG_PIPE_END);
    }
    return !open || fault(&look, "a pipeline without an end");
}

/* A branch into a pipeline would find it not begun. */
static bool verify_targets(const struct look *stage)
{
    struct look look = *stage;
    for (look.index = look.stage->first_op; look.index < look.stage->end_op; look.index++) {
        const struct prog_op *op = &look.p->ops[look.index];
        if (op->kind != PROG_BRANCH)
            continue;
        for (uint32_t i = op->target; i < look.stage->end_op; i++) {
            if (look.p->ops[i].kind == PROG_PIPE_START)
                break;
            if (look.p->ops[i].kind == PROG_PIPE_END)
                return fault(&look, "a branch into a pipeline");
        }
    }
    return true;
}

static uint64_t rows_of(const struct program *p, const struct prog_stage *stage)
{
    uint64_t rows = 0;
    for (uint32_t i = stage->first_op; i < stage->end_op; i++) {
        if (p->ops[i].kind == PROG_EXECUTE)
            rows += (uint64_t)p->ops[i].rows * p->ops[i].repeat;
    }
    return rows;
}

static bool verify_stage(const struct program *p, uint32_t number, struct err *err)
{
    const struct prog_stage *stage = &p->stages[number];
    if (stage->first_op >= stage->end_op || stage->end_op > p->op_count)
        return err_set(err, ERR_CONFIG, "stage %u: operations out of range", number);
    struct look look = {.p = p, .stage = stage, .err = err};
    for (look.index = stage->first_op; look.index < stage->end_op; look.index++) {
        look.op = &p->ops[look.index];
        if (!verify_op(&look))
            return false;
    }
    if (rows_of(p, stage) != stage->rows_per_execution)
        return err_set(err, ERR_CONFIG, "stage %u: rows_per_execution is wrong", number);
    return verify_pipes(&look) && verify_targets(&look);
}

bool program_verify(const struct program *program, struct err *err)
{
    assert(program && err);
    if (program->dialect >= DIALECT_COUNT)
        return err_set(err, ERR_CONFIG, "unknown dialect");
    if (program->stage_count == 0)
        return err_set(err, ERR_CONFIG, "no stages");
    if (program->var_count > PROG_VARS_MAX || program->phase_count > PROG_PHASES_MAX)
        return err_set(err, ERR_CONFIG, "too many variables or phases");
    for (uint32_t i = 0; i < program->stage_count; i++) {
        if (!verify_stage(program, i, err))
            return false;
    }
    return true;
}

uint32_t program_in_flight(const struct program *program)
{
    uint32_t most = 1, now = 0;
    bool inside = false;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct prog_op *op = &program->ops[i];
        if (op->kind == PROG_PIPE_START || op->kind == PROG_PIPE_END) {
            inside = op->kind == PROG_PIPE_START;
            now = 0;
        } else if (inside) {
            now += op->repeat;
            most = now > most ? now : most;
        }
    }
    return most;
}
