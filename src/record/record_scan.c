#include "base/num.h"
#include "record/record_json_internal.h"

#include <math.h>
#include <string.h>

enum { NAMES_MAX = 1000 }; /* floors, metrics of a cell */

/* Goes down into a member or item; returns what reader_leave() needs to come back. */
size_t reader_enter(struct reader *reader, const char *key)
{
    size_t here = reader->path.bytes;
    if (here > 0)
        text_add_char(&reader->path, '.');
    text_add(&reader->path, key);
    return here;
}

void reader_leave(struct reader *reader, size_t here)
{
    reader->path.bytes = here;
    reader->path.at[here] = '\0';
}

static void describe(char *buffer, size_t room, json_t *item)
{
    if (!item) {
        text_print(buffer, room, "nothing");
        return;
    }
    switch (json_typeof(item)) {
    case JSON_OBJECT: text_print(buffer, room, "an object"); return;
    case JSON_ARRAY: text_print(buffer, room, "an array"); return;
    case JSON_STRING: text_print(buffer, room, "\"%.60s\"", json_string_value(item)); return;
    case JSON_INTEGER:
        text_print(buffer, room, "%" JSON_INTEGER_FORMAT, json_integer_value(item));
        return;
    case JSON_REAL: text_print(buffer, room, "%.15g", json_real_value(item)); return;
    case JSON_TRUE: text_print(buffer, room, "true"); return;
    case JSON_FALSE: text_print(buffer, room, "false"); return;
    case JSON_NULL: text_print(buffer, room, "null"); return;
    }
}

bool reader_expected(struct reader *reader, const char *what, json_t *item)
{
    char got[96];
    describe(got, sizeof(got), item);
    return err_set(reader->err, ERR_CONFIG, "%s: expected %s, got %s",
                   reader->path.bytes > 0 ? reader->path.at : "record", what, got);
}

struct slice reader_slice(json_t *item)
{
    return (struct slice){json_string_value(item), json_string_length(item)};
}

bool reader_text(struct reader *reader, json_t *item, const char **out)
{
    if (!item || json_is_null(item)) {
        *out = NULL;
        return true;
    }
    if (!json_is_string(item))
        return reader_expected(reader, "a string", item);
    if (memchr(json_string_value(item), '\0', json_string_length(item)))
        return err_set(reader->err, ERR_CONFIG, "%s: has a zero byte", reader->path.at);
    *out = arena_slice(reader->arena, reader_slice(item));
    return true;
}

bool reader_need(struct reader *reader, json_t *item, const char **out)
{
    if (!json_is_string(item) || json_string_length(item) == 0)
        return reader_expected(reader, "a string that is not empty", item);
    return reader_text(reader, item, out);
}

/* Position of a word; -1 with the error set. */
static int to_word(struct reader *reader, json_t *item, const char *const *words)
{
    struct text all;
    text_init(&all, reader->arena, 300);
    text_add(&all, "one of");
    for (int i = 0; words[i]; i++) {
        if (json_is_string(item) && slice_is(reader_slice(item), words[i]))
            return i;
        text_addf(&all, " \"%s\"", words[i]);
    }
    (void)reader_expected(reader, all.at, item);
    return -1;
}

bool reader_u64(struct reader *reader, json_t *item, uint64_t *out)
{
    if (!item)
        return true;
    if (json_is_integer(item) && json_integer_value(item) >= 0) {
        *out = (uint64_t)json_integer_value(item);
        return true;
    }
    if (json_is_string(item) && num_u64(reader_slice(item), out))
        return true;
    return reader_expected(reader, "a whole number", item);
}

static bool to_u32(struct reader *reader, json_t *item, uint32_t *out)
{
    uint64_t wide = 0;
    if (!reader_u64(reader, item, &wide))
        return false;
    if (wide > UINT32_MAX)
        return reader_expected(reader, "a whole number below 2^32", item);
    *out = (uint32_t)wide;
    return true;
}

bool reader_i64(struct reader *reader, json_t *item, int64_t *out)
{
    if (!item)
        return true;
    if (!json_is_integer(item))
        return reader_expected(reader, "a whole number", item);
    *out = json_integer_value(item);
    return true;
}

bool reader_real(struct reader *reader, json_t *item, double *out)
{
    if (!item)
        return true;
    if (!json_is_number(item))
        return reader_expected(reader, "a number", item);
    *out = json_number_value(item);
    return true;
}

static bool to_bool(struct reader *reader, json_t *item, bool *out)
{
    if (!item)
        return true;
    if (!json_is_boolean(item))
        return reader_expected(reader, "true or false", item);
    *out = json_is_true(item);
    return true;
}

