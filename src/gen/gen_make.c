#include "gen/gen_internal.h"

#include <string.h>

/* The constructors: arguments are checked here, trees are put together in gen_tree.c. */

static gen_id add_leaf(struct gen_pool *pool, struct gen_node node)
{
    return gen_add(pool, &node, NULL);
}

/* A node of numbers. */
static struct gen_node number_node(enum gen_kind kind)
{
    return (struct gen_node){.kind = (uint8_t)kind, .printed = GEN_NUMBER_BYTES};
}

gen_id gen_const(struct gen_pool *pool, const struct value *value)
{
    struct gen_node node = number_node(GEN_CONST);
    node.as.value = value_copy(pool->arena, value);
    if (value->type == VALUE_TEXT || value->type == VALUE_BLOB)
        node.printed = value->bytes;
    return gen_add(pool, &node, NULL);
}

gen_id gen_row(struct gen_pool *pool)
{
    struct gen_node node = number_node(GEN_ROW);
    node.varies = true;
    return add_leaf(pool, node);
}

gen_id gen_client(struct gen_pool *pool)
{
    struct gen_node node = number_node(GEN_CLIENT);
    node.varies = true;
    return add_leaf(pool, node);
}

static gen_id add_foreign(struct gen_pool *pool, enum gen_kind kind, uint16_t index)
{
    struct gen_node node = {.kind = (uint8_t)kind,
                            .printed = GEN_FOREIGN_BYTES,
                            .varies = true};
    node.as.whole.a = index;
    return add_leaf(pool, node);
}

gen_id gen_var(struct gen_pool *pool, uint16_t index)
{
    return add_foreign(pool, GEN_VAR, index);
}

gen_id gen_bound(struct gen_pool *pool, uint16_t index)
{
    return add_foreign(pool, GEN_BOUND, index);
}

gen_id gen_arith(struct gen_pool *pool, enum gen_operator op, gen_id a, gen_id b)
{
    struct gen_node node = number_node(GEN_ARITH);
    node.op = (uint8_t)op;
    node.count = op == GEN_NEG || op == GEN_NOT ? 1 : 2;
    node.pair[0] = a;
    node.pair[1] = b;
    return gen_add(pool, &node, NULL);
}

gen_id gen_sequence(struct gen_pool *pool, int64_t start, int64_t step)
{
    struct gen_node node = number_node(GEN_SEQUENCE);
    node.varies = true;
    node.as.whole.a = start;
    node.as.whole.b = step;
    return add_leaf(pool, node);
}

/* A node over one child with two whole arguments. */
static gen_id add_over(struct gen_pool *pool, enum gen_kind kind, gen_id x, int64_t a,
                       int64_t b)
{
    struct gen_node node = number_node(kind);
    node.count = 1;
    node.pair[0] = x;
    node.as.whole.a = a;
    node.as.whole.b = b;
    return gen_add(pool, &node, NULL);
}

gen_id gen_modulo(struct gen_pool *pool, gen_id x, int64_t m)
{
    if (m <= 0)
        return gen_fault(pool, "modulo needs a divisor of 1 or more");
    return add_over(pool, GEN_MODULO, x, m, 0);
}

gen_id gen_round_robin(struct gen_pool *pool, int64_t n)
{
    if (n < 1)
        return gen_fault(pool, "round_robin needs n of 1 or more");
    struct gen_node node = number_node(GEN_ROUND_ROBIN);
    node.varies = true;
    node.as.whole.a = n;
    return add_leaf(pool, node);
}

gen_id gen_affine(struct gen_pool *pool, int64_t a, gen_id x, int64_t b)
{
    return add_over(pool, GEN_AFFINE, x, a, b);
}

gen_id gen_permute(struct gen_pool *pool, gen_id x, int64_t n)
{
    if (n < 1)
        return gen_fault(pool, "permute needs n of 1 or more");
    return add_over(pool, GEN_PERMUTE, x, n, 0);
}

gen_id gen_uniform(struct gen_pool *pool, int64_t lo, int64_t hi)
{
    if (lo > hi)
        return gen_fault(pool, "uniform needs a lower end that is not above the upper end");
    struct gen_node node = number_node(GEN_UNIFORM);
    node.as.span.lo = lo;
    node.as.span.range = (uint64_t)hi - (uint64_t)lo + 1;
    return add_leaf(pool, node);
}

static gen_id add_zipf(struct gen_pool *pool, enum gen_kind kind, int64_t n, double s)
{
    struct gen_zipf *zipf = arena_new(pool->arena, struct gen_zipf);
    gen_zipf_prepare(zipf, n, s);
    struct gen_node node = number_node(kind);
    node.as.law = zipf;
    return add_leaf(pool, node);
}

static bool zipf_fits(int64_t n, double s)
{
    return n >= 1 && n <= GEN_ZIPF_MAX && s > 0 && s <= GEN_SHAPE_MAX;
}

gen_id gen_zipf(struct gen_pool *pool, int64_t n, double s)
{
    if (!zipf_fits(n, s))
        return gen_fault(pool, "zipf needs n of 1 to 2^53 and s above 0, at most 1000");
    return add_zipf(pool, GEN_ZIPF, n, s);
}

