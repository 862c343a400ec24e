#include "os/proc.h"

#include "base/text.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/sig.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_EXEC = 127, USER_BYTES = 16 << 10 };

/* What the child needs; made ready before the fork, because a child of a process with threads
 * may only make plain system calls. Descriptors are 3 or higher. */
struct launch {
    const char *path;
    char *const *argv;
    char *const *env;
    const char *folder;
    bool own_group, change_user;
    uid_t uid;
    gid_t gid;
    cpu_set_t cpus;      /* none: as we do */
    int in, out, errors; /* become 0, 1, 2; -1 keeps ours */
    int gate,
        report; /* the child's ends: the permission to go on, and the errno of a failure */
};

/* What failed in the child, and how. */
struct fault {
    int sys;
    char step[16];
};

static NORETURN void give_up(const struct launch *launch, const char *step)
{
    struct fault fault = {.sys = errno};
    memcpy(fault.step, step, strlen(step) + 1);
    ssize_t put = write(launch->report, &fault, sizeof(fault));
    _exit(put < 0 ? NO_EXEC - 1 : NO_EXEC);
}

static void close_above(const struct launch *launch)
{
    int low = launch->gate < launch->report ? launch->gate : launch->report;
    int high = launch->gate < launch->report ? launch->report : launch->gate;
    if (low > 3)
        (void)close_range(3, (unsigned)low - 1, 0);
    if (high > low + 1)
        (void)close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    (void)close_range((unsigned)high + 1, ~0U, 0);
}

/* The limit of descriptors as it was before we raised it; {0, 0}: we did not. */
static struct rlimit *former_limit(void)
{
    static struct rlimit limit;
    return &limit;
}

void proc_allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    *former_limit() = limit;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        *former_limit() = (struct rlimit){0, 0};
}

static void become_user(const struct launch *launch)
{
    if (setgroups(0, NULL) != 0 || setgid(launch->gid) != 0 || setuid(launch->uid) != 0)
        give_up(launch, "changing user");
}

static NORETURN void run_child(const struct launch *launch)
{
    char go;
    int fds[] = {launch->in, launch->out, launch->errors};
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0 && dup2(fds[i], i) < 0)
            give_up(launch, "redirecting");
    }
    /* Also the parent's ends of both pipes: the gate must close when the parent dies. */
    close_above(launch);
    if (launch->own_group && setpgid(0, 0) != 0)
        give_up(launch, "leaving group");
    ssize_t got;
    do
        got = read(launch->gate, &go, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(NO_EXEC);
    if (launch->change_user)
        become_user(launch);
    if (launch->folder && chdir(launch->folder) != 0)
        give_up(launch, "entering folder");
    if (CPU_COUNT(&launch->cpus) > 0 &&
        sched_setaffinity(0, sizeof(launch->cpus), &launch->cpus) != 0)
        give_up(launch, "pinning to CPUs");
    if (former_limit()->rlim_max > 0)
        (void)setrlimit(RLIMIT_NOFILE, former_limit());
    sig_default();
    execve(launch->path, launch->argv, launch->env);
    give_up(launch, "executing");
}

/* Above the three standard descriptors, where no dup2 can hit it. */
static int move_high(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int sys = errno;
    close(fd);
    errno = sys;
    return high;
}

static bool open_pipe(int ends[2], struct err *err)
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, "making a pipe");
    ends[0] = move_high(ends[0]);
    ends[1] = move_high(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0)
        return true;
    err_errno(err, "making a pipe");
    close(ends[0]);
    close(ends[1]);
    return false;
}

static int open_high(const char *path, int flags)
{
    return move_high(open(path, flags | O_CLOEXEC, 0644));
}

static bool fault_of_child(const struct launch *launch, int report, pid_t pid, struct err *err)
{
    struct fault fault;
    ssize_t got;
    do
        got = read(report, &fault, sizeof(fault));
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof(fault))
        return true;
    (void)proc_wait(pid, UINT64_MAX, &(int){0});
    errno = fault.sys;
    return err_errno(err, "starting %s: %s", launch->path, fault.step);
}

