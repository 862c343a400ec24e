/* links: server
 *
 * Private servers for real: both kinds, side by side, and what is left of them after each way
 * of ending. A kind that is not installed is skipped aloud. */

#include "os/fs.h"
#include "os/now.h"
#include "os/proc.h"
#include "server/reaper.h"
#include "server/server.h"
#include "testing.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a test knows of a server, also from the process that owned it. */
struct trace {
    pid_t pid;
    uint16_t port;
    char folder[256], log[256];
};

static bool is_installed(struct arena *arena, enum server_kind kind)
{
    if (server_find(arena, kind, NULL))
        return true;
    print_message("SKIPPED: %s is not installed\n", server_package(kind));
    return false;
}

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

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static bool accepts(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool fine = connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
    close(fd);
    return fine;
}

static struct server *start(struct arena *arena, enum server_kind kind)
{
    struct server *server = NULL;
    struct err err = {0};
    const struct server_spec spec = {.kind = kind, .connections = 200};
    if (!server_start(arena, &spec, &server, &err))
        print_message("%s\n", err.text);
    return server;
}

static struct trace trace_of(const struct server *server)
{
    struct trace trace = {.pid = server_pid(server), .port = server_port(server)};
    snprintf(trace.folder, sizeof(trace.folder), "%s", server_folder(server));
    snprintf(trace.log, sizeof(trace.log), "%s", server_log(server));
    return trace;
}

/* The words of a process's command line, and of its family, hold no password. */
static void no_title_holds(const char *password, pid_t root)
{
    pid_t family[64];
    unsigned count = proc_family(root, family, 64);
    assert_true(count >= 1);
    for (unsigned i = 0; i < count; i++) {
        char path[64], title[8192];
        snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)family[i]);
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        size_t bytes = fread(title, 1, sizeof(title), file);
        fclose(file);
        assert_null(memmem(title, bytes, password, strlen(password)));
    }
}

static void lives_and_leaves_nothing(struct arena *arena, enum server_kind kind)
{
    char how[64];
    struct server_usage usage;
    const struct server_setting *settings;
    struct server *server = start(arena, kind);
    assert_non_null(server);
    struct trace trace = trace_of(server);
    assert_true(server_alive(server, how, sizeof(how)));
    assert_true(accepts(trace.port));
    assert_true(exists(server_socket(server)));
    assert_int_equal(strlen(server_password(server)), 32);
    assert_true(server_startup_ns(server) > 0 && server_init_ns(server) > 0);
    assert_true(server_settings(server, &settings) >= 5);
    no_title_holds(server_password(server), trace.pid);
    server_usage_read(arena, trace.pid, &usage);
    assert_true(usage.processes >= 1 && usage.each[0].cpu_ns > 0 &&
                server_usage_bytes(&usage) > 1 << 20);
    print_message("%s: set up in %.0f ms, accepted after %.0f ms, %u processes, %.0f MiB\n",
                  server_user(server), (double)server_init_ns(server) / 1e6,
                  (double)server_startup_ns(server) / 1e6, usage.processes,
                  (double)server_usage_bytes(&usage) / (1 << 20));
    uint64_t from_ns = os_now_ns();
    server_stop(&server);
    print_message("stopped in %.0f ms\n", (double)(os_now_ns() - from_ns) / 1e6);
    assert_null(server);
    assert_false(is_alive(trace.pid));
    assert_false(exists(trace.folder));
    assert_false(exists(trace.log));
    assert_false(accepts(trace.port));
}

static void postgres_lives_and_leaves_nothing(void **state)
{
    if (is_installed(*state, SERVER_POSTGRES))
        lives_and_leaves_nothing(*state, SERVER_POSTGRES);
}

static void mariadb_lives_and_leaves_nothing(void **state)
{
    if (is_installed(*state, SERVER_MARIADB))
        lives_and_leaves_nothing(*state, SERVER_MARIADB);
}

/* Runs a client program; true when it succeeds. */
static bool client_works(struct arena *arena, const char *const *argv, const char *const *env)
{
    struct err err;
    const struct proc_spec spec = {.argv = argv,
                                   .extra_env = env,
                                   .output_path = "/dev/null",
                                   .fd_in = -1};
    return argv[0] && proc_run(arena, &spec, 20 * NS_PER_S, &err);
}

