#ifndef RUN_CLIENT_INTERNAL_H
#define RUN_CLIENT_INTERNAL_H

/* Measured values, and the client that makes them: one connection executing a program. */

#include "base/arena.h"
#include "driver/driver.h"
#include "gen/quick.h"
#include "hist/hist.h"
#include "program/program.h"
#include "run/schedule.h"
#include "suite/suite.h"

#include <assert.h>
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

static inline uint64_t series_count(const struct series *series)
{
    return series->hist ? series->hist->count : series->count;
}

static inline void series_record(struct series *series, uint64_t value)
{
    if (series->count < series->room) {
        assert(series->raw);
        series->raw[series->count++] = value;
    } else if (series->hist) {
        hist_record(series->hist, value);
    }
}

/* ---- client */

#define CLIENT_COLUMNS_MAX 16   /* of a first row that checks and saves can look at */
#define CLIENT_TEXT_MAX    4096 /* bytes of one such value; longer ones are compared cut */

enum client_state { /* the first two wait for the connection */
                    CLIENT_WANT_READ,
                    CLIENT_WANT_WRITE,
                    CLIENT_SLEEPS, /* until wake_ns, to the microsecond when `spins` */
                    CLIENT_FINISHED,
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
    struct series lag, response;  /* open loop */
    uint64_t unfinished;          /* open loop: in `response` as lower bounds */
    uint64_t unfinished_least_ns; /* the smallest of them; UINT64_MAX: none */
    struct series *phases;
    struct check_tally *checks;
    uint64_t operations;
    uint64_t rows;     /* of all answers */
    uint64_t affected; /* by all statements that said so */
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
    struct schedule *schedule; /* open loop, else NULL */
    /* Of its warm-up by time; NULL when that is over, or a warm-up counts executions. */
    struct schedule *warm_schedule;
    /* Clients that look at the clock without sleeping, and how many at a time may. */
    atomic_uint spinning;
    uint32_t spinning_most;
    /* No execution starts at or after it: UINT64_MAX while there is no such time, 0 to stop.
     * Stored by the watch, by main before the gate opens, and by a failing client; read by all
     * clients after each execution; relaxed. */
    atomic_uint_fast64_t end_ns;
    atomic_bool given_up;    /* open loop, the drain time is over: what runs is cancelled */
    atomic_bool interrupted; /* the stop came from outside: what was running is not a failure */
};

static inline void plan_stop(struct client_plan *plan)
{
    atomic_store_explicit(&plan->end_ns, 0, memory_order_relaxed);
}

static inline bool plan_stopped(const struct client_plan *plan)
{
    return atomic_load_explicit(&plan->end_ns, memory_order_relaxed) == 0;
}

/* One operation as the client executes it: what can be known before is worked out before. */
struct client_step {
    const struct prog_op *op;
    struct drv_op wire;       /* as it is submitted */
    struct drv_expect expect; /* null target: of constant checks */
    /* Quick: nothing is asked of its answer but a known number of rows and perhaps a known
     * whole number in the first one, and its tallies have been begun. Then its answers are only
     * counted here, until the part ends. */
    bool quick, quick_valued;
    uint64_t quick_rows, quick_count;
    int64_t quick_value;
    uint16_t quick_column;
    uint64_t deadline_ns;            /* of each of its submits */
    uint64_t stream;                 /* of a local operation's expression, for this client */
    uint32_t row_offset;             /* row-driven: its first row within an execution */
    struct check_tally *quick_tally; /* the first of its checks; NULL: never quick */
    struct gen_quick draw;           /* for quick_bind: makes the parameter, drawn */
    struct value drawn;
    bool local;          /* needs no answer: set, branch, sleep, mark */
    bool drawable;       /* its only parameter is a uniform draw, made by `draw` */
    bool quick_bind;     /* drawn inside the loop */
    bool piped;          /* between PIPE_START and PIPE_END, and the driver can */
    uint32_t pipe_count; /* PIPE_START: operations up to its end; 0: the driver cannot */
    bool binds;          /* parameters are made anew for each submit, the long way */
    bool expects;  /* null target: the expectation changes from one execution to the next */
    bool long_way; /* get_ready has something to do: binds, a changing expectation */
};

/* An operation of a pipeline that is in flight. */
struct client_slot {
    struct client_step *step;
    struct value *params; /* as bound for it: checks look at them */
    char *scratch;
    const struct value *used; /* params, or those of a step that always sends the same */
    uint64_t submitted_ns;
};

