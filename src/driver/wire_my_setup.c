#include "driver/libmariadb_internal.h"
#include "driver/wire_my_internal.h"
#include "os/sig.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { POLL_MS = 100, SET_BLOCK_BYTES = 2048 };

/* Of a buffer: the protocol's limit of a value is 1 GiB (max_allowed_packet). */
#define BUFFER_MOST_BYTES (((size_t)1 << 30) + ((size_t)1 << 20))

enum { ER_MAX_PREPARED_STMT_COUNT_REACHED = 1461 };

/* Not in the library's header, which cannot agree on it. */
#define CAPABILITY_DEPRECATE_EOF (1UL << 24)

void wire_my_lose(struct wire_my_conn *my, const char *why)
{
    my->lost = true;
    error_copy(my->error, sizeof(my->error), why);
}

void wire_my_lose_io(struct wire_my_conn *my)
{
    wire_my_lose(my, my->io.error);
}

void wire_my_lose_fault(struct wire_my_conn *my)
{
    char fault[160], text[200];
    myp_fault_print(&my->answer, fault, sizeof(fault));
    text_print(text, sizeof(text), "protocol error: %s", fault);
    wire_my_lose(my, text);
}

void wire_my_lose_sequence(struct wire_my_conn *my, const struct myp_packet *packet)
{
    char text[300];
    struct myp_packet last = {0};
    uint8_t sequence = packet->sequence;
    myp_answer_begin(&my->answer, MYP_SIMPLE, my->flags, 0);
    if (myp_frame_next(my->io.in + my->io.in_start, my->io.in_used - my->io.in_start, &sequence,
                       &last) == MYP_FRAME_WHOLE &&
        myp_answer_take(&my->answer, (struct slice){last.at, last.bytes}) == MYP_ERROR) {
        const struct slice words = my->answer.error.text;
        text_print(text, sizeof(text), "the server ended the connection: %.*s (%u)",
                   words.bytes < 200 ? (int)words.bytes : 200, words.at, my->answer.error.code);
    } else {
        text_print(text, sizeof(text),
                   "protocol error: a packet with number %u came where another was expected",
                   packet->sequence);
    }
    wire_my_lose(my, text);
}

bool wire_my_widen(struct wire_my_conn *my, uint16_t width)
{
    if (width <= my->width)
        return true;
    free(my->row);
    free(my->columns);
    free(my->times);
    my->row = malloc(width * sizeof(*my->row));
    my->columns = malloc(width * sizeof(*my->columns));
    my->times = malloc(width * sizeof(*my->times));
    my->width = my->row && my->columns && my->times ? width : 0;
    return my->width > 0;
}

void wire_my_define(struct wire_my_conn *my, struct wire_my_stmt *stmt, uint16_t count)
{
    if (count > stmt->column_room) {
        /* Not from an arena: an answer may be wider than the one before. */
        free(stmt->columns);
        stmt->columns = calloc(count, sizeof(*stmt->columns));
        if (!stmt->columns)
            abort();
        stmt->column_room = count;
    }
    stmt->column_count = count;
    stmt->raw = false;
    stmt->known = my->known && count > 0;
}

/* --- open and close --- */

static bool read_agreement(struct wire_my_conn *my, MYSQL *db, struct err *err)
{
    unsigned long client = 0, server = 0;
    if (mariadb_get_infov(db, MARIADB_CONNECTION_CLIENT_CAPABILITIES, &client) != 0 ||
        mariadb_get_infov(db, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &server) != 0)
        return err_set(err, ERR_SYSTEM,
                       "libmariadb does not say what it agreed with the server");
    if (mysql_get_ssl_cipher(db))
        return err_set(err, ERR_USAGE,
                       "client=wire cannot use TLS: libmariadb does not hand its session out; "
                       "use client=libmariadb, or a target without TLS");
    if (client & (CLIENT_COMPRESS | CLIENT_ZSTD_COMPRESSION))
        return err_set(err, ERR_USAGE,
                       "client=wire cannot use compression; use client=libmariadb");
    /* Of the extended ones the library agrees on all that it knows. */
    uint64_t extended = (uint64_t)server << 32 & MARIADB_CLIENT_SUPPORTED_FLAGS;
    my->flags =
        (uint8_t)(((client & CAPABILITY_DEPRECATE_EOF) ? MYP_DEPRECATE_EOF : 0) |
                  ((client & CLIENT_SESSION_TRACKING) ? MYP_SESSION_TRACK : 0) |
                  ((extended & MARIADB_CLIENT_EXTENDED_METADATA) ? MYP_EXTENDED_METADATA : 0) |
                  ((extended & MARIADB_CLIENT_CACHE_METADATA) ? MYP_CACHE_METADATA : 0));
    my->known = (my->flags & (MYP_CACHE_METADATA | MYP_DEPRECATE_EOF)) == MYP_CACHE_METADATA;
    return true;
}

