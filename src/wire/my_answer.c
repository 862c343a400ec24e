#include "base/text.h"
#include "wire/my.h"

enum {
    STATE_COLUMNS = 1, /* definitions of a result */
    STATE_END,         /* the EOF behind them */
    STATE_PARAMS = 4,  /* definitions of a statement's parameters */
    STATE_PARAMS_END,
    STATE_DONE,
};

enum {
    HEAD_OK = 0,
    HEAD_INFILE = 0xfb,
    HEAD_END = 0xfe,
    HEAD_ERROR = 0xff,
    END_BYTES_MOST = 8, /* of an EOF; a longer one is a row whose first value is very long */
    CODE_PROGRESS = 0xffff,
    STATUS_MORE_RESULTS = 0x0008,
    STATUS_TRACKED = 0x4000,
};

/* Types of columns, by the protocol's numbers. */
enum {
    TYPE_DECIMAL = 0,
    TYPE_TINY,
    TYPE_SHORT,
    TYPE_LONG,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_NULL,
    TYPE_TIMESTAMP,
    TYPE_LONGLONG,
    TYPE_INT24,
    TYPE_DATE,
    TYPE_TIME,
    TYPE_DATETIME,
    TYPE_YEAR,
    TYPE_NEWDATE,
    TYPE_VARCHAR,
    TYPE_BIT,
    TYPE_NEWDECIMAL = 246,
    TYPE_TINY_BLOB = 249,
    TYPE_MEDIUM_BLOB,
    TYPE_LONG_BLOB,
    TYPE_BLOB,
    TYPE_VAR_STRING,
    TYPE_STRING,
    TYPE_GEOMETRY,
    CHARSET_BINARY = 63,
    FLAG_UNSIGNED = 32,
};

static enum myp_event wrong(struct myp_answer *answer, enum myp_fault fault, uint64_t expected,
                            uint64_t came)
{
    answer->fault = fault;
    answer->expected = expected;
    answer->came = came;
    answer->state = STATE_DONE;
    answer->done = true;
    return MYP_WRONG;
}

static void set_kind(struct myp_column *column, enum myp_kind kind, uint8_t bytes)
{
    column->kind = (uint8_t)kind;
    column->bytes = bytes;
    column->value = kind == MYP_TEXT || kind == MYP_NUMERIC ? VALUE_TEXT : VALUE_BLOB;
    column->raw = kind == MYP_NUMERIC || kind == MYP_BIT || kind >= MYP_DATE;
}

static struct myp_column column_of(uint8_t type, uint16_t flags, uint16_t charset,
                                   uint8_t decimals)
{
    struct myp_column column = {.type = type,
                                .decimals = decimals,
                                .is_unsigned = (flags & FLAG_UNSIGNED) != 0};
    switch (type) {
    case TYPE_TINY: set_kind(&column, MYP_INT, 1); break;
    case TYPE_SHORT:
    case TYPE_YEAR: set_kind(&column, MYP_INT, 2); break;
    case TYPE_LONG:
    case TYPE_INT24: set_kind(&column, MYP_INT, 4); break;
    case TYPE_LONGLONG:
        set_kind(&column, column.is_unsigned ? MYP_UNSIGNED : MYP_INT, 8);
        break;
    case TYPE_FLOAT: set_kind(&column, MYP_REAL, 4); break;
    case TYPE_DOUBLE: set_kind(&column, MYP_REAL, 8); break;
    case TYPE_DECIMAL:
    case TYPE_NEWDECIMAL: set_kind(&column, MYP_NUMERIC, 0); break;
    case TYPE_BIT: set_kind(&column, MYP_BIT, 0); break;
    case TYPE_GEOMETRY: set_kind(&column, MYP_BLOB, 0); break;
    case TYPE_DATE:
    case TYPE_NEWDATE: set_kind(&column, MYP_DATE, 0); break;
    case TYPE_DATETIME:
    case TYPE_TIMESTAMP: set_kind(&column, MYP_DATETIME, 0); break;
    case TYPE_TIME: set_kind(&column, MYP_TIME, 0); break;
    case TYPE_TINY_BLOB:
    case TYPE_MEDIUM_BLOB:
    case TYPE_LONG_BLOB:
    case TYPE_BLOB:
    case TYPE_VARCHAR:
    case TYPE_VAR_STRING:
    case TYPE_STRING:
        set_kind(&column, charset == CHARSET_BINARY ? MYP_BLOB : MYP_TEXT, 0);
        break;
    default: set_kind(&column, MYP_TEXT, 0); break; /* enumerations, JSON */
    }
    return column;
}