static void only_the_password_opens(struct arena *arena, enum server_kind kind)
{
    struct server *server = start(arena, kind);
    assert_non_null(server);
    bool postgres = kind == SERVER_POSTGRES;
    const char *port = arena_printf(arena, "%u", (unsigned)server_port(server));
    const char *const psql[] = {proc_find(arena, "psql"),
                                "-h",
                                server_socket(server),
                                "-p",
                                port,
                                "-U",
                                "postgres",
                                "-wc",
                                "SELECT 1",
                                NULL};
    const char *const psql_tcp[] = {proc_find(arena, "psql"),
                                    "-h",
                                    "127.0.0.1",
                                    "-p",
                                    port,
                                    "-U",
                                    "postgres",
                                    "-wc",
                                    "SELECT 1",
                                    NULL};
    const char *const mariadb[] = {proc_find(arena, "mariadb"),
                                   "--no-defaults",
                                   "-uroot",
                                   "-S",
                                   server_socket(server),
                                   "-e",
                                   "SELECT 1",
                                   NULL};
    const char *const mariadb_tcp[] = {proc_find(arena, "mariadb"),
                                       "--no-defaults",
                                       "-uroot",
                                       "-h",
                                       "127.0.0.1",
                                       "-P",
                                       port,
                                       "-e",
                                       "SELECT 1",
                                       NULL};
    const char *const right[] = {arena_printf(arena, "PGPASSWORD=%s", server_password(server)),
                                 arena_printf(arena, "MYSQL_PWD=%s", server_password(server)),
                                 NULL};
    const char *const wrong[] = {"PGPASSWORD=x", "MYSQL_PWD=x", NULL};
    const char *const none[] = {"PGPASSWORD=", "MYSQL_PWD=", NULL};
    assert_true(client_works(arena, postgres ? psql : mariadb, right));
    assert_true(client_works(arena, postgres ? psql_tcp : mariadb_tcp, right));
    assert_false(client_works(arena, postgres ? psql : mariadb, wrong));
    assert_false(client_works(arena, postgres ? psql : mariadb, none));
    assert_false(client_works(arena, postgres ? psql_tcp : mariadb_tcp, none));
    server_stop(&server);
}

static void only_the_password_opens_postgres(void **state)
{
    if (is_installed(*state, SERVER_POSTGRES))
        only_the_password_opens(*state, SERVER_POSTGRES);
}

static void only_the_password_opens_mariadb(void **state)
{
    if (is_installed(*state, SERVER_MARIADB))
        only_the_password_opens(*state, SERVER_MARIADB);
}

static void two_of_a_kind_stand_side_by_side(void **state)
{
    if (!is_installed(*state, SERVER_POSTGRES))
        return;
    struct server *one = start(*state, SERVER_POSTGRES), *two = start(*state, SERVER_POSTGRES);
    assert_non_null(one);
    assert_non_null(two);
    assert_int_not_equal(server_port(one), server_port(two));
    assert_string_not_equal(server_folder(one), server_folder(two));
    assert_string_not_equal(server_password(one), server_password(two));
    struct trace second = trace_of(two);
    server_stop(&one);
    assert_true(accepts(second.port));
    server_stop(&two);
}

static unsigned our_folders(void)
{
    unsigned count = 0;
    char prefix[64];
    snprintf(prefix, sizeof(prefix), "dbdyno-%d-", (int)getpid());
    DIR *root = opendir("/tmp");
    assert_non_null(root);
    for (const struct dirent *entry = readdir(root); entry; entry = readdir(root))
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(root);
    return count;
}

static void a_bad_setting_shows_the_log(void **state)
{
    static const enum server_kind kinds[] = {SERVER_POSTGRES, SERVER_MARIADB};
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        struct server *server = NULL;
        struct err err;
        const struct server_setting bad = {"no_such_setting", "1"};
        const struct server_spec spec = {.kind = kinds[i],
                                         .settings = &bad,
                                         .setting_count = 1};
        if (!is_installed(*state, kinds[i]))
            continue;
        assert_false(server_start(*state, &spec, &server, &err));
        print_message("%s\n", err.text);
        assert_int_equal(err.kind, ERR_SYSTEM);
        assert_non_null(strstr(err.text, "no_such_setting"));
        assert_null(server);
    }
    assert_int_equal(our_folders(), 0);
}

static void a_server_that_dies_is_noticed(void **state)
{
    char how[64];
    if (!is_installed(*state, SERVER_MARIADB))
        return;
    struct server *server = start(*state, SERVER_MARIADB);
    assert_non_null(server);
    assert_int_equal(kill(server_pid(server), SIGKILL), 0);
    uint64_t until_ns = os_now_ns() + 5 * NS_PER_S;
    while (server_alive(server, how, sizeof(how)) && os_now_ns() < until_ns)
        os_sleep_ns(NS_PER_MS);
    assert_string_equal(how, "signal 9 (Killed)");
    assert_false(server_alive(server, how, sizeof(how)));
    struct trace trace = trace_of(server);
    server_stop(&server);
    assert_false(exists(trace.folder));
}

static void a_kept_server_stays(void **state)
{
    if (!is_installed(*state, SERVER_POSTGRES))
        return;
    struct server *server = NULL;
    struct err err;
    const struct server_spec spec = {.kind = SERVER_POSTGRES, .keep = true};
    assert_true(server_start(*state, &spec, &server, &err));
    struct trace trace = trace_of(server);
    server_stop(&server);
    assert_true(accepts(trace.port));
    assert_true(exists(trace.folder));
    int status;
    assert_int_equal(kill(trace.pid, SIGINT), 0);
    assert_true(proc_wait(trace.pid, 10 * NS_PER_S, &status));
    *strrchr(trace.folder, '/') = '\0';
    assert_true(fs_remove_tree(trace.folder, &err));
}

