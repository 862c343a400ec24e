#include "base/num.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/proc.h"
#include "server/reaper.h"
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each test has an owner: a process that starts a reaper, registers a folder, a sleeping
 * process and a clean-up, tells the pid and dies as it is told. */
struct scene {
    char root[64], folder[96], mark[96], dropped[96];
};

static void make_scene(struct scene *scene)
{
    snprintf(scene->root, sizeof(scene->root), "/tmp/dbdyno-test-XXXXXX");
    assert_non_null(mkdtemp(scene->root));
    snprintf(scene->folder, sizeof(scene->folder), "%s/folder", scene->root);
    snprintf(scene->mark, sizeof(scene->mark), "%s/mark", scene->root);
    snprintf(scene->dropped, sizeof(scene->dropped), "%s/dropped", scene->root);
}

static void touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* A process that has ended but not been waited for is gone too. */
static bool is_alive(pid_t pid)
{
    char path[64], state = 'X';
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    int got = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return got == 1 && state != 'Z' && state != 'X';
}

static pid_t start_sleeper(void)
{
    static const char *const argv[] = {"/bin/sleep", "60", NULL};
    const struct proc_spec spec = {.argv = argv, .own_group = true, .fd_in = -1};
    struct err err;
    pid_t pid = -1;
    if (!proc_start(&spec, reaper_add_process, &pid, &err))
        _exit(3);
    return pid;
}

static void die(int how)
{
    if (how == 0)
        reaper_finish();
    else if (how == SIGABRT)
        abort();
    else
        raise(how);
    _exit(0);
}

static void own(const struct scene *scene, int how, int tell)
{
    struct err err;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGABRT, &usual, NULL); /* cmocka has its own for it */
    if (!reaper_start(touch, &err))
        _exit(2);
    reaper_add_folder(scene->folder);
    mkdir(scene->folder, 0700);
    mkdir(scene->dropped, 0700);
    reaper_add_folder(scene->dropped);
    reaper_drop_folder(scene->dropped);
    if (!reaper_add_cleanup(scene->mark))
        _exit(6);
    pid_t pid = start_sleeper();
    if (write(tell, &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
        _exit(4);
    die(how);
}

static bool all_gone(const struct scene *scene, pid_t pid)
{
    uint64_t until_ns = os_now_ns() + 10 * NS_PER_S;
    while (os_now_ns() < until_ns) {
        if (!is_alive(pid) && !exists(scene->folder) && exists(scene->mark))
            return true;
        os_sleep_ns(2 * NS_PER_MS);
    }
    return false;
}

static void nothing_is_left_after(int how)
{
    struct scene scene;
    struct err err;
    int ends[2], status;
    pid_t sleeper = -1;
    make_scene(&scene);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t owner = fork();
    if (owner == 0)
        own(&scene, how, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &sleeper, sizeof(sleeper)), (ssize_t)sizeof(sleeper));
    close(ends[0]);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    if (how == 0)
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    else
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == how);
    assert_true(all_gone(&scene, sleeper));
    assert_true(exists(scene.dropped)); /* what was taken back stays */
    assert_true(fs_remove_tree(scene.root, &err));
}

static void nothing_is_left_after_a_kill(void **state)
{
    (void)state;
    nothing_is_left_after(SIGKILL);
}

static void nothing_is_left_after_a_signal(void **state)
{
    (void)state;
    nothing_is_left_after(SIGTERM);
}

static void nothing_is_left_after_a_crash(void **state)
{
    (void)state;
    nothing_is_left_after(SIGABRT);
}

/* finish waits: all is gone when the owner has ended. */
static void finishing_cleans_up_what_is_still_registered(void **state)
{
    (void)state;
    nothing_is_left_after(0);
}

