/* links: server
 *
 * A server whose processes hang (here: are stopped) goes too, in bounded time: by server_stop,
 * and by the reaper of an owner that was killed. */

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

enum { FAMILY_MOST = 64, SHARED_MOST = 8 };

/* The gentle, the firm and the last way take 9 s together, a clean-up 10 s; the rest is for a
 * busy machine. */
#define LIMIT_NS (20 * NS_PER_S)

/* What is known of a server in the process that did not start it. */
struct trace {
    unsigned count;
    pid_t pids[FAMILY_MOST];
    char folder[256];
    unsigned shared_count; /* mappings of files outside the folder */
    char shared[SHARED_MOST][64];
};

/* `hangs`: no server, but a clean-up that never returns. `spare_root`: the first process goes
 * on, and waits for the others in vain. */
struct scene {
    enum server_kind kind;
    bool hangs, spare_root, kill_owner;
    pid_t owner;
    struct trace trace;
    uint64_t gone_ns;
};

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

static bool is_gone(const struct trace *trace)
{
    struct stat info;
    for (unsigned i = 0; i < trace->count; i++) {
        if (is_alive(trace->pids[i]))
            return false;
    }
    for (unsigned i = 0; i < trace->shared_count; i++) {
        if (lstat(trace->shared[i], &info) == 0)
            return false;
    }
    return lstat(trace->folder, &info) != 0;
}

static void hang(const char *text)
{
    (void)text;
    for (;;)
        (void)pause();
}

static void own_a_hanging_clean_up(int tell)
{
    struct err err = {0};
    struct trace trace = {0};
    snprintf(trace.folder, sizeof(trace.folder), "/tmp/dbdyno-test-%d", (int)getpid());
    if (!reaper_start(hang, &err) || !reaper_add_cleanup("text"))
        _exit(2);
    reaper_add_folder(trace.folder);
    (void)mkdir(trace.folder, 0700);
    if (write(tell, &trace, sizeof(trace)) != (ssize_t)sizeof(trace))
        _exit(3);
    (void)raise(SIGKILL);
}

static void add_shared(struct trace *trace, const char *path)
{
    char name[64] = "";
    (void)sscanf(path, "%63s", name);
    for (unsigned i = 0; i < trace->shared_count; i++) {
        if (strcmp(trace->shared[i], name) == 0)
            return;
    }
    if (trace->shared_count < SHARED_MOST)
        memcpy(trace->shared[trace->shared_count++], name, sizeof(name));
}

/* The first process has them from the beginning; one that comes or goes may have none. */
static void find_shared(struct trace *trace)
{
    char line[512];
    for (unsigned i = 0; i < trace->count; i++) {
        snprintf(line, sizeof(line), "/proc/%d/maps", (int)trace->pids[i]);
        FILE *maps = fopen(line, "re");
        while (maps && fgets(line, sizeof(line), maps)) {
            const char *path = strstr(line, "/dev/shm/");
            if (path)
                add_shared(trace, path);
        }
        if (maps)
            fclose(maps);
    }
}

static void own(const struct scene *scene, int tell)
{
    struct err err = {0};
    struct trace trace = {0};
    struct server *server = NULL;
    struct arena *arena = arena_create(4096);
    const struct server_spec spec = {.kind = scene->kind, .connections = 10};
    if (!reaper_start(NULL, &err) || !server_start(arena, &spec, &server, &err)) {
        print_message("%s\n", err.text);
        _exit(2);
    }
    snprintf(trace.folder, sizeof(trace.folder), "%s", server_folder(server));
    trace.count = proc_family(server_pid(server), trace.pids, FAMILY_MOST);
    find_shared(&trace);
    for (unsigned i = scene->spare_root ? 1 : 0; i < trace.count; i++)
        (void)kill(trace.pids[i], SIGSTOP);
    if (write(tell, &trace, sizeof(trace)) != (ssize_t)sizeof(trace))
        _exit(3);
    if (scene->kill_owner)
        (void)raise(SIGKILL);
    server_stop(&server);
    reaper_finish();
    _exit(0);
}

static void begin(struct scene *scene)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    scene->owner = fork();
    if (scene->owner == 0 && scene->hangs)
        own_a_hanging_clean_up(ends[1]);
    if (scene->owner == 0)
        own(scene, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &scene->trace, sizeof(scene->trace)),
                     (ssize_t)sizeof(scene->trace));
    close(ends[0]);
}

/* All at once, because each of them waits for seconds. */
static void hanging_servers_end_in_time(void **state)
{
    (void)state;
    struct scene scenes[] = {
        {.hangs = true},
        {                       .kind = SERVER_POSTGRES            },
        { .kind = SERVER_POSTGRES,             .kill_owner = true},
        {             .kind = SERVER_POSTGRES,             .spare_root = true},
        {              .kind = SERVER_MARIADB,             .kill_owner = true},
    };
    struct arena *arena = arena_create(4096);
    size_t count = server_find(arena, SERVER_MARIADB, NULL) ? 5 : 4, left = count;
    arena_destroy(&arena);
    for (size_t i = 0; i < count; i++)
        begin(&scenes[i]);
    uint64_t start_ns = os_now_ns(); /* making the others also takes time */
    while (left > 0 && os_now_ns() - start_ns < LIMIT_NS) {
        os_sleep_ns(20 * NS_PER_MS);
        left = 0;
        for (size_t i = 0; i < count; i++) {
            bool gone = is_gone(&scenes[i].trace);
            if (gone && scenes[i].gone_ns == 0)
                scenes[i].gone_ns = os_now_ns() - start_ns;
            left += !gone;
        }
    }
    for (size_t i = 0; i < count; i++) {
        int status;
        print_message("%u processes and %u shared files gone after %.1f s\n",
                      scenes[i].trace.count, scenes[i].trace.shared_count,
                      (double)scenes[i].gone_ns / 1e9);
        bool shares = !scenes[i].hangs && scenes[i].kind == SERVER_POSTGRES;
        assert_true(scenes[i].trace.shared_count > 0 || !shares);
        for (unsigned k = 0; k < scenes[i].trace.count && left > 0; k++)
            (void)kill(scenes[i].trace.pids[k], SIGKILL);
        (void)waitpid(scenes[i].owner, &status, 0);
    }
    assert_int_equal(left, 0);
    for (size_t i = 0; i < count; i++)
        assert_true(scenes[i].gone_ns < LIMIT_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hanging_servers_end_in_time)};
    struct arena *arena = arena_create(4096);
    bool none = !server_find(arena, SERVER_POSTGRES, NULL);
    arena_destroy(&arena);
    if (none) {
        print_message("SKIPPED: %s is not installed\n", server_package(SERVER_POSTGRES));
        return 77;
    }
    return cmocka_run_group_tests_name("server_frozen", tests, NULL, NULL);
}
