#ifndef GEN_GEN_H
#define GEN_GEN_H

/*
 * Value generators: small expression trees that make the values of table columns and binds.
 *
 * Everything is a pure function of (seed, stream, row): the same seed gives the same values on
 * every host, in any order and with any number of threads, and an expected count is found by
 * running the same generators again. Random draws are counter based: draw = mix(seed, stream,
 * row, node), with the SplitMix64 finalizer. There is no state to advance.
 *
 *   stream  which sequence: a table column, or a scenario's bind of one client
 *   row     position in it: a row number from 1, or the number of the execution from 1
 *
 * A stream is a hash: gen_stream makes it.
 *
 * Within one tree, a node used twice is one draw (format("%d=%d", x, x) shows two equal
 * numbers); two nodes are two independent draws, even with equal arguments. What else is in the
 * pool does not matter.
 *
 * Trees are built with gen_* constructors into a `struct gen_pool` (a suite has one) and are
 * immutable afterwards; any thread may evaluate them. Depth is at most GEN_DEPTH_MAX, checked
 * by the constructors (they answer GEN_NONE and set the pool's fault).
 */

#include "base/arena.h"
#include "base/value.h"

#include <stdbool.h>
#include <stdint.h>

#define GEN_DEPTH_MAX 64
#define GEN_NONE      UINT32_MAX

typedef uint32_t gen_id; /* index of a node in its pool */

enum gen_kind {
    GEN_CONST,  /* a value */
    GEN_ROW,    /* the row number */
    GEN_CLIENT, /* number of the client, from 1 */
    GEN_VAR,    /* a program's variable (a saved result or a set) */
    GEN_BOUND,  /* a parameter of the statement being checked, for expectations */
    GEN_ARITH, /* + - * // % and unary minus of integers; / and reals; comparison; and or not */
    GEN_SEQUENCE,    /* start + (row - 1) * step */
    GEN_MODULO,      /* x mod m, in 0 .. m - 1 */
    GEN_ROUND_ROBIN, /* 1 + ((row - 1) mod n) */
    GEN_AFFINE,      /* a * x + b */
    GEN_PERMUTE,  /* a seeded bijection of 1 .. n applied to 1 + ((x - 1) mod n) (cycle-walked
                     Feistel network) */
    GEN_UNIFORM,  /* integer in lo .. hi, each equally likely (Lemire's multiply-shift) */
    GEN_ZIPF,     /* 1 .. n, P(k) ~ 1 / k^s, s > 0, s = 1 included (rejection-inversion,
                     Hoermann and Derflinger 1996) */
    GEN_GAUSSIAN, /* integer in lo .. hi, truncated normal, centre in the middle, `shape`
                     standard deviations to either end (as pgbench's random_gaussian) */
    GEN_EXPONENTIAL, /* integer in lo .. hi, density exp(-shape * position) (random_exponential)
                      */
    GEN_HOTSPOT,     /* 1 .. n: with probability `hot_share` within the first n * hot_part */
    GEN_LATEST,      /* n + 1 - zipf(n, s): the newest rows are the hottest */
    GEN_CHOICE,      /* one of the children, equally likely */
    GEN_FORMAT,      /* text with %d / %s / %0Nd / %% places filled from the children */
    GEN_TEXT,        /* `bytes` letters; `unique` in 0 .. 100: percent of it that is random, the
                        rest repeats one letter (how well it compresses) */
    GEN_JSON,        /* an object: {"name": child, ...} */
    GEN_UUID7, /* RFC 9562 version 7 text: base_ms + row in the time field, the rest random */
    GEN_AT,    /* another tree (a column) evaluated at row = child, in its own stream */
};

struct gen_node; /* opaque; gen_internal.h */

struct gen_pool {
    struct arena *arena;
    struct gen_node *nodes;
    size_t count, room;
    const char *fault; /* first reason a constructor answered GEN_NONE, or NULL */
};

void gen_pool_init(struct gen_pool *pool, struct arena *arena);

/* ---- constructors: GEN_NONE and pool->fault when an argument is out of range (n < 1, lo > hi,
 * modulo by <= 0, s <= 0, unknown format place, GEN_NONE child, too deep) */
gen_id gen_const(struct gen_pool *pool, const struct value *value);
gen_id gen_row(struct gen_pool *pool);
gen_id gen_client(struct gen_pool *pool);
gen_id gen_var(struct gen_pool *pool, uint16_t index);
gen_id gen_bound(struct gen_pool *pool, uint16_t index);

