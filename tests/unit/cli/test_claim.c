#include "cli/cli_internal.h"
#include "testing.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create(1 << 16);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static const char *file(const char *name)
{
    return arena_printf(arena, "/tmp/dbdyno-test-claim-%d-%s", (int)getpid(), name);
}

static const char *mine(void)
{
    return arena_printf(arena, "(pid %d)", (int)getpid());
}

static void a_place_is_claimed_once(void **state)
{
    (void)state;
    struct cli_claim first, second;
    struct err err = {0};
    assert_true(cli_claim_output(arena, file("a"), &first, &err));
    assert_true(first.fd >= 0);
    assert_false(cli_claim_output(arena, file("a"), &second, &err));
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_non_null(strstr(err.text, mine()));
    assert_non_null(strstr(err.text, file("a")));
    const char *roundabout = arena_printf(arena, "/tmp/../%s", file("a"));
    assert_false(cli_claim_output(arena, roundabout, &second, &err));
    assert_true(cli_claim_output(arena, file("b"), &second, &err));
    cli_claim_drop(&first);
    assert_true(cli_claim_output(arena, file("a"), &first, &err));
    cli_claim_drop(&first);
    cli_claim_drop(&second);
}

/* Nothing is left of a process that was killed, neither the claim nor a file. */
static void a_killed_process_claims_nothing(void **state)
{
    (void)state;
    int ready[2];
    char byte = 'x';
    struct cli_claim claim;
    struct err err = {0};
    const char *path = file("c");
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        bool done = cli_claim_output(arena, path, &claim, &err);
        if (!done || write(ready[1], &byte, 1) != 1)
            _exit(1);
        alarm(20); /* ends it whatever becomes of us */
        for (;;)
            pause();
    }
    close(ready[1]);
    bool begun = read(ready[0], &byte, 1) == 1;
    bool refused = !cli_claim_output(arena, path, &claim, &err);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(begun);
    assert_true(refused);
    assert_non_null(strstr(err.text, arena_printf(arena, "(pid %d)", (int)child)));
    assert_true(cli_claim_output(arena, path, &claim, &err));
    cli_claim_drop(&claim);
    assert_int_not_equal(access(path, F_OK), 0);
    close(ready[0]);
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (; text && (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

static void others_are_seen_once_each(void **state)
{
    (void)state;
    struct cli_claim a, b;
    struct err err = {0};
    const char *pid = arena_printf(arena, "%d", (int)getpid());
    assert_true(cli_claim_output(arena, file("d"), &a, &err));
    assert_int_equal(count_of(cli_claim_others(arena, &a), pid), 0);
    assert_true(cli_claim_output(arena, file("e"), &b, &err));
    for (int i = 0; i < 3; i++) /* each look leaves a connection that nobody accepts */
        assert_int_equal(count_of(cli_claim_others(arena, &a), pid), 1);
    cli_claim_drop(&b);
    assert_int_equal(count_of(cli_claim_others(arena, &a), pid), 0);
    cli_claim_drop(&a);
}

/* What is no file may be written by many. */
static void devices_are_for_all(void **state)
{
    (void)state;
    struct cli_claim claim;
    struct err err = {0};
    pid_t child = fork();
    if (child == 0)
        _exit(cli_claim_output(arena, "/dev/null", &claim, &err) ? 0 : 1);
    int status = -1;
    assert_true(cli_claim_output(arena, "/dev/null", &claim, &err));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    cli_claim_drop(&claim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_claimed_once),
        cmocka_unit_test(a_killed_process_claims_nothing),
        cmocka_unit_test(others_are_seen_once_each),
        cmocka_unit_test(devices_are_for_all),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
