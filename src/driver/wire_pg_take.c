/* What the server sends while operations are in flight. */

#include "driver/wire_pg_internal.h"
#include "wire/pg_row.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char copy_refused[] = "COPY between client and server is not supported";

static enum wpg_taken lose(struct wpg_conn *wpg)
{
    wpg->io.in_start = wpg->io.in_used = 0;
    wpg->garbled = true;
    wire_io_sever(&wpg->io);
    return WPG_LOST;
}

enum wpg_taken wpg_garbled(struct wpg_conn *wpg, const struct pgp_frame *frame,
                           const char *fault)
{
    bool printable = frame->type > ' ' && frame->type < 0x7f;
    text_print(wpg->error, sizeof(wpg->error),
               "not PostgreSQL's protocol: a message %.1s (0x%02x) of %zu bytes: %s",
               printable ? &frame->type : "?", (unsigned char)frame->type, frame->body.bytes,
               fault);
    return lose(wpg);
}

enum wpg_taken wpg_garbled_header(struct wpg_conn *wpg)
{
    char why[200];
    pgp_frame_print(wpg->io.in + wpg->io.in_start, wpg->most, why, sizeof(why));
    text_print(wpg->error, sizeof(wpg->error), "not PostgreSQL's protocol: %s", why);
    return lose(wpg);
}

void wpg_error_text(const struct pgp_error *error, char *buffer, size_t room)
{
    static const char hint[] = "; does a pooler in transaction mode lose prepared statements? "
                               "?mode=extended sends them with every execution";
    char whole[2 * DRV_ERROR_BYTES];
    bool lost_statement = strcmp(error->sqlstate, "26000") == 0;
    struct slice severity = error->severity.bytes > 0 ? error->severity : slice_of("ERROR");
    bool detail = error->detail.bytes > 0;
    text_print(whole, sizeof(whole), "%.*s: %.*s%s%.*s%s%s", (int)severity.bytes, severity.at,
               (int)error->message.bytes, error->message.at, detail ? " (" : "",
               (int)error->detail.bytes, error->detail.at, detail ? ")" : "",
               lost_statement ? hint : "");
    error_copy(buffer, room, whole);
}

bool wpg_row_room(struct wpg_conn *wpg, uint32_t count)
{
    if (count > wpg->row_room) {
        struct value *row = realloc(wpg->row, count * sizeof(*row));
        if (!row)
            return false;
        wpg->row = row;
        wpg->row_room = count;
    }
    return true;
}

static bool learned_room(struct wpg_conn *wpg, uint32_t count)
{
    if (count > wpg->learned_room) {
        free(wpg->learned.kinds);
        wpg->learned.kinds = malloc(count);
        wpg->learned_room = wpg->learned.kinds ? count : 0;
    }
    return count <= wpg->learned_room;
}

/* Columns of a result that `prepare` does not know. */
static NOINLINE enum wpg_taken learn(struct wpg_conn *wpg, const struct pgp_frame *frame)
{
    struct pgp_columns columns;
    struct pgp_column column;
    const char *fault = pgp_columns_begin(frame->body, &columns);
    if (!fault && !(learned_room(wpg, columns.count) && wpg_row_room(wpg, columns.count)))
        fault = "no memory for its columns";
    for (uint16_t i = 0; !fault && pgp_columns_next(&columns, &column, &fault); i++)
        wpg->learned.kinds[i] = (uint8_t)pgp_kind_of(column.type, column.format == 1);
    if (fault)
        return wpg_garbled(wpg, frame, fault);
    wpg->learned.count = columns.count;
    wpg->shape = &wpg->learned;
    return WPG_NEXT;
}

static NOINLINE enum wpg_taken garbled_row(struct wpg_conn *wpg, const char *body, size_t bytes,
                                           const char *fault)
{
    struct pgp_frame frame = {.type = 'D'};
    char why[200];
    frame.body = (struct slice){body, bytes};
    if (!wpg->shape)
        return wpg_garbled(wpg, &frame, "a row came where none was announced");
    if (bytes < 2 || pgp_u16(body) == wpg->shape->count)
        return wpg_garbled(wpg, &frame, fault);
    text_print(why, sizeof(why), "%s: %u came, %u were announced", fault, pgp_u16(body),
               wpg->shape->count);
    return wpg_garbled(wpg, &frame, why);
}

static NOINLINE HOT enum wpg_taken take_row(struct wpg_conn *wpg,
                                            const struct wpg_flight *flight, char *body,
                                            size_t bytes)
{
    const struct wpg_shape *shape = wpg->shape;
    if (!shape || bytes < 2 || pgp_u16(body) != shape->count)
        return garbled_row(wpg, body, bytes,
                           "a row has another number of columns than was announced");
    wpg->rows++;
    if (flight->depth == PROG_DRAIN) {
        if (flight->sink && flight->sink->row)
            flight->sink->row(flight->sink, NULL, 0);
        return WPG_NEXT;
    }
    /* A bytea is decoded in its place. */
    const char *fault = pgp_row(body, bytes, shape->count,
                                flight->depth == PROG_WALK ? NULL : shape->kinds, wpg->row);
    if (fault)
        return garbled_row(wpg, body, bytes, fault);
    if (flight->sink && flight->sink->row)
        flight->sink->row(flight->sink, wpg->row, shape->count);
    return WPG_NEXT;
}

