#include "run/run_internal.h"

void series_init(struct series *series, struct arena *arena, uint64_t expected)
{
    *series = (struct series){0};
    if (expected > 0 && expected <= SERIES_RAW_MAX) {
        series->room = expected;
        series->raw = arena_array(arena, uint64_t, expected);
    } else {
        series->hist = hist_create(arena);
    }
}

void series_append(struct series *into, const struct series *from)
{
    for (uint64_t i = 0; i < from->count; i++)
        series_record(into, from->raw[i]);
    if (from->hist && into->hist)
        hist_merge(into->hist, from->hist);
}
