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

static struct value apply(struct fixture *f, enum gen_operator op, struct value a,
                          struct value b)
{
    gen_id id = gen_arith(&f->pool, op, gen_const(&f->pool, &a), gen_const(&f->pool, &b));
    assert_int_not_equal(id, GEN_NONE);
    struct gen_ctx ctx = {.pool = &f->pool, .row = 1};
    struct value out = {.bytes = 99};
    gen_eval(&ctx, id, &out);
    return out;
}

static void expect_int(struct fixture *f, enum gen_operator op, int64_t a, int64_t b,
                       int64_t want)
{
    struct value got = apply(f, op, value_int(a), value_int(b));
    assert_int_equal(got.type, VALUE_INT);
    assert_int_equal(got.as.i, want);
}

static void expect_real(struct value got, double want)
{
    assert_int_equal(got.type, VALUE_REAL);
    assert_true(got.as.r == want);
}

static void expect_null(struct value got)
{
    assert_int_equal(got.type, VALUE_NULL);
}

static struct value text_value(const char *t)
{
    return value_text(t, (uint32_t)strlen(t));
}

static void whole_numbers_stay_whole(void **state)
{
    struct fixture *f = *state;
    expect_int(f, GEN_ADD, 2, 3, 5);
    expect_int(f, GEN_SUB, 2, 3, -1);
    expect_int(f, GEN_MUL, -4, 3, -12);
    expect_int(f, GEN_NEG, 7, 0, -7);
    expect_real(apply(f, GEN_DIV, value_int(7), value_int(2)), 3.5);
}

static void division_floors_as_in_lua(void **state)
{
    struct fixture *f = *state;
    const int64_t cases[][4] = {
        {7,         3,         2,             1 },
        {-7,        3,         -3,            2 },
        {7,         -3,        -3,            -2},
        {-7,        -3,        2,             -1},
        {6,         3,         2,             0 },
        {-6,        3,         -2,            0 },
        {0,         5,         0,             0 },
        {5,         -1,        -5,            0 },
        {INT64_MIN, 2,         INT64_MIN / 2, 0 },
        {1,         INT64_MAX, 0,             1 }
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_int(f, GEN_IDIV, cases[i][0], cases[i][1], cases[i][2]);
        expect_int(f, GEN_MOD, cases[i][0], cases[i][1], cases[i][3]);
    }
    expect_real(apply(f, GEN_IDIV, value_real(-7.5), value_int(2)), -4);
    expect_real(apply(f, GEN_MOD, value_real(-7.5), value_int(2)), 0.5);
    expect_real(apply(f, GEN_MOD, value_real(7.5), value_int(-2)), -0.5);
}

static void overflow_becomes_a_real(void **state)
{
    struct fixture *f = *state;
    expect_real(apply(f, GEN_ADD, value_int(INT64_MAX), value_int(1)), 0x1p63);
    expect_real(apply(f, GEN_SUB, value_int(INT64_MIN), value_int(1)), -0x1p63);
    expect_real(apply(f, GEN_MUL, value_int(INT64_MAX), value_int(2)), 0x1p64);
    expect_real(apply(f, GEN_NEG, value_int(INT64_MIN), value_int(0)), 0x1p63);
    expect_real(apply(f, GEN_IDIV, value_int(INT64_MIN), value_int(-1)), 0x1p63);
    expect_int(f, GEN_MOD, INT64_MIN, -1, 0);
}

static void division_by_zero_is_null(void **state)
{
    struct fixture *f = *state;
    const enum gen_operator ops[] = {GEN_DIV, GEN_IDIV, GEN_MOD};
    for (size_t i = 0; i < 3; i++) {
        expect_null(apply(f, ops[i], value_int(1), value_int(0)));
        expect_null(apply(f, ops[i], value_real(1.5), value_int(0)));
    }
    expect_null(apply(f, GEN_SUB, value_real(1e308 * 10), value_real(1e308 * 10)));
}

static void null_in_null_out(void **state)
{
    struct fixture *f = *state;
    struct value null = {0};
    for (int op = GEN_ADD; op <= GEN_NOT; op++) {
        expect_null(apply(f, (enum gen_operator)op, null, value_int(1)));
        if (op != GEN_NEG && op != GEN_NOT)
            expect_null(apply(f, (enum gen_operator)op, value_int(1), null));
    }
}

static void comparisons_and_logic(void **state)
{
    struct fixture *f = *state;
    for (int64_t a = -1; a <= 1; a++) {
        for (int64_t b = -1; b <= 1; b++) {
            expect_int(f, GEN_EQ, a, b, a == b);
            expect_int(f, GEN_NE, a, b, a != b);
            expect_int(f, GEN_LT, a, b, a < b);
            expect_int(f, GEN_LE, a, b, a <= b);
            expect_int(f, GEN_GT, a, b, a > b);
            expect_int(f, GEN_GE, a, b, a >= b);
            expect_int(f, GEN_AND, a, b, a && b);
            expect_int(f, GEN_OR, a, b, a || b);
            expect_int(f, GEN_NOT, a, b, !a);
        }
    }
    expect_int(f, GEN_LT, INT64_MAX - 1, INT64_MAX, 1);
    assert_int_equal(apply(f, GEN_EQ, value_int(2), value_real(2.0)).as.i, 1);
    assert_int_equal(apply(f, GEN_LT, value_real(1.5), value_int(2)).as.i, 1);
}

static void text_compares_by_bytes_and_reads_as_number(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(apply(f, GEN_LT, text_value("10"), text_value("9")).as.i, 1);
    assert_int_equal(apply(f, GEN_LT, text_value("ab"), text_value("abc")).as.i, 1);
    assert_int_equal(apply(f, GEN_EQ, text_value("abc"), text_value("abc")).as.i, 1);
    assert_int_equal(apply(f, GEN_GT, text_value("\xc3"), text_value("a")).as.i, 1);
    assert_int_equal(apply(f, GEN_ADD, text_value("10"), value_int(5)).as.i, 15);
    assert_int_equal(apply(f, GEN_EQ, text_value("2.50"), value_real(2.5)).as.i, 1);
    expect_null(apply(f, GEN_ADD, text_value("ten"), value_int(5)));
    expect_null(apply(f, GEN_EQ, text_value("ten"), value_int(5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_numbers_stay_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(division_floors_as_in_lua, setup, teardown),
        cmocka_unit_test_setup_teardown(overflow_becomes_a_real, setup, teardown),
        cmocka_unit_test_setup_teardown(division_by_zero_is_null, setup, teardown),
        cmocka_unit_test_setup_teardown(null_in_null_out, setup, teardown),
        cmocka_unit_test_setup_teardown(comparisons_and_logic, setup, teardown),
        cmocka_unit_test_setup_teardown(text_compares_by_bytes_and_reads_as_number, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
