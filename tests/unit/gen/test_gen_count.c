#include "base/arena.h"
#include "gen/gen.h"
#include "testing.h"

#include <string.h>

struct fixture {
    struct arena *arena;
    struct gen_pool pool;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->arena = arena_create(4096);
    gen_pool_init(&f->pool, f->arena);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_destroy(&f->arena);
    test_free(f);
    return 0;
}

static gen_id whole(struct fixture *f, int64_t i)
{
    struct value value = value_int(i);
    return gen_const(&f->pool, &value);
}

static uint64_t distinct(struct fixture *f, gen_id tree, uint64_t rows)
{
    return gen_distinct(&f->pool, 42, 1, tree, 1, rows);
}

static void counts_match_arithmetic(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    gen_id age = gen_modulo(p, gen_row(p), 100);
    gen_id old = gen_arith(p, GEN_GT, age, whole(f, 90));
    assert_int_equal(gen_count(p, 42, 1, old, 1, 10000), 900);
    assert_int_equal(gen_count(p, 42, 1, old, 1, 90), 0);
    assert_int_equal(gen_count(p, 42, 1, old, 91, 9), 9);
    assert_int_equal(gen_count(p, 42, 1, old, 1, 0), 0);
    assert_int_equal(gen_count(p, 42, 1, age, 1, 100), 99); /* not 0 */
    gen_id null = gen_arith(p, GEN_DIV, age, whole(f, 0));
    assert_int_equal(gen_count(p, 42, 1, null, 1, 100), 0);
}

static void count_sees_the_loaded_values(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    gen_id draw = gen_uniform(p, 0, 9);
    uint64_t stream = gen_stream("users", "x", 0);
    uint64_t want = 0;
    struct gen_ctx ctx = {.pool = p, .seed = 7, .stream = stream};
    for (ctx.row = 1; ctx.row <= 5000; ctx.row++) {
        struct value v;
        gen_eval(&ctx, draw, &v);
        want += v.as.i == 3;
    }
    gen_id predicate = gen_arith(p, GEN_EQ, draw, whole(f, 3));
    assert_int_equal(gen_count(p, 7, stream, predicate, 1, 5000), want);
    gen_id at = gen_arith(p, GEN_EQ, gen_at(p, draw, stream, gen_row(p)), whole(f, 3));
    assert_int_equal(gen_count(p, 7, 999, at, 1, 5000), want);
    assert_in_range(want, 400, 600);
}

static void count_of_long_texts(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    /* 6,000 equal bytes, then a digit: only a scratch of full size tells them apart */
    const gen_id list[] = {gen_text(p, 6000, 0), gen_modulo(p, gen_row(p), 10)};
    char *long_text = arena_array(f->arena, char, 6001);
    memset(long_text, 'x', 6000);
    long_text[6000] = '4';
    struct value value = value_text(long_text, 6001);
    gen_id predicate =
        gen_arith(p, GEN_EQ, gen_format(p, "%s%d", list, 2), gen_const(p, &value));
    assert_int_equal(gen_count(p, 42, 1, predicate, 1, 100), 10);
}

static void distinct_numbers(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    assert_int_equal(distinct(f, gen_row(p), 5000), 5000);
    assert_int_equal(distinct(f, gen_modulo(p, gen_row(p), 100), 5000), 100);
    assert_int_equal(distinct(f, gen_permute(p, gen_row(p), 777), 5000), 777);
    assert_int_equal(distinct(f, whole(f, -5), 5000), 1);
    assert_int_equal(distinct(f, gen_row(p), 0), 0);
    /* far apart: the hashed way */
    assert_int_equal(distinct(f, gen_affine(p, INT64_C(1) << 40, gen_row(p), INT64_MIN), 3000),
                     3000);
    gen_id few = gen_affine(p, INT64_C(1) << 40, gen_modulo(p, gen_row(p), 33), 0);
    assert_int_equal(distinct(f, few, 3000), 33);
    assert_int_equal(distinct(f, gen_uniform(p, INT64_MIN, INT64_MAX), 5000), 5000);
}

static void distinct_texts_and_mixed(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    const gen_id list[] = {gen_modulo(p, gen_row(p), 250)};
    assert_int_equal(distinct(f, gen_format(p, "user%d", list, 1), 5000), 250);
    assert_int_equal(distinct(f, gen_uuid7(p, 0), 5000), 5000);
    struct value mixed[] = {value_int(2),
                            value_real(2.0),
                            value_real(2.5),
                            value_text("2", 1),
                            {.type = VALUE_NULL}};
    gen_id children[5];
    for (size_t i = 0; i < 5; i++)
        children[i] = gen_const(p, &mixed[i]);
    /* 2 and 2.0 are one number, the text is another value, NULL is none */
    assert_int_equal(distinct(f, gen_choice(p, children, 5), 500), 3);
    assert_int_equal(distinct(f, children[4], 500), 0);
}

