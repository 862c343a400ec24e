#include "driver/wire_pg_internal.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* Pipelines are sent in pieces of this size, so that the server begins early. */
enum { SEND_BYTES = 65536 };

static int wpg_fd(const struct drv_conn *conn)
{
    return ((const struct wpg_conn *)conn)->io.fd;
}

static void send_out(struct wpg_conn *wpg)
{
    if (wire_io_send(&wpg->io) == WIRE_IO_LOST) {
        wpg->broken = true;
        wpg->io.out_sent = wpg->io.out_used = 0;
    }
}

/* The last operation that was submitted gets a Sync of its own. */
static NOINLINE bool close_group(struct wpg_conn *wpg)
{
    assert(wpg->count > 0);
    uint32_t last = wpg->head + wpg->count - 1;
    char *at = wire_io_room(&wpg->io, PGP_SYNC_BYTES);
    if (!at)
        return false;
    wpg->io.out_used += (size_t)(pgp_bare_put(at, PGP_SYNC) - at);
    wpg->flights[last < wpg->room ? last : last - wpg->room].sync = true;
    wpg->open = false;
    return true;
}

/* Not even a Sync can be sent any more. */
static NOINLINE void no_room(struct wpg_conn *wpg)
{
    text_print(wpg->io.error, sizeof(wpg->io.error),
               "the messages that wait to be sent do not fit %zu bytes (?message_bytes=)",
               wpg->most);
    wpg->broken = true;
}

/* Nothing is sent for this operation; but when it is the last of a pipeline, its Sync is. */
static NOINLINE void unsent(struct wpg_conn *wpg, struct wpg_flight *flight,
                            const struct drv_op *op, const char *why)
{
    char *at = NULL;
    flight->unsent = why;
    flight->sync = false;
    if (!wpg->open || op->more)
        return;
    at = wire_io_room(&wpg->io, PGP_SYNC_BYTES);
    if (!at) {
        no_room(wpg);
        return;
    }
    wpg->io.out_used += (size_t)(pgp_bare_put(at, PGP_SYNC) - at);
    flight->sync = true;
    wpg->open = false;
}

static struct slice simple_sql(const struct drv_op *op, const struct wpg_stmt *stmt)
{
    switch (op->kind) {
    case DRV_OP_EXECUTE: assert(stmt); return stmt->sql;
    case DRV_OP_PING: return slice_of("");
    case DRV_OP_BEGIN: return slice_of("BEGIN");
    case DRV_OP_COMMIT: return slice_of("COMMIT");
    case DRV_OP_ROLLBACK: break;
    }
    return slice_of("ROLLBACK");
}

static const char does_not_fit[] =
    "the statement with its parameters does not fit a message; raise it with ?message_bytes=";

/* A simple query has a Sync of its own; it would be skipped after an error before it, so what
 * was open is closed first. */
static NOINLINE void submit_simple(struct wpg_conn *wpg, struct wpg_flight *flight,
                                   const struct drv_op *op)
{
    struct slice sql = simple_sql(op, flight->stmt);
    if (op->kind == DRV_OP_EXECUTE && op->param_count > 0) {
        unsent(wpg, flight, op, "wrong number of parameters");
        return;
    }
    char *at = NULL;
    if (!wpg->open || close_group(wpg))
        at = wire_io_room(&wpg->io, pgp_room(sql.bytes));
    if (!at) {
        unsent(wpg, flight, op, does_not_fit);
        return;
    }
    wpg->io.out_used += (size_t)(pgp_query_put(at, sql) - at);
    flight->sync = true;
}

static char *put_bind(struct wpg_conn *wpg, struct wpg_flight *flight, const struct drv_op *op,
                      bool sync)
{
    struct wire_io *io = &wpg->io;
    const struct pgp_bind *bind = &flight->stmt->bind;
    if (op->param_count != bind->param_count) {
        unsent(wpg, flight, op, "wrong number of parameters");
        return NULL;
    }
    size_t bytes = pgp_bind_bytes(bind, op->params);
    char *at = io->out + io->out_used;
    if (io->out_sent > 0 || bytes > io->out_room - io->out_used)
        at = bytes < wpg->most ? wire_io_room(io, bytes) : NULL;
    if (!at) {
        unsent(wpg, flight, op, does_not_fit);
        return NULL;
    }
    char *end = pgp_bind_put(bind, op->params, sync, at);
    if (!end)
        unsent(wpg, flight, op,
               "a text parameter has a NUL byte, which PostgreSQL cannot store");
    return end;
}

