#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

/*
 * The driver interface. One `const struct drv_class` a driver; the runner has one code path for
 * all of them.
 *
 * Step contract: `submit` starts an operation, never completes one, and says what to wait for
 * before the first step; each `step` completes at most one, in the order of submission, or says
 * what it waits for. A blocking driver never waits: its `step` does the whole work and answers
 * DRV_DONE or DRV_FAILED; the runner gives each of its connections a thread. With
 * DRV_CAP_PIPELINE several operations may be in flight.
 *
 * Setup functions (open … describe) may block and allocate (from conn->arena) and report by
 * struct err. Measured functions (submit, step, cancel) allocate nothing of ours, format
 * nothing and have no err: a failure is an outcome, with its text kept for last_error until the
 * next submit.
 *
 * A driver's private struct begins with struct drv_conn and is conn_bytes long; the runner
 * reserves it zeroed and fills the public part before `open`.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/value.h"
#include "driver/target.h"
#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

#define DRV_ABI 1

enum drv_cap {
    DRV_CAP_ASYNC = 1 << 0,    /* fd, WANT_READ, WANT_WRITE; many connections a thread */
    DRV_CAP_PIPELINE = 1 << 1, /* up to conn->in_flight operations submitted before a step */
    DRV_CAP_PING = 1 << 2,     /* DRV_OP_PING is a round trip of the protocol */
    DRV_CAP_REMOTE = 1 << 3,   /* a server: has a fresh schema (place), may be managed */
};

/* WANT_WRITE waits for reading too: a server may not read on before we do. */
enum drv_step { DRV_DONE, DRV_WANT_READ, DRV_WANT_WRITE, DRV_FAILED };

/* DONE comes with OK, RETRY (serialization failure, deadlock, busy), ERROR or TIMEOUT
 * (cancelled); FAILED means that the connection is lost (LOST). */
enum drv_verdict { DRV_OK, DRV_RETRY, DRV_ERROR, DRV_TIMEOUT, DRV_LOST };

/* Where rows go, called between submit and the step that completes. values[] has `count`
 * entries for WALK (type and length; bytes in place) and DECODE; for DRAIN it is NULL and count
 * is 0. Valid until it returns. A NULL sink or row function counts rows only. What libpq walks
 * is all text; libmariadb has no cheaper way to walk a prepared result than to decode it; a
 * CALL with a result is only drained there. */
struct drv_sink {
    void (*row)(struct drv_sink *self, const struct value *values, uint16_t count);
};

enum drv_op_kind { DRV_OP_EXECUTE, DRV_OP_PING, DRV_OP_BEGIN, DRV_OP_COMMIT, DRV_OP_ROLLBACK };

/* What a correct answer looks like: used by drv_null to answer with, by nobody else. */
struct drv_expect {
    uint64_t rows;
    int64_t affected;
    const struct value *values; /* of the first row; others repeat it */
    uint16_t value_count;
    bool error; /* it should fail; error_text says how */
    const char *error_text;
};

struct drv_op {
    enum drv_op_kind kind;
    /* Another operation follows at once, without waiting for this one: with DRV_CAP_PIPELINE
     * it may stay in the buffer and may share one Sync with what follows. Without that
     * capability it is never set. */
    bool more;
    uint16_t stmt; /* index of the prepared set */
    enum prog_depth depth;
    uint32_t param_count;
    /* The caller's until the operation completes; with `more` set only until submit returns.
     */
    const struct value *params;
    struct drv_sink *sink; /* may be NULL */
    const struct drv_expect *expect;
};

/* Filled by step with DONE or FAILED; sqlstate and code are set, and looked at, only when the
 * verdict is not OK. The caller zeroes it once, before the first step. */
struct drv_outcome {
    enum drv_verdict verdict;
    uint64_t rows;
    int64_t affected; /* -1: the server did not say */
    char sqlstate[6]; /* "" when there is none, always so from SQLite */
    /* The server's or library's own number: SQLite's extended result code (1555 for a primary
     * key that is there already), MariaDB's error number (1062), 0 from PostgreSQL. */
    int code;
};

/* Durability of an acknowledged commit. */
enum drv_tier {
    DRV_TIER_UNKNOWN,
    DRV_TIER_NONE,
    DRV_TIER_MEMORY,
    DRV_TIER_CACHE,
    DRV_TIER_FSYNC
};
const char *drv_tier_name(
    enum drv_tier tier); /* "unknown" "none" "memory" "page cache" "fsync" */

struct drv_setting {
    const char *name, *value, *source;
};

