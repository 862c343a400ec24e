#ifndef RECORD_RECORD_JSON_H
#define RECORD_RECORD_JSON_H

/*
 * Records as JSON text, shape as in DESIGN.md section 4 of the project's design and
 * docs/record.schema.json. Integers stay integers, reals are finite, keys come in a fixed
 * order, the same record gives the same bytes. Histograms: {"count", "sum", "min", "max",
 * "overflow", "pairs": [[low, count], …]}.
 */

#include "base/arena.h"
#include "base/err.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>

/* The text in the arena, ending in a newline. */
const char *record_to_json(struct arena *arena, const struct record *record, size_t *bytes);

/* Reads a record; bounded (256 MiB, depth 32), any input is answered with a record or an error
 * that names the place ("scenarios[3].metrics.service_ns.n: expected a whole number, got
 * \"seven\""). Unknown keys are ignored; another schema version is an error that says which. */
MUST_CHECK bool record_from_json(struct arena *arena, const char *json, size_t bytes,
                                 struct record **record, struct err *err);

/* Atomic write and read of a file. */
MUST_CHECK bool record_write(const struct record *record, const char *path, struct err *err);
MUST_CHECK bool record_read(struct arena *arena, const char *path, struct record **record,
                            struct err *err);

#endif
