#include "base/arena.h"
#include "gen/gen.h"
#include "testing.h"

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

static struct value value_at(struct fixture *f, gen_id id, uint64_t row)
{
    assert_int_not_equal(id, GEN_NONE);
    struct gen_ctx ctx = {.pool = &f->pool, .seed = 42, .stream = 5, .row = row, .client = 3};
    struct value out;
    gen_eval(&ctx, id, &out);
    return out;
}

static int64_t number(struct fixture *f, gen_id id, uint64_t row)
{
    struct value out = value_at(f, id, row);
    assert_int_equal(out.type, VALUE_INT);
    return out.as.i;
}

static gen_id constant(struct fixture *f, struct value value)
{
    return gen_const(&f->pool, &value);
}

static void counters(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    for (int64_t row = 1; row <= 20; row++) {
        uint64_t at = (uint64_t)row;
        assert_int_equal(number(f, gen_row(p), at), row);
        assert_int_equal(number(f, gen_client(p), at), 3);
        assert_int_equal(number(f, gen_sequence(p, 100, -7), at), 100 - (row - 1) * 7);
        assert_int_equal(number(f, gen_round_robin(p, 3), at), 1 + (row - 1) % 3);
        assert_int_equal(number(f, gen_affine(p, 3, gen_row(p), -4), at), 3 * row - 4);
        assert_int_equal(number(f, gen_modulo(p, gen_row(p), 7), at), row % 7);
        assert_int_equal(number(f, gen_modulo(p, gen_affine(p, -1, gen_row(p), 0), 7), at),
                         (70 - row) % 7);
    }
}

static void overflow_of_a_sequence_is_real(void **state)
{
    struct fixture *f = *state;
    struct value v = value_at(f, gen_sequence(&f->pool, INT64_MAX, 1), 2);
    assert_int_equal(v.type, VALUE_REAL);
    assert_true(v.as.r == 0x1p63);
}

static void null_and_text_children(void **state)
{
    struct fixture *f = *state;
    gen_id null = constant(f, (struct value){0});
    assert_int_equal(value_at(f, gen_modulo(&f->pool, null, 5), 1).type, VALUE_NULL);
    assert_int_equal(value_at(f, gen_affine(&f->pool, 2, null, 5), 1).type, VALUE_NULL);
    assert_int_equal(value_at(f, gen_permute(&f->pool, null, 5), 1).type, VALUE_NULL);
    assert_int_equal(value_at(f, gen_at(&f->pool, gen_row(&f->pool), 1, null), 1).type,
                     VALUE_NULL);
    gen_id text = constant(f, value_text("17", 2));
    assert_int_equal(number(f, gen_modulo(&f->pool, text, 5), 1), 2);
    gen_id real = constant(f, value_real(7.5));
    assert_true(value_at(f, gen_modulo(&f->pool, real, 5), 1).as.r == 2.5);
}

static void variables_and_bounds(void **state)
{
    struct fixture *f = *state;
    gen_id sum = gen_arith(&f->pool, GEN_SUB, gen_var(&f->pool, 1), gen_bound(&f->pool, 0));
    const struct value vars[] = {value_int(1), value_int(20)};
    const struct value bound[] = {value_int(5)};
    struct gen_ctx ctx = {.pool = &f->pool, .row = 1, .vars = vars, .bound = bound};
    struct value out;
    gen_eval(&ctx, sum, &out);
    assert_int_equal(out.as.i, 15);
    assert_int_equal(value_at(f, sum, 1).type, VALUE_NULL); /* none given */
}

static void arguments_out_of_range_are_refused(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    double nan = 0.0 / (double)(p->count * 0);
    assert_int_equal(gen_modulo(p, gen_row(p), 0), GEN_NONE);
    assert_int_equal(gen_round_robin(p, 0), GEN_NONE);
    assert_int_equal(gen_permute(p, gen_row(p), 0), GEN_NONE);
    assert_int_equal(gen_uniform(p, 1, 0), GEN_NONE);
    assert_int_equal(gen_zipf(p, 0, 1), GEN_NONE);
    assert_int_equal(gen_zipf(p, 10, 0), GEN_NONE);
    assert_int_equal(gen_zipf(p, 10, nan), GEN_NONE);
    assert_int_equal(gen_zipf(p, 10, -1), GEN_NONE);
    assert_int_equal(gen_zipf(p, INT64_MAX, 1), GEN_NONE);
    assert_int_equal(gen_latest(p, 0, 1), GEN_NONE);
    assert_int_equal(gen_gaussian(p, 2, 1, 3), GEN_NONE);
    assert_int_equal(gen_gaussian(p, 1, 2, 0), GEN_NONE);
    assert_int_equal(gen_exponential(p, 2, 1, 3), GEN_NONE);
    assert_int_equal(gen_exponential(p, 1, 2, nan), GEN_NONE);
    assert_int_equal(gen_hotspot(p, 0, 0.1, 0.9), GEN_NONE);
    assert_int_equal(gen_hotspot(p, 10, 0, 0.9), GEN_NONE);
    assert_int_equal(gen_hotspot(p, 10, 0.1, 1.1), GEN_NONE);
    assert_int_equal(gen_choice(p, NULL, 0), GEN_NONE);
    assert_int_equal(gen_arith(p, GEN_ADD, gen_row(p), GEN_NONE), GEN_NONE);
    assert_int_equal(gen_arith(p, GEN_ADD, GEN_NONE, gen_row(p)), GEN_NONE);
    assert_int_equal(gen_at(p, GEN_NONE, 1, gen_row(p)), GEN_NONE);
}

