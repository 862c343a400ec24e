#ifndef BASE_NUM_H
#define BASE_NUM_H

/* Number parsing: the whole slice must be the number; no locale, no leading blanks; overflow
 * and garbage are false and leave *out alone. atoi, strtol and friends are banned elsewhere. */

#include "base/defs.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

MUST_CHECK bool num_i64(struct slice text, int64_t *out);
MUST_CHECK bool num_u64(struct slice text, uint64_t *out);
MUST_CHECK bool num_real(struct slice text, double *out); /* finite only; "1e12" is fine */

/* A duration with unit ns, us, ms, s, m, h ("50ms", "1.5s"); a bare number is seconds. */
MUST_CHECK bool num_duration(struct slice text, uint64_t *ns);

/* Decimal digits of `value` into buffer (at least 20 bytes, no NUL written); returns the count.
 * For hot paths where printf is too slow. */
uint32_t num_print_u64(char *buffer, uint64_t value);
uint32_t num_print_i64(char *buffer, int64_t value); /* at least 20 bytes */

#endif