static void submit_bind(struct wpg_conn *wpg, struct wpg_flight *flight,
                        const struct drv_op *op)
{
    bool sync = !op->more || wpg->sync_each;
    char *end = put_bind(wpg, flight, op, sync);
    if (!end)
        return;
    wpg->io.out_used = (size_t)(end - wpg->io.out);
    flight->sync = sync;
    flight->plain = flight->stmt->known != NULL;
    wpg->open = !sync;
}

/* An operation that was never sent, or that the server skips. Is it complete already? */
static NOINLINE bool begin_odd(struct wpg_conn *wpg, const struct wpg_flight *flight)
{
    wpg->verdict = DRV_ERROR;
    wpg->ended = wpg->refused = true;
    wpg->sqlstate[0] = '\0';
    error_copy(wpg->error, sizeof(wpg->error),
               flight->unsent ? flight->unsent
                              : "skipped: an earlier statement of the pipeline failed");
    return !flight->sync;
}

static HOT bool begin(struct wpg_conn *wpg)
{
    const struct wpg_flight *flight = wpg_head(wpg);
    wpg->rows = 0;
    wpg->affected = -1;
    wpg->shape = flight->stmt ? flight->stmt->known : NULL;
    wpg->verdict = DRV_OK;
    wpg->sqlstate[0] = '\0';
    wpg->begun = true;
    wpg->ended = wpg->copying = wpg->refused = false;
    if (flight->unsent || wpg->skipping)
        return begin_odd(wpg, flight);
    return false;
}

static inline struct wpg_flight *next_flight(struct wpg_conn *wpg)
{
    assert(wpg->count < wpg->room);
    uint32_t at = wpg->head + wpg->count;
    return &wpg->flights[at < wpg->room ? at : at - wpg->room];
}

/* One more is in flight: sends what is there, unless more follows. */
static inline enum drv_step submitted(struct wpg_conn *wpg, const struct wpg_flight *flight,
                                      bool more)
{
    wpg->count++;
    wpg->waits = true;
    wpg->quiet = wpg->plain = false;
    if (more && wpg->io.out_used < SEND_BYTES)
        return DRV_DONE;
    if (wpg->io.out_used > 0)
        send_out(wpg);
    bool alone = flight->sync && wpg->count == 1 && wpg->io.out_used == 0 && !wpg->broken;
    if (!alone)
        return DRV_DONE;
    wpg->waits = false;
    return DRV_WANT_READ;
}

static NOINLINE enum drv_step submit(struct wpg_conn *wpg, const struct drv_op *op)
{
    struct wpg_flight *flight = next_flight(wpg);
    *flight = (struct wpg_flight){.sink = op->sink,
                                  .kind = (uint8_t)op->kind,
                                  .depth = (uint8_t)op->depth};
    if (op->kind == DRV_OP_EXECUTE) {
        assert(op->stmt < wpg->stmt_count);
        flight->stmt = &wpg->stmts[op->stmt];
    }
    if (flight->stmt && !flight->stmt->direct)
        submit_bind(wpg, flight, op);
    else
        submit_simple(wpg, flight, op);
    return submitted(wpg, flight, op->more);
}

