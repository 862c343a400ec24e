/*
 * The generators against their theory: chi-square or Kolmogorov-Smirnov with fixed seeds, so
 * that a result is the same on every run. A p-value below 1e-4 means that the values do not
 * follow their law; one above 1 - 1e-9, that they follow it too well to be random.
 *
 * links: base math gen */

#include "base/arena.h"
#include "base/text.h"
#include "gen/gen.h"
#include "math/math.h"
#include "testing.h"

#include <math.h>
#include <string.h>

enum { BINS_MAX = 1000, GRID = 10, CELLS = GRID * GRID };

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

static int64_t draw(const struct fixture *f, gen_id id, uint64_t seed, uint64_t stream,
                    uint64_t row)
{
    struct gen_ctx ctx = {.pool = &f->pool, .seed = seed, .stream = stream, .row = row};
    struct value out;
    gen_eval(&ctx, id, &out);
    assert_int_equal(out.type, VALUE_INT);
    return out.as.i;
}

static void check_p(const char *name, double p)
{
    print_message("%-28s p = %.6f\n", name, p);
    if (!(p > 1e-4 && p < 1 - 1e-9))
        fail_msg("%s: p = %g", name, p);
}

/* Chi-square of counts against probabilities; bins are joined until 10 are expected in each. */
static double chi_square(const uint64_t *counts, const double *probability, size_t bins,
                         uint64_t n)
{
    double chi = 0;
    double expected = 0;
    double found = 0;
    double left = (double)n;
    unsigned groups = 0;
    for (size_t i = 0; i < bins; i++) {
        expected += probability[i] * (double)n;
        found += (double)counts[i];
        left -= probability[i] * (double)n;
        if (expected < 10 || (left < 10 && i + 1 < bins))
            continue;
        chi += (found - expected) * (found - expected) / expected;
        groups++;
        expected = 0;
        found = 0;
    }
    assert_true(groups > 1 && fabs(left) < 1e-6 * (double)n);
    return math_chi_square_tail(chi, groups - 1);
}

/* Draws `rows` values of lo .. lo + bins - 1 and tests them. */
static void follows(const struct fixture *f, const char *name, gen_id id, int64_t lo,
                    const double *probability, size_t bins)
{
    static const uint64_t rows = 300000;
    uint64_t counts[BINS_MAX] = {0};
    uint64_t stream = gen_stream("theory", name, 0);
    assert_int_not_equal(id, GEN_NONE);
    for (uint64_t row = 1; row <= rows; row++) {
        int64_t at = draw(f, id, 42, stream, row) - lo;
        assert_true(at >= 0 && at < (int64_t)bins);
        counts[at]++;
    }
    check_p(name, chi_square(counts, probability, bins, rows));
}

static void uniform(void **state)
{
    struct fixture *f = *state;
    static const size_t sizes[] = {2, 3, 10, 100, 1000};
    for (size_t i = 0; i < 5; i++) {
        double p[BINS_MAX];
        char name[40];
        for (size_t k = 0; k < sizes[i]; k++)
            p[k] = 1 / (double)sizes[i];
        text_print(name, sizeof(name), "uniform of %zu", sizes[i]);
        follows(f, name, gen_uniform(&f->pool, -7, (int64_t)sizes[i] - 8), -7, p, sizes[i]);
    }
}

/* 3 * 2^62 numbers: a plain multiply-shift of 64 bits would give every third one twice. */
static void uniform_over_a_huge_range(void **state)
{
    struct fixture *f = *state;
    gen_id id = gen_uniform(&f->pool, -(INT64_C(1) << 62), INT64_MAX);
    uint64_t counts[3] = {0};
    const double p[3] = {1 / 3.0, 1 / 3.0, 1 / 3.0};
    uint64_t rests[3] = {0};
    for (uint64_t row = 1; row <= 300000; row++) {
        uint64_t offset = (uint64_t)draw(f, id, 42, 1, row) + (UINT64_C(1) << 62);
        counts[offset >> 62]++;
        rests[offset % 3]++;
    }
    check_p("uniform of 3 * 2^62, thirds", chi_square(counts, p, 3, 300000));
    check_p("uniform of 3 * 2^62, mod 3", chi_square(rests, p, 3, 300000));
}

