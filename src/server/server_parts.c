/* Small parts of starting a server: arguments, settings, ports, versions, logs. */

#include "base/num.h"
#include "base/text.h"
#include "os/fs.h"
#include "server/server_internal.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINES_MOST = 6, CONNECTIONS_RESERVE = 16 };

static uint64_t next_number(struct slice *text)
{
    struct slice head;
    uint64_t number;
    (void)slice_split(*text, '.', &head, text);
    return num_u64(head, &number) ? number : 0;
}

int server_compare_versions(struct slice a, struct slice b)
{
    while (a.bytes > 0 || b.bytes > 0) {
        uint64_t left = next_number(&a), right = next_number(&b);
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}

const char *server_program(struct arena *arena, const char *folder, const char *name)
{
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    return fs_is_executable(path) ? path : NULL;
}

const char *server_folder_of(struct arena *arena, const char *path)
{
    char real[PATH_MAX];
    if (!realpath(path, real))
        return NULL;
    char *slash = strrchr(real, '/');
    if (!slash || slash == real)
        return "/";
    *slash = '\0';
    return arena_text(arena, real);
}

bool server_same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        int left = *a == '-' ? '_' : tolower((unsigned char)*a);
        int right = *b == '-' ? '_' : tolower((unsigned char)*b);
        if (left != right)
            return false;
    }
    return *a == *b;
}

static bool is_named(const char *name, const struct server_setting *settings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (server_same_name(name, settings[i].name))
            return true;
    }
    return false;
}

const struct server_setting *server_merge_settings(struct arena *arena,
                                                   const struct server_setting *defaults,
                                                   uint32_t default_count,
                                                   const struct server_setting *wanted,
                                                   uint32_t *count)
{
    uint32_t wanted_count = *count, merged_count = 0;
    struct server_setting *merged =
        arena_array(arena, struct server_setting, default_count + wanted_count);
    for (uint32_t i = 0; i < default_count; i++) {
        if (!is_named(defaults[i].name, wanted, wanted_count))
            merged[merged_count++] = defaults[i];
    }
    for (uint32_t i = 0; i < wanted_count; i++)
        merged[merged_count++] = wanted[i];
    *count = merged_count;
    return merged;
}

void server_args_add(struct server_args *args, const char *text)
{
    args->argv = arena_grow(args->arena, args->argv, args->count, &args->room, args->count + 2,
                            sizeof(*args->argv));
    args->argv[args->count++] = text;
    args->argv[args->count] = NULL;
}

bool server_free_port(uint16_t *port, struct err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_errno(err, "looking for a free port");
    bool fine = bind(fd, (const struct sockaddr *)&at, bytes) == 0 &&
                getsockname(fd, (struct sockaddr *)&at, &bytes) == 0;
    if (!fine)
        err_errno(err, "looking for a free port of 127.0.0.1");
    close(fd);
    if (fine)
        *port = ntohs(at.sin_port);
    return fine;
}

int server_connect(const char *socket_path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(socket_path) >= sizeof(at.sun_path))
        return -1;
    memcpy(at.sun_path, socket_path, strlen(socket_path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof(at)) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool tells_why(struct slice line)
{
    static const char *const signs[] = {"*FATAL*",  "*PANIC*",   "*ERROR*",  "*error:*",
                                        "*HINT:*",  "*DETAIL:*", "*rror: *", "*cannot*",
                                        "*annot *", "*denied*"};
    if (slice_glob(line, "*ERROR] Aborting*"))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(signs); i++) {
        if (slice_glob(line, signs[i]))
            return true;
    }
    return false;
}

/* The last lines for which `telling` holds (or any), oldest first; returns how many. */
static unsigned last_lines(struct slice log, bool only_telling, struct slice lines[LINES_MOST],
                           unsigned most)
{
    unsigned count = 0;
    bool more = log.bytes > 0;
    while (more) {
        struct slice line;
        more = slice_split(log, '\n', &line, &log);
        line = slice_trim(line);
        if (line.bytes == 0 || (only_telling && !tells_why(line)))
            continue;
        if (count == most)
            memmove(lines, lines + 1, (most - 1) * sizeof(*lines));
        else
            count++;
        lines[count - 1] = line;
    }
    return count;
}

void server_pick_lines(struct slice log, char *into, size_t room)
{
    struct slice lines[LINES_MOST];
    size_t bytes = 0;
    unsigned count = last_lines(log, true, lines, LINES_MOST);
    if (count == 0)
        count = last_lines(log, false, lines, 3);
    into[0] = '\0';
    for (unsigned i = 0; i < count && bytes + 8 < room; i++)
        bytes += text_print(into + bytes, room - bytes, "%s%.*s", i ? "\n" : "",
                            (int)lines[i].bytes, lines[i].at);
}

bool server_needs_connections(const struct server *server, uint32_t usual,
                              struct server_setting *setting)
{
    uint32_t wanted = server->connections + CONNECTIONS_RESERVE;
    if (wanted <= usual)
        return false;
    *setting =
        (struct server_setting){"max_connections", arena_printf(server->arena, "%u", wanted)};
    return true;
}
