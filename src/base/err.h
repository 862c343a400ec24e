#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * Errors a caller is expected to handle. The struct lives with the caller and
 * holds its text inline, so reporting an error never allocates. A function that
 * fails returns false (or NULL), fills *err and leaves its other outputs alone.
 *
 * The kind decides the program's exit code (err_exit_code).
 */

#include "base/defs.h"

#include <stdbool.h>

enum err_kind {
    ERR_NONE,      /* exit 0 */
    ERR_GATE,      /* exit 1: a gate failed */
    ERR_USAGE,     /* exit 2: the command line */
    ERR_CONFIG,    /* exit 3: a bad suite, script or rules file */
    ERR_SYSTEM,    /* exit 4: target or system not available; .sys holds errno or 0 */
    ERR_DATABASE,  /* exit 5: SQL error or wrong result; .sqlstate and .code say which */
    ERR_INVALID,   /* exit 6: measured, but the run is not valid */
    ERR_CANCELLED, /* exit 130 or 143: interrupted by a signal */
};

struct err {
    enum err_kind kind;
    int sys;          /* errno for ERR_SYSTEM, else 0 */
    int code;         /* the server's own error number for ERR_DATABASE, else 0 */
    char sqlstate[6]; /* for ERR_DATABASE, else "" */
    char text[480];   /* what was expected, what came, what to do; cut with "..." when longer */
};

/* Fills *err (errno is not read) and returns false, so that a failing function can end with
 * `return err_set(err, ERR_CONFIG, "...")`. */
bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same for a failed system call: kind ERR_SYSTEM, .sys = errno, and the text ends in
 * ": <strerror>". Returns false. */
bool err_errno(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Puts "context: " before the text that is there. Returns false. */
bool err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Tools that look at one source file at a time cannot know that these three return false. */
static inline bool err_false(UNUSED bool failed)
{
    return false;
}
#define err_set(...)   err_false(err_set(__VA_ARGS__))
#define err_errno(...) err_false(err_errno(__VA_ARGS__))
#define err_wrap(...)  err_false(err_wrap(__VA_ARGS__))

/* The documented exit code of a kind; ERR_CANCELLED gives 130. */
int err_exit_code(enum err_kind kind);

#endif
