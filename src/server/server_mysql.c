/* MariaDB, and MySQL where it differs. */

#include "os/fs.h"
#include "os/proc.h"
#include "server/server_internal.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

enum {
    DEFAULT_CONNECTIONS = 151,
    DEFAULT_STATEMENTS = 16382,
    STATEMENTS_SPARE = 1000,
    STATEMENTS_MAX = 1048576, /* that any version takes */
    GREETING_MS = 500,
    VERSION_BYTES = 1024
};

/* --- finding --- */

static bool says_mariadb(struct arena *arena, const char *program)
{
    const char *const argv[] = {program, "--version", NULL};
    const char *output;
    struct err err;
    return proc_capture(arena, argv, 5 * NS_PER_S, VERSION_BYTES, &output, &err) &&
           slice_glob(slice_of(output), "*MariaDB*");
}

static const char *first_program(const char *const *paths)
{
    for (; *paths; paths++) {
        if (fs_is_executable(*paths))
            return *paths;
    }
    return NULL;
}

/* A build or an unpacked archive: the folder of programs has the share/ folder beside it. */
static bool find_mariadb_in(struct arena *arena, const char *bin,
                            struct server_programs *programs)
{
    const char *base = server_folder_of(arena, bin);
    struct server_programs found = {.basedir = base};
    found.server = server_program(arena, bin, "mariadbd");
    if (!found.server) {
        const char *mysqld = server_program(arena, bin, "mysqld");
        found.server = mysqld && says_mariadb(arena, mysqld) ? mysqld : NULL;
    }
    if (!found.server || !base)
        return false;
    const char *const tools[] = {arena_printf(arena, "%s/mariadb-install-db", bin),
                                 arena_printf(arena, "%s/scripts/mariadb-install-db", base),
                                 arena_printf(arena, "%s/bin/mariadb-install-db", base),
                                 arena_printf(arena, "%s/mysql_install_db", bin),
                                 arena_printf(arena, "%s/scripts/mysql_install_db", base),
                                 NULL};
    found.init = first_program(tools);
    if (!found.init)
        return false;
    *programs = found;
    return true;
}

static bool find_mariadb(struct arena *arena, const char *bin, struct server_programs *programs)
{
    struct server_programs found = {0};
    if (bin)
        return find_mariadb_in(arena, bin, programs);
    found.server = server_program(arena, "/usr/sbin", "mariadbd");
    if (!found.server)
        found.server = proc_find(arena, "mariadbd");
    found.init = server_program(arena, "/usr/bin", "mariadb-install-db");
    if (!found.init)
        found.init = proc_find(arena, "mariadb-install-db");
    if (!found.server || !found.init)
        return false;
    *programs = found;
    return true;
}

static bool find_mysql(struct arena *arena, const char *bin, struct server_programs *programs)
{
    const char *program = server_program(arena, bin ? bin : "/usr/sbin", "mysqld");
    if (!program && !bin)
        program = proc_find(arena, "mysqld");
    if (!program || says_mariadb(arena, program))
        return false;
    *programs = (struct server_programs){.server = program};
    if (bin)
        programs->basedir = server_folder_of(arena, bin);
    return true;
}

/* --- making the cluster --- */

static void add_common(const struct server *server, struct server_args *args)
{
    struct arena *arena = server->arena;
    server_args_add(args, "--no-defaults"); /* must be the first */
    if (server->programs.basedir)
        server_args_add(args, arena_printf(arena, "--basedir=%s", server->programs.basedir));
    server_args_add(args, arena_printf(arena, "--datadir=%s", server->data));
    server_args_add(args, arena_printf(arena, "--tmpdir=%s/tmp", server->folder));
}

static void add_setting(struct server_args *args, const struct server_setting *setting)
{
    server_args_add(args, setting->value ? arena_printf(args->arena, "--%s=%s", setting->name,
                                                        setting->value)
                                         : arena_printf(args->arena, "--%s", setting->name));
}

/* Settings that are built into the files. */
static void add_layout_settings(const struct server *server, struct server_args *args)
{
    static const char *const layout[] = {"innodb_page_size",        "innodb_data_file_path",
                                         "innodb_undo_tablespaces", "innodb_checksum_algorithm",
                                         "innodb_log_file_size",    "lower_case_table_names"};
    for (uint32_t i = 0; i < server->wanted_count; i++) {
        for (size_t k = 0; k < ARRAY_COUNT(layout); k++) {
            if (server_same_name(server->wanted[i].name, layout[k]))
                add_setting(args, &server->wanted[i]);
        }
    }
}

/* The server reads the accounts from this file before it accepts anybody. Each statement is one
 * line. */
static bool write_accounts(struct server *server, bool mariadb, struct err *err)
{
    const char *password = server->password;
    const char *clear = mariadb ? "DELETE FROM mysql.global_priv WHERE User <> 'mariadb.sys';\n"
                                  "FLUSH PRIVILEGES;\n"
                                : "DROP USER IF EXISTS 'root'@'localhost';\n";
    const char *text =
        arena_printf(server->arena,
                     "%s"
                     "CREATE USER 'root'@'localhost' IDENTIFIED BY '%s';\n"
                     "CREATE USER 'root'@'127.0.0.1' IDENTIFIED BY '%s';\n"
                     "GRANT ALL PRIVILEGES ON *.* TO 'root'@'localhost' WITH GRANT OPTION;\n"
                     "GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n",
                     clear, password, password);
    return server_write_secret(server, text, err);
}

