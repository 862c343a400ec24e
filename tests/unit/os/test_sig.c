#include "os/sig.h"
#include "testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each case runs in a child: signals belong to a whole process. */
static int run_case(int (*act)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(act());
    waitpid(child, &status, 0);
    return status;
}

static int first_signal_is_noted(void)
{
    sig_install();
    if (sig_pending() != 0)
        return 1;
    raise(SIGPIPE);
    raise(SIGTERM);
    return sig_pending() == SIGTERM ? 42 : 2;
}

static int second_signal_ends(void)
{
    sig_note(SIGINT, 5);
    sig_note(SIGTERM, 5 + SIG_ECHO_NS);
    return 1;
}

static int late_echo_is_ignored(void)
{
    sig_note(SIGINT, 5);
    sig_note(SIGTERM, 4 + SIG_ECHO_NS);
    sig_note(SIGTERM, 4); /* its handler was overtaken */
    return sig_pending() == SIGINT ? 42 : 1;
}

/* As of `timeout`: to the process and to its group. */
static int echo_is_ignored(void)
{
    sig_install();
    (void)setpgid(0, 0);
    raise(SIGTERM);
    (void)kill(0, SIGTERM);
    raise(SIGHUP);
    return sig_pending() == SIGTERM ? 42 : 1;
}

static int request_keeps_the_first(void)
{
    sig_request(SIGTERM);
    sig_request(SIGINT);
    return sig_pending() == SIGTERM ? 42 : 1;
}

static int default_lets_signals_kill(void)
{
    sig_install();
    sig_default();
    raise(SIGHUP);
    return 1;
}

static void signals_behave(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(run_case(first_signal_is_noted)), 42);
    assert_int_equal(WEXITSTATUS(run_case(second_signal_ends)), 128 + SIGTERM);
    assert_int_equal(WEXITSTATUS(run_case(late_echo_is_ignored)), 42);
    assert_int_equal(WEXITSTATUS(run_case(echo_is_ignored)), 42);
    assert_int_equal(WEXITSTATUS(run_case(request_keeps_the_first)), 42);
    int status = run_case(default_lets_signals_kill);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(signals_behave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