static bool take_over(struct wire_my_conn *my, const struct my_conn *login, struct err *err)
{
    my->thread_id = login->thread_id;
    return read_agreement(my, login->db, err) &&
           wire_io_take(&my->io, mysql_get_socket(login->db), NULL, BUFFER_MOST_BYTES, err);
}

bool wire_my_open(struct drv_conn *conn, struct err *err)
{
    struct wire_my_conn *my = (struct wire_my_conn *)conn;
    struct my_conn login = {.base = *conn};
    my->ops = &my->one;
    my->op_room = 1;
    bool ok = my_open(&login.base, err) && take_over(my, &login, err);
    my_close(&login.base);
    return ok;
}

static void leave(struct wire_my_conn *my)
{
    struct slice nothing = {"", 0};
    uint8_t packets;
    char *at = wire_io_room(&my->io, myp_room(1));
    if (!at)
        return;
    my->io.out_used += myp_command_put(at, MYP_COM_QUIT, nothing, &packets);
    (void)wire_io_send(&my->io);
}

static void forget_set(struct wire_my_conn *my)
{
    for (uint32_t i = 0; i < my->stmt_count; i++)
        free(my->stmts[i].columns);
    my->stmts = NULL;
    my->stmt_count = 0;
    my->ops = &my->one;
    my->op_room = 1;
    my->op_first = my->op_next = 0;
    arena_destroy(&my->set_arena);
}

/* The server drops them too. */
static void drop_set(struct wire_my_conn *my)
{
    for (uint32_t i = 0; i < my->stmt_count && !my->lost; i++) {
        char *at = my->stmts[i].id ? wire_io_room(&my->io, MYP_STMT_BYTES) : NULL;
        if (at)
            my->io.out_used += myp_stmt_put(at, MYP_COM_STMT_CLOSE, my->stmts[i].id);
    }
    forget_set(my);
}

void wire_my_close(struct drv_conn *conn)
{
    struct wire_my_conn *my = (struct wire_my_conn *)conn;
    bool polite = my->io.fd > 0 && !my->lost && my->op_count == 0;
    forget_set(my); /* the server drops them itself */
    if (polite)
        leave(my);
    wire_io_close(&my->io);
    free(my->row);
    free(my->columns);
    free(my->times);
    my->row = NULL;
    my->columns = NULL;
    my->times = NULL;
    my->width = 0;
}

void wire_my_cancel(struct drv_conn *conn)
{
    struct wire_my_conn *my = (struct wire_my_conn *)conn;
    const struct my_conn victim = {.base = *conn, .thread_id = my->thread_id};
    atomic_store(&my->cancelled, true);
    my_kill(&victim);
}

const char *wire_my_library(struct arena *arena)
{
    return arena_printf(arena, "wire, login by %s", my_library(arena));
}

struct value wire_my_decode(const struct myp_column *column, const struct value *value,
                            bool binary, char when[MYP_TIME_BYTES])
{
    static const uint8_t kinds[] = {
        [MYP_INT] = MY_INT,         [MYP_UNSIGNED] = MY_UNSIGNED, [MYP_REAL] = MY_REAL,
        [MYP_NUMERIC] = MY_NUMERIC, [MYP_BIT] = MY_BIT,           [MYP_TEXT] = MY_TEXT,
        [MYP_BLOB] = MY_BLOB,       [MYP_DATE] = MY_TEXT,         [MYP_DATETIME] = MY_TEXT,
        [MYP_TIME] = MY_TEXT,
    };
    if (value->type == VALUE_NULL)
        return *value;
    if (binary && column->kind >= MYP_DATE)
        return value_text(when, myp_time_print(column, value, when));
    return my_decode((enum my_kind)kinds[column->kind], value->as.text, value->bytes);
}

/* --- prepare --- */

static bool fail_lost(const struct wire_my_conn *my, const char *name, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "statement %.60s: %.300s", name, my->error);
}

/* More bytes; a signal that comes meanwhile ends the waiting, and the connection. */
static bool wait_bytes(struct wire_my_conn *my, size_t need, const char *name, struct err *err)
{
    struct pollfd fd = {.fd = my->io.fd};
    int before = sig_pending();
    for (;;) {
        enum wire_io_state sent = wire_io_send(&my->io), got = WIRE_IO_LOST;
        if (sent != WIRE_IO_LOST)
            got = wire_io_receive(&my->io, need);
        if (got == WIRE_IO_DONE)
            return true;
        if (got == WIRE_IO_LOST) {
            wire_my_lose_io(my);
            return fail_lost(my, name, err);
        }
        fd.events = sent == WIRE_IO_WRITE ? POLLIN | POLLOUT : POLLIN;
        (void)poll(&fd, 1, POLL_MS);
        if (before == 0 && sig_pending() != 0) {
            wire_my_lose(my, "interrupted");
            return err_set(err, ERR_CANCELLED, "interrupted");
        }
    }
}

