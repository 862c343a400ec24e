#include "guard/guard.h"

#include "base/text.h"
#include "guard/guard_internal.h"

#include <assert.h>

const char *guard_level_name(enum guard_level level)
{
    static const char *const names[] = {"info", "warning", "invalid"};
    assert((size_t)level < ARRAY_COUNT(names));
    return names[level];
}

void guard_add(struct guard_list *list, enum guard_level level, const char *code,
               const char *id, const char *text)
{
    list->findings = arena_grow(list->arena, list->findings, list->count, &list->room,
                                list->count + 1, sizeof(*list->findings));
    list->findings[list->count++] =
        (struct guard_finding){.id = id, .code = code, .level = level, .text = text};
}

void guard_figure(struct guard_list *list, double figure)
{
    assert(list->count > 0);
    list->findings[list->count - 1].has_figure = true;
    list->findings[list->count - 1].figure = figure;
}

unsigned guard_sort_out(const struct guard_list *list,
                        struct guard_finding out[GUARD_FINDINGS_MAX])
{
    unsigned count = 0;
    for (int level = GUARD_INVALID; level >= GUARD_INFO; level--) {
        for (size_t i = 0; i < list->count && count < GUARD_FINDINGS_MAX; i++) {
            if ((int)list->findings[i].level == level)
                out[count++] = list->findings[i];
        }
    }
    return count;
}

const char *guard_duration(struct arena *arena, double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {
        {1e9, "s" },
        {1e6, "ms"},
        {1e3, "us"},
        {1,   "ns"}
    };
    size_t i = 0;
    while (i + 1 < ARRAY_COUNT(units) && ns < units[i].ns)
        i++;
    double value = ns / units[i].ns;
    return arena_printf(arena, "%.*f %s", value < 10 && units[i].ns > 1 ? 1 : 0, value,
                        units[i].unit);
}

/* --- one cell --- */

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* D01 by CPU time. A thread that serves one client alone measures a slow client; one that
 * serves several adds its own queue to each latency. */
static void judge_saturation(struct guard_list *list, const struct guard_cell *cell)
{
    double busy = share(cell->thread_cpu_max_ns, cell->wall_ns);
    double starved = cell->open_loop ? GUARD_SPARE_OPEN : GUARD_SATURATED;
    bool queues = cell->open_loop || (cell->threads > 0 && cell->clients >= 2 * cell->threads);
    double percent = busy * 100;
    if (busy < GUARD_BUSY)
        return;
    if (cell->null_target)
        guard_add(
            list, GUARD_INFO, "D01", "client-saturated",
            arena_printf(list->arena,
                         "a worker thread used %.0f %% of a core: with nothing behind it, "
                         "this is the stand's own limit",
                         percent));
    else if (cell->embedded)
        guard_add(list, GUARD_INFO, "D01", "client-saturated",
                  arena_printf(list->arena,
                               "a worker thread used %.0f %% of a core, the database in it "
                               "included",
                               percent));
    else if (cell->latency_claimed && queues && busy > starved)
        guard_add(list, GUARD_INVALID, "D01", "client-saturated",
                  arena_printf(list->arena,
                               "a worker thread used %.0f %% of a core: latencies contain the "
                               "wait for the stand itself; use fewer clients, more cores, or "
                               "another machine for the client",
                               percent));
    else
        guard_add(
            list, GUARD_WARNING, "D01", "client-saturated",
            arena_printf(list->arena,
                         "a worker thread used %.0f %% of a core: the client may be the "
                         "limit; compare with fewer clients or with --on null, or run the "
                         "client on another machine",
                         percent));
    guard_figure(list, busy);
}

/* D01 by waiting: what other load on the cores takes from the workers. */
static void judge_starvation(struct guard_list *list, const struct guard_cell *cell)
{
    double waits = share(cell->run_wait_ns, cell->wall_ns);
    if (cell->threads > 1)
        waits /= cell->threads;
    if (waits <= GUARD_WAITS)
        return;
    bool invalid = cell->latency_claimed && cell->open_loop && !cell->embedded &&
                   !cell->null_target && waits > GUARD_STARVED_OPEN;
    guard_add(list, invalid ? GUARD_INVALID : GUARD_WARNING, "D01", "client-starved",
              arena_printf(list->arena,
                           "the worker threads were ready but waited for a core during %.0f %% "
                           "of the time: %s",
                           waits * 100,
                           invalid ? "requests left late; free a core for the stand"
                                   : "latencies contain that wait; use fewer clients or more "
                                     "cores"));
    guard_figure(list, waits);
}

