#ifndef RUN_RUN_INTERNAL_H
#define RUN_RUN_INTERNAL_H

/*
 * Parts of the runner, from the inside out:
 *
 *   series    measured values: raw while few, a histogram when many
 *   client    one connection executing a program: the hot path
 *   worker    one thread with its clients, from warm-up over the start line to the end
 *   cell      one scenario on one target with so many clients: workers, watch, checks
 *   session   one target of a run: its server, place, connections
 *   note      results into the record
 */

#include "base/arena.h"
#include "driver/driver.h"
#include "guard/guard.h"
#include "hist/hist.h"
#include "host/host.h"
#include "program/program.h"
#include "record/record.h"
#include "run/run.h"
#include "server/server.h"
#include "suite/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- series */

#define SERIES_RAW_MAX 4096u

/* Room is decided when it is made: `expected` values at most (0: not known) are kept raw when
 * they are at most SERIES_RAW_MAX, else in a histogram. Recording allocates nothing. */
struct series {
    uint64_t *raw;
    uint64_t count, room;
    struct hist *hist;
};

void series_init(struct series *series, struct arena *arena, uint64_t expected);
void series_append(struct series *into, const struct series *from);

static inline void series_record(struct series *series, uint64_t value)
{
    if (series->count < series->room)
        series->raw[series->count++] = value;
    else if (series->hist)
        hist_record(series->hist, value);
}

/* ---- client */

#define CLIENT_COLUMNS_MAX 16   /* of a first row that checks and saves can look at */
#define CLIENT_TEXT_MAX    4096 /* bytes of one such value; longer ones are compared cut */

enum client_state {
    CLIENT_FINISHED,
    CLIENT_WANT_READ,
    CLIENT_WANT_WRITE,
    CLIENT_SLEEPS, /* until wake_ns */
};

/* What went wrong first; kept by value, so that a failing client allocates nothing. */
struct client_failure {
    bool failed;
    const char *what; /* "rows", "value", "affected", "error", "statement" */
    const char *stmt; /* its name */
    uint32_t client;
    uint64_t execution;
    struct value expected, found; /* text lives in `texts` */
    char texts[2][160];
    enum drv_verdict verdict;
    char sqlstate[6];
    int code;
    char message[256];
};

/* One check over all executions of a cell. */
struct check_tally {
    uint64_t times;
    bool failed, seen;
    struct value expected, found; /* of the first failure, else the last look */
    char texts[2][160];
};

/* Figures of all clients of a worker. */
struct recorder {
    struct series service;
    struct series *phases;
    uint64_t operations;
    uint64_t rows;    /* of all answers */
    int64_t affected; /* by all statements that said so */
    struct check_tally *checks;
};

struct client_sink {
    struct drv_sink base;
    uint16_t want; /* columns of the first row to keep */
    bool hashing;  /* add every row to `checksum` */
    uint64_t rows, checksum;
    uint16_t count; /* columns kept */
    struct value first[CLIENT_COLUMNS_MAX];
    char (*texts)[CLIENT_TEXT_MAX];
};

/* Shared by the clients of a cell. */
struct client_plan {
    const struct program *program;
    const struct suite_scenario *scenario;
    uint32_t clients;
    bool null_target;
    atomic_bool
        stop; /* set by the watch or by a failing client; read by all after each execution */
    atomic_bool interrupted; /* the stop came from outside: what was running is not a failure */
};

struct client {
    struct drv_conn *conn;
    const struct drv_class *class;
    struct client_plan *plan;
    const struct program *program;
    struct recorder *recorder;
    uint32_t number; /* from 1 */

    /* where it is */
    uint32_t stage, pc, repetition;
    bool in_flight, recording, finished, hashing;
    uint64_t execution;  /* from 1, warm-ups included */
    uint64_t left;       /* executions left in this stage */
    uint64_t end_ns;     /* duration mode: no execution starts after; 0: none */
    uint64_t cursor;     /* row number */
    uint64_t done_count; /* executions completed in this part */
    uint64_t start_ns, op_start_ns, mark_ns, wake_ns;
    uint16_t mark;
    atomic_uint_least64_t
        due_ns; /* deadline of the running operation, 0: none runs. Stored by the
                   client, read by the watch, which may cancel; both relaxed */

    /* what it works with */
    struct gen_ctx gen;
    struct value *params;
    const struct value **fixed; /* for each operation: parameters that never change, or NULL */
    struct value vars[PROG_VARS_MAX];
    char (*var_texts)[CLIENT_TEXT_MAX];
    struct drv_op op;
    struct drv_outcome outcome;
    struct drv_expect expect;
    struct value expect_values[CLIENT_COLUMNS_MAX];
    struct client_sink sink;
    struct client_failure failure;
};

void client_init(struct client *client, struct arena *arena, struct client_plan *plan,
                 struct drv_conn *conn, struct recorder *recorder);
/* `executions` is how many will be recorded by all clients that share it; 0: not known. */
void recorder_init(struct recorder *recorder, struct arena *arena,
                   const struct program *program, uint64_t executions);
/* Adds a worker's figures to the cell's. */
void recorder_merge(struct recorder *into, const struct recorder *from,
                    const struct program *program);

/* Begins a part: `executions` of each client (stages with their own count go by that), or until
 * end_ns. Variables, row cursor and execution number go on from the last part. Checks are done
 * and tallied in every part, times are kept only while `recording`. */
void client_begin(struct client *client, uint64_t executions, uint64_t end_ns, bool recording);

/* Goes on until it must wait or is finished. A failure finishes it and is in client->failure.
 */