/* A number that may not be NULL. */
static uint64_t take_number(struct wire_bytes *in)
{
    uint64_t number = 0;
    if (!myp_number(in, &number))
        in->cut = true;
    return number;
}

static enum myp_event take_definition(struct myp_answer *answer, struct slice packet)
{
    enum { PARTS_BEFORE_NAME = 4 };
    struct wire_bytes in = wire_bytes_of(packet.at, packet.bytes);
    for (int i = 0; i < PARTS_BEFORE_NAME; i++) /* catalog, schema, table and its own name */
        (void)myp_string(&in);
    answer->text = myp_string(&in);
    (void)myp_string(&in); /* the column's own name */
    if (answer->flags & MYP_EXTENDED_METADATA)
        (void)myp_string(&in);
    (void)take_number(&in); /* of bytes that follow */
    uint16_t charset = (uint16_t)wire_le(&in, 2);
    (void)wire_le(&in, 4); /* its width */
    uint8_t type = wire_u8(&in);
    uint16_t flags = (uint16_t)wire_le(&in, 2);
    uint8_t decimals = wire_u8(&in);
    if (in.cut)
        return wrong(answer, MYP_FAULT_SHORT, 0, packet.bytes);
    answer->column = column_of(type, flags, charset, decimals);
    return MYP_COLUMN;
}

/* Where an answer goes on behind the definitions of its columns. */
static void columns_end(struct myp_answer *answer)
{
    answer->done = answer->command == MYP_PREPARE;
    answer->state = answer->done ? STATE_DONE : MYP_STATE_ROWS;
}

static void columns_begin(struct myp_answer *answer)
{
    answer->left = answer->columns;
    answer->state = STATE_COLUMNS;
    if (answer->left == 0)
        columns_end(answer);
}

static enum myp_event take_column(struct myp_answer *answer, struct slice packet)
{
    enum myp_event event = take_definition(answer, packet);
    if (event == MYP_WRONG)
        return event;
    answer->index = (uint16_t)(answer->columns - answer->left);
    if (--answer->left == 0) {
        answer->state = STATE_END;
        if (answer->flags & MYP_DEPRECATE_EOF)
            columns_end(answer);
    }
    return MYP_COLUMN;
}

static enum myp_event take_param(struct myp_answer *answer, struct slice packet)
{
    if (take_definition(answer, packet) == MYP_WRONG)
        return MYP_WRONG;
    if (--answer->left == 0) {
        answer->state = STATE_PARAMS_END;
        if (answer->flags & MYP_DEPRECATE_EOF)
            columns_begin(answer);
    }
    return MYP_PARAMETER;
}

static enum myp_event take_defined(struct myp_answer *answer, struct slice packet)
{
    if ((uint8_t)packet.at[0] != HEAD_END || packet.bytes > END_BYTES_MOST)
        return wrong(answer, MYP_FAULT_END, HEAD_END, (uint8_t)packet.at[0]);
    if (answer->state == STATE_PARAMS_END)
        columns_begin(answer);
    else
        columns_end(answer);
    return MYP_DEFINED;
}

static enum myp_event take_prepared(struct myp_answer *answer, struct slice packet)
{
    struct wire_bytes in = wire_bytes_of(packet.at + 1, packet.bytes - 1);
    struct myp_prepared prepared = {.id = (uint32_t)wire_le(&in, 4),
                                    .columns = (uint16_t)wire_le(&in, 2),
                                    .params = (uint16_t)wire_le(&in, 2)};
    (void)wire_u8(&in);
    if (in.cut)
        return wrong(answer, MYP_FAULT_SHORT, 0, packet.bytes);
    if (wire_left(&in) >= 2)
        prepared.warnings = (uint16_t)wire_le(&in, 2);
    if (prepared.columns > MYP_COLUMNS_MAX)
        return wrong(answer, MYP_FAULT_COUNT, MYP_COLUMNS_MAX, prepared.columns);
    answer->prepared = prepared;
    answer->columns = prepared.columns;
    answer->left = prepared.params;
    answer->state = STATE_PARAMS;
    if (answer->left == 0)
        columns_begin(answer);
    return MYP_PREPARED;
}

