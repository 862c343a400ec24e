#include "base/arena.h"
#include "gen/gen.h"
#include "testing.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct fixture {
    struct arena *arena;
    struct gen_pool pool;
    uint32_t used;
    char text[4096];
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

/* The text of a tree, from a scratch buffer of `room` bytes that a checked allocator guards. */
static const char *text_in(struct fixture *f, gen_id id, uint64_t row, uint32_t room)
{
    assert_int_not_equal(id, GEN_NONE);
    static const struct value vars[] = {
        {.type = VALUE_TEXT, .bytes = 3, .as.text = "var"},
        {.type = VALUE_REAL,                  .as.r = 0.1          }
    };
    char *scratch = test_malloc(room + 1u);
    struct gen_ctx ctx = {.pool = &f->pool, .seed = 42, .stream = 3, .row = row, .vars = vars};
    ctx.scratch = scratch;
    ctx.scratch_room = room;
    struct value out;
    gen_eval(&ctx, id, &out);
    f->used = ctx.scratch_used;
    assert_int_equal(out.type, VALUE_TEXT);
    assert_true(out.bytes < sizeof(f->text));
    memcpy(f->text, out.as.text, out.bytes);
    f->text[out.bytes] = '\0';
    test_free(scratch);
    return f->text;
}

static const char *text_of(struct fixture *f, gen_id id, uint64_t row)
{
    return text_in(f, id, row, gen_scratch_bytes(&f->pool, id));
}

static gen_id constant_text(struct fixture *f, const char *t)
{
    struct value value = value_text(t, (uint32_t)strlen(t));
    return gen_const(&f->pool, &value);
}

static void format_fills_its_places(void **state)
{
    struct fixture *f = *state;
    gen_id row = gen_row(&f->pool);
    gen_id minus = gen_affine(&f->pool, -1, row, 0);
    const gen_id list[] = {row, minus, constant_text(f, "abc"), gen_var(&f->pool, 0)};
    assert_string_equal(text_of(f, gen_format(&f->pool, "user%d", list, 1), 12), "user12");
    assert_string_equal(text_of(f, gen_format(&f->pool, "%05d|%05d", list, 2), 12),
                        "00012|-0012");
    assert_string_equal(text_of(f, gen_format(&f->pool, "%4d|%2d", list, 2), 123), " 123|-123");
    assert_string_equal(text_of(f, gen_format(&f->pool, "%d%%%d:%s/%s", list, 4), 7),
                        "7%-7:abc/var");
    assert_string_equal(text_of(f, gen_format(&f->pool, "none", NULL, 0), 7), "none");
    assert_string_equal(text_of(f, gen_format(&f->pool, "", NULL, 0), 7), "");
    const gen_id real[] = {gen_var(&f->pool, 1)};
    assert_string_equal(text_of(f, gen_format(&f->pool, "%s", real, 1), 7), "0.1");
    const gen_id nested[] = {gen_format(&f->pool, "<%s>", list + 2, 1), row};
    assert_string_equal(text_of(f, gen_format(&f->pool, "%s-%d", nested, 2), 7), "<abc>-7");
}

static void format_of_null_is_null(void **state)
{
    struct fixture *f = *state;
    struct value null = {0};
    const gen_id list[] = {gen_row(&f->pool), gen_const(&f->pool, &null)};
    gen_id id = gen_format(&f->pool, "a%d%d", list, 2);
    char scratch[100];
    struct gen_ctx ctx = {.pool = &f->pool, .row = 5, .scratch = scratch, .scratch_room = 100};
    struct value out;
    gen_eval(&ctx, id, &out);
    assert_int_equal(out.type, VALUE_NULL);
    assert_int_equal(ctx.scratch_used, 0);
}

static void bad_formats_are_refused(void **state)
{
    struct fixture *f = *state;
    const gen_id list[] = {gen_row(&f->pool), gen_row(&f->pool)};
    const struct {
        const char *format;
        uint16_t count;
    } bad[] = {
        {"%x",                     1},
        {"%",                      0},
        {"%d",                     0},
        {"%d",                     2},
        {"%0s",                    1},
        {"%065d",                  1},
        {"%5s",                    1},
        {"%0",                     1},
        {"%*d",                    2},
        {"%-3d",                   1},
        {"%99999999999999999999d", 1},
        {"a",                      1}
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (gen_format(&f->pool, bad[i].format, list, bad[i].count) != GEN_NONE)
            fail_msg("'%s' with %u values was taken", bad[i].format, bad[i].count);
}

static void short_scratch_cuts_and_never_overruns(void **state)
{
    struct fixture *f = *state;
    const gen_id list[] = {gen_text(&f->pool, 20, 100), constant_text(f, "a\"b\n"),
                           gen_uuid7(&f->pool, 1000)};
    const char *const names[] = {"x", "y", "z"};
    const gen_id trees[] = {gen_format(&f->pool, "id-%s-%s", list, 2), list[0], list[2],
                            gen_json(&f->pool, names, list, 3)};
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
        uint32_t all = gen_scratch_bytes(&f->pool, trees[i]);
        char whole[4096];
        size_t length = strlen(text_of(f, trees[i], 9));
        memcpy(whole, f->text, length + 1);
        for (uint32_t room = 0; room <= all; room++) {
            const char *cut = text_in(f, trees[i], 9, room);
            assert_true(strlen(cut) <= room);
            if (room >= length && i != 3) /* an object's numbers may be escaped away */
                assert_string_equal(cut, whole);
        }
    }
}