enum client_state client_run(struct client *client);

/* client_check.c: looks at an outcome; false when an answer was wrong (failure is filled). */
bool client_check(struct client *client, const struct prog_op *op);
bool client_fail(struct client *client, const struct prog_op *op);
void client_expect(struct client *client, const struct prog_op *op);
void client_bind(struct client *client, const struct prog_op *op, uint32_t rows,
                 struct value *params);

/* ---- worker */

/* Where workers wait for each other. Main opens the gates one after the other; `arrived` counts
 * the workers at the current one. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t arrived, opened;
};

struct worker {
    pthread_t thread;
    struct gate *gate;
    struct client_plan *plan;
    struct client *clients;
    uint32_t client_count;
    uint64_t warmup, executions, duration_ns;
    struct recorder recorder;
    /* figures of the measured part */
    uint64_t start_ns, end_ns, cpu_ns, run_wait_ns, done_count;
    struct arena *arena;
};

void *worker_main(void *context);

/* Runs one client to its end in the calling thread, waiting as it asks. */
void worker_run_alone(struct client *client);

void gate_init(struct gate *gate);
void gate_done(struct gate *gate);
void gate_pass(struct gate *gate, uint32_t number); /* a worker: arrive, wait until opened */
void gate_open(struct gate *gate, uint32_t number); /* main */
bool gate_wait(struct gate *gate, uint32_t count, uint64_t timeout_ns); /* main: all there? */

/* ---- session */

struct session {
    struct drv_target target; /* a copy: place and address are filled in */
    struct server *server;    /* managed, else NULL */
    struct arena *arena;
    struct drv_conn *control; /* setup, checks and clean-up */
    struct drv_conn **conns;  /* of clients; conns[0] lives as long as the session */
    uint32_t conn_count, conn_room;
    const char *folder;   /* private folder of an embedded target, or NULL */
    const char *own_file; /* SQLite file that the user named and we made */
    const char *place;
    const char *cleanup; /* what the reaper was told, or NULL */
    struct drv_facts facts;
    bool lost;
    char why_lost[200];
    const char *blocked_by; /* scenario whose failure makes the rest meaningless, or NULL */
};

MUST_CHECK bool session_open(struct session *session, struct arena *arena,
                             const struct drv_target *target, const struct run_options *options,
                             uint32_t clients_max, struct err *err);
void session_close(struct session *session, bool keep);

/* Makes sure that exactly `count` client connections are open. connect_ns (room for count) gets
 * the times of those that had to be opened, *opened how many. */
MUST_CHECK bool session_connect(struct session *session, uint32_t count, uint64_t *connect_ns,
                                uint32_t *opened, struct err *err);
void session_disconnect(struct session *session, uint32_t keep_count);

/* Is the target still there? Otherwise sets lost and why. */
bool session_alive(struct session *session);

/* Called by the reaper with the text of `cleanup`. */
void session_cleanup(const char *text);

/* Data folder for facts about the file system, or NULL. */
const char *session_data_folder(const struct session *session);

/* ---- cell */

struct cell_counts { /* of the table whose growth is checked, and queries after */
    bool known;
    int64_t before, after;
};

struct after_result {
    struct value expected, found;
    bool ok;
    const char *error;
};

/* Result of one cell on one target. */
struct cell {
    const struct suite_scenario *scenario;
    struct session *session;
    uint32_t clients, threads;
    struct program program;
    const char *verdict, *reason; /* as in the record; NULL while fine */
    struct recorder total;
    struct client_failure failure;
    uint64_t wall_ns, client_cpu_ns, busiest_cpu_ns, run_wait_ns, executions;
    struct server_usage usage_before, usage_after;
    bool server_cpu_known;
    uint64_t *connect_ns;
    uint32_t connect_count;
    uint64_t checksum, checksum_rows;
    bool has_checksum;
    struct cell_counts growth;
    struct after_result *after;
};

/* State of the run that cells need. */
struct runner {
    struct arena *arena;
    const struct run_options *options;
    struct record *record;
    struct session *sessions;
    uint32_t session_count;
    struct probe_clock clock;
    uint32_t cpus;
    uint64_t start_ns, deadline_ns;
    uint32_t cells_done, cells_total;
    int signal_number;
    bool timed_out;
    uint64_t shown_ns; /* last progress */
};

void cell_run(struct runner *runner, struct cell *cell);
/* Tells the progress callback, a few times a second at most; `target` may be NULL. */
void runner_show(struct runner *runner, const char *step, const char *target);
/* A signal or the run's deadline asks for the end. */
bool runner_stopping(struct runner *runner);

/* ---- around.c: a command beside the measured part */
struct around {
    pid_t pid; /* 0: none runs */
};
void around_start(struct around *around, const struct runner *runner, const struct cell *cell);
void around_stop(struct around *around);

/* ---- note_*.c: results into the record */
void note_guards(struct runner *runner, const struct cell *cell, struct rec_cell *out);
void note_targets(struct runner *runner);
void note_cell(struct runner *runner, const struct cell *cell);
void note_answers(struct runner *runner, const struct cell *cells, uint32_t count);
void note_relations(struct runner *runner);
void note_floors(struct runner *runner, const char *when);
void note_floors_of(struct record *record, const char *folder, uint64_t budget_ns,
                    const char *when, struct probe_floor floors[PROBE_FLOORS_MAX]);
void note_host(struct record *record, const char *folder);
void note_run(struct runner *runner, const struct host_counters *before,
              const struct host_counters *after);
void note_verdict(struct runner *runner);
void note_project(struct record *record, const char *folder);

#endif
