#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

/*
 * The record: the JSON document of a run, and the only thing that passes from measuring to
 * explaining. This is its model in memory; record_json.h writes and reads it. Schema
 * "dbdyno.record/1", docs/record.schema.json. Everything lives in one arena. Optional strings
 * are NULL (JSON null or left out), optional numbers have a flag. Lists grow with the
 * record_add_* functions.
 */

#include "base/arena.h"
#include "base/value.h"
#include "hist/hist.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORD_SCHEMA "dbdyno.record/1"

struct rec_pair { /* name and scalar, in the order in which they were added */
    const char *name;
    struct value value;
};

struct rec_pairs {
    struct rec_pair *items;
    size_t count, room;
};

/* A number that may be missing. */
struct rec_number {
    bool known;
    uint64_t value;
};

enum rec_kind { REC_TIMED, REC_EXACT, REC_INFO };       /* "timed" "exact" "info" */
enum rec_better { REC_LOWER, REC_HIGHER, REC_NEITHER }; /* "lower" "higher" "neither" */

/*
 * A metric of a cell. Durations are integers in ns. A distribution (service_ns) has n, mean,
 * min, p50 … max; a single figure (throughput_per_s, rows) has `value`. One that could not be
 * measured has only `unavailable`: the reason.
 */
struct rec_metric {
    const char *name, *unit;
    enum rec_kind kind;
    enum rec_better better;
    bool distribution;
    uint64_t n;
    double mean;
    uint64_t min, max;
    struct rec_number p50, p95, p99, p999; /* unknown where n does not carry it */
    struct rec_number bounded_from; /* values from this on are lower bounds: unfinished work */
    bool real_value;                /* value_real instead of value */
    int64_t value;
    double value_real;
    const char *decided_by; /* "client" "driver" "server"; NULL for timed */
    const char *from; /* where it was read: "tap", "getrusage", "clock_getcpuclockid" … */
    const char *unavailable;
};

struct rec_check {
    const char *name; /* "rows", "value", "affected", "growth", "after: count" … */
    struct value expected, found;
    bool ok;
    uint64_t times; /* how often it was looked at; a failing one shows the first failure */
};

struct rec_guard {
    const char *id, *code, *level, *text;
    bool has_figure;
    double figure;
};

/* Measured values of a cell: raw samples in order (few) or a histogram (many). */
struct rec_run {
    const char *metric; /* "service_ns", "response_ns", "lag_ns" */
    const char *arm;    /* for pairs; NULL */
    uint32_t slot, repeat;
    const uint64_t *samples;
    uint64_t sample_count;
    const struct hist *histogram; /* NULL with samples */
};

struct rec_failure { /* of measured work, by kind */
    const char *sqlstate, *text;
    int64_t code;
    uint64_t count;
};

/* A cell: key is (suite hash, scenario, target, client, params, phase). */
struct rec_cell {
    const char *name, *target, *client;
    const char *help;        /* what the scenario does */
    struct rec_pairs params; /* {"clients": 8} */
    const char *phase;       /* NULL: the whole scenario */
    const char *mode;        /* "1 + 7 samples, 1 client, closed loop" */
    const char *timing;      /* what is inside the time, in words */
    struct rec_run *runs;
    struct rec_metric *metrics;
    struct rec_check *checks;
    struct rec_guard *guards;
    struct rec_failure *failures;
    size_t run_count, run_room, metric_count, metric_room, check_count, check_room;
    size_t guard_count, guard_room, failure_count, failure_room;
    /* "valid" "reserve" (a warning) "invalid" "failed" (wrong answer or error: no figures are
     * results) "not-applicable" "interrupted" "not-run" */
    const char *verdict;
    const char *reason; /* for all but valid: one sentence */
};

struct rec_target {
    const char *label, *kind, *shown, *home; /* home: "embedded" "managed" "running" */
    const char *client;                      /* "libpq" */
    const char *server_version, *client_version;
    const char *tier, *tier_why;
    const char *data_folder_filesystem;
    const char *address; /* "unix socket", "127.0.0.1:5433", "in process" */
    bool debug_build, superuser;
    const char *kept; /* where it still runs and how to log in; NULL: it does not */
    struct rec_number init_ns, startup_ns, peak_resident_bytes;
    struct rec_pairs settings;    /* every non-default one */
    const char *verdict, *reason; /* "ok", "unavailable", "lost" */
};

struct rec_floor {
    const char *name, *what, *unit, *when; /* when: "before" or "after" */
    uint64_t n;
    struct rec_number min, p50, p99, max; /* of a rate only the median is known */
    const char *unavailable;
};

/* A figure derived from two cells, with what else differs between them. */
struct rec_relation {
    const char *name, *target;
    const char *a, *b;   /* "concurrent clients=8 value throughput_per_s" */
    const char *differs; /* NULL: nothing else */
    bool known;          /* false: one side has no result */
    double a_value, b_value, ratio;
    const char *unit;
    const char *reason; /* when not known */
};

