#ifndef TESTS_REPORTING_H
#define TESTS_REPORTING_H

/* Reports of a sample record. */

#include "report/report.h"
#include "testing.h"

/* Of the running test. */
static struct arena *arena;

static inline int set_up(void **state)
{
    (void)state;
    arena = arena_create(1 << 20);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static inline struct text terminal(const struct record *record, unsigned width, bool colour)
{
    struct text out;
    text_init(&out, arena, 1 << 24);
    report_terminal(record, &out, width, colour);
    return out;
}

static inline const char *answer(const struct record *record)
{
    struct text out;
    text_init(&out, arena, 1 << 16);
    report_answer(record, &out);
    return out.at;
}

#endif
