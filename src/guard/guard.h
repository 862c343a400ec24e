#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

/*
 * Guards: is a result what it seems to be? Pure functions over plain facts; the runner fills
 * the facts, tests invent them. Numbers D… are those of the project's list of ways in which
 * benchmarks lie (docs/guards.md has each with its threshold and its source).
 *
 *   info     worth knowing; changes nothing
 *   warning  the figure holds only with this said beside it
 *   invalid  no verdict may rest on it; the run exits 6
 */

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum guard_level { GUARD_INFO, GUARD_WARNING, GUARD_INVALID };
const char *guard_level_name(enum guard_level level); /* "info" "warning" "invalid" */

struct guard_finding {
    const char *id;   /* "client-saturated" */
    const char *code; /* "D01" */
    enum guard_level level;
    const char *text; /* one sentence with the figure and what to do */
    bool has_figure;
    double figure;
};

/* Facts of one cell (scenario, target, clients). */
struct guard_cell {
    const char *scenario, *target;
    bool embedded; /* the database runs in the client's threads */
    bool null_target;
    uint32_t clients, threads;
    uint64_t wall_ns; /* of the measured part */
    uint64_t operations;
    uint64_t thread_cpu_max_ns; /* of the busiest worker thread, in that time */
    uint64_t client_cpu_ns, server_cpu_ns;
    bool server_cpu_known;
    uint64_t run_wait_ns;    /* worker threads runnable but waiting (schedstat) */
    uint64_t service_p50_ns; /* 0: none */
    double mean_service_ns;  /* of so many executions by all clients */
    uint64_t executions;
    uint64_t clock_cost_ns;
    uint32_t distinct_binds; /* 1: every execution sent the same parameters; 0: not known */
    bool has_binds, is_write;
    bool query_cache;
    bool latency_claimed, open_loop;
    /* open loop: what was due, what was done (run/run.h says how both are counted) */
    double offered_per_s, achieved_per_s;
    uint64_t lag_p99_ns, unfinished; /* lag 0: not known */
    /* closed loop: what its stalls hid (guard_stalls) */
    uint64_t service_max_ns, service_p99_ns; /* p99 as measured; 0: not known */
    uint64_t stall_ns; /* of an average client: how long its stalls took beyond the median */
    uint64_t omitted;  /* requests that no client sent meanwhile */
    uint64_t corrected_p99_ns; /* with them */
    uint32_t cpus;
};

/* The tier from which a commit survives a power cut: DRV_TIER_FSYNC, which this module cannot
 * see. */
enum { GUARD_TIER_FSYNC = 4 };

struct guard_target {
    const char *label;
    bool durable_claimed; /* has a tier at all (not null) */
    int tier;             /* enum drv_tier, higher is more durable; 0 unknown */
    const char *tier_name, *tier_why;
    bool debug_build;
    const char *debug_why;
};

/* Facts of the whole run. */
struct guard_run {
    const struct guard_target *targets;
    uint32_t target_count;
    bool stand_debug, stand_sanitizer;
    bool reads_only; /* no scenario wrote: durability changes little */
    uint64_t clock_cost_ns, clock_step_ns;
    const char *clock_source;
    int64_t clock_drift_ns; /* wall minus monotonic over the run */
    uint64_t duration_ns;
    double steal_share; /* of all CPU time */
    uint64_t throttled_count;
    double cpu_pressure_share; /* of the run's time */
    double load_before;        /* load average before the run */
    uint32_t cpus;
};

/* Equality of answers between targets for one scenario (D46). */
struct guard_answer {
    const char *scenario;
    const char *const *labels;
    const uint64_t *checksums;
    const uint64_t *rows;
    uint32_t count;
};

#define GUARD_FINDINGS_MAX 16

/* Each fills at most GUARD_FINDINGS_MAX findings, most severe first, texts in the arena, and
 * returns how many. */
unsigned guard_judge_cell(struct arena *arena, const struct guard_cell *cell,
                          struct guard_finding out[GUARD_FINDINGS_MAX]);
unsigned guard_judge_run(struct arena *arena, const struct guard_run *run,
                         struct guard_finding out[GUARD_FINDINGS_MAX]);
unsigned guard_judge_answer(struct arena *arena, const struct guard_answer *answer,
                            struct guard_finding out[GUARD_FINDINGS_MAX]);

/* What this run does not tell, each to be read after "This run does not tell": clauses from the
 * facts (loopback, hot cache, superuser, few samples, no conflicts, no steady state …). Returns
 * how many were put into out. */
struct guard_limits {
    bool loopback, embedded, hot_cache, superuser, virtual_machine, shared_cores, quick;
    bool closed_loop, single_client, one_run, managed_defaults;
    uint64_t most_samples; /* of any scenario */
    uint64_t data_rows;    /* largest table */
    double longest_s;      /* longest measured part */
    bool fsync_fast;       /* fdatasync floor below 200 us: a cache may absorb it */
    uint64_t fsync_p50_ns;
};
#define GUARD_LIMITS_MAX 16
unsigned guard_limits_say(struct arena *arena, const struct guard_limits *limits,
                          const char *out[GUARD_LIMITS_MAX]);

#endif
