/* A cell's figures into the record. */
#include "hist/quantile.h"
#include "os/proc.h"
#include "run/note_internal.h"

#include <string.h>
#include <unistd.h>

static struct rec_metric *metric(struct arena *arena, struct rec_cell *out, const char *name,
                                 const char *unit, enum rec_better better)
{
    struct rec_metric *metric = rec_cell_add_metric(arena, out);
    metric->name = name;
    metric->unit = unit;
    metric->kind = REC_TIMED;
    metric->better = better;
    return metric;
}

static void metric_whole(struct arena *arena, struct rec_cell *out, const char *name,
                         const char *unit, uint64_t value)
{
    metric(arena, out, name, unit, REC_LOWER)->value = (int64_t)value;
}

static void metric_real(struct arena *arena, struct rec_cell *out, const char *name,
                        const char *unit, enum rec_better better, double value)
{
    struct rec_metric *added = metric(arena, out, name, unit, better);
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

struct rec_number note_quantile(struct arena *arena, const struct series *series,
                                uint32_t q_ppm)
{
    struct series copy = sorted_copy(arena, series);
    return quantile(&copy, series_count(series), q_ppm);
}

void note_series(struct arena *arena, struct rec_cell *out, const char *name,
                 const struct series *series)
{
    struct series copy = sorted_copy(arena, series);
    uint64_t n = series_count(series);
    if (n == 0)
        return;
    struct rec_metric *added = metric(arena, out, name, "ns", REC_LOWER);
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

void note_values(struct arena *arena, struct rec_cell *out, const char *name,
                 const struct series *series)
{
    struct rec_run *run = rec_cell_add_run(arena, out);
    run->metric = name;
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

/* ---- open loop */

static uint64_t largest(const struct series *series)
{
    uint64_t most = series->hist ? series->hist->max : 0;
    for (uint64_t i = 0; i < series->count; i++)
        most = series->raw[i] > most ? series->raw[i] : most;
    return most;
}

double cell_offered_per_s(const struct cell *cell)
{
    return cell->window_ns ? (double)cell->due / ((double)cell->window_ns / 1e9) : 0;
}

double cell_achieved_per_s(const struct cell *cell)
{
    uint64_t lag_ns = largest(&cell->total.lag), last_ns = largest(&cell->total.service);
    if (cell->total.unfinished > 0)
        last_ns = 0; /* the last ones had not even begun */
    uint64_t behind_ns = cell->drain_ns > last_ns ? cell->drain_ns - last_ns : 0;
    behind_ns = lag_ns < behind_ns ? lag_ns : behind_ns;
    double span_s = (double)(cell->window_ns + behind_ns) / 1e9;
    return cell->window_ns ? (double)cell->executions / span_s : 0;
}

/* The rates, then what a user of the service would have seen. */
static void note_open(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    const struct recorder *total = &cell->total;
    if (cell->window_ns > 0) {
        metric_real(arena, out, "offered_per_s", "1/s", REC_NEITHER, cell_offered_per_s(cell));
        metric_real(arena, out, "achieved_per_s", "1/s", REC_HIGHER, cell_achieved_per_s(cell));
    }
    size_t before = out->metric_count;
    note_series(arena, out, "response_ns", &total->response);
    if (out->metric_count > before && total->unfinished > 0)
        out->metrics[before].bounded_from =
            (struct rec_number){true, total->unfinished_least_ns};
    note_series(arena, out, "service_ns", &total->service);
    note_series(arena, out, "lag_ns", &total->lag);
    metric_whole(arena, out, "unfinished", "1", total->unfinished);
    struct rec_metric *spin = metric(arena, out, "spin_ns", "ns", REC_NEITHER);
    spin->kind = REC_INFO;
    spin->value = (int64_t)cell->spin_ns;
    spin->from = "thread clocks";
}

/* ---- metrics */

static void note_rates(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    double wall_s = (double)cell->wall_ns / 1e9;
    double mean_rows =
        cell->executions ? (double)cell->total.rows / (double)cell->executions : 0;
    if (cell->wall_ns == 0 || cell->executions == 0)
        return;
    if (cell_is_open(cell)) {
        metric_whole(arena, out, "wall_ns", "ns", cell->wall_ns);
        return;
    }
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
        metric_whole(arena, out, "server_resident_bytes", "bytes", cell->server_bytes);
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
        note_series(arena, out, "connect_ns", &connects);
}

void note_metrics(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    if (cell_is_open(cell))
        note_open(arena, out, cell);
    else
        note_series(arena, out, "service_ns", &cell->total.service);
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
