#include "report/report_internal.h"

#include <string.h>

static bool is_after(const struct rec_floor *floor)
{
    return text_same(floor->when, "after");
}

static const struct rec_floor *other_side(const struct rec_floor *floors, size_t count,
                                          const struct rec_floor *of)
{
    for (size_t i = 0; i < count; i++) {
        if (text_same(floors[i].name, of->name) && is_after(&floors[i]) != is_after(of))
            return &floors[i];
    }
    return NULL;
}

static void add_figure(struct pen *pen, struct table *table, const struct rec_floor *floor,
                       const struct rec_number *figure)
{
    char shown[80] = "-";
    if (floor && !floor->unavailable && figure->known)
        figure_with_unit(shown, sizeof(shown), floor->unit, (double)figure->value);
    table_cell(table, arena_text(pen->arena, shown));
}

/* In a run's report the first clause; what weakens it stands in the list of limits. */
static const char *what_of(struct pen *pen, const struct rec_floor *floor)
{
    if (floor->unavailable)
        return arena_printf(pen->arena, "unavailable: %s", floor->unavailable);
    const char *what = or_dash(floor->what);
    const char *semicolon = strstr(what, "; "), *colon = strstr(what, ": ");
    const char *end = semicolon && (!colon || semicolon < colon) ? semicolon : colon;
    if (!pen->record || !end)
        return what;
    return arena_slice(pen->arena, (struct slice){what, (size_t)(end - what)});
}

enum { FLOOR_BOTH = 1, FLOOR_WHAT = 2 };

static void add_floor(struct pen *pen, struct table *table, const struct rec_floor *floor,
                      const struct rec_floor *after, unsigned show)
{
    table_row(table);
    table_cell(table, or_dash(floor->name));
    add_figure(pen, table, floor, &floor->p50);
    if (show & FLOOR_BOTH)
        add_figure(pen, table, after, after ? &after->p50 : &(struct rec_number){0});
    add_figure(pen, table, floor, &floor->p99);
    add_figure(pen, table, floor, &floor->max);
    if (show & FLOOR_WHAT)
        table_cell(table, what_of(pen, floor));
}

static bool has_row(const struct rec_floor *floors, size_t count, size_t index)
{
    return !is_after(&floors[index]) || !other_side(floors, count, &floors[index]);
}

static struct table *floor_table(struct pen *pen, const struct rec_floor *floors, size_t count,
                                 unsigned show)
{
    struct table *table = table_create(pen->arena);
    table_column(table, NULL, "floor", TABLE_LEFT, false);
    table_column(table, NULL, "p50", TABLE_RIGHT, false);
    if (show & FLOOR_BOTH)
        table_column(table, NULL, "p50 after", TABLE_RIGHT, false);
    table_column(table, NULL, "p99", TABLE_RIGHT, false);
    table_column(table, NULL, "max", TABLE_RIGHT, false);
    if (show & FLOOR_WHAT)
        table_column(table, NULL, "of what", TABLE_LEFT, false);
    for (size_t i = 0; i < count; i++) {
        const struct rec_floor *other = other_side(floors, count, &floors[i]);
        if (has_row(floors, count, i))
            add_floor(pen, table, &floors[i], is_after(&floors[i]) ? &floors[i] : other, show);
    }
    return table;
}

enum { UNSTEADY = 2 }; /* times: before against after */

static bool is_unsteady(const struct rec_floor *a, const struct rec_floor *b)
{
    if (!a || !b || a->unavailable || b->unavailable || !a->p50.known || !b->p50.known)
        return false;
    uint64_t x = a->p50.value, y = b->p50.value;
    return x / UNSTEADY > y || y / UNSTEADY > x;
}