/* What the client library costs: the same scenario on the same kind of server through the
 * library and through the wire client. */
struct rec_cost {
    const char *name;           /* scenario */
    const char *library, *wire; /* labels of the two targets */
    const char *library_client; /* "libpq" */
    struct rec_pairs params;    /* {"clients": 8} */
    bool known;
    double library_cpu_ns, wire_cpu_ns; /* client CPU of one execution; cost: the difference */
    uint64_t library_p50_ns, wire_p50_ns; /* service time; 0: not known */
    const char *reason;                   /* when not known */
};

/* One step of a search for the highest rate that keeps a limit. */
struct rec_search_step {
    double rate_per_s, achieved_per_s;
    struct rec_number value; /* of the quantile that is limited; unknown: too few */
    struct rec_number p50, lag_p99;
    uint64_t unfinished;
    bool kept;       /* the limit was kept */
    const char *why; /* when not: "p99 is 7.1 ms", "achieved 93 % of the rate" */
};

struct rec_search {
    const char *name, *target;
    struct rec_pairs params;
    const char *limit;             /* "p99 <= 5 ms" */
    double closed_per_s;           /* throughput in closed loop, where the search began */
    bool known;                    /* a rate keeps the limit, and one does not */
    double rate_per_s;             /* the highest that kept it */
    const char *reason;            /* when not known, or a remark */
    struct rec_search_step *steps; /* by rate, rising */
    size_t step_count, step_room;
};

struct record {
    struct arena *arena;
    /* suite */
    const char *suite, *suite_path, *suite_hash; /* hash: 16 hex digits */
    struct rec_pairs suite_params;
    uint64_t seed;
    bool quick;
    /* how it was run */
    const char *dbdyno_version;
    const char *build;    /* compiler, flags, "debug"/"release", sanitizers */
    const char **command; /* arguments after the program's name, secrets removed */
    size_t command_count;
    const char *started, *ended; /* RFC 3339 with zone */
    uint64_t duration_ns;
    struct rec_pairs host;    /* class first */
    struct rec_pairs project; /* folder, commit, dirty; empty when not asked */
    struct rec_pairs facts;   /* --fact */
    struct rec_floor *floors;
    struct rec_target *targets;
    struct rec_cell *cells;
    struct rec_relation *relations;
    struct rec_cost *costs;
    struct rec_search *searches;
    struct rec_guard *guards; /* of the run */
    const char **limits;      /* what this run does not tell */
    size_t floor_count, floor_room, target_count, target_room, cell_count, cell_room;
    size_t cost_count, cost_room, search_count, search_room;
    size_t relation_count, relation_room, guard_count, guard_room, limit_count, limit_room;
    /* "valid" "reserve" "invalid" "failed" "interrupted" */
    const char *verdict;
    const char *reason;
};

struct record *record_create(struct arena *arena);

void rec_pairs_add(struct arena *arena, struct rec_pairs *pairs, const char *name,
                   struct value value); /* both copied */
const struct value *rec_pairs_find(const struct rec_pairs *pairs, const char *name);

/* Each returns the new, zeroed item. Earlier items may move: do not keep pointers over a call.
 */
struct rec_floor *record_add_floor(struct record *record);
struct rec_target *record_add_target(struct record *record);
struct rec_cell *record_add_cell(struct record *record);
struct rec_relation *record_add_relation(struct record *record);
struct rec_cost *record_add_cost(struct record *record);
struct rec_search *record_add_search(struct record *record);
struct rec_search_step *rec_search_add_step(struct arena *arena, struct rec_search *search);
struct rec_guard *record_add_guard(struct record *record);
void record_add_limit(struct record *record, const char *text);
struct rec_run *rec_cell_add_run(struct arena *arena, struct rec_cell *cell);
struct rec_metric *rec_cell_add_metric(struct arena *arena, struct rec_cell *cell);
struct rec_check *rec_cell_add_check(struct arena *arena, struct rec_cell *cell);
struct rec_guard *rec_cell_add_guard(struct arena *arena, struct rec_cell *cell);
struct rec_failure *rec_cell_add_failure(struct arena *arena, struct rec_cell *cell);

/* clients 0: any. NULL phase: the whole scenario. NULL when there is none. */
const struct rec_cell *record_find_cell(const struct record *record, const char *name,
                                        const char *target, uint64_t clients,
                                        const char *phase);
const struct rec_metric *rec_cell_metric(const struct rec_cell *cell, const char *name);

/* A figure of a metric by statistic: "p50", "mean", "min", "max", "value" …; false when it is
 * not known. "p50" of fewer than 3 samples answers their maximum of ranks only through
 * "mean"/"max". */
bool rec_metric_stat(const struct rec_metric *metric, const char *stat, double *out);

#endif
