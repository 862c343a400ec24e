#include "base/hash.h"
#include "testing.h"

/* Published vectors: FNV-1a by its authors; SplitMix64 seeded with 0 gives the first number
 * below for the state 0x9e3779b97f4a7c15. */
static void known_vectors(void **state)
{
    (void)state;
    assert_true(hash_bytes(HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_bytes(HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_bytes(HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    assert_true(hash_mix(UINT64_C(0x9e3779b97f4a7c15)) == UINT64_C(0xe220a8397b1dcdaf));
}

static void pieces_hash_like_the_whole(void **state)
{
    (void)state;
    uint64_t whole = hash_bytes(HASH_START, "foobar", 6);
    assert_true(hash_bytes(hash_bytes(HASH_START, "foo", 3), "bar", 3) == whole);
}

/* Each of the 64 input bits changes each output bit in about half of the cases. */
static void mix_avalanches(void **state)
{
    (void)state;
    struct test_random random = test_random_init();
    for (int bit = 0; bit < 64; bit++) {
        int changed = 0;
        for (int i = 0; i < 500; i++) {
            uint64_t x = test_random_u64(&random);
            changed += __builtin_popcountll(hash_mix(x) ^ hash_mix(x ^ UINT64_C(1) << bit));
        }
        assert_in_range(changed, 500 * 30, 500 * 34);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_vectors),
        cmocka_unit_test(pieces_hash_like_the_whole),
        cmocka_unit_test(mix_avalanches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