/* ---- answers, against a loop that makes every row by itself */
static uint64_t brute_answer(const struct gen_pool *pool, const struct gen_answer_query *query,
                             uint64_t *matching)
{
    enum { COLUMNS = 4, ROOM = 8192 };
    static char room[COLUMNS][ROOM];
    uint64_t sum = 0;
    *matching = 0;
    assert_in_range(query->count, 1, COLUMNS);
    for (uint64_t row = query->first; row < query->first + query->rows; row++) {
        struct value values[COLUMNS];
        struct gen_ctx ctx = {.pool = pool,
                              .seed = query->seed,
                              .stream = query->stream,
                              .row = row};
        ctx.scratch = room[0];
        ctx.scratch_room = ROOM;
        if (query->where != GEN_NONE) {
            gen_eval(&ctx, query->where, &values[0]);
            assert_true(values[0].type == VALUE_INT || values[0].type == VALUE_NULL);
            if (values[0].type == VALUE_NULL || values[0].as.i == 0)
                continue;
        }
        for (uint32_t c = 0; c < query->count; c++) {
            ctx.scratch = room[c];
            ctx.scratch_used = 0;
            gen_eval(&ctx, query->trees[c], &values[c]);
        }
        sum += value_row_hash(values, query->count);
        ++*matching;
    }
    return sum;
}

static void answers_are_sums_over_rows(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    gen_id age = gen_modulo(p, gen_row(p), 100);
    const gen_id name[] = {gen_row(p)};
    /* A column in a stream of its own, long texts side by side, and NULL in some rows. */
    gen_id letters = gen_at(p, gen_text(p, 5000, 100), gen_stream("t", "x", 0), gen_row(p));
    gen_id null = gen_arith(p, GEN_IDIV, whole(f, 7), gen_modulo(p, gen_row(p), 3));
    const gen_id trees[] = {gen_format(p, "user%d", name, 1), letters, age, null};
    const gen_id wheres[] = {GEN_NONE, gen_arith(p, GEN_GT, age, whole(f, 90)), null,
                             whole(f, 0)};
    const uint64_t kept[] = {250, 18, 167, 0};
    struct gen_answer_query query = {
        .seed = 42, .stream = 5, .trees = trees, .count = 4, .first = 1, .rows = 250};
    for (size_t i = 0; i < 4; i++) {
        uint64_t found, want;
        query.where = wheres[i];
        uint64_t sum = gen_answer(p, &query, &found);
        assert_true(sum == brute_answer(p, &query, &want));
        assert_int_equal(found, want);
        assert_int_equal(found, kept[i]);
        assert_true((sum != 0) == (found > 0));
    }
}

static void answers_add_up(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    const gen_id trees[] = {gen_row(p), gen_uniform(p, 1, 1000)};
    const gen_id swapped[] = {trees[1], trees[0]};
    struct gen_answer_query query = {.seed = 1,
                                     .stream = 2,
                                     .trees = trees,
                                     .count = 2,
                                     .where = GEN_NONE,
                                     .first = 1,
                                     .rows = 100};
    uint64_t rows;
    uint64_t all = gen_answer(p, &query, &rows);
    query.rows = 40;
    uint64_t part = gen_answer(p, &query, &rows);
    query.first = 41;
    query.rows = 60;
    assert_true(part + gen_answer(p, &query, &rows) == all);
    assert_int_equal(rows, 60);
    query = (struct gen_answer_query){
        .seed = 1, .stream = 2, .trees = swapped, .count = 2, .where = GEN_NONE, .first = 1};
    assert_true(gen_answer(p, &query, &rows) == 0);
    assert_int_equal(rows, 0);
    query.rows = 100;
    assert_true(gen_answer(p, &query, &rows) != all); /* columns have their order */
}

static void streams_differ(void **state)
{
    (void)state;
    const uint64_t streams[] = {gen_stream("a", "b", 0), gen_stream("a", "b", 1),
                                gen_stream("ab", "", 0), gen_stream("", "ab", 0),
                                gen_stream("b", "a", 0), gen_stream("a", "", 0),
                                gen_stream("", "a", 0),  gen_stream("", "", 0)};
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(streams[i] != streams[k]);
    assert_true(gen_stream("users", "age", 3) == gen_stream("users", "age", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_match_arithmetic, setup, teardown),
        cmocka_unit_test_setup_teardown(count_sees_the_loaded_values, setup, teardown),
        cmocka_unit_test_setup_teardown(count_of_long_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(distinct_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(distinct_texts_and_mixed, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_are_sums_over_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_add_up, setup, teardown),
        cmocka_unit_test(streams_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
