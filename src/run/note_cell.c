/* A cell's results into the record. */
#include "base/text.h"
#include "hist/quantile.h"
#include "os/proc.h"
#include "run/run_internal.h"

#include <unistd.h>

static struct rec_metric *metric(struct arena *arena, struct rec_cell *cell, const char *name,
                                 const char *unit, enum rec_better better)
{
    struct rec_metric *metric = rec_cell_add_metric(arena, cell);
    metric->name = name;
    metric->unit = unit;
    metric->kind = REC_TIMED;
    metric->better = better;
    return metric;
}

static void metric_whole(struct arena *arena, struct rec_cell *cell, const char *name,
                         const char *unit, uint64_t value)
{
    metric(arena, cell, name, unit, REC_LOWER)->value = (int64_t)value;
}

static void metric_real(struct arena *arena, struct rec_cell *cell, const char *name,
                        const char *unit, enum rec_better better, double value)
{
    struct rec_metric *added = metric(arena, cell, name, unit, better);
    added->real_value = true;
    added->value_real = value;
}

/* ---- distributions */

static struct rec_number quantile(const struct series *series, uint64_t n, uint32_t q_ppm)
{
    struct rec_number number = {0};
    if (n == 0 || !quantile_known(n, q_ppm))
        return number;
    number.known = true;
    number.value = series->hist ? hist_quantile(series->hist, q_ppm)
                                : quantile_of(series->raw, series->count, q_ppm);
    return number;
}

static void describe_raw(struct rec_metric *metric, const struct series *series)
{
    double sum = 0;
    metric->min = UINT64_MAX;
    for (uint64_t i = 0; i < series->count; i++) {
        uint64_t value = series->raw[i];
        sum += (double)value;
        metric->min = value < metric->min ? value : metric->min;
        metric->max = value > metric->max ? value : metric->max;
    }
    metric->mean = sum / (double)series->count;
}

/* A copy: quantiles sort their values, the record keeps them in the order of measuring. */
static struct series sorted_copy(struct arena *arena, const struct series *series)
{
    struct series copy = *series;
    if (series->count > 0) {
        copy.raw = arena_array(arena, uint64_t, series->count);
        memcpy(copy.raw, series->raw, series->count * sizeof *copy.raw);
    }
    return copy;
}

static void metric_series(struct arena *arena, struct rec_cell *cell, const char *name,
                          const struct series *series)
{
    struct series copy = sorted_copy(arena, series);
    uint64_t n = series->hist ? series->hist->count : series->count;
    if (n == 0)
        return;
    struct rec_metric *added = metric(arena, cell, name, "ns", REC_LOWER);
    added->distribution = true;
    added->n = n;
    if (series->hist) {
        added->min = series->hist->min;
        added->max = series->hist->max;
        added->mean = hist_mean(series->hist);
    } else {
        describe_raw(added, series);
    }
    added->p50 = quantile(&copy, n, QUANTILE_P50);
    added->p95 = quantile(&copy, n, QUANTILE_P95);
    added->p99 = quantile(&copy, n, QUANTILE_P99);
    added->p999 = quantile(&copy, n, QUANTILE_P999);
}

static void note_run_values(struct arena *arena, struct rec_cell *cell,
                            const struct series *series)
{
    struct rec_run *run = rec_cell_add_run(arena, cell);
    if (series->hist) {
        struct hist *copy = hist_create(arena);
        hist_merge(copy, series->hist);
        run->histogram = copy;
        return;
    }
    uint64_t *samples = arena_array(arena, uint64_t, series->count + 1);
    if (series->count > 0)
        memcpy(samples, series->raw, series->count * sizeof *samples);
    run->samples = samples;
    run->sample_count = series->count;
}

/* ---- metrics */

