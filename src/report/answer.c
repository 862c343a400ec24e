#include "report/report_internal.h"

#include <string.h>

/* A check for an error, "error" or "STATEMENT: error", that found none. */
static bool wants_error(const struct rec_check *check)
{
    const char *colon = strrchr(or_dash(check->name), ':');
    return check->found.type == VALUE_NULL &&
           (text_same(check->name, "error") || text_same(colon, ": error"));
}

/* "rows expected 1, found 2"; false when no check failed. */
static bool add_failed_check(struct text *out, const struct rec_cell *cell)
{
    char expected[300], found[300];
    for (size_t i = 0; i < cell->check_count; i++) {
        const struct rec_check *check = &cell->checks[i];
        if (check->ok)
            continue;
        value_print(expected, sizeof(expected), &check->expected);
        value_print(found, sizeof(found), &check->found);
        if (wants_error(check))
            text_addf(out, "%.*sexpected error %s, but the statement succeeded",
                      (int)(strlen(check->name) - strlen("error")), check->name, expected);
        else
            text_addf(out, "%s expected %s, found %s", or_dash(check->name), expected, found);
        return true;
    }
    return false;
}

void failure_words(struct text *out, const struct rec_cell *cell)
{
    if (cell->reason && cell->reason[0]) {
        const char *lead = arena_printf(out->arena, "%s: ", or_dash(cell->name));
        bool named = slice_starts(slice_of(cell->reason), lead);
        text_add(out, cell->reason + (named ? strlen(lead) : 0));
        return;
    }
    if (add_failed_check(out, cell))
        return;
    if (cell->failure_count == 0) {
        text_add(out, "-");
        return;
    }
    const struct rec_failure *failure = &cell->failures[0];
    text_add(out, or_dash(failure->text));
    if (failure->sqlstate && failure->sqlstate[0])
        text_addf(out, " (SQLSTATE %s)", failure->sqlstate);
    else if (failure->code != 0)
        text_addf(out, " (error %lld)", (long long)failure->code);
}

bool failure_same(const struct rec_cell *a, const struct rec_cell *b)
{
    const struct value *x = rec_pairs_find(&a->params, "clients");
    const struct value *y = rec_pairs_find(&b->params, "clients");
    bool same_clients = x && y ? value_same(x, y) : x == y;
    return text_same(a->verdict, "failed") && text_same(b->verdict, "failed") && same_clients &&
           text_same(a->name, or_dash(b->name)) && text_same(a->reason, or_dash(b->reason)) &&
           (a->phase ? text_same(a->phase, or_dash(b->phase)) : !b->phase);
}

void failure_targets(struct text *out, const struct record *record, const struct rec_cell *cell)
{
    const char **names = arena_array(out->arena, const char *, record->cell_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < record->cell_count; i++) {
        if (&record->cells[i] == cell || failure_same(&record->cells[i], cell))
            names[count++] = or_dash(record->cells[i].target);
    }
    text_add(out, " on ");
    list_names(out, names, count);
}

struct tally {
    size_t scenarios, failed, measured, reserved; /* scenarios */
    size_t cells, checks;                         /* cells with results; checks of all */
    const struct rec_cell *first_failed;
};

/* Of a scenario: all its rows. */
struct state {
    bool failed, unmeasured, reserved;
};

static void look_at_row(const struct rows *rows, const struct row *row, struct tally *tally,
                        struct state *state)
{
    bool measured = false;
    for (size_t t = 0; t < rows->target_count; t++) {
        const struct rec_cell *cell = row->cells[t];
        if (!cell)
            continue;
        if (text_same(cell->verdict, "failed")) {
            state->failed = true;
            if (!tally->first_failed)
                tally->first_failed = cell;
        }
        bool result = cell_has_result(cell) && !cell_is_interrupted(cell);
        measured |= result;
        tally->cells += result;
        state->reserved |= text_same(cell->verdict, "reserve");
        tally->checks += cell->check_count;
    }
    state->unmeasured |= !measured;
}

static bool is_first_row(const struct rows *rows, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(rows->items[i].scenario, rows->items[index].scenario) == 0)
            return false;
    }
    return true;
}