/* D02 */
static void judge_sharing(struct guard_list *list, const struct guard_cell *cell)
{
    uint64_t all_ns = cell->wall_ns * cell->cpus;
    double full = share(cell->client_cpu_ns + cell->server_cpu_ns, all_ns);
    if (!cell->server_cpu_known || cell->embedded || cell->null_target || full < GUARD_FULL)
        return;
    guard_add(list, GUARD_INFO, "D02", "shared-cores",
              arena_printf(list->arena,
                           "client (%.2f cores) and server (%.2f) shared %u cores that were "
                           "%.0f %% busy: apart, the server would have more",
                           share(cell->client_cpu_ns, cell->wall_ns),
                           share(cell->server_cpu_ns, cell->wall_ns), cell->cpus, full * 100));
    guard_figure(list, full);
}

/* D35 */
static void judge_cell_clock(struct guard_list *list, const struct guard_cell *cell)
{
    uint64_t p50_ns = cell->service_p50_ns, cost_ns = cell->clock_cost_ns;
    if (p50_ns == 0 || cost_ns == 0 || p50_ns >= GUARD_CLOCK_RATIO * cost_ns)
        return;
    guard_add(list, cell->null_target ? GUARD_INFO : GUARD_WARNING, "D35", "clock-cost",
              arena_printf(list->arena,
                           "the median of %s is only %.1f times what reading the clock costs "
                           "(%s): the clock is part of the figure",
                           guard_duration(list->arena, (double)p50_ns), share(p50_ns, cost_ns),
                           guard_duration(list->arena, (double)cost_ns)));
    guard_figure(list, share(p50_ns, cost_ns));
}

/* D45 */
static void judge_parameters(struct guard_list *list, const struct guard_cell *cell)
{
    bool cached = cell->query_cache && !cell->is_write;
    bool same = cell->has_binds && cell->distinct_binds == 1;
    if (cell->operations < 2 || (!same && (!cached || cell->has_binds)))
        return;
    const char *what = cell->has_binds ? "each execution sent the same parameters"
                                       : "each execution sent the same statement";
    if (cached)
        guard_add(list, GUARD_WARNING, "D45", "same-parameters",
                  arena_printf(list->arena,
                               "%s and the server has a query cache: it may have answered "
                               "without working; switch the cache off or vary the parameters",
                               what));
    else
        guard_add(list, GUARD_INFO, "D45", "same-parameters",
                  arena_printf(list->arena,
                               "%s: the same pages were hot each time; vary them with a "
                               "generator for a wider picture",
                               what));
}

/* D52 by Little's law: requests in flight = throughput x mean service time. */
static void judge_in_flight(struct guard_list *list, const struct guard_cell *cell)
{
    if (cell->clients < 2 || cell->wall_ns == 0 || cell->executions == 0 || cell->open_loop)
        return;
    double busy = (double)cell->executions * cell->mean_service_ns / (double)cell->wall_ns;
    if (busy >= GUARD_IN_FLIGHT * cell->clients)
        return;
    guard_add(list, cell->null_target ? GUARD_INFO : GUARD_WARNING, "D52", "few-in-flight",
              arena_printf(list->arena,
                           "of %u clients %.1f were at work on average: %s; ask for more "
                           "requests",
                           cell->clients, busy,
                           busy < 1.5 ? "each was done before the next began"
                                      : "some were done before others began"));
    guard_figure(list, busy);
}

unsigned guard_judge_cell(struct arena *arena, const struct guard_cell *cell,
                          struct guard_finding out[GUARD_FINDINGS_MAX])
{
    struct guard_list list = {.arena = arena};
    guard_judge_load(&list, cell);
    judge_saturation(&list, cell);
    judge_starvation(&list, cell);
    judge_sharing(&list, cell);
    judge_cell_clock(&list, cell);
    judge_parameters(&list, cell);
    judge_in_flight(&list, cell);
    return guard_sort_out(&list, out);
}

/* --- answers --- */

static bool differs(const struct guard_answer *answer, uint32_t i)
{
    return answer->checksums[i] != answer->checksums[0] || answer->rows[i] != answer->rows[0];
}

unsigned guard_judge_answer(struct arena *arena, const struct guard_answer *answer,
                            struct guard_finding out[GUARD_FINDINGS_MAX])
{
    struct guard_list list = {.arena = arena};
    struct text text;
    bool any = false;
    for (uint32_t i = 1; i < answer->count; i++)
        any = any || differs(answer, i);
    if (!any)
        return 0;
    text_init(&text, arena, 2000);
    text_addf(&text, "%s: the targets answer differently: ", answer->scenario);
    for (uint32_t i = 0; i < answer->count; i++)
        text_addf(&text, "%s%s %llu rows (checksum %016llx)", i ? ", " : "", answer->labels[i],
                  (unsigned long long)answer->rows[i],
                  (unsigned long long)answer->checksums[i]);
    text_add(&text, "; they cannot all be right");
    guard_add(&list, GUARD_INVALID, "D46", "answers-differ", text.at);
    return guard_sort_out(&list, out);
}
