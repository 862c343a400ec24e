#include "base/text.h"
#include "run/run_internal.h"

/* Row-driven operations deal the rows of successive executions out among the clients; an
 * execution that leaves one out leaves its rows out. */
static uint64_t first_row(const struct client *client, const struct client_step *at)
{
    const struct prog_op *op = at->op;
    if (!op->rows)
        return (client->execution - 1) * op->repeat + client->repetition + 1;
    const struct prog_stage *stage = &client->program->stages[client->stage];
    uint64_t turn =
        (client->execution - client->stage_begun) * client->plan->clients + client->number - 1;
    return client->stage_row + turn * stage->rows_per_execution + at->row_offset +
           (uint64_t)client->repetition * op->rows;
}

void client_bind(struct client *client, const struct client_step *at, struct value *params)
{
    const struct prog_op *op = at->op;
    const struct prog_bind *binds = &client->program->binds[op->bind_first];
    const uint64_t *streams = &client->bind_streams[op->bind_first];
    struct gen_ctx *gen = &client->gen;
    uint32_t rows = op->rows ? op->rows : 1;
    gen->scratch_used = 0;
    gen->row = first_row(client, at);
    for (; rows > 0; rows--, gen->row++) {
        for (uint32_t i = 0; i < op->bind_count; i++) {
            gen->stream = streams[i];
            gen_eval(gen, binds[i].tree, params++);
        }
    }
}

/* What a check expects; texts go behind the parameters in the scratch buffer. */
static struct value expectation(struct client *client, const struct prog_check *check,
                                const struct value *params)
{
    struct value expected = check->value;
    if (!check->constant) {
        uint32_t used = client->gen.scratch_used;
        client->gen.bound = params;
        gen_eval(&client->gen, check->expected, &expected);
        client->gen.scratch_used = used;
    }
    return expected;
}

static struct value finding(const struct client *client, const struct prog_check *check)
{
    switch (check->kind) {
    case PROG_CHECK_ROWS: return value_int((int64_t)client->outcome.rows);
    case PROG_CHECK_AFFECTED: return value_int(client->outcome.affected);
    case PROG_CHECK_VALUE:
        if (check->column < client->sink.count)
            return client->sink.first[check->column];
        break;
    case PROG_CHECK_ERROR: break;
    }
    return (struct value){.type = VALUE_NULL};
}

static struct value keep_value(const struct value *value, char text[160])
{
    struct value kept = *value;
    if (kept.type == VALUE_TEXT || kept.type == VALUE_BLOB) {
        kept.bytes = kept.bytes < 160 ? kept.bytes : 160;
        memcpy(text, value->as.text, kept.bytes);
        kept.as.text = text;
    }
    return kept;
}

static void tally(struct check_tally *tally, const struct value *expected,
                  const struct value *found, bool ok)
{
    tally->times++;
    if (tally->seen && (ok || tally->failed))
        return;
    tally->seen = true;
    tally->failed = !ok;
    tally->expected = keep_value(expected, tally->texts[0]);
    tally->found = keep_value(found, tally->texts[1]);
}

static const char *check_name(enum prog_check_kind kind)
{
    static const char *const names[] = {[PROG_CHECK_ROWS] = "rows",
                                        [PROG_CHECK_AFFECTED] = "affected",
                                        [PROG_CHECK_VALUE] = "value",
                                        [PROG_CHECK_ERROR] = "error"};
    return names[kind];
}

static struct client_failure *failure_begin(struct client *client, const struct prog_op *op,
                                            const char *what)
{
    struct client_failure *failure = &client->failure;
    bool named = op->kind == PROG_EXECUTE;
    *failure = (struct client_failure){
        .failed = true,
        .what = what,
        .stmt = named ? client->program->stmts[op->stmt].name : "",
        .client = client->number,
        .execution = client->execution,
        .verdict = client->outcome.verdict,
        .code = client->outcome.code,
    };
    memcpy(failure->sqlstate, client->outcome.sqlstate, sizeof failure->sqlstate);
    plan_stop(client->plan);
    return failure;
}

