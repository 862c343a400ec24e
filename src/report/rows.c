#include "report/report_internal.h"

#include <string.h>

static size_t target_index(struct arena *arena, struct rows *rows, const char *label,
                           size_t *room)
{
    for (size_t i = 0; i < rows->target_count; i++) {
        if (strcmp(rows->labels[i], label) == 0)
            return i;
    }
    rows->labels = arena_grow(arena, rows->labels, rows->target_count, room,
                              rows->target_count + 1, sizeof(*rows->labels));
    rows->labels[rows->target_count] = label;
    return rows->target_count++;
}

/* Labels in the order of the record's targets, then those that only cells name. */
static void find_targets(struct arena *arena, const struct record *record, struct rows *rows)
{
    size_t room = 0;
    for (size_t i = 0; i < record->target_count; i++)
        (void)target_index(arena, rows, or_dash(record->targets[i].label), &room);
    for (size_t i = 0; i < record->cell_count; i++)
        (void)target_index(arena, rows, or_dash(record->cells[i].target), &room);
}

/* A parameter of the cell, or a metric that says the same. */
static int64_t whole_param(const struct rec_cell *cell, const char *name)
{
    const struct value *value = rec_pairs_find(&cell->params, name);
    if (value)
        return value->type == VALUE_INT ? value->as.i : 0;
    const struct rec_metric *metric = rec_cell_metric(cell, name);
    return metric && !metric->distribution && !metric->real_value ? metric->value : 0;
}

static bool has_column(const char *name)
{
    static const char *const names[] = {"clients", "rows_per_commit", "rate_per_s", "arrivals"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

const char *row_name(struct arena *arena, const char *scenario, const struct rec_pairs *params)
{
    struct text name;
    text_init(&name, arena, 400);
    text_add(&name, or_dash(scenario));
    for (size_t i = 0; i < params->count; i++) {
        const struct rec_pair *pair = &params->items[i];
        char shown[128];
        if (has_column(pair->name))
            continue;
        value_print(shown, sizeof(shown), &pair->value);
        text_addf(&name, " %s=%s", pair->name, shown);
    }
    return name.at;
}

static enum row_kind kind_of(const struct rec_cell *cell)
{
    if (rec_pairs_find(&cell->params, "rate_per_s"))
        return ROW_OPEN;
    if (rec_pairs_find(&cell->params, "clients"))
        return ROW_CLIENTS;
    if (rec_cell_metric(cell, "rows_per_s") || rec_pairs_find(&cell->params, "rows_per_commit"))
        return ROW_LOAD;
    if (cell->mode && slice_starts(slice_of(cell->mode), "load, "))
        return ROW_LOAD; /* that has no figures */
    return ROW_TIME;
}

static struct row make_row(struct arena *arena, const struct rec_cell *cell)
{
    return (struct row){.name = row_name(arena, cell->name, &cell->params),
                        .scenario = or_dash(cell->name),
                        .phase = cell->phase,
                        .kind = kind_of(cell),
                        .clients = whole_param(cell, "clients"),
                        .per_commit = whole_param(cell, "rows_per_commit")};
}

/* A cell without figures, of a lost server say, does not tell its rows a commit. */
static bool same_row(const struct row *a, const struct row *b)
{
    bool commits = a->per_commit == b->per_commit || a->per_commit == 0 || b->per_commit == 0;
    return a->clients == b->clients && commits && text_same(a->phase, b->phase) &&
           strcmp(a->name, b->name) == 0;
}

/* The row of the cell, where the target's place is still free. Searched from the end: cells of
 * a row stand close together. */
static struct row *find_row(struct rows *rows, const struct row *like, size_t target)
{
    for (size_t i = rows->count; i > 0; i--) {
        struct row *row = &rows->items[i - 1];
        if (!row->cells[target] && same_row(row, like))
            return row;
    }
    return NULL;
}

/* A phase belongs to the kind of its whole. */
static void settle_phases(struct rows *rows)
{
    for (size_t i = 1; i < rows->count; i++) {
        struct row *row = &rows->items[i], *before = &rows->items[i - 1];
        if (row->phase && strcmp(row->name, before->name) == 0)
            row->kind = before->kind;
    }
}

void rows_build(struct arena *arena, const struct record *record, struct rows *rows)
{
    *rows = (struct rows){0};
    find_targets(arena, record, rows);
    size_t full = 0;
    for (size_t i = 0; i < record->cell_count; i++) {
        const struct rec_cell *cell = &record->cells[i];
        size_t target = target_index(arena, rows, or_dash(cell->target), &full);
        struct row fresh = make_row(arena, cell);
        struct row *row = find_row(rows, &fresh, target);
        if (!row) {
            rows->items = arena_grow(arena, rows->items, rows->count, &rows->room,
                                     rows->count + 1, sizeof(*rows->items));
            row = &rows->items[rows->count++];
            *row = fresh;
            row->cells = arena_array(arena, const struct rec_cell *, rows->target_count);
        }
        if (fresh.kind > row->kind)
            row->kind = fresh.kind;
        if (row->per_commit == 0)
            row->per_commit = fresh.per_commit;
        row->cells[target] = cell;
    }
    settle_phases(rows);
}
