#include "gen/gen_internal.h"

#include <assert.h>
#include <string.h>

/* The different draws of one tree. */
struct draws {
    size_t count;
    gen_id origin[GEN_DRAWS_MAX];
    uint16_t ordinal[GEN_DRAWS_MAX];
    bool full;
};

void gen_pool_init(struct gen_pool *pool, struct arena *arena)
{
    assert(arena);
    *pool = (struct gen_pool){.arena = arena};
}

gen_id gen_fault(struct gen_pool *pool, const char *fault)
{
    if (!pool->fault)
        pool->fault = fault;
    return GEN_NONE;
}

bool gen_kind_draws(enum gen_kind kind)
{
    static const bool draws[] = {
        [GEN_PERMUTE] = true,  [GEN_UNIFORM] = true,     [GEN_ZIPF] = true,
        [GEN_GAUSSIAN] = true, [GEN_EXPONENTIAL] = true, [GEN_HOTSPOT] = true,
        [GEN_LATEST] = true,   [GEN_CHOICE] = true,      [GEN_TEXT] = true,
        [GEN_UUID7] = true,    [GEN_AT] = false,
    };
    return draws[kind];
}

static bool has_list(enum gen_kind kind)
{
    return kind == GEN_CHOICE || kind == GEN_FORMAT || kind == GEN_JSON;
}

const gen_id *gen_children(const struct gen_node *node)
{
    return has_list(node->kind) ? node->as.list.children : node->pair;
}

static gen_id append(struct gen_pool *pool, const struct gen_node *node)
{
    if (pool->count >= GEN_POOL_MAX)
        return gen_fault(pool, "too many generators");
    pool->nodes = arena_grow(pool->arena, pool->nodes, pool->count, &pool->room,
                             pool->count + 1, sizeof(*pool->nodes));
    pool->nodes[pool->count] = *node;
    return (gen_id)pool->count++;
}

static void set_ordinal(struct gen_node *node, uint16_t ordinal)
{
    node->ordinal = ordinal;
    node->salt = hash_mix(ordinal);
}

/* The ordinal of a draw in this tree: the one it has already, the one it wants, or a free one.
 */
static uint16_t claim(struct draws *draws, gen_id origin, uint16_t wanted)
{
    uint16_t next = 0;
    bool taken = false;
    for (size_t i = 0; i < draws->count; i++) {
        if (draws->origin[i] == origin)
            return draws->ordinal[i];
        taken |= draws->ordinal[i] == wanted;
        if (draws->ordinal[i] >= next)
            next = (uint16_t)(draws->ordinal[i] + 1);
    }
    uint16_t ordinal = taken ? next : wanted;
    if (draws->count == GEN_DRAWS_MAX) {
        draws->full = true;
        return ordinal;
    }
    draws->origin[draws->count] = origin;
    draws->ordinal[draws->count++] = ordinal;
    return ordinal;
}

static gen_id merge(struct gen_pool *pool, gen_id id, struct draws *draws);

/* Merges the children of a copy of a node; true when one of them changed. */
static bool merge_children(struct gen_pool *pool, struct gen_node *node, struct draws *draws)
{
    const gen_id *old = gen_children(node);
    gen_id *list = NULL;
    bool changed = false;
    for (uint16_t i = node->kind == GEN_AT ? 1 : 0; i < node->count; i++) {
        gen_id child = merge(pool, old[i], draws);
        if (child == old[i])
            continue;
        changed = true;
        if (!has_list(node->kind)) {
            node->pair[i] = child; /* old is this array: read before it is written */
            continue;
        }
        if (!list) {
            list = arena_array(pool->arena, gen_id, node->count);
            memcpy(list, old, node->count * sizeof(*list));
        }
        list[i] = child;
    }
    if (list)
        node->as.list.children = list;
    return changed;
}

/* The tree as it is, or a copy of it whose ordinals go with the draws so far; adds its draws.
 */
