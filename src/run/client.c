#include "os/now.h"
#include "run/run_internal.h"

#include <assert.h>

/* How one step of a client ended. */
enum pace {
    PACE_ON,        /* go on with the next operation */
    PACE_SUBMITTED, /* an operation is in flight */
    PACE_SLEEP,
    PACE_FINISHED,
};

static void phase_record(struct client *client, uint16_t phase, uint64_t duration_ns)
{
    if (client->recording && phase != PROG_NONE)
        series_record(&client->recorder->phases[phase], duration_ns);
}

static void mark_close(struct client *client, uint64_t now_ns)
{
    if (client->mark != PROG_NONE)
        phase_record(client, client->mark, now_ns - client->mark_ns);
    client->mark = PROG_NONE;
}

/* The next stage with executions for this client; false when there is none. */
static bool stage_enter(struct client *client, uint64_t executions)
{
    const struct program *program = client->program;
    for (; client->stage < program->stage_count; client->stage++) {
        uint64_t all = program->stages[client->stage].executions;
        uint64_t clients = client->plan->clients;
        client->left =
            all == 0 ? executions : all / clients + (client->number <= all % clients);
        if (client->left > 0) {
            client->pc = program->stages[client->stage].first_op;
            return true;
        }
    }
    return false;
}

void client_begin(struct client *client, uint64_t executions, uint64_t end_ns, bool recording)
{
    client->recording = recording;
    client->end_ns = end_ns;
    client->done_count = 0;
    client->repetition = 0;
    client->stage = 0;
    client->mark = PROG_NONE;
    client->start_ns = 0;
    client->finished = !stage_enter(client, end_ns ? UINT64_MAX : executions);
}

static void execution_end(struct client *client, uint64_t now_ns)
{
    const struct prog_stage *stage = &client->program->stages[client->stage];
    mark_close(client, now_ns);
    if (client->recording && client->start_ns)
        series_record(&client->recorder->service, now_ns - client->start_ns);
    client->start_ns = 0;
    client->done_count++;
    client->execution++;
    client->cursor += (uint64_t)stage->rows_per_execution * (client->plan->clients - 1);
    client->pc = stage->first_op;
    client->left--;
    bool over = client->end_ns && now_ns >= client->end_ns;
    if (over || atomic_load_explicit(&client->plan->stop, memory_order_relaxed)) {
        client->finished = true;
    } else if (client->left == 0) {
        client->stage++;
        client->finished = !stage_enter(client, 0);
    }
}

static enum drv_op_kind wire_kind(enum prog_kind kind)
{
    if (kind == PROG_PING)
        return DRV_OP_PING;
    if (kind == PROG_BEGIN)
        return DRV_OP_BEGIN;
    if (kind == PROG_COMMIT)
        return DRV_OP_COMMIT;
    return kind == PROG_ROLLBACK ? DRV_OP_ROLLBACK : DRV_OP_EXECUTE;
}

static void submit(struct client *client, const struct prog_op *op)
{
    const struct value *params = client->fixed[client->pc];
    uint32_t rows = op->rows ? op->rows : 1;
    if (!params && op->bind_count) {
        client_bind(client, op, rows, client->params);
        params = client->params;
    }
    client->op.kind = wire_kind(op->kind);
    client->op.stmt = op->stmt;
    client->op.depth = op->depth;
    client->op.params = params;
    client->op.param_count = op->bind_count * rows;
    bool look = client->sink.want || client->hashing;
    client->sink.rows = 0;
    client->sink.count = 0;
    client->op.sink = look ? &client->sink.base : NULL;
    if (client->plan->null_target)
        client_expect(client, op);
    client->in_flight = true;
    client->op_start_ns = os_now_ns();
    if (!client->start_ns)
        client->start_ns = client->op_start_ns;
    atomic_store_explicit(&client->due_ns, client->op_start_ns + op->deadline_ns,
                          memory_order_relaxed);
    client->class->submit(client->conn, &client->op);
}

static void variable_set(struct client *client, uint16_t var, const struct value *value)
{
    struct value *slot = &client->vars[var];
    *slot = *value;
    if (value->type == VALUE_TEXT || value->type == VALUE_BLOB) {
        slot->bytes = value->bytes < CLIENT_TEXT_MAX ? value->bytes : CLIENT_TEXT_MAX;
        memcpy(client->var_texts[var], value->as.text, slot->bytes);
        slot->as.text = client->var_texts[var];
    }
}