/* An OK, also the one at the end of a result. */
static enum myp_event take_ok(struct myp_answer *answer, struct slice packet,
                              enum myp_event event)
{
    struct wire_bytes in = wire_bytes_of(packet.at + 1, packet.bytes - 1);
    struct myp_ok ok = {.affected = take_number(&in), .last_id = take_number(&in)};
    ok.status = (uint16_t)wire_le(&in, 2);
    ok.warnings = (uint16_t)wire_le(&in, 2);
    ok.info = (struct slice){"", 0};
    if (wire_left(&in) > 0)
        ok.info = myp_string(&in);
    if ((answer->flags & MYP_SESSION_TRACK) && (ok.status & STATUS_TRACKED))
        (void)myp_string(&in);
    if (in.cut || !ok.info.at)
        return wrong(answer, MYP_FAULT_SHORT, 0, packet.bytes);
    answer->ok = ok;
    answer->done = answer->command == MYP_SIMPLE || !(ok.status & STATUS_MORE_RESULTS);
    answer->state = answer->done ? STATE_DONE : MYP_STATE_HEAD;
    return event;
}

static enum myp_event take_end(struct myp_answer *answer, struct slice packet)
{
    struct wire_bytes in = wire_bytes_of(packet.at + 1, packet.bytes - 1);
    struct myp_ok ok = {
        .info = {"", 0}
    };
    ok.warnings = (uint16_t)wire_le(&in, 2);
    ok.status = (uint16_t)wire_le(&in, 2);
    if (in.cut)
        return wrong(answer, MYP_FAULT_SHORT, 0, packet.bytes);
    answer->ok = ok;
    answer->done = !(ok.status & STATUS_MORE_RESULTS);
    answer->state = answer->done ? STATE_DONE : MYP_STATE_HEAD;
    return MYP_RESULT_DONE;
}

/* What looks like no row at first sight. */
static enum myp_event take_row(struct myp_answer *answer, struct slice packet)
{
    uint8_t first = (uint8_t)packet.at[0];
    bool new_end = (answer->flags & MYP_DEPRECATE_EOF) != 0;
    if (first == HEAD_END && packet.bytes < (new_end ? MYP_CHUNK_BYTES : END_BYTES_MOST + 1))
        return new_end ? take_ok(answer, packet, MYP_RESULT_DONE) : take_end(answer, packet);
    if (answer->command == MYP_EXECUTE)
        return wrong(answer, MYP_FAULT_FIRST, 0, first);
    return MYP_ROW;
}

static enum myp_event take_result(struct myp_answer *answer, struct slice packet)
{
    struct wire_bytes in = wire_bytes_of(packet.at, packet.bytes);
    uint64_t columns = take_number(&in);
    answer->defined = true;
    if (answer->flags & MYP_CACHE_METADATA)
        answer->defined = wire_u8(&in) != 0;
    if (in.cut)
        return wrong(answer, MYP_FAULT_SHORT, 0, packet.bytes);
    if (wire_left(&in) > 0)
        return wrong(answer, MYP_FAULT_LONG, packet.bytes - wire_left(&in), packet.bytes);
    if (columns == 0 || columns > MYP_COLUMNS_MAX)
        return wrong(answer, MYP_FAULT_COUNT, MYP_COLUMNS_MAX, columns);
    if (!answer->defined && columns != answer->known)
        return wrong(answer, MYP_FAULT_UNDEFINED, answer->known, columns);
    answer->known = 0; /* they are those of the first result */
    answer->columns = (uint16_t)columns;
    if (answer->defined)
        columns_begin(answer);
    else
        answer->state = answer->flags & MYP_DEPRECATE_EOF ? MYP_STATE_ROWS : STATE_END;
    return MYP_RESULT;
}

