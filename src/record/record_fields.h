#ifndef RECORD_RECORD_FIELDS_H
#define RECORD_RECORD_FIELDS_H

/*
 * Private to the module: one table a struct of record.h, from which both the writer and the
 * reader work, so that they cannot drift apart. A table lists the plain members in their JSON
 * order; what does not fit a table (lists, metrics' figures) is written out by hand beside it.
 */

#include "base/defs.h"

#include <stddef.h>

enum field_kind {
    FIELD_TEXT,    /* const char *; NULL is null */
    FIELD_NEED,    /* const char *, never NULL, never empty */
    FIELD_VERDICT, /* const char *, one of `words` */
    FIELD_ENUM,    /* an enum whose enumerators are spelled by `words` */
    FIELD_U64,
    FIELD_U32,
    FIELD_I64,
    FIELD_REAL,
    FIELD_MAYBE, /* double; null where it is not a number, and read back as NAN */
    FIELD_BOOL,
    FIELD_NUMBER, /* struct rec_number; unknown is null */
    FIELD_VALUE,  /* struct value */
    FIELD_PAIRS,  /* struct rec_pairs */
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    const char *const *words; /* NULL-terminated */
};

struct fields {
    const struct field *items;
    size_t count;
};

extern const struct fields record_suite_fields, record_run_fields, record_cell_key_fields,
    record_cell_end_fields, record_target_fields, record_floor_fields, record_relation_fields,
    record_sample_fields, record_metric_fields, record_metric_from_fields,
    record_distribution_fields, record_check_fields, record_guard_fields, record_failure_fields,
    record_cost_fields, record_search_fields, record_step_fields, record_end_fields;

#endif
