#ifndef REPORT_REPORT_INTERNAL_H
#define REPORT_REPORT_INTERNAL_H

/*
 * Private to the module. A report is written as plain text through a pen, which wraps lines,
 * keeps apart what is to be coloured, and at the end lets nothing through that could steer a
 * terminal or break a document: strings of a record may come from a server.
 */

#include "base/arena.h"
#include "base/text.h"
#include "format/table.h"
#include "format/units.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct rows;

/* ---- pen ---- */

enum style { STYLE_BOLD, STYLE_GOOD, STYLE_WARN, STYLE_BAD, STYLE_FAINT };

struct span {
    size_t from, to; /* of the plain text */
    enum style style;
};

struct pen {
    struct arena *arena;
    const struct record *record; /* may be NULL */
    unsigned width;              /* 0 in Markdown: lines are not wrapped */
    bool markdown;
    struct text plain;
    struct span *spans;
    size_t span_count, span_room;
};

/* A blank at which no line is broken. */
#define GLUE '\x1f'

void pen_init(struct pen *pen, struct arena *arena, const struct record *record,
              unsigned width);
void pen_finish(struct pen *pen, struct text *out, bool colour);

void pen_styled(struct pen *pen, enum style style, const char *text);
void pen_heading(struct pen *pen, const char *title);

/* Words wrapped at the width: the first line begins with `lead`, others with as many blanks. */
void pen_wrap(struct pen *pen, const char *lead, const char *text);
void pen_item(struct pen *pen, const char *text); /* of a list */
void pen_table(struct pen *pen, const struct table *table);

size_t pen_columns_wide(struct pen *pen, const struct table *table);

/* A table over the targets `from` to before `to`; NULL when it would be empty. */
typedef struct table *(*targets_fn)(struct pen *pen, const struct rows *rows, size_t from,
                                    size_t to);

/* One table of all targets, or several of as many as fit. False when all were empty. */
bool pen_targets(struct pen *pen, const struct rows *rows, targets_fn build);

/* ---- rows: cells of one scenario, targets side by side ---- */

enum row_kind { ROW_TIME, ROW_LOAD, ROW_CLIENTS, ROW_OPEN };

struct row {
    const char *name; /* with the parameters that no column shows */
    const char *scenario;
    const char *phase; /* or NULL */
    enum row_kind kind;
    int64_t clients, per_commit;   /* 0: not given */
    const struct rec_cell **cells; /* one a target; NULL: none */
};

struct rows {
    const char **labels; /* of targets */
    size_t target_count;
    struct row *items;
    size_t count, room;
};

/* A scenario and those parameters that no column shows: all but clients, rows a commit, rate
 * and arrivals. */
const char *row_name(struct arena *arena, const char *scenario, const struct rec_pairs *params);

void rows_build(struct arena *arena, const struct record *record, struct rows *rows);

/* ---- figures ---- */

static inline const char *or_dash(const char *text)
{
    return text && *text ? text : "-";
}

size_t text_columns(const char *text); /* code points */

static inline bool text_is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* Is this the target that does nothing, whose figures are the stand's own? */
bool is_null_target(const struct record *record, const char *label);

/* Does the cell have figures that are results? */
bool cell_has_result(const struct rec_cell *cell);

/* Was it stopped on the way? What was measured until then is no result of the whole. */
bool cell_is_interrupted(const struct rec_cell *cell);

/* Service time: the median, of fewer than 3 executions the mean. */
bool cell_time(const struct rec_cell *cell, double *ns);
bool cell_stat(const struct rec_cell *cell, const char *metric, const char *stat, double *out);
/* Is that figure of the metric a lower bound, as some work was unfinished? */
bool metric_is_bound(const struct rec_metric *metric, const char *stat, double figure);

/* Rows that one execution affects on average; the metric counts those of all executions. */
bool cell_affected(const struct rec_cell *cell, double *rows);

/* Four significant digits, no unit: "3.120" "45.20" "1,210"; two of what is small in its unit:
 * "0.00057". */
void figure_print(char *buffer, size_t room, enum unit unit, double ns);

/* A figure with the unit it deserves: "12.3 ms", "13,116/s", "9.2 MiB", "0.93 cores". */
void figure_with_unit(char *buffer, size_t room, const char *unit, double value);

/* The same in one piece, for lines that pen_wrap breaks. */
void figure_glued(char *buffer, size_t room, const char *unit, double value);

/* "a, b and c" */
void list_names(struct text *out, const char *const *names, size_t count);

/* ---- parts of a report ---- */

void part_answer(struct text *out, const struct record *record);
void part_targets(struct pen *pen);
void part_failures(struct pen *pen);
void part_tables(struct pen *pen);
void part_searches(struct pen *pen);
void part_costs(struct pen *pen);
/* "highest rate that keeps p99 <= 5 ms: 12,300/s (closed loop: 15,100/s)" */
void search_words(struct text *out, const struct rec_search *search);
void part_commits(struct pen *pen, const struct rows *rows);
void part_relations(struct pen *pen);
void part_usage(struct pen *pen);
void part_floors(struct pen *pen, const struct rec_floor *floors, size_t count);
void part_guards(struct pen *pen);
void part_limits(struct pen *pen);
void part_host(struct pen *pen);
void part_run(struct pen *pen);

/* Equal texts, or both NULL. */
static inline bool text_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* What a failed cell says: its reason, or "rows expected 1, found 2". */
void failure_words(struct text *out, const struct rec_cell *cell);

/* Did both fail in the same place for the same reason? What is wrong between targets fails all
 * of them at once and is told once. */
bool failure_same(const struct rec_cell *a, const struct rec_cell *b);

/* " on a, b and c": where the cell's failure is the same. */
void failure_targets(struct text *out, const struct record *record,
                     const struct rec_cell *cell);

#endif
