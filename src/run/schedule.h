#ifndef RUN_SCHEDULE_H
#define RUN_SCHEDULE_H

/*
 * When the executions of an open loop are due. The times are absolute and fixed by rate, law
 * and seed alone: neither the answers nor the number of clients and threads change them.
 *
 *   fixed    t_k = start + k / rate, k = 0, 1, 2, …
 *   poisson  t_k = start + E_0 + … + E_k with E_i = -ln(1 - u_i) / rate, u_i uniform from the
 *            seed and i: the same bits on every host.
 *
 * Idle clients take the next one, whoever comes first: one queue for all clients, in the order
 * of the due times. What is due in the past is handed out as well; nothing is skipped.
 *
 * Source: Schroeder, Wierman, Harchol-Balter, "Open versus closed: a cautionary tale", NSDI
 * 2006.
 */

#include "base/defs.h"
#include "suite/suite.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct schedule_spec {
    double rate_per_s; /* above 0 */
    enum suite_arrivals arrivals;
    uint64_t seed;
    uint64_t
        window_ns;  /* what is due at or after start + window is not handed out; 0: no end */
    uint64_t count; /* so many at most; 0: no limit */
};

struct schedule {
    struct schedule_spec spec;
    pthread_mutex_t mutex; /* of what follows */
    uint64_t start_ns;
    uint64_t taken;
    double offset_ns; /* of the next one from the start; exact to 1 ns for a hundred days */
};

void schedule_init(struct schedule *schedule, const struct schedule_spec *spec);
void schedule_done(struct schedule *schedule);

/* Before the first take. */
void schedule_start(struct schedule *schedule, uint64_t start_ns);

/* The next due time; false when there is none left. From any thread. */
bool schedule_take(struct schedule *schedule, uint64_t *due_ns);

/* How long the window is: as given, else until the one after the last would be due (poisson:
 * until the last is due). 0 while it has no end. */
uint64_t schedule_window_ns(struct schedule *schedule);

#endif
