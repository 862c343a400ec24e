#include "base/arena.h"
#include "testing.h"

#include <string.h>

static bool all_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* Objects of random sizes and alignments are zeroed, aligned, apart from each other, and keep
 * what was written; also after resets. */
static void objects_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    enum { OBJECTS = 300 };
    struct test_random random = test_random_init();
    struct arena *arena = arena_create(1024);
    for (int round = 0; round < 20; round++) {
        unsigned char *objects[OBJECTS];
        size_t bytes[OBJECTS], sum = 0;
        for (int i = 0; i < OBJECTS; i++) {
            size_t align = (size_t)1 << test_random_below(&random, 8);
            bytes[i] = test_random_below(&random, i % 10 == 0 ? 3000 : 100);
            objects[i] = arena_alloc(arena, bytes[i], align);
            sum += bytes[i];
            assert_int_equal((uintptr_t)objects[i] % align, 0);
            assert_true(all_zero(objects[i], bytes[i]));
            memset(objects[i], i % 255 + 1, bytes[i]);
        }
        assert_int_equal(arena_bytes(arena), sum);
        for (int i = 0; i < OBJECTS; i++) {
            for (size_t at = 0; at < bytes[i]; at++)
                assert_int_equal(objects[i][at], i % 255 + 1);
        }
        arena_reset(arena);
        assert_int_equal(arena_bytes(arena), 0);
    }
    arena_destroy(&arena);
    assert_null(arena);
    arena_destroy(&arena);
}

static void grow_keeps_items(void **state)
{
    (void)state;
    struct arena *arena = arena_create(256);
    uint32_t *items = NULL;
    size_t room = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        items = arena_grow(arena, items, i, &room, i + 1, sizeof(*items));
        assert_true(room > i);
        items[i] = i * 7;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i * 7);
    assert_ptr_equal(arena_grow(arena, items, 1000, &room, room, sizeof(*items)), items);
    arena_destroy(&arena);
}

static void texts_are_copied(void **state)
{
    (void)state;
    struct arena *arena = arena_create(64);
    char word[] = "word";
    char *copy = arena_text(arena, word);
    char *part = arena_slice(arena, (struct slice){word, 2});
    word[0] = 'x';
    assert_string_equal(copy, "word");
    assert_string_equal(part, "wo");
    assert_string_equal(arena_slice(arena, (struct slice){NULL, 0}), "");
    assert_string_equal(arena_printf(arena, "%s-%04d", copy, 42), "word-0042");
    arena_destroy(&arena);
}

static void calls_count_every_allocation(void **state)
{
    (void)state;
    struct arena *one = arena_create(64), *two = arena_create(64);
    uint64_t before = arena_calls();
    assert_int_equal(arena_calls() - before, 0);
    (void)arena_new(one, int);
    (void)arena_array(two, int, 10);
    (void)arena_text(two, "x");
    assert_int_equal(arena_calls() - before, 3);
    arena_destroy(&one);
    arena_destroy(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_zeroed_aligned_and_apart),
        cmocka_unit_test(grow_keeps_items),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(calls_count_every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