/* An owner with both kinds and a reaper, which then dies. */
static void own_and_die(int tell, int how)
{
    struct err err;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    struct trace traces[2] = {{0}};
    struct arena *arena = arena_create(4096);
    sigaction(SIGABRT, &usual, NULL);
    if (!reaper_start(NULL, &err))
        _exit(2);
    if (server_find(arena, SERVER_POSTGRES, NULL))
        traces[0] = trace_of(start(arena, SERVER_POSTGRES));
    if (server_find(arena, SERVER_MARIADB, NULL))
        traces[1] = trace_of(start(arena, SERVER_MARIADB));
    if (write(tell, traces, sizeof(traces)) != (ssize_t)sizeof(traces))
        _exit(3);
    raise(how);
    _exit(4);
}

static bool is_gone(const struct trace *trace)
{
    return trace->pid == 0 ||
           (!is_alive(trace->pid) && !exists(trace->folder) && !accepts(trace->port));
}

static void nothing_is_left_after(int how)
{
    int ends[2], status;
    struct trace traces[2] = {{0}};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t owner = fork();
    if (owner == 0)
        own_and_die(ends[1], how);
    close(ends[1]);
    assert_int_equal(read(ends[0], traces, sizeof(traces)), (ssize_t)sizeof(traces));
    close(ends[0]);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == how);
    uint64_t from_ns = os_now_ns();
    while (!(is_gone(&traces[0]) && is_gone(&traces[1]))) {
        assert_true(os_now_ns() - from_ns < 15 * NS_PER_S);
        os_sleep_ns(5 * NS_PER_MS);
    }
    print_message("gone %.0f ms after signal %d\n", (double)(os_now_ns() - from_ns) / 1e6, how);
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

/* Does a folder begin so, or a living process name such a folder? */
static bool is_left(const char *prefix)
{
    char pattern[128], title[8192];
    glob_t found;
    bool left = false;
    snprintf(pattern, sizeof(pattern), "%s*", prefix);
    if (glob(pattern, 0, NULL, &found) != 0)
        found = (glob_t){.gl_pathc = 0};
    left = found.gl_pathc > 0;
    globfree(&found);
    if (glob("/proc/[1-9]*/cmdline", 0, NULL, &found) != 0)
        return left;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "re");
        size_t bytes = file ? fread(title, 1, sizeof(title), file) : 0;
        if (file)
            fclose(file);
        left = left || memmem(title, bytes, prefix, strlen(prefix));
    }
    globfree(&found);
    return left;
}

/* Killed at any time of set-up and start, too. */
static void nothing_is_left_of_a_half_made_server(void **state)
{
    (void)state;
    static const unsigned delays_ms[] = {20, 150, 400, 700};
    for (size_t i = 0; i < ARRAY_COUNT(delays_ms); i++) {
        int status;
        char pattern[64];
        struct err err;
        pid_t owner = fork();
        if (owner == 0) {
            if (!reaper_start(NULL, &err))
                _exit(2);
            struct arena *arena = arena_create(4096);
            (void)start(arena, i % 2 ? SERVER_POSTGRES : SERVER_MARIADB);
            (void)pause();
        }
        os_sleep_ns(delays_ms[i] * NS_PER_MS);
        assert_int_equal(kill(owner, SIGKILL), 0);
        assert_int_equal(waitpid(owner, &status, 0), owner);
        snprintf(pattern, sizeof(pattern), "/tmp/dbdyno-%d-", (int)owner);
        uint64_t until_ns = os_now_ns() + 15 * NS_PER_S;
        while (is_left(pattern)) {
            assert_true(os_now_ns() < until_ns);
            os_sleep_ns(10 * NS_PER_MS);
        }
    }
}

static int make_arena(void **state)
{
    *state = arena_create(4096);
    return 0;
}

static int drop_arena(void **state)
{
    arena_destroy((struct arena **)state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(postgres_lives_and_leaves_nothing),
        cmocka_unit_test(mariadb_lives_and_leaves_nothing),
        cmocka_unit_test(only_the_password_opens_postgres),
        cmocka_unit_test(only_the_password_opens_mariadb),
        cmocka_unit_test(two_of_a_kind_stand_side_by_side),
        cmocka_unit_test(a_bad_setting_shows_the_log),
        cmocka_unit_test(a_server_that_dies_is_noticed),
        cmocka_unit_test(a_kept_server_stays),
        cmocka_unit_test(nothing_is_left_after_a_kill),
        cmocka_unit_test(nothing_is_left_after_a_signal),
        cmocka_unit_test(nothing_is_left_after_a_crash),
        cmocka_unit_test(nothing_is_left_of_a_half_made_server),
    };
    struct arena *arena = arena_create(4096);
    bool none = !is_installed(arena, SERVER_POSTGRES);
    none = !is_installed(arena, SERVER_MARIADB) && none;
    arena_destroy(&arena);
    if (none)
        return 77;
    return cmocka_run_group_tests_name("server", tests, make_arena, drop_arena);
}
