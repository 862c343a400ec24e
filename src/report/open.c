/* Cells of open loops: what was asked for and what was done first, then response times. */
#include "report/tables_internal.h"

#include <math.h>
#include <string.h>

enum { NAME_COLUMNS = 24 };

enum {
    OPEN_OFFERED = 1,
    OPEN_ACHIEVED = 2,
    OPEN_P50 = 4,
    OPEN_P95 = 8,
    OPEN_P99 = 16,
    OPEN_P999 = 32,
    OPEN_MAX = 64,
    OPEN_LAG = 128,
    OPEN_SERVICE = 256,
};

static const struct column {
    unsigned bit;
    const char *group, *name, *metric, *stat;
} columns[] = {
    {OPEN_OFFERED,  "rate/s",   "offered",  "offered_per_s",  "value"},
    {OPEN_ACHIEVED, "rate/s",   "achieved", "achieved_per_s", "value"},
    {OPEN_P50,      "response", "p50",      "response_ns",    "p50"  },
    {OPEN_P95,      "response", "p95",      "response_ns",    "p95"  },
    {OPEN_P99,      "response", "p99",      "response_ns",    "p99"  },
    {OPEN_P999,     "response", "p99.9",    "response_ns",    "p999" },
    {OPEN_MAX,      "response", "max",      "response_ns",    "max"  },
    {OPEN_LAG,      "lag",      "p99",      "lag_ns",         "p99"  },
    {OPEN_SERVICE,  "service",  "p50",      "service_ns",     "p50"  },
};

/* From the richest to the poorest. */
static const unsigned sets[] = {
    OPEN_OFFERED | OPEN_ACHIEVED | OPEN_P50 | OPEN_P95 | OPEN_P99 | OPEN_P999 | OPEN_MAX |
        OPEN_LAG | OPEN_SERVICE,
    OPEN_OFFERED | OPEN_ACHIEVED | OPEN_P50 | OPEN_P99 | OPEN_P999 | OPEN_MAX | OPEN_LAG |
        OPEN_SERVICE,
    OPEN_OFFERED | OPEN_ACHIEVED | OPEN_P50 | OPEN_P99 | OPEN_MAX | OPEN_LAG | OPEN_SERVICE,
    OPEN_OFFERED | OPEN_ACHIEVED | OPEN_P50 | OPEN_P99 | OPEN_MAX | OPEN_SERVICE,
    OPEN_OFFERED | OPEN_ACHIEVED | OPEN_P50 | OPEN_P99 | OPEN_MAX,
    OPEN_OFFERED | OPEN_ACHIEVED | OPEN_P99 | OPEN_MAX,
};

static enum unit unit_of(const struct rec_cell *cell)
{
    double least, most;
    const char *metric = cell->phase ? "service_ns" : "response_ns";
    if (!cell_stat(cell, metric, "max", &most))
        return UNIT_MS;
    if (!cell_stat(cell, metric, "p50", &least))
        least = most;
    return unit_for(least, most);
}

static const char *print_figure(const struct view *view, const struct column *column,
                                const struct rec_cell *cell)
{
    char shown[64];
    double figure;
    const struct rec_metric *metric = rec_cell_metric(cell, column->metric);
    if (!cell_stat(cell, column->metric, column->stat, &figure))
        return cell->phase ? "" : "-";
    if (column->bit == OPEN_OFFERED || column->bit == OPEN_ACHIEVED)
        format_rate(shown, sizeof(shown), figure);
    else
        figure_print(shown, sizeof(shown), unit_of(cell), figure);
    return arena_printf(view->pen->arena, "%s%s%s",
                        metric_is_bound(metric, column->stat, figure) ? ">=" : "", shown,
                        view_mark(view, cell));
}

/* A phase is indented below its whole. */
static const char *name_cell(const struct view *view, struct table *table,
                             const struct row *row)
{
    const char *name = row->name;
    if (row->phase)
        name = view->pen->markdown
                   ? arena_printf(view->pen->arena, "%s: %s", row->name, row->phase)
                   : arena_printf(view->pen->arena, "  %s", row->phase);
    if (!view->names_apart || text_columns(name) <= NAME_COLUMNS)
        return name;
    table_line(table, name);
    return "";
}

static void add_cells(struct view *view, struct table *table, const struct rec_cell *cell,
                      unsigned set)
{
    const char *words = view_instead(view, cell);
    bool first = true;
    table_cell(table, words ? "" : unit_name(unit_of(cell)));
    for (size_t i = 0; i < ARRAY_COUNT(columns); i++) {
        if (!(set & columns[i].bit))
            continue;
        if (words)
            table_cell(table, first ? words : "");
        else
            table_cell(table, print_figure(view, &columns[i], cell));
        first = false;
    }
}

