#ifndef DRIVER_TARGET_H
#define DRIVER_TARGET_H

/*
 * Targets as the command line names them:
 *
 *   [LABEL=]KIND[:PATH][?NAME=VALUE&…]      sqlite, sqlite:PATH, sqlite::memory:, postgres,
 *                                           mariadb, mysql, null
 *   [LABEL=]URL                             postgresql://… postgres://… mysql://… mariadb://…
 *   [LABEL=]conninfo:KEY=VALUE …            any libpq conninfo string
 *   @FILE                                   one of these, read from a file (keeps secrets away
 *                                           from the command line); the label may stand outside
 *
 * set.NAME=VALUE is a setting of a managed server (the launcher's to apply), of the session on
 * a running one (SET), or a pragma of SQLite; the driver applies the last two at open.
 *
 * The parser does no I/O besides @FILE, is bounded (64 KiB) and fuzzed. Percent encoding as in
 * RFC 3986. Query parameters of ours are taken out (bin, client, set.*, rows and the driver's
 * options); all others stay in the URL for libpq. An unknown parameter of a managed or embedded
 * target is an error that lists the known ones.
 */

#include "base/arena.h"
#include "base/err.h"
#include "program/dialect.h"

#include <stdbool.h>
#include <stdint.h>

struct drv_class;

enum drv_option_type { DRV_OPTION_BOOL, DRV_OPTION_INT, DRV_OPTION_TEXT, DRV_OPTION_CHOICE };

struct drv_option {
    const char *name, *help;
    enum drv_option_type type;
    size_t offset;    /* in the driver's options struct: bool, int64_t, const char *, int */
    int64_t min, max; /* INT */
    const char *const *values; /* CHOICE: NULL-terminated; stored as its index */
    const char *initial;       /* default, as text */
};

struct drv_pair {
    const char *name, *value;
};

enum drv_home {
    DRV_HOME_EMBEDDED, /* in process, no server */
    DRV_HOME_MANAGED,  /* we start a private server */
    DRV_HOME_RUNNING,  /* a server that we did not start */
};

struct drv_target {
    const char *label; /* unique in a run; the key in every table */
    const char *kind;  /* sqlite postgres mariadb mysql null */
    const char *shown; /* what was asked for, secrets removed: for output and records */
    const struct drv_class *class;
    /* Named by ?client= or the caller of drv_target_parse_client; NULL: the kind's own. */
    const char *client;
    enum dialect dialect;
    enum drv_home home;

    const char *path; /* SQLite: file, ":memory:" or NULL (a private temporary file) */
    const char
        *conninfo; /* PostgreSQL: URI or conninfo string, with its secrets; never shown */
    const char *host, *user, *password, *database, *socket; /* MariaDB, MySQL; NULL = default */
    uint16_t port;
    const char *tls; /* MariaDB, MySQL: NULL, or "required" */

    const char *bin;                 /* ?bin=DIR */
    const struct drv_pair *settings; /* ?set.NAME=VALUE: server settings or pragmas */
    uint32_t setting_count;
    const void *options; /* the class's options struct, filled */

    const char *place; /* fresh schema or database to live in; NULL before it exists */
};

/* Errors are ERR_USAGE and list what would be right. Labels must be unique: the caller checks.
 */
MUST_CHECK bool drv_target_parse(struct arena *arena, const char *text,
                                 struct drv_target *target, struct err *err);

/* The same with a client for a target that does not name one itself. */
MUST_CHECK bool drv_target_parse_client(struct arena *arena, const char *text,
                                        const char *client, struct drv_target *target,
                                        struct err *err);

/* Removes passwords from a URL, URI or conninfo string (postgres URIs also carry them as
 * `password=` and `sslpassword=`), for messages. */
const char *drv_redact(struct arena *arena, const char *text);

#endif
