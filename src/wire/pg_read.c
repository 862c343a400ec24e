/* Messages of a server. */

#include "base/num.h"
#include "base/text.h"
#include "wire/pg.h"

static bool is_long(char type)
{
    return type != '\0' && strchr("TDdVENAt", type) != NULL;
}

enum pgp_scan pgp_frame_odd(struct slice in, size_t most, struct pgp_frame *frame, size_t *need)
{
    uint32_t length = pgp_u32(in.at + 1);
    if (length < 4 || length >= most || length > INT32_MAX ||
        (length > PGP_SHORT_MOST && !is_long(in.at[0])))
        return PGP_WRONG;
    *need = (size_t)length + 1;
    if (in.bytes < *need)
        return PGP_MORE;
    frame->type = in.at[0];
    frame->body = (struct slice){in.at + PGP_HEADER_BYTES, length - 4};
    return PGP_FRAME;
}

void pgp_frame_print(const char *at, size_t most, char *buffer, size_t room)
{
    uint32_t length = pgp_u32(at + 1);
    bool printable = at[0] > ' ' && at[0] < 0x7f;
    const char *type = printable ? at : "?";
    if (length < 4)
        text_print(buffer, room,
                   "a message of type %.1s (0x%02x) says that it has %u bytes, at least 4 were "
                   "expected",
                   type, (unsigned char)at[0], length);
    else if (length > PGP_SHORT_MOST && !is_long(at[0]))
        text_print(buffer, room,
                   "a message of type %.1s (0x%02x) says that it has %u bytes, at most %d were "
                   "expected",
                   type, (unsigned char)at[0], length, PGP_SHORT_MOST);
    else
        text_print(buffer, room,
                   "a message of type %.1s says that it has %u bytes, at most %zu are accepted "
                   "(?message_bytes=)",
                   type, length, most);
}

static const char *fault_of(const struct wire_bytes *in)
{
    if (in->cut)
        return "it ends too early";
    return wire_left(in) > 0 ? "bytes are left at its end" : NULL;
}

const char *pgp_ready(struct slice body, char *status)
{
    if (body.bytes != 1)
        return "it should have one byte";
    if (body.at[0] != 'I' && body.at[0] != 'T' && body.at[0] != 'E')
        return "its status is none of I, T and E";
    *status = body.at[0];
    return NULL;
}

const char *pgp_command(struct slice body, struct slice *tag)
{
    struct wire_bytes in = wire_bytes_of(body.at, body.bytes);
    *tag = wire_text(&in);
    return fault_of(&in);
}

int64_t pgp_affected(struct slice tag)
{
    static const char *const words[] = {"INSERT ", "UPDATE ", "DELETE ", "MERGE "};
    int64_t affected;
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (!slice_starts(tag, words[i]))
            continue;
        const char *blank = memrchr(tag.at, ' ', tag.bytes);
        struct slice number = slice_skip(tag, (size_t)(blank + 1 - tag.at));
        return num_i64(number, &affected) && affected >= 0 ? affected : -1;
    }
    return -1;
}

static void keep_field(struct pgp_error *error, uint8_t code, struct slice text)
{
    size_t bytes = text.bytes < sizeof(error->sqlstate) ? text.bytes : 5;
    switch (code) {
    case 'S': error->severity = text; break;
    case 'M': error->message = text; break;
    case 'D': error->detail = text; break;
    case 'H': error->hint = text; break;
    case 'C': memcpy(error->sqlstate, text.at, bytes); break;
    default: break; /* fields may be added at any time */
    }
}

const char *pgp_error(struct slice body, struct pgp_error *error)
{
    struct wire_bytes in = wire_bytes_of(body.at, body.bytes);
    const struct slice none = {"", 0};
    *error = (struct pgp_error){none, none, none, none, ""};
    for (;;) {
        uint8_t code = wire_u8(&in);
        if (code == 0)
            return fault_of(&in);
        keep_field(error, code, wire_text(&in));
    }
}

const char *pgp_columns_begin(struct slice body, struct pgp_columns *columns)
{
    columns->in = wire_bytes_of(body.at, body.bytes);
    columns->count = columns->left = wire_be16(&columns->in);
    if (columns->count > INT16_MAX)
        return "its number of columns is negative";
    return columns->in.cut ? fault_of(&columns->in) : NULL;
}

bool pgp_columns_next(struct pgp_columns *columns, struct pgp_column *column,
                      const char **fault)
{
    struct wire_bytes *in = &columns->in;
    if (columns->left == 0) {
        *fault = fault_of(in);
        return false;
    }
    column->name = wire_text(in);
    column->table = wire_be32(in);
    column->attribute = wire_be16(in);
    column->type = wire_be32(in);
    column->size = (int16_t)wire_be16(in);
    column->modifier = (int32_t)wire_be32(in);
    column->format = wire_be16(in);
    if (in->cut)
        *fault = "it ends too early";
    else if (column->format > 1)
        *fault = "a column's format is neither 0 nor 1";
    else
        *fault = NULL;
    columns->left--;
    return *fault == NULL;
}

