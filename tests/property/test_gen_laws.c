/*
 * Laws of the generators over random arguments.
 *
 * links: base math gen */

#include "base/arena.h"
#include "gen/gen.h"
#include "testing.h"

#include <string.h>

struct fixture {
    struct arena *arena;
    struct gen_pool pool;
    struct test_random random;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->arena = arena_create(4096);
    gen_pool_init(&f->pool, f->arena);
    f->random = test_random_init();
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

static int64_t number(const struct fixture *f, gen_id id, uint64_t stream, uint64_t row)
{
    struct gen_ctx ctx = {.pool = &f->pool, .seed = 42, .stream = stream, .row = row};
    struct value out;
    gen_eval(&ctx, id, &out);
    assert_int_equal(out.type, VALUE_INT);
    return out.as.i;
}

static void small_permutations_are_bijections(void **state)
{
    struct fixture *f = *state;
    uint64_t stream = test_random_u64(&f->random);
    for (int64_t n = 1; n <= 300; n++) {
        bool seen[301] = {false};
        gen_id id = gen_permute(&f->pool, gen_row(&f->pool), n);
        for (int64_t row = 1; row <= n; row++) {
            int64_t v = number(f, id, stream, (uint64_t)row);
            assert_true(v >= 1 && v <= n && !seen[v]);
            assert_int_equal(number(f, id, stream, (uint64_t)(row + n)), v);
            seen[v] = true;
        }
    }
}

/* Of 2^20 numbers and a few more or less, every one is hit. */
static void a_large_permutation_is_a_bijection(void **state)
{
    struct fixture *f = *state;
    uint64_t n = (1 << 20) - 5 + test_random_below(&f->random, 10);
    gen_id id = gen_permute(&f->pool, gen_row(&f->pool), (int64_t)n);
    assert_int_equal(gen_distinct(&f->pool, 42, 1, id, 1, n), n);
}

/* Too large to try all: random neighbourhoods have no collision, and stay within 1 .. n. */
static void huge_permutations_do_not_collide(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 50; i++) {
        int64_t n =
            (int64_t)(test_random_u64(&f->random) >> (1 + test_random_below(&f->random, 30)));
        gen_id id = gen_permute(&f->pool, gen_row(&f->pool), n);
        uint64_t first = 1 + test_random_below(&f->random, (uint64_t)n - 1000);
        assert_int_equal(gen_distinct(&f->pool, 42, 1, id, first, 1000), 1000);
        for (uint64_t row = first; row < first + 1000; row++) {
            int64_t v = number(f, id, 1, row);
            assert_true(v >= 1 && v <= n);
        }
    }
}

static void modulo_of_anything_lies_in_range(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 20000; i++) {
        int64_t x = (int64_t)(test_random_u64(&f->random) >> test_random_below(&f->random, 63));
        int64_t m = 1 + (int64_t)(test_random_u64(&f->random) >>
                                  (1 + test_random_below(&f->random, 62)));
        struct value value = value_int(i % 2 ? x : -x);
        gen_id id = gen_modulo(&f->pool, gen_const(&f->pool, &value), m);
        int64_t rest = number(f, id, 1, 1);
        assert_true(rest >= 0 && rest < m);
        assert_true((__int128_t)(value.as.i - (__int128_t)rest) % m == 0);
    }
}

/* a == (a // b) * b + a % b, and the rest has the sign of b. */
static void floor_division_and_rest_belong_together(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 20000; i++) {
        int64_t a = (int64_t)test_random_u64(&f->random) >> test_random_below(&f->random, 63);
        int64_t b = (int64_t)test_random_u64(&f->random) >> test_random_below(&f->random, 63);
        if (b == 0 || b == -1)
            continue;
        struct value x = value_int(a);
        struct value y = value_int(b);
        gen_id left = gen_const(&f->pool, &x);
        gen_id right = gen_const(&f->pool, &y);
        int64_t quotient = number(f, gen_arith(&f->pool, GEN_IDIV, left, right), 1, 1);
        int64_t rest = number(f, gen_arith(&f->pool, GEN_MOD, left, right), 1, 1);
        assert_true((__int128_t)quotient * b + rest == a);
        assert_true(rest == 0 || (rest < 0) == (b < 0));
    }
}

/* gen_distinct against sorting, over ranges that take its two ways. */
static int order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void distinct_agrees_with_sorting(void **state)
{
    struct fixture *f = *state;
    enum { ROWS = 2000 };
    for (unsigned bits = 1; bits < 60; bits += 3) {
        int64_t values[ROWS];
        gen_id id = gen_uniform(&f->pool, -5, (INT64_C(1) << bits) - 5);
        uint64_t stream = test_random_u64(&f->random);
        for (size_t i = 0; i < ROWS; i++)
            values[i] = number(f, id, stream, i + 1);
        qsort(values, ROWS, sizeof(values[0]), order);
        uint64_t want = 1;
        for (size_t i = 1; i < ROWS; i++)
            want += values[i] != values[i - 1];
        assert_int_equal(gen_distinct(&f->pool, 42, stream, id, 1, ROWS), want);
    }
}

/* A random tree of sums over shared and unshared draws, against the same sum of the plain
 * nodes: the rule of draws must not depend on how a tree was put together. */
static void sums_do_not_depend_on_their_shape(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    gen_id nodes[4];
    for (size_t i = 0; i < 4; i++)
        nodes[i] = gen_uniform(p, 0, 1000000);
    gen_id base = gen_affine(p, 0, nodes[0], 0); /* fixes the order of the four */
    for (size_t i = 1; i < 4; i++)
        base = gen_arith(p, GEN_ADD, base, gen_affine(p, 0, nodes[i], 0));
    for (int i = 0; i < 200; i++) {
        int64_t factors[4] = {0};
        gen_id tree = base;
        for (int k = 0; k < 12; k++) {
            size_t pick = test_random_below(&f->random, 4);
            factors[pick]++;
            tree = k % 3
                       ? gen_arith(p, GEN_ADD, tree, nodes[pick])
                       : gen_arith(p, GEN_ADD, gen_arith(p, GEN_ADD, base, nodes[pick]), tree);
        }
        gen_id plain = base;
        for (size_t k = 0; k < 4; k++)
            plain = gen_arith(p, GEN_ADD, plain, gen_affine(p, factors[k], nodes[k], 0));
        for (uint64_t row = 1; row <= 10; row++)
            assert_int_equal(number(f, tree, 1, row), number(f, plain, 1, row));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_permutations_are_bijections, setup, teardown),
        cmocka_unit_test_setup_teardown(a_large_permutation_is_a_bijection, setup, teardown),
        cmocka_unit_test_setup_teardown(huge_permutations_do_not_collide, setup, teardown),
        cmocka_unit_test_setup_teardown(modulo_of_anything_lies_in_range, setup, teardown),
        cmocka_unit_test_setup_teardown(floor_division_and_rest_belong_together, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(distinct_agrees_with_sorting, setup, teardown),
        cmocka_unit_test_setup_teardown(sums_do_not_depend_on_their_shape, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
