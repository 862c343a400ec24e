/* Facts for the guards, and their findings into the record. */
#include "hist/quantile.h"
#include "run/note_internal.h"

#include <string.h>

_Static_assert((int)GUARD_TIER_FSYNC == (int)DRV_TIER_FSYNC,
               "guards and drivers share the tiers");

static void take(struct rec_guard *out, const struct guard_finding *finding)
{
    out->id = finding->id;
    out->code = finding->code;
    out->level = guard_level_name(finding->level);
    out->text = finding->text;
    out->has_figure = finding->has_figure;
    out->figure = finding->figure;
}

static uint64_t median(struct arena *arena, const struct series *series)
{
    if (series->hist)
        return series->hist->count ? hist_quantile(series->hist, QUANTILE_P50) : 0;
    if (series->count == 0)
        return 0;
    uint64_t *copy = arena_array(arena, uint64_t, series->count);
    memcpy(copy, series->raw, series->count * sizeof *copy);
    return quantile_of(copy, series->count, QUANTILE_P50);
}

/* 1: every execution sends the same parameters; 0: they differ, or there are none. */
static uint32_t distinct_binds(const struct program *program)
{
    for (uint32_t i = 0; i < program->op_count; i++) {
        if (program->ops[i].bind_count && !program->ops[i].repeatable_bind)
            return 0;
    }
    return 1;
}

static bool has_binds(const struct program *program)
{
    for (uint32_t i = 0; i < program->op_count; i++) {
        if (program->ops[i].bind_count)
            return true;
    }
    return false;
}

static struct guard_cell cell_facts(const struct runner *runner, const struct cell *cell,
                                    const struct rec_cell *out)
{
    const struct session *session = cell->session;
    const struct rec_metric *service = rec_cell_metric(out, "service_ns");
    bool long_enough = cell->wall_ns >= CELL_SHARE_SPAN_NS;
    return (struct guard_cell){
        .scenario = cell->scenario->name,
        .target = session->target.label,
        .embedded = session->target.home == DRV_HOME_EMBEDDED,
        .null_target = session->is_null,
        .clients = cell->clients,
        .threads = cell->threads,
        .wall_ns = cell->wall_ns,
        .operations = cell->total.operations,
        .thread_cpu_max_ns = long_enough ? cell->busiest_cpu_ns : 0,
        .client_cpu_ns = cell->client_cpu_ns,
        .server_cpu_ns = cell_server_cpu_ns(cell),
        .server_cpu_known = long_enough && cell->server_cpu_known,
        .run_wait_ns = long_enough ? cell->run_wait_ns : 0,
        .service_p50_ns = median(runner->arena, &cell->total.service),
        .mean_service_ns = service ? service->mean : 0,
        .executions = cell->executions,
        .clock_cost_ns = runner->clock.cost_ns,
        .distinct_binds = distinct_binds(&cell->program),
        .has_binds = has_binds(&cell->program),
        .is_write = cell->total.affected > 0,
        .query_cache = session->facts.query_cache,
        .latency_claimed = true,
        .cpus = runner->cpus,
    };
}

/* What only the one or the other kind of loop has. */
static void load_facts(const struct cell *cell, const struct rec_cell *out,
                       struct guard_cell *facts)
{
    struct stalls stalls;
    const struct rec_metric *lag = rec_cell_metric(out, "lag_ns");
    const struct rec_metric *service = rec_cell_metric(out, "service_ns");
    facts->service_max_ns = service ? service->max : 0;
    facts->open_loop = cell_is_open(cell);
    if (facts->open_loop) {
        facts->offered_per_s = cell_offered_per_s(cell);
        facts->achieved_per_s = cell_achieved_per_s(cell);
        facts->unfinished = cell->total.unfinished;
        facts->lag_p99_ns = lag && lag->p99.known ? lag->p99.value : 0;
        return;
    }
    if (cell->scenario->rows_loaded || cell->session->is_null)
        return;
    stalls_look(&cell->total.service, cell->clients, &stalls);
    facts->service_p99_ns = stalls.p99_ns;
    facts->stall_ns = stalls.stall_ns;
    facts->omitted = stalls.omitted;
    facts->corrected_p99_ns = stalls.corrected_p99_ns;
}

