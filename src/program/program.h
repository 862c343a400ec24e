#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

/*
 * A program is what a client executes: an array of operations over statements, binds, checks
 * and variables. Every workload compiles to one; the runner knows nothing else. A program is
 * made for one dialect, is immutable, and is shared by all clients of a cell.
 *
 * One pass over a stage's operations is an execution, and (when not a warm-up) one sample.
 *
 *   row numbers   An EXECUTE with rows > 0 is row-driven: it binds the trees at `rows`
 * successive rows of the client's cursor, which starts at first_row and moves on; with n
 *                 clients the rows of successive executions are dealt out in turn. Any other
 *                 operation binds at row = (execution - 1) * repeat + repetition, from 1.
 *   time          A sample's service time runs from before the first operation is submitted
 * until the last has completed and its rows are decoded (run/run.h says it in full). phases An
 * operation with a phase is timed apart as well, every repetition by itself; MARK starts a
 * phase that lasts until the next MARK or the execution's end.
 */

#include "base/defs.h"
#include "base/err.h"
#include "base/value.h"
#include "gen/gen.h"
#include "program/dialect.h"

#include <stdbool.h>
#include <stdint.h>

#define PROG_NONE       UINT16_MAX
#define PROG_VARS_MAX   64
#define PROG_PHASES_MAX 32

enum prog_kind {
    PROG_EXECUTE,
    PROG_PING, /* the protocol's no-operation */
    PROG_BEGIN,
    PROG_COMMIT,
    PROG_ROLLBACK,
    PROG_SET,        /* vars[var] = expr */
    PROG_BRANCH,     /* to operation `target` (of the whole array) when expr is 0 or NULL */
    PROG_SLEEP,      /* expr nanoseconds */
    PROG_PIPE_START, /* until PIPE_END: submit without waiting, where the driver can; else as
                        usual */
    PROG_PIPE_END,
    PROG_MARK,
};

/* How deep a result is read: drain (bytes only), walk (every value's place and length), decode
 * (every value to its native type: what an application pays). */
enum prog_depth { PROG_DRAIN, PROG_WALK, PROG_DECODE };

struct prog_stmt {
    const char *name; /* for messages and phases */
    const char *sql;  /* native placeholders */
    uint32_t param_count;
    bool direct; /* sent as text, not prepared: DDL, session settings; has no parameters */
};

struct prog_bind {
    gen_id tree;
    uint64_t stream;
    bool per_client; /* the client's number is mixed into the stream */
};

enum prog_check_kind {
    PROG_CHECK_ROWS,     /* rows of the result */
    PROG_CHECK_AFFECTED, /* rows the server says it changed */
    PROG_CHECK_VALUE,    /* value of `column` in the first row */
    PROG_CHECK_ERROR,    /* fails with this SQLSTATE or error number, text; success is wrong */
};

struct prog_check {
    enum prog_check_kind kind;
    uint16_t column;
    gen_id expected; /* may use GEN_BOUND, GEN_VAR */
    bool constant;   /* then `value` holds it, evaluated once */
    struct value value;
};

struct prog_save { /* after the operation: vars[var] = column of the first row */
    uint16_t column, var;
};

struct prog_op {
    enum prog_kind kind;
    enum prog_depth depth;
    uint16_t phase; /* PROG_NONE: not timed apart */
    uint16_t stmt;  /* EXECUTE */
    uint16_t var;   /* SET */
    uint16_t check_count, save_count;
    uint32_t check_first, save_first;
    uint32_t bind_first, bind_count; /* of one row */
    uint32_t rows;                   /* EXECUTE: > 0 is row-driven */
    uint32_t repeat;                 /* >= 1 */
    uint32_t target;                 /* BRANCH */
    gen_id expr;                     /* SET, BRANCH, SLEEP */
    uint64_t deadline_ns;            /* of each repetition; 0 = none */
    bool repeatable_bind; /* binds are the same in every execution: made once, outside the loop
                           */
};

struct prog_stage {
    uint32_t first_op, end_op;
    uint64_t executions;         /* over all clients; 0 = as many as the cell's mode says */
    uint32_t rows_per_execution; /* of row-driven operations together */
};

struct program {
    enum dialect dialect;
    const struct gen_pool *pool;
    uint64_t seed;
    uint64_t first_row; /* of the cursor */

    const struct prog_stmt *stmts;
    const struct prog_op *ops;
    const struct prog_bind *binds;
    const struct prog_check *checks;
    const struct prog_save *saves;
    const struct prog_stage *stages;
    const char *const *phases;
    const char *const *vars; /* names, for messages */
    uint32_t stmt_count, op_count, bind_count, check_count, save_count, stage_count;
    uint16_t phase_count, var_count;

    uint32_t values_max;    /* most values that one submit binds */
    uint32_t scratch_bytes; /* most scratch that one submit's binds and one check need */
};

/* Operations of the longest pipeline, every repetition counted; 1 when there is none. */
uint32_t program_in_flight(const struct program *program);

/* Checks what the runner relies on: indexes in range, branches inside their stage, pipelines
 * closed and free of sets, branches, sleeps and marks, param_count = rows * bind_count (or
 * bind_count). False names the fault: a program that fails this is a bug of its front end. */
MUST_CHECK bool program_verify(const struct program *program, struct err *err);

#endif