/* An execution with whole numbers, behind others: what submit() does, without its questions. */
static FLAT NOINLINE HOT enum drv_step submit_plain(struct wpg_conn *wpg,
                                                    const struct drv_op *op)
{
    struct wire_io *io = &wpg->io;
    assert(op->stmt < wpg->stmt_count);
    const struct wpg_stmt *stmt = &wpg->stmts[op->stmt];
    if (io->out_sent > 0 || stmt->plain_bytes > io->out_room - io->out_used ||
        op->param_count != stmt->bind.param_count)
        return submit(wpg, op);
    char *end = pgp_bind_put_plain(&stmt->bind, op->params, io->out + io->out_used);
    if (!end)
        return submit(wpg, op);
    bool sync = !op->more || wpg->sync_each;
    io->out_used = (size_t)(end - io->out) - (sync ? 0 : PGP_SYNC_BYTES);
    wpg->open = !sync;
    struct wpg_flight *flight = next_flight(wpg);
    *flight = (struct wpg_flight){.sink = op->sink,
                                  .stmt = stmt,
                                  .kind = DRV_OP_EXECUTE,
                                  .depth = (uint8_t)op->depth,
                                  .sync = sync,
                                  .plain = true};
    return submitted(wpg, flight, op->more);
}

/* By far the most frequent case: one execution with whole numbers, and nothing else in flight.
 * It does what submit() does, without its questions. */
static FLAT NOINLINE HOT enum drv_step submit_alone(struct wpg_conn *wpg,
                                                    const struct drv_op *op)
{
    struct wire_io *io = &wpg->io;
    assert(op->stmt < wpg->stmt_count);
    const struct wpg_stmt *stmt = &wpg->stmts[op->stmt];
    if (stmt->plain_bytes > io->out_room || op->param_count != stmt->bind.param_count)
        return submit(wpg, op);
    char *end = pgp_bind_put_plain(&stmt->bind, op->params, io->out);
    if (!end)
        return submit(wpg, op);
    io->out_used = (size_t)(end - io->out);
    wpg->flights[0] = (struct wpg_flight){.sink = op->sink,
                                          .stmt = stmt,
                                          .kind = DRV_OP_EXECUTE,
                                          .depth = (uint8_t)op->depth,
                                          .sync = true};
    wpg->head = 0;
    wpg->count = 1;
    wpg->waits = wpg->quiet = false;
    wpg->plain = wire_io_send_first(io);
    if (wpg->plain)
        return DRV_WANT_READ;
    send_out(wpg);
    return DRV_DONE;
}

static HOT enum drv_step wpg_submit(struct drv_conn *conn, const struct drv_op *op)
{
    struct wpg_conn *wpg = (struct wpg_conn *)conn;
    if (op->kind != DRV_OP_EXECUTE)
        return submit(wpg, op);
    return wpg->quiet && !op->more ? submit_alone(wpg, op) : submit_plain(wpg, op);
}

static NOINLINE void copy_failure(const struct wpg_conn *wpg, struct drv_outcome *outcome)
{
    memcpy(outcome->sqlstate, wpg->sqlstate, sizeof(outcome->sqlstate));
    outcome->code = 0;
}

static HOT enum drv_step complete(struct wpg_conn *wpg, struct drv_outcome *outcome)
{
    outcome->verdict = wpg->verdict;
    outcome->rows = wpg->rows;
    outcome->affected = wpg->affected;
    if (wpg->verdict != DRV_OK)
        copy_failure(wpg, outcome);
    wpg->begun = false;
    wpg->head = wpg->head + 1 < wpg->room ? wpg->head + 1 : 0;
    wpg->count--;
    wpg->quiet =
        wpg->count == 0 && wpg->io.out_used == 0 && wpg->io.in_start == wpg->io.in_used;
    return DRV_DONE;
}

static NOINLINE enum drv_step lost(struct wpg_conn *wpg, struct drv_outcome *outcome)
{
    if (wpg->verdict == DRV_OK && !wpg->garbled)
        text_print(wpg->error, sizeof(wpg->error), "the connection to PostgreSQL is lost: %s",
                   wpg->io.error);
    wpg->verdict = DRV_LOST;
    (void)complete(wpg, outcome);
    wpg->head = wpg->count = 0;
    return DRV_FAILED;
}

/* What has not been sent yet. The server may wait for us to read meanwhile, so we read on. */
static NOINLINE bool still_writing(struct wpg_conn *wpg)
{
    if (wpg->open && !close_group(wpg))
        no_room(wpg);
    send_out(wpg);
    bool writing = wpg->io.out_used > 0;
    wpg->waits = wpg->waits && !writing;
    return writing;
}

