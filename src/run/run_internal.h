#ifndef RUN_RUN_INTERNAL_H
#define RUN_RUN_INTERNAL_H

/*
 * Parts of the runner, from the inside out:
 *
 *   series    measured values: raw while few, a histogram when many (client_internal.h)
 *   client    one connection executing a program: the hot path (client_internal.h)
 *   schedule  when the executions of an open loop are due (schedule.h)
 *   crowd     many clients on one thread: their event loop and their sleeps
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
#include "run/client_internal.h"
#include "run/overseer_internal.h"
#include "run/run.h"
#include "server/server.h"
#include "suite/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- crowd */

#define WORKER_SPIN_NS \
    (250 * NS_PER_US) /* before an execution's time: no sleep is that exact */
#define WORKER_SLICE_NS (50 * NS_PER_MS) /* how soon a sleeping client sees the stop */

/* Of two looks at the clock, what the first's thread has spent on looking. Between looks that
 * lie far apart it was not running: that costs no processor time. */
static inline uint64_t worker_spun_ns(uint64_t look_ns, uint64_t next_ns)
{
    return next_ns - look_ns < 10 * NS_PER_US ? next_ns - look_ns : 0;
}

/* A loop that cannot be made is the failure of the first client. */
struct crowd *crowd_open(struct arena *arena, struct client *clients, uint32_t count);
void crowd_close(struct crowd *crowd);
/* Before each part: watches all connections. */
void crowd_ready(struct crowd *crowd);
/* Runs all clients to the end of their part. */
void crowd_run(struct crowd *crowd);
uint64_t crowd_spin_ns(const struct crowd *crowd); /* of the last part */

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
    struct crowd *crowd; /* many connections on one loop; NULL: one alone */
    struct client *clients;
    bool checksum; /* the first client reads the answer once more, hashed */
    uint32_t client_count;
    uint64_t warmup, executions; /* of each client; UINT64_MAX: until the plan's end */
    bool pinned;
    uint16_t cpu; /* where it runs, when pinned */
    struct recorder recorder;
    /* figures of the measured part */
    uint64_t start_ns, end_ns, cpu_ns, spin_ns, run_wait_ns, done_count;
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
    struct drv_target target;         /* a copy: place and address are filled in */
    struct drv_target control_target; /* the same for the control connection */
    struct server *server;            /* managed, else NULL */
    struct arena *arena;
    struct drv_conn *control; /* setup, checks and clean-up; of the control class */
    struct drv_conn **conns;  /* of clients; conns[0] lives as long as the session */
    uint32_t conn_count, conn_room;
    const char *folder;   /* private folder of an embedded target, or NULL */
    const char *own_file; /* SQLite file that the user named and we made */
    const char *place;
    const char *cleanup; /* what the reaper was told, or NULL */
    struct drv_facts facts;
    bool is_null; /* the null target: nothing is stored, nothing can be asked afterwards */
    bool lost;
    char why_lost[200];
    uint64_t peak_resident_bytes; /* of the server, at the end of any cell */
    const char *blocked_by; /* scenario whose failure makes the rest meaningless, or NULL */
};

MUST_CHECK bool session_open(struct session *session, struct arena *arena,
                             const struct drv_target *target, const struct run_options *options,
                             uint32_t clients_max, struct err *err);
void session_close(struct session *session, bool keep);

/* Opens one more client connection; *connect_ns is how long it took. */
MUST_CHECK bool session_connect(struct session *session, uint64_t *connect_ns, struct err *err);
void session_disconnect(struct session *session, uint32_t keep_count);

/* One statement on the control connection, cut off at due_ns or by a signal; a control
 * connection that was cut is opened anew for the next one. The value's bytes are in the
 * session's arena. */
struct session_question {
    const char *sql;
    uint64_t due_ns;
    struct value *value; /* may be NULL */
    uint64_t *rows;      /* may be NULL */
};
MUST_CHECK bool session_query(struct session *session, struct overseer *overseer,
                              const struct session_question *question, struct err *err);

