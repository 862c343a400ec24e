#ifndef SUITE_SUITE_H
#define SUITE_SUITE_H

/*
 * Suites: workload files in Lua 5.4, executed once at load time in a sandbox, never while
 * measuring. docs/suites.md is the manual for authors.
 *
 * suite_load() runs the file and collects every fault with its file:line; suite_compile() turns
 * one scenario into a program for a dialect. Memory is the caller's arena; a loaded suite has
 * no Lua state.
 */

#include "base/arena.h"
#include "base/defs.h"
#include "base/err.h"
#include "base/slice.h"
#include "gen/gen.h"
#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

struct suite_param {
    const char *name, *help;
    struct value value; /* int, real or text; booleans are ints 0 and 1 */
    bool has_range;
    double min, max;
    bool changed; /* not the default (given by --param) */
};

struct suite_column {
    const char *name;
    const char *type[DIALECT_COUNT]; /* SQL type and constraints */
    gen_id tree;
    uint64_t stream;
};

struct suite_table {
    const char *name;
    const char *where; /* "shop.lua:12" */
    uint64_t rows;
    const struct suite_column *columns;
    uint32_t column_count;
};

/* One statement, its text for each dialect (NULL: none, the scenario is not applicable there).
 */
struct suite_sql {
    const char *text[DIALECT_COUNT];
};

/* A query after the measured part, never timed; part of the cell's checks. */
struct suite_query {
    const char *name;
    struct suite_sql sql;
    bool has_rows, has_value;
    uint64_t rows;
    struct value value; /* first column of the first row */
};

/* When executions begin in an open loop: after gaps of an exponential law (arrivals of a
 * Poisson process, as from many independent users), or of always the same length. */
enum suite_arrivals { SUITE_POISSON, SUITE_FIXED };

enum suite_equal { SUITE_EQUAL_NONE, SUITE_EQUAL_ROWS };

struct suite_scenario {
    const char *name, *help;
    const char *where;
    const char *const
        *unsupported; /* [DIALECT_COUNT]: reason, or NULL; array itself may be NULL */

    const uint32_t *clients; /* one cell for each number */
    uint32_t client_count;
    bool clients_named; /* the suite gave them: `clients` is a parameter of the cell's key */

    uint32_t warmup;    /* executions of each client before the start line, not counted */
    uint64_t warmup_ns; /* a time instead (then warmup is 0); 0: by executions */
    /* Executions of each client, in an open loop of all clients together; 0 with a duration.
     */
    uint64_t samples;
    uint64_t duration_ns; /* for so long */
    /* Open loop: so many executions begin each second, by all clients together, however long
     * the earlier ones take. 0: closed loop. */
    double rate_per_s;
    enum suite_arrivals arrivals;
    uint64_t deadline_ns; /* of the whole scenario; never 0; longer than duration_ns */
    uint64_t rows_loaded; /* a load: rows that its stages insert, for rows/s */
    uint64_t rows_per_commit, rows_per_statement; /* a load, else 0 */
    enum suite_equal equal;                       /* answers are compared between targets */
    /* The whole result is known from the generators: the sum of value_row_hash over its rows.
     */
    bool has_answer;
    uint64_t answer;

    const struct suite_query *after;
    uint32_t after_count;
    const char *growth_table; /* NULL: not checked */
    int64_t growth;

    const struct suite_source *source; /* steps, for suite_compile */
};

/* A figure derived from two cells of the same target. */
struct suite_relation {
    const char *name; /* "index speed-up" */
    const char *where;
    const char *a, *b;             /* scenario names; the figure is a / b */
    uint32_t a_clients, b_clients; /* 0: the scenario's only cell */
    const char *a_phase, *b_phase; /* NULL: the whole scenario */
    const char *metric;  /* "service_ns", "throughput_per_s", "rows_per_s", "ns_per_row" */
    const char *stat;    /* "p50", "mean", "max", "value" */
    const char *differs; /* what else differs between the two sides, in words */
};

struct suite {
    const char *name, *summary;
    const char *path; /* file, or "built-in" */
    uint64_t
        hash; /* of all source texts (extended suites too): with the params, the identity */
    uint64_t seed;
    bool quick;
    const struct gen_pool *pool;
    const struct suite_param *params;
    const struct suite_table *tables;
    const struct suite_scenario *scenarios;
    const struct suite_relation *relations;
    uint32_t param_count, table_count, scenario_count, relation_count;
};

/* One fault, "shop.lua:14: scenario 'id_point': expected ..., got ...". */
struct suite_faults {
    const char **texts; /* in the arena, by line */
    uint32_t count;
};

struct suite_options {
    const char *name;             /* a built-in's name, or a path (has a / or ends in .lua) */
    const char *const *overrides; /* "NAME=VALUE" */
    uint32_t override_count;
    bool quick; /* parameters take their `quick` value */
    uint64_t seed;
    uint64_t instructions_max; /* of Lua; 0: the limit below. Smaller ones are for tests */
    size_t memory_bytes_max;   /* of Lua; 0: the limit below */
};

/* Errors: ERR_USAGE for an unknown suite (lists what there is), an unknown --param or one out
 * of its range; ERR_CONFIG for faults in the file: *faults has them all, err the first. Limits:
 * 1 MiB of source, 64 MiB of Lua memory, 50 million instructions, 10,000 scenarios, 10,000,000
 * rows run through the generators for expected counts. */
MUST_CHECK bool suite_load(struct arena *arena, const struct suite_options *options,
                           struct suite *suite, struct suite_faults *faults, struct err *err);

/* The same from memory, for tests and the fuzzer; options->name stands in messages, and only
 * built-ins can be extended. */
MUST_CHECK bool suite_load_text(struct arena *arena, struct slice source,
                                const struct suite_options *options, struct suite *suite,
                                struct suite_faults *faults, struct err *err);

/* Compiles a scenario for a dialect. False with ERR_NONE in err->kind and the reason in its
 * text when it is not applicable there; ERR_CONFIG for SQL text that cannot be compiled. */
MUST_CHECK bool suite_compile(struct arena *arena, const struct suite *suite,
                              const struct suite_scenario *scenario, enum dialect dialect,
                              struct program *program, struct err *err);

/* Why the scenario has to run as often, and by as many clients, as the suite says, or NULL. */
const char *suite_scenario_fixed(const struct suite_scenario *scenario);

/* Built-in suites: readable files under suites/, kept in the program. */
struct suite_builtin {
    const char *name;
    const char *source;
    size_t bytes;
};
extern const struct suite_builtin suite_builtins[];
extern const uint32_t suite_builtin_count;

#endif