/* More bytes, or what to wait for. A read that did not fill the buffer took all there was; a
 * TLS session may hold more than its socket tells. */
static HOT enum wire_io_state receive(struct wpg_conn *wpg)
{
    struct wire_io *io = &wpg->io;
    if (wpg->waits) {
        wpg->waits = false;
        return WIRE_IO_READ;
    }
    enum wire_io_state state = wire_io_receive(io, wpg->need);
    if (state == WIRE_IO_DONE)
        wpg->waits = !io->tls && io->in_used < io->in_room;
    return state;
}

/* What has been read of the answer is not the usual; a row of it may have been given away. */
static NOINLINE void begin_behind(struct wpg_conn *wpg, uint64_t rows)
{
    wpg_head(wpg)->plain = false;
    (void)begin(wpg);
    wpg->rows = rows;
}

static inline enum drv_step usual(struct wpg_conn *wpg, struct drv_outcome *outcome)
{
    outcome->verdict = DRV_OK;
    outcome->affected = -1;
    wpg->quiet = wpg->count == 0 && wpg->io.in_start == wpg->io.in_used;
    return DRV_DONE;
}

/* The answer to the operation at the head, when it is there, whole and as usual. */
static HOT bool take_plain(struct wpg_conn *wpg, struct drv_outcome *outcome)
{
    struct wpg_flight *flight = wpg_head(wpg);
    if (!flight->plain || wpg->skipping)
        return false;
    if (!wpg_take_plain(wpg, flight, flight->sync, &outcome->rows)) {
        begin_behind(wpg, outcome->rows);
        return false;
    }
    wpg->head = wpg->head + 1 < wpg->room ? wpg->head + 1 : 0;
    wpg->count--;
    return true;
}

/* Takes what is there of the answer to the operation at the head; true when that ends the step.
 */
static HOT bool answered(struct wpg_conn *wpg, struct drv_outcome *outcome, enum drv_step *step)
{
    enum wpg_taken taken = WPG_MORE;
    bool some = wpg->io.in_start < wpg->io.in_used;
    if (!wpg->begun && some && take_plain(wpg, outcome)) {
        *step = usual(wpg, outcome);
        return true;
    }
    if (!wpg->begun && begin(wpg))
        taken = WPG_COMPLETE;
    else if (some)
        taken = wpg_take(wpg);
    if (taken == WPG_COMPLETE)
        *step = complete(wpg, outcome);
    else if (taken == WPG_LOST)
        *step = lost(wpg, outcome);
    return taken == WPG_COMPLETE || taken == WPG_LOST;
}

static NOINLINE HOT enum drv_step step_on(struct wpg_conn *wpg, struct drv_outcome *outcome)
{
    enum drv_step step = DRV_DONE;
    bool writing = (wpg->io.out_used > 0 || wpg->open) && still_writing(wpg);
    assert(wpg->count > 0);
    while (!answered(wpg, outcome, &step)) {
        enum wire_io_state state = receive(wpg);
        if (state == WIRE_IO_DONE)
            continue;
        if (state == WIRE_IO_LOST || wpg->broken)
            return lost(wpg, outcome);
        writing = writing || wpg->io.out_used > 0; /* the answer may have asked for an answer */
        return state == WIRE_IO_WRITE || writing ? DRV_WANT_WRITE : DRV_WANT_READ;
    }
    return step;
}

/* The answer to one plain execution that is alone: read at once, all of it with luck. */
static FLAT NOINLINE HOT enum drv_step step_plain(struct wpg_conn *wpg,
                                                  struct drv_outcome *outcome)
{
    wpg->plain = false;
    enum wire_io_state state = wire_io_receive_first(&wpg->io);
    if (state == WIRE_IO_LOST) {
        begin_behind(wpg, 0);
        return lost(wpg, outcome);
    }
    if (state != WIRE_IO_DONE)
        return step_on(wpg, outcome);
    if (!wpg_take_plain(wpg, wpg->flights, true, &outcome->rows)) {
        begin_behind(wpg, outcome->rows);
        return step_on(wpg, outcome);
    }
    wpg->count = 0;
    return usual(wpg, outcome);
}

