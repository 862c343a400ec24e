#ifndef REPORT_FILL_INTERNAL_H
#define REPORT_FILL_INTERNAL_H

/* Private to the module: markers in a document, and what each asks for. A marker inside a
 * fenced code block is an example, not a marker. */

#include "base/err.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum marker_kind {
    MARKER_FIGURE,
    MARKER_ANSWER,
    MARKER_TABLE,
    MARKER_RELATIONS,
    MARKER_COSTS,
    MARKER_SEARCHES,
    MARKER_FLOORS,
    MARKER_HOST,
    MARKER_TARGETS,
    MARKER_TERMINAL, /* the terminal report as a code block, 100 columns */
};

struct marker {
    struct slice name;
    size_t from, to; /* of the inside */
    size_t line;     /* of the opening marker, from 1 */
};

struct marker_scan {
    struct slice document;
    size_t at, line;
    char fence; /* of the code block we are in, or 0 */
};

struct figure_name {
    struct slice scenario, phase, target, metric, stat; /* phase.at NULL: none */
    uint64_t clients;                                   /* 0: any */
};

/* 1: found the next one; 0: no more; -1: err is set. Start with {.document, .line = 1}. */
int marker_next(struct marker_scan *scan, struct marker *marker, struct err *err);

MUST_CHECK bool marker_kind_of(const struct marker *marker, enum marker_kind *kind,
                               struct figure_name *name, struct err *err);

#endif
