#include "os/now.h"
#include "os/sig.h"
#include "probe/probe.h"
#include "testing.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static unsigned progress_count;

static void note(const char *name)
{
    assert_true(strlen(name) > 0);
    progress_count++;
}

static unsigned entries(void)
{
    unsigned count = 0;
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    while (readdir(opened))
        count++;
    closedir(opened);
    return count - 2;
}

static const struct probe_floor *named(const struct probe_floor *floors, unsigned count,
                                       const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(floors[i].name, name) == 0)
            return &floors[i];
    }
    fail_msg("no floor %s", name);
    return NULL;
}

static void a_tiny_budget_measures_all(void **state)
{
    struct probe_floor floors[PROBE_FLOORS_MAX];
    uint64_t from_ns = os_now_ns();
    unsigned count = probe_floors(*state, folder, 20 * NS_PER_MS, note, floors);
    print_message("%.0f ms\n", (double)(os_now_ns() - from_ns) / 1e6);
    assert_int_equal(count, 11);
    assert_int_equal(progress_count, count);
    for (unsigned i = 0; i < count; i++) {
        const struct probe_floor *floor = &floors[i];
        print_message("%-17s n %6llu  p50 %11llu %s %s\n", floor->name,
                      (unsigned long long)floor->n, (unsigned long long)floor->p50, floor->unit,
                      floor->unavailable ? floor->unavailable : "");
        assert_true(strlen(floor->what) > 10);
        if (floor->unavailable) {
            assert_int_equal(floor->n, 0);
            continue;
        }
        assert_true(floor->n >= 3 && floor->p50 > 0);
        assert_true(floor->p99 == 0 || floor->n >= 1000);
        if (strcmp(floor->unit, "ns") == 0)
            assert_true(floor->min <= floor->p50 && floor->p50 <= floor->max);
        else
            assert_true(floor->min == 0 && floor->max == 0);
    }
    assert_null(named(floors, count, "memcpy")->unavailable);
    assert_null(named(floors, count, "tcp_round_trip")->unavailable);
    assert_int_equal(entries(), 0);
}

static void a_folder_that_is_not_there_is_said(void **state)
{
    struct probe_floor floors[PROBE_FLOORS_MAX];
    unsigned count = probe_floors(*state, "/nonexistent", NS_PER_MS, NULL, floors);
    const struct probe_floor *sync = named(floors, count, "fsync_append");
    assert_non_null(strstr(sync->unavailable, "No such file"));
    assert_int_equal(sync->n, 0);
    assert_non_null(named(floors, count, "disk_read_random")->unavailable);
    assert_null(named(floors, count, "unix_round_trip")->unavailable);
    count = probe_floors(*state, NULL, NS_PER_MS, NULL, floors); /* a remote target has none */
    assert_null(named(floors, count, "clock_read")->unavailable);
}

static void the_clock_is_fine_enough(void **state)
{
    (void)state;
    struct probe_clock clock;
    probe_clock(&clock);
    assert_true(clock.cost_ns > 0 && clock.cost_ns < NS_PER_MS);
    assert_true(clock.step_ns > 0 && clock.step_ns < 20 * NS_PER_MS);
}

/* Last: the request stays. */
static void a_signal_ends_it_early(void **state)
{
    struct probe_floor floors[PROBE_FLOORS_MAX];
    sig_request(SIGINT);
    uint64_t from_ns = os_now_ns();
    unsigned count = probe_floors(*state, folder, NS_PER_S, NULL, floors);
    assert_true(os_now_ns() - from_ns < NS_PER_S / 2);
    for (unsigned i = 0; i < count; i++)
        assert_string_equal(floors[i].unavailable, "interrupted");
}

static int make_place(void **state)
{
    snprintf(folder, sizeof(folder), "/tmp/dbdyno-test-XXXXXX");
    *state = arena_create(4096);
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_place(void **state)
{
    arena_destroy((struct arena **)state);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tiny_budget_measures_all),
        cmocka_unit_test(a_folder_that_is_not_there_is_said),
        cmocka_unit_test(the_clock_is_fine_enough),
        cmocka_unit_test(a_signal_ends_it_early),
    };
    return cmocka_run_group_tests_name("probe", tests, make_place, drop_place);
}