gen_id gen_latest(struct gen_pool *pool, int64_t n, double s)
{
    if (!zipf_fits(n, s))
        return gen_fault(pool, "latest needs n of 1 to 2^53 and s above 0, at most 1000");
    return add_zipf(pool, GEN_LATEST, n, s);
}

static gen_id add_bell(struct gen_pool *pool, enum gen_kind kind, int64_t lo, int64_t hi,
                       double shape)
{
    struct gen_bell *bell = arena_new(pool->arena, struct gen_bell);
    bell->lo = lo;
    bell->range = (uint64_t)hi - (uint64_t)lo + 1;
    if (kind == GEN_GAUSSIAN)
        gen_gaussian_prepare(bell, shape);
    else
        gen_exponential_prepare(bell, shape);
    struct gen_node node = number_node(kind);
    node.as.law = bell;
    return add_leaf(pool, node);
}

gen_id gen_gaussian(struct gen_pool *pool, int64_t lo, int64_t hi, double shape)
{
    if (lo > hi || !(shape > 0 && shape <= GEN_SHAPE_MAX))
        return gen_fault(pool, "gaussian needs lo <= hi and a shape above 0, at most 1000");
    return add_bell(pool, GEN_GAUSSIAN, lo, hi, shape);
}

gen_id gen_exponential(struct gen_pool *pool, int64_t lo, int64_t hi, double shape)
{
    if (lo > hi || !(shape > 0 && shape <= GEN_SHAPE_MAX))
        return gen_fault(pool, "exponential needs lo <= hi and a shape above 0, at most 1000");
    return add_bell(pool, GEN_EXPONENTIAL, lo, hi, shape);
}

gen_id gen_hotspot(struct gen_pool *pool, int64_t n, double hot_part, double hot_share)
{
    if (n < 1 || !(hot_part > 0 && hot_part <= 1) || !(hot_share >= 0 && hot_share <= 1))
        return gen_fault(pool, "hotspot needs n of 1 or more, a part above 0 up to 1 and a "
                               "share from 0 to 1");
    struct gen_hot *hot = arena_new(pool->arena, struct gen_hot);
    gen_hot_prepare(hot, n, hot_part, hot_share);
    struct gen_node node = number_node(GEN_HOTSPOT);
    node.as.law = hot;
    return add_leaf(pool, node);
}

gen_id gen_choice(struct gen_pool *pool, const gen_id *children, uint16_t count)
{
    if (count < 1)
        return gen_fault(pool, "choice needs at least one value");
    struct gen_node node = {.kind = GEN_CHOICE, .count = count};
    return gen_add(pool, &node, children);
}

/* An empty list still has an address, so that gen_add can tell a list from a pair. */
static const gen_id *list_of(const gen_id *children)
{
    static const gen_id none[1] = {GEN_NONE};
    return children ? children : none;
}

gen_id gen_format(struct gen_pool *pool, const char *format, const gen_id *children,
                  uint16_t count)
{
    struct gen_node node = {.kind = GEN_FORMAT, .count = count};
    const struct gen_part *parts;
    if (!gen_format_parse(pool->arena, format, count, &parts, &node.scratch))
        return gen_fault(pool, "format needs a value for each place; places are %d, %s, %0Nd "
                               "with N up to 64, and %% for a percent sign");
    node.printed = node.scratch;
    node.as.list.detail = parts;
    return gen_add(pool, &node, list_of(children));
}

gen_id gen_text(struct gen_pool *pool, uint32_t bytes, uint32_t unique_percent)
{
    if (unique_percent > 100 || bytes > GEN_TEXT_MAX)
        return gen_fault(pool, "text needs at most 64 MiB and a percentage from 0 to 100");
    struct gen_node node = {.kind = GEN_TEXT, .scratch = bytes, .printed = bytes};
    node.as.whole.a = bytes;
    node.as.whole.b = (int64_t)(((uint64_t)bytes * unique_percent + 99) / 100);
    return add_leaf(pool, node);
}

static bool names_differ(const char *const *names, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++)
        for (uint16_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return false;
    return true;
}

gen_id gen_json(struct gen_pool *pool, const char *const *names, const gen_id *children,
                uint16_t count)
{
    if (count > GEN_FIELDS_MAX || !names_differ(names, count))
        return gen_fault(pool, "json needs different names, at most 1,024 of them");
    struct gen_node node = {.kind = GEN_JSON, .count = count};
    node.as.list.detail = gen_json_keys(pool->arena, names, count, &node.scratch);
    node.printed = node.scratch;
    return gen_add(pool, &node, list_of(children));
}

gen_id gen_uuid7(struct gen_pool *pool, int64_t base_ms)
{
    if (base_ms < 0 || base_ms >= INT64_C(1) << 48)
        return gen_fault(pool, "uuid7 needs a time of 0 to 2^48 - 1 ms");
    struct gen_node node = {.kind = GEN_UUID7,
                            .scratch = GEN_UUID_BYTES,
                            .printed = GEN_UUID_BYTES};
    node.as.whole.a = base_ms;
    return add_leaf(pool, node);
}

gen_id gen_at(struct gen_pool *pool, gen_id tree, uint64_t stream, gen_id row)
{
    struct gen_node node = {
        .kind = GEN_AT, .count = 2, .pair = {tree, row},
                .varies = true
    };
    node.as.whole.a = (int64_t)stream;
    return gen_add(pool, &node, NULL);
}