/* Forks with both pipes; closes the ends that this side does not keep. */
static bool fork_child(struct launch *launch, void (*announce)(pid_t pid), pid_t *pid,
                       struct err *err)
{
    int gate[2], report[2];
    if (!open_pipe(gate, err))
        return false;
    if (!open_pipe(report, err)) {
        close(gate[0]);
        close(gate[1]);
        return false;
    }
    launch->gate = gate[0];
    launch->report = report[1];
    pid_t child = fork();
    if (child == 0)
        run_child(launch);
    bool fine = child > 0 || err_errno(err, "starting %s", launch->path);
    close(report[1]);
    if (fine && announce)
        announce(child);
    /* Our copy of the reading end is still open: no SIGPIPE when the child has failed already.
     */
    if (fine && write(gate[1], "", 1) != 1)
        fine = err_errno(err, "starting %s", launch->path);
    close(gate[0]);
    close(gate[1]);
    fine = fine && fault_of_child(launch, report[0], child, err);
    close(report[0]);
    if (fine)
        *pid = child;
    return fine;
}

/* Does `entry` ("NAME=VALUE") set a name that one of `extra` sets too? */
static bool is_overridden(const char *entry, const char *const *extra)
{
    size_t name = strcspn(entry, "=");
    for (; *extra; extra++) {
        if (strncmp(entry, *extra, name) == 0 && (*extra)[name] == '=')
            return true;
    }
    return false;
}

static char *const *merge_env(struct arena *arena, const char *const *extra)
{
    size_t ours = 0, more = 0, count = 0;
    if (!extra)
        return environ;
    while (environ && environ[ours])
        ours++;
    while (extra[more])
        more++;
    char **merged = arena_array(arena, char *, ours + more + 1);
    for (size_t i = 0; i < ours; i++) {
        if (!is_overridden(environ[i], extra))
            merged[count++] = environ[i];
    }
    for (size_t i = 0; i < more; i++)
        merged[count++] = arena_text(arena, extra[i]);
    return merged;
}

static char *const *copy_argv(struct arena *arena, const char *const *argv)
{
    size_t count = 0;
    while (argv[count])
        count++;
    char **copy = arena_array(arena, char *, count + 1);
    for (size_t i = 0; i < count; i++)
        copy[i] = arena_text(arena, argv[i]);
    return copy;
}

static bool find_user(struct arena *arena, const char *name, struct launch *launch,
                      struct err *err)
{
    struct passwd user, *found = NULL;
    char *buffer = arena_array(arena, char, USER_BYTES);
    if (geteuid() != 0)
        return err_set(err, ERR_SYSTEM, "running as user %s needs root", name);
    int sys = getpwnam_r(name, &user, buffer, USER_BYTES, &found);
    if (!found) {
        errno = sys ? sys : ENOENT;
        return err_errno(err, "looking up user %s", name);
    }
    launch->change_user = true;
    launch->uid = user.pw_uid;
    launch->gid = user.pw_gid;
    return true;
}

static bool prepare(struct arena *arena, const struct proc_spec *spec, struct launch *launch,
                    struct err *err)
{
    assert(spec->argv && spec->argv[0]);
    launch->path = spec->argv[0];
    launch->argv = copy_argv(arena, spec->argv);
    launch->env = merge_env(arena, spec->extra_env);
    launch->folder = spec->folder;
    launch->own_group = spec->own_group;
    CPU_ZERO(&launch->cpus);
    for (uint32_t i = 0; i < spec->cpu_count; i++)
        CPU_SET(spec->cpus[i], &launch->cpus);
    return !spec->user || find_user(arena, spec->user, launch, err);
}

