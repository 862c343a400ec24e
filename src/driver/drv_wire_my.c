#include "driver/libmariadb_internal.h"
#include "driver/wire_my_internal.h"
#include "wire/my_known.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static inline struct wire_my_op *push_op(struct wire_my_conn *my, const struct drv_op *op)
{
    assert(my->op_count < my->op_room);
    struct wire_my_op *slot = &my->ops[my->op_next];
    if (++my->op_next == my->op_room)
        my->op_next = 0;
    my->op_count++;
    *slot = (struct wire_my_op){.kind = (uint8_t)op->kind,
                                .depth = (uint8_t)op->depth,
                                .sink = op->sink && op->sink->row ? op->sink : NULL};
    return slot;
}

static inline char *room(struct wire_io *io, size_t bytes)
{
    bool there = io->out_sent == 0 && bytes <= io->out_room - io->out_used;
    return there ? io->out + io->out_used : wire_io_room(io, bytes);
}

static NOINLINE void put_values(struct wire_my_conn *my, const struct drv_op *op,
                                struct wire_my_op *slot)
{
    const struct wire_my_stmt *stmt = slot->stmt;
    char *at = room(&my->io, myp_execute_room(op->params, op->param_count));
    if (at)
        my->io.out_used += myp_execute_put(at, stmt->id, op->params, op->param_count,
                                           stmt->types, &slot->packets);
    else
        slot->refusal = WIRE_MY_ROOM;
}

static HOT void put_execute(struct wire_my_conn *my, const struct drv_op *op,
                            struct wire_my_op *slot)
{
    const struct wire_my_stmt *stmt = slot->stmt;
    if (op->param_count != stmt->param_count) {
        slot->refusal = WIRE_MY_PARAMS;
        return;
    }
    slot->known = stmt->known;
    slot->packets = 1;
    char *at = room(&my->io, MYP_NUMBERS_BYTES);
    size_t bytes =
        at ? myp_numbers_put(at, stmt->id, op->params, op->param_count, stmt->types) : 0;
    my->io.out_used += bytes;
    if (bytes == 0)
        put_values(my, op, slot);
}

static NOINLINE void put_text(struct wire_my_conn *my, const struct drv_op *op,
                              struct wire_my_op *slot)
{
    uint8_t command = MYP_COM_QUERY;
    struct slice text = {"", 0};
    if (slot->stmt)
        text = (struct slice){slot->stmt->sql, slot->stmt->sql_bytes};
    switch (op->kind) {
    case DRV_OP_EXECUTE:
        slot->refusal = op->param_count > 0 ? WIRE_MY_PARAMS : WIRE_MY_TAKEN;
        break;
    case DRV_OP_PING: command = MYP_COM_PING; break;
    case DRV_OP_BEGIN: text = slice_of("BEGIN"); break;
    case DRV_OP_COMMIT: text = slice_of("COMMIT"); break;
    case DRV_OP_ROLLBACK: text = slice_of("ROLLBACK"); break;
    }
    if (slot->refusal)
        return;
    char *at = wire_io_room(&my->io, myp_room(1 + text.bytes));
    if (!at)
        slot->refusal = WIRE_MY_ROOM;
    else
        my->io.out_used += myp_command_put(at, command, text, &slot->packets);
}

static NOINLINE void submit_rest(struct wire_my_conn *my, enum wire_io_state state)
{
    if (state == WIRE_IO_LOST)
        wire_my_lose_io(my);
}

static HOT enum drv_step my_submit(struct drv_conn *conn, const struct drv_op *op)
{
    struct wire_my_conn *my = (struct wire_my_conn *)conn;
    if (my->lost)
        return DRV_DONE;
    struct wire_my_op *slot = push_op(my, op);
    my->error[0] = '\0';
    if (op->kind == DRV_OP_EXECUTE) {
        assert(op->stmt < my->stmt_count);
        slot->stmt = &my->stmts[op->stmt];
    }
    if (slot->stmt && slot->stmt->id)
        put_execute(my, op, slot);
    else
        put_text(my, op, slot);
    my->wait = WIRE_MY_LOOK;
    if (op->more)
        return DRV_DONE;
    enum wire_io_state state = wire_io_send(&my->io);
    if (state != WIRE_IO_DONE || my->op_count > 1 || slot->refusal) {
        submit_rest(my, state);
        return DRV_DONE;
    }
    my->wait = slot->known ? WIRE_MY_ALONE : WIRE_MY_READ;
    return DRV_WANT_READ;
}

static NOINLINE enum drv_step step_lost(struct wire_my_conn *my, struct drv_outcome *outcome)
{
    *outcome = (struct drv_outcome){.verdict = DRV_LOST, .affected = -1};
    my->op_count = 0;
    return DRV_FAILED;
}

