/* The inline draw gives what gen_eval gives. */
#include "gen/quick.h"
#include "testing.h"

static void test_same_values(void **state)
{
    (void)state;
    struct arena *arena = arena_create(4096);
    struct test_random random = test_random_init();
    struct gen_pool pool;
    uint32_t drawn = 0;
    gen_pool_init(&pool, arena);
    for (int round = 0; round < 200; round++) {
        int64_t lo = (int64_t)test_random_below(&random, 1000) - 500;
        uint64_t span =
            round % 2 ? test_random_u64(&random) >> 1 : test_random_below(&random, 100);
        int64_t hi = span > INT64_MAX - 1000 ? INT64_MAX : lo + (int64_t)span;
        gen_id id = gen_uniform(&pool, lo, hi);
        struct gen_ctx ctx = {.pool = &pool,
                              .seed = test_random_u64(&random),
                              .stream = test_random_u64(&random)};
        struct gen_quick quick;
        assert_true(gen_quick_make(&pool, id, ctx.seed, ctx.stream, &quick));
        for (ctx.row = 1; ctx.row <= 100; ctx.row++) {
            struct value value;
            int64_t got;
            gen_eval(&ctx, id, &value);
            if (!gen_quick_draw(&quick, ctx.row, &got))
                continue; /* bits to be drawn again */
            assert_int_equal(got, value.as.i);
            drawn++;
        }
    }
    assert_true(drawn > 10000);
    arena_destroy(&arena);
}

static void test_others_are_not_quick(void **state)
{
    (void)state;
    struct arena *arena = arena_create(4096);
    struct gen_pool pool;
    struct gen_quick quick;
    gen_pool_init(&pool, arena);
    assert_false(gen_quick_make(&pool, gen_row(&pool), 1, 2, &quick));
    assert_false(gen_quick_make(&pool, gen_zipf(&pool, 10, 1.0), 1, 2, &quick));
    assert_false(gen_quick_make(&pool, gen_uniform(&pool, INT64_MIN, INT64_MAX), 1, 2, &quick));
    arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_values),
        cmocka_unit_test(test_others_are_not_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
