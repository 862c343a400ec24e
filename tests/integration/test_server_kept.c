/* links: driver server
 *
 * A kept server outlives its owner, however that ends, and can be logged in to. */

#include "driver/driver.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/proc.h"
#include "server/reaper.h"
#include "server/server.h"
#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct trace {
    pid_t pid;
    char file[256];
};

/* how: 0 is the normal end. */
static void own(enum server_kind kind, int how, int tell)
{
    struct err err = {0};
    struct trace trace = {0};
    struct server *server = NULL;
    struct arena *arena = arena_create(4096);
    const struct server_spec spec = {.kind = kind, .keep = true};
    if (!reaper_start(NULL, &err) || !server_start(arena, &spec, &server, &err)) {
        print_message("%s\n", err.text);
        _exit(2);
    }
    trace.pid = server_pid(server);
    snprintf(trace.file, sizeof(trace.file), "%s", server_kept(server));
    if (write(tell, &trace, sizeof(trace)) != (ssize_t)sizeof(trace))
        _exit(3);
    if (how != 0)
        (void)raise(how);
    server_stop(&server);
    reaper_finish();
    _exit(0);
}

static void log_in(struct arena *arena, const char *file)
{
    struct drv_target target;
    struct drv_conn *conn = NULL;
    struct value value = {.type = VALUE_NULL};
    struct err err = {0};
    struct stat info;
    assert_int_equal(stat(file, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(info.st_uid, geteuid());
    if (!drv_target_parse(arena, arena_printf(arena, "@%s", file), &target, &err) ||
        !drv_open(&target, &conn, &err) ||
        !conn->class->query(conn, arena, "SELECT 7", &value, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(value.as.i, 7);
    drv_close(&conn);
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

static void end_kept(enum server_kind kind, struct trace *trace)
{
    struct err err;
    uint64_t until_ns = os_now_ns() + 10 * NS_PER_S;
    assert_int_equal(kill(trace->pid, kind == SERVER_POSTGRES ? SIGINT : SIGTERM), 0);
    while (is_alive(trace->pid) && os_now_ns() < until_ns)
        os_sleep_ns(5 * NS_PER_MS);
    *strrchr(trace->file, '/') = '\0';
    assert_true(fs_remove_tree(trace->file, &err));
}

static void stays_after(struct arena *arena, enum server_kind kind, int how)
{
    int ends[2], status;
    struct trace trace = {0};
    if (!server_find(arena, kind, NULL)) {
        print_message("SKIPPED: %s is not installed\n", server_package(kind));
        return;
    }
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t owner = fork();
    if (owner == 0)
        own(kind, how, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &trace, sizeof(trace)), (ssize_t)sizeof(trace));
    close(ends[0]);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    os_sleep_ns(300 * NS_PER_MS); /* a reaper that knew it would be at work */
    log_in(arena, trace.file);
    end_kept(kind, &trace);
}

static void postgres_stays(void **state)
{
    stays_after(*state, SERVER_POSTGRES, 0);
    stays_after(*state, SERVER_POSTGRES, SIGKILL);
}

static void mariadb_stays(void **state)
{
    stays_after(*state, SERVER_MARIADB, 0);
    stays_after(*state, SERVER_MARIADB, SIGTERM);
}

static void others_have_no_such_file(void **state)
{
    struct server *server = NULL;
    struct err err = {0};
    const struct server_spec spec = {.kind = SERVER_POSTGRES};
    if (!server_find(*state, SERVER_POSTGRES, NULL))
        return;
    assert_true(server_start(*state, &spec, &server, &err));
    assert_null(server_kept(server));
    server_stop(&server);
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
        cmocka_unit_test(postgres_stays),
        cmocka_unit_test(mariadb_stays),
        cmocka_unit_test(others_have_no_such_file),
    };
    struct arena *arena = arena_create(4096);
    bool none =
        !server_find(arena, SERVER_POSTGRES, NULL) && !server_find(arena, SERVER_MARIADB, NULL);
    arena_destroy(&arena);
    if (none)
        return 77;
    return cmocka_run_group_tests_name("server_kept", tests, make_arena, drop_arena);
}