static void note_rates(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    double wall_s = (double)cell->wall_ns / 1e9;
    double mean_rows =
        cell->executions ? (double)cell->total.rows / (double)cell->executions : 0;
    if (cell->wall_ns == 0 || cell->executions == 0)
        return;
    metric_real(arena, out, "throughput_per_s", "1/s", REC_HIGHER,
                (double)cell->executions / wall_s);
    if (cell->scenario->rows_loaded && cell->total.affected > 0) {
        struct rec_metric *commit = metric(arena, out, "rows_per_commit", "1", REC_NEITHER);
        commit->kind = REC_INFO;
        commit->value = (int64_t)cell->scenario->rows_per_commit;
        metric_real(arena, out, "rows_per_s", "1/s", REC_HIGHER,
                    (double)cell->total.affected / wall_s);
    }
    if (mean_rows >= 1.5 && cell->clients == 1)
        metric_real(arena, out, "ns_per_row", "ns", REC_LOWER,
                    (double)cell->wall_ns / (double)cell->total.rows);
    metric_whole(arena, out, "wall_ns", "ns", cell->wall_ns);
}

/* Of one execution: exact where all agreed, else their mean. A load's is of all of it. */
static void note_count(struct arena *arena, struct rec_cell *out, const char *name,
                       uint64_t total, uint64_t executions)
{
    struct rec_metric *added = metric(arena, out, name, "1", REC_NEITHER);
    added->from = "driver";
    if (total % executions == 0) {
        added->kind = REC_EXACT;
        added->value = (int64_t)(total / executions);
        added->decided_by = "server";
        return;
    }
    added->kind = REC_INFO;
    added->real_value = true;
    added->value_real = (double)total / (double)executions;
}

static void note_usage(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    struct proc_facts self;
    double wall_ns = (double)cell->wall_ns;
    struct rec_metric *added;
    added = metric(arena, out, "client_cpu_ns", "ns", REC_LOWER);
    added->value = (int64_t)cell->client_cpu_ns;
    added->from = "thread clocks";
    if (cell->wall_ns >= CELL_SHARE_SPAN_NS)
        metric_real(arena, out, "client_cores", "1", REC_LOWER,
                    (double)cell->client_cpu_ns / wall_ns);
    added = metric(arena, out, "server_cpu_ns", "ns", REC_LOWER);
    added->from = "process clocks";
    if (cell->server_cpu_known) {
        uint64_t used = cell_server_cpu_ns(cell);
        added->value = (int64_t)used;
        uint64_t span_ns = cell->usage_ended_ns - cell->usage_begun_ns;
        if (cell->wall_ns >= CELL_SHARE_SPAN_NS)
            metric_real(arena, out, "server_cores", "1", REC_LOWER,
                        (double)used / (double)span_ns);
        metric_whole(arena, out, "server_resident_bytes", "bytes",
                     cell->usage_after.resident_bytes);
    } else {
        added->unavailable = cell->session->target.home == DRV_HOME_EMBEDDED
                                 ? "embedded: the database runs in the client's threads"
                                 : "the server was not started by this run";
    }
    proc_read(getpid(), &self);
    metric_whole(arena, out, "client_peak_resident_bytes", "bytes", self.peak_bytes);
}

static void note_connects(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    struct series connects = {.raw = cell->connect_ns, .count = cell->connect_count};
    if (cell->connect_count > 0)
        metric_series(arena, out, "connect_ns", &connects);
}

static void note_metrics(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    metric_series(arena, out, "service_ns", &cell->total.service);
    note_rates(arena, out, cell);
    if (cell->executions > 0) {
        uint64_t each = cell->scenario->rows_loaded ? 1 : cell->executions;
        note_count(arena, out, "rows", cell->total.rows, cell->executions);
        if (cell->total.affected > 0)
            note_count(arena, out, "affected", cell->total.affected, each);
    }
    note_connects(arena, out, cell);
    note_usage(arena, out, cell);
}

/* ---- checks */

static void add_check(struct arena *arena, struct rec_cell *out, const struct rec_check *check)
{
    struct rec_check *added = rec_cell_add_check(arena, out);
    *added = *check;
    added->expected = value_copy(arena, &check->expected);
    added->found = value_copy(arena, &check->found);
}

static const char *check_label(struct arena *arena, const struct cell *cell, uint32_t index)
{
    static const char *const names[] = {"rows", "affected", "value", "error"};
    const struct program *program = &cell->program;
    const char *name = names[program->checks[index].kind];
    if (program->stmt_count < 2)
        return name;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct prog_op *op = &program->ops[i];
        if (op->kind == PROG_EXECUTE && index >= op->check_first &&
            index < op->check_first + op->check_count)
            return arena_printf(arena, "%s: %s", program->stmts[op->stmt].name, name);
    }
    return name;
}