static void evaluate(struct client *client, gen_id tree, struct value *out)
{
    client->gen.row = client->execution;
    client->gen.stream = gen_stream("", "", client->number);
    client->gen.scratch_used = 0;
    gen_eval(&client->gen, tree, out);
}

static bool is_false(const struct value *value)
{
    return value->type == VALUE_NULL || (value->type == VALUE_INT && value->as.i == 0);
}

/* Operations that need no answer: done here and now. */
static enum pace local_op(struct client *client, const struct prog_op *op)
{
    struct value value = {0};
    client->pc++;
    switch (op->kind) {
    case PROG_SET:
        evaluate(client, op->expr, &value);
        variable_set(client, op->var, &value);
        return PACE_ON;
    case PROG_BRANCH:
        evaluate(client, op->expr, &value);
        if (is_false(&value))
            client->pc = op->target;
        return PACE_ON;
    case PROG_SLEEP:
        evaluate(client, op->expr, &value);
        if (value.type != VALUE_INT || value.as.i <= 0)
            return PACE_ON;
        client->wake_ns = os_now_ns() + (uint64_t)value.as.i;
        return PACE_SLEEP;
    case PROG_MARK: {
        uint64_t now_ns = os_now_ns();
        mark_close(client, now_ns);
        if (!client->start_ns)
            client->start_ns = now_ns;
        client->mark = op->phase;
        client->mark_ns = now_ns;
        return PACE_ON;
    }
    case PROG_PIPE_START:
    case PROG_PIPE_END: return PACE_ON; /* no driver pipelines yet: one after the other */
    case PROG_EXECUTE:
    case PROG_PING:
    case PROG_BEGIN:
    case PROG_COMMIT:
    case PROG_ROLLBACK: break;
    }
    assert(false); /* an operation of the wire never comes here */
    return PACE_FINISHED;
}

static bool is_local(enum prog_kind kind)
{
    return kind > PROG_ROLLBACK;
}

/* The next operation, or the end of an execution and the first operation of the next. */
static enum pace advance(struct client *client)
{
    uint32_t end_op = client->program->stages[client->stage].end_op;
    if (client->pc == end_op) {
        execution_end(client, client->op_start_ns);
        return client->finished ? PACE_FINISHED : PACE_ON;
    }
    const struct prog_op *op = &client->program->ops[client->pc];
    if (is_local(op->kind))
        return local_op(client, op);
    submit(client, op);
    return PACE_SUBMITTED;
}

static void save_results(struct client *client, const struct prog_op *op)
{
    for (uint16_t i = 0; i < op->save_count; i++) {
        const struct prog_save *save = &client->program->saves[op->save_first + i];
        struct value null = {.type = VALUE_NULL};
        bool there = save->column < client->sink.count;
        variable_set(client, save->var, there ? &client->sink.first[save->column] : &null);
    }
}

/* An operation's answer is complete. False ends the client. */
static bool complete(struct client *client, enum drv_step step)
{
    const struct prog_op *op = &client->program->ops[client->pc];
    uint64_t now_ns = os_now_ns();
    client->in_flight = false;
    atomic_store_explicit(&client->due_ns, 0, memory_order_relaxed);
    if (step == DRV_FAILED)
        client->outcome.verdict = DRV_LOST;
    phase_record(client, op->phase, now_ns - client->op_start_ns);
    client->op_start_ns = now_ns; /* the execution ends here when this was its last operation */
    if (client->recording) {
        client->recorder->operations++;
        client->recorder->rows += client->outcome.rows;
        if (client->outcome.affected > 0)
            client->recorder->affected += client->outcome.affected;
    }
    if (!client_check(client, op)) {
        client->finished = true;
        return false;
    }
    if (op->save_count)
        save_results(client, op);
    client->cursor += op->rows;
    if (++client->repetition == op->repeat) {
        client->repetition = 0;
        client->pc++;
    }
    return true;
}

enum client_state client_run(struct client *client)
{
    while (!client->finished) {
        if (client->in_flight) {
            enum drv_step step = client->class->step(client->conn, &client->outcome);
            if (step == DRV_WANT_READ)
                return CLIENT_WANT_READ;
            if (step == DRV_WANT_WRITE)
                return CLIENT_WANT_WRITE;
            if (!complete(client, step))
                break;
        }
        enum pace pace = advance(client);
        if (pace == PACE_SLEEP)
            return CLIENT_SLEEPS;
    }
    return CLIENT_FINISHED;
}