/* The first operation is over. */
static inline void pop_op(struct wire_my_conn *my)
{
    my->begun = false;
    my->need = 0;
    my->op_count--;
    if (++my->op_first == my->op_room)
        my->op_first = 0;
}

static NOINLINE enum drv_step step_refused(struct wire_my_conn *my, struct drv_outcome *outcome)
{
    const char *why = my->ops[my->op_first].refusal == WIRE_MY_PARAMS
                          ? "wrong number of parameters"
                          : "the statement is too large";
    *outcome = (struct drv_outcome){.verdict = DRV_ERROR, .affected = -1};
    error_copy(my->error, sizeof(my->error), why);
    pop_op(my);
    return DRV_DONE;
}

/* Gets ready for the answer to the first operation. */
static HOT void begin_answer(struct wire_my_conn *my, const struct wire_my_op *op)
{
    enum myp_command command = MYP_QUERY;
    if (op->kind == DRV_OP_PING)
        command = MYP_SIMPLE;
    else if (op->stmt && op->stmt->id)
        command = MYP_EXECUTE;
    myp_answer_begin(&my->answer, command, my->flags, op->packets);
    if (command == MYP_EXECUTE)
        my->answer.known = op->stmt->column_count;
    my->begun = true;
    my->infile = false;
    my->result = 0;
    my->rows = 0;
    my->affected = -1;
}

/* A result begins: where the definitions of its columns are, or go. */
static HOT bool begin_result(struct wire_my_conn *my, const struct wire_my_op *op)
{
    uint16_t count = my->answer.columns;
    bool first = ++my->result == 1 && my->answer.command == MYP_EXECUTE;
    if (count > my->width && !wire_my_widen(my, count)) {
        wire_my_lose(my, "no memory for a row");
        return false;
    }
    my->raw = false;
    my->shape = my->columns;
    if (!first)
        return true;
    struct wire_my_stmt *stmt = op->stmt;
    if (my->answer.defined)
        wire_my_define(my, stmt, count);
    my->shape = stmt->columns;
    my->raw = stmt->raw;
    return true;
}

static NOINLINE void take_column(struct wire_my_conn *my, const struct wire_my_op *op)
{
    my->shape[my->answer.index] = my->answer.column;
    my->raw = my->raw || my->answer.column.raw;
    if (my->shape != my->columns)
        op->stmt->raw = my->raw;
}

static NOINLINE void decode_row(struct wire_my_conn *my, const struct myp_column *columns,
                                uint16_t count, bool binary)
{
    for (uint16_t i = 0; i < count; i++) {
        if (!binary || columns[i].raw)
            my->row[i] = wire_my_decode(&columns[i], &my->row[i], binary, my->times[i]);
    }
}

static NOINLINE void lose_row(struct wire_my_conn *my, enum myp_row_fault fault)
{
    char text[120];
    text_print(text, sizeof(text), "protocol error: %s", myp_row_fault_text(fault));
    wire_my_lose(my, text);
}

/* False: the row is no row, and the connection lost. */
static HOT bool give_row(struct wire_my_conn *my, const struct wire_my_op *op,
                         struct slice payload)
{
    uint16_t count = my->answer.columns;
    bool binary = my->answer.command == MYP_EXECUTE;
    if (op->depth == PROG_DRAIN) {
        op->sink->row(op->sink, NULL, 0);
        return true;
    }
    enum myp_row_fault fault = binary ? myp_row_binary(payload, my->shape, count, my->row)
                                      : myp_row_text(payload, count, my->row);
    if (fault != MYP_ROW_FINE) {
        lose_row(my, fault);
        return false;
    }
    if (op->depth == PROG_DECODE && (my->raw || !binary))
        decode_row(my, my->shape, count, binary);
    if (op->sink)
        op->sink->row(op->sink, my->row, count);
    return true;
}

/* The server wants a file of ours: it gets none. */
static NOINLINE bool refuse_file(struct wire_my_conn *my)
{
    struct slice nothing = {"", 0};
    char text[200];
    text_print(text, sizeof(text),
               "the server asks for the local file '%.*s', which is refused%s",
               my->answer.text.bytes < 80 ? (int)my->answer.text.bytes : 80, my->answer.text.at,
               my->op_count > 1 ? "; it takes what is in the pipeline for the file" : "");
    error_copy(my->error, sizeof(my->error), text);
    my->infile = true;
    char *at = my->op_count == 1 ? wire_io_room(&my->io, MYP_HEADER_BYTES) : NULL;
    if (!at) {
        my->lost = true;
        return false;
    }
    my->io.out_used += myp_infile_put(at, nothing, my->answer.sequence);
    myp_answer_infile(&my->answer, 1);
    if (wire_io_send(&my->io) != WIRE_IO_LOST)
        return true;
    wire_my_lose_io(my);
    return false;
}

