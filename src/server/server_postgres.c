#include "base/text.h"
#include "os/fs.h"
#include "os/proc.h"
#include "server/server_internal.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define DEBIAN_ROOT "/usr/lib/postgresql"

/* Connections that are not clients: ours for set-up and facts, and the server's own reserve. */
enum { DEFAULT_CONNECTIONS = 100, PID_FILE_BYTES = 4096 };

static int is_version(const struct dirent *entry)
{
    return entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
}

/* Debian keeps one folder a major version. */
static const char *find_packaged(struct arena *arena)
{
    struct dirent **entries = NULL;
    const char *best = NULL, *program = NULL;
    int count = scandir(DEBIAN_ROOT, &entries, is_version, NULL);
    for (int i = 0; i < count; i++) {
        const char *version = arena_text(arena, entries[i]->d_name);
        const char *path = arena_printf(arena, DEBIAN_ROOT "/%s/bin/postgres", version);
        free(entries[i]);
        if (!fs_is_executable(path))
            continue;
        if (!best || server_compare_versions(slice_of(version), slice_of(best)) > 0) {
            best = version;
            program = path;
        }
    }
    free(entries);
    return program;
}

static bool find(struct arena *arena, const char *bin, struct server_programs *programs)
{
    struct server_programs found = {0};
    if (bin)
        found.server = server_program(arena, bin, "postgres");
    else
        found.server = find_packaged(arena);
    if (!found.server && !bin)
        found.server = proc_find(arena, "postgres");
    const char *folder = found.server ? server_folder_of(arena, found.server) : NULL;
    if (!folder)
        return false;
    found.init = server_program(arena, folder, "initdb");
    if (!found.init)
        return false;
    *programs = found;
    return true;
}

/* A password and not "trust": others on this machine could log in as superuser otherwise, and a
 * superuser of the database runs programs as the server's user. */
static bool init(struct server *server, struct err *err)
{
    struct arena *arena = server->arena;
    const char *const argv[] = {server->programs.init,
                                "-D",
                                server->data,
                                "-U",
                                server->class->admin,
                                "-A",
                                "scram-sha-256",
                                arena_printf(arena, "--pwfile=%s", server->secret_file),
                                "-E",
                                "UTF8",
                                "--locale=C",
                                NULL};
    if (!server_write_secret(server, server->password, err))
        return false;
    bool fine = server_run_tool(server, argv, err);
    (void)unlink(server->secret_file);
    return fine;
}

static const struct server_setting *defaults(const struct server *server, uint32_t *count)
{
    struct arena *arena = server->arena;
    const struct server_setting always[] = {
        {"listen_addresses",       "127.0.0.1"       },
        {"port",                   arena_printf(arena, "%u", (unsigned)server->port)},
        {"unix_socket_directories", server->socket_folder                  },
        {"log_destination",   "stderr"  },
        {"logging_collector",              "off"                             },
    };
    uint32_t known = ARRAY_COUNT(always);
    struct server_setting *all = arena_array(arena, struct server_setting, known + 1);
    memcpy(all, always, sizeof(always));
    if (server_needs_connections(server, DEFAULT_CONNECTIONS, &all[known]))
        known++;
    *count = known;
    return all;
}

static const char *const *arguments(const struct server *server)
{
    struct server_args args = {.arena = server->arena};
    server_args_add(&args, server->programs.server);
    server_args_add(&args, "-D");
    server_args_add(&args, server->data);
    for (uint32_t i = 0; i < server->setting_count; i++) {
        const struct server_setting *setting = &server->settings[i];
        server_args_add(&args, "-c");
        server_args_add(&args, arena_printf(server->arena, "%s=%s", setting->name,
                                            setting->value ? setting->value : "on"));
    }
    return args.argv;
}

/* The eighth line of postmaster.pid says "ready" (src/include/utils/pidfile.h). */
static bool says_ready(const struct server *server)
{
    struct err err;
    const char *content;
    size_t bytes;
    bool ready = false;
    struct arena *scratch = arena_create(PID_FILE_BYTES);
    const char *path = arena_printf(scratch, "%s/postmaster.pid", server->data);
    if (fs_read(scratch, path, PID_FILE_BYTES, &content, &bytes, &err)) {
        struct slice line = {0}, rest = {content, bytes};
        for (int i = 0; i < 8; i++)
            (void)slice_split(rest, '\n', &line, &rest);
        ready = slice_is(slice_trim(line), "ready");
    }
    arena_destroy(&scratch);
    return ready;
}

static bool is_ready(const struct server *server)
{
    char path[256];
    if (!says_ready(server))
        return false;
    text_print(path, sizeof(path), "%s/.s.PGSQL.%u", server->socket_folder,
               (unsigned)server->port);
    int fd = server_connect(path);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

static const char *const reserved[] = {"listen_addresses",
                                       "port",
                                       "unix_socket_directories",
                                       "data_directory",
                                       "hba_file",
                                       "ident_file",
                                       "config_file",
                                       "external_pid_file",
                                       NULL};

const struct server_class server_class_postgres = {
    .name = "postgres",
    .package = "postgresql-15",
    .places = DEBIAN_ROOT "/*/bin and PATH",
    .wanted = "postgres and initdb",
    .run_as = "postgres",
    .admin = "postgres",
    .reserved = reserved,
    .stop_signal = SIGINT,
    .find = find,
    .init = init,
    .defaults = defaults,
    .argv = arguments,
    .is_ready = is_ready,
};
