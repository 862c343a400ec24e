#include "server/server.h"

#include "base/text.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/proc.h"
#include "os/sig.h"
#include "server/family.h"
#include "server/reaper.h"
#include "server/server_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PORT_TRIES = 5, LOG_LINES = 60, USER_BYTES = 16 << 10, REASON_BYTES = 360 };

#define READY_NS  (60 * NS_PER_S)
#define TOOL_NS   (60 * NS_PER_S)
#define GENTLE_NS (5 * NS_PER_S)
#define FIRM_NS   (2 * NS_PER_S)
#define KILLED_NS (2 * NS_PER_S)
#define LOOK_NS   (5 * NS_PER_MS)

static const struct server_class *class_of(enum server_kind kind)
{
    static const struct server_class *const classes[] = {
        [SERVER_POSTGRES] = &server_class_postgres,
        [SERVER_MARIADB] = &server_class_mariadb,
        [SERVER_MYSQL] = &server_class_mysql,
    };
    assert((size_t)kind < ARRAY_COUNT(classes));
    return classes[kind];
}

const char *server_find(struct arena *arena, enum server_kind kind, const char *bin)
{
    struct server_programs programs;
    return class_of(kind)->find(arena, bin, &programs) ? programs.server : NULL;
}

const char *server_package(enum server_kind kind)
{
    return class_of(kind)->package;
}

/* --- users and folders --- */

static bool user_ids(const char *name, uid_t *uid, gid_t *gid)
{
    char buffer[USER_BYTES];
    struct passwd user, *found = NULL;
    if (getpwnam_r(name, &user, buffer, sizeof(buffer), &found) != 0 || !found)
        return false;
    *uid = user.pw_uid;
    *gid = user.pw_gid;
    return true;
}

/* Servers refuse to run as root. */
static const char *choose_user(const struct server_class *class)
{
    uid_t uid;
    gid_t gid;
    if (geteuid() != 0)
        return NULL;
    return user_ids(class->run_as, &uid, &gid) ? class->run_as : "nobody";
}

static bool give_to_user(const struct server *server, const char *path, struct err *err)
{
    uid_t uid;
    gid_t gid;
    if (!server->run_as)
        return true;
    if (!user_ids(server->run_as, &uid, &gid))
        return err_set(err, ERR_SYSTEM, "there is no user %s to run %s as", server->run_as,
                       server->class->name);
    return lchown(path, uid, gid) == 0 ||
           err_errno(err, "giving %s to user %s", path, server->run_as);
}

bool server_make_folder(struct server *server, const char *path, unsigned mode, struct err *err)
{
    if (mkdir(path, 0700) != 0 || chmod(path, mode) != 0)
        return err_errno(err, "creating the folder %s", path);
    return give_to_user(server, path, err);
}

static bool write_private(const char *path, const char *text, struct err *err)
{
    size_t bytes = strlen(text);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, "creating %s", path);
    bool fine = write(fd, text, bytes) == (ssize_t)bytes || err_errno(err, "writing %s", path);
    close(fd);
    return fine;
}

bool server_write_secret(struct server *server, const char *text, struct err *err)
{
    return write_private(server->secret_file, text, err) &&
           give_to_user(server, server->secret_file, err);
}

/* A server that runs as another user must be able to pass through every folder above its own.
 */
static bool check_way(const struct server *server, struct err *err)
{
    struct stat info;
    const char *folder = server->folder;
    for (size_t i = 1; server->run_as && folder[i]; i++) {
        if (folder[i] != '/')
            continue;
        const char *above = arena_slice(server->arena, (struct slice){folder, i});
        if (stat(above, &info) == 0 && !(info.st_mode & S_IXOTH))
            return err_set(err, ERR_SYSTEM,
                           "%s is closed to others, and %s runs as user %s: set TMPDIR to a "
                           "folder that everybody may enter",
                           above, server->class->name, server->run_as);
    }
    return true;
}

static bool check_socket(const char *path, struct err *err)
{
    size_t room = sizeof(((struct sockaddr_un *)NULL)->sun_path);
    return strlen(path) < room ||
           err_set(err, ERR_SYSTEM,
                   "the socket's path has %zu bytes and the system takes %zu: set TMPDIR to a "
                   "shorter folder (%s)",
                   strlen(path), room - 1, path);
}

