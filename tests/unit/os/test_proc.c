#include "base/num.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/proc.h"
#include "os/sig.h"
#include "testing.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOON = 5 }; /* seconds, far more than needed */

struct place {
    struct arena *arena;
    const char *folder, *log;
};

static int make_place(void **state)
{
    static struct place place;
    struct err err;
    place.arena = arena_create(4096);
    if (!fs_make_temp(place.arena, "dbdyno-test", NULL, NULL, &place.folder, &err))
        return -1;
    place.log = arena_printf(place.arena, "%s/log", place.folder);
    *state = &place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    struct err err;
    bool fine = fs_remove_tree(place->folder, &err);
    arena_destroy(&place->arena);
    return fine ? 0 : -1;
}

static const char *logged(struct place *place)
{
    const char *content;
    size_t bytes;
    struct err err;
    assert_true(fs_read(place->arena, place->log, 65536, &content, &bytes, &err));
    return content;
}

static pid_t announced;

static void note(pid_t pid)
{
    /* Told before it executes anything: it is still this program. */
    char link[64], ours[4096] = "", theirs[4096] = "";
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    assert_true(readlink("/proc/self/exe", ours, sizeof(ours) - 1) > 0);
    assert_true(readlink(link, theirs, sizeof(theirs) - 1) > 0);
    assert_string_equal(ours, theirs);
    announced = pid;
}

static void a_child_is_announced_before_it_executes(void **state)
{
    struct place *place = *state;
    const char *const argv[] = {"/bin/sh", "-c", "echo out; echo err >&2; exit 3", NULL};
    struct proc_spec spec = {.argv = argv, .output_path = place->log, .fd_in = -1};
    struct err err;
    pid_t pid;
    int status;
    announced = 0;
    assert_true(proc_start(&spec, note, &pid, &err));
    assert_int_equal(announced, pid);
    assert_true(proc_wait(pid, SOON * NS_PER_S, &status));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_string_equal(logged(place), "out\nerr\n");
}

static void failing_to_execute_is_reported_here(void **state)
{
    struct place *place = *state;
    const char *const argv[] = {"/no/such/program", NULL};
    struct proc_spec spec = {.argv = argv, .fd_in = -1};
    struct err err;
    pid_t pid = 77;
    assert_false(proc_start(&spec, NULL, &pid, &err));
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOENT);
    assert_non_null(strstr(err.text, "/no/such/program"));
    assert_int_equal(pid, 77);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    const char *const shell[] = {"/bin/sh", "-c", "true", NULL};
    spec = (struct proc_spec){.argv = shell, .folder = "/no/folder", .fd_in = -1};
    assert_false(proc_start(&spec, NULL, &pid, &err));
    spec = (struct proc_spec){.argv = shell, .output_path = place->folder, .fd_in = -1};
    assert_false(proc_start(&spec, NULL, &pid, &err));
}

static void die(pid_t pid)
{
    (void)pid;
    _exit(0);
}

static void a_child_whose_parent_died_executes_nothing(void **state)
{
    struct place *place = *state;
    const char *const argv[] = {"/bin/sh", "-c", "echo executed", NULL};
    struct proc_spec spec = {.argv = argv, .output_path = place->log, .fd_in = -1};
    struct err err;
    pid_t pid;
    int status;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t parent = fork();
    if (parent == 0)
        _exit(proc_start(&spec, die, &pid, &err) ? 1 : 2);
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_int_equal(status, 0);
    assert_true(waitpid(-1, &status, 0) > 0); /* the grandchild is ours now */
    assert_int_equal(WEXITSTATUS(status), 127);
    assert_string_equal(logged(place), "");
}

static void environment_folder_and_group_are_as_asked(void **state)
{
    struct place *place = *state;
    const char *const argv[] = {"/bin/sh", "-c",
                                "echo $FRUIT; env | grep -c ^FRUIT=; pwd; read x; echo [$x]; "
                                "cut -d' ' -f5 /proc/$$/stat",
                                NULL};
    const char *const extra[] = {"FRUIT=plum", "OTHER=1", NULL};
    struct proc_spec spec = {.argv = argv,
                             .extra_env = extra,
                             .output_path = place->log,
                             .folder = place->folder,
                             .own_group = true,
                             .fd_in = -1};
    struct err err;
    pid_t pid;
    int status;
    setenv("FRUIT", "apple", 1);
    assert_true(proc_start(&spec, NULL, &pid, &err));
    assert_true(proc_wait(pid, SOON * NS_PER_S, &status));
    assert_string_equal(logged(place), arena_printf(place->arena, "plum\n1\n%s\n[]\n%d\n",
                                                    place->folder, (int)pid));
}

