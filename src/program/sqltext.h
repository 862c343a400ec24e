#ifndef PROGRAM_SQLTEXT_H
#define PROGRAM_SQLTEXT_H

/*
 * SQL text with named parameters, `:name`, as suites write it. Recognised and left alone: '…'
 * and "…" and `…` (doubled quotes; backslash escapes where the dialect has them: MariaDB's '…'
 * and "…", PostgreSQL's E'…'; no `…` in PostgreSQL), $tag$…$tag$ (PostgreSQL), -- (in MariaDB
 * only before a blank) and # (MariaDB) and block comments (nested in PostgreSQL), the cast
 * `::`, and `:=`. PostgreSQL's operator ? and MariaDB's @variables are left alone too. A
 * parameter name is a letter or _ and then letters, digits and _, at most 63 bytes.
 */

#include "base/arena.h"
#include "base/defs.h"
#include "base/err.h"
#include "program/dialect.h"

#include <stdint.h>

#define SQLTEXT_BYTES_MAX  (1u << 20)
#define SQLTEXT_PARAMS_MAX 65535u

struct sqltext {
    const char *sql;           /* with native placeholders, NUL-terminated */
    uint32_t param_count;      /* placeholders in the order of binding */
    const char *const *params; /* name of each; with '$' a repeated name is bound once */
};

/* Errors (ERR_CONFIG): unterminated quote or comment, too long, too many parameters or too long
 * a name, a native placeholder in the text ("write :name instead of ?"). The text says the line
 * and column. */
MUST_CHECK bool sqltext_compile(struct arena *arena, const char *sql, enum dialect dialect,
                                struct sqltext *out, struct err *err);

#endif
