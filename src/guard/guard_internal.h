#ifndef GUARD_GUARD_INTERNAL_H
#define GUARD_GUARD_INTERNAL_H

/* Thresholds (docs/guards.md explains each) and the list that findings are collected in. */

#include "base/arena.h"
#include "guard/guard.h"

#include <stddef.h>

/* D01: of one core, by the busiest worker thread. */
#define GUARD_BUSY       0.85
#define GUARD_SATURATED  0.98
#define GUARD_SPARE_OPEN 0.95 /* in open loop, where every stall moves the schedule */
/* D01: of a worker's time, runnable but waiting for a core. */
#define GUARD_WAITS        0.10
#define GUARD_STARVED_OPEN 0.25
/* D02: of all cores, by client and server together. */
#define GUARD_FULL 0.90
/* D35 */
#define GUARD_CLOCK_RATIO UINT64_C(20)
#define GUARD_CLOCK_NS    UINT64_C(1000)
/* D03: of the measured time, hidden by stalls */
#define GUARD_STALLS 0.01
/* D04: of what was due, done; how late executions may begin; of the clients, at work on
 * average, when lateness is theirs */
#define GUARD_REACHED      0.98
#define GUARD_LATE_NS      UINT64_C(1000000)
#define GUARD_CLIENTS_BUSY 0.70
/* D52: of the clients, at work on average. */
#define GUARD_IN_FLIGHT 0.70
/* D36 */
#define GUARD_DRIFT_LEAST_NS 1e6
#define GUARD_DRIFT_PER_S_NS 1e6
#define GUARD_CLOCK_STEP_NS  5e8
/* D38 */
#define GUARD_STEAL    0.01
#define GUARD_PRESSURE 0.10
#define GUARD_LOAD     0.5 /* for each core */

struct guard_list {
    struct arena *arena;
    struct guard_finding *findings;
    size_t count, room;
};

void guard_add(struct guard_list *list, enum guard_level level, const char *code,
               const char *id, const char *text);
/* The figure of the finding that was added last. */
void guard_figure(struct guard_list *list, double figure);

/* guard_load.c: stalls that a closed loop hid (D03), an open loop's rate and lag (D04). */
void guard_judge_load(struct guard_list *list, const struct guard_cell *cell);

/* Most severe first, in the order of adding otherwise; at most GUARD_FINDINGS_MAX. */
unsigned guard_sort_out(const struct guard_list *list,
                        struct guard_finding out[GUARD_FINDINGS_MAX]);

/* "35 ns", "1.4 us", "12 ms", "3.0 s" */
const char *guard_duration(struct arena *arena, double ns);

#endif
