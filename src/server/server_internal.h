#ifndef SERVER_SERVER_INTERNAL_H
#define SERVER_SERVER_INTERNAL_H

/*
 * Between server.c, which knows how any server is started, watched and removed, and one file a
 * kind, which knows programs, arguments and signs of life.
 */

#include "base/slice.h"
#include "server/server.h"

/* Where things are. Unknown to a kind: NULL. */
struct server_programs {
    const char *server;  /* postgres, mariadbd, mysqld */
    const char *init;    /* initdb, mariadb-install-db; NULL when the server does it */
    const char *basedir; /* what --basedir must be told, or NULL */
};

struct server {
    struct arena *arena; /* the caller's */
    const struct server_class *class;
    struct server_programs programs;
    const char *run_as; /* user, or NULL: ourselves */
    const char *folder, *data, *socket_folder, *socket, *log, *secret_file;
    char password[33];
    const struct server_setting *wanted; /* of the spec, copied */
    uint32_t wanted_count, connections;
    uint64_t statements;
    const uint16_t *cpus; /* copied */
    uint32_t cpu_count;
    const struct server_setting *settings; /* in effect */
    uint32_t setting_count;
    pid_t pid; /* 0: not started */
    uint16_t port;
    bool ended, keep;
    const char *kept; /* the file that says how to log in; NULL: not kept */
    int status;       /* how it ended */
    uint64_t init_ns, startup_ns;
};

/* One kind of server. */
struct server_class {
    const char *name;            /* "postgres" */
    const char *package;         /* or NULL */
    const char *places;          /* where was looked, for messages */
    const char *wanted;          /* what a folder of programs must have, for messages */
    const char *run_as;          /* the packaged user */
    const char *admin;           /* the database's user */
    const char *const *reserved; /* settings that are ours; NULL at the end */
    int stop_signal;

    bool (*find)(struct arena *arena, const char *bin, struct server_programs *programs);
    /* Makes the cluster in server->data. */
    bool (*init)(struct server *server, struct err *err);
    /* Our defaults, with port and socket known. */
    const struct server_setting *(*defaults)(const struct server *server, uint32_t *count);
    const char *const *(*argv)(const struct server *server);
    /* Does it accept now? */
    bool (*is_ready)(const struct server *server);
};

extern const struct server_class server_class_postgres;
extern const struct server_class server_class_mariadb;
extern const struct server_class server_class_mysql;

/* "MAJOR.MINOR..." compared number by number: <0, 0, >0. What is not a number counts as 0. */
int server_compare_versions(struct slice a, struct slice b);

/* `folder/name` when that is a program, or NULL. */
const char *server_program(struct arena *arena, const char *folder, const char *name);

/* The folder of a path (of what it links to), or NULL. */
const char *server_folder_of(struct arena *arena, const char *path);

/* Our defaults without those that `wanted` names too (case and '-' or '_' are the same),
 * followed by `wanted`. */
const struct server_setting *server_merge_settings(struct arena *arena,
                                                   const struct server_setting *defaults,
                                                   uint32_t default_count,
                                                   const struct server_setting *wanted,
                                                   uint32_t *count);

bool server_same_name(const char *a, const char *b);

/* Are more connections wanted, with some in reserve, than the kind lets in as it comes? Then
 * *setting is the one that it needs. */
bool server_needs_connections(const struct server *server, uint32_t usual,
                              struct server_setting *setting);

/* Grows an argv; the last place stays NULL. */
struct server_args {
    struct arena *arena;
    const char **argv;
    size_t count, room;
};
void server_args_add(struct server_args *args, const char *text);

/* A port of 127.0.0.1 that was free a moment ago. */
MUST_CHECK bool server_free_port(uint16_t *port, struct err *err);

/* Runs a tool as the server's user, output into its log, known to the reaper; at most 60 s. */
MUST_CHECK bool server_run_tool(struct server *server, const char *const *argv,
                                struct err *err);

/* A file for that user alone (mode 0600), and an empty folder of his. */
MUST_CHECK bool server_write_secret(struct server *server, const char *text, struct err *err);
MUST_CHECK bool server_make_folder(struct server *server, const char *path, unsigned mode,
                                   struct err *err);

/* The lines of a log that tell why: those that speak of errors, else the last ones. */
void server_pick_lines(struct slice log, char *into, size_t room);

/* Connects to a unix socket; -1 when nobody accepts. */
int server_connect(const char *socket_path);

#endif