static void zipf(void **state)
{
    struct fixture *f = *state;
    static const double exponents[] = {0.01, 0.5, 0.99, 1, 1.0000001, 1.5, 3};
    static const size_t sizes[] = {2, 10, 1000};
    for (size_t i = 0; i < sizeof(exponents) / sizeof(exponents[0]); i++) {
        for (size_t k = 0; k < 3; k++) {
            double s = exponents[i];
            size_t n = sizes[k];
            double p[BINS_MAX];
            char name[40];
            for (size_t j = 0; j < n; j++)
                p[j] = pow((double)j + 1, -s) / math_harmonic(n, s);
            text_print(name, sizeof(name), "zipf of %zu, s = %.7g", n, s);
            follows(f, name, gen_zipf(&f->pool, (int64_t)n, s), 1, p, n);
        }
    }
}

/* A million numbers, in bins that double in width. */
static void zipf_of_a_million(void **state)
{
    struct fixture *f = *state;
    static const double exponents[] = {0.5, 0.99, 1, 1.5};
    enum { N = 1000000, ROWS = 300000, OCTAVES = 20 };
    for (size_t i = 0; i < 4; i++) {
        double s = exponents[i];
        gen_id id = gen_zipf(&f->pool, N, s);
        uint64_t counts[OCTAVES] = {0};
        double p[OCTAVES];
        for (size_t k = 0; k < OCTAVES; k++) {
            uint64_t last = (UINT64_C(2) << k) - 1;
            uint64_t before = (UINT64_C(1) << k) - 1;
            p[k] = (math_harmonic(last < N ? last : N, s) - math_harmonic(before, s)) /
                   math_harmonic(N, s);
        }
        for (uint64_t row = 1; row <= ROWS; row++) {
            uint64_t v = (uint64_t)draw(f, id, 42, 2, row);
            counts[63 - __builtin_clzll(v)]++;
        }
        char name[40];
        text_print(name, sizeof(name), "zipf of 1000000, s = %g", s);
        check_p(name, chi_square(counts, p, OCTAVES, ROWS));
    }
}

static void latest(void **state)
{
    struct fixture *f = *state;
    double p[100];
    for (size_t j = 0; j < 100; j++)
        p[99 - j] = pow((double)j + 1, -0.99) / math_harmonic(100, 0.99);
    follows(f, "latest of 100, s = 0.99", gen_latest(&f->pool, 100, 0.99), 1, p, 100);
}

static void hotspot(void **state)
{
    struct fixture *f = *state;
    static const double cases[][2] = {
        {0.1,   0.9  },
        {0.2,   0.8  },
        {0.5,   0.5  },
        {0.013, 0.999}
    };
    for (size_t i = 0; i < 4; i++) {
        double p[100];
        double hot = floor(100 * cases[i][0]);
        for (size_t k = 0; k < 100; k++)
            p[k] = (double)k < hot ? cases[i][1] / hot : (1 - cases[i][1]) / (100 - hot);
        char name[40];
        text_print(name, sizeof(name), "hotspot %g of %g", cases[i][1], cases[i][0]);
        follows(f, name, gen_hotspot(&f->pool, 100, cases[i][0], cases[i][1]), 1, p, 100);
    }
}

static void choice(void **state)
{
    struct fixture *f = *state;
    gen_id children[5];
    const double p[5] = {0.2, 0.2, 0.2, 0.2, 0.2};
    for (int64_t i = 0; i < 5; i++) {
        struct value value = value_int(i);
        children[i] = gen_const(&f->pool, &value);
    }
    follows(f, "choice of 5", gen_choice(&f->pool, children, 5), 0, p, 5);
}

