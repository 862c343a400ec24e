#ifndef SUITE_SUITE_FIGURE_INTERNAL_H
#define SUITE_SUITE_FIGURE_INTERNAL_H

/*
 * Figures and answers of a table, by running its generators while the suite loads: at most
 * SUITE_COUNT_ROWS_MAX rows in all. False with the reason in *why.
 */

#include "suite/suite_internal.h"

#define SUITE_ANSWER_BYTES_MAX (UINT64_C(64) << 20) /* texts of a row of an answer */

/* Rows of the table for which the predicate (NULL: all) holds; distinct values of `expr` (not
 * NULL) in them. */
bool suite_table_count(struct suite_loader *ld, const struct suite_table_def *def,
                       struct suite_expr *predicate, uint64_t *count, const char **why);
bool suite_table_distinct(struct suite_loader *ld, const struct suite_table_def *def,
                          struct suite_expr *expr, struct suite_expr *predicate,
                          uint64_t *count, const char **why);

/* What answer { } reads, and what comes of it. */
struct suite_answer_of {
    const struct suite_table_def *table;
    struct suite_expr **values;
    uint32_t value_count;
    struct suite_expr *where; /* NULL: all rows */
};

struct suite_answer {
    uint64_t rows, checksum; /* sum of value_row_hash */
};

/* The whole answer; its expressions draw nothing. */
bool suite_table_answer(struct suite_loader *ld, const struct suite_answer_of *of,
                        struct suite_answer *answer, const char **why);

#endif
