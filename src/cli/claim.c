#include "base/hash.h"
#include "cli/cli_internal.h"
#include "os/fs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A claim is a listening unix socket with an abstract name, which no file stands for and the
 * kernel forgets with its process. Nobody accepts: whoever connects learns the pid. */

enum { LINE_BYTES_MAX = 1 << 22, WAITING_MAX = 4096, TRIES = 3, OTHERS_MAX = 8 };

static const char prefix[] = "dbdyno:";

static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX}; /* a path that begins with NUL */
    size_t bytes = text_print(address->sun_path + 1, sizeof(address->sun_path) - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes);
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* The process that holds a name: its pid, 0 when it cannot be told, -1 when there is none. */
static pid_t holder_of(const char *name)
{
    struct sockaddr_un address;
    struct ucred holder = {.pid = 0};
    socklen_t bytes = sizeof(holder), length = address_of(name, &address);
    int fd = new_socket();
    if (fd < 0)
        return 0;
    bool there = connect(fd, (const struct sockaddr *)&address, length) == 0;
    bool gone = !there && errno == ECONNREFUSED;
    if (there && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &holder, &bytes) != 0)
        holder.pid = 0;
    close(fd);
    return gone ? -1 : holder.pid;
}

/* The place of the record, by whatever path it is named. What is no file (/dev/stdout) may be
 * written by many. */
static const char *name_of(struct arena *arena, const char *out)
{
    char real[PATH_MAX];
    struct stat info;
    if (stat(out, &info) == 0 && !S_ISREG(info.st_mode))
        return arena_printf(arena, "%spid-%d", prefix, (int)getpid());
    const char *path = realpath(out, real) ? real : fs_absolute(arena, out);
    return arena_printf(arena, "%s%016" PRIx64, prefix,
                        hash_bytes(HASH_START, path, strlen(path)));
}

static const char *pid_words(struct arena *arena, pid_t pid)
{
    return pid > 0 ? arena_printf(arena, " (pid %d)", (int)pid) : "";
}

bool cli_claim_output(struct arena *arena, const char *out, struct cli_claim *claim,
                      struct err *err)
{
    struct sockaddr_un address;
    const char *name = name_of(arena, out);
    socklen_t length = address_of(name, &address);
    pid_t holder = -1;
    int fd = new_socket();
    *claim = (struct cli_claim){.fd = -1, .name = name};
    if (fd < 0)
        return true; /* it does without */
    for (int i = 0; i < TRIES && holder < 0; i++) {
        if (bind(fd, (const struct sockaddr *)&address, length) == 0) {
            (void)listen(fd, WAITING_MAX);
            claim->fd = fd;
            return true;
        }
        if (errno != EADDRINUSE)
            break;
        holder = holder_of(name); /* -1: it has just gone, or not yet begun to listen */
    }
    bool taken = errno == EADDRINUSE || holder >= 0;
    close(fd);
    if (!taken)
        return true;
    return err_set(err, ERR_SYSTEM, "another dbdyno%s writes %s; give --out another name",
                   pid_words(arena, holder), out);
}

void cli_claim_drop(struct cli_claim *claim)
{
    if (claim->fd >= 0)
        close(claim->fd);
    claim->fd = -1;
}

/* The name at the end of a line of /proc/net/unix, where "@" stands for the NUL; a connection
 * that nobody accepted has a line of its own. */
static bool name_at_end(struct slice line, struct slice *name)
{
    const char *at = line.bytes > 0 ? memrchr(line.at, '@', line.bytes) : NULL;
    if (!at)
        return false;
    *name = slice_skip(line, (size_t)(at - line.at) + 1);
    return slice_starts(*name, prefix);
}

static bool add_new(pid_t *pids, size_t *count, pid_t pid)
{
    for (size_t i = 0; i < *count; i++) {
        if (pids[i] == pid)
            return false;
    }
    if (pid < 0 || *count == OTHERS_MAX)
        return false;
    pids[(*count)++] = pid;
    return true;
}

const char *cli_claim_others(struct arena *arena, const struct cli_claim *claim)
{
    struct slice line, name, rest = {NULL, 0};
    struct text words;
    struct err err;
    pid_t pids[OTHERS_MAX];
    size_t count = 0;
    text_init(&words, arena, 200);
    if (!fs_read(arena, "/proc/net/unix", LINE_BYTES_MAX, &rest.at, &rest.bytes, &err))
        return NULL;
    while (rest.bytes > 0) {
        (void)slice_split(rest, '\n', &line, &rest);
        if (!name_at_end(line, &name) || slice_is(name, claim->name))
            continue;
        pid_t pid = holder_of(arena_slice(arena, name));
        if (!add_new(pids, &count, pid))
            continue;
        text_add(&words, count > 1 ? ", " : "pid ");
        text_add(&words, pid > 0 ? arena_printf(arena, "%d", (int)pid) : "unknown");
    }
    return count > 0 ? words.at : NULL;
}