static void note_ours(struct wpg_conn *wpg, const char *text)
{
    wpg->verdict = DRV_ERROR;
    wpg->refused = true;
    wpg->sqlstate[0] = '\0';
    error_copy(wpg->error, sizeof(wpg->error), text);
}

/* A statement has ended; one without a Sync of its own is complete. */
static enum wpg_taken end_statement(struct wpg_conn *wpg)
{
    wpg->ended = true;
    wpg->copying = false;
    return wpg_head(wpg)->sync ? WPG_NEXT : WPG_COMPLETE;
}

/* A command that is not a SELECT, which changes nothing and is what comes most. */
static NOINLINE enum wpg_taken take_command(struct wpg_conn *wpg, const struct pgp_frame *frame)
{
    struct slice tag;
    const char *fault = pgp_command(frame->body, &tag);
    if (fault)
        return wpg_garbled(wpg, frame, fault);
    int64_t affected = pgp_affected(tag);
    if (affected >= 0)
        wpg->affected = affected;
    /* COMMIT of a transaction that has failed is answered so, and without an error. */
    if (wpg_head(wpg)->kind == DRV_OP_COMMIT && slice_is(tag, "ROLLBACK"))
        note_ours(wpg, "COMMIT was answered by ROLLBACK: the transaction had failed");
    return end_statement(wpg);
}

static enum wpg_taken take_error(struct wpg_conn *wpg, const struct pgp_frame *frame)
{
    struct pgp_error error;
    const char *fault = pgp_error(frame->body, &error);
    if (fault)
        return wpg_garbled(wpg, frame, fault);
    if (!wpg->refused) {
        wpg_error_text(&error, wpg->error, sizeof(wpg->error));
        memcpy(wpg->sqlstate, error.sqlstate, sizeof(wpg->sqlstate));
        wpg->verdict = pq_verdict(error.sqlstate, atomic_load(&wpg->cancelled));
    }
    wpg->skipping = !wpg_head(wpg)->sync;
    return end_statement(wpg);
}

/* We have nothing to send: the server is told so. Behind prepared statements it wants a Sync
 * again, for it drops the one that came in the middle of the COPY. Other messages that came
 * there are an error to it, and then it is not known how many answers follow. */
static enum wpg_taken refuse_copy_in(struct wpg_conn *wpg)
{
    const struct wpg_flight *flight = wpg_head(wpg);
    char *at = wire_io_room(&wpg->io, pgp_room(sizeof(copy_refused)) + PGP_SYNC_BYTES);
    note_ours(wpg, copy_refused);
    if (!at || wpg->count > 1)
        return lose(wpg);
    char *put = pgp_copy_fail_put(at, copy_refused);
    if (flight->stmt && !flight->stmt->direct)
        put = pgp_bare_put(put, PGP_SYNC);
    wpg->io.out_used += (size_t)(put - at);
    wpg->broken = wire_io_send(&wpg->io) == WIRE_IO_LOST || wpg->broken;
    return WPG_NEXT;
}

static enum wpg_taken take_copy(struct wpg_conn *wpg, const struct pgp_frame *frame)
{
    switch (frame->type) {
    case 'G': return refuse_copy_in(wpg);
    case 'H':
        note_ours(wpg, copy_refused);
        wpg->copying = true;
        return WPG_NEXT;
    case 'd':
    case 'c':
        if (wpg->copying)
            return WPG_NEXT;
        return wpg_garbled(wpg, frame, "data of a COPY came where none was announced");
    default: break;
    }
    return wpg_garbled(wpg, frame, "it was not expected here");
}

static NOINLINE enum wpg_taken take_other(struct wpg_conn *wpg, const struct pgp_frame *frame)
{
    const char *fault = pgp_fault(frame);
    if (fault)
        return wpg_garbled(wpg, frame, fault);
    switch (frame->type) {
    case 'T': return learn(wpg, frame);
    case 'C': return take_command(wpg, frame);
    case 'E': return take_error(wpg, frame);
    case 'I': return end_statement(wpg);
    case 'n':
    case '1':
    case '2':
    case 'N':
    case 'S':
    case 'A': return WPG_NEXT;
    case 'Z': return wpg_garbled(wpg, frame, "it came where the statement's end was expected");
    default: break;
    }
    return take_copy(wpg, frame);
}

/* What may come at any time, cannot be the next message, or is long. Moves on by itself. */
static NOINLINE enum wpg_taken take_odd(struct wpg_conn *wpg)
{
    struct wire_io *io = &wpg->io;
    struct pgp_frame frame;
    enum pgp_scan scan =
        pgp_frame_next((struct slice){io->in + io->in_start, io->in_used - io->in_start},
                       wpg->most, &frame, &wpg->need);
    if (scan != PGP_FRAME)
        return scan == PGP_MORE ? WPG_MORE : wpg_garbled_header(wpg);
    char *body = io->in + io->in_start + PGP_HEADER_BYTES;
    io->in_start += wpg->need;
    wpg->need = PGP_HEADER_BYTES;
    if (frame.type == 'D')
        return take_row(wpg, wpg_head(wpg), body, frame.body.bytes);
    return take_other(wpg, &frame);
}