static bool to_number(struct reader *reader, json_t *item, struct rec_number *out)
{
    if (!item || json_is_null(item))
        return true;
    if (!reader_u64(reader, item, &out->value))
        return false;
    out->known = true;
    return true;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* {"hex": "00ff"} */
static bool to_blob(struct reader *reader, json_t *item, struct value *out)
{
    json_t *hex = json_object_get(item, "hex");
    struct slice digits = reader_slice(hex);
    bool ok = digits.at && digits.bytes % 2 == 0;
    char *bytes = arena_array(reader->arena, char, digits.bytes / 2 + 1);
    for (size_t i = 0; ok && i < digits.bytes; i += 2) {
        int high = hex_digit(digits.at[i]), low = hex_digit(digits.at[i + 1]);
        ok = high >= 0 && low >= 0;
        bytes[i / 2] = (char)(ok ? (unsigned)high << 4 | (unsigned)low : 0);
    }
    if (!ok)
        return reader_expected(reader, "a value or {\"hex\": \"00ff\"}", item);
    *out = (struct value){.type = VALUE_BLOB,
                          .bytes = (uint32_t)(digits.bytes / 2),
                          .as.text = bytes};
    return true;
}

static bool to_value(struct reader *reader, json_t *item, struct value *out)
{
    if (!item || json_is_null(item))
        return true;
    if (json_is_object(item))
        return to_blob(reader, item, out);
    if (json_is_integer(item))
        *out = value_int(json_integer_value(item));
    else if (json_is_real(item))
        *out = value_real(json_real_value(item));
    else if (json_is_string(item))
        *out = value_text(arena_slice(reader->arena, reader_slice(item)),
                          (uint32_t)json_string_length(item));
    else
        return reader_expected(reader, "null, a number or a string", item);
    return true;
}

/* The names of an object are unique (the parser saw to that): no search for an older one. */
bool reader_pairs(struct reader *reader, json_t *item, struct rec_pairs *out)
{
    const char *key;
    json_t *value;
    if (!item)
        return true;
    if (!json_is_object(item))
        return reader_expected(reader, "an object", item);
    out->count = 0;
    out->room = json_object_size(item);
    out->items = arena_array(reader->arena, struct rec_pair, out->room);
    json_object_foreach(item, key, value)
    {
        size_t here = reader_enter(reader, key);
        struct rec_pair *pair = &out->items[out->count++];
        pair->name = arena_text(reader->arena, key);
        if (!to_value(reader, value, &pair->value))
            return false;
        reader_leave(reader, here);
    }
    return true;
}

static bool to_verdict(struct reader *reader, json_t *item, const struct field *field,
                       const char **out)
{
    int word = to_word(reader, item, field->words);
    if (word >= 0)
        *out = field->words[word];
    return word >= 0;
}

static bool to_enum(struct reader *reader, json_t *item, const struct field *field,
                    unsigned *out)
{
    int word = to_word(reader, item, field->words);
    if (word >= 0)
        *out = (unsigned)word;
    return word >= 0;
}

static bool read_field(struct reader *reader, const struct field *field, json_t *item, void *at)
{
    switch (field->kind) {
    case FIELD_TEXT: return reader_text(reader, item, at);
    case FIELD_NEED: return reader_need(reader, item, at);
    case FIELD_VERDICT: return to_verdict(reader, item, field, at);
    case FIELD_ENUM: return to_enum(reader, item, field, at);
    case FIELD_U64: return reader_u64(reader, item, at);
    case FIELD_U32: return to_u32(reader, item, at);
    case FIELD_I64: return reader_i64(reader, item, at);
    case FIELD_MAYBE:
        if (json_is_null(item)) {
            *(double *)at = (double)NAN;
            return true;
        }
        return reader_real(reader, item, at);
    case FIELD_REAL: return reader_real(reader, item, at);
    case FIELD_BOOL: return to_bool(reader, item, at);
    case FIELD_NUMBER: return to_number(reader, item, at);
    case FIELD_VALUE: return to_value(reader, item, at);
    case FIELD_PAIRS: break;
    }
    return reader_pairs(reader, item, at);
}

bool reader_fields(struct reader *reader, const struct fields *fields, json_t *object,
                   void *out)
{
    if (!json_is_object(object))
        return reader_expected(reader, "an object", object);
    for (size_t i = 0; i < fields->count; i++) {
        const struct field *field = &fields->items[i];
        size_t here = reader_enter(reader, field->name);
        json_t *item = json_object_get(object, field->name);
        if (!read_field(reader, field, item, (char *)out + field->offset))
            return false;
        reader_leave(reader, here);
    }
    return true;
}

bool reader_array(struct reader *reader, json_t *object, const char *key, item_fn each,
                  void *context)
{
    json_t *array = json_object_get(object, key);
    size_t here = reader_enter(reader, key);
    if (array && !json_is_array(array))
        return reader_expected(reader, "an array", array);
    for (size_t i = 0; i < json_array_size(array); i++) {
        size_t list = reader->path.bytes;
        text_addf(&reader->path, "[%zu]", i);
        if (!each(reader, json_array_get(array, i), context))
            return false;
        reader_leave(reader, list);
    }
    reader_leave(reader, here);
    return true;
}

bool reader_members(struct reader *reader, json_t *object, member_fn each, void *context)
{
    const char *key;
    json_t *item;
    if (object && !json_is_object(object))
        return reader_expected(reader, "an object", object);
    if (json_object_size(object) > NAMES_MAX)
        return err_set(reader->err, ERR_CONFIG, "%s: more than %d members", reader->path.at,
                       NAMES_MAX);
    json_object_foreach(object, key, item)
    {
        size_t here = reader_enter(reader, key);
        if (!each(reader, key, item, context))
            return false;
        reader_leave(reader, here);
    }
    return true;
}

bool reader_u128(struct reader *reader, json_t *item, __uint128_t *out)
{
    uint64_t small = 0;
    if (!json_is_string(item)) {
        if (!reader_u64(reader, item, &small))
            return false;
        *out = small;
        return true;
    }
    __uint128_t sum = 0;
    struct slice digits = reader_slice(item);
    bool ok = digits.bytes > 0 && digits.bytes <= 38;
    for (size_t i = 0; ok && i < digits.bytes; i++) {
        ok = digits.at[i] >= '0' && digits.at[i] <= '9';
        sum = sum * 10 + (unsigned)(digits.at[i] - '0');
    }
    if (!ok)
        return reader_expected(reader, "a whole number", item);
    *out = sum;
    return true;
}
