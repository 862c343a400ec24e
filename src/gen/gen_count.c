#include "gen/gen_internal.h"

#include <assert.h>
#include <string.h>

enum { LOCAL_SCRATCH_BYTES = 4096, ARENA_BLOCK_BYTES = 1 << 16 };

uint64_t gen_stream(const char *owner, const char *name, uint64_t number)
{
    uint64_t hash = hash_bytes(HASH_START, owner, strlen(owner) + 1);
    hash = hash_bytes(hash, name, strlen(name) + 1);
    return hash_mix(hash + hash_mix(number));
}

static bool holds(const struct value *value)
{
    if (value->type == VALUE_INT)
        return value->as.i != 0;
    struct value number = gen_number(value);
    return number.type == VALUE_INT ? number.as.i != 0
                                    : number.type == VALUE_REAL && number.as.r != 0;
}

uint64_t gen_count(const struct gen_pool *pool, uint64_t seed, uint64_t stream,
                   gen_id predicate, uint64_t first, uint64_t rows)
{
    char local[LOCAL_SCRATCH_BYTES];
    struct gen_ctx ctx = {.pool = pool, .seed = seed, .stream = stream, .client = 1};
    struct arena *arena = NULL;
    ctx.scratch = local;
    ctx.scratch_room = sizeof(local);
    uint32_t need = gen_scratch_bytes(pool, predicate);
    if (need > sizeof(local)) {
        arena = arena_create(need);
        ctx.scratch = arena_array(arena, char, need);
        ctx.scratch_room = need;
    }
    uint64_t count = 0;
    for (uint64_t i = 0; i < rows; i++) {
        struct value value;
        ctx.row = first + i;
        ctx.scratch_used = 0;
        gen_eval(&ctx, predicate, &value);
        count += holds(&value);
    }
    arena_destroy(&arena);
    return count;
}

/* A walk over the values of a tree. */
struct walk {
    struct gen_ctx ctx;
    gen_id tree;
    uint64_t first, rows;
};

/* The value of a row, with whole reals as integers, so that 2 and 2.0 are one value. */
static struct value value_at(struct walk *walk, uint64_t row)
{
    struct value value;
    walk->ctx.row = row;
    walk->ctx.scratch_used = 0;
    gen_eval(&walk->ctx, walk->tree, &value);
    if (value.type == VALUE_REAL && value.as.r >= -GEN_WHOLE_END &&
        value.as.r < GEN_WHOLE_END && value.as.r == (double)(int64_t)value.as.r)
        return value_int((int64_t)value.as.r);
    return value;
}

/* Smallest and largest value when all are integers or NULL; false otherwise. */
static bool whole_range(struct walk *walk, int64_t *lo, int64_t *hi)
{
    *lo = INT64_MAX;
    *hi = INT64_MIN;
    for (uint64_t i = 0; i < walk->rows; i++) {
        struct value value = value_at(walk, walk->first + i);
        if (value.type == VALUE_NULL)
            continue;
        if (value.type != VALUE_INT)
            return false;
        *lo = value.as.i < *lo ? value.as.i : *lo;
        *hi = value.as.i > *hi ? value.as.i : *hi;
    }
    return true;
}

/* For integers that lie close together: a bit each. */
static uint64_t count_bits(struct walk *walk, struct arena *scratch, int64_t lo, uint64_t span)
{
    uint64_t *bits = arena_array(scratch, uint64_t, span / 64 + 1);
    uint64_t count = 0;
    for (uint64_t i = 0; i < walk->rows; i++) {
        struct value value = value_at(walk, walk->first + i);
        if (value.type == VALUE_NULL)
            continue;
        uint64_t at = (uint64_t)value.as.i - (uint64_t)lo;
        uint64_t bit = UINT64_C(1) << at % 64;
        count += !(bits[at / 64] & bit);
        bits[at / 64] |= bit;
    }
    return count;
}

/* Open addressing over the first row of each value; a row number, not a copy: on equal hashes
 * the row's value is made again and compared. */
struct entry {
    uint64_t hash, row; /* row 0: empty. Rows are counted from 1 in the walk */
};

struct table {
    struct entry *entries;
    uint64_t room, count; /* room is a power of two */
};

static uint64_t hash_of(const struct value *value)
{
    if (value->type == VALUE_TEXT || value->type == VALUE_BLOB)
        return hash_mix(hash_bytes(HASH_START, value->as.text, value->bytes));
    return hash_mix((uint64_t)value->as.i + value->type); /* a real by its bits */
}

static bool equal(const struct value *a, const struct value *b)
{
    bool a_text = a->type == VALUE_TEXT || a->type == VALUE_BLOB;
    bool b_text = b->type == VALUE_TEXT || b->type == VALUE_BLOB;
    if (a_text != b_text)
        return false;
    if (a_text)
        return slice_equal((struct slice){a->as.text, a->bytes},
                           (struct slice){b->as.text, b->bytes});
    return a->type == b->type && a->as.i == b->as.i;
}