/* Is it what an execution without surprises is answered with? Then it is taken. */
static inline bool take_usual(struct wpg_conn *wpg, const struct wpg_flight *flight, char *at,
                              uint32_t bytes, enum wpg_taken *taken)
{
    char *body = at + PGP_HEADER_BYTES;
    switch (*at) {
    case '2': return bytes == 0;
    case 'T': /* the columns are known from prepare */
        return wpg->shape && wpg->shape != &wpg->learned && bytes >= 2 &&
               pgp_u16(body) == wpg->shape->count;
    case 'D': *taken = take_row(wpg, flight, body, bytes); return true;
    case 'C':
        if (bytes < 2 || *body != 'S' || body[bytes - 1] != '\0')
            return false;
        wpg->ended = true;
        *taken = flight->sync ? WPG_NEXT : WPG_COMPLETE;
        return true;
    case 'Z':
        *taken = WPG_COMPLETE;
        wpg->skipping = false;
        return bytes == 1 && wpg->ended && flight->sync;
    default: return false;
    }
}

HOT enum wpg_taken wpg_take(struct wpg_conn *wpg)
{
    struct wire_io *io = &wpg->io;
    const struct wpg_flight *flight = wpg_head(wpg);
    enum wpg_taken taken = WPG_NEXT;
    while (taken == WPG_NEXT) {
        char *at = io->in + io->in_start;
        size_t left = io->in_used - io->in_start;
        uint32_t length = left >= PGP_HEADER_BYTES ? pgp_u32(at + 1) : 0;
        if (length - 4 <= PGP_SHORT_MOST - 4 && length < left &&
            take_usual(wpg, flight, at, length - 4, &taken)) {
            if (taken != WPG_LOST)
                io->in_start += (size_t)length + 1;
        } else {
            taken = take_odd(wpg);
        }
    }
    return taken;
}

/* A short row at `at`, read and given away; what is behind it, or NULL. */
static inline char *plain_row(struct wpg_conn *wpg, const struct wpg_flight *flight, char *at,
                              const char *end)
{
    const struct wpg_shape *shape = flight->stmt->known;
    struct value *values = wpg->row;
    uint16_t count = shape->count;
    uint32_t length = pgp_u32(at + 1), bytes = length - 4;
    char *body = at + PGP_HEADER_BYTES;
    if (bytes > PGP_SHORT_MOST - 4 || length >= (size_t)(end - at))
        return NULL;
    if (flight->depth == PROG_DRAIN) {
        if (bytes < 2 || pgp_u16(body) != count)
            return NULL;
        values = NULL;
        count = 0;
    } else if (pgp_row_inline(body, bytes, count,
                              flight->depth == PROG_WALK ? NULL : shape->kinds, values)) {
        return NULL;
    }
    if (flight->sink && flight->sink->row)
        flight->sink->row(flight->sink, values, count);
    return at + length + 1;
}

/* What the usual answer begins with; what is behind it, or NULL. */
static inline char *plain_head(const struct wpg_conn *wpg, const struct wpg_stmt *stmt,
                               char *at, const char *end)
{
    if ((size_t)(end - at) < stmt->head_bytes + PGP_HEADER_BYTES)
        return NULL;
    bool same = wpg->describe_once ? memcmp(at, stmt->head, WPG_BOUND_BYTES) == 0
                                   : memcmp(at, stmt->head, WPG_HEAD_BYTES) == 0;
    return same ? at + stmt->head_bytes : NULL;
}

/* CommandComplete of a SELECT of one row, and ReadyForQuery where it belongs to the answer;
 * what is behind them, or NULL. */
static inline char *plain_end(char *at, const char *end, bool sync)
{
    static const char done[] = "C\0\0\0\rSELECT 1\0Z\0\0\0\5";
    enum { READY = PGP_HEADER_BYTES, DONE = sizeof(done) - 1 - READY };
    if (sync) /* with the state of the transaction, whichever it is */
        return end - at > DONE + READY && memcmp(at, done, DONE + READY) == 0
                   ? at + DONE + READY + 1
                   : NULL;
    return end - at >= DONE && memcmp(at, done, DONE) == 0 ? at + DONE : NULL;
}

HOT bool wpg_take_plain(struct wpg_conn *wpg, const struct wpg_flight *flight, bool sync,
                        uint64_t *rows)
{
    struct wire_io *io = &wpg->io;
    char *at = io->in + io->in_start, *end = io->in + io->in_used, *row;
    *rows = 0;
    row = plain_head(wpg, flight->stmt, at, end);
    if (!row || *row != 'D')
        return false;
    at = plain_row(wpg, flight, row, end);
    if (!at)
        return false;
    *rows = 1;
    row = plain_end(at, end, sync);
    io->in_start = (size_t)((row ? row : at) - io->in);
    return row != NULL;
}
