#include "base/text.h"
#include "guard/guard_internal.h"

/* D16 */
static void judge_tier(struct guard_list *list, const struct guard_target *target)
{
    const char *why = target->tier_why ? target->tier_why : "no reason known";
    if (target->tier == 0)
        guard_add(list, GUARD_INFO, "D16", "durability-unknown",
                  arena_printf(list->arena,
                               "%s does not tell how durable a commit is (%s): read its write "
                               "figures with that in mind",
                               target->label, why));
    else if (target->tier < GUARD_TIER_FSYNC)
        guard_add(list, GUARD_WARNING, "D16", "not-durable",
                  arena_printf(list->arena,
                               "%s acknowledges commits that a power cut loses (%s: %s): its "
                               "write figures hold only for that setting",
                               target->label, target->tier_name, why));
}

static bool tiers_differ(const struct guard_run *run)
{
    int first = 0;
    for (uint32_t i = 0; i < run->target_count; i++) {
        const struct guard_target *target = &run->targets[i];
        if (!target->durable_claimed || target->tier == 0)
            continue;
        if (first != 0 && target->tier != first)
            return true;
        first = target->tier;
    }
    return false;
}

/* D17 */
static void judge_equality(struct guard_list *list, const struct guard_run *run)
{
    struct text text;
    const char *between = "";
    if (!tiers_differ(run))
        return;
    text_init(&text, list->arena, 1000);
    text_add(&text, "the targets differ in durability (");
    for (uint32_t i = 0; i < run->target_count; i++) {
        const struct guard_target *target = &run->targets[i];
        if (!target->durable_claimed)
            continue;
        text_addf(&text, "%s%s: %s", between, target->label, target->tier_name);
        between = ", ";
    }
    text_add(&text, "): do not compare their write figures");
    guard_add(list, run->reads_only ? GUARD_INFO : GUARD_WARNING, "D17", "unequal-durability",
              text.at);
}

/* D21 */
static void judge_builds(struct guard_list *list, const struct guard_run *run)
{
    for (uint32_t i = 0; i < run->target_count; i++) {
        const struct guard_target *target = &run->targets[i];
        if (target->debug_build)
            guard_add(list, GUARD_WARNING, "D21", "debug-build",
                      arena_printf(list->arena, "%s is a debug build (%s): measure a release",
                                   target->label,
                                   target->debug_why ? target->debug_why : "it says so"));
    }
    if (run->stand_sanitizer)
        guard_add(list, GUARD_WARNING, "D21", "stand-sanitizer",
                  "dbdyno itself was built with a sanitizer: client times are far too high");
    else if (run->stand_debug)
        guard_add(
            list, GUARD_WARNING, "D21", "stand-debug",
            "dbdyno itself is a debug build: client times are too high; build the release "
            "preset");
}

/* D35 */
static void judge_clock(struct guard_list *list, const struct guard_run *run)
{
    struct arena *arena = list->arena;
    const char *source = run->clock_source ? run->clock_source : "unknown source";
    if (run->clock_cost_ns > GUARD_CLOCK_NS) {
        guard_add(list, GUARD_WARNING, "D35", "clock-slow",
                  arena_printf(arena,
                               "reading the clock (%s) costs %s: short times contain it; "
                               "choose tsc or another fast source",
                               source, guard_duration(arena, (double)run->clock_cost_ns)));
        guard_figure(list, (double)run->clock_cost_ns);
    }
    if (run->clock_step_ns > GUARD_CLOCK_NS) {
        guard_add(list, GUARD_WARNING, "D35", "clock-coarse",
                  arena_printf(arena,
                               "the clock (%s) moves in steps of %s: times below some hundred "
                               "steps are rough",
                               source, guard_duration(arena, (double)run->clock_step_ns)));
        guard_figure(list, (double)run->clock_step_ns);
    }
}

/* D36: both clocks are slewed alike, so what lies between them are steps of the wall clock. */
static void judge_drift(struct guard_list *list, const struct guard_run *run)
{
    struct arena *arena = list->arena;
    double drift_ns = (double)run->clock_drift_ns;
    double size_ns = drift_ns < 0 ? -drift_ns : drift_ns;
    double duration_s = (double)run->duration_ns / 1e9;
    const char *way = drift_ns < 0 ? "back" : "forward";
    if (size_ns > GUARD_CLOCK_STEP_NS)
        guard_add(list, GUARD_INVALID, "D36", "clock-step",
                  arena_printf(arena,
                               "the wall clock jumped %s by %s during the run: what servers "
                               "timed or dated by it is wrong; settle the clock and repeat",
                               way, guard_duration(arena, size_ns)));
    else if (size_ns >= GUARD_DRIFT_LEAST_NS && size_ns > GUARD_DRIFT_PER_S_NS * duration_s)
        guard_add(list, GUARD_WARNING, "D36", "clock-drift",
                  arena_printf(arena,
                               "the wall clock moved %s by %s against the monotonic one during "
                               "the run: somebody sets it; look at the time service",
                               way, guard_duration(arena, size_ns)));
    else
        return;
    guard_figure(list, drift_ns);
}

/* D38 */
static void judge_noise(struct guard_list *list, const struct guard_run *run)
{
    struct arena *arena = list->arena;
    if (run->steal_share > GUARD_STEAL) {
        guard_add(list, GUARD_WARNING, "D38", "steal",
                  arena_printf(arena,
                               "the hypervisor took %.1f %% of the CPU time: neighbours "
                               "disturb; repeat at a quieter time or on own hardware",
                               run->steal_share * 100));
        guard_figure(list, run->steal_share);
    }
    if (run->throttled_count > 0) {
        guard_add(list, GUARD_WARNING, "D38", "throttled",
                  arena_printf(arena,
                               "the container's CPU limit stopped it %llu times: the limit is "
                               "part of the figures; raise it",
                               (unsigned long long)run->throttled_count));
        guard_figure(list, (double)run->throttled_count);
    }
    if (run->load_before > GUARD_LOAD * run->cpus && run->cpus > 0) {
        guard_add(list, GUARD_WARNING, "D38", "load-before",
                  arena_printf(arena,
                               "the load was %.2f on %u CPUs before the run began: something "
                               "else was working; wait for it or stop it",
                               run->load_before, run->cpus));
        guard_figure(list, run->load_before);
    }
    if (run->cpu_pressure_share > GUARD_PRESSURE) {
        guard_add(list, GUARD_INFO, "D38", "cpu-pressure",
                  arena_printf(arena,
                               "during %.0f %% of the time some task waited for a CPU (the "
                               "run's own load included)",
                               run->cpu_pressure_share * 100));
        guard_figure(list, run->cpu_pressure_share);
    }
}

unsigned guard_judge_run(struct arena *arena, const struct guard_run *run,
                         struct guard_finding out[GUARD_FINDINGS_MAX])
{
    struct guard_list list = {.arena = arena};
    judge_drift(&list, run);
    judge_builds(&list, run);
    judge_equality(&list, run);
    for (uint32_t i = 0; i < run->target_count && !run->reads_only; i++) {
        if (run->targets[i].durable_claimed)
            judge_tier(&list, &run->targets[i]);
    }
    judge_clock(&list, run);
    judge_noise(&list, run);
    return guard_sort_out(&list, out);
}
