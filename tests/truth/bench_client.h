#ifndef TRUTH_BENCH_CLIENT_H
#define TRUTH_BENCH_CLIENT_H

/* One client of the runner, driven by a test: a suite's first scenario on one target. */

#include "base/text.h"
#include "driver/driver.h"
#include "run/run_internal.h"
#include "suite/suite.h"
#include "testing.h"

#include <stdio.h>

struct bench_client {
    struct arena *arena;
    struct suite suite;
    struct program program;
    struct drv_target target;
    struct drv_conn *conn;
    struct client_plan plan;
    struct recorder recorder;
    struct client client;
};

/* `class`: instead of the target's own; NULL: that one. */
static void bench_open_with(struct bench_client *bench, const char *source, const char *target,
                            const struct drv_class *class)
{
    struct err err = {0};
    struct suite_faults faults = {0};
    struct suite_options options = {.name = "truth.lua", .seed = 42};
    memset(bench, 0, sizeof *bench);
    bench->arena = arena_create(65536);
    bool loaded = suite_load_text(bench->arena, slice_of(source), &options, &bench->suite,
                                  &faults, &err) &&
                  drv_target_parse(bench->arena, target, &bench->target, &err);
    if (!loaded)
        print_error("%s\n", err.text);
    assert_true(loaded);
    if (class)
        bench->target.class = class;
    const struct suite_scenario *scenario = &bench->suite.scenarios[0];
    bool ready = suite_compile(bench->arena, &bench->suite, scenario, bench->target.dialect,
                               &bench->program, &err) &&
                 drv_open(&bench->target, &bench->conn, &err) &&
                 bench->conn->class->prepare(bench->conn, bench->program.stmts,
                                             bench->program.stmt_count, &err);
    if (!ready)
        print_error("%s\n", err.text);
    assert_true(ready);
    bench->plan.program = &bench->program;
    bench->plan.scenario = scenario;
    bench->plan.clients = 1;
    bench->plan.spinning_most = 1;
    atomic_store(&bench->plan.end_ns, UINT64_MAX);
    bench->plan.null_target = strcmp(bench->target.kind, "null") == 0;
    recorder_init(&bench->recorder, bench->arena, &bench->program, scenario->samples);
    bench->client.number = 1;
    client_init(&bench->client, bench->arena, &bench->plan, bench->conn, &bench->recorder);
}

static inline void bench_open(struct bench_client *bench, const char *source,
                              const char *target)
{
    bench_open_with(bench, source, target, NULL);
}

static inline void bench_run(struct bench_client *bench, uint64_t executions, bool recording)
{
    client_begin(&bench->client, executions, recording);
    worker_run_alone(&bench->client);
    if (bench->client.failure.failed)
        print_error("%s: %s\n", bench->client.failure.what, bench->client.failure.message);
    assert_false(bench->client.failure.failed);
}

static void bench_close(struct bench_client *bench)
{
    drv_close(&bench->conn);
    arena_destroy(&bench->arena);
}

#endif