static bool next_payload(struct wire_my_conn *my, const char *name, struct slice *payload,
                         struct err *err)
{
    struct wire_io *io = &my->io;
    for (;;) {
        struct myp_packet packet = {.need = MYP_HEADER_BYTES};
        enum myp_frame frame = MYP_FRAME_MORE;
        if (io->in_used > io->in_start)
            frame = myp_frame_next(io->in + io->in_start, io->in_used - io->in_start,
                                   &my->answer.sequence, &packet);
        switch (frame) {
        case MYP_FRAME_WHOLE:
            io->in_start += packet.taken;
            *payload = (struct slice){packet.at, packet.bytes};
            return true;
        case MYP_FRAME_SEQUENCE:
            wire_my_lose_sequence(my, &packet);
            return fail_lost(my, name, err);
        case MYP_FRAME_MORE: break;
        }
        if (!wait_bytes(my, packet.need, name, err))
            return false;
    }
}

static const char *prepare_hint(int code)
{
    return code == ER_MAX_PREPARED_STMT_COUNT_REACHED
               ? "; raise max_prepared_stmt_count on the server, or use fewer clients"
               : "";
}

static bool fail_stmt(const struct myp_error *error, const char *name, struct err *err)
{
    char message[DRV_ERROR_BYTES];
    error_copy_slice(message, sizeof(message), error->text);
    (void)err_set(err, ERR_DATABASE, "statement %.60s: %s (%d, SQLSTATE %s)%s", name, message,
                  error->code, error->sqlstate, prepare_hint(error->code));
    err->code = error->code;
    text_print(err->sqlstate, sizeof(err->sqlstate), "%s", error->sqlstate);
    return false;
}

static void keep_column(struct wire_my_stmt *stmt, const struct myp_answer *answer)
{
    stmt->columns[answer->index] = answer->column;
    stmt->raw = stmt->raw || answer->column.raw;
}

static bool take_prepared(struct wire_my_conn *my, const char *name, struct wire_my_stmt *stmt,
                          struct err *err)
{
    while (!my->answer.done) {
        struct slice payload;
        if (!next_payload(my, name, &payload, err))
            return false;
        enum myp_event event = myp_answer_take(&my->answer, payload);
        if (event == MYP_ERROR)
            return fail_stmt(&my->answer.error, name, err);
        if (event == MYP_WRONG) {
            wire_my_lose_fault(my);
            return fail_lost(my, name, err);
        }
        if (event == MYP_PREPARED) {
            stmt->id = my->answer.prepared.id;
            stmt->param_count = my->answer.prepared.params;
            wire_my_define(my, stmt, my->answer.prepared.columns);
        } else if (event == MYP_COLUMN) {
            keep_column(stmt, &my->answer);
        }
    }
    return true;
}

static bool prepare_one(struct wire_my_conn *my, const struct prog_stmt *from,
                        struct wire_my_stmt *stmt, struct err *err)
{
    uint8_t packets;
    size_t bytes = strlen(from->sql);
    stmt->sql = arena_text(my->set_arena, from->sql);
    stmt->sql_bytes = (uint32_t)bytes;
    stmt->changes = sql_changes_rows(from->sql);
    if (from->direct)
        return true;
    char *at = wire_io_room(&my->io, myp_room(1 + bytes));
    if (!at)
        return err_set(err, ERR_SYSTEM, "statement %.60s: no memory for its text", from->name);
    my->io.out_used +=
        myp_command_put(at, MYP_COM_STMT_PREPARE, (struct slice){from->sql, bytes}, &packets);
    myp_answer_begin(&my->answer, MYP_PREPARE, my->flags, packets);
    if (!take_prepared(my, from->name, stmt, err))
        return false;
    if (stmt->param_count != from->param_count)
        return err_set(err, ERR_CONFIG,
                       "statement %.60s: the server counts %u parameters, not %u", from->name,
                       stmt->param_count, from->param_count);
    stmt->types = arena_array(my->set_arena, uint8_t, stmt->param_count);
    return true;
}

static bool reserve(struct wire_my_conn *my, struct err *err)
{
    uint16_t width = 0;
    for (uint32_t i = 0; i < my->stmt_count; i++)
        width = my->stmts[i].column_count > width ? my->stmts[i].column_count : width;
    my->op_room = my->base.in_flight > 0 ? my->base.in_flight : 1;
    my->ops = arena_array(my->set_arena, struct wire_my_op, my->op_room);
    return wire_my_widen(my, width) || err_set(err, ERR_SYSTEM, "no memory for a row");
}

bool wire_my_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                     struct err *err)
{
    struct wire_my_conn *my = (struct wire_my_conn *)conn;
    if (my->op_count > 0)
        return err_set(err, ERR_SYSTEM, "an operation has not been answered yet");
    drop_set(my);
    if (my->lost)
        return err_set(err, ERR_SYSTEM, "the connection is lost: %.300s", my->error);
    my->set_arena = arena_create(SET_BLOCK_BYTES);
    my->stmts = arena_array(my->set_arena, struct wire_my_stmt, count);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        my->stmt_count = i + 1;
        ok = prepare_one(my, &stmts[i], &my->stmts[i], err);
    }
    ok = ok && reserve(my, err);
    if (!ok)
        drop_set(my);
    return ok;
}
