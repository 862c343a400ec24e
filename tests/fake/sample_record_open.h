#ifndef TESTS_FAKE_SAMPLE_RECORD_OPEN_H
#define TESTS_FAKE_SAMPLE_RECORD_OPEN_H

/*
 * An invented record of a run in open loop, of a search for a rate, and of a library beside the
 * wire client: what sample_record.h has nothing of. `point_open` did not reach its rate on
 * postgres and left work unfinished.
 */

#include "sample_record.h"

static inline void sample_distribution(struct arena *arena, struct rec_cell *cell,
                                       const char *name, uint64_t n, uint64_t p50)
{
    sample_service(arena, cell, n, p50);
    struct rec_metric *metric = &cell->metrics[cell->metric_count - 1];
    metric->name = name;
    metric->p999 = (struct rec_number){n >= 10000, n >= 10000 ? p50 * 5 / 2 : 0};
}

static inline struct rec_cell *sample_open_cell(struct record *record, const char *name,
                                                unsigned target, int64_t rate, double achieved)
{
    static const char *const series[] = {"service_ns", "response_ns", "lag_ns"};
    struct arena *arena = record->arena;
    struct rec_cell *cell = sample_cell(record, name, target);
    cell->mode = "open loop, poisson, 1,000/s, seed 42, 8 clients on 1 thread, 10 s";
    cell->timing = "response: from when it was due until the last row is decoded";
    rec_pairs_add(arena, &cell->params, "clients", value_int(8));
    rec_pairs_add(arena, &cell->params, "rate_per_s", value_int(rate));
    rec_pairs_add(arena, &cell->params, "arrivals", value_text("poisson", 7));
    sample_single(arena, cell, "offered_per_s", "1/s", (double)rate);
    sample_single(arena, cell, "achieved_per_s", "1/s", achieved);
    for (unsigned i = 0; i < 3; i++) {
        struct rec_run *run = rec_cell_add_run(arena, cell);
        uint64_t *samples = arena_array(arena, uint64_t, 1);
        samples[0] = UINT64_C(1000) * (i + 1);
        run->metric = series[i];
        run->samples = samples;
        run->sample_count = 1;
    }
    return cell;
}

static inline void sample_add_open_cells(struct record *record)
{
    struct arena *arena = record->arena;
    struct rec_cell *cell = sample_open_cell(record, "point_open", 0, 1000, 999.875);
    sample_distribution(arena, cell, "response_ns", 10000, 9000);
    sample_distribution(arena, cell, "service_ns", 10000, 3120);
    sample_distribution(arena, cell, "lag_ns", 10000, 800);
    sample_count(arena, cell, "unfinished", 0);
    cell = sample_open_cell(record, "point_open", 1, 1000, 500.25);
    sample_distribution(arena, cell, "response_ns", 10000, UINT64_C(2500000000));
    struct rec_metric *response = &cell->metrics[cell->metric_count - 1];
    response->bounded_from = (struct rec_number){true, UINT64_C(5000000000)};
    sample_distribution(arena, cell, "service_ns", 7504, 16000000);
    sample_distribution(arena, cell, "lag_ns", 10000, UINT64_C(2480000000));
    sample_count(arena, cell, "unfinished", 2496);
    cell->verdict = "reserve";
    cell->reason = "of 1,000/s that were due 500/s were done";
    *rec_cell_add_guard(arena, cell) = (struct rec_guard){.id = "rate-not-reached",
                                                          .code = "D04",
                                                          .level = "warning",
                                                          .text = cell->reason,
                                                          .has_figure = true,
                                                          .figure = 0.50025};
}

static inline void sample_add_costs(struct record *record)
{
    struct rec_cost *cost = record_add_cost(record);
    *cost = (struct rec_cost){.name = "id_point",
                              .library = "postgres",
                              .wire = "postgres_wire",
                              .library_client = "libpq",
                              .known = true,
                              .library_cpu_ns = 7250,
                              .wire_cpu_ns = 3125,
                              .library_p50_ns = 45200,
                              .wire_p50_ns = 41100};
    rec_pairs_add(record->arena, &cost->params, "clients", value_int(8));
    cost = record_add_cost(record);
    *cost = (struct rec_cost){.name = "index_build",
                              .library = "postgres",
                              .wire = "postgres_wire",
                              .library_client = "libpq",
                              .reason = "too few executions: 1, at least 1,000 on each side"};
}

static inline void sample_add_search(struct record *record)
{
    static const struct {
        double rate, achieved;
        uint64_t p50, p99, lag, unfinished;
        const char *why;
    } steps[] = {
        {6000,  5999.5,  51000,     910000,     48000,      0,   NULL                       },
        {12300, 12299.5, 82000,     4700000,    1900000,    0,   NULL                       },
        {13000, 12998.5, 110000,    7100000,    4300000,    0,   "p99 is 7.1 ms"            },
        {15000, 13950,   910000000, 1710000000, 1690000000, 812, "achieved 93 % of the rate"},
    };
    struct rec_search *search = record_add_search(record);
    search->name = "id_point";
    search->target = "postgres";
    search->limit = "p99 <= 5 ms";
    search->closed_per_s = 15100;
    search->known = true;
    search->rate_per_s = 12300;
    rec_pairs_add(record->arena, &search->params, "clients", value_int(8));
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        *rec_search_add_step(record->arena, search) = (struct rec_search_step){
            .rate_per_s = steps[i].rate,
            .achieved_per_s = steps[i].achieved,
            .value = {true, steps[i].p99},
            .p50 = {true, steps[i].p50},
            .lag_p99 = {true, steps[i].lag},
            .unfinished = steps[i].unfinished,
            .kept = steps[i].why == NULL,
            .why = steps[i].why,
        };
}

static inline struct record *sample_open_record(struct arena *arena)
{
    struct record *record = sample_record(arena);
    sample_add_open_cells(record);
    sample_add_costs(record);
    sample_add_search(record);
    return record;
}

#endif
