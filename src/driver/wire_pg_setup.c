#include "driver/wire_pg_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { SET_BLOCK_BYTES = 1024 };

/* libpq has logged in; from here on the connection is ours. With TLS it keeps the session. */
static bool take_over(struct wpg_conn *wpg, struct pq_conn *login, struct err *err)
{
    void *tls = NULL;
    if (PQgssEncInUse(login->db))
        return err_set(err, ERR_USAGE,
                       "the wire client cannot take over a connection that GSSAPI encrypts; "
                       "use gssencmode=disable or client=libpq");
    if (PQsslInUse(login->db)) {
        tls = PQsslStruct(login->db, "OpenSSL");
        if (!tls)
            return err_set(err, ERR_USAGE,
                           "the wire client needs a libpq whose TLS is OpenSSL's; use "
                           "sslmode=disable or client=libpq");
    }
    if (!wire_io_take(&wpg->io, PQsocket(login->db), tls, wpg->most, err))
        return false;
    wpg->cancel = login->cancel;
    login->cancel = NULL;
    if (tls) {
        wpg->db = login->db;
        login->db = NULL;
    }
    return true;
}

bool wpg_open(struct drv_conn *conn, struct err *err)
{
    struct wpg_conn *wpg = (struct wpg_conn *)conn;
    const struct wpg_options *options = conn->options;
    struct pq_conn login = {.base = *conn};
    wpg->sync_each = options->sync == WPG_SYNC_STATEMENT;
    wpg->describe_once = options->describe == WPG_DESCRIBE_ONCE;
    wpg->most = (size_t)options->message_bytes;
    wpg->flights = &wpg->one;
    wpg->room = 1;
    bool ok = pq_open(&login.base, err) && take_over(wpg, &login, err);
    pq_close(&login.base);
    return ok;
}

void wpg_close(struct drv_conn *conn)
{
    struct wpg_conn *wpg = (struct wpg_conn *)conn;
    char *at = wpg->io.fd > 0 ? wire_io_room(&wpg->io, PGP_HEADER_BYTES) : NULL;
    if (at && wpg->io.out_used == 0) {
        wpg->io.out_used += (size_t)(pgp_bare_put(at, PGP_TERMINATE) - at);
        (void)wire_io_send(&wpg->io);
    }
    wire_io_close(&wpg->io);
    PQfreeCancel(wpg->cancel);
    PQfinish(wpg->db);
    wpg->cancel = NULL;
    wpg->db = NULL;
    free(wpg->row);
    free(wpg->learned.kinds);
    wpg->row = NULL;
    wpg->learned.kinds = NULL;
    arena_destroy(&wpg->set_arena);
}

const char *wpg_library(struct arena *arena)
{
    return arena_printf(arena, "wire, login by %s", pq_library(arena));
}

/* What a statement's preparation was answered with. */
struct reply {
    struct arena *arena;
    const uint8_t *params; /* enum pgp_param of each */
    uint8_t *formats;      /* of the columns */
    struct wpg_shape shape;
    char head[WPG_HEAD_BYTES]; /* as in struct wpg_stmt */
    size_t described_bytes;    /* of the RowDescription */
    uint16_t param_count;
    bool binary;
    bool done;
    char error[DRV_ERROR_BYTES]; /* of the first failure, or empty */
    char sqlstate[6];
};

static const char *read_params(struct reply *reply, struct slice body)
{
    const char *types, *fault = pgp_params(body, &reply->param_count, &types);
    if (fault)
        return fault;
    uint8_t *params = arena_array(reply->arena, uint8_t, reply->param_count);
    for (size_t i = 0; i < reply->param_count; i++)
        params[i] = (uint8_t)pgp_param_of(pgp_u32(types + 4 * i), reply->binary);
    reply->params = params;
    return NULL;
}

static const char *read_columns(struct reply *reply, struct slice body)
{
    struct pgp_columns columns;
    struct pgp_column column;
    const char *fault = pgp_columns_begin(body, &columns);
    if (fault)
        return fault;
    uint32_t length = __builtin_bswap32((uint32_t)body.bytes + 4);
    memcpy(reply->head, "2\0\0\0\4T", WPG_BOUND_BYTES + 1);
    memcpy(reply->head + WPG_BOUND_BYTES + 1, &length, sizeof(length));
    memcpy(reply->head + WPG_HEAD_BYTES - 2, body.at, 2); /* how many columns */
    reply->described_bytes = PGP_HEADER_BYTES + body.bytes;
    /* One more, so that a result without columns has a place too. */
    reply->shape.kinds = arena_array(reply->arena, uint8_t, columns.count + 1U);
    reply->shape.count = columns.count;
    reply->formats = arena_array(reply->arena, uint8_t, columns.count);
    for (uint16_t i = 0; pgp_columns_next(&columns, &column, &fault); i++) {
        reply->formats[i] = reply->binary && pgp_has_binary(column.type);
        reply->shape.kinds[i] = (uint8_t)pgp_kind_of(column.type, reply->formats[i]);
    }
    return fault;
}