static void gaussian(void **state)
{
    struct fixture *f = *state;
    static const double shapes[] = {0.01, 1, 2.5, 5, 12};
    enum { N = 60 };
    for (size_t i = 0; i < 5; i++) {
        double shape = shapes[i];
        double p[N];
        double all = erf(shape / sqrt(2));
        for (int k = 0; k < N; k++) {
            double low = (2.0 * k / N - 1) * shape;
            double high = (2.0 * (k + 1) / N - 1) * shape;
            p[k] = (erf(high / sqrt(2)) - erf(low / sqrt(2))) / (2 * all);
        }
        char name[40];
        text_print(name, sizeof(name), "gaussian, shape %g", shape);
        follows(f, name, gen_gaussian(&f->pool, 1, N, shape), 1, p, N);
    }
}

static void exponential(void **state)
{
    struct fixture *f = *state;
    static const double shapes[] = {1e-9, 0.1, 1, 5, 20};
    enum { N = 60 };
    for (size_t i = 0; i < 5; i++) {
        double shape = shapes[i];
        double p[N];
        for (int k = 0; k < N; k++)
            p[k] = exp(-shape * k / N) * expm1(-shape / N) / expm1(-shape);
        char name[40];
        text_print(name, sizeof(name), "exponential, shape %g", shape);
        follows(f, name, gen_exponential(&f->pool, 1, N, shape), 1, p, N);
    }
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { KS_ROWS = 20000 };

/* The largest distance of the sample from the line; sorts. */
static double distance(double *u)
{
    double d = 0;
    qsort(u, KS_ROWS, sizeof(*u), order);
    for (size_t i = 0; i < KS_ROWS; i++) {
        double above = ((double)i + 1) / KS_ROWS - u[i];
        double below = u[i] - (double)i / KS_ROWS;
        d = fmax(d, fmax(above, below));
    }
    return d;
}

/* Over 2^40 numbers, where values are as good as continuous. */
static void continuous_laws(void **state)
{
    struct fixture *f = *state;
    static double u[KS_ROWS];
    const int64_t top = (INT64_C(1) << 40) - 1;
    gen_id id = gen_gaussian(&f->pool, 0, top, 2.5);
    double all = erf(2.5 / sqrt(2));
    for (uint64_t i = 0; i < KS_ROWS; i++) {
        double position = ((double)draw(f, id, 42, 3, i + 1) + 0.5) / (double)top;
        u[i] = (erf((2 * position - 1) * 2.5 / sqrt(2)) / all + 1) / 2;
    }
    check_p("gaussian, KS", math_ks_tail(distance(u), KS_ROWS));
    id = gen_exponential(&f->pool, 0, top, 5);
    for (uint64_t i = 0; i < KS_ROWS; i++) {
        double position = ((double)draw(f, id, 42, 3, i + 1) + 0.5) / (double)top;
        u[i] = expm1(-5 * position) / expm1(-5.0);
    }
    check_p("exponential, KS", math_ks_tail(distance(u), KS_ROWS));
}

/* Pairs of numbers of 0 .. 9 on a grid, where all cells must be equally full. */
struct pair_case {
    const char *name;
    uint64_t seed[2], stream[2], row[2];
};

static void pairs_are_independent(void **state)
{
    struct fixture *f = *state;
    gen_id id = gen_uniform(&f->pool, 0, GRID - 1);
    const uint64_t age = gen_stream("users", "age", 0);
    const struct pair_case cases[] = {
        {"rows 1 apart",     {42, 42},               {age, age},                            {0, 1}   },
        {"rows 2 apart",     {42, 42},               {age, age},                            {0, 2}   },
        {"rows 1000 apart",  {42, 42},               {age, age},                            {0, 1000}},
        {"two columns",      {42, 42},               {age, gen_stream("users", "city", 0)}, {0, 0}   },
        {"two clients",      {42, 42},               {age, gen_stream("users", "age", 1)},  {0, 0}   },
        {"seeds 42 and 43",  {42, 43},               {age, age},                            {0, 0}   },
        {"seeds 1 and 2^63", {1, UINT64_C(1) << 63}, {age, age},                            {0, 0}   },
    };
    double p[CELLS];
    for (size_t k = 0; k < CELLS; k++)
        p[k] = 1.0 / CELLS;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct pair_case *c = &cases[i];
        uint64_t counts[CELLS] = {0};
        for (uint64_t row = 1; row <= 200000; row++) {
            int64_t a = draw(f, id, c->seed[0], c->stream[0], row + c->row[0]);
            int64_t b = draw(f, id, c->seed[1], c->stream[1], row + c->row[1]);
            counts[a * GRID + b]++;
        }
        check_p(c->name, chi_square(counts, p, CELLS, 200000));
    }
}