const char *pgp_params(struct slice body, uint16_t *count, const char **types)
{
    struct wire_bytes in = wire_bytes_of(body.at, body.bytes);
    *count = wire_be16(&in);
    *types = wire_take(&in, (size_t)*count * 4);
    return fault_of(&in);
}

const char *pgp_status(struct slice body, struct slice *name, struct slice *value)
{
    struct wire_bytes in = wire_bytes_of(body.at, body.bytes);
    *name = wire_text(&in);
    *value = wire_text(&in);
    return fault_of(&in);
}

const char *pgp_key(struct slice body, uint32_t *pid, uint32_t *key)
{
    struct wire_bytes in = wire_bytes_of(body.at, body.bytes);
    *pid = wire_be32(&in);
    *key = wire_be32(&in);
    return fault_of(&in);
}

const char *pgp_notification(struct slice body, uint32_t *pid, struct slice *channel,
                             struct slice *payload)
{
    struct wire_bytes in = wire_bytes_of(body.at, body.bytes);
    *pid = wire_be32(&in);
    *channel = wire_text(&in);
    *payload = wire_text(&in);
    return fault_of(&in);
}

const char *pgp_copy(struct slice body, uint8_t *format, uint16_t *count, const char **formats)
{
    struct wire_bytes in = wire_bytes_of(body.at, body.bytes);
    *format = wire_u8(&in);
    *count = wire_be16(&in);
    *formats = wire_take(&in, (size_t)*count * 2);
    if (*count > INT16_MAX)
        return "its number of columns is negative";
    if (*format > 1)
        return "its format is neither 0 nor 1";
    return fault_of(&in);
}

static const char *columns_fault(struct slice body)
{
    struct pgp_columns columns;
    struct pgp_column column;
    const char *fault = pgp_columns_begin(body, &columns);
    while (!fault && pgp_columns_next(&columns, &column, &fault)) {
    }
    return fault;
}

/* A row by itself: which columns were announced is not known here. */
static const char *row_fault(struct slice body)
{
    struct wire_bytes in = wire_bytes_of(body.at, body.bytes);
    uint16_t count = wire_be16(&in);
    if (count > INT16_MAX)
        return "its number of columns is negative";
    for (uint16_t i = 0; i < count && !in.cut; i++) {
        uint32_t bytes = wire_be32(&in);
        if (bytes > INT32_MAX && bytes != UINT32_MAX)
            return "a value's length is negative";
        if (bytes != UINT32_MAX)
            (void)wire_take(&in, bytes);
    }
    return fault_of(&in);
}

static const char *version_fault(struct slice body)
{
    struct wire_bytes in = wire_bytes_of(body.at, body.bytes);
    (void)wire_be32(&in);
    uint32_t count = wire_be32(&in);
    for (uint32_t i = 0; i < count && !in.cut; i++)
        (void)wire_text(&in);
    return fault_of(&in);
}

static const char *two_faults(const struct pgp_frame *frame)
{
    struct slice one, other;
    uint32_t number, second;
    struct pgp_error error;
    switch (frame->type) {
    case 'E':
    case 'N': return pgp_error(frame->body, &error);
    case 'S': return pgp_status(frame->body, &one, &other);
    case 'K': return pgp_key(frame->body, &number, &second);
    case 'A': return pgp_notification(frame->body, &number, &one, &other);
    case 'C': return pgp_command(frame->body, &one);
    default: break;
    }
    return "its type is unknown";
}

const char *pgp_fault(const struct pgp_frame *frame)
{
    const char *place;
    uint16_t count;
    uint8_t format;
    char status;
    switch (frame->type) {
    case '1':
    case '2':
    case '3':
    case 'n':
    case 's':
    case 'I':
    case 'c': return frame->body.bytes == 0 ? NULL : "it should have no body";
    case 'd': return NULL;
    case 'R': return frame->body.bytes >= 4 ? NULL : "it ends too early";
    case 'D': return row_fault(frame->body);
    case 'T': return columns_fault(frame->body);
    case 't': return pgp_params(frame->body, &count, &place);
    case 'G':
    case 'H':
    case 'W': return pgp_copy(frame->body, &format, &count, &place);
    case 'Z': return pgp_ready(frame->body, &status);
    case 'v': return version_fault(frame->body);
    default: break;
    }
    return two_faults(frame);
}