static void place(struct table *table, struct entry entry)
{
    uint64_t at = entry.hash & (table->room - 1);
    while (table->entries[at].row)
        at = (at + 1) & (table->room - 1);
    table->entries[at] = entry;
    table->count++;
}

static void grow(struct table *table, struct arena *scratch)
{
    struct table bigger = {.room = table->room ? table->room * 2 : 1024};
    bigger.entries = arena_array(scratch, struct entry, bigger.room);
    for (uint64_t i = 0; i < table->room; i++)
        if (table->entries[i].row)
            place(&bigger, table->entries[i]);
    *table = bigger;
}

static bool known(const struct table *table, struct walk *again, uint64_t hash,
                  const struct value *value)
{
    uint64_t at = hash & (table->room - 1);
    for (; table->entries[at].row; at = (at + 1) & (table->room - 1)) {
        if (table->entries[at].hash != hash)
            continue;
        struct value other = value_at(again, again->first + table->entries[at].row - 1);
        if (equal(value, &other))
            return true;
    }
    return false;
}

static uint64_t count_hashed(struct walk *walk, struct walk *again, struct arena *scratch)
{
    struct table table = {0};
    grow(&table, scratch);
    for (uint64_t i = 0; i < walk->rows; i++) {
        struct value value = value_at(walk, walk->first + i);
        if (value.type == VALUE_NULL)
            continue;
        uint64_t hash = hash_of(&value);
        if (known(&table, again, hash, &value))
            continue;
        if (table.count >= table.room / 4 * 3)
            grow(&table, scratch);
        place(&table, (struct entry){hash, i + 1});
    }
    return table.count;
}

/* A walk with a scratch buffer of its own. */
static struct walk walk_of(const struct gen_ctx *ctx, gen_id tree, struct arena *scratch)
{
    struct walk walk = {.ctx = *ctx, .tree = tree};
    walk.ctx.scratch_room = gen_scratch_bytes(ctx->pool, tree);
    walk.ctx.scratch = arena_array(scratch, char, walk.ctx.scratch_room + 1u);
    return walk;
}

static uint64_t count_distinct(struct walk *walk, struct arena *scratch)
{
    int64_t lo;
    int64_t hi;
    if (whole_range(walk, &lo, &hi)) {
        if (lo > hi)
            return 0; /* all NULL */
        uint64_t span = (uint64_t)hi - (uint64_t)lo;
        if (span / 64 <= walk->rows)
            return count_bits(walk, scratch, lo, span);
    }
    struct walk again = walk_of(&walk->ctx, walk->tree, scratch);
    again.first = walk->first;
    return count_hashed(walk, &again, scratch);
}

uint64_t gen_distinct(const struct gen_pool *pool, uint64_t seed, uint64_t stream, gen_id tree,
                      uint64_t first, uint64_t rows)
{
    struct gen_ctx ctx = {.pool = pool, .seed = seed, .stream = stream, .client = 1};
    struct arena *scratch = arena_create(ARENA_BLOCK_BYTES);
    struct walk walk = walk_of(&ctx, tree, scratch);
    walk.first = first;
    walk.rows = rows;
    uint64_t count = count_distinct(&walk, scratch);
    arena_destroy(&scratch);
    return count;
}

/* The values of a row stand in the scratch together. */
static uint32_t answer_scratch(const struct gen_pool *pool,
                               const struct gen_answer_query *query)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < query->count; i++)
        bytes += gen_scratch_bytes(pool, query->trees[i]);
    if (query->where != GEN_NONE && gen_scratch_bytes(pool, query->where) > bytes)
        bytes = gen_scratch_bytes(pool, query->where);
    assert(bytes < UINT32_MAX);
    return (uint32_t)bytes;
}

static bool is_kept(struct gen_ctx *ctx, gen_id where)
{
    struct value value;
    if (where == GEN_NONE)
        return true;
    ctx->scratch_used = 0;
    gen_eval(ctx, where, &value);
    return holds(&value);
}

uint64_t gen_answer(const struct gen_pool *pool, const struct gen_answer_query *query,
                    uint64_t *matching)
{
    struct gen_ctx ctx = {.pool = pool,
                          .seed = query->seed,
                          .stream = query->stream,
                          .client = 1};
    uint64_t sum = 0;
    *matching = 0;
    assert(query->count > 0);
    if (query->rows == 0)
        return 0;
    struct arena *scratch = arena_create(ARENA_BLOCK_BYTES);
    struct value *values = arena_array(scratch, struct value, query->count);
    ctx.scratch_room = answer_scratch(pool, query);
    ctx.scratch = arena_array(scratch, char, ctx.scratch_room + 1u);
    for (uint64_t i = 0; i < query->rows; i++) {
        ctx.row = query->first + i;
        if (!is_kept(&ctx, query->where))
            continue;
        ctx.scratch_used = 0;
        for (uint32_t c = 0; c < query->count; c++)
            gen_eval(&ctx, query->trees[c], &values[c]);
        sum += value_row_hash(values, query->count);
        ++*matching;
    }
    arena_destroy(&scratch);
    return sum;
}
