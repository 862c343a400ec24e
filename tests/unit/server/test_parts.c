#include "base/text.h"
#include "server/server_internal.h"
#include "testing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare(const char *a, const char *b)
{
    return server_compare_versions(slice_of(a), slice_of(b));
}

static void versions_compare_number_by_number(void **state)
{
    (void)state;
    assert_true(compare("15", "9.6") > 0);
    assert_true(compare("9.6", "10") < 0);
    assert_true(compare("9.6.1", "9.6") > 0);
    assert_int_equal(compare("15", "15"), 0);
    assert_int_equal(compare("15", "15.0"), 0);
    assert_true(compare("18", "17.9") > 0);
    assert_true(compare("abc", "1") < 0);
    assert_int_equal(compare("", ""), 0);
}

static void setting_names_ignore_case_and_dashes(void **state)
{
    (void)state;
    assert_true(server_same_name("skip-log-bin", "SKIP_LOG_BIN"));
    assert_false(server_same_name("port", "ports"));
    assert_false(server_same_name("ports", "port"));
    assert_false(server_same_name("port", "sort"));
}

static void a_wanted_setting_replaces_our_default(void **state)
{
    struct arena *arena = *state;
    const struct server_setting ours[] = {
        {"port",         "1"},
        {"innodb-flush", "1"}
    };
    const struct server_setting wanted[] = {
        {"INNODB_FLUSH", "2"  },
        {"jit",          "off"}
    };
    uint32_t count = 2;
    const struct server_setting *all = server_merge_settings(arena, ours, 2, wanted, &count);
    assert_int_equal(count, 3);
    assert_string_equal(all[0].name, "port");
    assert_string_equal(all[1].value, "2");
    assert_string_equal(all[2].name, "jit");
    count = 0;
    (void)server_merge_settings(arena, ours, 2, NULL, &count);
    assert_int_equal(count, 2);
}

static void a_free_port_can_be_bound(void **state)
{
    (void)state;
    uint16_t port = 0;
    struct err err;
    assert_true(server_free_port(&port, &err));
    assert_true(port >= 1024);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    close(fd);
}

static const char *picked(const char *log)
{
    static char text[200];
    server_pick_lines(slice_of(log), text, sizeof(text));
    return text;
}

static void the_lines_of_a_log_that_tell_why_are_picked(void **state)
{
    (void)state;
    assert_string_equal(picked("LOG:  starting\nFATAL:  no room \nLOG:  shut down\n"),
                        "FATAL:  no room");
    assert_string_equal(picked("[Note] a\n[ERROR] mariadbd: unknown variable 'x=1'\n"
                               "[ERROR] Aborting\n"),
                        "[ERROR] mariadbd: unknown variable 'x=1'");
    assert_string_equal(picked("one\ntwo\n\nthree\nfour\n"), "two\nthree\nfour");
    assert_string_equal(picked("FATAL 1\nFATAL 2\nFATAL 3\nFATAL 4\nFATAL 5\nFATAL 6\nFATAL 7"),
                        "FATAL 2\nFATAL 3\nFATAL 4\nFATAL 5\nFATAL 6\nFATAL 7");
    assert_string_equal(picked(""), "");
}

static void picked_lines_stay_within_their_room(void **state)
{
    (void)state;
    char log[1200], text[64];
    memset(log, 'x', sizeof(log) - 1);
    log[sizeof(log) - 1] = '\0';
    memcpy(log + 100, "\nFATAL", 6);
    memcpy(log + 600, "\nFATAL", 6);
    server_pick_lines(slice_of(log), text, sizeof(text));
    assert_int_equal(strlen(text), sizeof(text) - 1);
    assert_int_equal(strncmp(text, "FATALx", 6), 0);
}

static bool has(const char *const *argv, const char *text)
{
    for (; *argv; argv++) {
        if (strcmp(*argv, text) == 0)
            return true;
    }
    return false;
}

/* A server that never runs: enough of it to make its arguments. */
static struct server planned(struct arena *arena, const struct server_class *class,
                             uint32_t connections)
{
    struct server server = {.arena = arena,
                            .class = class,
                            .programs = {.server = "/bin/server"},
                            .folder = "/t",
                            .data = "/t/data",
                            .socket_folder = "/t/sock",
                            .socket = "/t/sock/mysql.sock",
                            .secret_file = "/t/secret",
                            .password = "hushhush",
                            .connections = connections,
                            .port = 4711};
    uint32_t defaults = 0, count = 0;
    const struct server_setting *ours = class->defaults(&server, &defaults);
    server.settings = server_merge_settings(arena, ours, defaults, NULL, &count);
    server.setting_count = count;
    return server;
}

static void no_argument_holds_the_password(const char *const *argv)
{
    for (; *argv; argv++)
        assert_null(strstr(*argv, "hushhush"));
}

static void arguments_of_postgres(void **state)
{
    struct server server = planned(*state, &server_class_postgres, 84);
    const char *const *argv = server.class->argv(&server);
    assert_string_equal(argv[0], "/bin/server");
    assert_true(has(argv, "port=4711"));
    assert_true(has(argv, "listen_addresses=127.0.0.1"));
    assert_true(has(argv, "unix_socket_directories=/t/sock"));
    assert_false(has(argv, "max_connections=100")); /* the server's own default fits */
    no_argument_holds_the_password(argv);
    server = planned(*state, &server_class_postgres, 85);
    assert_true(has(server.class->argv(&server), "max_connections=101"));
}

