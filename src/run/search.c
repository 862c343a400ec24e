/* Search for the highest rate at which a limit of the response time is kept. */
#include "run/search.h"

#include "base/text.h"
#include "hist/quantile.h"
#include "os/now.h"
#include "run/note_internal.h"
#include "run/run_internal.h"

#include <math.h>
#include <stdlib.h>

#define RATE_LEAST_PER_S (1.0 / 3600)
#define ACHIEVED_LEAST   0.98
#define SAMPLES_SPARE    1.2 /* a Poisson process brings somewhat fewer or more */
#define STEP_MOST_NS     (60 * NS_PER_S)

static const char not_valid[] = "steps among them are not valid: see how far the figures hold";

/* ---- which rate next */

static double round_rate(double rate)
{
    double unit = pow(10, floor(log10(rate)) - 2);
    return round(rate / unit) * unit;
}

static double choose(const struct search *search)
{
    double rate;
    if (search->steps >= RUN_SEARCH_STEPS)
        return 0;
    if (search->high <= 0) {
        rate = fmin(2 * search->low, search->top);
        return rate > search->low * 1.001 ? rate : 0;
    }
    if (search->low <= 0)
        return search->high / 2 >= RATE_LEAST_PER_S ? round_rate(search->high / 2) : 0;
    if (search->high / search->low <= SEARCH_CLOSE)
        return 0;
    rate = round_rate(sqrt(search->low * search->high));
    return rate > search->low && rate < search->high ? rate : 0;
}

void search_begin(struct search *search, double closed_per_s)
{
    *search = (struct search){.top = round_rate(closed_per_s * SEARCH_TOP),
                              .next = round_rate(fmax(closed_per_s / 2, RATE_LEAST_PER_S))};
}

void search_tell(struct search *search, bool kept)
{
    search->steps++;
    *(kept ? &search->low : &search->high) = search->next;
    search->next = choose(search);
}

/* ---- what a step says */

static const char *quantile_name(uint32_t q_ppm)
{
    switch (q_ppm) {
    case QUANTILE_P50: return "p50";
    case QUANTILE_P95: return "p95";
    case QUANTILE_P99: return "p99";
    default: return "p99.9";
    }
}

static const char *time_text(struct arena *arena, uint64_t ns)
{
    double value = (double)ns;
    if (ns < NS_PER_US)
        return arena_printf(arena, "%.3g ns", value);
    if (ns < NS_PER_MS)
        return arena_printf(arena, "%.3g us", value / 1e3);
    return ns < NS_PER_S ? arena_printf(arena, "%.3g ms", value / 1e6)
                         : arena_printf(arena, "%.4g s", value / 1e9);
}

/* Why the limit was not kept, or NULL. */
static const char *judge(struct arena *arena, const struct run_options *options,
                         const struct cell *cell, const struct rec_search_step *step)
{
    double share = step->achieved_per_s / cell_offered_per_s(cell);
    if (step->unfinished > 0)
        return arena_printf(arena, "%llu unfinished", (unsigned long long)step->unfinished);
    if (!(share >= ACHIEVED_LEAST))
        return arena_printf(arena, "achieved %.0f %% of the rate", floor(share * 100));
    if (!step->value.known)
        return arena_printf(arena, "%llu executions are too few for %s",
                            (unsigned long long)series_count(&cell->total.response),
                            quantile_name(options->slo_ppm));
    if (step->value.value > options->slo_ns)
        return arena_printf(arena, "%s is %s", quantile_name(options->slo_ppm),
                            time_text(arena, step->value.value));
    return NULL;
}

static bool note_step(struct runner *runner, struct rec_search *out, const struct cell *cell)
{
    struct arena *arena = runner->arena;
    struct rec_search_step *step = rec_search_add_step(arena, out);
    step->rate_per_s = cell->scenario->rate_per_s;
    step->achieved_per_s = cell_achieved_per_s(cell);
    step->value = note_quantile(arena, &cell->total.response, runner->options->slo_ppm);
    step->p50 = note_quantile(arena, &cell->total.response, QUANTILE_P50);
    step->lag_p99 = note_quantile(arena, &cell->total.lag, QUANTILE_P99);
    step->unfinished = cell->total.unfinished;
    step->why = judge(arena, runner->options, cell, step);
    step->kept = step->why == NULL;
    return step->kept;
}

static int by_rate(const void *left, const void *right)
{
    const struct rec_search_step *a = left, *b = right;
    return (a->rate_per_s > b->rate_per_s) - (a->rate_per_s < b->rate_per_s);
}

/* ---- driving it */

/* Long enough for the quantile, up to a minute or the scenario's own time. */
static uint64_t step_duration_ns(const struct run_options *options, uint64_t duration_ns,
                                 double rate_per_s)
{
    double samples =
        options->slo_ppm == QUANTILE_P50 ? 3 : 10 / (1 - (double)options->slo_ppm / 1e6);
    double ns = samples * SAMPLES_SPARE / rate_per_s * 1e9;
    if (ns <= (double)duration_ns || duration_ns >= STEP_MOST_NS)
        return duration_ns;
    return ns < (double)STEP_MOST_NS ? (uint64_t)ns : STEP_MOST_NS;
}