static bool wrong(struct client *client, const struct prog_op *op,
                  const struct check_tally *seen)
{
    const struct prog_check *first = &client->program->checks[op->check_first];
    size_t index = (size_t)(seen - &client->recorder->checks[op->check_first]);
    struct client_failure *failure = failure_begin(client, op, check_name(first[index].kind));
    failure->expected = keep_value(&seen->expected, failure->texts[0]);
    failure->found = keep_value(&seen->found, failure->texts[1]);
    return false;
}

static bool fail(struct client *client, const struct prog_op *op)
{
    struct client_failure *failure = failure_begin(client, op, "statement");
    const char *text = client->class->last_error(client->conn);
    if ((!text || !*text) && client->outcome.verdict == DRV_TIMEOUT)
        text = "the answer came after the deadline";
    text_print(failure->message, sizeof failure->message, "%s", text ? text : "");
    return false;
}

/* Open loop: it was cancelled because the drain time was over. */
static bool given_up(const struct client *client)
{
    return client->open && atomic_load_explicit(&client->plan->given_up, memory_order_relaxed);
}

/* The operation failed: right if a check expects that very error. */
static bool judge_error(struct client *client, const struct prog_op *op)
{
    bool lost = client->outcome.verdict == DRV_LOST; /* nothing expects that */
    for (uint16_t i = 0; i < op->check_count && !lost; i++) {
        const struct prog_check *check = &client->program->checks[op->check_first + i];
        if (check->kind != PROG_CHECK_ERROR)
            continue;
        struct value expected = expectation(client, check, client->at->wire.params);
        char code[24];
        uint32_t bytes = (uint32_t)text_print(code, sizeof code, "%d", client->outcome.code);
        struct value number = value_text(code, bytes);
        struct value state =
            value_text(client->outcome.sqlstate, (uint32_t)strlen(client->outcome.sqlstate));
        bool ok = value_same(&expected, &state) || value_same(&expected, &number);
        struct check_tally *seen = &client->recorder->checks[op->check_first + i];
        tally(seen, &expected, state.bytes ? &state : &number, ok);
        if (ok)
            return true;
    }
    return fail(client, op);
}

bool client_check(struct client *client)
{
    const struct prog_op *op = client->at->op;
    if (client->outcome.verdict != DRV_OK)
        return !given_up(client) && judge_error(client, op);
    for (uint16_t i = 0; i < op->check_count; i++) {
        const struct prog_check *check = &client->program->checks[op->check_first + i];
        struct check_tally *seen = &client->recorder->checks[op->check_first + i];
        struct value expected = expectation(client, check, client->at->wire.params);
        struct value found = finding(client, check);
        bool same = expected.type == VALUE_INT && found.type == VALUE_INT
                        ? expected.as.i == found.as.i
                        : value_same(&expected, &found);
        bool ok = same && check->kind != PROG_CHECK_ERROR;
        tally(seen, &expected, &found, ok);
        if (!ok)
            return wrong(client, op, seen);
    }
    return true;
}

void client_expect(struct client *client, const struct prog_op *op, const struct value *params,
                   struct drv_expect *expect)
{
    *expect = (struct drv_expect){.affected = -1, .values = client->expect_values};
    for (uint16_t i = 0; i < op->check_count; i++) {
        const struct prog_check *check = &client->program->checks[op->check_first + i];
        struct value value = expectation(client, check, params);
        if (check->kind == PROG_CHECK_ROWS) {
            expect->rows = (uint64_t)value.as.i;
        } else if (check->kind == PROG_CHECK_AFFECTED) {
            expect->affected = value.as.i;
        } else if (check->kind == PROG_CHECK_ERROR) {
            expect->error = true;
            expect->error_text = value.as.text;
        } else if (check->column < CLIENT_COLUMNS_MAX) {
            client->expect_values[check->column] = value;
            if (check->column >= expect->value_count)
                expect->value_count = (uint16_t)(check->column + 1);
            if (expect->rows == 0)
                expect->rows = 1;
        }
    }
}
