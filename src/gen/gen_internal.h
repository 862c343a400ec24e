#ifndef GEN_GEN_INTERNAL_H
#define GEN_GEN_INTERNAL_H

/*
 * Nodes and draws; for the files of gen/ only.
 *
 * Which random bits a node draws. Every node that draws has an ordinal within its tree, and its
 * draw is a hash_mix of seed, stream, salt(ordinal) and row. The rule: in one tree, a node used
 * twice is one draw; two nodes are two independent draws, even when they look the same. A node
 * is made with ordinal 0. When a composite takes its children and two different nodes have the
 * same ordinal, the later one (in order of the children) is copied with the next free ordinal;
 * the copy remembers whose copy it is (`origin`), so that another use of the same node finds
 * its ordinal again. Trees are immutable: the copy belongs to the new tree alone, and no other
 * tree's values move. Arguments are not part of a draw: uniform(1, 10) edited to uniform(1, 20)
 * scales values. The tree below a GEN_AT keeps its ordinals, since it must give what its column
 * gives.
 *
 * Real arithmetic that decides a value uses math_log and friends, never libm.
 */

#include "base/hash.h"
#include "gen/gen.h"
#include "gen/quick.h"

#define GEN_DRAWS_MAX     256         /* different draws in one tree */
#define GEN_TREE_MAX      16384       /* nodes in one tree, shared ones counted each time */
#define GEN_POOL_MAX      (1u << 20)  /* nodes in a pool */
#define GEN_SCRATCH_MAX   (1u << 30)  /* bytes that one value may need */
#define GEN_TEXT_MAX      (64u << 20) /* bytes of GEN_TEXT */
#define GEN_FIELDS_MAX    1024        /* of GEN_JSON */
#define GEN_WIDTH_MAX     64          /* %0Nd */
#define GEN_SHAPE_MAX     1000        /* of zipf, gaussian and exponential, as pgbench's */
#define GEN_ZIPF_MAX      (INT64_C(1) << 53) /* whole numbers that a double holds */
#define GEN_UUID_BYTES    36
#define GEN_WHOLE_END     9223372036854775808.0 /* 2^63: whole numbers are below it */
#define GEN_NUMBER_BYTES  32                    /* the longest printed number */
#define GEN_FOREIGN_BYTES 256 /* of a variable's text in a format; longer is cut */

struct gen_zipf {
    int64_t n;
    double s;
    double integral_first, integral_last, threshold;
};

/* A piece of GEN_FORMAT: literal text, then one child. */
struct gen_part {
    const char *literal;
    uint32_t literal_bytes;
    uint16_t width;   /* of %0Nd, else 0 */
    bool has_child;   /* false: the tail of the format */
    bool zero_padded; /* %0Nd */
};

struct gen_node {
    uint8_t kind;     /* enum gen_kind */
    uint8_t op;       /* enum gen_operator */
    uint8_t depth;    /* 1 for a leaf */
    bool draws;       /* does this node or one below it draw? */
    bool varies;      /* not the same value in every row */
    uint16_t count;   /* children */
    uint16_t ordinal; /* of its draw within the tree */
    uint32_t size;    /* nodes in the tree */
    uint32_t scratch; /* bytes at most */
    uint32_t printed; /* bytes of its value as text, at most */
    gen_id origin;    /* the node of which it is a copy, or itself */
    gen_id pair[2];   /* one or two children */
    union {
        struct {
            int64_t a, b;
        } whole;
        struct {
            int64_t lo;
            uint64_t range; /* 0 means 2^64 */
        } span;
        struct {
            const gen_id *children;
            const void
                *detail; /* struct gen_part array, or struct slice array: a key a child */
        } list;
        const void *law; /* struct gen_zipf, struct gen_bell or struct gen_hot */
        struct value value;
    } as;
    uint64_t salt; /* hash_mix(ordinal): 0 for ordinal 0 */
};

/* GEN_GAUSSIAN and GEN_EXPONENTIAL. */
struct gen_bell {
    int64_t lo;
    uint64_t range;
    double shape;
    double edge; /* gaussian: Phi(-shape); exponential: expm1(-shape) */
};

struct gen_hot {
    uint64_t hot, cold; /* how many numbers; cold may be 0 */
    uint64_t limit;     /* a draw below it is hot */
    bool all_hot;
};

/* ---- draws */
/* SplitMix64 counts rows from the seed; stream and salt, both hashes, pick another sequence. */
static inline uint64_t gen_draw_in(const struct gen_ctx *ctx, uint64_t salt, uint64_t row)
{
    return hash_mix((ctx->seed + row * GEN_ROW_STEP) ^ ctx->stream ^ salt);
}