static bool make_temp_folder(struct server *server, struct err *err)
{
    return server_make_folder(server, arena_printf(server->arena, "%s/tmp", server->folder),
                              0700, err);
}

static bool init_mariadb(struct server *server, struct err *err)
{
    struct server_args args = {.arena = server->arena};
    server_args_add(&args, server->programs.init);
    add_common(server, &args);
    server_args_add(&args, "--auth-root-authentication-method=normal");
    server_args_add(&args, "--skip-test-db");
    server_args_add(&args, "--skip-name-resolve");
    add_layout_settings(server, &args);
    return make_temp_folder(server, err) && server_run_tool(server, args.argv, err) &&
           write_accounts(server, true, err);
}

static bool init_mysql(struct server *server, struct err *err)
{
    struct server_args args = {.arena = server->arena};
    server_args_add(&args, server->programs.server);
    add_common(server, &args);
    server_args_add(&args, "--initialize-insecure");
    add_layout_settings(server, &args);
    return make_temp_folder(server, err) && server_run_tool(server, args.argv, err) &&
           write_accounts(server, false, err);
}

/* --- running --- */

static const struct server_setting *defaults(const struct server *server, uint32_t *count)
{
    struct arena *arena = server->arena;
    const struct server_setting always[] = {
        {"bind-address",           "127.0.0.1"       },
        {"port",                   arena_printf(arena, "%u", (unsigned)server->port)},
        {"socket", server->socket                  },
        {"skip-log-bin",          NULL         },
        {"innodb_flush_log_at_trx_commit",           "1"                   },
    };
    uint32_t known = ARRAY_COUNT(always);
    struct server_setting *all = arena_array(arena, struct server_setting, known + 3);
    memcpy(all, always, sizeof(always));
    if (server_needs_connections(server, DEFAULT_CONNECTIONS, &all[known]))
        known++;
    uint64_t statements = server->statements + STATEMENTS_SPARE;
    if (statements > DEFAULT_STATEMENTS)
        all[known++] =
            (struct server_setting){"max_prepared_stmt_count",
                                    arena_printf(arena, "%" PRIu64,
                                                 statements < STATEMENTS_MAX ? statements
                                                                             : STATEMENTS_MAX)};
    if (server->class == &server_class_mysql)
        all[known++] = (struct server_setting){"mysqlx", "OFF"};
    *count = known;
    return all;
}

static const char *const *arguments(const struct server *server)
{
    struct arena *arena = server->arena;
    struct server_args args = {.arena = arena};
    server_args_add(&args, server->programs.server);
    add_common(server, &args);
    server_args_add(&args, arena_printf(arena, "--pid-file=%s/pid", server->socket_folder));
    server_args_add(&args, arena_printf(arena, "--init-file=%s", server->secret_file));
    for (uint32_t i = 0; i < server->setting_count; i++)
        add_setting(&args, &server->settings[i]);
    return args.argv;
}

/* A server that accepts says hello first: length (3), number 0, protocol version 10. */
static bool is_ready(const struct server *server)
{
    unsigned char hello[5] = {0};
    int fd = server_connect(server->socket);
    if (fd < 0)
        return false;
    struct pollfd watch = {.fd = fd, .events = POLLIN};
    bool ready = poll(&watch, 1, GREETING_MS) == 1 &&
                 read(fd, hello, sizeof(hello)) == (ssize_t)sizeof(hello) && hello[4] == 10;
    close(fd);
    return ready;
}

static const char *const reserved[] = {"bind_address",
                                       "port",
                                       "socket",
                                       "datadir",
                                       "basedir",
                                       "pid_file",
                                       "init_file",
                                       "tmpdir",
                                       "user",
                                       "mysqlx",
                                       "log_error",
                                       "defaults_file",
                                       "skip_grant_tables",
                                       "skip_networking",
                                       NULL};

const struct server_class server_class_mariadb = {
    .name = "mariadb",
    .package = "mariadb-server-core",
    .places = "/usr/sbin/mariadbd with /usr/bin/mariadb-install-db, and PATH",
    .wanted = "mariadbd and mariadb-install-db (or ../scripts/mariadb-install-db)",
    .run_as = "mysql",
    .admin = "root",
    .reserved = reserved,
    .stop_signal = SIGTERM,
    .find = find_mariadb,
    .init = init_mariadb,
    .defaults = defaults,
    .argv = arguments,
    .is_ready = is_ready,
};

const struct server_class server_class_mysql = {
    .name = "mysql",
    .package = NULL,
    .places = "/usr/sbin/mysqld and PATH; MariaDB's mysqld does not count",
    .wanted = "mysqld, which is not MariaDB's",
    .run_as = "mysql",
    .admin = "root",
    .reserved = reserved,
    .stop_signal = SIGTERM,
    .find = find_mysql,
    .init = init_mysql,
    .defaults = defaults,
    .argv = arguments,
    .is_ready = is_ready,
};