static void note_growth(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    struct rec_check check = {
        .name = arena_printf(arena, "growth of %s", cell->scenario->growth_table),
        .expected = value_int(cell->scenario->growth),
        .found = value_int(cell->growth.after - cell->growth.before),
        .times = 1,
    };
    check.ok = check.expected.as.i == check.found.as.i;
    add_check(arena, out, &check);
}

static void note_after(struct arena *arena, struct rec_cell *out, const struct cell *cell,
                       uint32_t index)
{
    const struct after_result *after = &cell->after[index];
    struct rec_check check = {
        .name = arena_printf(arena, "after: %s", cell->scenario->after[index].name),
        .expected = after->expected,
        .found = after->found,
        .ok = after->ok,
        .times = 1,
    };
    if (after->error)
        check.found = value_text(after->error, (uint32_t)strlen(after->error));
    add_check(arena, out, &check);
}

static struct value hex_value(struct arena *arena, uint64_t number)
{
    const char *text = arena_printf(arena, "%016llx", (unsigned long long)number);
    return value_text(text, 16);
}

/* Every execution that was asked for has been answered. */
static void note_executions(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    struct rec_check check = {.name = "executions",
                              .expected = value_int((int64_t)cell->asked),
                              .found = value_int((int64_t)cell->executions),
                              .ok = cell->asked == cell->executions,
                              .times = 1};
    add_check(arena, out, &check);
}

/* The whole answer against the generators. */
static void note_answer(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    struct rec_check check = {.name = "answer",
                              .expected = hex_value(arena, cell->scenario->answer),
                              .found = hex_value(arena, cell->checksum),
                              .ok = cell->scenario->answer == cell->checksum,
                              .times = 1};
    add_check(arena, out, &check);
}

static void note_checks(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    if (cell->has_checksum && cell->scenario->has_answer)
        note_answer(arena, out, cell);
    for (uint32_t i = 0; cell->total.checks && i < cell->program.check_count; i++) {
        const struct check_tally *tally = &cell->total.checks[i];
        struct rec_check check = {.expected = tally->expected,
                                  .found = tally->found,
                                  .ok = !tally->failed,
                                  .times = tally->times};
        check.name = check_label(arena, cell, i);
        if (tally->seen)
            add_check(arena, out, &check);
    }
    if (cell->growth.known)
        note_growth(arena, out, cell);
    for (uint32_t i = 0; i < cell->after_done; i++)
        note_after(arena, out, cell, i);
    if (cell->asked && !cell->reason && !cell->failure.failed)
        note_executions(arena, out, cell);
}

/* ---- what went wrong */

/* A check for an error, "error" or "STATEMENT: error", that found none. */
static bool wants_error(const struct rec_check *check)
{
    const char *colon = strrchr(check->name, ':');
    return check->found.type == VALUE_NULL &&
           (strcmp(check->name, "error") == 0 || (colon && strcmp(colon, ": error") == 0));
}

static const char *failure_reason(struct arena *arena, const struct rec_cell *out,
                                  const struct cell *cell)
{
    const struct client_failure *failure = &cell->failure;
    char expected[96], found[96];
    if (failure->failed && strcmp(failure->what, "statement") == 0) {
        static const char *const verdicts[] = {"ok", "serialization failure or deadlock",
                                               "error", "deadline", "connection lost"};
        return arena_printf(arena, "%s%s%s (%s%s%s): %s", *failure->stmt ? "statement " : "",
                            failure->stmt, *failure->stmt ? "" : "connection",
                            verdicts[failure->verdict], *failure->sqlstate ? " " : "",
                            failure->sqlstate, failure->message);
    }
    for (size_t i = 0; i < out->check_count; i++) {
        const struct rec_check *check = &out->checks[i];
        if (check->ok)
            continue;
        value_print(expected, sizeof expected, &check->expected);
        value_print(found, sizeof found, &check->found);
        if (wants_error(check))
            return arena_printf(arena, "%.*sexpected error %s, but the statement succeeded",
                                (int)(strlen(check->name) - strlen("error")), check->name,
                                expected);
        return arena_printf(arena, "%s: expected %s, found %s", check->name, expected, found);
    }
    return "failed";
}

