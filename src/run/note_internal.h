#ifndef RUN_NOTE_INTERNAL_H
#define RUN_NOTE_INTERNAL_H

/* What the note_*.c files share: parts of a cell's results. */

#include "run/run_internal.h"

/* ---- note_metrics.c */

/* All figures of a cell: of an open loop the rates first. */
void note_metrics(struct arena *arena, struct rec_cell *out, const struct cell *cell);
/* A distribution; nothing when it is empty. */
void note_series(struct arena *arena, struct rec_cell *out, const char *name,
                 const struct series *series);
/* A quantile; unknown where the values do not carry it. */
struct rec_number note_quantile(struct arena *arena, const struct series *series,
                                uint32_t q_ppm);
/* The values themselves. */
void note_values(struct arena *arena, struct rec_cell *out, const char *name,
                 const struct series *series);

static inline bool cell_is_open(const struct cell *cell)
{
    return cell->scenario->rate_per_s > 0;
}

/* Executions that were due in the window, a second of it. */
double cell_offered_per_s(const struct cell *cell);
/* Executions that were done, a second of the time over which they were begun: the window, and
 * what begins ran behind it: the drain less the longest service time (all of it when work was
 * left unfinished), and no more than the largest lag. A slow answer at the end does not
 * lengthen it. */
double cell_achieved_per_s(const struct cell *cell);

/* ---- note_stalls.c: what a closed loop did not see */

/*
 * Stalls of a closed loop: executions that took far longer than nearly all others (coordinated
 * omission; Gil Tene). While a client waits it sends nothing, so a stall counts once a client,
 * where a schedule would have counted each request that was due in it.
 *
 * An execution is a stall from 20 times the tail on, and from STALL_LEAST_NS on. The tail is
 * the highest of p99.9, p99 and p95 (of 1,000 executions or more) beyond which lie at least 10
 * executions and 2 of each client, so that a single stall of all clients cannot move it.
 *
 * The corrected p99 is of all executions and, for each stall v, of those that the client would
 * have sent at its usual pace: v - p50, v - 2 p50, … down to p50 (as HdrHistogram's
 * hdr_record_corrected_value does).
 */
#define STALL_LEAST_NS (20 * NS_PER_MS) /* shorter ones are hiccups of scheduling */

struct stalls {
    bool judged; /* there are enough executions to tell */
    uint64_t p50_ns, p99_ns, tail_ns, max_ns;
    uint64_t stall_ns; /* beyond the median; clients wait side by side: of an average client */
    uint64_t omitted;  /* requests that all clients would have sent */
    uint64_t corrected_p99_ns;
};

void stalls_look(const struct series *service, uint32_t clients, struct stalls *out);

/* ---- note_costs.c: the library against the wire client, for the cells of one row. After their
 * note_cell. */
void note_costs(struct runner *runner, const struct cell *cells, uint32_t count);

#endif