static struct tally count_all(const struct rows *rows)
{
    struct tally tally = {0};
    for (size_t i = 0; i < rows->count; i++) {
        struct state state = {false, false, false};
        if (!is_first_row(rows, i))
            continue;
        for (size_t k = i; k < rows->count; k++) {
            const struct row *row = &rows->items[k];
            if (!row->phase && strcmp(row->scenario, rows->items[i].scenario) == 0)
                look_at_row(rows, row, &tally, &state);
        }
        tally.scenarios++;
        tally.failed += state.failed;
        tally.measured += !state.unmeasured;
        tally.reserved += state.reserved;
    }
    return tally;
}

static void add_failed(struct text *out, const struct record *record, const struct tally *tally)
{
    text_addf(out, "%zu of %zu scenarios", tally->failed, tally->scenarios);
    if (!tally->first_failed)
        return;
    text_addf(out, "%s%s", tally->failed > 1 ? "; first: " : ": ",
              or_dash(tally->first_failed->name));
    failure_targets(out, record, tally->first_failed);
    text_add(out, ": ");
    failure_words(out, tally->first_failed);
}

/* What speaks for a row as the read that stands for the run, the greater the more. */
enum { READ_NAMED = 1, READ_ALONE = 2, READ_ONE_ROW = 4, READ_REPEATED = 8, READ_ANY = 16 };

/* Rows of one execution, on every target that has the row; false when it is no read. */
static bool rows_read(const struct rows *rows, const struct row *row, double *each,
                      double *most)
{
    size_t have = 0;
    for (size_t t = 0; t < rows->target_count; t++) {
        const struct rec_cell *cell = row->cells[t];
        double count, affected = 0, ns, n = 0;
        if (!cell || cell_is_interrupted(cell) || !cell_has_result(cell))
            continue;
        if (!cell_stat(cell, "rows", "value", &count) || count < 1 || !cell_time(cell, &ns))
            return false;
        if (cell_affected(cell, &affected) && affected > 0)
            return false;
        if (have > 0 && (count < *each || count > *each))
            return false;
        *each = count;
        *most = cell_stat(cell, "service_ns", "n", &n) && n > *most ? n : *most;
        have++;
    }
    return have > 0;
}

static unsigned worth_as_read(const struct rows *rows, const struct row *row)
{
    double each = 0, most = 0;
    if (row->phase || row->kind == ROW_LOAD || !rows_read(rows, row, &each, &most))
        return 0;
    return READ_ANY | (most > 1 ? READ_REPEATED : 0u) | (each <= 1 ? READ_ONE_ROW : 0u) |
           (row->clients <= 1 ? READ_ALONE : 0u) |
           (strstr(row->scenario, "point") ? READ_NAMED : 0u);
}

/* The first of those for which most speaks. */
static const struct row *best_read(const struct rows *rows, unsigned *worth)
{
    const struct row *best = NULL;
    *worth = 0;
    for (size_t i = 0; i < rows->count; i++) {
        unsigned found = worth_as_read(rows, &rows->items[i]);
        if (found <= *worth)
            continue;
        best = &rows->items[i];
        *worth = found;
    }
    return best;
}

static void add_name(struct text *out, const struct row *row)
{
    text_add(out, row->name);
    if (row->clients > 1)
        text_addf(out, " with %lld clients", (long long)row->clients);
    text_add(out, ": ");
}

static void add_times(struct text *out, const struct rows *rows, const struct row *row)
{
    bool any = false;
    for (size_t t = 0; t < rows->target_count; t++) {
        double ns;
        char shown[40];
        if (cell_is_interrupted(row->cells[t]) || !cell_time(row->cells[t], &ns))
            continue;
        figure_glued(shown, sizeof(shown), "ns", ns);
        text_addf(out, "%s%s\x1f%s", any ? ", " : "", rows->labels[t], shown);
        any = true;
    }
}

/* Writes one after the other, where nothing is read. A CREATE affects no rows. */
static void add_rates(struct text *out, const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        bool any = false;
        for (size_t t = 0; t < rows->target_count && !row->phase && row->kind != ROW_LOAD;
             t++) {
            double rate, affected;
            char shown[40];
            const struct rec_cell *cell = row->cells[t];
            if (cell_is_interrupted(cell) || !cell_affected(cell, &affected) || affected <= 0 ||
                !cell_stat(cell, "throughput_per_s", "value", &rate))
                continue;
            figure_glued(shown, sizeof(shown), "1/s", rate);
            text_add(out, any ? ", " : "; ");
            if (!any)
                add_name(out, row);
            text_addf(out, "%s\x1f%s", rows->labels[t], shown);
            any = true;
        }
        if (any)
            return;
    }
}

