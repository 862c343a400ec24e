#include "base/err.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

static void mark_cut(struct err *err)
{
    memcpy(err->text + sizeof(err->text) - 4, "...", 4);
}

/* The new text may be made from the old one, so it is built apart and then copied. One byte
 * more than fits tells a full text from a cut one. */
static void PRINTF_LIKE(2, 0) put_text(struct err *err, const char *fmt, va_list args)
{
    char text[sizeof(err->text) + 1];
    size_t bytes = text_vprint(text, sizeof(text), fmt, args);
    bool cut = bytes == sizeof(err->text);
    memcpy(err->text, text, cut ? bytes : bytes + 1);
    if (cut)
        mark_cut(err);
}

/* Appends and, when it does not fit, ends the text in "...". */
static void add_text(struct err *err, const char *more)
{
    size_t have = strlen(err->text), want = strlen(more), room = sizeof(err->text) - 1;
    size_t bytes = want < room - have ? want : room - have;
    memcpy(err->text + have, more, bytes);
    err->text[have + bytes] = '\0';
    if (bytes < want)
        mark_cut(err);
}

bool(err_set)(struct err *err, enum err_kind kind, const char *fmt, ...)
{
    assert(err && kind != ERR_NONE);
    va_list args;
    va_start(args, fmt);
    put_text(err, fmt, args);
    va_end(args);
    err->kind = kind;
    err->sys = 0;
    err->code = 0;
    memset(err->sqlstate, 0, sizeof(err->sqlstate));
    return false;
}

bool(err_errno)(struct err *err, const char *fmt, ...)
{
    int sys = errno;
    assert(err);
    va_list args;
    va_start(args, fmt);
    put_text(err, fmt, args);
    va_end(args);
    char buffer[128];
    add_text(err, ": ");
    add_text(err, strerror_r(sys, buffer, sizeof(buffer)));
    err->kind = ERR_SYSTEM;
    err->sys = sys;
    err->code = 0;
    memset(err->sqlstate, 0, sizeof(err->sqlstate));
    return false;
}

bool(err_wrap)(struct err *err, const char *fmt, ...)
{
    assert(err && err->kind != ERR_NONE);
    char old[sizeof(err->text)];
    memcpy(old, err->text, sizeof(old));
    va_list args;
    va_start(args, fmt);
    put_text(err, fmt, args);
    va_end(args);
    add_text(err, ": ");
    add_text(err, old);
    return false;
}

int err_exit_code(enum err_kind kind)
{
    switch (kind) {
    case ERR_NONE: return 0;
    case ERR_GATE: return 1;
    case ERR_USAGE: return 2;
    case ERR_CONFIG: return 3;
    case ERR_SYSTEM: return 4;
    case ERR_DATABASE: return 5;
    case ERR_INVALID: return 6;
    case ERR_CANCELLED: break;
    }
    assert(kind == ERR_CANCELLED);
    return 130;
}
