#ifndef REPORT_TABLES_INTERNAL_H
#define REPORT_TABLES_INTERNAL_H

/*
 * Private to tables.c, which makes the tables of figures, and around.c, which writes what
 * stands over and below them.
 */

#include "report/report_internal.h"

/* What a table may show of each target, beside the first figure. */
enum {
    SHOW_RATE = 1,
    SHOW_TIME = 2,
    SHOW_P95 = 4,
    SHOW_P99 = 8,
    SHOW_MAX = 16,
    SHOW_CORES = 32,
    SHOW_TOTAL = 64,
    SHOW_SERIAL = 128, /* executions a second, one after the other */
};

struct view {
    struct pen *pen;
    const struct rows *rows;
    enum row_kind kind;
    unsigned known;      /* SHOW_ bits of which there is any figure */
    size_t from, to;     /* targets */
    enum unit unit;      /* of a table of loads: one for all rows */
    bool marked;         /* some figure has a mark behind it */
    bool stopped, unfit; /* which */
    unsigned shown;      /* SHOW_ bits of the table */
    const char **notes;  /* reasons of cells that are not applicable */
    size_t note_count, note_room;
    bool stacked;     /* targets below each other */
    bool names_apart; /* long names stand over their rows */
};

/* What the report has said already of where times start and end. */
struct timings {
    const char *told[6];
    size_t count;
};

/* What stands in place of a cell's figures ("FAILED", "n/a [1]", "not run"); NULL: figures do.
 */
const char *view_instead(struct view *view, const struct rec_cell *cell);

/* Behind a figure: "~" of a stopped cell, "!" of one that is not valid; a blank where others
 * have one. */
const char *view_mark(const struct view *view, const struct rec_cell *cell);

/* The unit in which the shortest time is at least 1, as long as the longest has no more than
 * six digits before the point. */
enum unit unit_for(double least, double most);

/* open.c: cells of open loops. */
void show_open(struct pen *pen, const struct rows *rows, struct timings *told);

/* What a commit waits for stands over every table: figures of unequal tiers do not compare. */
void around_tiers(struct pen *pen, const struct rows *rows);

/* What marks and footnotes mean. */
void around_notes(struct view *view);

/* Where times start and end, in the words of the cells; each is said once in a report. */
void around_timing(struct view *view, struct timings *timings);

#endif
