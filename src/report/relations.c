#include "base/num.h"
#include "report/report_internal.h"

#include <string.h>

/* One side, as the record names it: "NAME [PHASE] [clients=N] STAT METRIC". */
struct side {
    struct slice of, clients, stat, metric;
};

static struct slice last_word(struct slice *text)
{
    size_t at = text->bytes;
    while (at > 0 && text->at[at - 1] != ' ')
        at--;
    struct slice word = slice_skip(*text, at);
    text->bytes = at > 0 ? at - 1 : 0;
    return word;
}

static struct side take_apart(const char *text)
{
    struct side side = {.of = slice_of(text)};
    side.metric = last_word(&side.of);
    side.stat = last_word(&side.of);
    struct slice rest = side.of, word = last_word(&rest);
    if (slice_starts(word, "clients=")) {
        side.clients = slice_skip(word, strlen("clients="));
        side.of = rest;
    }
    return side;
}

/* The cell that a side names; its last word may be a phase. */
static const struct rec_cell *cell_of(struct pen *pen, const struct side *side,
                                      const char *target)
{
    uint64_t clients = 0;
    if (side->clients.bytes > 0 && !num_u64(side->clients, &clients))
        return NULL;
    const char *name = arena_slice(pen->arena, side->of);
    const struct rec_cell *cell = record_find_cell(pen->record, name, target, clients, NULL);
    if (cell)
        return cell;
    struct slice of = side->of;
    const char *phase = arena_slice(pen->arena, last_word(&of));
    return record_find_cell(pen->record, arena_slice(pen->arena, of), target, clients, phase);
}

/* What makes a figure of that side mean less: clients of which few were at work. */
static const char *weakness_of_side(struct pen *pen, const char *text, const char *target)
{
    struct side side = take_apart(or_dash(text));
    const struct rec_cell *cell = cell_of(pen, &side, or_dash(target));
    for (size_t i = 0; cell && i < cell->guard_count; i++) {
        if (text_is(cell->guards[i].id, "few-in-flight"))
            return cell->guards[i].text;
    }
    return NULL;
}

static const char *weakness(struct pen *pen, const struct rec_relation *relation)
{
    const char *of_a = weakness_of_side(pen, relation->a, relation->target);
    return of_a ? of_a : weakness_of_side(pen, relation->b, relation->target);
}

/* The figures of one target: "812 us : 12.6 us". */
static const char *figures_of(struct pen *pen, const struct rec_relation *relation)
{
    char a[64], b[64];
    if (!relation->known)
        return "";
    figure_glued(a, sizeof(a), relation->unit, relation->a_value);
    figure_glued(b, sizeof(b), relation->unit, relation->b_value);
    return arena_printf(pen->arena, "%s%c:%c%s", a, GLUE, GLUE, b);
}

static const char *ratio_of(struct pen *pen, const struct rec_relation *relation)
{
    char ratio[40];
    if (!relation->known)
        return "-";
    format_ratio(ratio, sizeof(ratio), relation->a_value, relation->b_value);
    return arena_printf(pen->arena, "%s%s", ratio, weakness(pen, relation) ? "*" : "");
}

static bool is_first(const struct record *record, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (text_same(record->relations[i].name, record->relations[index].name))
            return false;
    }
    return true;
}

static bool is_known_somewhere(const struct record *record, const char *name)
{
    for (size_t i = 0; i < record->relation_count; i++) {
        if (text_same(record->relations[i].name, name) && record->relations[i].known)
            return true;
    }
    return false;
}

/* One row and one item a name, if any target knows it. */
static bool is_shown(const struct record *record, size_t index)
{
    return is_first(record, index) && is_known_somewhere(record, record->relations[index].name);
}

static const struct rec_relation *find(const struct record *record, const char *name,
                                       const char *target)
{
    for (size_t i = 0; i < record->relation_count; i++) {
        const struct rec_relation *relation = &record->relations[i];
        if (text_same(relation->name, name) && text_same(relation->target, target))
            return relation;
    }
    return NULL;
}

struct slots { /* columns of targets */
    const char **labels;
    size_t from, to;
    bool figures; /* beside the ratio */
};

/* The cells of one relation; false when no target has it. */
static bool add_relation(struct pen *pen, struct table *table, const char *name,
                         const struct slots *slots)
{
    bool any = false;
    for (size_t t = slots->from; t < slots->to; t++) {
        const struct rec_relation *relation = find(pen->record, name, slots->labels[t]);
        if (slots->figures)
            table_cell(table, relation ? figures_of(pen, relation) : "");
        table_cell(table, relation ? ratio_of(pen, relation) : "");
        any |= relation != NULL;
    }
    return any;
}

static struct table *make(struct pen *pen, const struct slots *slots)
{
    const struct record *record = pen->record;
    struct table *table = table_create(pen->arena);
    bool any = false;
    table_column(table, NULL, "relation", TABLE_LEFT, false);
    for (size_t t = slots->from; t < slots->to; t++) {
        const char *label = slots->labels[t];
        if (slots->figures)
            table_column(table, label, "figures", TABLE_RIGHT, false);
        table_column(table, slots->figures ? label : NULL, slots->figures ? "ratio" : label,
                     TABLE_RIGHT, false);
    }
    for (size_t i = 0; i < record->relation_count; i++) {
        if (!is_shown(record, i))
            continue;
        const char *name = record->relations[i].name;
        table_row(table);
        table_cell(table, or_dash(name));
        any |= add_relation(pen, table, name, slots);
    }
    return any ? table : NULL;
}

static struct table *with_figures(struct pen *pen, const struct rows *rows, size_t from,
                                  size_t to)
{
    return make(pen, &(struct slots){rows->labels, from, to, true});
}

