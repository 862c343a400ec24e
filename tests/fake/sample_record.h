#ifndef TESTS_FAKE_SAMPLE_RECORD_H
#define TESTS_FAKE_SAMPLE_RECORD_H

/*
 * An invented record of a run of `shop` on three targets, with something of everything: reads,
 * loads, phases, concurrent clients, a cell that is not applicable, guards, floors, relations,
 * limits. Figures follow from the tables below alone, so that expected output can be written
 * down.
 */

#include "record/record.h"

#include <string.h>

enum { SAMPLE_TARGETS = 3 };

static const char *const sample_labels[SAMPLE_TARGETS] = {"sqlite", "postgres", "mariadb"};
static const char *const sample_clients[SAMPLE_TARGETS] = {"sqlite", "libpq", "libmariadb"};

struct sample_line {
    const char *name, *help;
    int64_t rows, affected;
    uint64_t n;
    uint64_t p50_ns[SAMPLE_TARGETS];
};

static const struct sample_line sample_reads[] = {
    {"scan_users",                  "all 10,000 users",           10000, 0, 7,   {1234567, 4567890, 5678901}  },
    {"scan_orders",                 "all 50,000 orders",          50000, 0, 7,   {6345678, 23456789, 27654321}},
    {"id_point",                    "one user by its key",        1,     0, 7,   {3120, 45200, 61700}         },
    {"name_scan",                   "one user by name, no index", 1,     0, 7,   {812000, 1210000, 2870000}   },
    {"index_build",                 "an index on name",           0,     0, 1,   {7800000, 14600000, 48000000}},
    {"name_index",                  "one user by name, indexed",  1,     0, 7,   {12600, 48700, 66100}        },
    {"correlated_exists20_indexed",
     "EXISTS with the inner index",                               20,
     0,                                                                     7,
     {41000, 152000, 198000}                                                                                  },
    {"insert_single",               "200 rows, a commit each",    0,     1, 200, {187000, 412000, 1310000}    },
};

static inline struct rec_metric *sample_single(struct arena *arena, struct rec_cell *cell,
                                               const char *name, const char *unit, double value)
{
    struct rec_metric *metric = rec_cell_add_metric(arena, cell);
    *metric = (struct rec_metric){.name = name,
                                  .unit = unit,
                                  .better = REC_HIGHER,
                                  .real_value = true,
                                  .value_real = value,
                                  .from = "clock_gettime"};
    return metric;
}

/* The end of a name says the unit. */
static inline const char *sample_unit(const char *name)
{
    size_t bytes = strlen(name);
    if (bytes > 3 && strcmp(name + bytes - 3, "_ns") == 0)
        return "ns";
    return bytes > 6 && strcmp(name + bytes - 6, "_bytes") == 0 ? "bytes" : "1";
}

static inline void sample_count(struct arena *arena, struct rec_cell *cell, const char *name,
                                int64_t value)
{
    *rec_cell_add_metric(arena, cell) = (struct rec_metric){.name = name,
                                                            .unit = sample_unit(name),
                                                            .kind = REC_EXACT,
                                                            .better = REC_NEITHER,
                                                            .value = value,
                                                            .decided_by = "server",
                                                            .from = "driver"};
}

/* Minimum 0.9, p95 1.5, p99 2, maximum 3 times the median; a single execution is all of them.
 */
static inline void sample_service(struct arena *arena, struct rec_cell *cell, uint64_t n,
                                  uint64_t p50)
{
    struct rec_metric *metric = rec_cell_add_metric(arena, cell);
    *metric =
        (struct rec_metric){.name = "service_ns", .unit = "ns", .distribution = true, .n = n};
    metric->from = "clock_gettime";
    metric->mean = (double)p50;
    metric->min = n == 1 ? p50 : p50 - p50 / 10;
    metric->max = n == 1 ? p50 : p50 * 3;
    metric->p50 = (struct rec_number){n >= 3, n >= 3 ? p50 : 0};
    metric->p95 = (struct rec_number){n >= 200, n >= 200 ? p50 + p50 / 2 : 0};
    metric->p99 = (struct rec_number){n >= 1000, n >= 1000 ? p50 * 2 : 0};
}

static inline struct rec_cell *sample_cell(struct record *record, const char *name,
                                           unsigned target)
{
    struct rec_cell *cell = record_add_cell(record);
    cell->name = name;
    cell->target = sample_labels[target];
    cell->client = sample_clients[target];
    cell->timing = "from submit to the last row decoded";
    cell->mode = "1 + 7 samples, 1 client, closed loop";
    cell->verdict = "valid";
    return cell;
}