static void nothing_of_ours_leaks_into_the_child(void **state)
{
    struct place *place = *state;
    const char *const argv[] = {"/bin/sh", "-c", "ls /proc/self/fd | wc -l", NULL};
    struct proc_spec spec = {.argv = argv, .output_path = place->log, .fd_in = -1};
    struct err err;
    int leaky[2];
    assert_int_equal(pipe(leaky), 0); /* without O_CLOEXEC, as some library might */
    assert_true(proc_run(place->arena, &spec, SOON * NS_PER_S, &err));
    close(leaky[0]);
    close(leaky[1]);
    assert_string_equal(logged(place), "4\n"); /* 0, 1, 2 and the folder that ls reads */
}

static void running_reports_how_it_ended(void **state)
{
    struct place *place = *state;
    const char *const bad[] = {"/bin/sh", "-c",
                               "for i in 1 2 3 4 5 6 7; do echo line $i; done; exit 9", NULL};
    struct proc_spec spec = {.argv = bad, .output_path = place->log, .fd_in = -1};
    struct err err;
    assert_false(proc_run(place->arena, &spec, SOON * NS_PER_S, &err));
    assert_string_equal(err.text,
                        "/bin/sh ended with exit 9:\nline 3\nline 4\nline 5\nline 6\nline 7");
    const char *const killed[] = {"/bin/sh", "-c", "kill -9 $$", NULL};
    spec = (struct proc_spec){.argv = killed, .fd_in = -1};
    assert_false(proc_run(place->arena, &spec, SOON * NS_PER_S, &err));
    assert_string_equal(err.text, "/bin/sh ended with signal 9 (Killed)");
}

