#include "server/family.h"

#include "base/slice.h"
#include "base/text.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/proc.h"

#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum { FAMILY_MOST = 2048, MAPS_BYTES = 4 << 20 };

static const char shared_place[] = "/dev/shm/PostgreSQL.";

struct reading {
    unsigned count;
    pid_t pids[FAMILY_MOST];
};

static void read_now(pid_t root, struct reading *reading)
{
    reading->count = proc_family(root, reading->pids, FAMILY_MOST);
    if (reading->count > 0 && getpgid(root) == root)
        reading->count +=
            proc_group(root, reading->pids + reading->count, FAMILY_MOST - reading->count);
}

static bool has(const pid_t *pids, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (pids[i] == pid)
            return true;
    }
    return false;
}

static bool lives(int pidfd)
{
    return pidfd >= 0 && pidfd_send_signal(pidfd, 0, NULL, 0) == 0;
}

/* A pid of one that has ended may be another's by now. */
static bool is_known(const struct family *family, pid_t pid)
{
    for (size_t i = 0; i < family->count; i++) {
        if (family->pids[i] == pid && lives(family->handles[i].fd))
            return true;
    }
    return false;
}

static void add(struct family *family, pid_t pid)
{
    int fd = pidfd_open(pid, 0);
    if (fd < 0)
        return;
    size_t count = family->count + 1;
    family->handles = arena_grow(family->arena, family->handles, family->count,
                                 &family->handle_room, count, sizeof(*family->handles));
    family->pids = arena_grow(family->arena, family->pids, family->count, &family->pid_room,
                              count, sizeof(*family->pids));
    family->handles[family->count] = (struct pollfd){.fd = fd, .events = POLLIN};
    family->pids[family->count] = pid;
    family->count = count;
}

/* Whoever is still in the family when his handle is open was in it when it was opened, or the
 * handle is of one who has ended. */
static void keep_members(struct family *family, size_t from, const struct reading *again)
{
    size_t kept = from;
    for (size_t i = from; i < family->count; i++) {
        if (!has(again->pids, again->count, family->pids[i])) {
            close(family->handles[i].fd);
            continue;
        }
        family->handles[kept] = family->handles[i];
        family->pids[kept++] = family->pids[i];
    }
    family->count = kept;
}

void family_take(struct family *family, pid_t root, int root_fd)
{
    struct reading reading;
    size_t from = family->count;
    if (!lives(root_fd))
        return;
    read_now(root, &reading);
    for (unsigned i = 0; i < reading.count; i++) {
        if (!is_known(family, reading.pids[i]))
            add(family, reading.pids[i]);
    }
    read_now(root, &reading);
    if (!lives(root_fd))
        reading.count = 0;
    keep_members(family, from, &reading);
}

static bool is_noted(const struct family *family, struct slice path)
{
    for (size_t i = 0; i < family->shared_count; i++) {
        if (slice_is(path, family->shared[i]))
            return true;
    }
    return false;
}

/* A line of maps ends with the path. */
static void note_shared(struct family *family, pid_t pid)
{
    char maps[32];
    struct err err;
    struct slice rest, line;
    text_print(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
    if (!fs_read(family->arena, maps, MAPS_BYTES, &rest.at, &rest.bytes, &err))
        return;
    while (rest.bytes > 0) {
        (void)slice_split(rest, '\n', &line, &rest);
        const char *path = memchr(line.at, '/', line.bytes);
        if (!path)
            continue;
        struct slice name = slice_skip(line, (size_t)(path - line.at));
        if (!slice_starts(name, shared_place) || is_noted(family, name))
            continue;
        family->shared =
            arena_grow(family->arena, (void *)family->shared, family->shared_count,
                       &family->shared_room, family->shared_count + 1, sizeof(*family->shared));
        family->shared[family->shared_count++] = arena_slice(family->arena, name);
    }
}

void family_signal(struct family *family, int number)
{
    for (size_t i = 0; i < family->count; i++) {
        if (family->handles[i].fd >= 0)
            note_shared(family, family->pids[i]);
    }
    for (size_t i = 0; i < family->count; i++) {
        if (family->handles[i].fd >= 0)
            (void)pidfd_send_signal(family->handles[i].fd, number, NULL, 0);
    }
}

/* poll() says of a handle when its process has ended. */
static size_t count_living(struct family *family)
{
    size_t living = 0;
    for (size_t i = 0; i < family->count; i++) {
        struct pollfd *handle = &family->handles[i];
        if (handle->fd >= 0 && (handle->revents & POLLIN)) {
            close(handle->fd);
            handle->fd = -1;
        }
        living += handle->fd >= 0;
    }
    return living;
}

bool family_wait(struct family *family, uint64_t timeout_ns)
{
    uint64_t until_ns = os_now_ns() + timeout_ns;
    for (;;) {
        size_t living = count_living(family);
        uint64_t now_ns = os_now_ns();
        if (living == 0 || now_ns >= until_ns)
            return living == 0;
        (void)poll(family->handles, (nfds_t)family->count,
                   (int)((until_ns - now_ns) / NS_PER_MS) + 1);
    }
}

void family_close(struct family *family)
{
    size_t living = count_living(family);
    for (size_t i = 0; living == 0 && i < family->shared_count; i++)
        (void)unlink(family->shared[i]);
    for (size_t i = 0; i < family->count; i++) {
        if (family->handles[i].fd >= 0)
            close(family->handles[i].fd);
    }
    family->count = family->shared_count = 0;
}
