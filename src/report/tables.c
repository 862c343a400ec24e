#include "report/tables_internal.h"

#include <math.h>
#include <string.h>

enum { NAME_COLUMNS = 28 }; /* longer names have a line of their own where it is narrow */

struct column {
    unsigned bit;
    const char *name, *metric, *stat;
};

static const struct column columns[] = {
    {SHOW_RATE,  "req/s",     "throughput_per_s", "value"},
    {SHOW_TIME,  "time",      "service_ns",       "p50"  },
    {SHOW_P95,   "p95",       "service_ns",       "p95"  },
    {SHOW_P99,   "p99",       "service_ns",       "p99"  },
    {SHOW_MAX,   "max",       "service_ns",       "max"  },
    {SHOW_TOTAL, "total",     "wall_ns",          "value"},
    {SHOW_CORES, "cores c+s", "client_cores",     "value"},
};

/* From the richest to the poorest. */
static const unsigned time_sets[] = {
    SHOW_TIME | SHOW_P95 | SHOW_P99 | SHOW_MAX | SHOW_SERIAL,
    SHOW_TIME | SHOW_P95 | SHOW_MAX,
    SHOW_TIME | SHOW_MAX,
    SHOW_TIME,
    0,
};
static const unsigned load_sets[] = {SHOW_RATE | SHOW_TOTAL | SHOW_CORES,
                                     SHOW_RATE | SHOW_TOTAL, SHOW_RATE, 0};
static const unsigned client_sets[] = {
    SHOW_RATE | SHOW_TIME | SHOW_P95 | SHOW_P99 | SHOW_MAX | SHOW_CORES,
    SHOW_RATE | SHOW_TIME | SHOW_P95 | SHOW_P99 | SHOW_MAX,
    SHOW_RATE | SHOW_TIME | SHOW_P95 | SHOW_MAX,
    0,
};

static const unsigned *sets_of(enum row_kind kind)
{
    return kind == ROW_TIME ? time_sets : kind == ROW_LOAD ? load_sets : client_sets;
}

/* ---- one figure ---- */

/* The rate of a load is its rows. */
static const char *metric_of(const struct view *view, const struct column *column)
{
    bool rows = view->kind == ROW_LOAD && column->bit == SHOW_RATE;
    return rows ? "rows_per_s" : column->metric;
}

/* Of all executions. */
static bool total_time(const struct rec_cell *cell, double *ns)
{
    return cell_stat(cell, "wall_ns", "value", ns) || cell_time(cell, ns);
}

static bool figure_of(const struct view *view, const struct column *column,
                      const struct rec_cell *cell, double *out)
{
    double n;
    if (column->bit == SHOW_TIME)
        return cell_time(cell, out);
    if (column->bit == SHOW_TOTAL)
        return total_time(cell, out);
    if (column->bit == SHOW_MAX && cell_stat(cell, "service_ns", "n", &n) && n < 2)
        return false; /* it is the time itself */
    return cell_stat(cell, metric_of(view, column), column->stat, out);
}

const char *view_mark(const struct view *view, const struct rec_cell *cell)
{
    if (cell_is_interrupted(cell))
        return "~";
    if (text_is(cell->verdict, "invalid"))
        return "!";
    return view->marked ? " " : "";
}

static const char *print_cores(struct view *view, const struct rec_cell *cell)
{
    double client, server;
    if (!cell_stat(cell, "client_cores", "value", &client))
        return "-";
    if (!cell_stat(cell, "server_cores", "value", &server))
        return arena_printf(view->pen->arena, "%.2f", client);
    return arena_printf(view->pen->arena, "%.2f+%.2f", client, server);
}

static const char *print_figure(struct view *view, const struct column *column,
                                const struct rec_cell *cell, enum unit unit)
{
    char shown[64];
    double figure, n = 0;
    if (column->bit == SHOW_CORES)
        return print_cores(view, cell);
    if (!figure_of(view, column, cell, &figure)) {
        bool once = cell_stat(cell, "service_ns", "n", &n) && n < 2;
        return cell->phase || once ? "" : "-";
    }
    if (column->bit == SHOW_RATE || column->bit == SHOW_SERIAL)
        format_rate(shown, sizeof(shown), figure);
    else
        figure_print(shown, sizeof(shown), unit, figure);
    return arena_printf(view->pen->arena, "%s%s", shown, view_mark(view, cell));
}

/* Number of a footnote. */
static size_t note_of(struct view *view, const char *reason)
{
    for (size_t i = 0; i < view->note_count; i++) {
        if (strcmp(view->notes[i], reason) == 0)
            return i + 1;
    }
    view->notes = arena_grow(view->pen->arena, view->notes, view->note_count, &view->note_room,
                             view->note_count + 1, sizeof(*view->notes));
    view->notes[view->note_count++] = reason;
    return view->note_count;
}