/* Answers to a pipeline, which come many at a time. */
static FLAT NOINLINE HOT enum drv_step step_fresh(struct wpg_conn *wpg,
                                                  struct drv_outcome *outcome)
{
    return take_plain(wpg, outcome) ? usual(wpg, outcome) : step_on(wpg, outcome);
}

static HOT enum drv_step wpg_step(struct drv_conn *conn, struct drv_outcome *outcome)
{
    struct wpg_conn *wpg = (struct wpg_conn *)conn;
    if (wpg->plain)
        return step_plain(wpg, outcome);
    bool fresh = wpg->count > 0 && !wpg->begun && wpg->io.in_start < wpg->io.in_used;
    return fresh ? step_fresh(wpg, outcome) : step_on(wpg, outcome);
}

static void wpg_cancel(struct drv_conn *conn)
{
    struct wpg_conn *wpg = (struct wpg_conn *)conn;
    char ignored[256];
    atomic_store(&wpg->cancelled, true);
    (void)PQcancel(wpg->cancel, ignored, sizeof(ignored));
}

static void wpg_sever(struct drv_conn *conn)
{
    wire_io_sever(&((struct wpg_conn *)conn)->io);
}

static const char *wpg_last_error(const struct drv_conn *conn)
{
    return ((const struct wpg_conn *)conn)->error;
}

static const char *const describe_names[] = {"each", "once", NULL};
static const char *const format_names[] = {"text", "binary", NULL};
static const char *const mode_names[] = {"prepared", "extended", NULL};
static const char *const sync_names[] = {"pipeline", "statement", NULL};

static const struct drv_option wpg_options[] = {
    {.name = "describe",
     .help = "each: the columns are asked for with every execution, as libpq does; once: only "
             "when a statement is prepared", .type = DRV_OPTION_CHOICE,
     .offset = offsetof(struct wpg_options, describe),
     .values = describe_names,
     .initial = "each"},
    {.name = "format",
     .help = "text, or binary for the types whose binary form gives the same values",
     .type = DRV_OPTION_CHOICE,
     .offset = offsetof(struct wpg_options, format),
     .values = format_names,
     .initial = "text"},
    {.name = "mode",
     .help = "prepared, or extended: statements are sent with every execution, for poolers "
             "that lose prepared ones", .type = DRV_OPTION_CHOICE,
     .offset = offsetof(struct wpg_options, mode),
     .values = mode_names,
     .initial = "prepared"},
    {.name = "sync",
     .help = "of a pipeline: one Sync at its end, or one after each statement",
     .type = DRV_OPTION_CHOICE,
     .offset = offsetof(struct wpg_options, sync),
     .values = sync_names,
     .initial = "pipeline"},
    {.name = "message_bytes",
     .help = "the largest message that is sent and accepted",
     .type = DRV_OPTION_INT,
     .offset = offsetof(struct wpg_options, message_bytes),
     .min = 65536,
     .max = INT32_MAX,
     .initial = "1073741824"},
    {0 },
};

const struct drv_class drv_wire_pg = {
    .name = "wire",
    .summary = "PostgreSQL and what speaks its protocol, by our own client on libpq's login",
    .abi = DRV_ABI,
    .caps = DRV_CAP_ASYNC | DRV_CAP_PIPELINE | DRV_CAP_PING | DRV_CAP_REMOTE,
    .control = &drv_libpq,
    .options = wpg_options,
    .options_bytes = sizeof(struct wpg_options),
    .conn_bytes = sizeof(struct wpg_conn),
    .files = 2, /* with TLS the library's own stays open */
    .open = wpg_open,
    .close = wpg_close,
    .fd = wpg_fd,
    .prepare = wpg_prepare,
    .submit = wpg_submit,
    .step = wpg_step,
    .cancel = wpg_cancel,
    .sever = wpg_sever,
    .last_error = wpg_last_error,
    .library = wpg_library,
};