/* "the highest rate at which ...", of the first search. */
static void add_search(struct text *out, const struct record *record)
{
    const struct rec_search *search = &record->searches[0];
    text_addf(out, "; %s on %s: ", or_dash(search->name), or_dash(search->target));
    search_words(out, search);
}

/* What was asked for and what was done, of the first scenario in open loop. */
static bool add_open(struct text *out, const struct rows *rows)
{
    bool any = false;
    for (size_t i = 0; i < rows->count && !any; i++) {
        const struct row *row = &rows->items[i];
        for (size_t t = 0; row->kind == ROW_OPEN && !row->phase && t < rows->target_count;
             t++) {
            double offered, achieved;
            char asked[40], done[40];
            const struct rec_cell *cell = row->cells[t];
            if (cell_is_interrupted(cell) ||
                !cell_stat(cell, "offered_per_s", "value", &offered) ||
                !cell_stat(cell, "achieved_per_s", "value", &achieved))
                continue;
            format_rate(done, sizeof(done), achieved);
            format_rate(asked, sizeof(asked), offered);
            text_add(out, any ? ", " : "; ");
            if (!any)
                add_name(out, row);
            text_addf(out, "%s\x1f%s\x1fof\x1f%s/s", rows->labels[t], done, asked);
            any = true;
        }
    }
    return any;
}

static void add_headline(struct text *out, const struct record *record, const struct rows *rows)
{
    unsigned worth;
    if (record->search_count > 0) {
        add_search(out, record);
        return;
    }
    if (add_open(out, rows))
        return;
    const struct row *row = best_read(rows, &worth);
    if (!row) {
        add_rates(out, rows);
        return;
    }
    text_add(out, worth & READ_ONE_ROW ? "; one-row read " : "; read ");
    add_name(out, row);
    add_times(out, rows, row);
}

static void add_absent(struct text *out, const struct record *record)
{
    for (size_t i = 0; i < record->target_count; i++) {
        const struct rec_target *target = &record->targets[i];
        if (target->verdict && !text_same(target->verdict, "ok"))
            text_addf(out, "; %s %s: %s", or_dash(target->label), target->verdict,
                      or_dash(target->reason));
    }
}

static void add_valid(struct text *out, const struct record *record, const struct rows *rows,
                      const struct tally *tally)
{
    text_addf(out, "%zu scenario%s on ", tally->scenarios, tally->scenarios == 1 ? "" : "s");
    list_names(out, rows->labels, rows->target_count);
    if (tally->cells != tally->scenarios)
        text_addf(out, " (%zu cells)", tally->cells);
    text_add(out, tally->checks > 0 ? ": all answers right" : ": no answer was checked");
    if (tally->reserved > 0)
        text_addf(out, ", %zu scenario%s with a warning", tally->reserved,
                  tally->reserved == 1 ? "" : "s");
    add_headline(out, record, rows);
}

void part_answer(struct text *out, const struct record *record)
{
    struct rows rows;
    rows_build(out->arena, record, &rows);
    struct tally tally = count_all(&rows);
    text_addf(out, "%s%s", or_dash(record->suite), record->quick ? " (quick)" : "");
    if (text_same(record->verdict, "failed")) {
        text_add(out, " FAILED: ");
        if (tally.failed > 0)
            add_failed(out, record, &tally);
        else
            text_add(out, or_dash(record->reason));
    } else if (text_same(record->verdict, "interrupted")) {
        text_addf(out, " INTERRUPTED after %zu of %zu scenarios", tally.measured,
                  tally.scenarios);
        if (tally.failed > 0) {
            text_add(out, "; failed: ");
            add_failed(out, record, &tally);
        } else {
            text_add(out, tally.checks > 0 && tally.cells > 0 ? ": all answers until then right"
                                                              : "");
            add_headline(out, record, &rows);
        }
    } else if (text_same(record->verdict, "invalid")) {
        text_addf(out, " NOT VALID: %s", or_dash(record->reason));
    } else {
        text_add(out, ": ");
        add_valid(out, record, &rows, &tally);
    }
    add_absent(out, record);
}
