#ifndef FORMAT_UNITS_H
#define FORMAT_UNITS_H

/*
 * Numbers for people. A column of durations is printed in one unit, so that figures align and
 * can be compared by eye: pick it once from the column's figures, then print each cell with it.
 * All buffers: at least 32 bytes; every function is bounded and returns the bytes written.
 */

#include <stddef.h>
#include <stdint.h>

enum unit { UNIT_NS, UNIT_US, UNIT_MS, UNIT_S };

const char *unit_name(enum unit unit); /* "ns" "us" "ms" "s" */

/* The largest unit in which `typical_ns` (a median of the column) is at least 1. */
enum unit unit_pick(uint64_t typical_ns);

/* 12345678 ns as UNIT_MS -> "12.346": 3 decimals below 100, 2 below 1,000, else 1; no unit. */
size_t unit_print(char *buffer, size_t room, enum unit unit, uint64_t ns);

/* With the unit it deserves: "12.3 ms". Three significant digits. */
size_t format_duration(char *buffer, size_t room, uint64_t ns);

/* "13,116" or "2.96": thousands separated, three significant digits below 1,000. */
size_t format_rate(char *buffer, size_t room, double per_s);
size_t format_count(char *buffer, size_t room, int64_t count);  /* "1,234,567" */
size_t format_bytes(char *buffer, size_t room, uint64_t bytes); /* "12.3 MiB" */

/* "1.3x", "64x", "0.21x": two significant digits below 10, whole numbers above. "-" when base
 * is 0 or either is not finite (never inf or NaN). */
size_t format_ratio(char *buffer, size_t room, double value, double base);

#endif