static bool make_folders(struct server *server, struct err *err)
{
    struct arena *arena = server->arena;
    if (!fs_make_temp(arena, "dbdyno", reaper_add_folder, reaper_drop_folder, &server->folder,
                      err))
        return false;
    server->data = arena_printf(arena, "%s/data", server->folder);
    server->log = arena_printf(arena, "%s/log", server->folder);
    server->socket_folder = arena_printf(arena, "%s/sock", server->folder);
    server->secret_file = arena_printf(arena, "%s/secret", server->folder);
    bool postgres = server->class == &server_class_postgres;
    const char *file = arena_printf(arena, "%s/%s", server->socket_folder,
                                    postgres ? ".s.PGSQL.65535" : "mysql.sock");
    server->socket = postgres ? server->socket_folder : file;
    return check_socket(file, err) && check_way(server, err) &&
           server_make_folder(server, server->data, 0700, err) &&
           server_make_folder(server, server->socket_folder, 0711, err);
}

/* --- processes --- */

/* Messages in one language, whatever the user's: they are searched and shown. */
static struct proc_spec spec_of(const struct server *server, const char *const *argv)
{
    static const char *const environment[] = {"LC_ALL=C", NULL};
    return (struct proc_spec){.argv = argv,
                              .extra_env = environment,
                              .output_path = server->log,
                              .folder = server->folder,
                              .user = server->run_as,
                              .own_group = true,
                              .fd_in = -1};
}

/* A child of ours and all that belongs to it, asked by `signal` first (0: not asked), then less
 * kindly. Also processes that are stopped or hang end, except in the kernel. */
static int end_family(struct server *server, pid_t pid, int signal)
{
    struct family family = {.arena = server->arena};
    int status = SIGKILL, pidfd = pidfd_open(pid, 0);
    family_take(&family, pid, pidfd);
    if (signal != 0)
        (void)kill(pid, signal);
    if (signal == 0 || !family_wait(&family, GENTLE_NS)) {
        family_take(&family, pid, pidfd);
        family_signal(&family, signal != 0 ? SIGQUIT : SIGKILL);
        if (!family_wait(&family, FIRM_NS)) {
            family_take(&family, pid, pidfd);
            family_signal(&family, SIGKILL);
            (void)family_wait(&family, KILLED_NS);
        }
    }
    family_close(&family);
    if (pidfd >= 0)
        close(pidfd);
    (void)proc_wait(pid, LOOK_NS, &status);
    return status;
}

/* Why: what it did, and what its log says of it. */
static bool tell_end(const struct server *server, struct err *err, const char *what)
{
    char reason[REASON_BYTES];
    const char *tail = proc_log_tail(server->arena, server->log, LOG_LINES);
    server_pick_lines(slice_of(tail), reason, sizeof(reason));
    return err_set(err, ERR_SYSTEM, "%s %s%s%s", server->class->name, what,
                   reason[0] ? ":\n" : "", reason);
}

bool server_run_tool(struct server *server, const char *const *argv, struct err *err)
{
    struct proc_spec spec = spec_of(server, argv);
    uint64_t until_ns = os_now_ns() + TOOL_NS;
    int status = 0;
    pid_t pid;
    if (!proc_start(&spec, reaper_add_process, &pid, err))
        return false;
    bool ended = false;
    while (!ended && !sig_pending() && os_now_ns() < until_ns)
        ended = proc_wait(pid, LOOK_NS, &status);
    if (!ended)
        (void)end_family(server, pid, 0);
    reaper_drop_process(pid);
    if (ended && status == 0)
        return true;
    if (sig_pending())
        return err_set(err, ERR_CANCELLED, "interrupted while %s ran", argv[0]);
    char how[64] = "did not end within 60 s";
    if (ended)
        proc_status_text(status, how, sizeof(how));
    return tell_end(server, err,
                    arena_printf(server->arena, "could not be set up (%s: %s)", argv[0], how));
}

static void note_end(struct server *server, int status)
{
    server->ended = true;
    server->status = status;
    reaper_drop_process(server->pid);
}

