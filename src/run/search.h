#ifndef RUN_SEARCH_H
#define RUN_SEARCH_H

/*
 * Where a search for the highest rate that keeps a limit goes next; no clock, no database.
 *
 * It begins at half of the throughput of a closed loop, doubles while the limit is kept and
 * halves while it is not, until one rate keeps it and a higher one does not; then it tries the
 * middle (of the logarithms) until the two are SEARCH_CLOSE apart. It tries no rate above
 * SEARCH_TOP times the throughput of the closed loop, which has no more to give, and none
 * twice. Rates have three significant digits.
 */

#include "run/run.h"

#include <stdbool.h>
#include <stdint.h>

#define SEARCH_CLOSE 1.05
#define SEARCH_TOP   1.2

struct search {
    double top;       /* no rate above it */
    double low, high; /* the highest that kept the limit, the lowest that did not; 0: none */
    double next;      /* 0: the search is over */
    uint32_t steps;   /* told so far, RUN_SEARCH_STEPS at most */
};

void search_begin(struct search *search, double closed_per_s);
/* What came of `next`. */
void search_tell(struct search *search, bool kept);

#endif