void note_guards(struct runner *runner, const struct cell *cell, struct rec_cell *out)
{
    struct guard_finding findings[GUARD_FINDINGS_MAX];
    if (strcmp(out->verdict, "valid") != 0)
        return;
    if (cell->around_fault) {
        struct rec_guard *guard = rec_cell_add_guard(runner->arena, out);
        guard->id = "around-failed";
        guard->level = guard_level_name(GUARD_WARNING);
        guard->text =
            arena_printf(runner->arena, "the command beside it: %s", cell->around_fault);
        out->verdict = "reserve";
        out->reason = guard->text;
    }
    struct guard_cell facts = cell_facts(runner, cell, out);
    load_facts(cell, out, &facts);
    unsigned count = guard_judge_cell(runner->arena, &facts, findings);
    for (unsigned i = 0; i < count; i++) {
        take(rec_cell_add_guard(runner->arena, out), &findings[i]);
        if (findings[i].level == GUARD_INVALID)
            out->verdict = "invalid";
        else if (findings[i].level == GUARD_WARNING && strcmp(out->verdict, "valid") == 0)
            out->verdict = "reserve";
        if (findings[i].level != GUARD_INFO && !out->reason)
            out->reason = findings[i].text;
    }
}

/* One scenario's answers on all targets. */
void note_answers(struct runner *runner, const struct cell *cells, uint32_t count)
{
    struct guard_finding findings[GUARD_FINDINGS_MAX];
    const char **labels = arena_array(runner->arena, const char *, count);
    uint64_t *checksums = arena_array(runner->arena, uint64_t, count);
    uint64_t *rows = arena_array(runner->arena, uint64_t, count);
    struct guard_answer answer = {.scenario = cells[0].scenario->name,
                                  .labels = labels,
                                  .checksums = checksums,
                                  .rows = rows};
    for (uint32_t i = 0; i < count; i++) {
        if (!cells[i].has_checksum)
            continue;
        labels[answer.count] = cells[i].session->target.label;
        checksums[answer.count] = cells[i].checksum;
        rows[answer.count++] = cells[i].checksum_rows;
    }
    if (answer.count < 2)
        return;
    unsigned found = guard_judge_answer(runner->arena, &answer, findings);
    for (unsigned k = 0; k < found; k++) {
        take(record_add_guard(runner->record), &findings[k]);
        for (size_t i = 0; i < runner->record->cell_count; i++) {
            struct rec_cell *cell = &runner->record->cells[i];
            if (findings[k].level != GUARD_INVALID || strcmp(cell->name, answer.scenario) != 0)
                continue;
            cell->verdict = "failed"; /* somebody is wrong, and nobody knows who */
            cell->reason = findings[k].text;
            cell->metric_count = 0;
        }
    }
}

static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

static bool is_debug(void)
{
#ifdef __OPTIMIZE__
    return false;
#else
    return true;
#endif
}

static const struct guard_target *target_facts(struct runner *runner)
{
    struct guard_target *targets =
        arena_array(runner->arena, struct guard_target, runner->session_count);
    for (uint32_t i = 0; i < runner->session_count; i++) {
        const struct session *session = &runner->sessions[i];
        targets[i] = (struct guard_target){
            .label = session->target.label,
            .durable_claimed = !session->is_null,
            .tier = (int)session->facts.tier,
            .tier_name = drv_tier_name(session->facts.tier),
            .tier_why = session->facts.tier_why,
            .debug_build = session->facts.debug_build,
            .debug_why = session->facts.debug_why,
        };
    }
    return targets;
}

static void limits_of_targets(const struct runner *runner, struct guard_limits *limits)
{
    for (uint32_t i = 0; i < runner->session_count; i++) {
        const struct session *session = &runner->sessions[i];
        bool managed = session->target.home == DRV_HOME_MANAGED;
        limits->loopback |= managed;
        limits->shared_cores |= managed;
        limits->embedded |= session->target.home == DRV_HOME_EMBEDDED;
        limits->managed_defaults |= managed && session->target.setting_count == 0;
        limits->superuser |= session->facts.superuser;
    }
}