bool server_alive(struct server *server, char *how, size_t room)
{
    int status;
    if (!server->ended && proc_wait(server->pid, 0, &status))
        note_end(server, status);
    if (server->ended)
        proc_status_text(server->status, how, room);
    return !server->ended;
}

static void end_server(struct server *server)
{
    if (server->pid != 0 && !server->ended)
        note_end(server, end_family(server, server->pid, server->class->stop_signal));
}

/* --- starting --- */

static bool wait_until_ready(struct server *server, struct err *err)
{
    char how[64];
    uint64_t from_ns = os_now_ns(), now_ns = from_ns;
    while (now_ns - from_ns < READY_NS) {
        if (sig_pending())
            return err_set(err, ERR_CANCELLED, "interrupted while %s started",
                           server->class->name);
        if (!server_alive(server, how, sizeof(how)))
            return tell_end(server, err,
                            arena_printf(server->arena, "did not start (%s)", how));
        if (server->class->is_ready(server)) {
            server->startup_ns = os_now_ns() - from_ns;
            return true;
        }
        os_sleep_ns(LOOK_NS);
        now_ns = os_now_ns();
    }
    return tell_end(server, err, "did not accept within 60 s");
}

static bool start_once(struct server *server, struct err *err)
{
    if (!server_free_port(&server->port, err))
        return false;
    uint32_t default_count = 0, count = server->wanted_count;
    const struct server_setting *defaults = server->class->defaults(server, &default_count);
    server->settings =
        server_merge_settings(server->arena, defaults, default_count, server->wanted, &count);
    server->setting_count = count;
    struct proc_spec spec = spec_of(server, server->class->argv(server));
    spec.cpus = server->cpus;
    spec.cpu_count = server->cpu_count;
    server->ended = false;
    server->pid = 0;
    return proc_start(&spec, reaper_add_process, &server->pid, err) &&
           wait_until_ready(server, err);
}

static bool says_port_in_use(const struct server *server)
{
    const char *tail = proc_log_tail(server->arena, server->log, LOG_LINES);
    return strstr(tail, "ddress already in use") != NULL;
}

/* Between our look and the server's bind somebody else may take the port. */
static bool start_on_free_port(struct server *server, struct err *err)
{
    for (int i = 0; i < PORT_TRIES; i++) {
        (void)unlink(server->log);
        if (start_once(server, err))
            return true;
        if (err->kind == ERR_CANCELLED || !server->ended || !says_port_in_use(server))
            return false;
    }
    return false;
}

static bool check_settings(const struct server_class *class, const struct server_spec *spec,
                           struct err *err)
{
    for (uint32_t i = 0; i < spec->setting_count; i++) {
        for (const char *const *name = class->reserved; *name; name++) {
            if (server_same_name(spec->settings[i].name, *name))
                return err_set(err, ERR_CONFIG, "set.%s: dbdyno sets this of a %s it starts",
                               spec->settings[i].name, class->name);
        }
    }
    return true;
}

static bool find_programs(struct server *server, const char *bin, struct err *err)
{
    const struct server_class *class = server->class;
    if (class->find(server->arena, bin, &server->programs))
        return true;
    if (bin && !class->package)
        return err_set(err, ERR_SYSTEM, "no %s server found: looked in %s for %s", class->name,
                       bin, class->wanted);
    if (bin)
        return err_set(err, ERR_SYSTEM,
                       "no %s server found: looked in %s for %s; name another folder, or "
                       "apt-get install %s and leave ?bin= out",
                       class->name, bin, class->wanted, class->package);
    if (!class->package)
        return err_set(err, ERR_SYSTEM,
                       "no %s server found (looked for %s); Debian 12 has no package of it: "
                       "name its folder with ?bin=DIR",
                       class->name, class->places);
    return err_set(err, ERR_SYSTEM,
                   "no %s server found (looked in %s): apt-get install %s, or name its folder "
                   "with ?bin=DIR",
                   class->name, class->places, class->package);
}

