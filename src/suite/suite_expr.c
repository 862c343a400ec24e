#include "base/hash.h"
#include "base/text.h"
#include "suite/suite_internal.h"

#include <assert.h>
#include <string.h>

enum { TEXT_BYTES_OF_NODE = 64 };

struct suite_expr *suite_expr_const(struct suite_loader *ld, const struct value *value)
{
    struct suite_expr *expr = arena_new(ld->arena, struct suite_expr);
    expr->kind = GEN_CONST;
    expr->value = *value;
    expr->weight = 1;
    expr->depth = 1;
    expr->pass = UINT32_MAX;
    expr->id = gen_const(ld->pool, value);
    return expr;
}

const char *suite_take_fault(struct suite_loader *ld)
{
    const char *fault = ld->pool->fault ? ld->pool->fault : "not a usable generator";
    ld->pool->fault = NULL;
    return fault;
}

static gen_id make_random(struct gen_pool *pool, const struct suite_expr *e)
{
    switch ((int)e->kind) {
    case GEN_UNIFORM: return gen_uniform(pool, e->whole[0], e->whole[1]);
    case GEN_ZIPF: return gen_zipf(pool, e->whole[0], e->real[0]);
    case GEN_GAUSSIAN: return gen_gaussian(pool, e->whole[0], e->whole[1], e->real[0]);
    case GEN_EXPONENTIAL: return gen_exponential(pool, e->whole[0], e->whole[1], e->real[0]);
    case GEN_HOTSPOT: return gen_hotspot(pool, e->whole[0], e->real[0], e->real[1]);
    case GEN_LATEST: return gen_latest(pool, e->whole[0], e->real[0]);
    case GEN_TEXT: return gen_text(pool, (uint32_t)e->whole[0], (uint32_t)e->whole[1]);
    case GEN_UUID7: return gen_uuid7(pool, e->whole[0]);
    default: break;
    }
    assert(false); /* a kind without a constructor */
    return GEN_NONE;
}

/* The node over children that have been made. */
static gen_id make_node(struct gen_pool *pool, const struct suite_expr *e, const gen_id *child)
{
    switch ((int)e->kind) {
    case GEN_CONST: return gen_const(pool, &e->value);
    case GEN_ROW: return gen_row(pool);
    case GEN_CLIENT: return gen_client(pool);
    case GEN_ARITH: return gen_arith(pool, e->op, child[0], child[e->child_count - 1]);
    case GEN_SEQUENCE: return gen_sequence(pool, e->whole[0], e->whole[1]);
    case GEN_MODULO: return gen_modulo(pool, child[0], e->whole[0]);
    case GEN_ROUND_ROBIN: return gen_round_robin(pool, e->whole[0]);
    case GEN_AFFINE: return gen_affine(pool, e->whole[0], child[0], e->whole[1]);
    case GEN_PERMUTE: return gen_permute(pool, child[0], e->whole[0]);
    case GEN_CHOICE: return gen_choice(pool, child, (uint16_t)e->child_count);
    case GEN_FORMAT: return gen_format(pool, e->text, child, (uint16_t)e->child_count);
    case GEN_JSON: return gen_json(pool, e->names, child, (uint16_t)e->child_count);
    case GEN_AT: return gen_at(pool, e->column->tree, e->column->stream, child[0]);
    default: break;
    }
    return make_random(pool, e);
}

/* An expression with open names cannot be made yet; one over zeros shows whether its own
 * arguments are right. */
static bool try_arguments(struct suite_loader *ld, const struct suite_expr *e)
{
    if (e->child_count == 0)
        return true;
    struct value zero = value_int(0);
    gen_id dummy = gen_const(ld->pool, &zero);
    gen_id *children = arena_array(ld->scratch, gen_id, e->child_count);
    for (uint32_t i = 0; i < e->child_count; i++)
        children[i] = dummy;
    return make_node(ld->pool, e, children) != GEN_NONE;
}

static uint32_t own_uses(const struct suite_expr *e)
{
    switch ((int)e->kind) {
    case GEN_CLIENT: return SUITE_USE_CLIENT;
    case GEN_VAR: return SUITE_USE_VAR;
    case GEN_BOUND: return SUITE_USE_BOUND;
    case GEN_AT: return e->column ? 0 : SUITE_USE_COLUMN;
    case GEN_PERMUTE:
    case GEN_UNIFORM:
    case GEN_ZIPF:
    case GEN_GAUSSIAN:
    case GEN_EXPONENTIAL:
    case GEN_HOTSPOT:
    case GEN_LATEST:
    case GEN_CHOICE:
    case GEN_TEXT:
    case GEN_UUID7: return SUITE_USE_DRAW;
    default: return 0;
    }
}

