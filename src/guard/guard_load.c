#include "guard/guard_internal.h"

/* D03 */
static void judge_stalls(struct guard_list *list, const struct guard_cell *cell)
{
    struct arena *arena = list->arena;
    if (cell->open_loop || cell->null_target || cell->omitted == 0 ||
        (double)cell->stall_ns < GUARD_STALLS * (double)cell->wall_ns)
        return;
    guard_add(list, GUARD_WARNING, "D03", "stalls-hidden",
              arena_printf(arena,
                           "closed loop: stalls of %s in all hid that %llu requests were never "
                           "sent; p99 with them would be %s (it says %s); use --rate",
                           guard_duration(arena, (double)cell->stall_ns),
                           (unsigned long long)cell->omitted,
                           guard_duration(arena, (double)cell->corrected_p99_ns),
                           guard_duration(arena, (double)cell->service_p99_ns)));
    guard_figure(list, (double)cell->stall_ns / (double)cell->wall_ns);
}

/* "1000", "0.5", "12346" */
static const char *rate_text(struct arena *arena, double per_s)
{
    return arena_printf(arena, per_s >= 100 ? "%.0f" : "%.3g", per_s);
}

/* D04, D05: true when the rate was reached. */
static bool judge_rate(struct guard_list *list, const struct guard_cell *cell)
{
    struct arena *arena = list->arena;
    double reached = cell->offered_per_s > 0 ? cell->achieved_per_s / cell->offered_per_s : 1;
    if (reached >= GUARD_REACHED && cell->unfinished == 0)
        return true;
    const char *left = "";
    if (cell->unfinished > 0)
        left = arena_printf(arena, ", %llu were not done at the end",
                            (unsigned long long)cell->unfinished);
    guard_add(list, cell->null_target ? GUARD_INFO : GUARD_WARNING, "D04", "rate-not-reached",
              arena_printf(arena,
                           "of %s executions/s that were due %s/s were done (%.1f %%)%s: "
                           "response times tell how long the queue was, not how fast the "
                           "server is; %s",
                           rate_text(arena, cell->offered_per_s),
                           rate_text(arena, cell->achieved_per_s), reached * 100, left,
                           reached < GUARD_REACHED ? "ask for a lower rate or use more clients"
                                                   : "find out what they waited for"));
    guard_figure(list, reached);
    return false;
}

/* Were all clients at work when something was due? On average most of them, or, after a stall,
 * all of them for as long as executions then were late. */
static bool clients_were_busy(const struct guard_cell *cell)
{
    double all_ns = (double)cell->wall_ns * cell->clients;
    double busy_ns = (double)cell->executions * cell->mean_service_ns;
    return busy_ns >= GUARD_CLIENTS_BUSY * all_ns || cell->service_max_ns >= cell->lag_p99_ns;
}

/* D04: late, although the rate was reached. */
static void judge_lateness(struct guard_list *list, const struct guard_cell *cell)
{
    struct arena *arena = list->arena;
    if (cell->lag_p99_ns <= GUARD_LATE_NS || cell->lag_p99_ns <= cell->service_p50_ns)
        return;
    bool queued = clients_were_busy(cell);
    const char *lag = guard_duration(arena, (double)cell->lag_p99_ns);
    bool info = queued || cell->null_target;
    guard_add(list, info ? GUARD_INFO : GUARD_WARNING, "D04", "late",
              arena_printf(arena,
                           queued ? "one execution in a hundred began %s late or more, as all "
                                    "clients were waiting for answers: response times contain "
                                    "that wait, service times do not"
                                  : "one execution in a hundred began %s late or more although "
                                    "clients were idle: the stand was late, and response times "
                                    "contain that; free a core for it (--pin) or use fewer "
                                    "clients",
                           lag));
    guard_figure(list, (double)cell->lag_p99_ns);
}

void guard_judge_load(struct guard_list *list, const struct guard_cell *cell)
{
    judge_stalls(list, cell);
    if (cell->open_loop && judge_rate(list, cell))
        judge_lateness(list, cell);
}
