#include "os/now.h"
#include "run/run_internal.h"

#include <assert.h>

/* How one step of a client ended. */
enum pace {
    PACE_ON,        /* go on with the next operation */
    PACE_SUBMITTED, /* an operation is in flight */
    PACE_WAITS,     /* one is, and its answer cannot be there yet */
    PACE_PIPED,     /* a pipeline is */
    PACE_SLEEP,
    PACE_FINISHED,
};

static void phase_record(struct client *client, uint16_t phase, uint64_t duration_ns)
{
    if (client->recording)
        series_record(&client->recorder->phases[phase], duration_ns);
}

static NOINLINE void mark_close(struct client *client, uint64_t now_ns)
{
    phase_record(client, client->mark, now_ns - client->mark_ns);
    client->mark = PROG_NONE;
}

/* The next stage with executions for this client; false when there is none. */
static NOINLINE bool stage_enter(struct client *client, uint64_t executions)
{
    const struct program *program = client->program;
    for (; client->stage < program->stage_count; client->stage++) {
        const struct prog_stage *stage = &program->stages[client->stage];
        uint64_t all = stage->executions, clients = client->plan->clients;
        client->left =
            all == 0 ? executions : all / clients + (client->number <= all % clients);
        client->stage_begun = all == 0 ? 1 : client->execution;
        if (client->left > 0) {
            client->first = client->at = &client->steps[stage->first_op];
            client->end = &client->steps[stage->end_op];
            return true;
        }
        client->stage_row += all * stage->rows_per_execution;
    }
    return false;
}

void client_begin(struct client *client, uint64_t executions, bool recording)
{
    client->recording = recording;
    client->hist = recording ? client->recorder->service.hist : NULL;
    client->begun = client->execution;
    client->operations = client->rows = client->affected = 0;
    client->repetition = 0;
    client->stage = 0;
    client->stage_row = client->program->first_row;
    client->mark = PROG_NONE;
    client->start_ns = 0;
    client->spin_ns = 0;
    client->arrival_ns = 0;
    client->spins = false;
    client->schedule = recording ? client->plan->schedule : client->plan->warm_schedule;
    client->open = client->awaits = client->schedule != NULL;
    client->finished = !stage_enter(client, client->open ? 1 : executions);
    if (client->open)
        client->hist = NULL;
}

void client_begin_checksum(struct client *client)
{
    client->sink.hashing = true;
    client->sink.checksum = 0;
    client->failure.failed = false;
    for (uint32_t i = 0; i < client->program->op_count; i++)
        client->steps[i].wire.sink = &client->sink.base;
    client_begin(client, 1, false);
}

static NOINLINE void execution_keep(struct client *client)
{
    struct recorder *recorder = client->recorder;
    if (client->mark != PROG_NONE)
        mark_close(client, client->last_ns);
    uint64_t start_ns = client->start_ns ? client->start_ns : client->last_ns;
    if (client->open && client->recording) {
        series_record(&recorder->lag, start_ns - client->arrival_ns);
        series_record(&recorder->response, client->last_ns - client->arrival_ns);
    }
    client->arrival_ns = 0;
    if (client->recording && client->start_ns)
        series_record(&recorder->service, client->last_ns - start_ns);
}

/* Open loop: the next execution that is due, now or later. */
static NOINLINE enum pace arrival_take(struct client *client)
{
    if (!schedule_take(client->schedule, &client->arrival_ns))
        return PACE_FINISHED;
    client->left = 1;
    client->last_ns = os_now_ns();
    if (client->arrival_ns <= client->last_ns)
        return PACE_ON;
    client->wake_ns = client->arrival_ns;
    client->spins = true;
    return PACE_SLEEP;
}

/* PACE_FINISHED when it was the last. */
static HOT enum pace execution_end(struct client *client)
{
    uint64_t now_ns = client->last_ns;
    if (client->hist && client->start_ns)
        hist_record(client->hist, now_ns - client->start_ns);
    else
        execution_keep(client);
    client->start_ns = 0;
    client->execution++;
    client->at = client->first;
    if (now_ns >= atomic_load_explicit(&client->plan->end_ns, memory_order_relaxed))
        return PACE_FINISHED;
    if (--client->left > 0)
        return PACE_ON;
    if (client->open)
        return arrival_take(client);
    const struct prog_stage *done = &client->program->stages[client->stage++];
    client->stage_row += done->executions * done->rows_per_execution;
    return stage_enter(client, 0) ? PACE_ON : PACE_FINISHED;
}

/* Parameters, and what their answer will be; the clock has moved on after it. */
static NOINLINE void get_ready(struct client *client, struct client_step *at)
{
    if (at->binds)
        client_bind(client, at, client->params);
    if (at->expects)
        client_expect(client, at->op, at->wire.params, &at->expect);
    client->last_ns = os_now_ns();
}

