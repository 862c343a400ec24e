#include "record/record_fields.h"

#include "record/record.h"

#define FIELD(struct_name, member, kind)                       \
    {                                                          \
#member, kind, offsetof(struct struct_name, member), 0 \
    }
#define WORDS(struct_name, member, kind, words)                    \
    {                                                              \
#member, kind, offsetof(struct struct_name, member), words \
    }
#define NAMED(name, struct_name, member, kind)              \
    {                                                       \
        name, kind, offsetof(struct struct_name, member), 0 \
    }
#define TABLE(name, items) const struct fields name = {items, ARRAY_COUNT(items)}

static const char *const kind_words[] = {"timed", "exact", "info", NULL};
static const char *const better_words[] = {"lower", "higher", "neither", NULL};
static const char *const record_verdicts[] = {"valid",  "reserve",     "invalid",
                                              "failed", "interrupted", NULL};
static const char *const cell_verdicts[] = {"valid",          "reserve",
                                            "invalid",        "failed",
                                            "not-applicable", "interrupted",
                                            "not-run",        NULL};

static const struct field suite_items[] = {
    NAMED("name", record, suite, FIELD_NEED),
    NAMED("path", record, suite_path, FIELD_TEXT),
    NAMED("hash", record, suite_hash, FIELD_TEXT),
    NAMED("params", record, suite_params, FIELD_PAIRS),
    FIELD(record, seed, FIELD_U64),
    FIELD(record, quick, FIELD_BOOL),
};
TABLE(record_suite_fields, suite_items);

static const struct field run_items[] = {
    NAMED("version", record, dbdyno_version, FIELD_TEXT),
    FIELD(record, build, FIELD_TEXT),
    FIELD(record, started, FIELD_TEXT),
    FIELD(record, ended, FIELD_TEXT),
    FIELD(record, duration_ns, FIELD_U64),
    FIELD(record, project, FIELD_PAIRS),
    FIELD(record, facts, FIELD_PAIRS),
};
TABLE(record_run_fields, run_items);

static const struct field end_items[] = {
    WORDS(record, verdict, FIELD_VERDICT, record_verdicts),
    FIELD(record, reason, FIELD_TEXT),
};
TABLE(record_end_fields, end_items);

static const struct field target_items[] = {
    FIELD(rec_target, label, FIELD_NEED),
    FIELD(rec_target, kind, FIELD_TEXT),
    FIELD(rec_target, shown, FIELD_TEXT),
    FIELD(rec_target, home, FIELD_TEXT),
    FIELD(rec_target, client, FIELD_TEXT),
    FIELD(rec_target, server_version, FIELD_TEXT),
    FIELD(rec_target, client_version, FIELD_TEXT),
    FIELD(rec_target, tier, FIELD_TEXT),
    FIELD(rec_target, tier_why, FIELD_TEXT),
    FIELD(rec_target, data_folder_filesystem, FIELD_TEXT),
    FIELD(rec_target, address, FIELD_TEXT),
    FIELD(rec_target, debug_build, FIELD_BOOL),
    FIELD(rec_target, superuser, FIELD_BOOL),
    FIELD(rec_target, kept, FIELD_TEXT),
    FIELD(rec_target, init_ns, FIELD_NUMBER),
    FIELD(rec_target, startup_ns, FIELD_NUMBER),
    FIELD(rec_target, peak_resident_bytes, FIELD_NUMBER),
    FIELD(rec_target, settings, FIELD_PAIRS),
    FIELD(rec_target, verdict, FIELD_TEXT),
    FIELD(rec_target, reason, FIELD_TEXT),
};
TABLE(record_target_fields, target_items);

static const struct field cell_key_items[] = {
    FIELD(rec_cell, name, FIELD_NEED),   FIELD(rec_cell, target, FIELD_NEED),
    FIELD(rec_cell, client, FIELD_TEXT), FIELD(rec_cell, params, FIELD_PAIRS),
    FIELD(rec_cell, phase, FIELD_TEXT),  FIELD(rec_cell, help, FIELD_TEXT),
    FIELD(rec_cell, mode, FIELD_TEXT),   FIELD(rec_cell, timing, FIELD_TEXT),
};
TABLE(record_cell_key_fields, cell_key_items);

static const struct field cell_end_items[] = {
    WORDS(rec_cell, verdict, FIELD_VERDICT, cell_verdicts),
    FIELD(rec_cell, reason, FIELD_TEXT),
};
TABLE(record_cell_end_fields, cell_end_items);

static const struct field sample_items[] = {
    FIELD(rec_run, metric, FIELD_TEXT),
    FIELD(rec_run, arm, FIELD_TEXT),
    FIELD(rec_run, slot, FIELD_U32),
    FIELD(rec_run, repeat, FIELD_U32),
};
TABLE(record_sample_fields, sample_items);

static const struct field metric_items[] = {
    FIELD(rec_metric, unit, FIELD_TEXT),
    WORDS(rec_metric, kind, FIELD_ENUM, kind_words),
    WORDS(rec_metric, better, FIELD_ENUM, better_words),
};
TABLE(record_metric_fields, metric_items);