void session_lose(struct session *session, const char *why);

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

/* A shorter measured part gives no share of a core that is worth its name. */
#define CELL_SHARE_SPAN_NS (10 * NS_PER_MS)

/* Result of one cell on one target. */
struct cell {
    const struct suite_scenario *scenario;
    struct session *session;
    uint32_t clients, threads;
    uint32_t attempt; /* 2: a search measures the same rate once more; else 0 */
    struct program program;
    const char *verdict, *reason; /* as in the record; NULL while fine */
    const char *around_fault;
    uint64_t asked; /* executions of all clients; 0: a duration */
    struct recorder total;
    struct client_failure failure;
    /* client_cpu_ns and busiest_cpu_ns are without spin_ns: what clients of an open loop spent
     * looking at the clock until an execution was due. */
    uint64_t wall_ns, client_cpu_ns, busiest_cpu_ns, spin_ns, run_wait_ns, executions;
    /* Open loop: executions that were due in the window, its length, and how much longer it
     * took until the last was done or given up. */
    uint64_t due, window_ns, drain_ns;
    bool given_up; /* work was cut off in the middle: its connections cannot be used again */
    struct server_usage usage_before, usage_after;
    uint64_t server_bytes;                   /* resident, at its end */
    uint64_t usage_begun_ns, usage_ended_ns; /* of reading them */
    bool server_cpu_known;
    uint64_t *connect_ns;
    uint32_t connect_count;
    uint64_t checksum, checksum_rows;
    bool has_checksum;
    struct cell_counts growth;
    struct after_result *after;
    uint32_t after_done;
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
    struct overseer overseer;
};

void cell_run(struct runner *runner, struct cell *cell);
/* The first verdict and reason stay; a NULL reason is found in the checks. */
void cell_fail(struct cell *cell, const char *verdict, const char *reason);
/* Is the whole answer read once more, to be compared? */
bool cell_wants_checksum(const struct cell *cell);
/* stand.c: the measured part. */
void stand_run(struct runner *runner, struct cell *cell);
uint64_t cell_server_cpu_ns(const struct cell *cell);
/* Tells the progress callback, a few times a second at most; `target` may be NULL. */
void runner_show(struct runner *runner, const char *step, const char *target);
/* A signal or the run's deadline asks for the end. */
bool runner_stopping(struct runner *runner);

/* ---- limits.c: do so many clients fit? ERR_SYSTEM with what is needed and what there is. */
MUST_CHECK bool limits_check_process(const struct runner *runner, uint32_t clients,
                                     struct err *err);
/* Connections and prepared statements of all sessions, which are open, with no client yet. A
 * server that does not tell its limits is not judged. */
MUST_CHECK bool limits_check_servers(struct runner *runner, uint32_t clients, struct err *err);
/* Prepared statements that the clients of a scenario hold together, at most. */
uint64_t limits_statements(struct arena *arena, const struct suite *suite,
                           enum dialect dialect);

/* ---- search.c: instead of a row of cells, for scenarios for load when the options say so */
bool search_wanted(const struct runner *runner, const struct suite_scenario *scenario);
void search_row(struct runner *runner, const struct suite_scenario *scenario, uint32_t clients);

/* ---- around.c: a command beside the measured part */
struct around {
    pid_t pid;         /* 0: none runs */
    const char *fault; /* it could not be started, or ended by itself with a failure */
};
void around_start(struct around *around, const struct runner *runner, const struct cell *cell);
void around_stop(struct around *around, const struct runner *runner);

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
/* Where clients and managed servers were pinned to, if they were. */
void note_pins(struct record *record, const struct run_options *options);
void note_run(struct runner *runner, const struct host_counters *before,
              const struct host_counters *after);
void note_verdict(struct runner *runner);
void note_project(struct record *record, const char *folder);

#endif