static gen_id merge(struct gen_pool *pool, gen_id id, struct draws *draws)
{
    if (id == GEN_NONE || !pool->nodes[id].draws || draws->full)
        return id;
    struct gen_node node = pool->nodes[id];
    bool changed = merge_children(pool, &node, draws);
    if (gen_kind_draws(node.kind)) {
        uint16_t ordinal = claim(draws, node.origin, node.ordinal);
        changed |= ordinal != node.ordinal;
        set_ordinal(&node, ordinal);
    }
    return changed ? append(pool, &node) : id;
}

struct bounds {
    uint64_t size, scratch, printed;
    unsigned depth;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_bounds(struct bounds *bounds, const struct gen_node *node,
                       const struct gen_node *child)
{
    uint64_t printed = child->printed * (node->kind == GEN_JSON ? UINT64_C(6) : UINT64_C(1));
    bounds->size += child->size;
    if (child->depth > bounds->depth)
        bounds->depth = child->depth;
    switch ((int)node->kind) {
    case GEN_FORMAT:
    case GEN_JSON:
        bounds->scratch += larger(child->scratch, printed);
        bounds->printed += printed;
        break;
    case GEN_CHOICE:
        bounds->scratch = larger(bounds->scratch, child->scratch);
        bounds->printed = larger(bounds->printed, printed);
        break;
    default:
        bounds->scratch += child->scratch;
        bounds->printed = larger(bounds->printed, printed);
        break;
    }
}

/* Sums up the children; false with a fault when one is missing or a limit is passed. */
static bool sum_up(struct gen_pool *pool, struct gen_node *node)
{
    struct bounds bounds = {1, node->scratch, node->printed, 0};
    const gen_id *children = gen_children(node);
    for (uint16_t i = 0; i < node->count; i++) {
        const struct gen_node *child = &pool->nodes[children[i]];
        add_bounds(&bounds, node, child);
        node->varies |= child->varies;
        node->draws |= child->draws && !(node->kind == GEN_AT && i == 0);
    }
    const char *fault = NULL;
    if (bounds.depth >= GEN_DEPTH_MAX)
        fault = "generators are nested more than 64 deep";
    else if (bounds.size > GEN_TREE_MAX)
        fault = "one value is made of more than 16,384 generators";
    else if (bounds.scratch > GEN_SCRATCH_MAX || bounds.printed > GEN_SCRATCH_MAX)
        fault = "one value may become longer than 1 GiB";
    if (fault)
        return gen_fault(pool, fault) != GEN_NONE;
    node->depth = (uint8_t)(bounds.depth + 1);
    node->size = (uint32_t)bounds.size;
    node->scratch = (uint32_t)bounds.scratch;
    node->printed = (uint32_t)bounds.printed;
    return true;
}

static bool children_there(const struct gen_pool *pool, const gen_id *children, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++)
        if (children[i] >= pool->count)
            return false;
    return true;
}

gen_id gen_add(struct gen_pool *pool, struct gen_node *node, const gen_id *list)
{
    if (!children_there(pool, list ? list : node->pair, node->count))
        return gen_fault(pool, "a part of this value is not a generator");
    if (list)
        node->as.list.children = list;
    node->draws = gen_kind_draws(node->kind);
    node->varies |= node->draws;
    if (!sum_up(pool, node))
        return GEN_NONE;
    if (list) {
        gen_id *copy = arena_array(pool->arena, gen_id, node->count);
        if (node->count > 0)
            memcpy(copy, list, node->count * sizeof(*copy));
        node->as.list.children = copy;
    }
    struct draws draws = {0};
    merge_children(pool, node, &draws);
    node->origin = (gen_id)pool->count;
    if (gen_kind_draws(node->kind))
        set_ordinal(node, claim(&draws, node->origin, 0));
    if (draws.full)
        return gen_fault(pool, "one value has more than 256 random parts");
    return append(pool, node);
}

uint32_t gen_scratch_bytes(const struct gen_pool *pool, gen_id id)
{
    assert(id < pool->count);
    return pool->nodes[id].scratch;
}

bool gen_is_constant(const struct gen_pool *pool, gen_id id)
{
    assert(id < pool->count);
    return !pool->nodes[id].varies;
}