/* The same scenario in an open loop. */
static const struct suite_scenario *at_rate(struct runner *runner,
                                            const struct suite_scenario *scenario, double rate)
{
    struct suite_scenario *copy = arena_new(runner->arena, struct suite_scenario);
    *copy = *scenario;
    copy->rate_per_s = rate;
    copy->samples = 0;
    copy->duration_ns = step_duration_ns(runner->options, scenario->duration_ns, rate);
    copy->deadline_ns += copy->duration_ns - scenario->duration_ns;
    return copy;
}

static void measure(struct runner *runner, struct cell *cell)
{
    runner_show(runner, cell->scenario->name, cell->session->target.label);
    cell_run(runner, cell);
    note_cell(runner, cell);
}

/* What the search has found, in the end. */
static void conclude(struct runner *runner, struct rec_search *out, const struct search *search)
{
    struct arena *arena = runner->arena;
    const struct rec_search_step *steps = out->steps;
    if (out->step_count > 1)
        qsort(out->steps, out->step_count, sizeof *out->steps, by_rate);
    out->rate_per_s = search->low;
    out->known = search->low > 0 && search->high > 0;
    if (out->known || (out->reason && out->reason != not_valid))
        return;
    if (search->low > 0)
        out->reason = arena_printf(arena,
                                   "the limit is kept up to the highest rate that was tried, "
                                   "%.1f times the throughput of the closed loop",
                                   SEARCH_TOP);
    else
        out->reason = arena_printf(arena, "no rate that was tried keeps the limit%s%s",
                                   out->step_count ? ": at the lowest one " : "",
                                   out->step_count ? steps[0].why : "");
}

/* False when the cell has no result: out->reason says why. */
static bool measure_rate(struct runner *runner, const struct cell *closed, double rate,
                         struct rec_search *out, bool *kept)
{
    struct cell *cell = arena_new(runner->arena, struct cell);
    const struct rec_search_step *last =
        out->step_count > 0 ? &out->steps[out->step_count - 1] : NULL;
    cell->attempt = last && last->rate_per_s == rate ? 2 : 0;
    cell->scenario = at_rate(runner, closed->scenario, rate);
    cell->session = closed->session;
    cell->clients = closed->clients;
    runner->cells_total++;
    size_t before = runner->record->cell_count;
    measure(runner, cell);
    runner->cells_done++;
    for (size_t i = before; i < runner->record->cell_count; i++) {
        if (strcmp(runner->record->cells[i].verdict, "invalid") == 0)
            out->reason = not_valid;
    }
    if (cell->verdict) {
        out->reason = arena_printf(runner->arena, "stopped at %g/s: %s", rate,
                                   cell->reason ? cell->reason : cell->verdict);
        return false;
    }
    *kept = note_step(runner, out, cell);
    return true;
}

/* A hiccup of the machine looks like a rate that is too high: a step that does not keep the
 * limit is measured once more, and it does not when neither did. */
static void search_rates(struct runner *runner, const struct cell *closed,
                         struct rec_search *out)
{
    struct search search;
    bool kept = false, going = true;
    search_begin(&search, out->closed_per_s);
    while (going && search.next > 0) {
        going = measure_rate(runner, closed, search.next, out, &kept);
        if (going && !kept)
            going = measure_rate(runner, closed, search.next, out, &kept);
        if (going)
            search_tell(&search, kept);
    }
    conclude(runner, out, &search);
}

static void search_target(struct runner *runner, struct cell *closed)
{
    struct arena *arena = runner->arena;
    const struct run_options *options = runner->options;
    measure(runner, closed);
    runner->cells_done++;
    if (closed->verdict && strcmp(closed->verdict, "not-applicable") == 0)
        return;
    struct rec_search *out = record_add_search(runner->record);
    out->name = closed->scenario->name;
    out->target = closed->session->target.label;
    out->limit = arena_printf(arena, "%s <= %s", quantile_name(options->slo_ppm),
                              time_text(arena, options->slo_ns));
    rec_pairs_add(arena, &out->params, "clients", value_int(closed->clients));
    if (closed->verdict || closed->wall_ns == 0 || closed->executions == 0) {
        out->reason = closed->reason ? closed->reason : "the closed loop has no result";
        return;
    }
    out->closed_per_s = (double)closed->executions / ((double)closed->wall_ns / 1e9);
    search_rates(runner, closed, out);
}

bool search_wanted(const struct runner *runner, const struct suite_scenario *scenario)
{
    return runner->options->slo_ppm > 0 && scenario->clients_named &&
           scenario->duration_ns > 0 && !suite_scenario_fixed(scenario);
}

void search_row(struct runner *runner, const struct suite_scenario *scenario, uint32_t clients)
{
    uint32_t count = runner->session_count;
    struct cell *cells = arena_array(runner->arena, struct cell, count);
    for (uint32_t i = 0; i < count; i++) {
        cells[i].scenario = scenario;
        cells[i].session = &runner->sessions[i];
        cells[i].clients = clients;
        search_target(runner, &cells[i]);
    }
    if (scenario->equal == SUITE_EQUAL_ROWS)
        note_answers(runner, cells, count);
}