static void arguments_of_mariadb(void **state)
{
    struct server server = planned(*state, &server_class_mariadb, 1000);
    const char *const *argv = server.class->argv(&server);
    assert_string_equal(argv[1], "--no-defaults");
    assert_true(has(argv, "--port=4711"));
    assert_true(has(argv, "--bind-address=127.0.0.1"));
    assert_true(has(argv, "--skip-log-bin"));
    assert_true(has(argv, "--innodb_flush_log_at_trx_commit=1"));
    assert_true(has(argv, "--init-file=/t/secret"));
    assert_true(has(argv, "--max_connections=1016"));
    assert_false(has(argv, "--mysqlx=OFF"));
    no_argument_holds_the_password(argv);
    server = planned(*state, &server_class_mysql, 1);
    assert_true(has(server.class->argv(&server), "--mysqlx=OFF"));
}

static void write_program(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* mysqld of MariaDB is a MariaDB and not a MySQL. */
static void mysql_is_never_answered_by_mariadb(void **state)
{
    struct arena *arena = *state;
    char folder[] = "/tmp/dbdyno-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *program = arena_printf(arena, "%s/mysqld", folder);
    const char *tool = arena_printf(arena, "%s/mysql_install_db", folder);
    write_program(tool, "#!/bin/sh\n");
    write_program(program, "#!/bin/sh\necho 'mysqld  Ver 10.11.19-MariaDB for debian'\n");
    assert_null(server_find(arena, SERVER_MYSQL, folder));
    assert_string_equal(server_find(arena, SERVER_MARIADB, folder), program);
    write_program(program, "#!/bin/sh\necho 'mysqld  Ver 8.0.36 for Linux on x86_64'\n");
    assert_string_equal(server_find(arena, SERVER_MYSQL, folder), program);
    assert_null(server_find(arena, SERVER_MARIADB, folder));
    assert_null(server_find(arena, SERVER_POSTGRES, folder));
    unlink(program);
    unlink(tool);
    rmdir(folder);
}

static void what_is_missing_is_named(void **state)
{
    struct arena *arena = *state;
    struct server *server = NULL;
    struct err err;
    struct server_spec spec = {.kind = SERVER_POSTGRES, .bin = "/nonexistent"};
    assert_false(server_start(arena, &spec, &server, &err));
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_non_null(strstr(err.text, "looked in /nonexistent for postgres and initdb"));
    assert_non_null(strstr(err.text, "apt-get install postgresql-15"));
    assert_null(server);
    spec.kind = SERVER_MARIADB;
    assert_false(server_start(arena, &spec, &server, &err));
    assert_non_null(strstr(err.text, "for mariadbd and mariadb-install-db"));
    spec.kind = SERVER_MYSQL;
    assert_false(server_start(arena, &spec, &server, &err));
    assert_non_null(strstr(err.text, "for mysqld"));
    assert_null(strstr(err.text, "apt-get"));
    assert_string_equal(server_package(SERVER_POSTGRES), "postgresql-15");
    assert_string_equal(server_package(SERVER_MARIADB), "mariadb-server-core");
    assert_null(server_package(SERVER_MYSQL));
}

static void settings_that_are_ours_are_refused(void **state)
{
    struct arena *arena = *state;
    struct server *server = NULL;
    struct err err;
    const struct server_setting setting = {"Bind-Address", "0.0.0.0"};
    struct server_spec spec = {.kind = SERVER_MARIADB,
                               .bin = "/nonexistent",
                               .settings = &setting,
                               .setting_count = 1};
    assert_false(server_start(arena, &spec, &server, &err));
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_non_null(strstr(err.text, "Bind-Address"));
}

static void usage_counts_the_whole_family(void **state)
{
    struct server_usage usage;
    server_usage_read(*state, getpid(), &usage);
    assert_true(usage.processes >= 1);
    assert_int_equal(usage.each[0].pid, getpid());
    assert_true(usage.each[0].cpu_ns > 0);
    assert_true(server_usage_bytes(&usage) > 4096);
}

/* Process 7 lives through it, 8 ends in between, 9 is new. */
static void cost_counts_each_process_once(void **state)
{
    (void)state;
    struct server_process first[] = {
        {7, 100 * NS_PER_MS},
        {8, 50 * NS_PER_MS }
    };
    struct server_process then[] = {
        {7, 130 * NS_PER_MS},
        {9, 5 * NS_PER_MS  }
    };
    struct server_usage before = {.processes = 2, .each = first};
    struct server_usage after = {.processes = 2, .ended_ns = 70 * NS_PER_MS, .each = then};
    assert_int_equal(server_usage_cost_ns(&before, &after, NS_PER_S), 55 * NS_PER_MS);
    /* In a short span the 10 ms steps of what ended would be most of the figure. */
    assert_int_equal(server_usage_cost_ns(&before, &after, NS_PER_MS), 35 * NS_PER_MS);
    assert_int_equal(server_usage_cost_ns(&after, &after, NS_PER_S), 0);
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
        cmocka_unit_test(versions_compare_number_by_number),
        cmocka_unit_test(setting_names_ignore_case_and_dashes),
        cmocka_unit_test(a_wanted_setting_replaces_our_default),
        cmocka_unit_test(a_free_port_can_be_bound),
        cmocka_unit_test(the_lines_of_a_log_that_tell_why_are_picked),
        cmocka_unit_test(picked_lines_stay_within_their_room),
        cmocka_unit_test(arguments_of_postgres),
        cmocka_unit_test(arguments_of_mariadb),
        cmocka_unit_test(mysql_is_never_answered_by_mariadb),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(settings_that_are_ours_are_refused),
        cmocka_unit_test(usage_counts_the_whole_family),
        cmocka_unit_test(cost_counts_each_process_once),
    };
    return cmocka_run_group_tests_name("parts", tests, make_arena, drop_arena);
}
