#include "suite_testing.h"

static void limits_can_be_smaller(void **state)
{
    (void)state;
    struct loaded l = load_with("for i = 1, 1e5 do end\nreturn suite { 'x', ping { 'p' } }",
                                (struct suite_options){.instructions_max = 50000});
    assert_false(l.done);
    assert_string_equal(l.err.text,
                        "t.lua:1: stopped after 50000 instructions: an endless loop?");
    unload(&l);
    l = load_with(
        "local t = {} for i = 1, 1e5 do t[i] = i end\nreturn suite { 'x', ping { 'p' } }",
        (struct suite_options){.memory_bytes_max = 1 << 20});
    assert_false(l.done);
    assert_string_equal(l.err.text, "t.lua: needs more than 1 MiB of memory");
    unload(&l);
    l = load_with("return suite { 'x', ping { 'p' } }",
                  (struct suite_options){.memory_bytes_max = 1000});
    assert_false(l.done);
    unload(&l);
}

/* Without memory at any point, a load ends in a fault and not in a crash. */
static void any_memory_limit_is_survived(void **state)
{
    (void)state;
    bool loaded = false;
    for (size_t kib = 1; kib < 400 && !loaded; kib += 3) {
        struct loaded l = load_with("return suite { 'x', extend 'shop' }",
                                    (struct suite_options){.memory_bytes_max = kib << 10});
        loaded = l.done;
        assert_true(l.done || l.faults.count == 1);
        unload(&l);
    }
    assert_true(loaded);
}

static void a_suite_is_at_most_a_mebibyte(void **state)
{
    (void)state;
    struct arena *arena = arena_create(4096);
    char *source = arena_array(arena, char, (1 << 20) + 2);
    memset(source, ' ', (1 << 20) + 1);
    struct loaded l = load_with(source, (struct suite_options){0});
    assert_false(l.done);
    assert_string_equal(l.err.text, "t.lua: more than 1 MiB");
    unload(&l);
    arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_can_be_smaller),
        cmocka_unit_test(any_memory_limit_is_survived),
        cmocka_unit_test(a_suite_is_at_most_a_mebibyte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
