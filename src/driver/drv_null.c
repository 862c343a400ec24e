/* Answers at once what the operation expects: what is left to measure is the stand itself. */

#include "base/num.h"
#include "driver/driver_internal.h"

#include <string.h>

struct null_conn {
    struct drv_conn base;
    const struct drv_op *op;
    const char *error;
};

static bool null_open(UNUSED struct drv_conn *conn, UNUSED struct err *err)
{
    return true;
}

static void null_close(UNUSED struct drv_conn *conn)
{
}

static bool null_place(UNUSED struct drv_conn *conn, UNUSED const char *name,
                       UNUSED bool create, UNUSED struct err *err)
{
    return true;
}

static bool null_prepare(UNUSED struct drv_conn *conn, UNUSED const struct prog_stmt *stmts,
                         UNUSED uint32_t count, UNUSED struct err *err)
{
    return true;
}

static bool null_query(UNUSED struct drv_conn *conn, UNUSED struct arena *arena,
                       UNUSED const char *sql, struct value *value, uint64_t *rows,
                       UNUSED struct err *err)
{
    if (value)
        *value = (struct value){.type = VALUE_NULL};
    if (rows)
        *rows = 0;
    return true;
}

static bool null_describe(UNUSED struct drv_conn *conn, UNUSED struct arena *arena,
                          struct drv_facts *facts, UNUSED struct err *err)
{
    *facts = (struct drv_facts){
        .server_version = "",
        .client_version = "null",
        .tier = DRV_TIER_NONE,
        .tier_why = "nothing is stored",
    };
    return true;
}

static enum drv_step null_submit(struct drv_conn *conn, const struct drv_op *op)
{
    ((struct null_conn *)conn)->op = op;
    return DRV_DONE;
}

static NOINLINE void answer_error(struct null_conn *null, struct drv_outcome *outcome)
{
    const char *text = null->op->expect->error_text;
    int64_t code;
    null->error = text ? text : "";
    *outcome = (struct drv_outcome){.verdict = DRV_ERROR, .affected = -1};
    if (num_i64(slice_of(null->error), &code) && code > 0 && code <= INT32_MAX)
        outcome->code = (int)code;
    if (strlen(null->error) + 1 == sizeof(outcome->sqlstate))
        memcpy(outcome->sqlstate, null->error, sizeof(outcome->sqlstate));
}

static NOINLINE void give_rows(const struct drv_op *op)
{
    const struct drv_expect *expect = op->expect;
    const struct value *values = op->depth == PROG_DRAIN ? NULL : expect->values;
    uint16_t count = values ? expect->value_count : 0;
    for (uint64_t i = 0; op->sink->row && i < expect->rows; i++)
        op->sink->row(op->sink, values, count);
}

/* The rare and the row by row are apart, so that a plain answer costs a few instructions. */
static enum drv_step null_step(struct drv_conn *conn, struct drv_outcome *outcome)
{
    static const struct drv_expect nothing = {.affected = -1};
    struct null_conn *null = (struct null_conn *)conn;
    const struct drv_op *op = null->op;
    const struct drv_expect *expect = op->expect ? op->expect : &nothing;
    if (expect->error) {
        answer_error(null, outcome);
        return DRV_DONE;
    }
    outcome->verdict = DRV_OK;
    outcome->rows = expect->rows;
    outcome->affected = expect->affected;
    if (op->sink && expect->rows > 0)
        give_rows(op);
    return DRV_DONE;
}

static void null_cancel(UNUSED struct drv_conn *conn)
{
}

static void null_sever(UNUSED struct drv_conn *conn)
{
}

static const char *null_last_error(const struct drv_conn *conn)
{
    const struct null_conn *null = (const struct null_conn *)conn;
    return null->error ? null->error : "";
}

static const struct drv_option null_options[] = {{0}};

const struct drv_class drv_null = {
    .name = "null",
    .summary = "no database: answers at once, shows what the stand itself costs",
    .abi = DRV_ABI,
    .caps = DRV_CAP_PING,
    .options = null_options,
    .conn_bytes = sizeof(struct null_conn),
    .open = null_open,
    .close = null_close,
    .place = null_place,
    .prepare = null_prepare,
    .query = null_query,
    .describe = null_describe,
    .submit = null_submit,
    .step = null_step,
    .cancel = null_cancel,
    .sever = null_sever,
    .last_error = null_last_error,
};