/* Everything but a row. False: the connection is lost. */
static HOT bool take_event(struct wire_my_conn *my, const struct wire_my_op *op,
                           enum myp_event event)
{
    switch (event) {
    case MYP_RESULT: return begin_result(my, op);
    case MYP_COLUMN: take_column(my, op); return true;
    case MYP_OK:
        if (my->result++ == 0 && op->stmt && op->stmt->changes)
            my->affected = (int64_t)my->answer.ok.affected;
        return true;
    case MYP_INFILE: return refuse_file(my);
    case MYP_WRONG: wire_my_lose_fault(my); return false;
    case MYP_ERROR:
    case MYP_PREPARED:
    case MYP_PARAMETER:
    case MYP_DEFINED:
    case MYP_ROW:
    case MYP_RESULT_DONE:
    case MYP_PROGRESS: break;
    }
    return true;
}

static NOINLINE enum drv_step finish_badly(struct wire_my_conn *my, bool error,
                                           struct drv_outcome *outcome)
{
    outcome->verdict = DRV_ERROR;
    outcome->code = 0;
    outcome->sqlstate[0] = '\0';
    if (error) {
        const struct myp_error *from = &my->answer.error;
        error_copy_slice(my->error, sizeof(my->error), from->text);
        outcome->code = from->code;
        memcpy(outcome->sqlstate, from->sqlstate, sizeof(outcome->sqlstate));
        outcome->verdict = my_verdict(from->code, atomic_load(&my->cancelled));
    }
    my->lost = outcome->verdict == DRV_LOST;
    return my->lost ? DRV_FAILED : DRV_DONE;
}

static HOT enum drv_step finish_op(struct wire_my_conn *my, bool error,
                                   struct drv_outcome *outcome)
{
    outcome->verdict = DRV_OK;
    outcome->rows = my->rows;
    outcome->affected = my->affected;
    my->wait = WIRE_MY_LOOK;
    pop_op(my);
    return error || my->infile ? finish_badly(my, error, outcome) : DRV_DONE;
}

enum take { TAKE_DONE, TAKE_MORE, TAKE_LOST };

static HOT enum take take_packets(struct wire_my_conn *my, const struct wire_my_op *op,
                                  enum myp_event *last)
{
    struct wire_io *io = &my->io;
    struct myp_answer *answer = &my->answer;
    bool look = op->depth != PROG_DRAIN || op->sink;
    while (io->in_used > io->in_start) {
        struct myp_packet packet;
        enum myp_frame frame = myp_frame_next(io->in + io->in_start, io->in_used - io->in_start,
                                              &answer->sequence, &packet);
        if (frame != MYP_FRAME_WHOLE) {
            my->need = packet.need;
            if (frame == MYP_FRAME_MORE)
                return TAKE_MORE;
            wire_my_lose_sequence(my, &packet);
            return TAKE_LOST;
        }
        struct slice payload = {packet.at, packet.bytes};
        io->in_start += packet.taken;
        enum myp_event event = myp_answer_take(answer, payload);
        my->rows += event == MYP_ROW;
        bool fine =
            event == MYP_ROW ? !look || give_row(my, op, payload) : take_event(my, op, event);
        *last = event;
        if (!fine)
            return TAKE_LOST;
        if (answer->done)
            return TAKE_DONE;
    }
    my->need = 0;
    return TAKE_MORE;
}

/* give_row() for the rows of a known result. */
static NOINLINE HOT void give_known(struct wire_my_conn *my, const struct wire_my_op *op,
                                    const char *buffer, uint64_t rows)
{
    const struct wire_my_stmt *stmt = op->stmt;
    struct drv_sink *sink = op->sink;
    bool decode = op->depth == PROG_DECODE && stmt->raw;
    size_t at = MYP_KNOWN_FIRST;
    while (rows-- > 0) {
        struct slice row = myp_known_row(buffer, &at);
        enum myp_row_fault fault =
            myp_row_binary(row, stmt->columns, stmt->column_count, my->row);
        if (fault != MYP_ROW_FINE) {
            lose_row(my, fault);
            return;
        }
        if (decode)
            decode_row(my, stmt->columns, stmt->column_count, true);
        if (sink)
            sink->row(sink, my->row, stmt->column_count);
    }
}

static NOINLINE void give_nothing(const struct wire_my_op *op, uint64_t rows)
{
    for (; rows > 0; rows--)
        op->sink->row(op->sink, NULL, 0);
}

/* An answer that is all there and as expected, which is most of them: the operation is over, or
 * the connection is lost. */