/* The rows of a load that did not end are not known, nor what the rest would have taken. */
const char *view_instead(struct view *view, const struct rec_cell *cell)
{
    double ns;
    if (!cell)
        return "";
    if (text_is(cell->verdict, "failed"))
        return "FAILED";
    if (text_is(cell->verdict, "not-applicable"))
        return arena_printf(view->pen->arena, "n/a [%zu]",
                            note_of(view, or_dash(cell->reason)));
    if (text_is(cell->verdict, "not-run"))
        return "not run";
    if (cell_is_interrupted(cell) && (view->kind == ROW_LOAD || !cell_time(cell, &ns)))
        return "interrupted";
    return NULL;
}

/* ---- rows ---- */

/* Times of a cell that choose its unit. */
static void span_of(const struct rec_cell *cell, double *least, double *most)
{
    double ns;
    if (!cell_time(cell, &ns))
        return;
    *least = ns < *least ? ns : *least;
    *most = ns > *most ? ns : *most;
    if (cell_stat(cell, "service_ns", "max", &ns) && ns > *most)
        *most = ns;
}

enum unit unit_for(double least, double most)
{
    static const double scales[] = {1, 1e3, 1e6, 1e9};
    enum unit unit = least < 0x1p63 ? unit_pick((uint64_t)least) : UNIT_NS;
    while (unit < UNIT_S && most >= 1e6 * scales[unit])
        unit = (enum unit)(unit + 1);
    return unit;
}

/* One unit for the row of several targets, but each target's line has its own; a table of loads
 * has one for all. The null target does not choose it as long as others have a time. */
static enum unit unit_of(const struct view *view, const struct row *row, size_t target)
{
    double least = (double)INFINITY, least_null = (double)INFINITY, most = 0, most_null = 0;
    if (view->kind == ROW_LOAD)
        return view->unit;
    for (size_t t = 0; t < view->rows->target_count; t++) {
        bool null = is_null_target(view->pen->record, view->rows->labels[t]);
        if (!view->stacked || t == target)
            span_of(row->cells[t], null ? &least_null : &least, null ? &most_null : &most);
    }
    return least < 0x1p63 ? unit_for(least, most) : unit_for(least_null, most_null);
}

static const char *unit_cell(const struct view *view, const struct row *row, size_t from,
                             size_t to)
{
    for (size_t t = from; t < to; t++) {
        double ns;
        if (cell_time(row->cells[t], &ns))
            return unit_name(unit_of(view, row, t));
    }
    return "";
}

/* Result rows, or rows that a write affected; empty when targets differ or none is known. */
static const char *rows_of(const struct view *view, const struct row *row)
{
    char shown[40] = "";
    double rows = -1;
    for (size_t t = 0; t < view->rows->target_count; t++) {
        double count, affected;
        const struct rec_cell *cell = row->cells[t];
        bool known = cell_stat(cell, "rows", "value", &count);
        bool wrote = view->kind == ROW_LOAD ? cell_stat(cell, "affected", "value", &affected)
                                            : cell_affected(cell, &affected);
        if (wrote && (!known || count <= 0)) {
            count = affected;
            known = true;
        }
        if (!known)
            continue;
        if (rows >= 0 && (count < rows || count > rows))
            return "differ";
        rows = count;
    }
    if (rows >= 0)
        figure_with_unit(shown, sizeof(shown), "1", rows);
    return arena_text(view->pen->arena, shown);
}

/* A phase is indented below its whole and says how often it was executed. */
static const char *label_of(const struct view *view, const struct row *row)
{
    double n, most = 0;
    if (!row->phase)
        return row->name;
    const char *lead =
        view->pen->markdown ? arena_printf(view->pen->arena, "%s: ", row->name) : "  ";
    for (size_t t = 0; t < view->rows->target_count; t++) {
        if (cell_stat(row->cells[t], "service_ns", "n", &n) && n > most)
            most = n;
    }
    if (most > 1)
        return arena_printf(view->pen->arena, "%s%s x%.0f", lead, row->phase, most);
    return arena_printf(view->pen->arena, "%s%s", lead, row->phase);
}

static bool has_per_commit(const struct view *view)
{
    for (size_t i = 0; i < view->rows->count; i++) {
        const struct row *row = &view->rows->items[i];
        if (row->kind == view->kind && row->per_commit > 0)
            return true;
    }
    return false;
}

static const char *whole(const struct view *view, int64_t number)
{
    return number > 0 ? arena_printf(view->pen->arena, "%lld", (long long)number) : "";
}

/* The name of a row, which is a key and not cut: where it is too long, over the row. */
static const char *name_cell(const struct view *view, struct table *table,
                             const struct row *row)
{
    const char *label = label_of(view, row);
    if (!view->names_apart || text_columns(label) <= NAME_COLUMNS)
        return label;
    table_line(table, label);
    return "";
}