static void show_unsteady(struct pen *pen, const struct rec_floor *floors, size_t count)
{
    struct text line;
    text_init(&line, pen->arena, 2000);
    for (size_t i = 0; i < count; i++) {
        char before[80], after[80];
        const struct rec_floor *other = other_side(floors, count, &floors[i]);
        if (is_after(&floors[i]) || !is_unsteady(&floors[i], other))
            continue;
        figure_glued(before, sizeof(before), floors[i].unit, (double)floors[i].p50.value);
        figure_glued(after, sizeof(after), floors[i].unit, (double)other->p50.value);
        text_addf(&line, "%s%s %s before and %s after the run", line.bytes > 0 ? ", " : "",
                  or_dash(floors[i].name), before, after);
    }
    if (line.bytes == 0)
        return;
    if (pen->markdown)
        text_add_char(&pen->plain, '\n');
    pen_wrap(pen, pen->markdown ? "" : "  ",
             arena_printf(pen->arena, "The floors were unsteady: %s.", line.at));
}

/* What was done stands in the last column, or below where that is too narrow. */
static void show_floors(struct pen *pen, const struct rec_floor *floors, size_t count)
{
    unsigned show = FLOOR_WHAT;
    for (size_t i = 0; i < count; i++)
        show |= is_after(&floors[i]) ? FLOOR_BOTH : 0;
    const struct table *table = floor_table(pen, floors, count, show);
    if (pen->markdown || pen_columns_wide(pen, table) <= pen->width) {
        pen_table(pen, table);
        return;
    }
    pen_table(pen, floor_table(pen, floors, count, show & ~(unsigned)FLOOR_WHAT));
    for (size_t i = 0; i < count; i++) {
        if (has_row(floors, count, i))
            pen_item(pen, arena_printf(pen->arena, "%s: %s", or_dash(floors[i].name),
                                       what_of(pen, &floors[i])));
    }
}

void part_floors(struct pen *pen, const struct rec_floor *floors, size_t count)
{
    show_floors(pen, floors, count);
    show_unsteady(pen, floors, count);
}

/* ---- commits beside the floor of fsync ---- */

/* A log is appended to or written over: a commit does not get below the faster of the two. */
static const struct rec_floor *fsync_floor(const struct record *record)
{
    const struct rec_floor *least = NULL;
    for (size_t i = 0; i < record->floor_count; i++) {
        const struct rec_floor *floor = &record->floors[i];
        if (!text_same(floor->name, "fsync_append") &&
            !text_same(floor->name, "fsync_overwrite"))
            continue;
        if (is_after(floor) || !floor->p50.known || floor->p50.value == 0)
            continue;
        if (!least || floor->p50.value < least->p50.value)
            least = floor;
    }
    return least;
}

static const struct rec_target *find_target(const struct record *record, const char *label)
{
    for (size_t i = 0; i < record->target_count; i++) {
        if (text_same(record->targets[i].label, label))
            return &record->targets[i];
    }
    return NULL;
}

static const char *host_filesystem(const struct pen *pen)
{
    const struct value *value = rec_pairs_find(&pen->record->host, "filesystem");
    return value && value->type == VALUE_TEXT
               ? arena_slice(pen->arena, (struct slice){value->as.text, value->bytes})
               : NULL;
}

/* Floors are those of the file system on which they were measured. */
static bool is_on_floor(const struct pen *pen, const struct rec_target *target)
{
    const char *filesystem = host_filesystem(pen);
    return !filesystem || text_same(filesystem, target->data_folder_filesystem);
}

static bool is_durable(const struct rec_target *target)
{
    return target && text_same(target->tier, "fsync");
}

/* Time of one durable commit of one row: a commit phase, a statement that affects one row in a
 * transaction of its own, or a load with one row a commit. */
static bool commit_time(const struct row *row, bool has_phases, size_t target, double *ns)
{
    const struct rec_cell *cell = row->cells[target];
    double affected, rate;
    if (cell_is_interrupted(cell))
        return false;
    if (row->phase)
        return strcmp(row->phase, "commit") == 0 && cell_time(cell, ns);
    if (row->per_commit == 1 && cell_stat(cell, "rows_per_s", "value", &rate) && rate > 0) {
        *ns = 1e9 / rate;
        return true;
    }
    return row->kind == ROW_TIME && !has_phases && cell_affected(cell, &affected) &&
           affected >= 1 && affected <= 1 && cell_time(cell, ns);
}

/* "*" marks what is below the floor. */
static bool is_below(double ns, const struct rec_floor *floor)
{
    return ns < (double)floor->p50.value;
}