/* Ctrl-C goes to the whole group of the terminal; the reaper is not in it. */
static void the_reaper_is_in_a_group_of_its_own(void **state)
{
    (void)state;
    int ends[2], status;
    pid_t members[8], reaper = -1;
    struct err err;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t owner = fork();
    if (owner == 0) {
        if (!reaper_start(NULL, &err) || proc_family(getpid(), members, 8) != 2)
            _exit(2);
        reaper = members[1];
        (void)kill(reaper, SIGINT);
        (void)kill(reaper, SIGTERM);
        os_sleep_ns(20 * NS_PER_MS);
        bool fine = getpgid(reaper) == reaper && is_alive(reaper);
        reaper_finish();
        _exit(fine && !is_alive(reaper) ? 0 : 5);
    }
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_int_equal(status, 0);
}

static void without_a_reaper_registering_does_nothing(void **state)
{
    (void)state;
    reaper_add_folder("/tmp");
    reaper_add_process(getpid());
    assert_true(reaper_add_cleanup("text"));
    reaper_finish();
    assert_true(exists("/tmp"));
}

static void a_text_that_is_too_long_is_refused(void **state)
{
    (void)state;
    enum { LONGEST = 16 << 10 };
    static char text[LONGEST + 2];
    int status;
    pid_t owner = fork();
    if (owner == 0) {
        struct err err;
        if (!reaper_start(NULL, &err))
            _exit(2);
        memset(text, 'x', LONGEST + 1);
        bool refused = !reaper_add_cleanup(text);
        reaper_add_folder(text);
        text[LONGEST] = '\0';
        bool taken = reaper_add_cleanup(text);
        reaper_finish();
        _exit(refused && taken ? 0 : 5);
    }
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_int_equal(status, 0);
}

/* A shell that waits for what it started: both are told to end, the second by the group, as its
 * parent is no longer known to be the first. */
static void own_a_shell(const struct scene *scene, int tell)
{
    const char *const argv[] = {"/bin/sh", "-c", "sleep 60 & echo $! > $0; wait", scene->mark,
                                NULL};
    const struct proc_spec spec = {.argv = argv, .own_group = true, .fd_in = -1};
    struct err err;
    pid_t pid = -1;
    if (!reaper_start(NULL, &err) || !proc_start(&spec, reaper_add_process, &pid, &err))
        _exit(2);
    while (!exists(scene->mark))
        os_sleep_ns(NS_PER_MS);
    os_sleep_ns(5 * NS_PER_MS);
    if (write(tell, &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
        _exit(4);
    (void)raise(SIGKILL);
}

static void a_group_ends_with_its_leader(void **state)
{
    (void)state;
    struct scene scene;
    struct err err;
    int ends[2], status;
    pid_t shell = -1;
    make_scene(&scene);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    uint64_t start_ns = os_now_ns();
    pid_t owner = fork();
    if (owner == 0)
        own_a_shell(&scene, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &shell, sizeof(shell)), (ssize_t)sizeof(shell));
    close(ends[0]);
    char text[32] = "";
    uint64_t sleeper = 0;
    FILE *file = fopen(scene.mark, "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_true(num_u64(slice_trim(slice_of(text)), &sleeper));
    assert_int_equal(waitpid(owner, &status, 0), owner);
    while (is_alive(shell) || is_alive((pid_t)sleeper)) {
        assert_true(os_now_ns() - start_ns < 3 * NS_PER_S); /* no QUIT, no KILL */
        os_sleep_ns(2 * NS_PER_MS);
    }
    assert_true(fs_remove_tree(scene.root, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_reaper_registering_does_nothing),
        cmocka_unit_test(nothing_is_left_after_a_kill),
        cmocka_unit_test(nothing_is_left_after_a_signal),
        cmocka_unit_test(nothing_is_left_after_a_crash),
        cmocka_unit_test(finishing_cleans_up_what_is_still_registered),
        cmocka_unit_test(a_text_that_is_too_long_is_refused),
        cmocka_unit_test(a_group_ends_with_its_leader),
        cmocka_unit_test(the_reaper_is_in_a_group_of_its_own),
    };
    return cmocka_run_group_tests_name("reaper", tests, NULL, NULL);
}