static inline bool take_known(struct wire_my_conn *my, const struct wire_my_op *op,
                              struct drv_outcome *outcome)
{
    struct wire_io *io = &my->io;
    struct myp_known known;
    const char *buffer = io->in + io->in_start;
    if (!myp_known_result(buffer, io->in_used - io->in_start, op->packets,
                          op->stmt->column_count, &known))
        return false;
    io->in_start += known.taken;
    if (op->depth != PROG_DRAIN)
        give_known(my, op, buffer, known.rows);
    else if (op->sink)
        give_nothing(op, known.rows);
    outcome->verdict = DRV_OK;
    outcome->rows = known.rows;
    outcome->affected = -1;
    my->wait = WIRE_MY_LOOK;
    pop_op(my);
    return true;
}

static NOINLINE bool send_rest(struct wire_my_conn *my)
{
    if (wire_io_send(&my->io) != WIRE_IO_LOST)
        return true;
    wire_my_lose_io(my);
    return false;
}

/* Reads once: false when there is nothing, or no connection any more. */
static inline bool receive(struct wire_my_conn *my)
{
    enum wire_io_state state = wire_io_receive(&my->io, my->need);
    if (state == WIRE_IO_LOST)
        wire_my_lose_io(my);
    return state == WIRE_IO_DONE;
}

/* Looks at what is there of the first operation's answer: true when that ends the step. */
static inline bool look(struct wire_my_conn *my, const struct wire_my_op *op,
                        struct drv_outcome *outcome, enum drv_step *step)
{
    enum myp_event last = MYP_OK;
    if (my->io.in_used == my->io.in_start)
        return false;
    if (!my->begun && op->known && take_known(my, op, outcome)) {
        *step = my->lost ? step_lost(my, outcome) : DRV_DONE;
        return true;
    }
    if (!my->begun)
        begin_answer(my, op);
    enum take take = take_packets(my, op, &last);
    if (take == TAKE_DONE)
        *step = finish_op(my, last == MYP_ERROR, outcome);
    else if (take == TAKE_LOST)
        *step = step_lost(my, outcome);
    return take != TAKE_MORE;
}

/* Reading goes on while there is still something to send, or both sides might wait with full
 * buffers; a loop waits for reading as well when it waits for writing. */
static NOINLINE HOT enum drv_step step_on(struct wire_my_conn *my, struct drv_outcome *outcome)
{
    struct wire_io *io = &my->io;
    enum drv_step step = DRV_DONE;
    if (my->lost || (io->out_used > 0 && !send_rest(my)))
        return step_lost(my, outcome);
    const struct wire_my_op *op = &my->ops[my->op_first];
    assert(my->op_count > 0);
    if (op->refusal)
        return step_refused(my, outcome);
    bool may_read = my->wait == WIRE_MY_READ;
    while (!look(my, op, outcome, &step)) {
        if (may_read && receive(my)) {
            may_read = io->in_used == io->in_room; /* else another read would find nothing */
            continue;
        }
        if (my->lost)
            return step_lost(my, outcome);
        my->wait = WIRE_MY_READ;
        return io->out_used > 0 ? DRV_WANT_WRITE : DRV_WANT_READ;
    }
    return step;
}

/* The one operation in flight was sent whole, and now something has come: most often its whole
 * answer. */
static NOINLINE HOT enum drv_step step_alone(struct wire_my_conn *my,
                                             struct drv_outcome *outcome)
{
    const struct wire_my_op *op = &my->ops[my->op_first];
    bool there = receive(my);
    my->wait = there ? WIRE_MY_LOOK : WIRE_MY_READ;
    if (!there || !take_known(my, op, outcome))
        return step_on(my, outcome);
    return my->lost ? step_lost(my, outcome) : DRV_DONE;
}

static HOT enum drv_step my_step(struct drv_conn *conn, struct drv_outcome *outcome)
{
    struct wire_my_conn *my = (struct wire_my_conn *)conn;
    return my->wait == WIRE_MY_ALONE ? step_alone(my, outcome) : step_on(my, outcome);
}

static int my_fd(const struct drv_conn *conn)
{
    return ((const struct wire_my_conn *)conn)->io.fd;
}

static void my_sever(struct drv_conn *conn)
{
    wire_io_sever(&((struct wire_my_conn *)conn)->io);
}

static const char *my_last_error(const struct drv_conn *conn)
{
    return ((const struct wire_my_conn *)conn)->error;
}

const struct drv_class drv_wire_my = {
    .name = "wire",
    .summary = "MariaDB and MySQL by their protocol, pipelined, results walked in place",
    .abi = DRV_ABI,
    .caps = DRV_CAP_ASYNC | DRV_CAP_PIPELINE | DRV_CAP_PING | DRV_CAP_REMOTE,
    .control = &drv_libmariadb,
    .conn_bytes = sizeof(struct wire_my_conn),
    .files = 1,
    .open = wire_my_open,
    .close = wire_my_close,
    .fd = my_fd,
    .prepare = wire_my_prepare,
    .submit = my_submit,
    .step = my_step,
    .cancel = wire_my_cancel,
    .sever = my_sever,
    .last_error = my_last_error,
    .library = wire_my_library,
};
