/* Percent encoding, and secrets out of what is shown. */

#include "driver/driver_internal.h"
#include "driver/target_internal.h"

#include <string.h>
#include <strings.h>

#define HIDDEN "***"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte that `text`, which begins with %, stands for; 0 when it stands for none. */
static int decode_byte(struct slice text)
{
    int high = text.bytes > 2 ? hex_digit(text.at[1]) : -1;
    int low = text.bytes > 2 ? hex_digit(text.at[2]) : -1;
    return high >= 0 && low >= 0 ? high * 16 + low : 0;
}

bool percent_decode(struct arena *arena, struct slice text, const char **out, struct err *err)
{
    char *decoded = arena_array(arena, char, text.bytes + 1);
    size_t at = 0;
    while (text.bytes > 0) {
        int byte = text.at[0] == '%' ? decode_byte(text) : (unsigned char)text.at[0];
        if (byte == 0)
            return err_set(err, ERR_USAGE,
                           "a %% must be followed by two hexadecimal digits, and not be %%00 "
                           "(a percent sign itself is written %%25)");
        decoded[at++] = (char)byte;
        text = slice_skip(text, text.at[0] == '%' ? 3 : 1);
    }
    *out = decoded;
    return true;
}

static bool contains(struct slice text, const char *word)
{
    size_t bytes = strlen(word);
    for (; text.bytes >= bytes; text = slice_skip(text, 1)) {
        if (strncasecmp(text.at, word, bytes) == 0)
            return true;
    }
    return false;
}

bool secret_name(struct slice name)
{
    static const char *const words[] = {"passw",      "pwd",      "secret",    "token",
                                        "passphrase", "conninfo", "credential"};
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (contains(name, words[i]))
            return true;
    }
    return false;
}

/* Is there `x://` at the start? Gives the bytes up to and with the slashes. */
static size_t scheme_bytes(struct slice text)
{
    size_t at = 0;
    while (at < text.bytes &&
           ((text.at[at] >= 'a' && text.at[at] <= 'z') ||
            (text.at[at] >= 'A' && text.at[at] <= 'Z') || text.at[at] == '+'))
        at++;
    return at > 0 && slice_starts(slice_skip(text, at), "://") ? at + 3 : 0;
}

static size_t last_at_sign(struct slice text)
{
    const char *found = text.bytes ? memrchr(text.at, '@', text.bytes) : NULL;
    return found ? (size_t)(found - text.at) : text.bytes;
}

/* Bytes of what stands before the @ that ends user and password. A password that should have
 * been percent-encoded is hidden too: up to the last @ before the query, and beyond when the
 * authority has a colon and no @. */
static size_t userinfo_bytes(struct slice text)
{
    struct slice before, query, authority, path;
    slice_split(text, '?', &before, &query);
    size_t bytes = last_at_sign(before);
    if (bytes < before.bytes)
        return bytes;
    slice_split(before, '/', &authority, &path);
    bytes = last_at_sign(text);
    if (bytes < text.bytes && memchr(authority.at, ':', authority.bytes))
        return bytes;
    return 0;
}

static void add_query(struct text *out, struct slice query)
{
    struct slice item, name, value;
    bool more = true;
    while (more) {
        more = slice_split(query, '&', &item, &query);
        const char *plain = NULL;
        struct err ignored;
        bool has_value = slice_split(item, '=', &name, &value);
        if (!percent_decode(out->arena, name, &plain, &ignored))
            plain = "password"; /* a name that cannot be read may be one */
        text_add_slice(out, has_value ? name : item);
        if (has_value)
            text_add(out, "=");
        if (secret_name(slice_of(plain)))
            text_add(out, has_value ? HIDDEN : "");
        else
            text_add_slice(out, value);
        if (more)
            text_add(out, "&");
    }
}

static void add_after_authority(struct text *out, struct slice text)
{
    struct slice before, query;
    bool has_query = slice_split(text, '?', &before, &query);
    text_add_slice(out, before);
    if (!has_query)
        return;
    text_add(out, "?");
    add_query(out, query);
}

