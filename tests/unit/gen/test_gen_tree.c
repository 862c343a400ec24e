#include "base/arena.h"
#include "gen/gen.h"
#include "testing.h"

struct fixture {
    struct arena *arena;
    struct gen_pool pool;
    char scratch[4096];
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

static int64_t number(struct fixture *f, gen_id id, uint64_t stream, uint64_t row)
{
    struct gen_ctx ctx = {.pool = &f->pool, .seed = 42, .stream = stream, .row = row};
    ctx.scratch = f->scratch;
    ctx.scratch_room = sizeof(f->scratch);
    struct value out;
    gen_eval(&ctx, id, &out);
    assert_int_equal(out.type, VALUE_INT);
    return out.as.i;
}

static gen_id wide(struct fixture *f)
{
    return gen_uniform(&f->pool, 0, INT64_C(1) << 40);
}

/* Rows in which a predicate over wide draws holds. */
static unsigned rows_equal(struct fixture *f, gen_id a, gen_id b)
{
    gen_id equal = gen_arith(&f->pool, GEN_EQ, a, b);
    unsigned count = 0;
    for (uint64_t row = 1; row <= 100; row++)
        count += (unsigned)number(f, equal, 7, row);
    return count;
}

static void a_node_used_twice_is_one_draw(void **state)
{
    struct fixture *f = *state;
    gen_id a = wide(f);
    assert_int_equal(rows_equal(f, a, a), 100);
    gen_id more = gen_affine(&f->pool, 1, a, 0);
    assert_int_equal(rows_equal(f, more, a), 100);
}

static void two_equal_nodes_are_two_draws(void **state)
{
    struct fixture *f = *state;
    gen_id a = wide(f);
    gen_id b = wide(f);
    assert_int_equal(rows_equal(f, a, b), 0);
    assert_int_equal(rows_equal(f, gen_affine(&f->pool, 1, a, 0),
                                gen_affine(&f->pool, 1, b, 0)),
                     0);
}

/* The second use of a node that had to be copied finds its copy's draw. */
static void a_copied_node_keeps_its_draw(void **state)
{
    struct fixture *f = *state;
    gen_id a = wide(f);
    gen_id b = wide(f);
    gen_id sum = gen_arith(&f->pool, GEN_ADD, a, b);
    gen_id rest = gen_arith(&f->pool, GEN_SUB, sum, a);
    assert_int_equal(rows_equal(f, rest, b), 100);
    gen_id other = gen_arith(&f->pool, GEN_SUB, sum, b);
    assert_int_equal(rows_equal(f, other, a), 100);
    assert_int_equal(rows_equal(f, gen_arith(&f->pool, GEN_SUB, rest, b), wide(f)), 0);
}

static void building_a_tree_leaves_others_alone(void **state)
{
    struct fixture *f = *state;
    gen_id a = wide(f);
    gen_id b = wide(f);
    int64_t before = number(f, b, 7, 1);
    gen_arith(&f->pool, GEN_ADD, a, b);
    assert_int_equal(number(f, b, 7, 1), before);
}

/* A column's values depend on its own tree and stream, not on what was built before it. */
static void values_do_not_depend_on_the_pool(void **state)
{
    struct fixture *f = *state;
    gen_id first = gen_arith(&f->pool, GEN_SUB, wide(f), wide(f));
    gen_zipf(&f->pool, 10, 1);
    gen_choice(&f->pool, &first, 1);
    gen_id again = gen_arith(&f->pool, GEN_SUB, wide(f), wide(f));
    for (uint64_t row = 1; row <= 20; row++)
        assert_int_equal(number(f, first, 7, row), number(f, again, 7, row));
}

static void at_gives_what_the_column_gives(void **state)
{
    struct fixture *f = *state;
    gen_id column = gen_arith(&f->pool, GEN_SUB, wide(f), wide(f));
    uint64_t stream = gen_stream("users", "age", 0);
    gen_id which = gen_uniform(&f->pool, 1, 50);
    gen_id at = gen_at(&f->pool, column, stream, which);
    gen_id with_neighbour =
        gen_arith(&f->pool, GEN_MUL,
                  gen_arith(&f->pool, GEN_MUL, wide(f),
                            gen_const(&f->pool, &(struct value){.type = VALUE_INT})),
                  at);
    gen_id both = gen_arith(&f->pool, GEN_ADD, at, with_neighbour);
    for (uint64_t row = 1; row <= 20; row++) {
        int64_t want = number(f, column, stream, (uint64_t)number(f, which, 9, row));
        assert_int_equal(number(f, at, 9, row), want);
        assert_int_equal(number(f, both, 9, row), want);
    }
}

static void choice_and_its_children_draw_apart(void **state)
{
    struct fixture *f = *state;
    gen_id children[2] = {gen_uniform(&f->pool, 0, 1), gen_uniform(&f->pool, 0, 1)};
    gen_id pick = gen_choice(&f->pool, children, 2);
    unsigned ones = 0;
    for (uint64_t row = 1; row <= 1000; row++)
        ones += (unsigned)number(f, pick, 7, row);
    assert_in_range(ones, 400, 600);
}

static void depth_and_size_are_limited(void **state)
{
    struct fixture *f = *state;
    gen_id deep = gen_row(&f->pool);
    for (int i = 1; i < GEN_DEPTH_MAX; i++)
        deep = gen_affine(&f->pool, 1, deep, 1);
    assert_int_equal(number(f, deep, 7, 1), GEN_DEPTH_MAX);
    assert_null(f->pool.fault);
    assert_int_equal(gen_affine(&f->pool, 1, deep, 1), GEN_NONE);
    assert_non_null(f->pool.fault);

    gen_pool_init(&f->pool, f->arena);
    gen_id twice = gen_row(&f->pool); /* doubles at each step: 2^60 nodes if nobody looked */
    for (int i = 0; i < 60 && twice != GEN_NONE; i++)
        twice = gen_arith(&f->pool, GEN_ADD, twice, twice);
    assert_int_equal(twice, GEN_NONE);
    assert_non_null(f->pool.fault);
}

static void draws_are_limited(void **state)
{
    struct fixture *f = *state;
    gen_id children[257];
    for (size_t i = 0; i < 257; i++)
        children[i] = gen_uniform(&f->pool, 1, 2);
    assert_int_not_equal(gen_choice(&f->pool, children, 255), GEN_NONE);
    assert_int_equal(gen_choice(&f->pool, children, 257), GEN_NONE);
}

static void the_first_fault_is_kept(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(gen_uniform(&f->pool, 2, 1), GEN_NONE);
    const char *first = f->pool.fault;
    assert_non_null(first);
    assert_int_equal(gen_modulo(&f->pool, gen_row(&f->pool), 0), GEN_NONE);
    assert_ptr_equal(f->pool.fault, first);
    assert_int_equal(gen_affine(&f->pool, 1, GEN_NONE, 1), GEN_NONE);
}

static void constant_or_not(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *p = &f->pool;
    struct value five = value_int(5);
    gen_id constant = gen_const(p, &five);
    assert_true(gen_is_constant(p, constant));
    assert_true(gen_is_constant(p, gen_arith(p, GEN_ADD, constant, constant)));
    assert_true(gen_is_constant(p, gen_modulo(p, gen_affine(p, 2, constant, 1), 3)));
    const gen_id moving[] = {
        gen_row(p),           gen_client(p),         gen_var(p, 0),
        gen_bound(p, 0),      gen_sequence(p, 1, 1), gen_round_robin(p, 3),
        gen_uniform(p, 1, 2), gen_uuid7(p, 0),       gen_permute(p, constant, 5)};
    for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++) {
        assert_false(gen_is_constant(p, moving[i]));
        assert_false(gen_is_constant(p, gen_affine(p, 2, moving[i], 1)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_node_used_twice_is_one_draw, setup, teardown),
        cmocka_unit_test_setup_teardown(two_equal_nodes_are_two_draws, setup, teardown),
        cmocka_unit_test_setup_teardown(a_copied_node_keeps_its_draw, setup, teardown),
        cmocka_unit_test_setup_teardown(building_a_tree_leaves_others_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(values_do_not_depend_on_the_pool, setup, teardown),
        cmocka_unit_test_setup_teardown(at_gives_what_the_column_gives, setup, teardown),
        cmocka_unit_test_setup_teardown(choice_and_its_children_draw_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(depth_and_size_are_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(draws_are_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_fault_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(constant_or_not, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
