#include "guard/guard.h"
#include "testing.h"

#include <string.h>

static const char *said[GUARD_LIMITS_MAX];

static struct guard_limits nothing_to_say(void)
{
    return (struct guard_limits){.most_samples = 10000, .data_rows = 1000000, .longest_s = 60};
}

/* How many are said, of which one must hold `word` (when not NULL). */
static unsigned says(void **state, struct guard_limits limits, const char *word)
{
    unsigned count = guard_limits_say(*state, &limits, said);
    for (unsigned i = 0; i < count && word; i++) {
        if (strstr(said[i], word))
            return count;
    }
    if (word)
        fail_msg("nothing says %s", word);
    return count;
}

static void a_long_large_run_on_real_hardware_has_no_limits(void **state)
{
    assert_int_equal(says(state, nothing_to_say(), NULL), 0);
}

static void each_fact_is_said_once(void **state)
{
    struct guard_limits limits = nothing_to_say();
    bool *const flags[] = {&limits.loopback,  &limits.embedded,         &limits.hot_cache,
                           &limits.superuser, &limits.virtual_machine,  &limits.shared_cores,
                           &limits.quick,     &limits.closed_loop,      &limits.single_client,
                           &limits.one_run,   &limits.managed_defaults, &limits.fsync_fast};
    static const char *const words[] = {"loopback",   "embedded", "loaded",   "superuser",
                                        "virtual",    "cores",    "--quick",  "waited",
                                        "one client", "one run",  "defaults", "cache"};
    _Static_assert(ARRAY_COUNT(flags) == ARRAY_COUNT(words), "a word a flag");
    for (size_t i = 0; i < ARRAY_COUNT(flags); i++) {
        *flags[i] = true;
        assert_int_equal(says(state, limits, words[i]), 1);
        *flags[i] = false;
    }
}

static void figures_below_their_thresholds_are_said(void **state)
{
    struct guard_limits limits = nothing_to_say();
    limits.most_samples = 9999;
    assert_int_equal(says(state, limits, "9999 samples"), 1);
    limits = nothing_to_say();
    limits.data_rows = 999999;
    assert_int_equal(says(state, limits, "999999 rows"), 1);
    limits = nothing_to_say();
    limits.longest_s = 59.9;
    assert_int_equal(says(state, limits, "59.9 s"), 1);
    limits = nothing_to_say();
    limits.fsync_fast = true;
    limits.fsync_p50_ns = 137000;
    assert_int_equal(says(state, limits, "137 us"), 1);
    limits = nothing_to_say();
    limits.most_samples = 0; /* nothing was timed, and no table made */
    limits.data_rows = 0;
    assert_int_equal(says(state, limits, NULL), 0);
}

static void all_of_them_fit(void **state)
{
    struct guard_limits limits;
    memset(&limits, 1, sizeof(limits));
    limits.most_samples = limits.data_rows = 5;
    limits.longest_s = 1;
    unsigned count = guard_limits_say(*state, &limits, said);
    assert_int_equal(count, 15);
    for (unsigned i = 0; i < count; i++) {
        assert_true(strlen(said[i]) > 10);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(said[i], said[k]);
    }
}

static int make_arena(void **state)
{
    *state = arena_create(4096);
    return 0;
}

static int drop_arena(void **state)
{
    arena_destroy((struct arena **)state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_large_run_on_real_hardware_has_no_limits),
        cmocka_unit_test(each_fact_is_said_once),
        cmocka_unit_test(figures_below_their_thresholds_are_said),
        cmocka_unit_test(all_of_them_fit),
    };
    return cmocka_run_group_tests_name("limits", tests, make_arena, drop_arena);
}
