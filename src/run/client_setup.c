/* Everything a client or a recorder needs is made here, so that the measured part allocates
 * nothing. */
#include "run/run_internal.h"

static NOINLINE void keep_text(struct client_sink *sink, uint16_t column)
{
    struct value *slot = &sink->first[column];
    slot->bytes = slot->bytes < CLIENT_TEXT_MAX ? slot->bytes : CLIENT_TEXT_MAX;
    memcpy(sink->texts[column], slot->as.text, slot->bytes);
    slot->as.text = sink->texts[column];
}

static HOT void sink_row(struct drv_sink *base, const struct value *values, uint16_t count)
{
    struct client_sink *sink = (struct client_sink *)base;
    if (sink->hashing && values)
        sink->checksum += value_row_hash(values, count);
    if (sink->rows++ > 0 || !values)
        return;
    sink->count = count < sink->want ? count : sink->want;
    for (uint16_t i = 0; i < sink->count; i++) {
        sink->first[i] = values[i];
        if (values[i].type == VALUE_TEXT || values[i].type == VALUE_BLOB)
            keep_text(sink, i);
    }
}

/* Columns of a first row that any check or save of the program looks at. */
static uint16_t columns_wanted(const struct program *program)
{
    uint16_t want = 0;
    for (uint32_t i = 0; i < program->check_count; i++) {
        const struct prog_check *check = &program->checks[i];
        if (check->kind == PROG_CHECK_VALUE && check->column >= want)
            want = (uint16_t)(check->column + 1);
    }
    for (uint32_t i = 0; i < program->save_count; i++) {
        if (program->saves[i].column >= want)
            want = (uint16_t)(program->saves[i].column + 1);
    }
    return want < CLIENT_COLUMNS_MAX ? want : CLIENT_COLUMNS_MAX;
}

static void scratch_make(struct client *client, struct arena *arena)
{
    client->gen.scratch_room = client->program->scratch_bytes + 64;
    client->gen.scratch_used = 0;
    client->gen.scratch = arena_array(arena, char, client->gen.scratch_room);
}

#define CLIENT_SPREAD UINT64_C(0x9e3779b97f4a7c15) /* odd: clients' streams lie far apart */

