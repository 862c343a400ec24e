#include "base/num.h"
#include "driver/libpq_internal.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* libpq closes its own descriptor as soon as the connection breaks. */
static int pq_fd(const struct drv_conn *conn)
{
    return ((const struct pq_conn *)conn)->sever_fd;
}

static bool fail_submit(struct pq_conn *pq, const char *message)
{
    error_copy(pq->error, sizeof(pq->error), message);
    return false;
}

/* Text into the buffer, with the NUL that libpq needs. `reserved` is for what follows. */
static bool put_text(struct pq_conn *pq, const struct value *value, size_t reserved)
{
    if (value->bytes > 0 && memchr(value->as.text, '\0', value->bytes))
        return fail_submit(pq,
                           "a text parameter has a NUL byte, which PostgreSQL cannot store");
    if (value->bytes + reserved >= pq->buffer_room - pq->buffer_used)
        return fail_submit(pq, "the text parameters of one statement do not fit their buffer; "
                               "raise it with ?param_bytes=");
    char *at = pq->buffer + pq->buffer_used;
    if (value->bytes > 0)
        memcpy(at, value->as.text, value->bytes);
    at[value->bytes] = '\0';
    pq->buffer_used += value->bytes + 1;
    return true;
}

static void put_raw(struct pq_conn *pq, const struct value *value, uint32_t index)
{
    pq->formats[index] = 1;
    pq->lengths[index] = (int)value->bytes;
    pq->values[index] = value->bytes > 0 ? value->as.text : "";
}

static size_t print_real(char *at, double real)
{
    return isnan(real) ? text_print(at, PQ_NUMBER_BYTES, "NaN")
                       : text_print(at, PQ_NUMBER_BYTES, "%.17g", real);
}

/* Numbers go as text. A blob, and a longer text of a type whose binary form is its own bytes,
 * is sent from where it lies. */
static bool put_param(struct pq_conn *pq, enum pgp_param kind, const struct value *value,
                      uint32_t index, size_t reserved)
{
    char *at = pq->buffer + pq->buffer_used;
    pq->values[index] = at;
    pq->formats[index] = 0;
    switch (value->type) {
    case VALUE_NULL: pq->values[index] = NULL; return true;
    case VALUE_INT:
        at[num_print_i64(at, value->as.i)] = '\0';
        pq->buffer_used += strlen(at) + 1;
        return true;
    case VALUE_REAL: pq->buffer_used += print_real(at, value->as.r) + 1; return true;
    case VALUE_TEXT:
        if (kind != PGP_PARAM_CHARS || value->bytes < PQ_NUMBER_BYTES)
            return put_text(pq, value, reserved);
        break;
    case VALUE_BLOB: break;
    }
    put_raw(pq, value, index);
    return true;
}

static bool put_params(struct pq_conn *pq, const struct pq_stmt *stmt, const struct drv_op *op)
{
    size_t reserved = (size_t)op->param_count * PQ_NUMBER_BYTES;
    pq->buffer_used = 0;
    for (uint32_t i = 0; i < op->param_count; i++) {
        reserved -= PQ_NUMBER_BYTES;
        if (!put_param(pq, stmt->params[i], &op->params[i], i, reserved))
            return false;
    }
    return true;
}

static bool send_execute(struct pq_conn *pq, const struct drv_op *op)
{
    assert(op->stmt < pq->stmt_count);
    const struct pq_stmt *stmt = &pq->stmts[op->stmt];
    if (op->param_count != stmt->param_count)
        return fail_submit(pq, "wrong number of parameters");
    if (stmt->direct)
        return PQsendQuery(pq->db, stmt->sql) == 1;
    if (!put_params(pq, stmt, op))
        return false;
    return PQsendQueryPrepared(pq->db, stmt->name, (int)op->param_count, pq->values,
                               pq->lengths, pq->formats, 0) == 1;
}

static bool send(struct pq_conn *pq, const struct drv_op *op)
{
    switch (op->kind) {
    case DRV_OP_EXECUTE: return send_execute(pq, op);
    case DRV_OP_PING: return PQsendQuery(pq->db, "") == 1;
    case DRV_OP_BEGIN: return PQsendQuery(pq->db, "BEGIN") == 1;
    case DRV_OP_COMMIT: return PQsendQuery(pq->db, "COMMIT") == 1;
    case DRV_OP_ROLLBACK: break;
    }
    return PQsendQuery(pq->db, "ROLLBACK") == 1;
}