static void note_failure(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    const struct client_failure *failure = &cell->failure;
    if (!failure->failed || strcmp(failure->what, "statement") != 0)
        return;
    struct rec_failure *added = rec_cell_add_failure(arena, out);
    added->sqlstate = arena_text(arena, failure->sqlstate);
    added->code = failure->code;
    added->text = arena_text(arena, failure->message);
    added->count = 1;
}

/* ---- the cell */

static const char *mode_text(struct arena *arena, const struct cell *cell)
{
    const struct suite_scenario *scenario = cell->scenario;
    const char *clients = cell->clients == 1 ? "client" : "clients";
    if (scenario->rows_loaded)
        return arena_printf(arena, "load, %llu rows a statement, %llu rows a commit",
                            (unsigned long long)scenario->rows_per_statement,
                            (unsigned long long)scenario->rows_per_commit);
    if (scenario->duration_ns)
        return arena_printf(arena, "%g s, %u %s on %u threads, closed loop",
                            (double)scenario->duration_ns / 1e9, cell->clients, clients,
                            cell->threads);
    if (scenario->samples == 1 && scenario->warmup == 0)
        return "once";
    return arena_printf(arena, "%u + %llu samples, %u %s on %u threads, closed loop",
                        scenario->warmup, (unsigned long long)scenario->samples, cell->clients,
                        clients, cell->threads);
}

static const char *timing_text(const struct cell *cell)
{
    static const char *const texts[] = {
        [PROG_DRAIN] = "from the first submission until the last row has come",
        [PROG_WALK] = "from the first submission until the last row is walked",
        [PROG_DECODE] = "from the first submission until the last row is decoded",
    };
    enum prog_depth depth = cell->program.op_count ? cell->program.ops[0].depth : PROG_DECODE;
    return texts[depth];
}

static struct rec_cell *cell_begin(struct runner *runner, const struct cell *cell,
                                   const char *phase)
{
    struct arena *arena = runner->arena;
    struct rec_cell *out = record_add_cell(runner->record);
    out->name = cell->scenario->name;
    out->help = cell->scenario->help;
    out->target = cell->session->target.label;
    out->client = cell->session->target.class->name;
    out->phase = phase;
    if (cell->scenario->clients_named)
        rec_pairs_add(arena, &out->params, "clients", value_int(cell->clients));
    out->mode = mode_text(arena, cell);
    out->timing =
        phase ? "from the phase's submission until its answer is complete" : timing_text(cell);
    return out;
}

/* A phase is as good as its scenario. */
static void note_phases(struct runner *runner, const struct cell *cell, const char *verdict,
                        const char *reason)
{
    for (uint16_t i = 0; cell->total.phases && i < cell->program.phase_count; i++) {
        const struct series *series = &cell->total.phases[i];
        if (series->count == 0 && (!series->hist || series->hist->count == 0))
            continue;
        struct rec_cell *out = cell_begin(runner, cell, cell->program.phases[i]);
        out->verdict = verdict;
        out->reason = reason;
        metric_series(runner->arena, out, "service_ns", series);
        note_run_values(runner->arena, out, series);
    }
}

void note_cell(struct runner *runner, const struct cell *cell)
{
    struct arena *arena = runner->arena;
    struct rec_cell *out = cell_begin(runner, cell, NULL);
    bool has_figures = !cell->verdict || strcmp(cell->verdict, "interrupted") == 0;
    note_checks(arena, out, cell);
    note_failure(arena, out, cell);
    out->verdict = cell->verdict ? cell->verdict : "valid";
    out->reason = cell->reason;
    if (cell->verdict && !cell->reason)
        out->reason = failure_reason(arena, out, cell);
    if (has_figures && cell->total.operations > 0) {
        note_metrics(arena, out, cell);
        note_run_values(arena, out, &cell->total.service);
    }
    note_guards(runner, cell, out);
    if (has_figures)
        note_phases(runner, cell, out->verdict, out->reason);
}