struct client {
    /* the hot part */
    struct client_step *at, *first, *end; /* next operation; the stage's first; its end */
    struct drv_conn *conn;
    const struct drv_class *class;
    int fd;            /* of the connection; -1: it blocks */
    struct hist *hist; /* of service times; NULL: an execution's end goes the long way */
    struct client_plan *plan;
    uint64_t start_ns, last_ns; /* of the execution; of the last event */
    uint64_t execution;         /* from 1, warm-ups included */
    uint64_t left;              /* executions left in this stage */
    uint64_t stage_begun; /* execution with which the numbering of the stage's rows began */
    uint64_t stage_row;   /* first row of the stage */
    uint64_t begun, operations, rows, affected; /* of this part; begun: its first execution */
    uint32_t repetition;
    uint32_t pipe_left; /* operations of the running pipeline without an answer */
    uint16_t mark;      /* phase that a MARK began, or PROG_NONE */
    bool in_flight, recording, finished;
    bool open;   /* this part goes by a schedule */
    bool awaits; /* open loop: the next thing to do is to take an execution */
    bool spins;  /* CLIENT_SLEEPS must end exactly on time */
    /* Deadline of the running operation, 0: none runs. Stored by the client, read by the watch,
     * which may cancel; both relaxed. */
    atomic_uint_fast64_t due_ns;
    struct drv_outcome outcome;

    /* what it works with */
    const struct program *program;
    struct recorder *recorder;
    struct client_step *steps;
    uint32_t number; /* from 1 */
    uint32_t stage;
    uint64_t mark_ns, wake_ns;
    struct schedule *schedule; /* of this part */
    uint64_t arrival_ns; /* open loop: when the execution that was taken is due; 0: none */
    uint64_t spin_ns;    /* of this part: time spent looking at the clock */
    struct client_slot *slots;
    uint32_t slot_count, slot_at; /* of the running pipeline; the next to be answered */
    struct gen_ctx gen;
    struct value *params;
    uint64_t *bind_streams; /* of the program's binds, for this client */
    struct value vars[PROG_VARS_MAX];
    char (*var_texts)[CLIENT_TEXT_MAX];
    struct value expect_values[CLIENT_COLUMNS_MAX];
    struct client_sink sink;
    struct client_failure failure;
};

void client_init(struct client *client, struct arena *arena, struct client_plan *plan,
                 struct drv_conn *conn, struct recorder *recorder);
/* `executions` is how many will be recorded by all clients that share it; 0: not known. */
void recorder_init(struct recorder *recorder, struct arena *arena,
                   const struct program *program, uint64_t executions);
/* Room for lag and response too. */
void recorder_open(struct recorder *recorder, struct arena *arena, uint64_t executions);
/* Adds a worker's figures to the cell's. */
void recorder_merge(struct recorder *into, const struct recorder *from,
                    const struct program *program);

/* Begins a part: `executions` of each client (stages with their own count go by that;
 * UINT64_MAX until the plan's end). Variables, row cursor and execution number go on from the
 * last part. Checks are done and tallied in every part, times are kept only while `recording`.
 */
void client_begin(struct client *client, uint64_t executions, bool recording);

/* Goes on until it must wait or is finished. A failure finishes it and is in client->failure.
 */
enum client_state client_run(struct client *client);

/* One more execution with every row hashed into client->sink.checksum. */
void client_begin_checksum(struct client *client);

/* client_check.c: looks at an outcome; false when an answer was wrong (failure is filled). */
bool client_check(struct client *client);

/* What a right answer to the operation is, for the null target. */
void client_expect(struct client *client, const struct prog_op *op, const struct value *params,
                   struct drv_expect *expect);

/* Makes the parameters of the operation's next submit. */
void client_bind(struct client *client, const struct client_step *at, struct value *params);

/* Is the first row's value the one that a quick step asks for? */
static inline bool client_quick_value(const struct client *client,
                                      const struct client_step *step)
{
    const struct value *found = &client->sink.first[step->quick_column];
    return !step->quick_valued ||
           (step->quick_column < client->sink.count && found->type == VALUE_INT &&
            found->as.i == step->quick_value);
}

/* After a right answer: saves. */
void client_save(struct client *client, const struct prog_op *op);

/* client_pipe.c: submits a whole pipeline, from the step at client->at to its PIPE_END. */
void client_pipe_fill(struct client *client, uint32_t count);
/* The next answer of the pipeline is complete; after the last one client->at is behind its end.
 * False ends the client. */
bool client_pipe_complete(struct client *client);

#endif
