#include "suite/suite_figure_internal.h"

#include <string.h>

/* Columns of a count weigh like this many nodes a row. */
enum { WEIGHT_OF_ROW = 16 };

/* Takes from what a suite may run through its generators. */
static bool charge_rows(struct suite_loader *ld, uint64_t rows, uint64_t weight,
                        const char **why)
{
    uint64_t each = 1 + weight / WEIGHT_OF_ROW;
    if (suite_over_limits(ld)) {
        *why = "the suite is too large";
        return false;
    }
    if (rows <= (SUITE_COUNT_ROWS_MAX - ld->count_rows) / each) {
        ld->count_rows += rows * each;
        return true;
    }
    *why = "count(), distinct() and answer{} may run 10,000,000 rows in all (a row of large "
           "expressions counts as several)";
    return false;
}

/* What a name weighs: the tree of its column, beside itself. */
static uint64_t weight_of_column(struct suite_loader *ld, const struct suite_table_def *def,
                                 const char *name)
{
    ld->work += def->table.column_count;
    for (uint32_t i = 0; i < def->table.column_count; i++) {
        if (strcmp(def->table.columns[i].name, name) == 0)
            return def->weights[i];
    }
    return 0;
}

/* Expressions count a column by its tree. Beyond the limits the answer does not matter:
 * charge_rows refuses. */
static uint64_t weight_in(struct suite_loader *ld, const struct suite_expr *e,
                          const struct suite_table_def *def)
{
    uint64_t weight = e->weight;
    ld->work++;
    if (suite_over_limits(ld))
        return weight;
    if (e->kind == GEN_AT && !e->column)
        weight += weight_of_column(ld, def, e->text);
    for (uint32_t i = 0; i < e->child_count; i++) {
        if (e->children[i]->uses & SUITE_USE_COLUMN)
            weight += weight_in(ld, e->children[i], def) - e->children[i]->weight;
    }
    return weight;
}

bool suite_table_count(struct suite_loader *ld, const struct suite_table_def *def,
                       struct suite_expr *predicate, uint64_t *count, const char **why)
{
    if (!predicate) {
        *count = def->table.rows;
        return true;
    }
    struct suite_scope scope = suite_scope_of_table(ld, def);
    gen_id tree = suite_expr_lower(ld, predicate, &scope, why);
    if (tree == GEN_NONE ||
        !charge_rows(ld, def->table.rows, weight_in(ld, predicate, def), why))
        return false;
    uint64_t stream = gen_stream(def->table.name, "count", 0);
    *count = gen_count(ld->pool, ld->options->seed, stream, tree, 1, def->table.rows);
    return true;
}

/* NULL, which does not count, in rows where the predicate does not hold: the row number is
 * multiplied by 1 // 1 or by 1 // 0, which is NULL. */
static gen_id where_kept(struct gen_pool *pool, gen_id tree, uint64_t stream, gen_id keep)
{
    struct value zero = value_int(0), one = value_int(1);
    gen_id holds = gen_arith(pool, GEN_NE, keep, gen_const(pool, &zero));
    gen_id factor = gen_arith(pool, GEN_IDIV, gen_const(pool, &one), holds);
    return gen_at(pool, tree, stream, gen_arith(pool, GEN_MUL, gen_row(pool), factor));
}

bool suite_table_distinct(struct suite_loader *ld, const struct suite_table_def *def,
                          struct suite_expr *expr, struct suite_expr *predicate,
                          uint64_t *count, const char **why)
{
    struct suite_scope scope = suite_scope_of_table(ld, def);
    uint64_t weight = weight_in(ld, expr, def);
    uint64_t stream = gen_stream(def->table.name, "count", 0);
    gen_id tree = suite_expr_lower(ld, expr, &scope, why);
    if (tree == GEN_NONE)
        return false;
    if (predicate) {
        gen_id keep = suite_expr_lower(ld, predicate, &scope, why);
        if (keep == GEN_NONE)
            return false;
        weight += weight_in(ld, predicate, def);
        tree = where_kept(ld->pool, tree, stream, keep);
        if (tree == GEN_NONE) {
            *why = suite_take_fault(ld);
            return false;
        }
    }
    if (!charge_rows(ld, def->table.rows, weight, why))
        return false;
    *count = gen_distinct(ld->pool, ld->options->seed, stream, tree, 1, def->table.rows);
    return true;
}

/* ---- answers */
static gen_id lower_answer(struct suite_loader *ld, struct suite_expr *expr,
                           const struct suite_scope *scope, const char **why)
{
    if (expr->uses & SUITE_USE_DRAW)
        *why = "a right answer draws nothing: use columns and at()";
    else if (expr->uses & SUITE_USE_CLIENT)
        *why = "a right answer does not know the client";
    else
        return suite_expr_lower(ld, expr, scope, why);
    return GEN_NONE;
}

bool suite_table_answer(struct suite_loader *ld, const struct suite_answer_of *of,
                        struct suite_answer *answer, const char **why)
{
    const struct suite_table_def *def = of->table;
    struct suite_scope scope = suite_scope_of_table(ld, def);
    uint64_t weight = 0, bytes = 0;
    gen_id *trees = arena_array(ld->scratch, gen_id, of->value_count);
    gen_id where = of->where ? lower_answer(ld, of->where, &scope, why) : GEN_NONE;
    if (of->where && where == GEN_NONE)
        return false;
    if (of->where) {
        weight = weight_in(ld, of->where, def);
        bytes = gen_scratch_bytes(ld->pool, where);
    }
    for (uint32_t i = 0; i < of->value_count; i++) {
        trees[i] = lower_answer(ld, of->values[i], &scope, why);
        if (trees[i] == GEN_NONE)
            return false;
        weight += weight_in(ld, of->values[i], def);
        bytes += gen_scratch_bytes(ld->pool, trees[i]);
    }
    if (bytes > SUITE_ANSWER_BYTES_MAX) {
        *why = "a row has more than 64 MiB of text";
        return false;
    }
    if (!charge_rows(ld, def->table.rows, weight, why))
        return false;
    struct gen_answer_query query = {.seed = ld->options->seed,
                                     .stream = gen_stream(def->table.name, "count", 0),
                                     .trees = trees,
                                     .count = of->value_count,
                                     .where = where,
                                     .first = 1,
                                     .rows = def->table.rows};
    answer->checksum = gen_answer(ld->pool, &query, &answer->rows);
    return true;
}
