/* Searches for the highest rate that keeps a limit: the answer, and the curve as a table. */
#include "report/report_internal.h"

void search_words(struct text *out, const struct rec_search *search)
{
    char rate[40], closed[40];
    const char *limit = or_dash(search->limit);
    figure_glued(rate, sizeof(rate), "1/s", search->rate_per_s);
    figure_glued(closed, sizeof(closed), "1/s", search->closed_per_s);
    if (search->known)
        text_addf(out, "highest rate that keeps %s: %s", limit, rate);
    else
        text_addf(out, "the highest rate that keeps %s is not known", limit);
    if (search->closed_per_s > 0)
        text_addf(out, " (closed loop: %s)", closed);
}

/* "p99" of "p99 <= 5 ms". */
static const char *limited(struct pen *pen, const struct rec_search *search)
{
    struct slice first, rest;
    (void)slice_split(slice_of(or_dash(search->limit)), ' ', &first, &rest);
    return arena_slice(pen->arena, first);
}

static void rate_cell(struct pen *pen, struct table *table, double per_s)
{
    char shown[40];
    format_rate(shown, sizeof(shown), per_s);
    table_cell(table, per_s >= 0 ? arena_text(pen->arena, shown) : "-");
}

static void time_cell(struct pen *pen, struct table *table, const struct rec_number *ns)
{
    char shown[40];
    if (!ns->known) {
        table_cell(table, "-");
        return;
    }
    format_duration(shown, sizeof(shown), ns->value);
    table_cell(table, arena_text(pen->arena, shown));
}

static const char *kept_words(struct pen *pen, const struct rec_search_step *step)
{
    struct text words;
    char shown[40];
    text_init(&words, pen->arena, 400);
    text_add(&words, step->kept ? "yes" : "no");
    if (step->why)
        text_addf(&words, ": %s", step->why);
    if (step->unfinished > 0) {
        figure_with_unit(shown, sizeof(shown), "1", (double)step->unfinished);
        text_addf(&words, "; %s never done", shown);
    }
    return words.at;
}

static struct table *curve(struct pen *pen, const struct rec_search *search)
{
    struct table *table = table_create(pen->arena);
    const char *quantile = limited(pen, search);
    bool median = text_is(quantile, "p50");
    table_column(table, "rate/s", "asked", TABLE_RIGHT, false);
    table_column(table, "rate/s", "done", TABLE_RIGHT, false);
    if (!median)
        table_column(table, "response", "p50", TABLE_RIGHT, false);
    table_column(table, "response", quantile, TABLE_RIGHT, false);
    table_column(table, "lag", "p99", TABLE_RIGHT, false);
    table_column(table, NULL, "kept", TABLE_LEFT, false);
    table_wrap_last(table);
    for (size_t i = 0; i < search->step_count; i++) {
        const struct rec_search_step *step = &search->steps[i];
        table_row(table);
        rate_cell(pen, table, step->rate_per_s);
        rate_cell(pen, table, step->achieved_per_s);
        if (!median)
            time_cell(pen, table, &step->p50);
        time_cell(pen, table, &step->value);
        time_cell(pen, table, &step->lag_p99);
        table_cell(table, kept_words(pen, step));
    }
    return table;
}

static void show_search(struct pen *pen, const struct rec_search *search)
{
    struct text line;
    text_init(&line, pen->arena, 2048);
    const struct value *clients = rec_pairs_find(&search->params, "clients");
    text_add(&line, row_name(pen->arena, search->name, &search->params));
    if (clients && clients->type == VALUE_INT)
        text_addf(&line, " with %lld client%s", (long long)clients->as.i,
                  clients->as.i == 1 ? "" : "s");
    text_addf(&line, " on %s: ", or_dash(search->target));
    search_words(&line, search);
    if (search->reason)
        text_addf(&line, "; %s", search->reason);
    pen_wrap(pen, pen->markdown ? "" : "  ", line.at);
    if (pen->markdown)
        text_add_char(&pen->plain, '\n');
    if (search->step_count > 0)
        pen_table(pen, curve(pen, search));
}

void part_searches(struct pen *pen)
{
    if (pen->record->search_count == 0)
        return;
    pen_heading(pen, "Highest rate within a limit");
    for (size_t i = 0; i < pen->record->search_count; i++) {
        if (i > 0)
            text_add_char(&pen->plain, '\n');
        show_search(pen, &pen->record->searches[i]);
    }
}