static enum drv_step pq_submit(struct drv_conn *conn, const struct drv_op *op)
{
    struct pq_conn *pq = (struct pq_conn *)conn;
    const struct pq_options *options = conn->options;
    pq->kind = op->kind;
    pq->depth = op->depth;
    pq->sink = op->sink && op->sink->row ? op->sink : NULL;
    pq->known = false;
    pq->flushed = false;
    pq->error[0] = '\0';
    pq->outcome = (struct drv_outcome){.verdict = DRV_OK, .affected = -1};
    pq->failed = !send(pq, op);
    if (!pq->failed && op->kind == DRV_OP_EXECUTE && options->rows == PQ_ROWS_STREAM)
        (void)PQsetSingleRowMode(pq->db);
    return DRV_DONE;
}

static void learn_columns(struct pq_conn *pq, const PGresult *result)
{
    int count = PQnfields(result);
    count = count < pq->row_room ? count : pq->row_room;
    for (int i = 0; i < count; i++)
        pq->columns[i] = (uint8_t)pgp_kind_of(PQftype(result, i), false);
    pq->column_count = (uint16_t)count;
    pq->known = true;
}

static struct value read_column(const struct pq_conn *pq, const PGresult *result, int row,
                                int column)
{
    if (PQgetisnull(result, row, column))
        return (struct value){.type = VALUE_NULL};
    char *text = PQgetvalue(result, row, column);
    uint32_t bytes = (uint32_t)PQgetlength(result, row, column);
    if (pq->depth == PROG_WALK)
        return value_text(text, bytes);
    return pgp_decode(pq->columns[column], text, bytes);
}

static void give_rows(struct pq_conn *pq, const PGresult *result)
{
    int rows = PQntuples(result);
    pq->outcome.rows += (uint64_t)rows;
    if (pq->depth == PROG_DRAIN) {
        for (int row = 0; pq->sink && row < rows; row++)
            pq->sink->row(pq->sink, NULL, 0);
        return;
    }
    if (!pq->known && rows > 0)
        learn_columns(pq, result);
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < pq->column_count; column++)
            pq->row[column] = read_column(pq, result, row, column);
        if (pq->sink)
            pq->sink->row(pq->sink, pq->row, pq->column_count);
    }
}

/* Only statements that change rows: PostgreSQL also counts what a SELECT answers. */
static void read_affected(struct pq_conn *pq, PGresult *result)
{
    static const char *const words[] = {"INSERT", "UPDATE", "DELETE", "MERGE"};
    struct slice status = slice_of(PQcmdStatus(result));
    int64_t affected;
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (slice_starts(status, words[i]) && num_i64(slice_of(PQcmdTuples(result)), &affected))
            pq->outcome.affected = affected;
    }
}

enum drv_verdict pq_verdict(const char *sqlstate, bool cancelled)
{
    if (strcmp(sqlstate, "40001") == 0 || strcmp(sqlstate, "40P01") == 0)
        return DRV_RETRY;
    return cancelled && strcmp(sqlstate, "57014") == 0 ? DRV_TIMEOUT : DRV_ERROR;
}

static void note_error(struct pq_conn *pq, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *code = state ? state : "";
    pq_error_text(result, pq->error, sizeof(pq->error));
    text_print(pq->outcome.sqlstate, sizeof(pq->outcome.sqlstate), "%s", code);
    pq->outcome.verdict = pq_verdict(code, atomic_load(&pq->cancelled));
}

/* COMMIT of a transaction that has failed is answered by ROLLBACK, and without an error. */
static void check_commit(struct pq_conn *pq, PGresult *result)
{
    if (pq->kind == DRV_OP_COMMIT && strcmp(PQcmdStatus(result), "ROLLBACK") == 0) {
        pq->outcome.verdict = DRV_ERROR;
        fail_submit(pq, "COMMIT was answered by ROLLBACK: the transaction had failed");
    }
}

/* False when the connection cannot go on. */
static bool take_result(struct pq_conn *pq, PGresult *result)
{
    switch (PQresultStatus(result)) {
    case PGRES_EMPTY_QUERY: return true;
    case PGRES_COMMAND_OK:
        read_affected(pq, result);
        check_commit(pq, result);
        return true;
    case PGRES_SINGLE_TUPLE: give_rows(pq, result); return true;
    case PGRES_TUPLES_OK:
        give_rows(pq, result);
        read_affected(pq, result);
        return true;
    case PGRES_BAD_RESPONSE:
    case PGRES_NONFATAL_ERROR:
    case PGRES_FATAL_ERROR:
    case PGRES_PIPELINE_ABORTED: note_error(pq, result); return true;
    case PGRES_COPY_IN:
    case PGRES_COPY_OUT:
    case PGRES_COPY_BOTH:
    case PGRES_PIPELINE_SYNC: break;
    }
    return fail_submit(pq, "COPY between client and server is not supported");
}

