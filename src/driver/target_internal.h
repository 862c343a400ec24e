#ifndef DRIVER_TARGET_INTERNAL_H
#define DRIVER_TARGET_INTERNAL_H

/* Pieces of the target parser. None of their messages shows the text that was parsed: it may
 * hold a password. */

#include "base/text.h"
#include "driver/driver.h"
#include "driver/target.h"

enum { TARGET_BYTES_MAX = 1 << 16 };

/* Percent encoding of RFC 3986 removed; a bad or zero byte is an error. */
MUST_CHECK bool percent_decode(struct arena *arena, struct slice text, const char **out,
                               struct err *err);

/* The class that a kind's targets get when no ?client= names another; NULL for unknown kinds.
 */
const struct drv_class *kind_class(struct slice kind);

/* What a target's query may say besides the class's options. */
enum query_allows {
    QUERY_BIN = 1 << 0,
    QUERY_SETTINGS = 1 << 1,
    QUERY_SOCKET = 1 << 2, /* socket, tls */
    QUERY_REST = 1 << 3,   /* others are kept, as they are, in *rest */
    QUERY_CLIENT = 1 << 4,
};

/* Reads NAME=VALUE&…: fills class, options, settings, bin, socket and tls of the target. */
MUST_CHECK bool query_read(struct arena *arena, struct slice query, unsigned allows,
                           struct drv_target *target, const char **rest, struct err *err);

#endif
