/* Everything a client or a recorder needs is made here, so that the measured part allocates
 * nothing. */
#include "base/hash.h"
#include "run/run_internal.h"

static void sink_row(struct drv_sink *base, const struct value *values, uint16_t count)
{
    struct client_sink *sink = (struct client_sink *)base;
    if (sink->hashing && values) {
        uint64_t hash = HASH_START;
        for (uint16_t i = 0; i < count; i++)
            hash = value_hash(hash, &values[i]);
        sink->checksum += hash_mix(hash); /* a sum: the order of rows does not matter */
    }
    if (sink->rows++ == 0 && sink->want && values) {
        sink->count = count < sink->want ? count : sink->want;
        for (uint16_t i = 0; i < sink->count; i++) {
            struct value *slot = &sink->first[i];
            *slot = values[i];
            if (slot->type != VALUE_TEXT && slot->type != VALUE_BLOB)
                continue;
            slot->bytes = slot->bytes < CLIENT_TEXT_MAX ? slot->bytes : CLIENT_TEXT_MAX;
            memcpy(sink->texts[i], values[i].as.text, slot->bytes);
            slot->as.text = sink->texts[i];
        }
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

static char *scratch_make(struct client *client, struct arena *arena)
{
    client->gen.scratch_room = client->program->scratch_bytes + 64;
    client->gen.scratch_used = 0;
    client->gen.scratch = arena_array(arena, char, client->gen.scratch_room);
    return client->gen.scratch;
}

/* Parameters that are the same in every execution are made once. */
static void fix_params(struct client *client, struct arena *arena)
{
    const struct program *program = client->program;
    client->fixed = arena_array(arena, const struct value *, program->op_count);
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct prog_op *op = &program->ops[i];
        if (!op->repeatable_bind || op->rows || op->bind_count == 0)
            continue;
        struct value *params = arena_array(arena, struct value, op->bind_count);
        client_bind(client, op, 1, params);
        client->fixed[i] = params;
        scratch_make(client, arena); /* their texts stay where they are */
    }
}

void client_init(struct client *client, struct arena *arena, struct client_plan *plan,
                 struct drv_conn *conn, struct recorder *recorder)
{
    const struct program *program = plan->program;
    uint32_t number = client->number;
    *client = (struct client){.conn = conn,
                              .class = conn->class,
                              .plan = plan,
                              .program = program,
                              .recorder = recorder,
                              .number = number,
                              .execution = 1,
                              .mark = PROG_NONE};
    uint32_t stride = program->stage_count ? program->stages[0].rows_per_execution : 0;
    client->cursor = program->first_row + (uint64_t)(number - 1) * stride;
    client->gen = (struct gen_ctx){.pool = program->pool,
                                   .seed = program->seed,
                                   .client = number,
                                   .vars = client->vars};
    scratch_make(client, arena);
    client->params = arena_array(arena, struct value, program->values_max + 1);
    client->sink.base.row = sink_row;
    client->sink.want = columns_wanted(program);
    client->sink.texts = arena_alloc_many(arena, client->sink.want + 1u, CLIENT_TEXT_MAX, 1);
    client->var_texts = arena_alloc_many(arena, program->var_count + 1u, CLIENT_TEXT_MAX, 1);
    fix_params(client, arena);
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
    *recorder = (struct recorder){0};
    series_init(&recorder->service, arena, executions);
    recorder->phases = arena_array(arena, struct series, program->phase_count + 1u);
    for (uint16_t i = 0; i < program->phase_count; i++)
        series_init(&recorder->phases[i], arena, executions * phase_repeats(program, i));
    recorder->checks = arena_array(arena, struct check_tally, program->check_count + 1u);
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
    for (uint16_t i = 0; i < program->phase_count; i++)
        series_append(&into->phases[i], &from->phases[i]);
    for (uint32_t i = 0; i < program->check_count; i++)
        tally_move(&into->checks[i], &from->checks[i]);
    into->operations += from->operations;
    into->rows += from->rows;
    into->affected += from->affected;
}