static void text_has_its_random_part(void **state)
{
    struct fixture *f = *state;
    for (uint32_t unique = 0; unique <= 100; unique += 25) {
        const char *t = text_of(f, gen_text(&f->pool, 1000, unique), 5);
        assert_int_equal(strlen(t), 1000);
        unsigned tail = 0;
        for (size_t i = 1000; i > 0 && t[i - 1] == 'x'; i--)
            tail++;
        unsigned want = 1000 - unique * 10;
        assert_in_range(tail, want, want + 5);
        for (size_t i = 0; i < 1000; i++)
            assert_true(islower((unsigned char)t[i]));
    }
    assert_string_equal(text_of(f, gen_text(&f->pool, 0, 50), 5), "");
    assert_int_equal(gen_text(&f->pool, 10, 101), GEN_NONE);
}

static void letters_are_equally_likely(void **state)
{
    struct fixture *f = *state;
    unsigned counts[26] = {0};
    gen_id id = gen_text(&f->pool, 1000, 100);
    for (uint64_t row = 1; row <= 100; row++) {
        const char *t = text_of(f, id, row);
        for (size_t i = 0; i < 1000; i++)
            counts[t[i] - 'a']++;
    }
    double chi = 0;
    for (size_t i = 0; i < 26; i++) {
        double off = counts[i] - 100000.0 / 26;
        chi += off * off / (100000.0 / 26);
    }
    assert_true(chi < 64 && chi > 4); /* 25 degrees: 64 has a tail of 3e-5 */
}

static void json_is_well_formed(void **state)
{
    struct fixture *f = *state;
    struct value null = {0};
    struct value real = value_real(2.5);
    struct value infinite = value_real(1e308 * 10);
    const char *const inner_names[] = {"k"};
    const gen_id inner_list[] = {gen_row(&f->pool)};
    const gen_id list[] = {gen_row(&f->pool),
                           constant_text(f, "a\"b\\c\n\x01\xc3\xa4"),
                           gen_const(&f->pool, &null),
                           gen_const(&f->pool, &real),
                           gen_const(&f->pool, &infinite),
                           gen_json(&f->pool, inner_names, inner_list, 1),
                           gen_format(&f->pool, "u%d", inner_list, 1)};
    const char *const names[] = {"id", "t\"x", "n", "r", "inf", "in", "u"};
    assert_string_equal(text_of(f, gen_json(&f->pool, names, list, 7), 4),
                        "{\"id\":4,\"t\\\"x\":\"a\\\"b\\\\c\\n\\u0001\xc3\xa4\",\"n\":null,"
                        "\"r\":2.5,\"inf\":null,\"in\":{\"k\":4},\"u\":\"u4\"}");
    assert_string_equal(text_of(f, gen_json(&f->pool, NULL, NULL, 0), 4), "{}");
    const char *const same[] = {"a", "a"};
    assert_int_equal(gen_json(&f->pool, same, list, 2), GEN_NONE);
}

static void escapes_fit_the_promised_scratch(void **state)
{
    struct fixture *f = *state;
    const char *const names[] = {"a", "b"};
    char bad[200];
    memset(bad, 1, sizeof(bad));
    struct value value = value_text(bad, sizeof(bad));
    const gen_id list[] = {gen_const(&f->pool, &value), gen_const(&f->pool, &value)};
    const char *t = text_of(f, gen_json(&f->pool, names, list, 2), 1);
    assert_int_equal(strlen(t), 2 * (6 * 200 + 6) + 2 + 1);
}

static void uuid7_has_version_variant_and_time(void **state)
{
    struct fixture *f = *state;
    gen_id id = gen_uuid7(&f->pool, INT64_C(0x018f00000000));
    char last[64] = "";
    for (uint64_t row = 1; row <= 1000; row++) {
        const char *t = text_of(f, id, row);
        assert_int_equal(strlen(t), 36);
        assert_true(t[8] == '-' && t[13] == '-' && t[18] == '-' && t[23] == '-');
        assert_int_equal(t[14], '7');
        assert_true(strchr("89ab", t[19]) != NULL);
        assert_true(strcmp(last, t) < 0);
        memcpy(last, t, 37);
    }
    assert_memory_equal(last, "018f0000-03e8-7", 15); /* row 1,000 */
    assert_int_equal(gen_uuid7(&f->pool, -1), GEN_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(format_fills_its_places, setup, teardown),
        cmocka_unit_test_setup_teardown(format_of_null_is_null, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_formats_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(short_scratch_cuts_and_never_overruns, setup, teardown),
        cmocka_unit_test_setup_teardown(text_has_its_random_part, setup, teardown),
        cmocka_unit_test_setup_teardown(letters_are_equally_likely, setup, teardown),
        cmocka_unit_test_setup_teardown(json_is_well_formed, setup, teardown),
        cmocka_unit_test_setup_teardown(escapes_fit_the_promised_scratch, setup, teardown),
        cmocka_unit_test_setup_teardown(uuid7_has_version_variant_and_time, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