static void add_url(struct text *out, struct slice text, size_t scheme)
{
    text_add_slice(out, (struct slice){text.at, scheme});
    text = slice_skip(text, scheme);
    size_t bytes = userinfo_bytes(text);
    if (bytes > 0) {
        struct slice user, password;
        bool has_password = slice_split((struct slice){text.at, bytes}, ':', &user, &password);
        text_add_slice(out, user);
        text_add(out, has_password ? ":" HIDDEN : "");
        text = slice_skip(text, bytes);
    }
    add_after_authority(out, text);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The bytes of a conninfo value, quotes and backslashes as libpq reads them. */
static size_t conninfo_value_bytes(struct slice text)
{
    bool quoted = slice_starts(text, "'");
    size_t at = quoted ? 1 : 0;
    while (at < text.bytes) {
        char c = text.at[at];
        if (quoted ? c == '\'' : is_space(c))
            return at + (quoted ? 1 : 0);
        at += c == '\\' ? 2 : 1;
    }
    return text.bytes;
}

static size_t count_spaces(struct slice text)
{
    size_t at = 0;
    while (at < text.bytes && is_space(text.at[at]))
        at++;
    return at;
}

/* One KEY = VALUE; returns what follows it. */
static struct slice add_pair(struct text *out, struct slice name, struct slice rest)
{
    struct slice value = slice_skip(rest, count_spaces(rest));
    size_t bytes = conninfo_value_bytes(value);
    size_t scheme = scheme_bytes(slice_skip(value, slice_starts(value, "'") ? 1 : 0));
    text_add_slice(out, name);
    text_add(out, "=");
    if (secret_name(name)) {
        text_add(out, HIDDEN);
    } else if (scheme > 0) { /* dbname=URI */
        add_url(out, value, scheme + (slice_starts(value, "'") ? 1 : 0));
        bytes = value.bytes;
    } else {
        text_add_slice(out, (struct slice){value.at, bytes});
    }
    return slice_skip(value, bytes);
}

static struct slice last_word(struct slice text)
{
    size_t at = text.bytes;
    while (at > 0 && !is_space(text.at[at - 1]))
        at--;
    return slice_skip(text, at);
}

static void add_conninfo(struct text *out, struct slice text)
{
    struct slice name, rest;
    bool after_secret = false, first = true;
    while (slice_split(text, '=', &name, &rest)) {
        name = slice_trim(name);
        /* Words that belong to no key may be the rest of a password with a blank in it. */
        if (after_secret)
            name = last_word(name);
        text_add(out, first ? "" : " ");
        text = add_pair(out, name, rest);
        after_secret = after_secret || secret_name(name);
        first = false;
    }
    text = slice_trim(text);
    if (!after_secret && text.bytes > 0) {
        text_add(out, first ? "" : " ");
        text_add_slice(out, text);
    }
}

/* KIND[:PATH][?QUERY], or a URL with its slashes forgotten, which may have a password. */
static void add_kind(struct text *out, struct slice text)
{
    struct slice head, tail;
    size_t bytes = last_at_sign(text);
    bool has_colon = slice_split(text, ':', &head, &tail) && head.bytes < bytes;
    if (bytes < text.bytes && has_colon && !slice_is(head, "sqlite")) {
        text_add_slice(out, head);
        text_add(out, ":" HIDDEN);
        text = slice_skip(text, bytes);
    }
    add_after_authority(out, text);
}

/* Line breaks and other control characters would spoil tables. */
static const char *visible(struct text *text)
{
    for (size_t i = 0; i < text->bytes; i++) {
        if ((unsigned char)text->at[i] < ' ' || text->at[i] == 0x7f)
            text->at[i] = ' ';
    }
    return text->at;
}

const char *drv_redact(struct arena *arena, const char *text)
{
    struct text out;
    struct slice left = slice_of(text), head, tail;
    text_init(&out, arena, 4 * (size_t)TARGET_BYTES_MAX);
    bool pair = slice_split(left, '=', &head, &tail);
    if (pair && (scheme_bytes(tail) > 0 || slice_starts(tail, "conninfo:")) &&
        !memchr(head.at, ':', head.bytes)) { /* a label */
        text_add_slice(&out, head);
        text_add(&out, "=");
        left = tail;
    }
    bool conninfo = slice_starts(left, "conninfo:");
    if (conninfo) {
        text_add(&out, "conninfo:");
        left = slice_skip(left, strlen("conninfo:"));
    }
    size_t scheme = scheme_bytes(left);
    if (scheme > 0)
        add_url(&out, left, scheme);
    else if (conninfo || (pair && !memchr(head.at, '?', head.bytes)))
        add_conninfo(&out, left);
    else
        add_kind(&out, left);
    return visible(&out);
}
