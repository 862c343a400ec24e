#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

/*
 * Records for people. Nothing is measured or judged here: every figure comes from the record.
 */

#include "base/err.h"
#include "base/text.h"
#include "record/record.h"

#include <stdbool.h>

/* The terminal report of a run: first line = the answer in words; then the table with targets
 * side by side (label, version, tier in the header), failures, relations, floors, guards, and
 * what this run does not tell. Fits `width` columns (80 at least), uses more when there are. */
void report_terminal(const struct record *record, struct text *out, unsigned width,
                     bool colour);
void report_markdown(const struct record *record, struct text *out);

/* The first line alone. */
void report_answer(const struct record *record, struct text *out);

void report_floors(const struct rec_floor *floors, size_t count, struct text *out,
                   unsigned width);

/* Documents with figures between markers:
 *   <!-- dbdyno:table -->…<!-- /dbdyno -->               (also answer, relations, costs,
 *                                                         searches, floors, host, targets,
 * terminal)
 *   <!-- dbdyno:SCENARIO/TARGET/METRIC/STAT -->12 ms<!-- /dbdyno -->
 * (TARGET may be followed by ",clients=8", SCENARIO by "#phase".) Fills every marker's inside
 * from the record. Errors (ERR_CONFIG) name the line: unclosed, nested, unknown name, no such
 * cell. */
MUST_CHECK bool report_fill(const struct record *record, const char *document, size_t bytes,
                            struct text *out, struct err *err);

/* Without a record: are the markers well formed, known by kind and not empty, and do the
 * figures have the form of their kind? Returns the number of markers, or -1 with err. */
int report_fill_check(struct arena *scratch, const char *document, size_t bytes,
                      struct err *err);

#endif
