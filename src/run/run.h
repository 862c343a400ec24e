#ifndef RUN_RUN_H
#define RUN_RUN_H

/*
 * Running a suite on targets: starts what must be started, measures every cell, checks every
 * answer, and puts it all in a record. Prints nothing; progress goes to a callback.
 *
 * Targets go in lockstep by scenario (suites have state), their order rotated by the seed; the
 * samples of a cell stay together. That is a view side by side, not a verdict between targets.
 *
 * Service time runs from the submission of an execution's first operation until the last
 * operation has completed and its rows are decoded; checks lie outside. Binds are made before;
 * only a bind that costs less than a reading of the clock (a constant, one uniform draw) lies
 * within, behind the reading that ended the last execution. A client's connect, login and
 * prepare lie outside.
 *
 * Closed loop: a client starts its next execution when the last has completed.
 *
 * Open loop: executions are due at absolute times, fixed before anything is known of the
 * answers (run/schedule.h); an idle client takes the next one. One that is late is sent at
 * once; none is skipped. lag = sent - due, response = completed - due = lag + service. When the
 * window is over, what was due is still worked off for RUN_DRAIN_NS; what is unfinished then is
 * kept as a lower bound. offered = due in the window / window; achieved = done / (window + how
 * far behind it the last ones were begun: the drain less the longest service time, and no more
 * than the largest lag): 7,500 done in 10 s and 5 s of drain are 500/s.
 *
 * Start line: all clients of a cell are connected, prepared and warmed up (in a closed loop; a
 * warm-up by time of an open loop goes by the rate too),
 * then released together; the wall time runs from there until the last client's last answer.
 */

#include "base/arena.h"
#include "base/err.h"
#include "driver/target.h"
#include "probe/probe.h"
#include "record/record.h"
#include "suite/suite.h"

#include <stdbool.h>
#include <stdint.h>

#define RUN_DRAIN_NS (5 * UINT64_C(1000000000))
#define RUN_SEARCH_STEPS \
    10 /* rates of a search for the highest one, each tried twice at most */

struct run_progress {
    const char *step;     /* "starting postgres", "id_point on mariadb (4 clients)", "floors" */
    uint32_t done, total; /* cells */
    uint64_t elapsed_ns;
};
/* Called from the main thread, a few times a second at most. */
typedef void (*run_progress_fn)(void *context, const struct run_progress *progress);

struct run_options {
    const struct suite *suite;
    const struct drv_target *targets; /* parsed; labels unique */
    uint32_t target_count;
    bool keep;                /* leave servers, schemas and files; the record says where */
    const char *project;      /* folder of the software under test, or NULL */
    const char *const *facts; /* "NAME=VALUE" */
    uint32_t fact_count;
    const char *const
        *command; /* the command line without the program's name, secrets removed */
    uint32_t command_count;
    const char *around;          /* shell command beside the measured part, or NULL */
    const char *around_scenario; /* only there; NULL: every scenario */
    uint32_t threads;            /* of clients that share threads; 0: half of the CPUs */
    const uint16_t *pin; /* client threads run on these CPUs, in turn; count 0: not pinned */
    uint32_t pin_count;
    const uint16_t *pin_server; /* managed servers run on these CPUs */
    uint32_t pin_server_count;
    /* Search for the highest rate at which the quantile slo_ppm of the response time stays
     * within slo_ns, instead of measuring once (run/search.c). 0: no search. */
    uint32_t slo_ppm;
    uint64_t slo_ns;
    uint64_t deadline_ns;     /* of the whole run; the watchdog ends it; 0: one hour */
    uint64_t floor_budget_ns; /* each time, before and after; 0: no floors */
    run_progress_fn progress; /* may be NULL */
    void *progress_context;
};

/* Before any thread exists: forks the reaper, so that even a kill -9 leaves nothing. */
MUST_CHECK bool run_prepare_process(struct err *err);
/* The counterpart at the end of the program. */
void run_finish_process(void);

/* Runs. False only when nothing could be measured at all (a target is not available:
 * ERR_SYSTEM); anything later is in the record: its verdict is "valid", "reserve", "invalid",
 * "failed" or "interrupted" and *signal_number says which signal (0: none). The record is
 * always complete and can be written. */
MUST_CHECK bool run_suite(struct arena *arena, const struct run_options *options,
                          struct record **record, int *signal_number, struct err *err);

/* Exit code of a record's verdict by DESIGN.md's table: 130/143, 5, 6, 0. */
int run_exit_code(const struct record *record, int signal_number);

/* The floors alone, for `dbdyno floors`: a record without cells. */
MUST_CHECK bool run_floors(struct arena *arena, uint64_t budget_ns, run_progress_fn progress,
                           void *context, struct record **record, struct err *err);

#endif