static void within(struct fixture *f, gen_id id, int64_t lo, int64_t hi)
{
    for (uint64_t row = 1; row <= 2000; row++) {
        int64_t v = number(f, id, row);
        if (v < lo || v > hi)
            fail_msg("node %u gave %jd in row %ju", id, (intmax_t)v, (uintmax_t)row);
    }
}

static void laws_stay_in_range(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    within(f, gen_uniform(p, INT64_MIN, INT64_MAX), INT64_MIN, INT64_MAX);
    within(f, gen_uniform(p, -3, 3), -3, 3);
    within(f, gen_uniform(p, 5, 5), 5, 5);
    within(f, gen_zipf(p, 1, 1), 1, 1);
    within(f, gen_zipf(p, 2, 1000), 1, 2);
    within(f, gen_zipf(p, INT64_C(1) << 53, 0.01), 1, INT64_C(1) << 53);
    within(f, gen_zipf(p, 1000, 1), 1, 1000);
    within(f, gen_latest(p, 1000, 1.2), 1, 1000);
    within(f, gen_gaussian(p, -5, 5, 2.5), -5, 5);
    within(f, gen_gaussian(p, INT64_MIN, INT64_MAX, 5), INT64_MIN, INT64_MAX);
    within(f, gen_gaussian(p, 0, 9, 0.001), 0, 9);
    within(f, gen_gaussian(p, 0, 9, 1000), 0, 9);
    within(f, gen_exponential(p, 10, 20, 5), 10, 20);
    within(f, gen_exponential(p, 10, 20, 1e-12), 10, 20);
    within(f, gen_exponential(p, 10, 20, 1000), 10, 20);
    within(f, gen_hotspot(p, 10, 1, 0.5), 1, 10);
    within(f, gen_hotspot(p, 10, 1e-9, 1), 1, 1);
    within(f, gen_hotspot(p, 10, 0.5, 0), 6, 10);
    within(f, gen_hotspot(p, INT64_MAX, 0.5, 0.5), 1, INT64_MAX);
}

static void evaluation_has_no_state(void **state)
{
    struct fixture *f = *state;
    gen_id id = gen_zipf(&f->pool, 1000, 0.99);
    int64_t forward[100];
    for (uint64_t row = 1; row <= 100; row++)
        forward[row - 1] = number(f, id, row);
    for (uint64_t row = 100; row >= 1; row--)
        assert_int_equal(number(f, id, row), forward[row - 1]);
}

static void evaluation_allocates_nothing(void **state)
{
    struct fixture *f = *state;
    gen_id list[] = {gen_zipf(&f->pool, 100, 1), gen_uniform(&f->pool, 1, 9)};
    gen_id id = gen_format(&f->pool, "%d-%d", list, 2);
    char scratch[128];
    struct gen_ctx ctx = {.pool = &f->pool, .scratch = scratch, .scratch_room = 128};
    uint64_t before = arena_calls();
    for (ctx.row = 1; ctx.row < 100; ctx.row++) {
        struct value out;
        ctx.scratch_used = 0;
        gen_eval(&ctx, id, &out);
    }
    assert_int_equal(arena_calls(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counters, setup, teardown),
        cmocka_unit_test_setup_teardown(overflow_of_a_sequence_is_real, setup, teardown),
        cmocka_unit_test_setup_teardown(null_and_text_children, setup, teardown),
        cmocka_unit_test_setup_teardown(variables_and_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(arguments_out_of_range_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(laws_stay_in_range, setup, teardown),
        cmocka_unit_test_setup_teardown(evaluation_has_no_state, setup, teardown),
        cmocka_unit_test_setup_teardown(evaluation_allocates_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
