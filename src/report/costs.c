/* What client libraries cost, against the wire client on the same server. */
#include "report/report_internal.h"

#include <math.h>

static const char *time_of(struct pen *pen, double ns)
{
    char shown[64];
    if (!isfinite(ns))
        return "-";
    figure_with_unit(shown, sizeof(shown), "ns", fabs(ns));
    return arena_printf(pen->arena, "%s%s", ns < 0 ? "-" : "", shown);
}

static const char *median_of(struct pen *pen, uint64_t ns)
{
    return ns > 0 ? time_of(pen, (double)ns) : "-";
}

static bool is_same_pair(const struct rec_cost *a, const struct rec_cost *b)
{
    return text_same(a->library, b->library) && text_same(a->wire, b->wire);
}

static bool is_first_of_pair(const struct record *record, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (record->costs[i].known && is_same_pair(&record->costs[i], &record->costs[index]))
            return false;
    }
    return true;
}

static void add_row(struct pen *pen, struct table *table, const struct rec_cost *cost)
{
    const struct value *clients = rec_pairs_find(&cost->params, "clients");
    bool counted = clients && clients->type == VALUE_INT;
    table_row(table);
    table_cell(table, row_name(pen->arena, cost->name, &cost->params));
    table_cell(table,
               counted ? arena_printf(pen->arena, "%lld", (long long)clients->as.i) : "");
    table_cell(table, time_of(pen, cost->library_cpu_ns));
    table_cell(table, time_of(pen, cost->wire_cpu_ns));
    table_cell(table, time_of(pen, cost->library_cpu_ns - cost->wire_cpu_ns));
    table_cell(table, median_of(pen, cost->library_p50_ns));
    table_cell(table, median_of(pen, cost->wire_p50_ns));
}

/* All of one library and one wire target stand together. */
static void add_pair(struct pen *pen, struct table *table, const struct rec_cost *like)
{
    table_rule(table, arena_printf(pen->arena, "%s on %s, wire client on %s",
                                   or_dash(like->library_client), or_dash(like->library),
                                   or_dash(like->wire)));
    for (size_t i = 0; i < pen->record->cost_count; i++) {
        const struct rec_cost *cost = &pen->record->costs[i];
        if (cost->known && is_same_pair(cost, like))
            add_row(pen, table, cost);
    }
}

static bool show_known(struct pen *pen)
{
    const struct record *record = pen->record;
    struct table *table = table_create(pen->arena);
    bool any = false;
    table_column(table, NULL, "scenario", TABLE_LEFT, false);
    table_column(table, NULL, "clients", TABLE_RIGHT, false);
    table_column(table, "client CPU", "library", TABLE_RIGHT, false);
    table_column(table, "client CPU", "wire", TABLE_RIGHT, false);
    table_column(table, "client CPU", "driver's cost", TABLE_RIGHT, false);
    table_column(table, "p50", "library", TABLE_RIGHT, false);
    table_column(table, "p50", "wire", TABLE_RIGHT, false);
    for (size_t i = 0; i < record->cost_count; i++) {
        if (!record->costs[i].known || !is_first_of_pair(record, i))
            continue;
        add_pair(pen, table, &record->costs[i]);
        any = true;
    }
    if (any)
        pen_table(pen, table);
    return any;
}

static bool is_reason_told(const struct record *record, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (!record->costs[i].known &&
            text_same(record->costs[i].reason, record->costs[index].reason))
            return true;
    }
    return false;
}

static bool is_named(const struct record *record, size_t from, size_t index)
{
    for (size_t i = from; i < index; i++) {
        if (!record->costs[i].known &&
            text_same(record->costs[i].reason, record->costs[index].reason) &&
            text_same(record->costs[i].name, record->costs[index].name))
            return true;
    }
    return false;
}

/* Those that are not known, once a reason. */
static void show_unknown(struct pen *pen)
{
    const struct record *record = pen->record;
    for (size_t i = 0; i < record->cost_count; i++) {
        struct text line;
        if (record->costs[i].known || is_reason_told(record, i))
            continue;
        text_init(&line, pen->arena, 4096);
        text_addf(&line, "not known, %s: ", or_dash(record->costs[i].reason));
        for (size_t k = i; k < record->cost_count; k++) {
            const struct rec_cost *cost = &record->costs[k];
            if (cost->known || !text_same(cost->reason, record->costs[i].reason) ||
                is_named(record, i, k))
                continue;
            text_addf(&line, "%s%s", k > i ? ", " : "", or_dash(cost->name));
        }
        pen_item(pen, line.at);
    }
}

void part_costs(struct pen *pen)
{
    if (pen->record->cost_count == 0)
        return;
    pen_heading(pen, "The driver's cost, of one execution");
    if (show_known(pen) && pen->markdown)
        text_add_char(&pen->plain, '\n');
    show_unknown(pen);
}