static void streams_make(struct client *client, struct arena *arena)
{
    const struct program *program = client->program;
    client->bind_streams = arena_array(arena, uint64_t, program->bind_count + 1u);
    for (uint32_t i = 0; i < program->bind_count; i++) {
        uint64_t spread = program->binds[i].per_client ? client->number * CLIENT_SPREAD : 0;
        client->bind_streams[i] = program->binds[i].stream + spread;
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

static bool looks_at_rows(const struct program *program, const struct prog_op *op)
{
    for (uint16_t i = 0; i < op->check_count; i++) {
        if (program->checks[op->check_first + i].kind == PROG_CHECK_VALUE)
            return true;
    }
    return op->save_count > 0;
}

/* Parameters that are the same in every execution are made once. */
static void step_params(struct client *client, struct arena *arena, struct client_step *step)
{
    const struct prog_op *op = step->op;
    step->wire.param_count = op->bind_count * (op->rows ? op->rows : 1);
    bool anew = op->bind_count > 0 && (op->rows > 0 || !op->repeatable_bind);
    step->wire.params = client->params;
    step->drawable =
        anew && op->bind_count == 1 && op->rows == 0 &&
        gen_quick_make(client->program->pool, client->program->binds[op->bind_first].tree,
                       client->program->seed, client->bind_streams[op->bind_first],
                       &step->draw);
    step->quick_bind = step->drawable && op->repeat == 1;
    step->binds = anew && !step->quick_bind;
    if (step->quick_bind) {
        step->drawn = value_int(0);
        step->wire.params = &step->drawn;
    }
    if (op->bind_count > 0 && !anew) {
        struct value *fixed = arena_array(arena, struct value, op->bind_count);
        client_bind(client, step, fixed);
        step->wire.params = fixed;
        scratch_make(client, arena); /* their texts stay where they are */
    }
}

/* A known number of rows, then perhaps a known whole number in the first of them. */
static bool is_quick(const struct prog_check *checks, uint16_t count)
{
    bool rows = count >= 1 && checks[0].kind == PROG_CHECK_ROWS && checks[0].constant;
    bool value = count == 2 && checks[1].kind == PROG_CHECK_VALUE && checks[1].constant &&
                 checks[1].value.type == VALUE_INT && checks[1].column < CLIENT_COLUMNS_MAX;
    return rows && (count == 1 || value);
}

static void step_checks(struct client *client, struct client_step *step)
{
    const struct program *program = client->program;
    const struct prog_op *op = step->op;
    const struct prog_check *first = &program->checks[op->check_first];
    bool plain = op->phase == PROG_NONE && op->save_count == 0 && op->rows == 0 &&
                 (op->repeat == 1 || step->piped);
    if (plain && is_quick(first, op->check_count)) {
        step->quick_tally = &client->recorder->checks[op->check_first];
        step->quick_rows = (uint64_t)first->value.as.i;
        step->quick_valued = op->check_count == 2;
        step->quick_value = step->quick_valued ? first[1].value.as.i : 0;
        step->quick_column = step->quick_valued ? first[1].column : 0;
    }
    if (!client->plan->null_target)
        return;
    step->wire.expect = &step->expect;
    client_expect(client, op, step->wire.params, &step->expect);
    for (uint16_t i = 0; i < op->check_count; i++)
        step->expects =
            step->expects || first[i].kind == PROG_CHECK_VALUE || !first[i].constant;
}

static bool starts_stage(const struct program *program, uint32_t op)
{
    for (uint32_t i = 0; i < program->stage_count; i++) {
        if (program->stages[i].first_op == op)
            return true;
    }
    return false;
}

static void steps_make(struct client *client, struct arena *arena)
{
    const struct program *program = client->program;
    struct client_step *steps = arena_array(arena, struct client_step, program->op_count + 1u);
    bool pipelines = client->class->caps & DRV_CAP_PIPELINE;
    struct client_step *pipe = NULL; /* PIPE_START of the one that we are in */
    uint32_t rows = 0;
    client->steps = steps;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct prog_op *op = &program->ops[i];
        steps[i].op = op;
        steps[i].local = op->kind > PROG_ROLLBACK;
        steps[i].stream = gen_stream(client->plan->scenario->name, "expression", i) +
                          client->number * CLIENT_SPREAD;
        steps[i].wire.kind = wire_kind(op->kind);
        steps[i].wire.stmt = op->stmt;
        steps[i].wire.depth = op->depth;
        steps[i].deadline_ns = op->deadline_ns ? op->deadline_ns : INT64_MAX;
        if (looks_at_rows(program, op))
            steps[i].wire.sink = &client->sink.base;
        rows = starts_stage(program, i) ? 0 : rows;
        steps[i].row_offset = rows;
        rows += op->rows * op->repeat;
        if (op->kind == PROG_PIPE_START && pipelines)
            pipe = &steps[i];
        else if (op->kind == PROG_PIPE_END)
            pipe = NULL;
        if (steps[i].local)
            continue;
        if (pipe) {
            steps[i].piped = true;
            pipe->pipe_count += op->repeat;
        }
        step_params(client, arena, &steps[i]);
        step_checks(client, &steps[i]);
        steps[i].long_way = steps[i].binds || steps[i].expects;
    }
}

static void slots_make(struct client *client, struct arena *arena)
{
    uint32_t count = program_in_flight(client->program);
    if (count < 2 || !(client->class->caps & DRV_CAP_PIPELINE))
        return;
    client->slots = arena_array(arena, struct client_slot, count);
    for (uint32_t i = 0; i < count; i++) {
        client->slots[i].params =
            arena_array(arena, struct value, client->program->values_max + 1);
        client->slots[i].scratch = arena_array(arena, char, client->gen.scratch_room);
    }
}

void client_init(struct client *client, struct arena *arena, struct client_plan *plan,
                 struct drv_conn *conn, struct recorder *recorder)
{
    const struct program *program = plan->program;
    uint32_t number = client->number;
    *client = (struct client){.conn = conn,
                              .class = conn->class,
                              .fd = conn->class->fd ? conn->class->fd(conn) : -1,
                              .plan = plan,
                              .program = program,
                              .recorder = recorder,
                              .number = number,
                              .execution = 1,
                              .mark = PROG_NONE};
    client->stage_begun = 1;
    client->stage_row = program->first_row;
    client->gen = (struct gen_ctx){.pool = program->pool,
                                   .seed = program->seed,
                                   .client = number,
                                   .vars = client->vars};
    scratch_make(client, arena);
    streams_make(client, arena);
    client->params = arena_array(arena, struct value, program->values_max + 1);
    client->sink.base.row = sink_row;
    client->sink.want = columns_wanted(program);
    client->sink.texts = arena_alloc_many(arena, client->sink.want, CLIENT_TEXT_MAX, 1);
    client->var_texts = arena_alloc_many(arena, program->var_count, CLIENT_TEXT_MAX, 1);
    steps_make(client, arena);
    slots_make(client, arena);
}

static uint64_t phase_repeats(const struct program *program, uint16_t phase)
{
    uint64_t repeats = 0;
    for (uint32_t i = 0; i < program->op_count; i++) {
        if (program->ops[i].phase == phase)
            repeats += program->ops[i].repeat;
    }
    return repeats ? repeats : 1;
}

void recorder_init(struct recorder *recorder, struct arena *arena,
                   const struct program *program, uint64_t executions)
{
    *recorder = (struct recorder){.unfinished_least_ns = UINT64_MAX};
    series_init(&recorder->service, arena, executions);
    recorder->phases = arena_array(arena, struct series, program->phase_count + 1u);
    for (uint16_t i = 0; i < program->phase_count; i++)
        series_init(&recorder->phases[i], arena, executions * phase_repeats(program, i));
    recorder->checks = arena_array(arena, struct check_tally, program->check_count + 1u);
}

void recorder_open(struct recorder *recorder, struct arena *arena, uint64_t executions)
{
    series_init(&recorder->lag, arena, executions);
    series_init(&recorder->response, arena, executions);
}

static void tally_move(struct check_tally *into, const struct check_tally *from)
{
    uint64_t times = into->times + from->times;
    if (from->seen && (!into->seen || (from->failed && !into->failed))) {
        *into = *from;
        if (into->expected.type == VALUE_TEXT || into->expected.type == VALUE_BLOB)
            into->expected.as.text = into->texts[0];
        if (into->found.type == VALUE_TEXT || into->found.type == VALUE_BLOB)
            into->found.as.text = into->texts[1];
    }
    into->times = times;
}

void recorder_merge(struct recorder *into, const struct recorder *from,
                    const struct program *program)
{
    series_append(&into->service, &from->service);
    series_append(&into->lag, &from->lag);
    series_append(&into->response, &from->response);
    into->unfinished += from->unfinished;
    if (from->unfinished_least_ns < into->unfinished_least_ns)
        into->unfinished_least_ns = from->unfinished_least_ns;
    for (uint16_t i = 0; i < program->phase_count; i++)
        series_append(&into->phases[i], &from->phases[i]);
    for (uint32_t i = 0; i < program->check_count; i++)
        tally_move(&into->checks[i], &from->checks[i]);
    into->operations += from->operations;
    into->rows += from->rows;
    into->affected += from->affected;
}
