#include "program/sqltext.h"

#include "base/hash.h"
#include "base/slice.h"
#include "base/text.h"

#include <string.h>

enum { NAME_BYTES_MAX = 63 };

/* A placeholder takes at most "$65535", a name at least two bytes. */
enum { GROWTH_MAX = 3 };

struct scan {
    struct arena *arena;
    struct slice sql;
    size_t at;
    enum dialect dialect;
    struct text out;
    const char **params;
    size_t param_count, param_room;
    uint32_t *slots; /* open addressing: 1 + index into params of each different name */
    size_t slot_count, name_count;
    struct err *err;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
    return is_name_start(c) || is_digit(c);
}

/* What an engine takes for part of an identifier: bytes of UTF-8 too. */
static bool is_identifier(char c)
{
    return is_name(c) || ((unsigned char)c & 0x80) != 0;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool has_hash_comments(enum dialect dialect)
{
    return dialect == DIALECT_MARIADB || dialect == DIALECT_MYSQL;
}

static char peek(const struct scan *s, size_t ahead)
{
    if (s->at + ahead >= s->sql.bytes)
        return '\0';
    return s->sql.at[s->at + ahead];
}

static char before(const struct scan *s)
{
    if (s->at == 0)
        return '\0';
    return s->sql.at[s->at - 1];
}

/* Line and column count from 1, the column in bytes. */
static bool fail_at(struct scan *s, size_t at, const char *what)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column++;
        if (s->sql.at[i] == '\n') {
            line++;
            column = 1;
        }
    }
    if (line == 1)
        return err_set(s->err, ERR_CONFIG, "column %zu: %s", column, what);
    return err_set(s->err, ERR_CONFIG, "line %zu column %zu: %s", line, column, what);
}

static void copy_to(struct scan *s, size_t end)
{
    text_add_slice(&s->out, (struct slice){s->sql.at + s->at, end - s->at});
    s->at = end;
}

static bool has_backslashes(const struct scan *s, char quote)
{
    if (quote == '`' || s->dialect == DIALECT_SQLITE)
        return false;
    if (s->dialect != DIALECT_POSTGRES)
        return true;
    bool marked = s->at > 0 && (before(s) == 'E' || before(s) == 'e');
    return quote == '\'' && marked && (s->at < 2 || !is_identifier(s->sql.at[s->at - 2]));
}

static bool skip_quoted(struct scan *s)
{
    char quote = peek(s, 0);
    bool escapes = has_backslashes(s, quote);
    for (size_t i = s->at + 1; i < s->sql.bytes; i++) {
        char c = s->sql.at[i];
        if (c == '\\' && escapes) {
            i++;
        } else if (c == quote) {
            if (i + 1 < s->sql.bytes && s->sql.at[i + 1] == quote) {
                i++;
                continue;
            }
            copy_to(s, i + 1);
            return true;
        }
    }
    return fail_at(s, s->at, "the quote that begins here has no end");
}

static void skip_line(struct scan *s)
{
    const char *end = memchr(s->sql.at + s->at, '\n', s->sql.bytes - s->at);
    copy_to(s, end ? (size_t)(end - s->sql.at) : s->sql.bytes);
}

static bool skip_block(struct scan *s)
{
    unsigned depth = 0;
    for (size_t i = s->at; i + 1 < s->sql.bytes; i++) {
        char c = s->sql.at[i], next = s->sql.at[i + 1];
        if (c == '/' && next == '*' && (depth == 0 || s->dialect == DIALECT_POSTGRES)) {
            depth++;
            i++;
        } else if (c == '*' && next == '/') {
            i++;
            if (--depth == 0) {
                copy_to(s, i + 1);
                return true;
            }
        }
    }
    return fail_at(s, s->at, "the comment that begins here has no end");
}

/* Bytes of the tag "$…$" that begins here, 0 when there is none. */
static size_t dollar_tag(const struct scan *s)
{
    if (is_identifier(before(s)) || is_digit(peek(s, 1)))
        return 0;
    size_t i = 1;
    while (is_identifier(peek(s, i)))
        i++;
    return peek(s, i) == '$' ? i + 1 : 0;
}

static bool skip_dollar_quoted(struct scan *s, size_t tag_bytes)
{
    const char *tag = s->sql.at + s->at;
    size_t from = s->at + tag_bytes;
    const char *end = memmem(s->sql.at + from, s->sql.bytes - from, tag, tag_bytes);
    if (!end)
        return fail_at(s, s->at, "the $ quote that begins here has no end");
    copy_to(s, (size_t)(end - s->sql.at) + tag_bytes);
    return true;
}

static uint32_t *find_slot(const struct scan *s, struct slice name)
{
    size_t at = hash_bytes(HASH_START, name.at, name.bytes);
    for (;; at++) {
        uint32_t *slot = &s->slots[at & (s->slot_count - 1)];
        if (*slot == 0 || slice_is(name, s->params[*slot - 1]))
            return slot;
    }
}

