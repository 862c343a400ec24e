#include "report/report_internal.h"

#include <string.h>

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

void failure_words(struct text *out, const struct rec_cell *cell)
{
    char expected[300], found[300];
    for (size_t i = 0; i < cell->check_count; i++) {
        const struct rec_check *check = &cell->checks[i];
        if (check->ok)
            continue;
        value_print(expected, sizeof(expected), &check->expected);
        value_print(found, sizeof(found), &check->found);
        text_addf(out, "%s expected %s, found %s", or_dash(check->name), expected, found);
        return;
    }
    if (cell->failure_count == 0) {
        text_add(out, or_dash(cell->reason));
        return;
    }
    const struct rec_failure *failure = &cell->failures[0];
    text_add(out, or_dash(failure->text));
    if (failure->sqlstate && failure->sqlstate[0])
        text_addf(out, " (SQLSTATE %s)", failure->sqlstate);
    else if (failure->code != 0)
        text_addf(out, " (error %lld)", (long long)failure->code);
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
        if (is(cell->verdict, "failed")) {
            state->failed = true;
            if (!tally->first_failed)
                tally->first_failed = cell;
        }
        bool result = cell_has_result(cell) && !cell_is_interrupted(cell);
        measured |= result;
        tally->cells += result;
        state->reserved |= is(cell->verdict, "reserve");
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

static void add_failed(struct text *out, const struct tally *tally)
{
    text_addf(out, "%zu of %zu scenarios", tally->failed, tally->scenarios);
    if (!tally->first_failed)
        return;
    text_addf(out, "%s%s on %s: ", tally->failed > 1 ? "; first: " : ": ",
              or_dash(tally->first_failed->name), or_dash(tally->first_failed->target));
    failure_words(out, tally->first_failed);
}

/* Are there result rows, and exactly one an execution, on every target that has the row? */
static bool is_point_read(const struct rows *rows, const struct row *row)
{
    size_t have = 0;
    for (size_t t = 0; t < rows->target_count; t++) {
        double count, affected = 0, ns;
        if (!row->cells[t] || cell_is_interrupted(row->cells[t]))
            continue;
        if (!cell_stat(row->cells[t], "rows", "value", &count) || count < 1 || count > 1 ||
            !cell_time(row->cells[t], &ns))
            return false;
        if (cell_affected(row->cells[t], &affected) && affected > 0)
            return false;
        have++;
    }
    return have > 0;
}

/* The read of one row that stands for the run: one that is called a point read, else the first.
 */
static const struct row *point_read(const struct rows *rows)
{
    const struct row *first = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        if (row->phase || row->kind != ROW_TIME || !is_point_read(rows, row))
            continue;
        if (strstr(row->scenario, "point"))
            return row;
        first = first ? first : row;
    }
    return first;
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

static void add_rates(struct text *out, const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        bool any = false;
        for (size_t t = 0; t < rows->target_count && !rows->items[i].phase; t++) {
            double rate;
            char shown[40];
            const struct rec_cell *cell = rows->items[i].cells[t];
            if (cell_is_interrupted(cell) ||
                !cell_stat(cell, "throughput_per_s", "value", &rate))
                continue;
            figure_glued(shown, sizeof(shown), "1/s", rate);
            if (!any)
                text_addf(out, "; %s: ", rows->items[i].name);
            text_addf(out, "%s%s\x1f%s", any ? ", " : "", rows->labels[t], shown);
            any = true;
        }
        if (any)
            return;
    }
}

static void add_headline(struct text *out, const struct rows *rows)
{
    const struct row *row = point_read(rows);
    if (!row) {
        add_rates(out, rows);
        return;
    }
    text_addf(out, "; one-row read %s: ", row->name);
    add_times(out, rows, row);
}

static void add_absent(struct text *out, const struct record *record)
{
    for (size_t i = 0; i < record->target_count; i++) {
        const struct rec_target *target = &record->targets[i];
        if (target->verdict && !is(target->verdict, "ok"))
            text_addf(out, "; %s %s: %s", or_dash(target->label), target->verdict,
                      or_dash(target->reason));
    }
}

static void add_valid(struct text *out, const struct rows *rows, const struct tally *tally)
{
    text_addf(out, "%zu scenario%s on ", tally->scenarios, tally->scenarios == 1 ? "" : "s");
    list_names(out, rows->labels, rows->target_count);
    if (tally->cells != tally->scenarios)
        text_addf(out, " (%zu cells)", tally->cells);
    text_add(out, tally->checks > 0 ? ": all answers right" : ": no answer was checked");
    if (tally->reserved > 0)
        text_addf(out, ", %zu scenario%s with a warning", tally->reserved,
                  tally->reserved == 1 ? "" : "s");
    add_headline(out, rows);
}

void part_answer(struct text *out, const struct record *record)
{
    struct rows rows;
    rows_build(out->arena, record, &rows);
    struct tally tally = count_all(&rows);
    text_addf(out, "%s%s", or_dash(record->suite), record->quick ? " (quick)" : "");
    if (is(record->verdict, "failed")) {
        text_add(out, " FAILED: ");
        if (tally.failed > 0)
            add_failed(out, &tally);
        else
            text_add(out, or_dash(record->reason));
    } else if (is(record->verdict, "interrupted")) {
        text_addf(out, " INTERRUPTED after %zu of %zu scenarios", tally.measured,
                  tally.scenarios);
        if (tally.failed > 0) {
            text_add(out, "; failed: ");
            add_failed(out, &tally);
        } else {
            text_add(out, tally.checks > 0 && tally.cells > 0 ? ": all answers until then right"
                                                              : "");
            add_headline(out, &rows);
        }
    } else if (is(record->verdict, "invalid")) {
        text_addf(out, " NOT VALID: %s", or_dash(record->reason));
    } else {
        text_add(out, ": ");
        add_valid(out, &rows, &tally);
    }
    add_absent(out, record);
}
