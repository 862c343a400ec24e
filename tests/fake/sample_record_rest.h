#ifndef TESTS_FAKE_SAMPLE_RECORD_REST_H
#define TESTS_FAKE_SAMPLE_RECORD_REST_H

/* The second half of sample_record.h: what stands around the cells, and the record itself. */

#include "sample_record.h"

static inline struct rec_cell *sample_find(struct record *record, const char *name,
                                           const char *target)
{
    for (size_t i = 0; i < record->cell_count; i++) {
        struct rec_cell *cell = &record->cells[i];
        if (!strcmp(cell->name, name) && !strcmp(cell->target, target) && !cell->phase)
            return cell;
    }
    return NULL;
}

static inline void sample_add_relations(struct record *record)
{
    static const double scans[][2] = {
        {812000,  12600},
        {1210000, 48700},
        {2870000, 66100}
    };
    static const double rates[][2] = {
        {298765.4, 201234.5},
        {61234.5,  19876.5 },
        {52345,    14321   }
    };
    for (unsigned i = 0; i < 2 * SAMPLE_TARGETS; i++) {
        unsigned t = i % SAMPLE_TARGETS;
        const double *pair = i < SAMPLE_TARGETS ? scans[t] : rates[t];
        struct rec_relation *relation = record_add_relation(record);
        relation->name = i < SAMPLE_TARGETS ? "index speed-up" : "8 clients against 1";
        relation->target = sample_labels[t];
        relation->a = i < SAMPLE_TARGETS ? "name_scan p50 service_ns"
                                         : "concurrent clients=8 value throughput_per_s";
        relation->b = i < SAMPLE_TARGETS ? "name_index p50 service_ns"
                                         : "concurrent clients=1 value throughput_per_s";
        relation->unit = i < SAMPLE_TARGETS ? "ns" : "1/s";
        relation->differs =
            i < SAMPLE_TARGETS ? "the table has an index more, which writes keep up" : NULL;
        relation->known = true;
        relation->a_value = pair[0];
        relation->b_value = pair[1];
        relation->ratio = pair[0] / pair[1];
    }
}

static inline void sample_add_guards(struct record *record)
{
    static const char *const names[] = {"id_point", "name_scan", "name_index"};
    for (unsigned i = 0; i < 3 * SAMPLE_TARGETS; i++) {
        struct rec_cell *cell = sample_find(record, names[i / 3], sample_labels[i % 3]);
        cell->verdict = "reserve";
        cell->reason = "every execution sent the same parameters";
        *rec_cell_add_guard(record->arena, cell) = (struct rec_guard){
            .id = "same-parameters",
            .code = "D38",
            .level = "warning",
            .text = "every execution sent the same parameters: caches answer better than they "
                    "would for real traffic",
            .has_figure = true,
            .figure = 1};
    }
    *record_add_guard(record) = (struct rec_guard){.id = "shared-cores",
                                                   .code = "D36",
                                                   .level = "info",
                                                   .text = "client and server share 2 cores"};
}

static inline void sample_add_not_applicable(struct record *record)
{
    for (unsigned t = 0; t < SAMPLE_TARGETS; t++) {
        struct rec_cell *cell = sample_cell(record, "catalog", t);
        sample_service(record->arena, cell, 200, UINT64_C(10000) * (t + 1));
        sample_count(record->arena, cell, "rows", 6);
        if (t > 0)
            continue;
        cell->verdict = "not-applicable";
        cell->reason = "SQLite has no information_schema";
        cell->metric_count = 0;
    }
}

static inline struct record *sample_record(struct arena *arena)
{
    static const char *command[] = {"run", "shop", "--on", "sqlite", "--on", "postgres"};
    struct record *record = record_create(arena);
    record->suite = "shop";
    record->suite_path = "built-in";
    record->suite_hash = "0123456789abcdef";
    rec_pairs_add(arena, &record->suite_params, "users", value_int(10000));
    rec_pairs_add(arena, &record->suite_params, "orders", value_int(50000));
    record->seed = 42;
    record->dbdyno_version = "0.1.0";
    record->build = "gcc 12.2.0 -O2, release";
    record->command = command;
    record->command_count = 6;
    record->started = "2026-11-30T20:00:00+01:00";
    record->ended = "2026-11-30T20:00:41+01:00";
    record->duration_ns = UINT64_C(41200000000);
    rec_pairs_add(arena, &record->host, "class",
                  value_text("xeon-2-80ghz/2c/6.18/ext4/rw,relatime", 37));
    rec_pairs_add(arena, &record->host, "cpus_online", value_int(2));
    rec_pairs_add(arena, &record->host, "load1", value_real(0.25));
    record->verdict = "reserve";
    record->reason = "9 cells stand with a warning";
    sample_add_targets(record);
    sample_add_floors(record);
    sample_add_loads(record);
    sample_add_not_applicable(record);
    sample_add_reads(record);
    sample_add_concurrent(record);
    sample_add_transaction(record);
    sample_add_relations(record);
    sample_add_guards(record);
    record_add_limit(record, "how it is over a network: client and server share this machine");
    record_add_limit(record, "how it is with a cold cache: all data was in memory");
    return record;
}

/* One wrong answer and one SQL error. */
static inline struct record *sample_failed_record(struct arena *arena)
{
    struct record *record = sample_record(arena);
    struct rec_cell *cell = sample_find(record, "id_point", "postgres");
    cell->verdict = "failed";
    cell->reason = "rows: expected 1, found 2";
    cell->checks[0].found = value_int(2);
    cell->checks[0].ok = false;
    cell->checks[0].times = 7;
    cell = sample_find(record, "insert_single", "mariadb");
    cell->verdict = "failed";
    cell->reason = "Duplicate entry '1' for key 'PRIMARY'";
    *rec_cell_add_failure(arena, cell) =
        (struct rec_failure){.sqlstate = "23000",
                             .text = "Duplicate entry '1' for key 'PRIMARY'",
                             .code = 1062,
                             .count = 3};
    record->verdict = "failed";
    record->reason = "2 cells failed";
    return record;
}

static inline struct record *sample_interrupted_record(struct arena *arena)
{
    struct record *record = sample_record(arena);
    for (size_t i = 0; i < record->cell_count; i++) {
        struct rec_cell *cell = &record->cells[i];
        bool load = strcmp(cell->name, "load_orders") == 0 && i % 3 == 2;
        if (strcmp(cell->name, "concurrent") != 0 &&
            strcmp(cell->name, "transaction200") != 0 && !load)
            continue;
        cell->verdict = i % 5 == 0 ? "interrupted" : "not-run";
        cell->reason = "interrupted by SIGINT";
        cell->metric_count = i % 5 == 0 ? cell->metric_count : 0;
        cell->run_count = 0;
    }
    record->relation_count = 3;
    record->verdict = "interrupted";
    record->reason = "interrupted by SIGINT";
    return record;
}

#endif