static NOINLINE void draw_again(struct client *client, struct client_step *at)
{
    client_bind(client, at, &at->drawn);
    client->last_ns = os_now_ns();
}

/* The reading of the clock that ended the last operation also starts this one, unless something
 * was done in between that costs more than a reading. */
static HOT enum drv_step submit(struct client *client, struct client_step *at)
{
    if (at->quick_bind && !gen_quick_draw(&at->draw, client->execution, &at->drawn.as.i))
        draw_again(client, at);
    if (at->long_way)
        get_ready(client, at);
    client->sink.rows = 0;
    client->sink.count = 0;
    if (!client->start_ns)
        client->start_ns = client->last_ns;
    atomic_store_explicit(&client->due_ns, client->last_ns + at->deadline_ns,
                          memory_order_relaxed);
    return client->class->submit(client->conn, &at->wire);
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

static void evaluate(struct client *client, const struct client_step *at, struct value *out)
{
    client->gen.row = client->execution;
    client->gen.stream = at->stream;
    client->gen.scratch_used = 0;
    gen_eval(&client->gen, at->op->expr, out);
}

static bool is_false(const struct value *value)
{
    return value->type == VALUE_NULL || (value->type == VALUE_INT && value->as.i == 0);
}

static enum pace mark_begin(struct client *client, uint16_t phase)
{
    uint64_t now_ns = os_now_ns();
    if (client->mark != PROG_NONE)
        mark_close(client, now_ns);
    if (!client->start_ns)
        client->start_ns = now_ns;
    client->mark = phase;
    client->hist = NULL;
    client->mark_ns = now_ns;
    client->last_ns = now_ns;
    return PACE_ON;
}

/* Operations that need no answer: done here and now. */
static NOINLINE enum pace local_op(struct client *client, const struct client_step *at)
{
    const struct prog_op *op = at->op;
    struct value value = {0};
    client->at++;
    switch (op->kind) {
    case PROG_SET:
        evaluate(client, at, &value);
        variable_set(client, op->var, &value);
        client->last_ns = os_now_ns();
        return PACE_ON;
    case PROG_BRANCH:
        evaluate(client, at, &value);
        if (is_false(&value))
            client->at = &client->steps[op->target];
        return PACE_ON;
    case PROG_SLEEP:
        evaluate(client, at, &value);
        if (value.type != VALUE_INT || value.as.i <= 0)
            return PACE_ON;
        client->wake_ns = os_now_ns() + (uint64_t)value.as.i;
        client->spins = false;
        return PACE_SLEEP;
    case PROG_MARK: return mark_begin(client, op->phase);
    case PROG_PIPE_START:
        if (at->pipe_count == 0)
            return PACE_ON; /* one after the other */
        client_pipe_fill(client, at->pipe_count);
        return PACE_PIPED;
    case PROG_PIPE_END: return PACE_ON;
    case PROG_EXECUTE:
    case PROG_PING:
    case PROG_BEGIN:
    case PROG_COMMIT:
    case PROG_ROLLBACK: break;
    }
    assert(false); /* an operation of the wire never comes here */
    return PACE_FINISHED;
}

/* The next operation; at the end of an execution that of the next one. */
static HOT enum pace advance(struct client *client)
{
    for (;;) {
        enum pace pace = client->at == client->end ? execution_end(client) : PACE_ON;
        if (pace != PACE_ON)
            return pace;
        struct client_step *at = client->at;
        if (!at->local)
            return submit(client, at) == DRV_WANT_READ ? PACE_WAITS : PACE_SUBMITTED;
        pace = local_op(client, at);
        if (pace != PACE_ON)
            return pace;
    }
}

NOINLINE void client_save(struct client *client, const struct prog_op *op)
{
    for (uint16_t i = 0; i < op->save_count; i++) {
        const struct prog_save *save = &client->program->saves[op->save_first + i];
        struct value null = {.type = VALUE_NULL};
        bool there = save->column < client->sink.count;
        variable_set(client, save->var, there ? &client->sink.first[save->column] : &null);
    }
}

/* The answer was as expected: what follows from it, and which operation is next. */
static void go_on(struct client *client, struct client_step *at)
{
    const struct prog_op *op = at->op;
    if (op->save_count)
        client_save(client, op);
    if (++client->repetition == op->repeat) {
        client->repetition = 0;
        client->at++;
    }
    /* The check has begun the tally; a statement that changes no row once never will. */
    at->quick = at->quick_tally != NULL && client->outcome.affected <= 0;
}

static NOINLINE bool complete_long(struct client *client, struct client_step *at,
                                   uint64_t now_ns)
{
    if (client->outcome.verdict == DRV_OK && now_ns - client->last_ns > at->deadline_ns)
        client->outcome.verdict =
            DRV_TIMEOUT; /* some servers answer a cancel as if all was well */
    uint64_t took_ns = now_ns - client->last_ns;
    client->last_ns = now_ns;
    if (!client_check(client))
        return false;
    if (at->op->phase != PROG_NONE)
        phase_record(client, at->op->phase, took_ns);
    client->operations++;
    client->rows += client->outcome.rows;
    if (client->outcome.affected > 0)
        client->affected += (uint64_t)client->outcome.affected;
    go_on(client, at);
    return true;
}

/* An operation's answer is complete. False ends the client. */
static HOT bool complete(struct client *client)
{
    struct client_step *at = client->at;
    uint64_t now_ns = os_now_ns();
    if (!at->quick || client->outcome.verdict != DRV_OK ||
        client->outcome.rows != at->quick_rows || now_ns - client->last_ns > at->deadline_ns ||
        !client_quick_value(client, at))
        return complete_long(client, at, now_ns);
    client->last_ns = now_ns;
    at->quick_count++;
    client->at++;
    return true;
}

/* What quick operations only counted. */
static void quick_settle(struct client *client)
{
    for (uint32_t i = 0; i < client->program->op_count; i++) {
        struct client_step *step = &client->steps[i];
        if (step->quick_count == 0)
            continue;
        client->operations += step->quick_count;
        client->rows += step->quick_count * step->quick_rows;
        for (uint16_t k = 0; k < step->op->check_count; k++)
            step->quick_tally[k].times += step->quick_count;
        step->quick_count = 0;
    }
}

/* The client leaves the loop: nothing runs, or it waits for an answer. */
static NOINLINE enum client_state leave(struct client *client, enum pace pace)
{
    client->in_flight = false;
    client->pipe_left = 0;
    atomic_store_explicit(&client->due_ns, 0, memory_order_relaxed);
    if (pace == PACE_SLEEP)
        return CLIENT_SLEEPS;
    quick_settle(client);
    client->finished = true;
    return CLIENT_FINISHED;
}

/* Steps through the answers of a pipeline: PACE_ON when all are there, PACE_PIPED when it must
 * wait as *state says. */
static HOT enum pace pipe_run(struct client *client, enum client_state *state)
{
    while (client->pipe_left > 0) {
        enum drv_step step = client->class->step(client->conn, &client->outcome);
        client->in_flight = step == DRV_WANT_READ || step == DRV_WANT_WRITE;
        if (client->in_flight) {
            *state = step == DRV_WANT_READ ? CLIENT_WANT_READ : CLIENT_WANT_WRITE;
            return PACE_PIPED;
        }
        if (step == DRV_FAILED)
            client->outcome.verdict = DRV_LOST;
        if (!client_pipe_complete(client))
            return PACE_FINISHED;
    }
    return PACE_ON;
}

/* A part begins, or a sleep is over. After the stop nothing goes on. */
static NOINLINE enum pace resume(struct client *client)
{
    client->last_ns = os_now_ns();
    if (plan_stopped(client->plan))
        return PACE_FINISHED;
    if (!client->awaits)
        return PACE_ON;
    client->awaits = false;
    return arrival_take(client);
}

/* Anything but an operation that is waited for alone: PACE_ON when the client may go on. */
static NOINLINE enum pace elsewhere(struct client *client, enum pace pace,
                                    enum client_state *state)
{
    if (pace == PACE_PIPED)
        pace = pipe_run(client, state);
    if (pace == PACE_SLEEP || pace == PACE_FINISHED)
        *state = leave(client, pace);
    return pace;
}

static enum pace enter(struct client *client)
{
    if (!client->in_flight)
        return resume(client);
    return client->pipe_left > 0 ? PACE_PIPED : PACE_SUBMITTED;
}

static inline bool runs_on(struct client *client, enum drv_step step)
{
    client->in_flight = step != DRV_FAILED;
    if (!client->in_flight)
        client->outcome.verdict = DRV_LOST;
    return client->in_flight;
}

HOT enum client_state client_run(struct client *client)
{
    enum client_state state;
    if (client->finished)
        return CLIENT_FINISHED;
    for (enum pace pace = enter(client);; pace = PACE_ON) {
        if (pace == PACE_ON)
            pace = advance(client);
        if (pace == PACE_WAITS) {
            client->in_flight = true;
            return CLIENT_WANT_READ;
        }
        if (pace != PACE_SUBMITTED) {
            if (elsewhere(client, pace, &state) != PACE_ON)
                return state;
            continue;
        }
        enum drv_step step = client->class->step(client->conn, &client->outcome);
        if (step != DRV_DONE && runs_on(client, step))
            return step == DRV_WANT_READ ? CLIENT_WANT_READ : CLIENT_WANT_WRITE;
        if (!complete(client))
            return leave(client, PACE_FINISHED);
    }
}