static inline uint64_t gen_draw(const struct gen_ctx *ctx, uint64_t salt)
{
    return gen_draw_in(ctx, salt, ctx->row);
}

/* Another draw of the same node in the same row. */
static inline uint64_t gen_redraw(uint64_t bits)
{
    return hash_mix(bits + GEN_ROW_STEP);
}

/* In 0 .. range - 1, exactly uniform (Lemire, "Fast random integer generation in an interval",
 * 2019); range 0 is 2^64. The fast way answers false in the rare case that the bits need a
 * second look, or range is 0. */
static inline bool gen_below_fast(uint64_t bits, uint64_t range, uint64_t *out)
{
    __uint128_t product = (__uint128_t)bits * range;
    *out = (uint64_t)(product >> 64);
    return __builtin_expect((uint64_t)product > range, 1);
}

uint64_t gen_below_slow(uint64_t bits, uint64_t range);

static inline uint64_t gen_below(uint64_t bits, uint64_t range)
{
    uint64_t below;
    return gen_below_fast(bits, range, &below) ? below : gen_below_slow(bits, range);
}

/* In [0, 1), 53 bits. */
static inline double gen_unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* ---- laws (gen_law.c): the value that a first draw gives */
void gen_zipf_prepare(struct gen_zipf *zipf, int64_t n, double s);
int64_t gen_zipf_draw(const struct gen_zipf *zipf, uint64_t bits);
void gen_gaussian_prepare(struct gen_bell *bell, double shape);
int64_t gen_gaussian_draw(const struct gen_bell *bell, uint64_t bits);
void gen_exponential_prepare(struct gen_bell *bell, double shape);
int64_t gen_exponential_draw(const struct gen_bell *bell, uint64_t bits);
void gen_hot_prepare(struct gen_hot *hot, int64_t n, double part, double share);
int64_t gen_hot_draw(const struct gen_hot *hot, uint64_t bits);
/* The rest of GEN_UNIFORM; in another file than the fast way, which saves no registers then. */
void gen_uniform_slow(const struct gen_node *node, uint64_t bits, struct value *out);
int64_t gen_permute_one(uint64_t key, int64_t x, int64_t n); /* x in 1 .. n */

/* ---- evaluation */
typedef void (*gen_eval_fn)(struct gen_ctx *ctx, const struct gen_node *node,
                            struct value *out);

void gen_eval_arith(struct gen_ctx *ctx, const struct gen_node *node, struct value *out);
void gen_eval_format(struct gen_ctx *ctx, const struct gen_node *node, struct value *out);
void gen_eval_text(struct gen_ctx *ctx, const struct gen_node *node, struct value *out);
void gen_eval_json(struct gen_ctx *ctx, const struct gen_node *node, struct value *out);
void gen_eval_uuid7(struct gen_ctx *ctx, const struct gen_node *node, struct value *out);

/* The number that a value is (text is read); else NULL. Never NaN. */
struct value gen_number(const struct value *value);

/* The whole number below it; false: none. */
bool gen_whole(const struct value *value, int64_t *out);

/* The rules of gen_arith. */
void gen_apply(enum gen_operator op, const struct value *a, const struct value *b,
               struct value *out);

/* ---- trees (gen_tree.c) */
/* Children of a node, count of them. */
const gen_id *gen_children(const struct gen_node *node);

bool gen_kind_draws(enum gen_kind kind);

/* Adds a node whose children are `node->pair` (count <= 2) or `list` (copied). Derives depth,
 * size, draws, varies, scratch and printed from them, makes their draws independent, and
 * answers GEN_NONE with a fault when a limit is passed. node->scratch and node->printed hold
 * what the node itself needs beside its children. */
gen_id gen_add(struct gen_pool *pool, struct gen_node *node, const gen_id *list);

gen_id gen_fault(struct gen_pool *pool, const char *fault);

/* ---- (gen_text.c) What stands beside the children, and the bytes it needs. */

/* false: an unknown place, a width above GEN_WIDTH_MAX, or not `count` places. */
bool gen_format_parse(struct arena *arena, const char *format, uint16_t count,
                      const struct gen_part **parts, uint32_t *bytes);

/* `"name":` of each child, escaped. */
const struct slice *gen_json_keys(struct arena *arena, const char *const *names, uint16_t count,
                                  uint32_t *bytes);

#endif