static void add_row_head(struct view *view, struct table *table, const struct row *row,
                         bool per_commit)
{
    const char *name = name_cell(view, table, row);
    table_row(table);
    table_cell(table, name);
    if (view->kind == ROW_CLIENTS)
        table_cell(table, row->phase ? "" : whole(view, row->clients));
    else
        table_cell(table, rows_of(view, row));
    if (per_commit)
        table_cell(table, row->phase ? "" : whole(view, row->per_commit));
}

static void add_figures(struct view *view, struct table *table, const struct row *row,
                        size_t target, unsigned set)
{
    const struct rec_cell *cell = row->cells[target];
    const char *words = view_instead(view, cell);
    bool first = true;
    for (size_t i = 0; i < ARRAY_COUNT(columns); i++) {
        if (!(set & columns[i].bit))
            continue;
        if (words)
            table_cell(table, first ? words : "");
        else
            table_cell(table,
                       print_figure(view, &columns[i], cell, unit_of(view, row, target)));
        first = false;
    }
}

static void add_columns(const struct view *view, struct table *table, const char *group,
                        unsigned set)
{
    for (size_t i = 0; i < ARRAY_COUNT(columns); i++) {
        const char *name = columns[i].name;
        if (!(set & columns[i].bit))
            continue;
        if (columns[i].bit == SHOW_RATE && view->kind == ROW_LOAD)
            name = "rows/s";
        if (columns[i].bit == SHOW_TIME && view->kind == ROW_CLIENTS)
            name = "p50";
        if (columns[i].bit == SHOW_TOTAL)
            name = arena_printf(view->pen->arena, "in %s", unit_name(view->unit));
        table_column(table, group, name, TABLE_RIGHT, false);
    }
}

/* Targets side by side. */
static struct table *side_by_side(struct view *view, unsigned set)
{
    struct table *table = table_create(view->pen->arena);
    bool per_commit = has_per_commit(view);
    table_column(table, NULL, view->kind == ROW_LOAD ? "load" : "scenario", TABLE_LEFT, false);
    table_column(table, NULL, view->kind == ROW_CLIENTS ? "clients" : "rows", TABLE_RIGHT,
                 false);
    if (per_commit)
        table_column(table, NULL, "/commit", TABLE_RIGHT, false);
    if (view->kind != ROW_LOAD)
        table_column(table, NULL, "", TABLE_LEFT, false);
    for (size_t t = view->from; t < view->to; t++)
        add_columns(view, table, view->rows->labels[t], set);
    for (size_t i = 0; i < view->rows->count; i++) {
        const struct row *row = &view->rows->items[i];
        if (row->kind != view->kind)
            continue;
        add_row_head(view, table, row, per_commit);
        if (view->kind != ROW_LOAD)
            table_cell(table, unit_cell(view, row, view->from, view->to));
        for (size_t t = view->from; t < view->to; t++)
            add_figures(view, table, row, t, set);
    }
    return table;
}

/* Targets below each other, each in its own unit: for many figures of much different size. */
static struct table *stacked(struct view *view, unsigned set)
{
    struct table *table = table_create(view->pen->arena);
    table_column(table, NULL, "scenario", TABLE_LEFT, false);
    table_column(table, NULL, "clients", TABLE_RIGHT, false);
    table_column(table, NULL, "target", TABLE_LEFT, false);
    table_column(table, NULL, "", TABLE_LEFT, false);
    add_columns(view, table, NULL, set);
    for (size_t i = 0; i < view->rows->count; i++) {
        const struct row *row = &view->rows->items[i];
        bool first = true;
        for (size_t t = 0; row->kind == view->kind && t < view->rows->target_count; t++) {
            if (!row->cells[t])
                continue;
            bool named = first || view->pen->markdown;
            const char *name = named ? name_cell(view, table, row) : "";
            table_row(table);
            table_cell(table, name);
            table_cell(table, named && !row->phase ? whole(view, row->clients) : "");
            table_cell(table, view->rows->labels[t]);
            table_cell(table, unit_cell(view, row, t, t + 1));
            add_figures(view, table, row, t, set);
            first = false;
        }
    }
    return table;
}

/* ---- what fits ---- */

static void survey_cell(struct view *view, const struct rec_cell *cell, double *least)
{
    double ns;
    if (!cell || view_instead(view, cell))
        return;
    for (size_t c = 0; c < ARRAY_COUNT(columns); c++) {
        if (figure_of(view, &columns[c], cell, &ns))
            view->known |= columns[c].bit;
    }
    if (view->kind == ROW_LOAD && total_time(cell, &ns) && !cell->phase && ns < *least)
        *least = ns;
    if (!cell_time(cell, &ns))
        return;
    view->stopped |= cell_is_interrupted(cell);
    view->unfit |= text_is(cell->verdict, "invalid");
}