static void add_row(struct view *view, struct table *table, const struct row *row, unsigned set)
{
    bool first = true;
    for (size_t t = 0; t < view->rows->target_count; t++) {
        if (!row->cells[t])
            continue;
        bool named = first || view->pen->markdown;
        const char *name = named ? name_cell(view, table, row) : "";
        table_row(table);
        table_cell(table, name);
        table_cell(table, named && row->clients > 0 && !row->phase
                              ? arena_printf(view->pen->arena, "%lld", (long long)row->clients)
                              : "");
        table_cell(table, view->rows->labels[t]);
        add_cells(view, table, row->cells[t], set);
        first = false;
    }
}

/* The steps of a search: its curve shows them. */
static bool is_searched(const struct record *record, const struct row *row)
{
    for (size_t i = 0; i < record->search_count; i++) {
        if (text_is(record->searches[i].name, row->scenario))
            return true;
    }
    return false;
}

/* Phases have service times alone. */
static bool is_shown(const struct view *view, const struct row *row, unsigned set)
{
    return row->kind == ROW_OPEN && (!row->phase || (set & OPEN_SERVICE)) &&
           !is_searched(view->pen->record, row);
}

static struct table *make(struct view *view, unsigned set)
{
    struct table *table = table_create(view->pen->arena);
    table_column(table, NULL, "scenario", TABLE_LEFT, false);
    table_column(table, NULL, "clients", TABLE_RIGHT, false);
    table_column(table, NULL, "target", TABLE_LEFT, false);
    table_column(table, NULL, "", TABLE_LEFT, false);
    for (size_t i = 0; i < ARRAY_COUNT(columns); i++) {
        if (set & columns[i].bit)
            table_column(table, columns[i].group, columns[i].name, TABLE_RIGHT, false);
    }
    for (size_t i = 0; i < view->rows->count; i++) {
        if (is_shown(view, &view->rows->items[i], set))
            add_row(view, table, &view->rows->items[i], set);
    }
    return table;
}

/* The richest set that fits, else the poorest with long names over their rows. */
static void show(struct view *view)
{
    unsigned width = view->pen->markdown ? 132 : view->pen->width;
    size_t i = 0;
    while (i + 1 < ARRAY_COUNT(sets) &&
           pen_columns_wide(view->pen, make(view, sets[i])) > width)
        i++;
    view->names_apart = pen_columns_wide(view->pen, make(view, sets[i])) > width;
    pen_table(view->pen, make(view, sets[i]));
}

static void look_at(struct view *view, const struct rec_cell *cell)
{
    if (!cell || view_instead(view, cell))
        return;
    view->stopped |= cell_is_interrupted(cell);
    view->unfit |= text_is(cell->verdict, "invalid");
    view->marked = view->stopped || view->unfit;
}

static void add_note(struct pen *pen, const char *text)
{
    if (pen->markdown)
        text_add_char(&pen->plain, '\n');
    pen_wrap(pen, pen->markdown ? "" : "  ", text);
}

/* What was due and not done when the run ended. */
static void note_unfinished(const struct view *view)
{
    char shown[40];
    struct text line;
    bool any = false;
    text_init(&line, view->pen->arena, 4096);
    for (size_t i = 0; i < view->pen->record->cell_count; i++) {
        const struct rec_cell *cell = &view->pen->record->cells[i];
        double count;
        if (!cell_stat(cell, "unfinished", "value", &count) || count <= 0)
            continue;
        figure_with_unit(shown, sizeof(shown), "1", count);
        text_addf(&line, "%s%s on %s %s",
                  any ? ", " : "due but never done: ", or_dash(cell->name),
                  or_dash(cell->target), shown);
        any = true;
    }
    if (!any)
        return;
    text_add(&line, "; >= is a lower bound: that work is in it with the time it had waited");
    add_note(view->pen, line.at);
}

/* How executions arrived, once. */
static void note_mode(const struct view *view)
{
    const char *told = NULL;
    for (size_t i = 0; i < view->pen->record->cell_count; i++) {
        const struct rec_cell *cell = &view->pen->record->cells[i];
        if (cell->phase || !rec_pairs_find(&cell->params, "rate_per_s") || !cell->mode ||
            text_is(told, cell->mode))
            continue;
        if (told) /* they differ: each cell of the record has its own */
            return;
        told = cell->mode;
    }
    if (told)
        add_note(view->pen, told);
}

void show_open(struct pen *pen, const struct rows *rows, struct timings *told)
{
    bool any = false;
    struct view view = {.pen = pen, .rows = rows, .kind = ROW_OPEN, .to = rows->target_count};
    for (size_t i = 0; i < rows->count; i++) {
        bool shown = is_shown(&view, &rows->items[i], 0);
        for (size_t t = 0; shown && t < rows->target_count; t++)
            look_at(&view, rows->items[i].cells[t]);
        any |= shown;
    }
    if (!any)
        return;
    pen_heading(pen, "Open loop: at a given rate");
    around_tiers(pen, rows);
    show(&view);
    around_notes(&view);
    note_unfinished(&view);
    note_mode(&view);
    around_timing(&view, told);
}