/* Asked again and again by clients that waited for each answer: no load, and not done once. */
static bool is_closed_loop(const struct rec_cell *cell)
{
    const struct rec_metric *service = rec_cell_metric(cell, "service_ns");
    return service && service->n > 1 && !rec_cell_metric(cell, "offered_per_s") &&
           !rec_cell_metric(cell, "rows_per_s");
}

static void limits_of_cells(const struct record *record, struct guard_limits *limits)
{
    for (size_t i = 0; i < record->cell_count; i++) {
        const struct rec_cell *cell = &record->cells[i];
        const struct rec_metric *service = rec_cell_metric(cell, "service_ns");
        const struct rec_metric *wall = rec_cell_metric(cell, "wall_ns");
        const struct value *clients = rec_pairs_find(&cell->params, "clients");
        limits->single_client &= !clients || clients->as.i <= 1;
        limits->closed_loop |= is_closed_loop(cell);
        if (service && service->n > limits->most_samples)
            limits->most_samples = service->n;
        if (wall && (double)wall->value / 1e9 > limits->longest_s)
            limits->longest_s = (double)wall->value / 1e9;
    }
}

static void note_limits(struct runner *runner)
{
    const char *texts[GUARD_LIMITS_MAX];
    const struct record *record = runner->record;
    const struct suite *suite = runner->options->suite;
    struct guard_limits limits = {.hot_cache = true,
                                  .quick = record->quick,
                                  .single_client = true,
                                  .one_run = true};
    limits_of_targets(runner, &limits);
    limits_of_cells(record, &limits);
    for (uint32_t i = 0; i < suite->table_count; i++) {
        if (suite->tables[i].rows > limits.data_rows)
            limits.data_rows = suite->tables[i].rows;
    }
    for (size_t i = 0; i < record->floor_count; i++) {
        if (strcmp(record->floors[i].name, "fsync_append") == 0)
            limits.fsync_p50_ns = record->floors[i].p50.value; /* 0 when not known */
    }
    limits.fsync_fast = limits.fsync_p50_ns > 0 && limits.fsync_p50_ns < 200 * NS_PER_US;
    const struct value *vm = rec_pairs_find(&record->host, "virtualisation");
    limits.virtual_machine = vm && vm->type == VALUE_TEXT;
    unsigned count = guard_limits_say(runner->arena, &limits, texts);
    for (unsigned i = 0; i < count; i++)
        record_add_limit(runner->record, texts[i]);
}

static bool reads_only(const struct record *record)
{
    for (size_t i = 0; i < record->cell_count; i++) {
        if (rec_cell_metric(&record->cells[i], "affected"))
            return false;
    }
    return true;
}

void note_run(struct runner *runner, const struct host_counters *before,
              const struct host_counters *after)
{
    struct guard_finding findings[GUARD_FINDINGS_MAX];
    uint64_t duration_ns = after->monotonic_ns - before->monotonic_ns;
    uint64_t all = after->all_ticks - before->all_ticks;
    const struct value *source = rec_pairs_find(&runner->record->host, "clock_source");
    struct guard_run facts = {
        .targets = target_facts(runner),
        .target_count = runner->session_count,
        .stand_debug = is_debug(),
        .stand_sanitizer = is_sanitized(),
        .reads_only = reads_only(runner->record),
        .clock_cost_ns = runner->clock.cost_ns,
        .clock_step_ns = runner->clock.step_ns,
        .clock_source = source && source->type == VALUE_TEXT ? source->as.text : NULL,
        .clock_drift_ns = (int64_t)(after->wall_ns - before->wall_ns - duration_ns),
        .duration_ns = duration_ns,
        .steal_share =
            all ? (double)(after->steal_ticks - before->steal_ticks) / (double)all : 0,
        .throttled_count = after->throttled_count - before->throttled_count,
        .cpu_pressure_share = duration_ns
                                  ? (double)(after->cpu_pressure_us - before->cpu_pressure_us) *
                                        1e3 / (double)duration_ns
                                  : 0,
        .load_before = before->load1,
        .cpus = runner->cpus,
    };
    unsigned count = guard_judge_run(runner->arena, &facts, findings);
    for (unsigned i = 0; i < count; i++)
        take(record_add_guard(runner->record), &findings[i]);
    note_limits(runner);
}