static const char *read_error(struct reply *reply, struct slice body)
{
    struct pgp_error error;
    const char *fault = pgp_error(body, &error);
    if (fault || reply->error[0])
        return fault;
    wpg_error_text(&error, reply->error, sizeof(reply->error));
    memcpy(reply->sqlstate, error.sqlstate, sizeof(reply->sqlstate));
    return NULL;
}

static const char *read_reply(struct reply *reply, const struct pgp_frame *frame)
{
    switch (frame->type) {
    case 't': return read_params(reply, frame->body);
    case 'T': return read_columns(reply, frame->body);
    case 'E': return read_error(reply, frame->body);
    case 'Z': reply->done = true; return pgp_fault(frame);
    case 'D':
    case 'd':
    case 'G':
    case 'H':
    case 'W': return "it was not expected here";
    default: break;
    }
    return pgp_fault(frame);
}

/* All that is in the buffer; false when it is no protocol. */
static bool read_replies(struct wpg_conn *wpg, struct reply *reply)
{
    struct wire_io *io = &wpg->io;
    while (!reply->done && io->in_used > io->in_start) {
        struct pgp_frame frame;
        struct slice in = {io->in + io->in_start, io->in_used - io->in_start};
        enum pgp_scan scan = pgp_frame_next(in, wpg->most, &frame, &wpg->need);
        if (scan == PGP_MORE)
            break;
        if (scan == PGP_WRONG) {
            (void)wpg_garbled_header(wpg);
            return false;
        }
        io->in_start += wpg->need;
        wpg->need = PGP_HEADER_BYTES;
        const char *fault = read_reply(reply, &frame);
        if (fault) {
            (void)wpg_garbled(wpg, &frame, fault);
            return false;
        }
    }
    return true;
}

static bool fail_lost(const struct wpg_conn *wpg, const struct reply *reply, struct err *err)
{
    const char *why = wpg->error[0] ? wpg->error : wpg->io.error;
    return err_set(err, ERR_SYSTEM, "the connection to PostgreSQL is lost: %s",
                   reply->error[0] ? reply->error : why);
}

/* Sends what is in the buffer, and reads a little. */
static enum wire_io_state talk(struct wpg_conn *wpg)
{
    struct wire_io *io = &wpg->io;
    enum wire_io_state sent = io->out_used > 0 ? wire_io_send(io) : WIRE_IO_DONE;
    if (sent == WIRE_IO_LOST)
        return sent;
    enum wire_io_state got = wire_io_receive(io, wpg->need);
    return got == WIRE_IO_READ && sent == WIRE_IO_WRITE ? WIRE_IO_WRITE : got;
}

/* Until the server is ready again. */
static bool converse_until(struct wpg_conn *wpg, struct reply *reply,
                           struct pq_waiting *waiting, struct err *err)
{
    wpg->need = PGP_HEADER_BYTES;
    wpg->error[0] = '\0';
    while (!reply->done) {
        enum wire_io_state state = talk(wpg);
        if (state == WIRE_IO_LOST || !read_replies(wpg, reply))
            return fail_lost(wpg, reply, err);
        if (state == WIRE_IO_DONE)
            continue;
        struct pollfd fd = {.fd = wpg->io.fd,
                            .events =
                                (short)(state == WIRE_IO_WRITE ? POLLIN | POLLOUT : POLLIN)};
        (void)poll(&fd, 1, PQ_POLL_MS);
        if (!pq_waiting_look(waiting, wpg->cancel, err))
            return false;
    }
    return true;
}

static bool converse(struct wpg_conn *wpg, struct reply *reply, const char *sql,
                     struct err *err)
{
    struct pq_waiting waiting = pq_waiting_start();
    bool ok = converse_until(wpg, reply, &waiting, err);
    pq_waiting_end(&waiting);
    if (ok && waiting.cancelled)
        return err_set(err, ERR_CANCELLED, "interrupted");
    if (!ok || reply->error[0] == '\0')
        return ok;
    (void)err_set(err, ERR_DATABASE, "PostgreSQL: %s, SQLSTATE %s in: %.120s", reply->error,
                  reply->sqlstate, sql);
    text_print(err->sqlstate, sizeof(err->sqlstate), "%s", reply->sqlstate);
    return false;
}

/* Room in the send buffer for a statement and what is asked about it. */
static bool room_for(struct wpg_conn *wpg, size_t bytes, char **at, struct err *err)
{
    *at = wire_io_room(&wpg->io, bytes);
    return *at || err_set(err, ERR_CONFIG,
                          "a statement of %zu bytes does not fit a message; raise it with "
                          "?message_bytes=",
                          bytes);
}