static inline void sample_check(struct arena *arena, struct rec_cell *cell, int64_t rows)
{
    *rec_cell_add_check(arena, cell) = (struct rec_check){.name = "rows",
                                                          .expected = value_int(rows),
                                                          .found = value_int(rows),
                                                          .ok = true,
                                                          .times = 8};
}

static inline void sample_usage(struct arena *arena, struct rec_cell *cell, unsigned target,
                                double client_cores, double server_cores)
{
    sample_single(arena, cell, "client_cores", "cores", client_cores);
    struct rec_metric *metric = rec_cell_add_metric(arena, cell);
    *metric = (struct rec_metric){.name = "server_cores", .unit = "cores"};
    if (target == 0) {
        metric->unavailable = "the database runs in the client's threads";
    } else {
        metric->real_value = true;
        metric->value_real = server_cores;
    }
    sample_count(arena, cell, "client_peak_resident_bytes", (int64_t)(9 + target) << 20);
}

static inline void sample_add_reads(struct record *record)
{
    struct arena *arena = record->arena;
    for (size_t i = 0; i < sizeof(sample_reads) / sizeof(sample_reads[0]); i++) {
        const struct sample_line *line = &sample_reads[i];
        for (unsigned t = 0; t < SAMPLE_TARGETS; t++) {
            struct rec_cell *cell = sample_cell(record, line->name, t);
            cell->help = line->help;
            sample_service(arena, cell, line->n, line->p50_ns[t]);
            sample_single(arena, cell, "throughput_per_s", "1/s",
                          1e9 / (double)line->p50_ns[t]);
            sample_count(arena, cell, "rows", line->rows);
            if (line->affected > 0)
                sample_count(arena, cell, "affected", line->affected);
            sample_check(arena, cell, line->rows);
            sample_usage(arena, cell, t, 0.1 * (double)(i + 1), 0.05 * (double)(i + 1));
            uint64_t *samples = arena_array(arena, uint64_t, 3);
            for (uint64_t s = 0; s < 3; s++)
                samples[s] = line->p50_ns[t] + s;
            struct rec_run *run = rec_cell_add_run(arena, cell);
            run->samples = samples;
            run->sample_count = 3;
        }
    }
}

static inline void sample_add_concurrent(struct record *record)
{
    static const int64_t clients[] = {1, 4, 8};
    static const double rates[][SAMPLE_TARGETS] = {
        {201234.5, 19876.5, 14321},
        {301234.5, 52345.6, 41234},
        {298765.4, 61234.5, 52345}
    };
    struct arena *arena = record->arena;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned t = 0; t < SAMPLE_TARGETS; t++) {
            struct rec_cell *cell = sample_cell(record, "concurrent", t);
            cell->mode = "100 executions a client, closed loop";
            rec_pairs_add(arena, &cell->params, "clients", value_int(clients[i]));
            sample_service(arena, cell, 1000 * (uint64_t)clients[i],
                           (uint64_t)(1e9 * (double)clients[i] / rates[i][t]));
            sample_single(arena, cell, "throughput_per_s", "1/s", rates[i][t]);
            sample_count(arena, cell, "rows", 1);
            sample_usage(arena, cell, t, 0.2 * (double)clients[i], 0.15 * (double)clients[i]);
            struct hist *hist = hist_create(arena);
            hist_record(hist, 3000);
            hist_record(hist, 1000000);
            rec_cell_add_run(arena, cell)->histogram = hist;
        }
    }
}

static inline void sample_add_loads(struct record *record)
{
    static const struct {
        const char *name;
        int64_t rows;
        double per_s[SAMPLE_TARGETS];
    } loads[] = {
        {"load_users",  10000, {812345, 151234, 98765} },
        {"load_orders", 50000, {934567, 171234, 112345}}
    };
    struct arena *arena = record->arena;
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned t = 0; t < SAMPLE_TARGETS; t++) {
            struct rec_cell *cell = sample_cell(record, loads[i].name, t);
            double ns = 1e9 * (double)loads[i].rows / loads[i].per_s[t];
            rec_pairs_add(arena, &cell->params, "rows_per_commit", value_int(500));
            sample_service(arena, cell, 1, (uint64_t)ns);
            sample_single(arena, cell, "rows_per_s", "rows/s", loads[i].per_s[t]);
            sample_count(arena, cell, "wall_ns", (int64_t)ns);
            sample_count(arena, cell, "affected", loads[i].rows);
        }
    }
}

