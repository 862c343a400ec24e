#include "server/reaper.h"

#include "base/arena.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/proc.h"
#include "server/family.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST_TEXT = 16 << 10, LINK_FD = 3 };

#define GENTLE_NS  (5 * NS_PER_S)
#define FIRM_NS    (2 * NS_PER_S)
#define KILLED_NS  (2 * NS_PER_S)
#define CLEANUP_NS (10 * NS_PER_S)

enum subject { FOLDER, PROCESS, CLEANUP, SUBJECT_COUNT };

/* What goes through the pipe, followed by `bytes` bytes of text. */
struct message {
    uint32_t subject, drop, bytes;
    pid_t pid;
};

/* Our side. A process has one reaper, and the registrations come from places that have nothing
 * else in common (a crash handler's view of the world), so there is one of these. */
struct owner {
    int link; /* the writing end; -1: none runs */
    pid_t pid;
};

static struct owner *the_owner(void)
{
    static struct owner owner = {-1, 0};
    return &owner;
}

/* --- the reaper's side --- */

struct entry {
    const char *text;
    pid_t pid;
    int pidfd; /* -1: had ended before it could be looked at */
};

struct list {
    struct entry *entries;
    size_t count, room;
};

struct reaper {
    struct arena *arena;
    struct list lists[SUBJECT_COUNT];
    reaper_cleanup_fn cleanup;
};

static bool read_full(int fd, void *into, size_t bytes)
{
    char *at = into;
    while (bytes > 0) {
        ssize_t got = read(fd, at, bytes);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        }
    }
    return true;
}

static void add_entry(struct reaper *reaper, const struct message *message, const char *text)
{
    struct list *list = &reaper->lists[message->subject];
    struct entry entry = {.pid = message->pid, .pidfd = -1};
    if (message->subject == PROCESS)
        entry.pidfd = pidfd_open(message->pid, 0);
    else
        entry.text = arena_text(reaper->arena, text);
    list->entries = arena_grow(reaper->arena, list->entries, list->count, &list->room,
                               list->count + 1, sizeof(*list->entries));
    list->entries[list->count++] = entry;
}

static void drop_entry(struct reaper *reaper, const struct message *message, const char *text)
{
    struct list *list = &reaper->lists[message->subject];
    for (size_t i = list->count; i > 0; i--) {
        struct entry *entry = &list->entries[i - 1];
        if (entry->text ? strcmp(entry->text, text) != 0 : entry->pid != message->pid)
            continue;
        if (entry->pidfd >= 0)
            close(entry->pidfd);
        memmove(entry, entry + 1, (list->count - i) * sizeof(*entry));
        list->count--;
        return;
    }
}

/* Until the end of the pipe. A message that was cut off is of a call that never returned. */
static void listen_until_end(struct reaper *reaper)
{
    char text[LONGEST_TEXT + 1];
    struct message message;
    while (read_full(LINK_FD, &message, sizeof(message))) {
        if (message.subject >= SUBJECT_COUNT || message.bytes > LONGEST_TEXT ||
            !read_full(LINK_FD, text, message.bytes))
            return;
        text[message.bytes] = '\0';
        if (message.drop)
            drop_entry(reaper, &message, text);
        else
            add_entry(reaper, &message, text);
    }
}

/* The first signal is for the process that was registered, and for its group when it leads one:
 * a script that was starting something. TERM and INT together: PostgreSQL's fast shutdown is
 * INT and its TERM waits for clients, while MariaDB blocks INT and goes down at TERM; each
 * takes the other one lightly. */
static void ask_to_end(const struct entry *root)
{
    static const int kindly[] = {SIGINT, SIGTERM};
    if (root->pidfd < 0 || pidfd_send_signal(root->pidfd, 0, NULL, 0) != 0)
        return;
    bool leads = getpgid(root->pid) == root->pid;
    for (size_t i = 0; i < ARRAY_COUNT(kindly); i++) {
        if (leads)
            (void)kill(-root->pid, kindly[i]);
        else
            (void)pidfd_send_signal(root->pidfd, kindly[i], NULL, 0);
    }
}

static void take_families(const struct reaper *reaper, struct family *family)
{
    const struct list *roots = &reaper->lists[PROCESS];
    for (size_t i = 0; i < roots->count; i++)
        family_take(family, roots->entries[i].pid, roots->entries[i].pidfd);
}

static bool end_by(const struct reaper *reaper, struct family *family, int number,
                   uint64_t timeout_ns)
{
    take_families(reaper, family);
    family_signal(family, number);
    return family_wait(family, timeout_ns);
}

static void end_processes(struct reaper *reaper)
{
    struct family family = {.arena = reaper->arena};
    const struct list *roots = &reaper->lists[PROCESS];
    take_families(reaper, &family);
    for (size_t i = 0; i < roots->count; i++)
        ask_to_end(&roots->entries[i]);
    if (!family_wait(&family, GENTLE_NS) && !end_by(reaper, &family, SIGQUIT, FIRM_NS))
        (void)end_by(reaper, &family, SIGKILL, KILLED_NS);
    family_close(&family);
}