static void grow_slots(struct scan *s)
{
    const uint32_t *old = s->slots;
    size_t old_count = s->slot_count;
    s->slot_count = old_count > 0 ? old_count * 2 : 16;
    s->slots = arena_array(s->arena, uint32_t, s->slot_count);
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] > 0)
            *find_slot(s, slice_of(s->params[old[i] - 1])) = old[i];
    }
}

/* A repeated name is one text, and with '$' one parameter. The answer is its index. */
static size_t add_param(struct scan *s, struct slice name)
{
    if (2 * (s->name_count + 1) > s->slot_count)
        grow_slots(s);
    uint32_t *slot = find_slot(s, name);
    if (*slot > 0 && dialect_placeholder(s->dialect) == '$')
        return *slot - 1;
    s->params = arena_grow(s->arena, s->params, s->param_count, &s->param_room,
                           s->param_count + 1, sizeof(*s->params));
    if (*slot > 0) {
        s->params[s->param_count] = s->params[*slot - 1];
    } else {
        s->params[s->param_count] = arena_slice(s->arena, name);
        s->name_count++;
        *slot = (uint32_t)s->param_count + 1;
    }
    return s->param_count++;
}

static bool take_param(struct scan *s)
{
    size_t bytes = 0;
    while (is_name(peek(s, 1 + bytes)))
        bytes++;
    if (bytes > NAME_BYTES_MAX)
        return fail_at(s, s->at, "a parameter's name has at most 63 bytes");
    size_t index = add_param(s, (struct slice){s->sql.at + s->at + 1, bytes});
    if (index == SQLTEXT_PARAMS_MAX)
        return fail_at(s, s->at, "a statement has at most 65535 parameters");
    if (dialect_placeholder(s->dialect) == '$')
        text_addf(&s->out, "$%zu", index + 1);
    else
        text_add_char(&s->out, '?');
    s->at += 1 + bytes;
    return true;
}

static bool take_colon(struct scan *s)
{
    char next = peek(s, 1);
    if (is_name_start(next))
        return take_param(s);
    copy_to(s, s->at + (next == ':' || next == '=' ? 2 : 1));
    return true;
}

static bool take_dollar(struct scan *s)
{
    size_t tag_bytes = s->dialect == DIALECT_POSTGRES ? dollar_tag(s) : 0;
    if (tag_bytes > 0)
        return skip_dollar_quoted(s, tag_bytes);
    bool inside = is_identifier(before(s));
    if (s->dialect == DIALECT_POSTGRES && !inside && is_digit(peek(s, 1)))
        return fail_at(s, s->at, "write :name instead of $1");
    if (s->dialect == DIALECT_SQLITE && !inside && is_identifier(peek(s, 1)))
        return fail_at(s, s->at, "write :name instead of $name");
    copy_to(s, s->at + 1);
    return true;
}

static bool starts_comment(const struct scan *s)
{
    if (peek(s, 0) == '#')
        return has_hash_comments(s->dialect);
    if (peek(s, 0) != '-' || peek(s, 1) != '-')
        return false;
    /* MariaDB takes 5--1 for a sum unless a blank follows. */
    bool end = s->at + 2 == s->sql.bytes;
    return !has_hash_comments(s->dialect) || end || is_blank(peek(s, 2));
}

static bool take_native(struct scan *s)
{
    char c = peek(s, 0);
    if (c == '?' && s->dialect != DIALECT_POSTGRES)
        return fail_at(s, s->at, "write :name instead of ?");
    if (c == '@' && s->dialect == DIALECT_SQLITE && is_identifier(peek(s, 1)))
        return fail_at(s, s->at, "write :name instead of @name");
    copy_to(s, s->at + 1);
    return true;
}

/* Consumes at least one byte. */
static bool take_next(struct scan *s)
{
    if (starts_comment(s)) {
        skip_line(s);
        return true;
    }
    switch (peek(s, 0)) {
    case '`':
        if (s->dialect == DIALECT_POSTGRES)
            break;
        return skip_quoted(s);
    case '\'':
    case '"': return skip_quoted(s);
    case ':': return take_colon(s);
    case '$': return take_dollar(s);
    case '/':
        if (peek(s, 1) == '*')
            return skip_block(s);
        break;
    case '?':
    case '@': return take_native(s);
    default: break;
    }
    copy_to(s, s->at + 1);
    return true;
}

bool sqltext_compile(struct arena *arena, const char *sql, enum dialect dialect,
                     struct sqltext *out, struct err *err)
{
    struct scan s = {.arena = arena, .dialect = dialect, .sql = slice_of(sql), .err = err};
    if (s.sql.bytes > SQLTEXT_BYTES_MAX)
        return err_set(err, ERR_CONFIG, "expected at most %u bytes of SQL, got %zu",
                       SQLTEXT_BYTES_MAX, s.sql.bytes);
    text_init(&s.out, arena, (s.sql.bytes + 8) * GROWTH_MAX);
    while (s.at < s.sql.bytes) {
        if (!take_next(&s))
            return false;
    }
    *out = (struct sqltext){s.out.at, (uint32_t)s.param_count, s.params};
    return true;
}
