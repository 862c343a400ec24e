#include "gen/gen_internal.h"

#include <assert.h>

static void eval_const(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    (void)ctx;
    *out = node->as.value;
}

static void eval_row(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    (void)node;
    *out = value_int((int64_t)ctx->row);
}

static void eval_client(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    (void)node;
    *out = value_int(ctx->client);
}

static void eval_var(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    *out = ctx->vars ? ctx->vars[node->as.whole.a] : (struct value){0};
}

static void eval_bound(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    *out = ctx->bound ? ctx->bound[node->as.whole.a] : (struct value){0};
}

/* a * x + b under the rules of gen_arith. */
static void affine(int64_t a, const struct value *x, int64_t b, struct value *out)
{
    int64_t sum;
    if (x->type == VALUE_INT && !__builtin_mul_overflow(a, x->as.i, &sum) &&
        !__builtin_add_overflow(sum, b, &sum)) {
        *out = value_int(sum);
        return;
    }
    struct value factor = value_int(a);
    struct value summand = value_int(b);
    struct value product;
    gen_apply(GEN_MUL, &factor, x, &product);
    gen_apply(GEN_ADD, &product, &summand, out);
}

static void eval_sequence(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    struct value steps = value_int((int64_t)(ctx->row - 1));
    affine(node->as.whole.b, &steps, node->as.whole.a, out);
}

/* A child whose text, if any, is not kept. */
static void eval_operand(struct gen_ctx *ctx, gen_id id, struct value *out)
{
    uint32_t mark = ctx->scratch_used;
    gen_eval(ctx, id, out);
    ctx->scratch_used = mark;
}

static void eval_affine(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    struct value x;
    eval_operand(ctx, node->pair[0], &x);
    affine(node->as.whole.a, &x, node->as.whole.b, out);
}

static void eval_modulo(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    struct value x;
    eval_operand(ctx, node->pair[0], &x);
    int64_t m = node->as.whole.a;
    if (x.type == VALUE_INT) {
        int64_t rest = x.as.i % m;
        *out = value_int(rest < 0 ? rest + m : rest);
        return;
    }
    struct value divisor = value_int(m);
    gen_apply(GEN_MOD, &x, &divisor, out);
}

static void eval_round_robin(struct gen_ctx *ctx, const struct gen_node *node,
                             struct value *out)
{
    *out = value_int((int64_t)(1 + (ctx->row - 1) % (uint64_t)node->as.whole.a));
}

static void eval_permute(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    struct value x;
    eval_operand(ctx, node->pair[0], &x);
    int64_t n = node->as.whole.a;
    int64_t at;
    if (!gen_whole(&x, &at)) {
        *out = (struct value){0};
        return;
    }
    int64_t rest = at % n - 1; /* then (at - 1) mod n */
    if (rest < 0)
        rest += n;
    uint64_t key = gen_draw_in(ctx, node->salt, 0); /* row 0: one key for all rows */
    *out = value_int(gen_permute_one(key, rest + 1, n));
}

static void eval_uniform(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    uint64_t bits = gen_draw(ctx, node->salt);
    uint64_t offset;
    if (gen_below_fast(bits, node->as.span.range, &offset))
        *out = value_int((int64_t)((uint64_t)node->as.span.lo + offset));
    else
        gen_uniform_slow(node, bits, out);
}

static void eval_zipf(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    *out = value_int(gen_zipf_draw(node->as.law, gen_draw(ctx, node->salt)));
}

static void eval_latest(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    const struct gen_zipf *zipf = node->as.law;
    *out = value_int(zipf->n + 1 - gen_zipf_draw(zipf, gen_draw(ctx, node->salt)));
}

static void eval_gaussian(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    *out = value_int(gen_gaussian_draw(node->as.law, gen_draw(ctx, node->salt)));
}

static void eval_exponential(struct gen_ctx *ctx, const struct gen_node *node,
                             struct value *out)
{
    *out = value_int(gen_exponential_draw(node->as.law, gen_draw(ctx, node->salt)));
}

static void eval_hotspot(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    *out = value_int(gen_hot_draw(node->as.law, gen_draw(ctx, node->salt)));
}

static void eval_choice(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    uint64_t pick = gen_below(gen_draw(ctx, node->salt), node->count);
    gen_eval(ctx, node->as.list.children[pick], out);
}

static void eval_at(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    struct value at;
    int64_t row;
    eval_operand(ctx, node->pair[1], &at);
    if (!gen_whole(&at, &row)) {
        *out = (struct value){0};
        return;
    }
    uint64_t here_row = ctx->row;
    uint64_t here_stream = ctx->stream;
    ctx->row = (uint64_t)row;
    ctx->stream = (uint64_t)node->as.whole.a;
    gen_eval(ctx, node->pair[0], out);
    ctx->row = here_row;
    ctx->stream = here_stream;
}

static const gen_eval_fn evaluators[] = {
    [GEN_CONST] = eval_const,
    [GEN_ROW] = eval_row,
    [GEN_CLIENT] = eval_client,
    [GEN_VAR] = eval_var,
    [GEN_BOUND] = eval_bound,
    [GEN_ARITH] = gen_eval_arith,
    [GEN_SEQUENCE] = eval_sequence,
    [GEN_MODULO] = eval_modulo,
    [GEN_ROUND_ROBIN] = eval_round_robin,
    [GEN_AFFINE] = eval_affine,
    [GEN_PERMUTE] = eval_permute,
    [GEN_UNIFORM] = eval_uniform,
    [GEN_ZIPF] = eval_zipf,
    [GEN_GAUSSIAN] = eval_gaussian,
    [GEN_EXPONENTIAL] = eval_exponential,
    [GEN_HOTSPOT] = eval_hotspot,
    [GEN_LATEST] = eval_latest,
    [GEN_CHOICE] = eval_choice,
    [GEN_FORMAT] = gen_eval_format,
    [GEN_TEXT] = gen_eval_text,
    [GEN_JSON] = gen_eval_json,
    [GEN_UUID7] = gen_eval_uuid7,
    [GEN_AT] = eval_at,
};

void gen_eval(struct gen_ctx *ctx, gen_id id, struct value *out)
{
    assert(id < ctx->pool->count);
    const struct gen_node *node = &ctx->pool->nodes[id];
    evaluators[node->kind](ctx, node, out);
}