/* In a process of its own: a server that does not answer must not keep the folders. */
static void run_cleanup(const struct reaper *reaper, const char *text)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        reaper->cleanup(text);
        _exit(0);
    }
    if (child > 0 && !proc_wait(child, CLEANUP_NS, &status)) {
        (void)kill(child, SIGKILL);
        (void)proc_wait(child, KILLED_NS, &status);
    }
}

/* Tried again for a while: a process that was killed may still be closing files in it. */
static void remove_folder(const char *path)
{
    struct err err;
    for (int i = 0; i < 20 && !fs_remove_tree(path, &err); i++)
        os_sleep_ns(100 * NS_PER_MS);
}

static void reap(struct reaper *reaper)
{
    end_processes(reaper);
    const struct list *cleanups = &reaper->lists[CLEANUP];
    for (size_t i = cleanups->count; reaper->cleanup && i > 0; i--)
        run_cleanup(reaper, cleanups->entries[i - 1].text);
    const struct list *folders = &reaper->lists[FOLDER];
    for (size_t i = folders->count; i > 0; i--)
        remove_folder(folders->entries[i - 1].text);
}

static void ignore_signals(void)
{
    static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
                                  SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < ARRAY_COUNT(ignored); i++)
        sigaction(ignored[i], &action, NULL);
}

/* Nothing of ours stays open in it: neither the terminal, so that a pipe behind us ends when we
 * do, nor anything else that somebody waits for. */
static void leave_descriptors(int link)
{
    if (link != LINK_FD)
        (void)dup3(link, LINK_FD, O_CLOEXEC);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; nothing >= 0 && fd < LINK_FD; fd++)
        (void)dup2(nothing, fd);
    (void)close_range(LINK_FD + 1, ~0U, 0);
}

static NORETURN void run_reaper(int link, reaper_cleanup_fn cleanup, const sigset_t *mask)
{
    struct reaper reaper = {.cleanup = cleanup};
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_NAME, "dbdyno-reaper");
    ignore_signals();
    pthread_sigmask(SIG_SETMASK, mask, NULL);
    leave_descriptors(link);
    reaper.arena = arena_create(16 << 10);
    listen_until_end(&reaper);
    reap(&reaper);
    _exit(0);
}

/* --- our side --- */

bool reaper_start(reaper_cleanup_fn cleanup, struct err *err)
{
    struct owner *owner = the_owner();
    int ends[2];
    sigset_t all, before;
    assert(owner->link < 0);
    proc_allow_descriptors(); /* it holds one for each process of a server */
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, "making the pipe to the reaper");
    /* A Ctrl-C between the fork and the reaper's own settings must not end it. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        run_reaper(ends[0], cleanup, &before);
    int sys = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        errno = sys;
        return err_errno(err, "starting the reaper");
    }
    (void)setpgid(pid, pid);
    *owner = (struct owner){ends[1], pid};
    return true;
}

static bool tell(enum subject subject, bool drop, pid_t pid, const char *text)
{
    struct {
        struct message head;
        char text[LONGEST_TEXT];
    } out;
    const struct owner *owner = the_owner();
    size_t bytes = strlen(text), sent = 0;
    if (bytes > LONGEST_TEXT)
        return false;
    if (owner->link < 0)
        return true;
    out.head = (struct message){(uint32_t)subject, drop, (uint32_t)bytes, pid};
    memcpy(out.text, text, bytes);
    bytes += sizeof(out.head);
    while (sent < bytes) {
        ssize_t put = write(owner->link, (const char *)&out + sent, bytes - sent);
        if (put < 0 && errno != EINTR)
            return true; /* the reaper was killed: nobody to tell */
        sent += put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* No folder has so long a name that it cannot be told: making it fails. */
void reaper_add_folder(const char *path)
{
    (void)tell(FOLDER, false, 0, path);
}

void reaper_drop_folder(const char *path)
{
    (void)tell(FOLDER, true, 0, path);
}

void reaper_add_process(pid_t pid)
{
    (void)tell(PROCESS, false, pid, "");
}

void reaper_drop_process(pid_t pid)
{
    (void)tell(PROCESS, true, pid, "");
}

bool reaper_add_cleanup(const char *text)
{
    return tell(CLEANUP, false, 0, text);
}

void reaper_drop_cleanup(const char *text)
{
    (void)tell(CLEANUP, true, 0, text);
}

void reaper_finish(void)
{
    struct owner *owner = the_owner();
    int status;
    if (owner->link < 0)
        return;
    close(owner->link);
    (void)proc_wait(owner->pid, UINT64_MAX, &status);
    *owner = (struct owner){-1, 0};
}