static const char *commit_cell(struct pen *pen, double ns, const struct rec_target *target)
{
    char time[40], ratio[40];
    const struct rec_floor *floor = fsync_floor(pen->record);
    figure_with_unit(time, sizeof(time), "ns", ns);
    if (!is_on_floor(pen, target))
        return arena_printf(pen->arena, "%s     -", time);
    format_ratio(ratio, sizeof(ratio), ns, (double)floor->p50.value);
    return arena_printf(pen->arena, "%s  %s%s", time, ratio, is_below(ns, floor) ? "*" : "");
}

static bool durable_time(struct pen *pen, const struct rows *rows, size_t index, size_t target,
                         double *ns)
{
    bool has_phases = index + 1 < rows->count && rows->items[index + 1].phase != NULL;
    return is_durable(find_target(pen->record, rows->labels[target])) &&
           commit_time(&rows->items[index], has_phases, target, ns);
}

static struct table *commits(struct pen *pen, const struct rows *rows, size_t from, size_t to)
{
    double ns;
    bool any = false;
    struct table *table = table_create(pen->arena);
    table_column(table, NULL, "durable commits of one row", TABLE_LEFT, false);
    for (size_t t = from; t < to; t++)
        table_column(table, NULL, rows->labels[t], TABLE_RIGHT, false);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        bool known = false;
        for (size_t t = from; t < to; t++)
            known |= durable_time(pen, rows, i, t, &ns);
        if (!known)
            continue;
        any = true;
        table_row(table);
        table_cell(table,
                   row->phase ? arena_printf(pen->arena, "%s, commit", row->name) : row->name);
        for (size_t t = from; t < to; t++)
            table_cell(table,
                       durable_time(pen, rows, i, t, &ns)
                           ? commit_cell(pen, ns, find_target(pen->record, rows->labels[t]))
                           : "-");
    }
    return any ? table : NULL;
}

static void add_note(struct pen *pen, const char *text)
{
    if (pen->markdown)
        text_add_char(&pen->plain, '\n');
    pen_wrap(pen, pen->markdown ? "" : "  ", text);
}

/* Is any commit of a target that has a ratio below the floor? */
static bool any_below(struct pen *pen, const struct rows *rows)
{
    double ns;
    const struct rec_floor *floor = fsync_floor(pen->record);
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t t = 0; t < rows->target_count; t++) {
            if (durable_time(pen, rows, i, t, &ns) && is_below(ns, floor) &&
                is_on_floor(pen, find_target(pen->record, rows->labels[t])))
                return true;
        }
    }
    return false;
}

static void note_elsewhere(struct pen *pen)
{
    for (size_t i = 0; i < pen->record->target_count; i++) {
        const struct rec_target *target = &pen->record->targets[i];
        if (!is_durable(target) || is_on_floor(pen, target))
            continue;
        const char *where =
            target->data_folder_filesystem
                ? arena_printf(pen->arena, "its data is on %s", target->data_folder_filesystem)
                : "where its data is, is not known";
        add_note(pen,
                 arena_printf(pen->arena, "%s has no ratio: %s, the floors were measured on %s",
                              or_dash(target->label), where, host_filesystem(pen)));
    }
}

void part_commits(struct pen *pen, const struct rows *rows)
{
    char shown[40];
    const struct rec_floor *floor = fsync_floor(pen->record);
    if (!floor || !commits(pen, rows, 0, rows->target_count))
        return;
    format_duration(shown, sizeof(shown), floor->p50.value);
    const char *what = text_same(floor->name, "fsync_append") ? "append" : "overwrite";
    pen_heading(pen,
                arena_printf(pen->arena, "Against the fsync floor (fdatasync of an %s: %s p50)",
                             what, shown));
    (void)pen_targets(pen, rows, commits);
    if (any_below(pen, rows))
        add_note(pen, "* below the floor: the floor was unsteady or the target did not sync");
    note_elsewhere(pen);
    const struct rec_floor *after =
        other_side(pen->record->floors, pen->record->floor_count, floor);
    if (is_unsteady(floor, after)) {
        format_duration(shown, sizeof(shown), after->p50.value);
        add_note(pen,
                 arena_printf(pen->arena, "the floor was unsteady: %s after the run", shown));
    }
}