static bool start_prepared(const struct proc_spec *spec, struct launch *launch,
                           void (*announce)(pid_t pid), pid_t *pid, struct err *err)
{
    launch->in = spec->fd_in >= 0 ? move_high(fcntl(spec->fd_in, F_DUPFD_CLOEXEC, 3))
                                  : open_high("/dev/null", O_RDONLY);
    launch->out =
        spec->output_path ? open_high(spec->output_path, O_WRONLY | O_CREAT | O_APPEND) : -1;
    launch->errors = launch->out;
    bool fine = launch->in >= 0 && (launch->out >= 0 || !spec->output_path);
    fine = fine ? fork_child(launch, announce, pid, err)
                : err_errno(err, "opening the input or output of %s", launch->path);
    if (launch->in >= 0)
        close(launch->in);
    if (launch->out >= 0)
        close(launch->out);
    return fine;
}

bool proc_start(const struct proc_spec *spec, void (*announce)(pid_t pid), pid_t *pid,
                struct err *err)
{
    struct arena *scratch = arena_create(16 << 10);
    struct launch launch = {.path = NULL};
    bool fine = prepare(scratch, spec, &launch, err) &&
                start_prepared(spec, &launch, announce, pid, err);
    arena_destroy(&scratch);
    return fine;
}

static uint64_t deadline(uint64_t now_ns, uint64_t timeout_ns)
{
    return timeout_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + timeout_ns;
}

bool proc_wait(pid_t pid, uint64_t timeout_ns, int *status)
{
    uint64_t now_ns = os_now_ns(), until_ns = deadline(now_ns, timeout_ns);
    uint64_t nap_ns = 100 * NS_PER_US;
    for (;;) {
        int found;
        pid_t ended = waitpid(pid, &found, WNOHANG);
        if (ended == pid) {
            *status = found;
            return true;
        }
        if (ended < 0 && errno != EINTR) {
            *status = 0; /* not ours, or waited for before: nothing to learn */
            return true;
        }
        now_ns = os_now_ns();
        if (now_ns >= until_ns)
            return false;
        os_sleep_until_ns(until_ns - now_ns < nap_ns ? until_ns : now_ns + nap_ns);
        nap_ns = nap_ns < 2 * NS_PER_MS ? nap_ns * 2 : nap_ns;
    }
}

static void kill_child(pid_t pid, bool own_group)
{
    int status;
    if (own_group)
        (void)kill(-pid, SIGKILL);
    (void)kill(pid, SIGKILL);
    (void)proc_wait(pid, UINT64_MAX, &status);
}

/* A request that stood before does not count: cleaning up after it runs programs too. */
static bool wait_unless_asked(pid_t pid, uint64_t timeout_ns, int *status, bool *asked)
{
    int before = sig_pending();
    uint64_t until_ns = deadline(os_now_ns(), timeout_ns);
    for (;;) {
        uint64_t now_ns = os_now_ns();
        uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
        bool last = left_ns <= 20 * NS_PER_MS;
        if (proc_wait(pid, last ? left_ns : 20 * NS_PER_MS, status))
            return true;
        *asked = before == 0 && sig_pending() != 0;
        if (last || *asked)
            return false;
    }
}

static bool report_end(struct arena *scratch, const struct proc_spec *spec, int status,
                       struct err *err)
{
    char text[64];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    proc_status_text(status, text, sizeof(text));
    const char *tail = spec->output_path ? proc_log_tail(scratch, spec->output_path, 5) : "";
    return err_set(err, ERR_SYSTEM, "%s ended with %s%s%s", spec->argv[0], text,
                   tail[0] ? ":\n" : "", tail);
}

bool proc_run(struct arena *scratch, const struct proc_spec *spec, uint64_t timeout_ns,
              struct err *err)
{
    pid_t pid;
    int status;
    bool asked = false;
    if (!proc_start(spec, NULL, &pid, err))
        return false;
    if (wait_unless_asked(pid, timeout_ns, &status, &asked))
        return report_end(scratch, spec, status, err);
    kill_child(pid, spec->own_group);
    if (asked)
        return err_set(err, ERR_CANCELLED, "interrupted while %s ran", spec->argv[0]);
    return err_set(err, ERR_SYSTEM, "%s did not end within %.1f s and was killed",
                   spec->argv[0], (double)timeout_ns / (double)NS_PER_S);
}