struct suite_expr *suite_expr_finish(struct suite_loader *ld, struct suite_expr *e,
                                     const char **why)
{
    uint64_t weight = (uint64_t)e->weight + 1;
    if (e->kind == GEN_TEXT)
        weight += (uint64_t)e->whole[0] / TEXT_BYTES_OF_NODE;
    e->uses |= own_uses(e);
    e->depth = 1;
    for (uint32_t i = 0; i < e->child_count; i++) {
        weight += e->children[i]->weight;
        e->uses |= e->children[i]->uses;
        if (e->children[i]->depth >= e->depth)
            e->depth = e->children[i]->depth + 1;
    }
    if (weight > SUITE_WEIGHT_MAX || e->depth > GEN_DEPTH_MAX) {
        *why = "the expression is too large";
        return NULL;
    }
    e->weight = (uint32_t)weight;
    e->id = GEN_NONE;
    bool done = false;
    if (e->uses & SUITE_USE_NAMES)
        done = try_arguments(ld, e);
    else
        done = suite_expr_lower(ld, e, &(struct suite_scope){0}, why) != GEN_NONE;
    if (!done && !*why)
        *why = suite_take_fault(ld);
    return done ? e : NULL;
}

static bool find_name(const char *name, const char *const *names, uint32_t count,
                      uint32_t *index)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

static gen_id unresolved(struct suite_loader *ld, const char **why, const char *what,
                         const char *name)
{
    *why = arena_printf(ld->arena, "%s '%s' is not known here", what, name);
    return GEN_NONE;
}

static gen_id lower_name(struct suite_loader *ld, const struct suite_expr *e,
                         const struct suite_scope *scope, const char **why)
{
    uint32_t index;
    ld->work += 1 + scope->bound_count + scope->column_count;
    if (suite_over_limits(ld)) {
        *why = "the suite is too large";
        return GEN_NONE;
    }
    if (e->kind == GEN_VAR) {
        if (!find_name(e->text, scope->vars, scope->var_count, &index))
            return unresolved(ld, why, "variable", e->text);
        return gen_var(ld->pool, (uint16_t)index);
    }
    if (e->kind == GEN_BOUND) {
        if (!find_name(e->text, scope->bound, scope->bound_count, &index))
            return unresolved(ld, why, "bound parameter", e->text);
        return gen_bound(ld->pool, (uint16_t)index);
    }
    for (index = 0; index < scope->column_count; index++) {
        const struct suite_column *column = &scope->columns[index];
        if (strcmp(column->name, e->text) == 0)
            return gen_at(ld->pool, column->tree, column->stream, gen_row(ld->pool));
    }
    return unresolved(ld, why, "column", e->text);
}

static bool is_name(const struct suite_expr *e)
{
    return e->kind == GEN_VAR || e->kind == GEN_BOUND || (e->kind == GEN_AT && !e->column);
}

static gen_id lower_node(struct suite_loader *ld, struct suite_expr *e,
                         const struct suite_scope *scope, const char **why)
{
    gen_id *children = arena_array(ld->scratch, gen_id, e->child_count);
    for (uint32_t i = 0; i < e->child_count; i++) {
        children[i] = suite_expr_lower(ld, e->children[i], scope, why);
        if (children[i] == GEN_NONE)
            return GEN_NONE;
    }
    return make_node(ld->pool, e, children);
}

/* An expression used twice in a tree is one node (one draw), and is made once. */
gen_id suite_expr_lower(struct suite_loader *ld, struct suite_expr *e,
                        const struct suite_scope *scope, const char **why)
{
    bool open = e->uses & SUITE_USE_NAMES;
    if (e->id != GEN_NONE && (!open || e->pass == scope->pass))
        return e->id;
    gen_id id = is_name(e) ? lower_name(ld, e, scope, why) : lower_node(ld, e, scope, why);
    if (id == GEN_NONE && !*why)
        *why = suite_take_fault(ld);
    if (id == GEN_NONE)
        return GEN_NONE;
    e->id = id;
    e->pass = scope->pass;
    return id;
}

struct suite_scope suite_scope_of_table(struct suite_loader *ld,
                                        const struct suite_table_def *def)
{
    return (struct suite_scope){.pass = ++ld->pass,
                                .columns = def->table.columns,
                                .column_count = def->table.column_count};
}

struct value suite_tree_value(struct suite_loader *ld, gen_id tree, uint64_t stream,
                              uint64_t row)
{
    if (tree == GEN_NONE)
        return (struct value){0}; /* after a fault */
    uint32_t room = gen_scratch_bytes(ld->pool, tree);
    struct arena *arena = arena_create((size_t)room + 1);
    struct gen_ctx ctx = {.pool = ld->pool,
                          .seed = ld->options->seed,
                          .stream = stream,
                          .row = row,
                          .client = 1,
                          .scratch = arena_array(arena, char, (size_t)room + 1),
                          .scratch_room = room};
    struct value value;
    gen_eval(&ctx, tree, &value);
    value = value_copy(ld->arena, &value);
    arena_destroy(&arena);
    return value;
}