static inline void sample_add_transaction(struct record *record)
{
    static const char *const phases[] = {NULL, "begin", "insert", "commit"};
    static const uint64_t ns[][SAMPLE_TARGETS] = {
        {1450000, 9870000, 11200000},
        {1900,    38000,   41000   },
        {4700,    45600,   52100   },
        {181000,  398000,  1290000 }
    };
    struct arena *arena = record->arena;
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned t = 0; t < SAMPLE_TARGETS; t++) {
            struct rec_cell *cell = sample_cell(record, "transaction200", t);
            uint64_t n = i == 2 ? 200 : 1;
            cell->phase = phases[i];
            sample_service(arena, cell, n, ns[i][t]);
            sample_count(arena, cell, "wall_ns", (int64_t)(n * ns[i][t]));
            if (i == 0)
                sample_count(arena, cell, "affected", 200);
        }
    }
}

static inline void sample_add_targets(struct record *record)
{
    static const char *const versions[] = {"SQLite 3.40.1", "PostgreSQL 15.18",
                                           "MariaDB 10.11.11"};
    static const char *const client_versions[] = {NULL, "libpq 15.18", "libmariadb 3.3.14"};
    static const char *const whys[] = {"journal_mode=WAL, synchronous=FULL",
                                       "fsync=on, synchronous_commit=on, full_page_writes=on",
                                       "innodb_flush_log_at_trx_commit=1, sync_binlog=0"};
    for (unsigned t = 0; t < SAMPLE_TARGETS; t++) {
        struct rec_target *target = record_add_target(record);
        target->label = target->kind = target->shown = sample_labels[t];
        target->client = sample_clients[t];
        target->home = t == 0 ? "embedded" : "managed";
        target->address = t == 0 ? "in process" : "unix socket";
        target->server_version = versions[t];
        target->client_version = client_versions[t];
        target->tier = "fsync";
        target->tier_why = whys[t];
        target->data_folder_filesystem = "ext4";
        target->superuser = t > 0;
        target->kept =
            t == 1 ? "/tmp/dbdyno-postgres-1, --on @/tmp/dbdyno-postgres-1/target" : NULL;
        target->verdict = "ok";
        if (t > 0) {
            target->init_ns = (struct rec_number){true, 812000000 * (uint64_t)t};
            target->startup_ns = (struct rec_number){true, 412000000 * (uint64_t)t};
            target->peak_resident_bytes = (struct rec_number){true, (uint64_t)(60 * t) << 20};
        }
        rec_pairs_add(record->arena, &target->settings, "max_connections", value_int(100));
    }
}

static inline void sample_add_floors(struct record *record)
{
    static const struct {
        const char *name, *what, *unit;
        uint64_t n, p50;
    } floors[] = {
        {"fsync_append",    "append 4 KiB, fdatasync",              "ns",      500,  137000              },
        {"tcp_round_trip",  "64 bytes over loopback TCP and back",  "ns",      2000, 21300               },
        {"unix_round_trip", "64 bytes over a unix socket and back", "ns",      2000, 9870                },
        {"memcpy",          "64 MiB from memory to memory",         "bytes/s", 8,    UINT64_C(9876543210)},
    };
    for (unsigned i = 0; i < 2 * sizeof(floors) / sizeof(floors[0]); i++) {
        struct rec_floor *floor = record_add_floor(record);
        floor->name = floors[i / 2].name;
        floor->what = floors[i / 2].what;
        floor->unit = floors[i / 2].unit;
        floor->when = i % 2 == 0 ? "before" : "after";
        floor->n = floors[i / 2].n;
        uint64_t p50 = floors[i / 2].p50 + floors[i / 2].p50 / 20 * (i % 2);
        bool spread = floor->unit[0] == 'n';
        floor->p50 = (struct rec_number){true, p50};
        floor->min = (struct rec_number){spread, spread ? p50 / 2 : 0};
        floor->max = (struct rec_number){spread, spread ? p50 * 10 : 0};
        floor->p99 = (struct rec_number){floor->n >= 1000, floor->n >= 1000 ? p50 * 3 : 0};
    }
}

#include "sample_record_rest.h"

#endif