static enum drv_step finish_lost(struct pq_conn *pq, struct drv_outcome *outcome)
{
    if (pq->error[0] == '\0')
        error_copy(pq->error, sizeof(pq->error), PQerrorMessage(pq->db));
    pq->outcome.verdict = DRV_LOST;
    *outcome = pq->outcome;
    return DRV_FAILED;
}

/* A submit that sent nothing: refused by us, or the connection is gone. */
static enum drv_step finish_unsent(struct pq_conn *pq, struct drv_outcome *outcome)
{
    if (PQstatus(pq->db) == CONNECTION_BAD || pq->error[0] == '\0')
        return finish_lost(pq, outcome);
    pq->outcome.verdict = DRV_ERROR;
    *outcome = pq->outcome;
    return DRV_DONE;
}

/* Sends what is left. The first time all is sent we do not read at once: the answer cannot be
 * there yet, and the attempt would cost a system call. */
static enum drv_step flush(struct pq_conn *pq)
{
    int left = PQflush(pq->db);
    if (left > 0 && !PQconsumeInput(pq->db))
        return DRV_FAILED;
    if (left != 0)
        return left > 0 ? DRV_WANT_WRITE : DRV_FAILED;
    pq->flushed = true;
    return DRV_WANT_READ;
}

static enum drv_step pq_step(struct drv_conn *conn, struct drv_outcome *outcome)
{
    struct pq_conn *pq = (struct pq_conn *)conn;
    if (pq->failed)
        return finish_unsent(pq, outcome);
    if (!pq->flushed) {
        enum drv_step step = flush(pq);
        return step == DRV_FAILED ? finish_lost(pq, outcome) : step;
    }
    bool read = false;
    for (;;) {
        if (PQisBusy(pq->db)) {
            if (read)
                return DRV_WANT_READ;
            if (!PQconsumeInput(pq->db))
                return finish_lost(pq, outcome);
            read = true;
            continue;
        }
        PGresult *result = PQgetResult(pq->db);
        if (!result)
            break;
        bool ok = take_result(pq, result);
        PQclear(result);
        if (!ok)
            return finish_lost(pq, outcome);
    }
    if (PQstatus(pq->db) == CONNECTION_BAD)
        return finish_lost(pq, outcome);
    *outcome = pq->outcome;
    return DRV_DONE;
}

static void pq_cancel(struct drv_conn *conn)
{
    struct pq_conn *pq = (struct pq_conn *)conn;
    char ignored[256];
    atomic_store(&pq->cancelled, true);
    (void)PQcancel(pq->cancel, ignored, sizeof(ignored));
}

static void pq_sever(struct drv_conn *conn)
{
    sever_now(((struct pq_conn *)conn)->sever_fd);
}

static const char *pq_last_error(const struct drv_conn *conn)
{
    return ((const struct pq_conn *)conn)->error;
}

static const char *const rows_names[] = {"whole", "stream", NULL};

static const struct drv_option pq_options[] = {
    {.name = "rows",
     .help = "whole: a result is kept until it is complete; stream: one row at a time",
     .type = DRV_OPTION_CHOICE,
     .offset = offsetof(struct pq_options, rows),
     .values = rows_names,
     .initial = "whole"},
    {.name = "param_bytes",
     .help = "room for the text parameters of one statement",
     .type = DRV_OPTION_INT,
     .offset = offsetof(struct pq_options, param_bytes),
     .min = 1024,
     .max = 1 << 30,
     .initial = "65536"},
    {0                   },
};

const struct drv_class drv_libpq = {
    .name = "libpq",
    .summary = "PostgreSQL and what speaks its protocol, through libpq, non-blocking",
    .abi = DRV_ABI,
    .caps = DRV_CAP_ASYNC | DRV_CAP_PING | DRV_CAP_REMOTE,
    .options = pq_options,
    .options_bytes = sizeof(struct pq_options),
    .conn_bytes = sizeof(struct pq_conn),
    .files = 2, /* the socket, and a second descriptor to sever it */
    .open = pq_open,
    .close = pq_close,
    .fd = pq_fd,
    .place = pq_place,
    .prepare = pq_prepare,
    .query = pq_query,
    .describe = pq_describe,
    .submit = pq_submit,
    .step = pq_step,
    .cancel = pq_cancel,
    .sever = pq_sever,
    .library = pq_library,
    .last_error = pq_last_error,
};