static void make_password(char password[33])
{
    unsigned char bytes[16];
    ssize_t got = getrandom(bytes, sizeof(bytes), 0);
    assert(got == (ssize_t)sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        text_print(password + 2 * i, 3, "%02x", bytes[i]);
}

static const uint16_t *copy_cpus(struct arena *arena, const struct server_spec *spec)
{
    uint16_t *cpus = arena_array(arena, uint16_t, spec->cpu_count);
    for (uint32_t i = 0; i < spec->cpu_count; i++)
        cpus[i] = spec->cpus[i];
    return cpus;
}

static struct server *make_server(struct arena *arena, const struct server_spec *spec)
{
    struct server *server = arena_new(arena, struct server);
    struct server_setting *wanted =
        arena_array(arena, struct server_setting, spec->setting_count);
    for (uint32_t i = 0; i < spec->setting_count; i++) {
        const struct server_setting *from = &spec->settings[i];
        wanted[i].name = arena_text(arena, from->name);
        wanted[i].value = from->value ? arena_text(arena, from->value) : NULL;
    }
    server->arena = arena;
    server->class = class_of(spec->kind);
    server->run_as = choose_user(server->class);
    server->wanted = wanted;
    server->wanted_count = spec->setting_count;
    server->connections = spec->connections;
    server->statements = spec->statements;
    server->cpus = copy_cpus(arena, spec);
    server->cpu_count = spec->cpu_count;
    server->keep = spec->keep;
    make_password(server->password);
    return server;
}

/* Cannot fail for the caller: what does not go now is the reaper's. */
static void remove_folder(struct server *server)
{
    struct err err;
    for (int i = 0; server->folder && i < 20; i++) {
        if (fs_remove_tree(server->folder, &err)) {
            reaper_drop_folder(server->folder);
            return;
        }
        os_sleep_ns(50 * NS_PER_MS);
    }
}

/* One line for `--on @FILE`. User and password have no character that a URL would need encoded.
 * The file is ours and not the server's. */
static bool note_target(struct server *server, struct err *err)
{
    const struct server_class *class = server->class;
    bool postgres = class == &server_class_postgres;
    const char *path = arena_printf(server->arena, "%s/target", server->folder);
    const char *line =
        arena_printf(server->arena, "%s://%s:%s@%s:%u/%s\n",
                     postgres ? "postgresql" : class->name, class->admin, server->password,
                     server_host(server), (unsigned)server->port, postgres ? "postgres" : "");
    if (!write_private(path, line, err))
        return false;
    server->kept = path;
    return true;
}

static void let_go(const struct server *server)
{
    reaper_drop_process(server->pid);
    reaper_drop_folder(server->folder);
}

bool server_start(struct arena *arena, const struct server_spec *spec, struct server **server,
                  struct err *err)
{
    struct server *made = make_server(arena, spec);
    if (!check_settings(made->class, spec, err) || !find_programs(made, spec->bin, err))
        return false;
    uint64_t from_ns = os_now_ns();
    bool fine = make_folders(made, err) && made->class->init(made, err);
    made->init_ns = os_now_ns() - from_ns;
    fine = fine && start_on_free_port(made, err);
    if (made->secret_file)
        (void)unlink(made->secret_file);
    fine = fine && (!made->keep || note_target(made, err));
    if (fine && made->keep)
        let_go(made);
    if (fine) {
        *server = made;
        return true;
    }
    end_server(made);
    remove_folder(made);
    return false;
}

void server_stop(struct server **server)
{
    struct server *ending = *server;
    *server = NULL;
    if (!ending || ending->kept)
        return;
    end_server(ending);
    remove_folder(ending);
}

/* --- facts --- */

const char *server_host(const struct server *server)
{
    (void)server;
    return "127.0.0.1";
}

const char *server_kept(const struct server *server)
{
    return server->kept;
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

const char *server_socket(const struct server *server)
{
    return server->socket;
}

const char *server_user(const struct server *server)
{
    return server->class->admin;
}

const char *server_password(const struct server *server)
{
    return server->password;
}

const char *server_folder(const struct server *server)
{
    return server->data;
}

const char *server_log(const struct server *server)
{
    return server->log;
}

pid_t server_pid(const struct server *server)
{
    return server->pid;
}

uint64_t server_startup_ns(const struct server *server)
{
    return server->startup_ns;
}

uint64_t server_init_ns(const struct server *server)
{
    return server->init_ns;
}

uint32_t server_settings(const struct server *server, const struct server_setting **settings)
{
    *settings = server->settings;
    return server->setting_count;
}
