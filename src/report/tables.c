#include "report/report_internal.h"

#include <math.h>
#include <string.h>

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

enum { NAME_COLUMNS = 16 }; /* names may be cut to so many */

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
    size_t longest_name;
};

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

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
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

static const char *mark_of(const struct view *view, const struct rec_cell *cell)
{
    if (is(cell->verdict, "interrupted"))
        return "~";
    if (is(cell->verdict, "invalid"))
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
    return arena_printf(view->pen->arena, "%s%s", shown, mark_of(view, cell));
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

/* What stands in place of figures; NULL: figures do. */
static const char *instead(struct view *view, const struct rec_cell *cell)
{
    double ns;
    if (!cell)
        return "";
    if (is(cell->verdict, "failed"))
        return "FAILED";
    if (is(cell->verdict, "not-applicable"))
        return arena_printf(view->pen->arena, "n/a [%zu]",
                            note_of(view, or_dash(cell->reason)));
    if (is(cell->verdict, "not-run"))
        return "not run";
    if (is(cell->verdict, "interrupted") && !cell_time(cell, &ns))
        return "stopped";
    return NULL;
}

/* ---- rows ---- */

/* The unit in which the shortest time of the row is at least 1; a table of loads has one unit.
 */
static enum unit unit_of(const struct view *view, const struct row *row)
{
    double least = (double)INFINITY, ns;
    if (view->kind == ROW_LOAD)
        return view->unit;
    for (size_t t = 0; t < view->rows->target_count; t++) {
        if (cell_time(row->cells[t], &ns) && ns < least)
            least = ns;
    }
    return least < 0x1p63 ? unit_pick((uint64_t)least) : UNIT_NS;
}

static const char *unit_cell(const struct view *view, const struct row *row)
{
    for (size_t t = view->from; t < view->to; t++) {
        double ns;
        if (cell_time(row->cells[t], &ns))
            return unit_name(unit_of(view, row));
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

static void add_row_head(struct view *view, struct table *table, const struct row *row,
                         bool per_commit)
{
    table_row(table);
    table_cell(table, label_of(view, row));
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
    const char *words = instead(view, cell);
    bool first = true;
    for (size_t i = 0; i < ARRAY_COUNT(columns); i++) {
        if (!(set & columns[i].bit))
            continue;
        if (words)
            table_cell(table, first ? words : "");
        else
            table_cell(table, print_figure(view, &columns[i], cell, unit_of(view, row)));
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
    if (view->kind == ROW_TIME)
        table_column(table, NULL, "", TABLE_LEFT, false);
    for (size_t t = view->from; t < view->to; t++)
        add_columns(view, table, view->rows->labels[t], set);
    if (view->kind == ROW_CLIENTS)
        table_column(table, NULL, "", TABLE_LEFT, false);
    for (size_t i = 0; i < view->rows->count; i++) {
        const struct row *row = &view->rows->items[i];
        if (row->kind != view->kind)
            continue;
        add_row_head(view, table, row, per_commit);
        if (view->kind == ROW_TIME)
            table_cell(table, unit_cell(view, row));
        for (size_t t = view->from; t < view->to; t++)
            add_figures(view, table, row, t, set);
        if (view->kind == ROW_CLIENTS)
            table_cell(table, unit_cell(view, row));
    }
    return table;
}

/* Targets below each other: for many figures on a narrow terminal. */
static struct table *stacked(struct view *view, unsigned set)
{
    struct table *table = table_create(view->pen->arena);
    table_column(table, NULL, "scenario", TABLE_LEFT, false);
    table_column(table, NULL, "clients", TABLE_RIGHT, false);
    table_column(table, NULL, "target", TABLE_LEFT, false);
    add_columns(view, table, NULL, set);
    table_column(table, NULL, "", TABLE_LEFT, false);
    for (size_t i = 0; i < view->rows->count; i++) {
        const struct row *row = &view->rows->items[i];
        bool first = true;
        for (size_t t = 0; row->kind == view->kind && t < view->rows->target_count; t++) {
            if (!row->cells[t])
                continue;
            table_row(table);
            table_cell(table, first ? label_of(view, row) : "");
            table_cell(table, first && !row->phase ? whole(view, row->clients) : "");
            table_cell(table, view->rows->labels[t]);
            add_figures(view, table, row, t, set);
            table_cell(table, unit_cell(view, row));
            first = false;
        }
    }
    return table;
}

/* ---- what fits ---- */

/* Names may be cut. */
static size_t columns_wide(const struct view *view, const struct table *table)
{
    size_t widest = pen_columns_wide(view->pen, table);
    size_t spare = view->longest_name > NAME_COLUMNS ? view->longest_name - NAME_COLUMNS : 0;
    return widest - (spare < widest ? spare : widest);
}

static void survey_cell(struct view *view, const struct rec_cell *cell, double *least)
{
    double ns;
    for (size_t c = 0; c < ARRAY_COUNT(columns); c++) {
        if (figure_of(view, &columns[c], cell, &ns))
            view->known |= columns[c].bit;
    }
    if (view->kind == ROW_LOAD && total_time(cell, &ns) && !cell->phase && ns < *least)
        *least = ns;
    if (!cell_time(cell, &ns))
        return;
    view->stopped |= is(cell->verdict, "interrupted");
    view->unfit |= is(cell->verdict, "invalid");
}

static void survey(struct view *view)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < view->rows->count; i++) {
        const struct row *row = &view->rows->items[i];
        if (row->kind != view->kind)
            continue;
        size_t name = text_columns(label_of(view, row));
        view->longest_name = name > view->longest_name ? name : view->longest_name;
        for (size_t t = 0; t < view->rows->target_count; t++)
            survey_cell(view, row->cells[t], &least);
    }
    view->marked = view->stopped || view->unfit;
    view->unit = least < 0x1p63 ? unit_pick((uint64_t)least) : UNIT_MS;
}

static unsigned width_of(const struct view *view)
{
    return view->pen->markdown ? 100 : view->pen->width;
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
        ok = columns_wide(view, side_by_side(view, mask_of(view, set))) <= width_of(view);
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

static void show_stacked(struct view *view)
{
    for (const unsigned *set = client_sets; *set; set++) {
        struct table *table = stacked(view, mask_of(view, *set));
        if (columns_wide(view, table) > width_of(view) && set[1])
            continue;
        view->shown = mask_of(view, *set);
        pen_table(view->pen, table);
        return;
    }
}

/* All targets in one table, or as many as fit in each of several. */
static void show_chunks(struct view *view)
{
    size_t chunk = view->rows->target_count;
    unsigned set = richest(view, chunk);
    while (set == 0 && chunk > 1) {
        chunk = (chunk + 1) / 2;
        set = richest(view, chunk);
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

/* ---- around a table ---- */

static void add_note(struct view *view, const char *lead, const char *text)
{
    if (view->pen->markdown)
        text_add_char(&view->pen->plain, '\n');
    pen_wrap(view->pen, view->pen->markdown ? "" : lead, text);
}

/* Where times start and end, in the words of the cells. */
static void add_timing(struct view *view)
{
    const char *told[4];
    size_t count = 0;
    for (size_t i = 0; i < view->rows->count && count < ARRAY_COUNT(told); i++) {
        const struct row *row = &view->rows->items[i];
        for (size_t t = 0; row->kind == view->kind && t < view->rows->target_count; t++) {
            const char *timing = row->cells[t] ? row->cells[t]->timing : NULL;
            bool known = !timing;
            for (size_t k = 0; k < count; k++)
                known |= is(timing, told[k]);
            if (known || count == ARRAY_COUNT(told))
                continue;
            told[count++] = timing;
            add_note(view, "  ", arena_printf(view->pen->arena, "Timed: %s.", timing));
        }
    }
}

static void add_notes(struct view *view)
{
    for (size_t i = 0; i < view->note_count; i++) {
        const char *lead = arena_printf(view->pen->arena, "  [%zu] ", i + 1);
        const char *text = view->pen->markdown ? arena_printf(view->pen->arena, "[%zu] %s",
                                                              i + 1, view->notes[i])
                                               : view->notes[i];
        add_note(view, lead, text);
    }
    if (view->shown & SHOW_CORES)
        add_note(view, "  ", "cores: of the client + of the server");
    if (view->stopped)
        add_note(view, "  ", "~ interrupted: what was measured until then");
    if (view->unfit)
        add_note(view, "  ", "! not valid: the warnings say why");
}

static bool has_rows(const struct rows *rows, enum row_kind kind)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].kind == kind)
            return true;
    }
    return false;
}

static const char *tier_of(const struct record *record, const char *label)
{
    for (size_t i = 0; i < record->target_count; i++) {
        if (is(record->targets[i].label, label))
            return or_dash(record->targets[i].tier);
    }
    return "-";
}

/* What a commit waits for stands over every table: figures of unequal tiers do not compare. */
static void add_tiers(struct pen *pen, const struct rows *rows)
{
    struct text line;
    bool equal = true;
    text_init(&line, pen->arena, 4096);
    for (size_t t = 1; t < rows->target_count; t++)
        equal &=
            is(tier_of(pen->record, rows->labels[t]), tier_of(pen->record, rows->labels[0]));
    text_add(&line, "commits wait for ");
    for (size_t t = 0; t < rows->target_count && !equal; t++)
        text_addf(&line, "%s%s %s", t > 0 ? ", " : "", rows->labels[t],
                  tier_of(pen->record, rows->labels[t]));
    if (equal && rows->target_count > 0)
        text_addf(&line, "%s%s", tier_of(pen->record, rows->labels[0]),
                  rows->target_count > 1 ? " (all targets)" : "");
    pen_wrap(pen, pen->markdown ? "" : "  ", line.at);
    if (pen->markdown)
        text_add_char(&pen->plain, '\n');
}

static void show_kind(struct pen *pen, const struct rows *rows, enum row_kind kind)
{
    static const char *const titles[] = {
        "Time of one execution (median; the mean of fewer than 3)", "Loads",
        "Concurrent clients"};
    if (!has_rows(rows, kind))
        return;
    struct view view = {.pen = pen, .rows = rows, .kind = kind, .to = rows->target_count};
    pen_heading(pen, titles[kind]);
    add_tiers(pen, rows);
    survey(&view);
    if (kind != ROW_CLIENTS || richest(&view, rows->target_count) != 0)
        show_chunks(&view);
    else
        show_stacked(&view);
    add_notes(&view);
    add_timing(&view);
}

void part_tables(struct pen *pen)
{
    struct rows rows;
    rows_build(pen->arena, pen->record, &rows);
    show_kind(pen, &rows, ROW_LOAD);
    show_kind(pen, &rows, ROW_TIME);
    part_commits(pen, &rows);
    show_kind(pen, &rows, ROW_CLIENTS);
}