/* Draws within one tree, paired by a * 10 + b. */
static void nodes_of_a_tree_are_independent(void **state)
{
    struct fixture *f = *state;
    struct gen_pool *pool = &f->pool;
    double p[CELLS];
    gen_id nodes[4];
    for (size_t k = 0; k < CELLS; k++)
        p[k] = 1.0 / CELLS;
    for (size_t i = 0; i < 4; i++)
        nodes[i] = gen_uniform(pool, 0, GRID - 1);
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < i; k++) {
            /* all four are in the tree, two of them count */
            gen_id tree = gen_affine(pool, 0, nodes[0], 0);
            for (size_t j = 1; j < 4; j++)
                tree = gen_arith(pool, GEN_ADD, tree, gen_affine(pool, 0, nodes[j], 0));
            tree = gen_arith(pool, GEN_ADD, tree, gen_affine(pool, GRID, nodes[i], 0));
            tree = gen_arith(pool, GEN_ADD, tree, nodes[k]);
            char name[40];
            text_print(name, sizeof(name), "nodes %zu and %zu of a tree", k, i);
            follows(f, name, tree, 0, p, CELLS);
        }
    }
}

/* Over many streams, a number is sent to each place equally often, and two of them to each pair
 * of places. */
static void permutation_is_fair(struct fixture *f, uint64_t n)
{
    enum { N_MAX = 20, STREAMS = 100000 };
    gen_id id = gen_permute(&f->pool, gen_row(&f->pool), (int64_t)n);
    double p[N_MAX];
    double pairs[N_MAX * N_MAX];
    uint64_t counts[N_MAX] = {0};
    uint64_t both[N_MAX * N_MAX] = {0};
    char name[40];
    for (size_t i = 0; i < n * n; i++)
        pairs[i] = i / n == i % n ? 0 : 1.0 / (double)(n * (n - 1));
    for (size_t i = 0; i < n; i++)
        p[i] = 1.0 / (double)n;
    for (uint64_t i = 0; i < STREAMS; i++) {
        uint64_t stream = gen_stream("permute", "", i);
        uint64_t first = (uint64_t)draw(f, id, 42, stream, 1) - 1;
        uint64_t second = (uint64_t)draw(f, id, 42, stream, 2) - 1;
        counts[first]++;
        both[first * n + second]++;
    }
    text_print(name, sizeof(name), "permute of %ju, one number", (uintmax_t)n);
    check_p(name, chi_square(counts, p, n, STREAMS));
    text_print(name, sizeof(name), "permute of %ju, two numbers", (uintmax_t)n);
    check_p(name, chi_square(both, pairs, n * n, STREAMS));
}

static void permutations_are_fair(void **state)
{
    static const uint64_t sizes[] = {3, 4, 5, 8, 10, 17};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        permutation_is_fair(*state, sizes[i]);
}

/* One line of the file of known values: the first 8 draws at seed 42. */
static void known_line(struct fixture *f, struct text *out, const char *name, gen_id id)
{
    char scratch[256];
    struct gen_ctx ctx = {.pool = &f->pool, .seed = 42, .stream = gen_stream("known", "", 0)};
    assert_int_not_equal(id, GEN_NONE);
    ctx.scratch = scratch;
    ctx.scratch_room = sizeof(scratch);
    text_addf(out, "%s:", name);
    for (ctx.row = 1; ctx.row <= 8; ctx.row++) {
        char printed[80];
        struct value value;
        ctx.scratch_used = 0;
        gen_eval(&ctx, id, &value);
        value_print(printed, sizeof(printed), &value);
        text_addf(out, " %s", printed);
    }
    text_add(out, "\n");
}