enum gen_operator {
    GEN_ADD,
    GEN_SUB,
    GEN_MUL,
    GEN_DIV,
    GEN_IDIV,
    GEN_MOD,
    GEN_NEG,
    GEN_EQ,
    GEN_NE,
    GEN_LT,
    GEN_LE,
    GEN_GT,
    GEN_GE,
    GEN_AND,
    GEN_OR,
    GEN_NOT,
};
/* Integers stay integers (IDIV and MOD floor, like Lua's // and %); overflow wraps to a real;
 * division by zero gives NULL; comparisons give 1 or 0; any operation on NULL gives NULL. Two
 * texts compare by their bytes; elsewhere a text counts as the number that it reads as, or
 * NULL. GEN_NEG and GEN_NOT ignore b. */
gen_id gen_arith(struct gen_pool *pool, enum gen_operator op, gen_id a, gen_id b);

gen_id gen_sequence(struct gen_pool *pool, int64_t start, int64_t step);
gen_id gen_modulo(struct gen_pool *pool, gen_id x, int64_t m);
gen_id gen_round_robin(struct gen_pool *pool, int64_t n);
gen_id gen_affine(struct gen_pool *pool, int64_t a, gen_id x, int64_t b);
gen_id gen_permute(struct gen_pool *pool, gen_id x, int64_t n);
gen_id gen_uniform(struct gen_pool *pool, int64_t lo, int64_t hi);
gen_id gen_zipf(struct gen_pool *pool, int64_t n, double s);
gen_id gen_gaussian(struct gen_pool *pool, int64_t lo, int64_t hi, double shape);
gen_id gen_exponential(struct gen_pool *pool, int64_t lo, int64_t hi, double shape);
gen_id gen_hotspot(struct gen_pool *pool, int64_t n, double hot_part, double hot_share);
gen_id gen_latest(struct gen_pool *pool, int64_t n, double s);
gen_id gen_choice(struct gen_pool *pool, const gen_id *children, uint16_t count);
/* NULL when a child is NULL. A real in %d is printed as in %s. */
gen_id gen_format(struct gen_pool *pool, const char *format, const gen_id *children,
                  uint16_t count);
gen_id gen_text(struct gen_pool *pool, uint32_t bytes, uint32_t unique_percent);
/* Children that are gen_json themselves nest; other texts are quoted; NULL is null. */
gen_id gen_json(struct gen_pool *pool, const char *const *names, const gen_id *children,
                uint16_t count);
gen_id gen_uuid7(struct gen_pool *pool, int64_t base_ms);
gen_id gen_at(struct gen_pool *pool, gen_id tree, uint64_t stream, gen_id row);

/* ---- evaluation */
struct gen_ctx {
    const struct gen_pool *pool;
    uint64_t seed;
    uint64_t stream;
    uint64_t row;
    uint32_t client;
    const struct value *vars;  /* for GEN_VAR */
    const struct value *bound; /* for GEN_BOUND */
    char *scratch;             /* text values are made here */
    uint32_t scratch_room, scratch_used;
};

/* Evaluates a tree. Text that does not fit in the scratch buffer is cut; gen_scratch_bytes says
 * how much a tree can need. Allocates nothing. */
void gen_eval(struct gen_ctx *ctx, gen_id id, struct value *out);

/* Upper bound of scratch bytes that one evaluation takes. */
uint32_t gen_scratch_bytes(const struct gen_pool *pool, gen_id id);

/* Does the tree's value not change from row to row (no row, client, draw, GEN_AT, variable or
 * bound below it)? */
bool gen_is_constant(const struct gen_pool *pool, gen_id id);

/* Stream of a named sequence: hash of its parts, so that editing one column or scenario leaves
 * all others' values alone. */
uint64_t gen_stream(const char *owner, const char *name, uint64_t number);

/* ---- expected figures, by running the generators over rows first .. first + rows - 1 */

/* Rows for which the predicate tree is not 0 and not NULL. */
uint64_t gen_count(const struct gen_pool *pool, uint64_t seed, uint64_t stream,
                   gen_id predicate, uint64_t first, uint64_t rows);

/* Distinct values of a tree, exact, as SQL's count(DISTINCT): NULL is none of them, 2 and 2.0
 * are one, texts differ by their bytes. Needs up to 40 bytes a row while it runs (usually a
 * bit). */
uint64_t gen_distinct(const struct gen_pool *pool, uint64_t seed, uint64_t stream, gen_id tree,
                      uint64_t first, uint64_t rows);

/* A whole answer: for each row that is kept, one value a tree. */
struct gen_answer_query {
    uint64_t seed, stream;
    const gen_id *trees;
    uint32_t count; /* at least 1; the trees' gen_scratch_bytes together are below 4 GiB */
    gen_id where;   /* rows for which it is not 0 and not NULL; GEN_NONE: all rows */
    uint64_t first, rows;
};

/* The sum (wrapping) of value_row_hash over the rows that are kept, and how many they are. */
uint64_t gen_answer(const struct gen_pool *pool, const struct gen_answer_query *query,
                    uint64_t *matching);

#endif