static enum myp_event take_head(struct myp_answer *answer, struct slice packet)
{
    uint8_t first = (uint8_t)packet.at[0];
    if (first == HEAD_OK)
        return answer->command == MYP_PREPARE ? take_prepared(answer, packet)
                                              : take_ok(answer, packet, MYP_OK);
    if (answer->command == MYP_PREPARE || answer->command == MYP_SIMPLE)
        return wrong(answer, MYP_FAULT_FIRST, 0, first);
    if (first == HEAD_INFILE) {
        answer->text = (struct slice){packet.at + 1, packet.bytes - 1};
        return MYP_INFILE;
    }
    return take_result(answer, packet);
}

/* number of strings (1), stage, stages, u24 thousandths of a percent, name of the stage */
static enum myp_event take_progress(struct myp_answer *answer, struct wire_bytes in)
{
    enum { BEFORE_NAME = 6 };
    size_t bytes = wire_left(&in);
    (void)wire_take(&in, BEFORE_NAME);
    answer->text = myp_string(&in);
    if (in.cut || !answer->text.at)
        return wrong(answer, MYP_FAULT_SHORT, 0, bytes + 3);
    return MYP_PROGRESS;
}

static enum myp_event take_error(struct myp_answer *answer, struct slice packet)
{
    enum { SQLSTATE_BYTES = 5 };
    struct wire_bytes in = wire_bytes_of(packet.at + 1, packet.bytes - 1);
    uint16_t code = (uint16_t)wire_le(&in, 2);
    if (in.cut)
        return wrong(answer, MYP_FAULT_SHORT, 0, packet.bytes);
    if (code == CODE_PROGRESS)
        return take_progress(answer, in);
    struct myp_error error = {.code = code, .sqlstate = "HY000"};
    if (wire_left(&in) > SQLSTATE_BYTES && *in.at == '#') {
        memcpy(error.sqlstate, in.at + 1, SQLSTATE_BYTES);
        in.at += 1 + SQLSTATE_BYTES;
    }
    error.text = (struct slice){in.at, wire_left(&in)};
    answer->error = error;
    answer->done = true;
    answer->state = STATE_DONE;
    return MYP_ERROR;
}

enum myp_event myp_answer_other(struct myp_answer *answer, struct slice packet)
{
    if (answer->state == STATE_DONE)
        return wrong(answer, MYP_FAULT_AFTER, 0, packet.bytes);
    if (packet.bytes == 0)
        return wrong(answer, MYP_FAULT_EMPTY, 1, 0);
    if ((uint8_t)packet.at[0] == HEAD_ERROR)
        return take_error(answer, packet);
    switch (answer->state) {
    case MYP_STATE_HEAD: return take_head(answer, packet);
    case STATE_COLUMNS: return take_column(answer, packet);
    case STATE_PARAMS: return take_param(answer, packet);
    case MYP_STATE_ROWS: return take_row(answer, packet);
    default: return take_defined(answer, packet);
    }
}

void myp_fault_print(const struct myp_answer *answer, char *buffer, size_t room)
{
    unsigned long long expected = answer->expected, came = answer->came;
    switch (answer->fault) {
    case MYP_FAULT_NONE: text_print(buffer, room, "no fault"); break;
    case MYP_FAULT_EMPTY: text_print(buffer, room, "a packet without any byte came"); break;
    case MYP_FAULT_SHORT:
        text_print(buffer, room, "a packet ends too early, after %llu bytes", came);
        break;
    case MYP_FAULT_LONG:
        text_print(buffer, room, "a packet of %llu bytes was expected, one of %llu came",
                   expected, came);
        break;
    case MYP_FAULT_COUNT:
        text_print(buffer, room, "1 to %llu columns were expected, %llu are announced",
                   expected, came);
        break;
    case MYP_FAULT_END:
        text_print(buffer, room,
                   "the end of the column definitions (0x%02llx) was expected, 0x%02llx came",
                   expected, came);
        break;
    case MYP_FAULT_FIRST:
        text_print(buffer, room,
                   "a packet that begins with 0x%02llx was expected, 0x%02llx came", expected,
                   came);
        break;
    case MYP_FAULT_UNDEFINED:
        text_print(buffer, room,
                   "%llu columns without definitions came, %llu are known from prepare", came,
                   expected);
        break;
    case MYP_FAULT_AFTER:
        text_print(buffer, room, "a packet of %llu bytes came after the end of an answer",
                   came);
        break;
    }
}