static void a_program_that_hangs_is_killed(void **state)
{
    struct place *place = *state;
    const char *const argv[] = {"/bin/sleep", "60", NULL};
    struct proc_spec spec = {.argv = argv, .own_group = true, .fd_in = -1};
    struct err err;
    uint64_t before_ns = os_now_ns();
    assert_false(proc_run(place->arena, &spec, 30 * NS_PER_MS, &err));
    assert_non_null(strstr(err.text, "did not end within 0.0 s"));
    assert_true(os_now_ns() - before_ns < SOON * NS_PER_S);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void capture_takes_the_output_up_to_a_limit(void **state)
{
    struct place *place = *state;
    const char *const argv[] = {"/bin/sh", "-c", "echo 1234567890; echo noise >&2", NULL};
    const char *output = NULL;
    struct err err;
    assert_true(proc_capture(place->arena, argv, SOON * NS_PER_S, 100, &output, &err));
    assert_string_equal(output, "1234567890\n");
    assert_true(proc_capture(place->arena, argv, SOON * NS_PER_S, 4, &output, &err));
    assert_string_equal(output, "1234");
    const char *const bad[] = {"/bin/false", NULL};
    assert_false(proc_capture(place->arena, bad, SOON * NS_PER_S, 4, &output, &err));
    const char *const slow[] = {"sleep", "60", NULL};
    assert_false(proc_capture(place->arena, slow, 30 * NS_PER_MS, 4, &output, &err));
    assert_string_equal(output, "1234");
}

static void programs_are_found_in_path(void **state)
{
    struct place *place = *state;
    setenv("PATH", "/nowhere::/usr/bin:/bin", 1);
    assert_string_equal(proc_find(place->arena, "sh"), "/usr/bin/sh");
    assert_null(proc_find(place->arena, "no-such-program"));
}

static void log_tails_are_whole_lines(void **state)
{
    struct place *place = *state;
    struct err err;
    assert_true(fs_write_atomic(place->log, "one\ntwo\nthree\n", 14, &err));
    assert_string_equal(proc_log_tail(place->arena, place->log, 2), "two\nthree");
    assert_string_equal(proc_log_tail(place->arena, place->log, 9), "one\ntwo\nthree");
    assert_string_equal(proc_log_tail(place->arena, place->log, 0), "");
    assert_string_equal(proc_log_tail(place->arena, "/no/file", 2), "");
}

static void facts_are_those_of_the_process(void **state)
{
    (void)state;
    struct proc_facts facts;
    proc_read(getpid(), &facts);
    assert_int_equal(facts.parent, getppid());
    assert_in_range(facts.resident_bytes, 256 << 10, (uint64_t)2 << 30);
    assert_true(facts.peak_bytes >= facts.resident_bytes);
    assert_in_range(facts.proportional_bytes, 1, facts.peak_bytes);
    assert_true(facts.cpu_ns > 0 && facts.cpu_ns <= os_self_cpu_ns());
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    proc_read(child, &facts);
    assert_int_equal(facts.parent, 0);
    assert_int_equal(facts.resident_bytes, 0);
}

static void family_is_root_children_and_grandchildren(void **state)
{
    struct place *place = *state;
    const char *const argv[] = {"/bin/sh", "-c", "sleep 60 & echo $!; wait", NULL};
    struct proc_spec spec = {.argv = argv,
                             .output_path = place->log,
                             .own_group = true,
                             .fd_in = -1};
    struct err err;
    pid_t pid, pids[8];
    int status;
    assert_true(proc_start(&spec, NULL, &pid, &err));
    for (int i = 0; i < 1000 && logged(place)[0] == '\0'; i++)
        os_sleep_ns(5 * NS_PER_MS);
    uint64_t grandchild;
    assert_true(num_u64(slice_trim(slice_of(logged(place))), &grandchild));
    assert_int_equal(proc_family(getpid(), pids, 8), 3);
    assert_int_equal(pids[0], getpid());
    assert_int_equal(pids[1], pid);
    assert_int_equal(pids[2], grandchild);
    assert_int_equal(proc_family(getpid(), pids, 2), 2);
    kill(-pid, SIGKILL);
    assert_true(proc_wait(pid, SOON * NS_PER_S, &status));
    assert_int_equal(proc_family(pid, pids, 8), 0);
}

static void a_user_can_be_taken_on_by_root_only(void **state)
{
    struct place *place = *state;
    const char *const argv[] = {"/usr/bin/id", "-un", NULL};
    struct proc_spec spec = {.argv = argv,
                             .output_path = place->log,
                             .user = "nobody",
                             .fd_in = -1};
    struct err err;
    bool fine = proc_run(place->arena, &spec, SOON * NS_PER_S, &err);
    assert_int_equal(fine, geteuid() == 0);
    if (fine)
        assert_string_equal(logged(place), "nobody\n");
    spec.user = "no-such-user";
    assert_false(proc_run(place->arena, &spec, SOON * NS_PER_S, &err));
}

static int raise_limit(struct arena *arena)
{
    const char *const argv[] = {"/bin/sh", "-c", "ulimit -n", NULL};
    const char *told = "";
    struct rlimit limit;
    struct err err;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    limit.rlim_cur = 99;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 2;
    proc_allow_descriptors();
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur != limit.rlim_max)
        return 3;
    if (!proc_capture(arena, argv, SOON * NS_PER_S, 100, &told, &err))
        return 4;
    return strcmp(told, "99\n") == 0 ? 0 : 5;
}

static void descriptors_are_for_us_alone(void **state)
{
    struct place *place = *state;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(raise_limit(place->arena));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PLACE(a_child_is_announced_before_it_executes),
        WITH_PLACE(failing_to_execute_is_reported_here),
        WITH_PLACE(a_child_whose_parent_died_executes_nothing),
        WITH_PLACE(environment_folder_and_group_are_as_asked),
        WITH_PLACE(nothing_of_ours_leaks_into_the_child),
        WITH_PLACE(running_reports_how_it_ended),
        WITH_PLACE(a_program_that_hangs_is_killed),
        WITH_PLACE(capture_takes_the_output_up_to_a_limit),
        WITH_PLACE(programs_are_found_in_path),
        WITH_PLACE(log_tails_are_whole_lines),
        WITH_PLACE(facts_are_those_of_the_process),
        WITH_PLACE(family_is_root_children_and_grandchildren),
        WITH_PLACE(descriptors_are_for_us_alone),
        WITH_PLACE(a_user_can_be_taken_on_by_root_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
