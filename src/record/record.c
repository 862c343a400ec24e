#include "record/record.h"

#include <assert.h>
#include <string.h>

struct record *record_create(struct arena *arena)
{
    struct record *record = arena_new(arena, struct record);
    record->arena = arena;
    return record;
}

void rec_pairs_add(struct arena *arena, struct rec_pairs *pairs, const char *name,
                   struct value value)
{
    assert(name);
    struct value copy = value_copy(arena, &value);
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->items[i].name, name) == 0) {
            pairs->items[i].value = copy;
            return;
        }
    }
    pairs->items = arena_grow(arena, pairs->items, pairs->count, &pairs->room, pairs->count + 1,
                              sizeof(*pairs->items));
    pairs->items[pairs->count++] =
        (struct rec_pair){.name = arena_text(arena, name), .value = copy};
}

const struct value *rec_pairs_find(const struct rec_pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->items[i].name, name) == 0)
            return &pairs->items[i].value;
    }
    return NULL;
}

/* Makes room for one more item; grown memory beyond the old items comes zeroed. */
static void *one_more(struct arena *arena, void *items, size_t count, size_t *room,
                      size_t item_bytes)
{
    return arena_grow(arena, items, count, room, count + 1, item_bytes);
}

struct rec_floor *record_add_floor(struct record *record)
{
    record->floors = one_more(record->arena, record->floors, record->floor_count,
                              &record->floor_room, sizeof(*record->floors));
    return &record->floors[record->floor_count++];
}

struct rec_target *record_add_target(struct record *record)
{
    record->targets = one_more(record->arena, record->targets, record->target_count,
                               &record->target_room, sizeof(*record->targets));
    return &record->targets[record->target_count++];
}

struct rec_cell *record_add_cell(struct record *record)
{
    record->cells = one_more(record->arena, record->cells, record->cell_count,
                             &record->cell_room, sizeof(*record->cells));
    return &record->cells[record->cell_count++];
}

struct rec_relation *record_add_relation(struct record *record)
{
    record->relations = one_more(record->arena, record->relations, record->relation_count,
                                 &record->relation_room, sizeof(*record->relations));
    return &record->relations[record->relation_count++];
}

struct rec_cost *record_add_cost(struct record *record)
{
    record->costs = one_more(record->arena, record->costs, record->cost_count,
                             &record->cost_room, sizeof(*record->costs));
    return &record->costs[record->cost_count++];
}

struct rec_search *record_add_search(struct record *record)
{
    record->searches = one_more(record->arena, record->searches, record->search_count,
                                &record->search_room, sizeof(*record->searches));
    return &record->searches[record->search_count++];
}

struct rec_search_step *rec_search_add_step(struct arena *arena, struct rec_search *search)
{
    search->steps = one_more(arena, search->steps, search->step_count, &search->step_room,
                             sizeof(*search->steps));
    return &search->steps[search->step_count++];
}

struct rec_guard *record_add_guard(struct record *record)
{
    record->guards = one_more(record->arena, record->guards, record->guard_count,
                              &record->guard_room, sizeof(*record->guards));
    return &record->guards[record->guard_count++];
}

void record_add_limit(struct record *record, const char *text)
{
    record->limits = one_more(record->arena, record->limits, record->limit_count,
                              &record->limit_room, sizeof(*record->limits));
    record->limits[record->limit_count++] = arena_text(record->arena, text);
}

struct rec_run *rec_cell_add_run(struct arena *arena, struct rec_cell *cell)
{
    cell->runs =
        one_more(arena, cell->runs, cell->run_count, &cell->run_room, sizeof(*cell->runs));
    return &cell->runs[cell->run_count++];
}

struct rec_metric *rec_cell_add_metric(struct arena *arena, struct rec_cell *cell)
{
    cell->metrics = one_more(arena, cell->metrics, cell->metric_count, &cell->metric_room,
                             sizeof(*cell->metrics));
    return &cell->metrics[cell->metric_count++];
}

struct rec_check *rec_cell_add_check(struct arena *arena, struct rec_cell *cell)
{
    cell->checks = one_more(arena, cell->checks, cell->check_count, &cell->check_room,
                            sizeof(*cell->checks));
    return &cell->checks[cell->check_count++];
}

struct rec_guard *rec_cell_add_guard(struct arena *arena, struct rec_cell *cell)
{
    cell->guards = one_more(arena, cell->guards, cell->guard_count, &cell->guard_room,
                            sizeof(*cell->guards));
    return &cell->guards[cell->guard_count++];
}

struct rec_failure *rec_cell_add_failure(struct arena *arena, struct rec_cell *cell)
{
    cell->failures = one_more(arena, cell->failures, cell->failure_count, &cell->failure_room,
                              sizeof(*cell->failures));
    return &cell->failures[cell->failure_count++];
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

const struct rec_cell *record_find_cell(const struct record *record, const char *name,
                                        const char *target, uint64_t clients, const char *phase)
{
    for (size_t i = 0; i < record->cell_count; i++) {
        const struct rec_cell *cell = &record->cells[i];
        if (!same_text(cell->name, name) || !same_text(cell->target, target) ||
            !same_text(cell->phase, phase))
            continue;
        const struct value *has = rec_pairs_find(&cell->params, "clients");
        if (clients == 0 ||
            (has && has->type == VALUE_INT && has->as.i >= 0 && (uint64_t)has->as.i == clients))
            return cell;
    }
    return NULL;
}

const struct rec_metric *rec_cell_metric(const struct rec_cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->metric_count; i++) {
        if (same_text(cell->metrics[i].name, name))
            return &cell->metrics[i];
    }
    return NULL;
}

static bool quantile_stat(const struct rec_metric *metric, const char *stat, double *out)
{
    const struct {
        const char *name;
        const struct rec_number *number;
    } all[] = {
        {"p50",  &metric->p50 },
        {"p95",  &metric->p95 },
        {"p99",  &metric->p99 },
        {"p999", &metric->p999}
    };
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        if (strcmp(all[i].name, stat) == 0 && all[i].number->known) {
            *out = (double)all[i].number->value;
            return true;
        }
    }
    return false;
}

bool rec_metric_stat(const struct rec_metric *metric, const char *stat, double *out)
{
    if (metric->unavailable)
        return false;
    if (!metric->distribution) {
        if (strcmp(stat, "value") != 0)
            return false;
        *out = metric->real_value ? metric->value_real : (double)metric->value;
        return true;
    }
    if (strcmp(stat, "n") == 0)
        *out = (double)metric->n;
    else if (metric->n == 0)
        return false;
    else if (strcmp(stat, "mean") == 0)
        *out = metric->mean;
    else if (strcmp(stat, "min") == 0)
        *out = (double)metric->min;
    else if (strcmp(stat, "max") == 0)
        *out = (double)metric->max;
    else
        return quantile_stat(metric, stat, out);
    return true;
}