/* What was prepared before goes. Where nothing is kept, there is nothing. */
static bool forget(struct wpg_conn *wpg, struct err *err)
{
    static const char sql[] = "DEALLOCATE ALL";
    const struct wpg_options *options = wpg->base.options;
    struct reply reply = {.arena = wpg->set_arena};
    char *at;
    if (options->mode == WPG_MODE_EXTENDED)
        return true;
    if (!room_for(wpg, pgp_room(sizeof(sql)), &at, err))
        return false;
    wpg->io.out_used += (size_t)(pgp_query_put(at, slice_of(sql)) - at);
    return converse(wpg, &reply, sql, err);
}

static bool ask(struct wpg_conn *wpg, const char *name, struct slice sql, struct reply *reply,
                struct err *err)
{
    char *at;
    if (!room_for(wpg, 3 * pgp_room(PQ_NAME_BYTES) + sql.bytes, &at, err))
        return false;
    char *end = pgp_parse_put(at, name, sql);
    end = pgp_bare_put(pgp_describe_put(end, 'S', name), PGP_SYNC);
    wpg->io.out_used += (size_t)(end - at);
    return converse(wpg, reply, sql.at, err);
}

/* What an execution sends around its parameters. */
static void make_bind(struct wpg_conn *wpg, struct wpg_stmt *stmt, const char *name,
                      const struct reply *reply)
{
    const struct wpg_options *options = wpg->base.options;
    struct pgp_bind_spec spec = {
        .stmt = name,
        .params = reply->params,
        .param_count = reply->param_count,
        .formats = reply->binary ? reply->formats : NULL,
        .column_count = reply->shape.count,
        .describe = !wpg->describe_once,
    };
    if (options->mode == WPG_MODE_EXTENDED) {
        char *before = arena_array(wpg->set_arena, char, pgp_room(stmt->sql.bytes));
        spec.before =
            (struct slice){before, (size_t)(pgp_parse_put(before, "", stmt->sql) - before)};
    }
    pgp_bind_make(&stmt->bind, &spec, arena_array(wpg->set_arena, char, pgp_bind_room(&spec)));
}

static bool prepare_one(struct wpg_conn *wpg, const struct prog_stmt *from,
                        struct wpg_stmt *stmt, uint32_t number, struct err *err)
{
    const struct wpg_options *options = wpg->base.options;
    struct reply reply = {.arena = wpg->set_arena,
                          .binary = options->format == WPG_FORMAT_BINARY};
    char name[PQ_NAME_BYTES] = "";
    if (options->mode == WPG_MODE_PREPARED)
        text_print(name, sizeof(name), "s%u", number);
    if (!ask(wpg, name, stmt->sql, &reply, err))
        return err_wrap(err, "statement %.60s", from->name);
    if (reply.param_count != from->param_count)
        return err_set(err, ERR_CONFIG,
                       "statement %.60s: PostgreSQL counts %u parameters, not %u", from->name,
                       reply.param_count, from->param_count);
    stmt->shape = reply.shape;
    stmt->known = stmt->shape.kinds ? &stmt->shape : NULL;
    memcpy(stmt->head, reply.head, sizeof(stmt->head));
    stmt->head_bytes = WPG_BOUND_BYTES + (wpg->describe_once ? 0 : reply.described_bytes);
    make_bind(wpg, stmt, name, &reply);
    bool plain = stmt->known && stmt->bind.head_bytes <= PGP_SPARE_BYTES &&
                 stmt->bind.tail_bytes <= PGP_SPARE_BYTES;
    if (plain)
        stmt->plain_bytes =
            (size_t)PGP_VALUE_BYTES * reply.param_count + 3 * (size_t)PGP_SPARE_BYTES;
    return true;
}

bool wpg_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                 struct err *err)
{
    struct wpg_conn *wpg = (struct wpg_conn *)conn;
    uint32_t most = 1;
    if (wpg->count > 0 || wpg->open)
        return err_set(err, ERR_SYSTEM, "an operation has not been answered yet");
    arena_destroy(&wpg->set_arena);
    wpg->set_arena = arena_create(SET_BLOCK_BYTES);
    wpg->stmt_count = 0;
    wpg->head = 0;
    wpg->quiet = false;
    wpg->room = conn->in_flight > 1 ? conn->in_flight : 1;
    wpg->flights = arena_array(wpg->set_arena, struct wpg_flight, wpg->room);
    struct wpg_stmt *fresh = arena_array(wpg->set_arena, struct wpg_stmt, count);
    wpg->stmts = fresh;
    if (!forget(wpg, err))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct wpg_stmt *stmt = &fresh[i];
        const char *sql = arena_text(wpg->set_arena, stmts[i].sql);
        stmt->sql = slice_of(sql);
        stmt->direct = stmts[i].direct;
        stmt->plain_bytes = SIZE_MAX;
        if (!stmt->direct && !prepare_one(wpg, &stmts[i], stmt, i, err))
            return false;
        most = stmt->shape.count > most ? stmt->shape.count : most;
    }
    if (!wpg_row_room(wpg, most))
        return err_set(err, ERR_SYSTEM, "no memory for a row of %u columns", most);
    wpg->stmt_count = count;
    return true;
}
