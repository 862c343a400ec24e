#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

/*
 * Managed servers: a private PostgreSQL, MariaDB or MySQL in a temporary folder, on a free port
 * of 127.0.0.1 and a unix socket, with durable defaults, executed directly (no daemon). As root
 * it runs as the packaged user (postgres, mysql) or nobody. Known to the reaper from before it
 * exists until it is gone.
 */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum server_kind { SERVER_POSTGRES, SERVER_MARIADB, SERVER_MYSQL };

/* A NULL value is an option without one (skip-log-bin). */
struct server_setting {
    const char *name, *value;
};

struct server_spec {
    enum server_kind kind;
    const char
        *bin; /* folder of the programs, or NULL: look where Debian puts them and in PATH */
    const struct server_setting *settings; /* over our defaults */
    uint32_t setting_count;
    uint32_t connections; /* how many clients must fit */
    uint64_t statements;  /* how many prepared ones they hold together */
    const uint16_t *cpus; /* it runs only there; count 0: anywhere */
    uint32_t cpu_count;
    bool keep; /* leave folder and server running at the end: server_kept() */
};

struct server;

/* Where the program is, or NULL: for `list drivers` and the demo. `mysql` is Oracle's server
 * and never answered by MariaDB. */
const char *server_find(struct arena *arena, enum server_kind kind, const char *bin);

/* The Debian package that brings it, or NULL when Debian 12 has none. */
const char *server_package(enum server_kind kind);

/* Makes the cluster, starts the server and waits until it accepts (at most 60 s). Errors:
 * missing programs (names the package), a setting that is ours (port, folders; ERR_CONFIG), a
 * server that ends or does not answer (with the tail of its log), a signal (ERR_CANCELLED). On
 * failure nothing is left. The spec's texts are copied. */
MUST_CHECK bool server_start(struct arena *arena, const struct server_spec *spec,
                             struct server **server, struct err *err);

/* Stops it and removes the folder, in 10 s at most: fast shutdown, after 5 s QUIT, after 2 s
 * more KILL, to the server and all of its family (server/family.h), so that processes that are
 * stopped or hang go too. Sets *server to NULL. Keeps both with spec.keep. */
void server_stop(struct server **server);

/* The file of a kept server that holds a target for `--on @FILE`, in one line (it has the
 * password: mode 0600, ours); NULL: it is not kept. The text lives as long as the arena.
 *
 * With spec.keep the server is the user's from the moment server_start succeeds: the reaper
 * forgets it then, so it stays however we end (Ctrl-C, also twice, or a crash). It is ended by
 * a signal to server_pid() (INT for PostgreSQL, else TERM) and removing the file's folder. */
const char *server_kept(const struct server *server);

const char *server_host(const struct server *server); /* "127.0.0.1" */
uint16_t server_port(const struct server *server);
const char *server_socket(
    const struct server *server); /* folder (PostgreSQL) or file (MariaDB) */
const char *server_user(const struct server *server); /* a superuser of the database */
const char *server_password(
    const struct server *server); /* random; was never on a command line */
const char *server_folder(
    const struct server *server); /* of the data: for the file system's facts */
const char *server_log(const struct server *server);
pid_t server_pid(const struct server *server);
uint64_t server_startup_ns(const struct server *server); /* from exec until it accepted */
uint64_t server_init_ns(const struct server *server);    /* making the cluster */

/* Everything that was set on its command line: our defaults, then those of the spec, without
 * what they replaced. The rest is as the server ships. */
uint32_t server_settings(const struct server *server, const struct server_setting **settings);

/* Still running? Otherwise *how says how it ended. */
bool server_alive(struct server *server, char *how, size_t room);

#define SERVER_PROCESSES_MAX 6000 /* that are told apart; there are as many clients as that */

/* A process and its family (workers, connections) at one moment. */
struct server_usage {
    uint64_t ended_ns; /* CPU of those that ended before, known in steps of 10 ms */
    uint32_t processes;
    struct server_process {
        pid_t pid;
        uint64_t cpu_ns; /* exact while it lives */
    } * each;
};
void server_usage_read(struct arena *arena, pid_t pid, struct server_usage *usage);

/* Memory of all of them: the sum of their proportional set sizes. Of thousands of processes it
 * takes seconds. */
uint64_t server_usage_bytes(const struct server_usage *usage);

/* CPU time between two readings that lie wall_ns apart. Processes that live in the second count
 * exactly; the time of those that ended in between moves to their parent in steps of 10 ms, so
 * it is added only when the span is long against such steps (half a second). */
uint64_t server_usage_cost_ns(const struct server_usage *before,
                              const struct server_usage *after, uint64_t wall_ns);

#endif