static void survey(struct view *view)
{
    double least = (double)INFINITY, least_null = (double)INFINITY;
    for (size_t i = 0; i < view->rows->count; i++) {
        const struct row *row = &view->rows->items[i];
        if (row->kind != view->kind)
            continue;
        for (size_t t = 0; t < view->rows->target_count; t++)
            survey_cell(view, row->cells[t],
                        is_null_target(view->pen->record, view->rows->labels[t]) ? &least_null
                                                                                 : &least);
    }
    least = least < 0x1p63 ? least : least_null;
    view->marked = view->stopped || view->unfit;
    view->unit = least < 0x1p63 ? unit_pick((uint64_t)least) : UNIT_MS;
}

static unsigned width_of(const struct view *view)
{
    return view->pen->markdown ? 112 : view->pen->width;
}

static unsigned mask_of(const struct view *view, unsigned set)
{
    unsigned both = set & view->known;
    return both ? both : set;
}

static void take_targets(struct view *view, size_t from, size_t chunk)
{
    size_t all = view->rows->target_count;
    view->from = from;
    view->to = from + chunk < all ? from + chunk : all;
}

static bool chunks_fit(struct view *view, size_t chunk, unsigned set)
{
    bool ok = true;
    for (size_t from = 0; ok && from < view->rows->target_count; from += chunk) {
        take_targets(view, from, chunk);
        ok = pen_columns_wide(view->pen, side_by_side(view, mask_of(view, set))) <=
             width_of(view);
    }
    return ok;
}

/* The richest set with which tables of so many targets fit; 0 when none does. */
static unsigned richest(struct view *view, size_t chunk)
{
    const unsigned *set = sets_of(view->kind);
    while (*set && !chunks_fit(view, chunk, *set))
        set++;
    return *set;
}

/* The richest set that fits, else the same with long names over their rows. */
static void show_stacked(struct view *view)
{
    view->stacked = true;
    for (unsigned apart = 0; apart < 2; apart++) {
        view->names_apart = apart > 0;
        for (const unsigned *set = client_sets; *set; set++) {
            struct table *table = stacked(view, mask_of(view, *set));
            bool last = view->names_apart && !set[1];
            if (pen_columns_wide(view->pen, table) > width_of(view) && !last)
                continue;
            view->shown = mask_of(view, *set);
            pen_table(view->pen, table);
            return;
        }
    }
}

/* Of as many targets as fit beside each other; the set is 0 when not even one does. */
static size_t chunk_that_fits(struct view *view, unsigned *set)
{
    size_t chunk = view->rows->target_count;
    *set = richest(view, chunk);
    while (*set == 0 && chunk > 1) {
        chunk = (chunk + 1) / 2;
        *set = richest(view, chunk);
    }
    return chunk;
}

/* All targets in one table, or as many as fit in each of several. */
static void show_chunks(struct view *view)
{
    unsigned set;
    size_t chunk = chunk_that_fits(view, &set);
    if (set == 0) {
        view->names_apart = true;
        chunk = chunk_that_fits(view, &set);
    }
    if (set == 0)
        set = view->kind == ROW_LOAD ? SHOW_RATE : SHOW_TIME;
    view->shown = mask_of(view, set);
    for (size_t from = 0; from < view->rows->target_count; from += chunk) {
        take_targets(view, from, chunk);
        if (from > 0)
            text_add_char(&view->pen->plain, '\n');
        pen_table(view->pen, side_by_side(view, mask_of(view, set)));
    }
}

static bool has_rows(const struct rows *rows, enum row_kind kind)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].kind == kind)
            return true;
    }
    return false;
}

static void show_kind(struct pen *pen, const struct rows *rows, enum row_kind kind,
                      struct timings *told)
{
    static const char *const titles[] = {
        "Time of one execution (median; the mean of fewer than 3)", "Loads",
        "Concurrent clients"};
    if (!has_rows(rows, kind))
        return;
    struct view view = {.pen = pen, .rows = rows, .kind = kind, .to = rows->target_count};
    pen_heading(pen, titles[kind]);
    around_tiers(pen, rows);
    survey(&view);
    if (kind == ROW_CLIENTS)
        show_stacked(&view);
    else
        show_chunks(&view);
    around_notes(&view);
    around_timing(&view, told);
}

void part_tables(struct pen *pen)
{
    struct rows rows;
    struct timings told = {.count = 0};
    rows_build(pen->arena, pen->record, &rows);
    show_open(pen, &rows, &told);
    show_kind(pen, &rows, ROW_LOAD, &told);
    show_kind(pen, &rows, ROW_TIME, &told);
    part_commits(pen, &rows);
    show_kind(pen, &rows, ROW_CLIENTS, &told);
}
