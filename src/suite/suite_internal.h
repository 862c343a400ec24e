#ifndef SUITE_SUITE_INTERNAL_H
#define SUITE_SUITE_INTERNAL_H

/*
 * The loader's own structures; no Lua here. The Lua constructors (suite_lua*.c) check arguments
 * and fill these; suite_compile.c turns a scenario's steps into programs, one a dialect, while
 * the suite is loaded, so that every mistake is found at once.
 *
 * A mistake in a suite is a fault: it is recorded with its place, and the constructor goes on
 * with something usable.
 */

#include "base/arena.h"
#include "base/err.h"
#include "gen/gen.h"
#include "program/program.h"
#include "program/sqltext.h"
#include "suite/suite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SUITE_NAME_BYTES = 63,
    SUITE_FAULTS_MAX = 100,
    SUITE_STEPS_MAX = 1000, /* of a scenario, nested ones included */
    SUITE_SCENARIOS_MAX = 10000,
    SUITE_RELATIONS_MAX = 1000,
    SUITE_PARAMS_MAX = 200,
    SUITE_TABLES_MAX = 1000,
    SUITE_COLUMNS_MAX = 1000,
    SUITE_BINDS_MAX = 1000, /* of a statement */
    SUITE_CLIENTS_MAX = 5000,
    SUITE_CELLS_MAX = 64,     /* numbers of clients of a scenario */
    SUITE_NEST_MAX = 16,      /* steps within steps, lists within lists, suites extended */
    SUITE_WEIGHT_MAX = 40000, /* nodes of an expression */
    SUITE_TEXT_BYTES_MAX = 1 << 20,
    SUITE_VALUES_MAX = 30000, /* of one INSERT: PostgreSQL's limit is 65535, SQLite's 32766 */
};

#define SUITE_SOURCE_BYTES_MAX ((size_t)1 << 20)
#define SUITE_ROWS_MAX         UINT64_C(1000000000) /* of a table */
#define SUITE_COUNT_ROWS_MAX   UINT64_C(10000000)   /* run through generators while loading */
#define SUITE_ARENA_BYTES_MAX  ((size_t)256 << 20)  /* what a suite may take of the arena */
#define SUITE_GENERATORS_MAX   ((size_t)1000000)    /* nodes; the pool's own limit is 2^20 */
#define SUITE_WORK_MAX         UINT64_C(300000000)
#define SUITE_DEADLINE_NS      (UINT64_C(300) * NS_PER_S) /* beside the duration */

struct suite_place {
    const char *text; /* "shop.lua:12" */
    uint32_t chunk;   /* which source file, in order of loading */
    uint32_t line;
};

/* ---- expressions: generators with names that are resolved where they are used */
enum suite_use {
    SUITE_USE_DRAW = 1 << 0,
    SUITE_USE_CLIENT = 1 << 1,
    SUITE_USE_VAR = 1 << 2,
    SUITE_USE_BOUND = 1 << 3,
    SUITE_USE_COLUMN = 1 << 4, /* of the row's own table */
};
#define SUITE_USE_NAMES (SUITE_USE_VAR | SUITE_USE_BOUND | SUITE_USE_COLUMN)

struct suite_expr {
    enum gen_kind kind;
    enum gen_operator op; /* GEN_ARITH */
    uint32_t uses;        /* enum suite_use of it and its children */
    uint32_t weight;      /* nodes to evaluate, columns' trees included */
    uint32_t depth;
    uint32_t child_count;
    struct suite_expr **children;
    int64_t whole[2]; /* arguments */
    double real[2];
    struct value value;       /* GEN_CONST */
    const char *text;         /* format, or the name of a variable, parameter or column */
    const char *const *names; /* GEN_JSON */
    const struct suite_column *column; /* GEN_AT at row children[0]; NULL: `text` names a column
                                          of the table at hand */
    uint32_t pass; /* of the lowering that made `id`; UINT32_MAX: good for all */
    gen_id id;
};

/* Where names are looked up. */
struct suite_scope {
    uint32_t pass; /* another number for every scope */
    const struct suite_column *columns;
    uint32_t column_count;
    const char *const *bound; /* parameters of the statement, in the order of binding */
    uint32_t bound_count;
    const char *const *vars;
    uint32_t var_count;
};

/* ---- parameters */
enum suite_param_type { SUITE_PARAM_INT, SUITE_PARAM_REAL, SUITE_PARAM_TEXT, SUITE_PARAM_FLAG };

struct suite_param_def {
    struct suite_param p;
    enum suite_param_type type;
    bool has_quick;
    struct value quick;
};

/* ---- tables */
struct suite_table_def {
    struct suite_table table;
    const uint32_t *weights; /* of each column's tree */
    struct suite_place where;
};

/* ---- steps */
struct suite_bind {
    const char *name;
    struct suite_expr *expr;
    bool used; /* named in the SQL of a dialect */
};

struct suite_save {
    const char *name;
    uint16_t column; /* from 0 */
};

struct suite_expect {
    struct suite_expr *rows, *affected; /* NULL: not expected */
    struct suite_expr **values;         /* NULL: any */
    uint32_t value_count;
    bool has_error;
    const char *error[DIALECT_COUNT];
};

struct suite_step {
    enum prog_kind kind; /* BRANCH: body when expr holds, else `other`; PIPE_START: body */
    struct suite_place where;
    const char *phase; /* NULL: none */
    enum prog_depth depth;
    uint64_t deadline_ns; /* 0: the scenario's */
    uint32_t times;