static const struct field distribution_items[] = {
    FIELD(rec_metric, n, FIELD_U64),
    FIELD(rec_metric, mean, FIELD_REAL),
    FIELD(rec_metric, min, FIELD_U64),
    FIELD(rec_metric, p50, FIELD_NUMBER),
    FIELD(rec_metric, p95, FIELD_NUMBER),
    FIELD(rec_metric, p99, FIELD_NUMBER),
    FIELD(rec_metric, p999, FIELD_NUMBER),
    FIELD(rec_metric, max, FIELD_U64),
    FIELD(rec_metric, bounded_from, FIELD_NUMBER),
};
TABLE(record_distribution_fields, distribution_items);

static const struct field metric_from_items[] = {
    FIELD(rec_metric, decided_by, FIELD_TEXT),
    FIELD(rec_metric, from, FIELD_TEXT),
};
TABLE(record_metric_from_fields, metric_from_items);

static const struct field check_items[] = {
    FIELD(rec_check, name, FIELD_NEED),   FIELD(rec_check, expected, FIELD_VALUE),
    FIELD(rec_check, found, FIELD_VALUE), FIELD(rec_check, ok, FIELD_BOOL),
    FIELD(rec_check, times, FIELD_U64),
};
TABLE(record_check_fields, check_items);

static const struct field guard_items[] = {
    FIELD(rec_guard, id, FIELD_NEED),
    FIELD(rec_guard, code, FIELD_TEXT),
    FIELD(rec_guard, level, FIELD_NEED),
    FIELD(rec_guard, text, FIELD_TEXT),
};
TABLE(record_guard_fields, guard_items);

static const struct field failure_items[] = {
    FIELD(rec_failure, sqlstate, FIELD_TEXT),
    FIELD(rec_failure, code, FIELD_I64),
    FIELD(rec_failure, text, FIELD_TEXT),
    FIELD(rec_failure, count, FIELD_U64),
};
TABLE(record_failure_fields, failure_items);

static const struct field floor_items[] = {
    FIELD(rec_floor, what, FIELD_TEXT),  FIELD(rec_floor, unit, FIELD_TEXT),
    FIELD(rec_floor, n, FIELD_U64),      FIELD(rec_floor, min, FIELD_NUMBER),
    FIELD(rec_floor, p50, FIELD_NUMBER), FIELD(rec_floor, p99, FIELD_NUMBER),
    FIELD(rec_floor, max, FIELD_NUMBER), FIELD(rec_floor, unavailable, FIELD_TEXT),
};
TABLE(record_floor_fields, floor_items);

static const struct field relation_items[] = {
    FIELD(rec_relation, name, FIELD_NEED),     FIELD(rec_relation, target, FIELD_TEXT),
    FIELD(rec_relation, a, FIELD_TEXT),        FIELD(rec_relation, b, FIELD_TEXT),
    FIELD(rec_relation, differs, FIELD_TEXT),  FIELD(rec_relation, known, FIELD_BOOL),
    FIELD(rec_relation, a_value, FIELD_MAYBE), FIELD(rec_relation, b_value, FIELD_MAYBE),
    FIELD(rec_relation, ratio, FIELD_MAYBE),   FIELD(rec_relation, unit, FIELD_TEXT),
    FIELD(rec_relation, reason, FIELD_TEXT),
};
TABLE(record_relation_fields, relation_items);

static const struct field cost_items[] = {
    FIELD(rec_cost, name, FIELD_NEED),
    FIELD(rec_cost, library, FIELD_TEXT),
    FIELD(rec_cost, wire, FIELD_TEXT),
    FIELD(rec_cost, library_client, FIELD_TEXT),
    FIELD(rec_cost, params, FIELD_PAIRS),
    FIELD(rec_cost, known, FIELD_BOOL),
    FIELD(rec_cost, library_cpu_ns, FIELD_MAYBE),
    FIELD(rec_cost, wire_cpu_ns, FIELD_MAYBE),
    FIELD(rec_cost, library_p50_ns, FIELD_U64),
    FIELD(rec_cost, wire_p50_ns, FIELD_U64),
    FIELD(rec_cost, reason, FIELD_TEXT),
};
TABLE(record_cost_fields, cost_items);

static const struct field search_items[] = {
    FIELD(rec_search, name, FIELD_NEED),          FIELD(rec_search, target, FIELD_TEXT),
    FIELD(rec_search, params, FIELD_PAIRS),       FIELD(rec_search, limit, FIELD_TEXT),
    FIELD(rec_search, closed_per_s, FIELD_MAYBE), FIELD(rec_search, known, FIELD_BOOL),
    FIELD(rec_search, rate_per_s, FIELD_MAYBE),   FIELD(rec_search, reason, FIELD_TEXT),
};
TABLE(record_search_fields, search_items);

static const struct field step_items[] = {
    FIELD(rec_search_step, rate_per_s, FIELD_MAYBE),
    FIELD(rec_search_step, achieved_per_s, FIELD_MAYBE),
    FIELD(rec_search_step, value, FIELD_NUMBER),
    FIELD(rec_search_step, p50, FIELD_NUMBER),
    FIELD(rec_search_step, lag_p99, FIELD_NUMBER),
    FIELD(rec_search_step, unfinished, FIELD_U64),
    FIELD(rec_search_step, kept, FIELD_BOOL),
    FIELD(rec_search_step, why, FIELD_TEXT),
};
TABLE(record_step_fields, step_items);
