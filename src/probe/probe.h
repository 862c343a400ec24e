#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

/*
 * Floors: what this machine can do at best, measured with the target stopped or idle. Each is a
 * short loop with its own histogram; all together take about a second (`budget_ns`).
 */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct probe_floor {
    const char *name; /* fsync_append, fsync_overwrite, disk_write_seq, disk_read_seq,
                         disk_read_random, tcp_round_trip, unix_round_trip, memcpy, clock_read,
                         clock_step, thread_wake */
    const char *what; /* one line: sizes, how many, whether the page cache could answer */
    const char *unit; /* "ns" (of one operation) or "bytes/s" */
    uint64_t n;
    uint64_t min, p50, p99, max; /* p99 0 when n does not carry it; a rate has p50 only */
    const char *unavailable;     /* reason, or NULL */
};

#define PROBE_FLOORS_MAX 16

/* Measures all floors with one scratch file in `folder` (NULL: fs_temp_root(); removed again;
 * give a folder that the reaper knows, so that a kill leaves nothing either). Each takes its
 * share of the budget but at least three samples. Returns the count; a floor that could not be
 * measured says why. `progress` (may be NULL) is called before each. */
unsigned probe_floors(struct arena *arena, const char *folder, uint64_t budget_ns,
                      void (*progress)(const char *name),
                      struct probe_floor floors[PROBE_FLOORS_MAX]);

/* Cost of one os_now_ns() and the smallest step it shows, over 100,000 readings. */
struct probe_clock {
    uint64_t cost_ns, step_ns;
};
void probe_clock(struct probe_clock *clock);

#endif