    const char *name; /* EXECUTE: of the statement */
    struct suite_sql sql;
    const struct sqltext *compiled[DIALECT_COUNT];
    bool direct;
    struct suite_bind *binds; /* sorted by name */
    uint32_t bind_count;
    struct suite_expect expect;
    const struct suite_save *saves;
    uint32_t save_count;

    const struct suite_table_def *table; /* EXECUTE: an insert into it */
    uint32_t rows;
    uint64_t first;

    const char *var; /* SET */
    struct suite_expr *expr;
    struct suite_step *const *body, *const *other;
    uint32_t body_count, other_count;
    uint32_t total, level; /* steps and levels, nested ones included */
};

enum suite_origin { SUITE_STEPS, SUITE_CREATE, SUITE_LOAD };

struct suite_source {
    enum suite_origin origin;
    struct suite_step *const *steps;
    uint32_t step_count;
    const struct suite_table_def *table; /* CREATE, LOAD */
    uint64_t batch, commit;              /* LOAD: rows a statement, rows a commit */
    uint64_t statement_deadline_ns;
    uint64_t first_row; /* of inserts that name none; 0: 1 */
    struct program *programs[DIALECT_COUNT];
    const char *reasons[DIALECT_COUNT]; /* why there is no program */
};

struct suite_scenario_def {
    struct suite_scenario s;
    struct suite_source source;
    struct suite_place where;
    int spec;  /* reference to the Lua table that made it, for override */
    int maker; /* which constructor */
};

struct suite_relation_def {
    struct suite_relation r;
    struct suite_place where;
};

/* ---- growing lists */
struct suite_list {
    void **items;
    size_t count, room;
};
void suite_list_add(struct arena *arena, struct suite_list *list, void *item);

/* ---- the loader */
struct suite_fault {
    struct suite_place where;
    const char *text;
};

struct suite_chunk {
    const char *name;   /* in messages: "shop.lua" */
    const char *folder; /* of files that it may extend, NULL: built-ins only */
    const char *source;
    size_t bytes;
};

/* What suite{} put together. */
struct suite_def {
    const char *name, *summary;
    struct suite_place where;
    struct suite_list scenarios;   /* struct suite_scenario_def */
    struct suite_list relations;   /* struct suite_relation_def */
    size_t first_table, end_table; /* those made while it was loaded */
};

struct suite_loader {
    struct arena *arena;
    struct arena *scratch;
    size_t arena_start;
    const struct suite_options *options;
    struct gen_pool *pool;
    struct suite_list params; /* struct suite_param_def */
    struct suite_list tables; /* struct suite_table_def */
    struct suite_list faults; /* struct suite_fault */
    struct suite_list chunks; /* struct suite_chunk */
    struct suite_def *def;    /* of the file itself */
    uint64_t hash;
    uint64_t count_rows; /* run through generators so far */
    uint64_t work;       /* looking up names */
    uint32_t pass;
    uint32_t scenario_count, step_count;
    bool usage;      /* err is an ERR_USAGE, nothing else counts */
    struct err *err; /* set before a Lua error that is not the suite's fault */
};

/* ---- faults (suite_fault.c) */
void suite_fault_add(struct suite_loader *ld, const struct suite_place *where, const char *fmt,
                     ...) PRINTF_LIKE(3, 4);
/* The one of `names` (NULL-terminated) that looks most like it, or NULL; also NULL when there
 * are so many faults that the next is dropped. */
const char *suite_guess(const struct suite_loader *ld, const char *name,
                        const char *const *names);
/* Sorted by file and line; sets *faults and err. */
bool suite_faults_report(struct suite_loader *ld, struct suite_faults *faults, struct err *err);

/* Has the suite taken more memory, generators or work than it may? */
bool suite_over_limits(const struct suite_loader *ld);

/* A letter or _, then letters, digits and _, at most 63 bytes. */
bool suite_is_identifier(const char *name);
/* As an identifier, but also . and - inside. */
bool suite_is_name(const char *name);

/* ---- expressions (suite_expr.c): on failure NULL, with the reason in *why */
struct suite_expr *suite_expr_const(struct suite_loader *ld, const struct value *value);
/* Checks limits and arguments and resolves what needs no names; the draft lives in the arena.
 */
struct suite_expr *suite_expr_finish(struct suite_loader *ld, struct suite_expr *e,
                                     const char **why);
/* Why the pool refused a node; forgets it. */
const char *suite_take_fault(struct suite_loader *ld);
/* GEN_NONE with the reason in *why. */
gen_id suite_expr_lower(struct suite_loader *ld, struct suite_expr *e,
                        const struct suite_scope *scope, const char **why);
struct suite_scope suite_scope_of_table(struct suite_loader *ld,
                                        const struct suite_table_def *def);
/* The value of a tree in row `row`; text is copied to the arena. */
struct value suite_tree_value(struct suite_loader *ld, gen_id tree, uint64_t stream,
                              uint64_t row);

/* ---- compiling (suite_compile.c): a program or a reason for every dialect; faults are
 * recorded */
void suite_compile_all(struct suite_loader *ld, struct suite_scenario_def *def);

/* ---- Lua (suite_lua.c): runs the file; the answer stands in ld->def. False: a fault of syntax
 * or at run time was recorded, or (ld->usage) err is set. */
bool suite_run_lua(struct suite_loader *ld, const struct suite_chunk *chunk);

/* ---- sources (suite.c): the text of a built-in or a file beside `from` */
const struct suite_chunk *suite_find_chunk(struct suite_loader *ld, const char *name,
                                           const struct suite_chunk *from, const char **why);

#endif