static struct table *ratios(struct pen *pen, const struct rows *rows, size_t from, size_t to)
{
    return make(pen, &(struct slots){rows->labels, from, to, false});
}

/* "median service time"; false when the record says something else. */
static bool add_metric(struct text *line, const struct side *side)
{
    static const struct {
        const char *metric, *stat, *words;
    } known[] = {
        {"service_ns",       "p50",   "median service time"  },
        {"service_ns",       "mean",  "mean service time"    },
        {"service_ns",       "min",   "shortest service time"},
        {"service_ns",       "max",   "longest service time" },
        {"throughput_per_s", "value", "throughput"           },
        {"rows_per_s",       "value", "rows a second"        },
        {"ns_per_row",       "value", "time a row"           },
        {"wall_ns",          "value", "wall time"            },
    };
    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        if (slice_is(side->metric, known[i].metric) && slice_is(side->stat, known[i].stat)) {
            text_add(line, known[i].words);
            return true;
        }
    }
    return false;
}

static void add_clients(struct text *line, const struct side *side)
{
    if (side->clients.bytes == 0)
        return;
    text_add(line, "with ");
    text_add_slice(line, side->clients);
    text_add(line, slice_is(side->clients, "1") ? " client" : " clients");
}

static void add_side(struct text *line, const char *text)
{
    struct side side = take_apart(text);
    if (side.of.bytes == 0 || !add_metric(line, &side)) {
        text_add(line, text);
        return;
    }
    text_add(line, " of ");
    text_add_slice(line, side.of);
    if (side.clients.bytes > 0)
        text_add_char(line, ' ');
    add_clients(line, &side);
}

/* Two cells of one scenario, which differ in the number of clients alone. */
static bool differ_in_clients(const struct side *a, const struct side *b)
{
    return a->clients.bytes > 0 && b->clients.bytes > 0 && slice_equal(a->of, b->of) &&
           slice_equal(a->stat, b->stat) && slice_equal(a->metric, b->metric);
}

static void add_sides(struct text *line, const struct rec_relation *relation)
{
    const char *a = or_dash(relation->a), *b = or_dash(relation->b);
    struct side left = take_apart(a), right = take_apart(b);
    text_addf(line, "%s = ", or_dash(relation->name));
    add_side(line, a);
    text_add(line, " : ");
    if (differ_in_clients(&left, &right))
        add_clients(line, &right);
    else
        add_side(line, b);
}

static void add_weaknesses(struct pen *pen, struct text *line, const char *name)
{
    for (size_t i = 0; i < pen->record->relation_count; i++) {
        const struct rec_relation *relation = &pen->record->relations[i];
        const char *why =
            text_same(relation->name, name) && relation->known ? weakness(pen, relation) : NULL;
        if (why)
            text_addf(line, "; *%c%s: %s", GLUE, or_dash(relation->target), why);
    }
}

static void add_unknown(struct pen *pen, struct text *line, const char *name)
{
    for (size_t i = 0; i < pen->record->relation_count; i++) {
        const struct rec_relation *relation = &pen->record->relations[i];
        if (text_same(relation->name, name) && !relation->known)
            text_addf(line, "; not known on %s: %s", or_dash(relation->target),
                      or_dash(relation->reason));
    }
}

/* Below the table: what each ratio is made of, its figures, and what else differs. */
static void show_details(struct pen *pen, const struct rows *rows, bool figures)
{
    const struct record *record = pen->record;
    for (size_t i = 0; i < record->relation_count; i++) {
        const struct rec_relation *relation = &record->relations[i];
        struct text line;
        if (!is_shown(record, i))
            continue;
        text_init(&line, pen->arena, 4096);
        add_sides(&line, relation);
        bool any = false;
        for (size_t t = 0; figures && t < rows->target_count; t++) {
            const struct rec_relation *one = find(record, relation->name, rows->labels[t]);
            if (!one || !one->known)
                continue;
            text_addf(&line, "%s%s%c%s", any ? ", " : ": ", rows->labels[t], GLUE,
                      figures_of(pen, one));
            any = true;
        }
        if (relation->differs)
            text_addf(&line, "; %s%s",
                      slice_starts(slice_of(relation->differs), "nothing else")
                          ? "differs in "
                          : "also differs: ",
                      relation->differs);
        add_weaknesses(pen, &line, relation->name);
        add_unknown(pen, &line, relation->name);
        pen_item(pen, line.at);
    }
}

/* Those of which no target has both sides: after a run that was interrupted, for example. */
static void show_unknown(struct pen *pen)
{
    const struct record *record = pen->record;
    struct text line;
    bool any = false;
    text_init(&line, pen->arena, 1u << 20);
    for (size_t i = 0; i < record->relation_count; i++) {
        if (!is_first(record, i) || is_known_somewhere(record, record->relations[i].name))
            continue;
        text_addf(&line, "%s%s", any ? "; " : "not known, as a side has no result: ",
                  or_dash(record->relations[i].name));
        any = true;
    }
    if (any)
        pen_item(pen, line.at);
}

void part_relations(struct pen *pen)
{
    struct rows rows;
    if (pen->record->relation_count == 0)
        return;
    rows_build(pen->arena, pen->record, &rows);
    const struct table *all = with_figures(pen, &rows, 0, rows.target_count);
    bool wide = pen->markdown || (all && pen_columns_wide(pen, all) <= pen->width);
    pen_heading(pen, "Relations");
    (void)pen_targets(pen, &rows, wide ? with_figures : ratios);
    if (pen->markdown)
        text_add_char(&pen->plain, '\n');
    show_details(pen, &rows, !wide);
    show_unknown(pen);
}