/* Reads until the end of the pipe; what is past the limit is read and dropped. */
static bool read_until(int fd, uint64_t until_ns, struct text *into)
{
    char buffer[4096];
    for (;;) {
        uint64_t now_ns = os_now_ns();
        uint64_t left_ms = until_ns > now_ns ? (until_ns - now_ns) / NS_PER_MS + 1 : 0;
        struct pollfd watch = {.fd = fd, .events = POLLIN};
        int ready = poll(&watch, 1, left_ms > 1000 ? 1000 : (int)left_ms);
        if (ready > 0) {
            ssize_t got = read(fd, buffer, sizeof(buffer));
            if (got == 0)
                return true;
            if (got > 0)
                text_add_slice(into, (struct slice){buffer, (size_t)got});
        }
        if (left_ms == 0)
            return false;
    }
}

static bool start_captured(struct arena *arena, const char *const *argv, int out, pid_t *pid,
                           struct err *err)
{
    struct proc_spec spec = {.argv = argv, .own_group = true, .fd_in = -1};
    struct launch launch = {.out = out};
    if (!prepare(arena, &spec, &launch, err))
        return false;
    if (!strchr(launch.path, '/')) {
        const char *found = proc_find(arena, launch.path);
        launch.path = found ? found : launch.path;
    }
    launch.in = open_high("/dev/null", O_RDWR);
    if (launch.in < 0)
        return err_errno(err, "opening /dev/null");
    launch.errors = launch.in;
    bool fine = fork_child(&launch, NULL, pid, err);
    close(launch.in);
    return fine;
}

bool proc_capture(struct arena *arena, const char *const *argv, uint64_t timeout_ns,
                  size_t limit, const char **output, struct err *err)
{
    int ends[2], status;
    pid_t pid;
    struct text text;
    uint64_t until_ns = deadline(os_now_ns(), timeout_ns);
    struct proc_spec spec = {.argv = argv};
    if (!open_pipe(ends, err))
        return false;
    bool fine = start_captured(arena, argv, ends[1], &pid, err);
    close(ends[1]);
    if (!fine) {
        close(ends[0]);
        return false;
    }
    text_init(&text, arena, limit);
    fine = read_until(ends[0], until_ns, &text);
    close(ends[0]);
    uint64_t now_ns = os_now_ns();
    if (!fine || !proc_wait(pid, until_ns > now_ns ? until_ns - now_ns : 0, &status)) {
        kill_child(pid, true);
        return err_set(err, ERR_SYSTEM, "%s did not end in time and was killed", argv[0]);
    }
    if (!report_end(arena, &spec, status, err))
        return false;
    *output = text.at;
    return true;
}

void proc_status_text(int status, char *buffer, size_t room)
{
    if (WIFEXITED(status))
        text_print(buffer, room, "exit %d", WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        text_print(buffer, room, "signal %d (%s)", WTERMSIG(status),
                   sigdescr_np(WTERMSIG(status)) ? sigdescr_np(WTERMSIG(status)) : "unknown");
    else
        text_print(buffer, room, "status %d", status);
}

const char *proc_find(struct arena *arena, const char *name)
{
    const char *path = secure_getenv("PATH");
    struct slice folder, rest = slice_of(path ? path : "/usr/bin:/bin");
    bool more = true;
    while (more) {
        more = slice_split(rest, ':', &folder, &rest);
        if (folder.bytes == 0)
            continue;
        const char *file = arena_printf(arena, "%.*s/%s", (int)folder.bytes, folder.at, name);
        if (fs_is_executable(file))
            return file;
    }
    return NULL;
}