/* What a target says of itself; strings in the arena given to describe. */
struct drv_facts {
    const char *server_version; /* "PostgreSQL 15.18 …" ; "" for null */
    const char *client_version; /* "libpq 15.18" */
    enum drv_tier tier;
    const char *tier_why; /* "fsync=on, synchronous_commit=on, full_page_writes=on" */
    bool debug_build;
    const char *debug_why; /* which sign of it, or NULL */
    bool query_cache;      /* identical queries are answered from a cache */
    bool superuser;
    bool pooled; /* a pooler stands between: the server's limits of connections are not ours */
    const struct drv_setting
        *settings; /* every non-default one, without secrets, sorted by name */
    uint32_t setting_count;
};

struct drv_conn {
    const struct drv_class *class;
    const struct drv_target *target;
    struct arena *arena; /* the connection's own; lives as long as it */
    const void *options; /* the driver's options struct, parsed from the target */
    /* Most operations in flight at a time; set before `prepare`, which makes room for them. 0
     * means one. */
    uint32_t in_flight;
};

struct drv_class {
    const char *name;    /* "libpq": the client's name in tables */
    const char *summary; /* one line for `dbdyno list drivers` */
    uint32_t abi, caps;
    /* The class for what this one does not do itself: place, query and describe (which are then
     * NULL), on a connection of its own. NULL: this one. */
    const struct drv_class *control;
    const struct drv_option *options; /* what a target's query may set; ends with name NULL */
    size_t options_bytes, conn_bytes;
    uint32_t files; /* open files of a connection, at most */

    MUST_CHECK bool (*open)(struct drv_conn *, struct err *); /* connected and logged in */
    void (*close)(struct drv_conn *);                         /* takes a conn in any state */
    /* NULL without DRV_CAP_ASYNC. The same descriptor, and open, from open to close, also when
     * the connection is lost: a loop could not forget it otherwise. */
    int (*fd)(const struct drv_conn *);

    /* Makes (or with false drops) a fresh schema or database `name`. The connection must have
     * been opened with target->place empty. Connections whose target->place is `name` live in
     * it. */
    MUST_CHECK bool (*place)(struct drv_conn *, const char *name, bool create, struct err *);

    /* Replaces the connection's prepared set. */
    MUST_CHECK bool (*prepare)(struct drv_conn *, const struct prog_stmt *, uint32_t count,
                               struct err *);
    /* Runs one statement; the first column of the first row goes to *value (NULL when there is
     * no row; may be NULL), rows to *rows (may be NULL). For setup, checks and clean-up. A
     * signal that comes meanwhile stops it (ERR_CANCELLED); one that was pending before does
     * not, so that a clean-up can go on. */
    MUST_CHECK bool (*query)(struct drv_conn *, struct arena *, const char *sql,
                             struct value *value, uint64_t *rows, struct err *);
    MUST_CHECK bool (*describe)(struct drv_conn *, struct arena *, struct drv_facts *,
                                struct err *);

    /* measured */
    /* DRV_WANT_READ or DRV_WANT_WRITE: all that could be sent is sent, and a step before that
     * would do nothing; DRV_DONE: step at once. Of a pipeline only the steps say it. */
    enum drv_step (*submit)(struct drv_conn *, const struct drv_op *);
    enum drv_step (*step)(struct drv_conn *, struct drv_outcome *);
    /* Asks for the running operation to stop; called from another thread than the connection's
     * own, so it must be safe beside submit and step. The operation still completes by step.
     *
     * It may block, for ever with libpq and some ten seconds with libmariadb: the request goes
     * over a second connection to a server that may not answer any more. Whoever must not wait
     * calls it on a thread for that alone. The connection stays open until cancel has returned,
     * or for ever when it does not return. */
    void (*cancel)(struct drv_conn *);
    /* Cuts the connection at once, from another thread, so that a call which waits for a server
     * that does not answer any more returns: step with FAILED, prepare, query and the like with
     * an error. Never blocks; the connection is lost after it, and only close is of use. It may
     * come at any time between open and close, also while cancel waits. */
    void (*sever)(struct drv_conn *);
    /* Text of the last failure, the server's own words; never has a password. */
    const char *(*last_error)(const struct drv_conn *);

    /* Name and version of the linked client library, "libpq 15.18"; may be NULL. */
    const char *(*library)(struct arena *);
};

/* NULL-terminated; without the wire clients, which share one name: see drv_find_client. */
extern const struct drv_class *const drv_classes[];

const struct drv_class *drv_find(struct slice name);

/* The client of that name for a dialect, or NULL. */
const struct drv_class *drv_find_client(enum dialect dialect, struct slice name);

/* The same target for its class's control class, with that one's default options; the target
 * itself when it has none. */
struct drv_target drv_control_target(struct arena *arena, const struct drv_target *target);

/* Reserves a connection in its own arena and opens it. */
MUST_CHECK bool drv_open(const struct drv_target *target, struct drv_conn **conn,
                         struct err *err);
void drv_close(struct drv_conn **conn); /* sets NULL; NULL is fine */

#endif