static void known_lines(struct fixture *f, struct text *out)
{
    struct gen_pool *p = &f->pool;
    gen_id row = gen_row(p);
    gen_id die = gen_uniform(p, 1, 6);
    const gen_id two[] = {die, gen_uniform(p, 1, 6)};
    static const char *const names[] = {"a", "b"};
    known_line(f, out, "uniform(1, 1000)", gen_uniform(p, 1, 1000));
    known_line(f, out, "uniform(-2^63, 2^63 - 1)", gen_uniform(p, INT64_MIN, INT64_MAX));
    known_line(f, out, "zipf(1000, 0.5)", gen_zipf(p, 1000, 0.5));
    known_line(f, out, "zipf(1000000, 0.99)", gen_zipf(p, 1000000, 0.99));
    known_line(f, out, "zipf(1000, 1)", gen_zipf(p, 1000, 1));
    known_line(f, out, "zipf(1000, 1.5)", gen_zipf(p, 1000, 1.5));
    known_line(f, out, "latest(1000, 0.99)", gen_latest(p, 1000, 0.99));
    known_line(f, out, "gaussian(1, 10000, 2.5)", gen_gaussian(p, 1, 10000, 2.5));
    known_line(f, out, "exponential(1, 10000, 5)", gen_exponential(p, 1, 10000, 5));
    known_line(f, out, "hotspot(1000, 0.1, 0.9)", gen_hotspot(p, 1000, 0.1, 0.9));
    known_line(f, out, "permute(row, 8)", gen_permute(p, row, 8));
    known_line(f, out, "permute(row, 10^12)", gen_permute(p, row, 1000000000000));
    known_line(f, out, "choice(row, 0)",
               gen_choice(p, (const gen_id[]){row, gen_affine(p, 0, row, 0)}, 2));
    known_line(f, out, "text(10, 50)", gen_text(p, 10, 50));
    known_line(f, out, "uuid7(1700000000000)", gen_uuid7(p, 1700000000000));
    known_line(f, out, "two dice", gen_format(p, "%d+%d", two, 2));
    known_line(f, out, "one die twice", gen_format(p, "%d=%d", (const gen_id[]){die, die}, 2));
    known_line(f, out, "json", gen_json(p, names, two, 2));
}

/* Same seed, same values, on every host and in every version: a change of a sequence must be
 * noticed, since it changes every workload. DBDYNO_UPDATE=1 writes the file anew. */
static void known_values(void **state)
{
    struct fixture *f = *state;
    struct text text;
    static const char path[] = DBDYNO_SOURCE_DIR "/tests/truth/gen_known_values.txt";
    text_init(&text, f->arena, 1 << 16);
    known_lines(f, &text);
    FILE *file = fopen(path, getenv("DBDYNO_UPDATE") ? "we" : "re");
    assert_non_null(file);
    if (getenv("DBDYNO_UPDATE")) {
        assert_int_equal(fwrite(text.at, 1, text.bytes, file), text.bytes);
    } else {
        char *known = arena_array(f->arena, char, 1 << 16);
        size_t bytes = fread(known, 1, (1 << 16) - 1, file);
        known[bytes] = '\0';
        assert_string_equal(text.at, known);
    }
    assert_int_equal(fclose(file), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(uniform, setup, teardown),
        cmocka_unit_test_setup_teardown(uniform_over_a_huge_range, setup, teardown),
        cmocka_unit_test_setup_teardown(zipf, setup, teardown),
        cmocka_unit_test_setup_teardown(zipf_of_a_million, setup, teardown),
        cmocka_unit_test_setup_teardown(latest, setup, teardown),
        cmocka_unit_test_setup_teardown(hotspot, setup, teardown),
        cmocka_unit_test_setup_teardown(choice, setup, teardown),
        cmocka_unit_test_setup_teardown(gaussian, setup, teardown),
        cmocka_unit_test_setup_teardown(exponential, setup, teardown),
        cmocka_unit_test_setup_teardown(continuous_laws, setup, teardown),
        cmocka_unit_test_setup_teardown(pairs_are_independent, setup, teardown),
        cmocka_unit_test_setup_teardown(nodes_of_a_tree_are_independent, setup, teardown),
        cmocka_unit_test_setup_teardown(permutations_are_fair, setup, teardown),
        cmocka_unit_test_setup_teardown(known_values, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
