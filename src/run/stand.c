/* The measured part of a cell: workers are put up, watched, and taken down. */
#include "os/now.h"
#include "run/run_internal.h"

#include <errno.h>

#define LOOK_NS         (10 * NS_PER_MS) /* how often the watch looks */
#define GRACE_NS        (300 * NS_PER_MS) /* from a stop until running operations are cancelled */
#define CANCEL_AGAIN_NS (500 * NS_PER_MS)
#define START_NS        (2 * NS_PER_MS) /* from the open gate to the start of a schedule */
#define SEVER_NS        (5 * NS_PER_S)  /* from a stop until connections are cut */

struct stand {
    struct runner *runner;
    struct cell *cell;
    struct arena *arena;
    struct client_plan plan;
    struct schedule schedule, warm_schedule; /* open loop */
    struct gate gate;
    struct worker *workers;
    uint32_t worker_count;
    struct client *clients;
    uint64_t begun_ns, stopped_ns, cancelled_ns;
    uint64_t warm_end_ns; /* of a warm-up by time, else UINT64_MAX */
    uint64_t give_up_ns;  /* open loop: end of the drain time; UINT64_MAX before it is known */
    bool timed_out, severed;
};

/* ---- the watch: deadlines, signals, progress. It never blocks. */

static void stop(struct stand *stand, uint64_t now_ns, bool interrupted)
{
    if (stand->stopped_ns == 0)
        stand->stopped_ns = now_ns;
    if (interrupted)
        atomic_store(&stand->plan.interrupted, true);
    plan_stop(&stand->plan);
}

static void cancel_running(struct stand *stand, uint64_t now_ns, bool all)
{
    if (now_ns < stand->cancelled_ns + CANCEL_AGAIN_NS)
        return;
    for (uint32_t i = 0; i < stand->cell->clients; i++) {
        struct client *client = &stand->clients[i];
        uint64_t due_ns = atomic_load_explicit(&client->due_ns, memory_order_relaxed);
        if (due_ns == 0 || (!all && now_ns < due_ns))
            continue;
        overseer_cancel(&stand->runner->overseer, client->conn);
        stand->cancelled_ns = now_ns;
    }
}

static void sever_running(struct stand *stand)
{
    for (uint32_t i = 0; i < stand->cell->clients; i++) {
        struct client *client = &stand->clients[i];
        if (atomic_load_explicit(&client->due_ns, memory_order_relaxed) == 0)
            continue;
        client->class->sever(client->conn);
        stand->severed = true;
    }
}

/* Open loop, the drain time is over: what still runs is cancelled, and is no failure. */
static void give_up(struct stand *stand, uint64_t now_ns)
{
    atomic_store(&stand->plan.given_up, true);
    stop(stand, now_ns, false);
    cancel_running(stand, now_ns, true);
}

static void look(struct stand *stand)
{
    struct runner *runner = stand->runner;
    uint64_t now_ns = os_now_ns();
    cancel_running(stand, now_ns, false);
    if (runner_stopping(runner))
        stop(stand, now_ns, true);
    if (now_ns > stand->begun_ns + stand->cell->scenario->deadline_ns) {
        stand->timed_out = true;
        stop(stand, now_ns, false);
    }
    if (stand->plan.schedule && !stand->stopped_ns && now_ns > stand->give_up_ns)
        give_up(stand, now_ns);
    if (stand->stopped_ns == 0 && plan_stopped(&stand->plan))
        stand->stopped_ns =
            now_ns; /* a client failed: the others end at their next execution */
    if (stand->stopped_ns && now_ns > stand->stopped_ns + GRACE_NS)
        cancel_running(stand, now_ns, true);
    if (stand->stopped_ns && now_ns > stand->stopped_ns + SEVER_NS)
        sever_running(stand);
    runner_show(runner, stand->cell->scenario->name, stand->cell->session->target.label);
}

/* Waits until all workers are at the gate. */
static void watch(struct stand *stand)
{
    while (!gate_wait(&stand->gate, stand->worker_count, LOOK_NS))
        look(stand);
}

/* ---- putting it up */

/* The server needs the rest of the CPUs. */
static uint32_t half_of(const struct runner *runner)
{
    return runner->cpus > 1 ? runner->cpus / 2 : 1;
}

static uint32_t threads_for(const struct runner *runner, const struct cell *cell)
{
    if (!(cell->session->target.class->caps & DRV_CAP_ASYNC))
        return cell->clients;
    uint32_t threads = runner->options->threads ? runner->options->threads : half_of(runner);
    return cell->clients < threads ? cell->clients : threads;
}

/* Executions that `clients` of the cell's will record; 0: not known. */
static uint64_t executions_of(const struct cell *cell, uint64_t clients)
{
    const struct program *program = &cell->program;
    uint64_t sum = 0;
    if (cell->scenario->duration_ns)
        return 0;
    if (cell->scenario->rate_per_s > 0)
        return cell->scenario->samples; /* any client may take any of them */
    for (uint32_t i = 0; i < program->stage_count; i++) {
        uint64_t all = program->stages[i].executions;
        sum +=
            all ? all / cell->clients * clients + clients : cell->scenario->samples * clients;
    }
    return sum;
}

/* How many executions all clients owe together. */
static uint64_t asked_of(const struct cell *cell)
{
    uint64_t asked = 0;
    if (cell->scenario->rate_per_s > 0)
        return cell->scenario->duration_ns ? 0 : cell->scenario->samples;
    for (uint32_t i = 0; i < cell->program.stage_count && !cell->scenario->duration_ns; i++) {
        uint64_t all = cell->program.stages[i].executions;
        asked += all ? all : cell->scenario->samples * cell->clients;
    }
    return asked;
}

static void worker_put_up(struct stand *stand, struct worker *worker, uint32_t first)
{
    struct cell *cell = stand->cell;
    worker->clients = &stand->clients[first];
    worker->gate = &stand->gate;
    worker->plan = &stand->plan;
    worker->warmup = cell->scenario->warmup_ns ? UINT64_MAX : cell->scenario->warmup;
    worker->executions = cell->scenario->duration_ns ? UINT64_MAX : cell->scenario->samples;
    worker->checksum = cell_wants_checksum(cell);
    worker->arena = arena_create(16384);
    recorder_init(&worker->recorder, worker->arena, &cell->program,
                  executions_of(cell, worker->client_count));
    if (stand->plan.schedule)
        recorder_open(&worker->recorder, worker->arena,
                      executions_of(cell, worker->client_count));
    for (uint32_t i = 0; i < worker->client_count; i++) {
        worker->clients[i].number = first + i + 1;
        client_init(&worker->clients[i], worker->arena, &stand->plan,
                    cell->session->conns[first + i], &worker->recorder);
    }
}

static void put_up_schedule(struct stand *stand)
{
    const struct suite_scenario *scenario = stand->cell->scenario;
    struct schedule_spec spec = {.rate_per_s = scenario->rate_per_s,
                                 .arrivals = scenario->arrivals,
                                 .seed = stand->cell->program.seed,
                                 .window_ns = scenario->duration_ns,
                                 .count = scenario->duration_ns ? 0 : scenario->samples};
    stand->give_up_ns = UINT64_MAX;
    if (scenario->rate_per_s <= 0)
        return;
    schedule_init(&stand->schedule, &spec);
    stand->cell->window_ns = schedule_window_ns(&stand->schedule);
    stand->plan.schedule = &stand->schedule;
    if (scenario->warmup_ns == 0)
        return;
    spec = (struct schedule_spec){.rate_per_s = scenario->rate_per_s,
                                  .arrivals = scenario->arrivals,
                                  .seed = stand->cell->program.seed + 1,
                                  .window_ns = scenario->warmup_ns};
    schedule_init(&stand->warm_schedule, &spec);
    stand->plan.warm_schedule = &stand->warm_schedule;
}

static void put_up(struct stand *stand)
{
    struct cell *cell = stand->cell;
    const struct run_options *options = stand->runner->options;
    uint32_t next = 0;
    gate_init(&stand->gate);
    put_up_schedule(stand);
    cell->asked = asked_of(cell);
    stand->worker_count = threads_for(stand->runner, cell);
    stand->workers = arena_array(stand->arena, struct worker, stand->worker_count);
    stand->clients = arena_array(stand->arena, struct client, cell->clients);
    for (uint32_t i = 0; i < stand->worker_count; i++) {
        struct worker *worker = &stand->workers[i];
        uint32_t share = cell->clients / stand->worker_count;
        worker->client_count = share + (i < cell->clients % stand->worker_count);
        worker->pinned = options->pin_count > 0;
        worker->cpu = worker->pinned ? options->pin[i % options->pin_count] : 0;
        worker_put_up(stand, worker, next);
        next += worker->client_count;
    }
}

/* A worker that cannot be started is an error of the cell. */
static bool start_threads(struct stand *stand)
{
    struct err err;
    for (uint32_t i = 0; i < stand->worker_count; i++) {
        int fault =
            pthread_create(&stand->workers[i].thread, NULL, worker_main, &stand->workers[i]);
        if (fault == 0)
            continue;
        errno = fault;
        (void)err_errno(&err, "thread %u of %u could not be started", i + 1,
                        stand->worker_count);
        cell_fail(stand->cell, "failed", arena_text(stand->runner->arena, err.text));
        stand->worker_count = i;
        plan_stop(&stand->plan);
        return false;
    }
    return true;
}

static void usage_read(const struct stand *stand, struct server_usage *usage)
{
    const struct server *server = stand->cell->session->server;
    if (server)
        server_usage_read(stand->runner->arena, server_pid(server), usage);
}

/* Changes the end from what it was to what it is now; a stop that has come stays. */
static void change_end(struct stand *stand, uint64_t from_ns, uint64_t to_ns)
{
    uint_fast64_t expected = from_ns;
    (void)atomic_compare_exchange_strong(&stand->plan.end_ns, &expected, to_ns);
}

/* The measured part begins as the gate opens: a duration, or the schedule of an open loop. */
static void time_limit(struct stand *stand)
{
    struct cell *cell = stand->cell;
    uint64_t now_ns = os_now_ns();
    uint64_t end_ns =
        cell->scenario->duration_ns ? now_ns + cell->scenario->duration_ns : UINT64_MAX;
    if (stand->plan.schedule) {
        schedule_start(&stand->schedule, now_ns + START_NS);
        end_ns = now_ns + START_NS + cell->window_ns + RUN_DRAIN_NS;
        stand->give_up_ns = end_ns;
    }
    change_end(stand, stand->warm_end_ns, end_ns);
}

static void measure(struct stand *stand)
{
    struct cell *cell = stand->cell;
    struct around around = {0};
    stand->warm_end_ns =
        cell->scenario->warmup_ns ? os_now_ns() + cell->scenario->warmup_ns : UINT64_MAX;
    change_end(stand, UINT64_MAX, stand->warm_end_ns);
    if (stand->plan.warm_schedule)
        schedule_start(&stand->warm_schedule, os_now_ns() + START_NS);
    bool started = start_threads(stand);
    watch(stand);
    if (stand->plan.warm_schedule)
        schedule_done(&stand->warm_schedule);
    stand->plan.warm_schedule = NULL; /* all workers are at the gate */
    if (started && !plan_stopped(&stand->plan))
        around_start(&around, stand->runner, cell);
    cell->usage_begun_ns = os_now_ns();
    usage_read(stand, &cell->usage_before);
    time_limit(stand);
    gate_open(&stand->gate, 1);
    watch(stand);
    usage_read(stand, &cell->usage_after);
    cell->usage_ended_ns = os_now_ns();
    around_stop(&around, stand->runner);
    cell->server_bytes = server_usage_bytes(&cell->usage_after);
    if (cell->server_bytes > cell->session->peak_resident_bytes)
        cell->session->peak_resident_bytes = cell->server_bytes;
    cell->around_fault = around.fault;
    gate_open(&stand->gate, 2);
    watch(stand);
    gate_open(&stand->gate, 3);
    for (uint32_t i = 0; i < stand->worker_count; i++)
        pthread_join(stand->workers[i].thread, NULL);
    overseer_settle(&stand->runner->overseer);
    cell->server_cpu_known = cell->session->server != NULL;
}

/* ---- taking it down */

static void keep_failure(struct cell *cell, const struct client_failure *from)
{
    cell->failure = *from;
    struct value *values[] = {&cell->failure.expected, &cell->failure.found};
    for (int i = 0; i < 2; i++) {
        if (values[i]->type == VALUE_TEXT || values[i]->type == VALUE_BLOB)
            values[i]->as.text = cell->failure.texts[i];
    }
}

static void collect_worker(struct stand *stand, const struct worker *worker)
{
    struct cell *cell = stand->cell;
    recorder_merge(&cell->total, &worker->recorder, &cell->program);
    cell->executions += worker->done_count;
    uint64_t cpu_ns = worker->cpu_ns > worker->spin_ns ? worker->cpu_ns - worker->spin_ns : 0;
    cell->client_cpu_ns += cpu_ns;
    cell->spin_ns += worker->spin_ns;
    cell->run_wait_ns += worker->run_wait_ns;
    if (cpu_ns > cell->busiest_cpu_ns)
        cell->busiest_cpu_ns = cpu_ns;
}

/* What was due and is not done: how long it has taken so far is the least that its response
 * time can be. */
static void keep_unfinished(struct recorder *total, uint64_t due_ns, uint64_t end_ns)
{
    uint64_t least_ns = end_ns > due_ns ? end_ns - due_ns : 0;
    series_record(&total->response, least_ns);
    total->unfinished++;
    if (least_ns < total->unfinished_least_ns)
        total->unfinished_least_ns = least_ns;
}

/* Everything of the schedule that was due before end_ns, taken by a client or not. */
static void collect_schedule(struct stand *stand, uint64_t end_ns)
{
    struct cell *cell = stand->cell;
    uint64_t due_ns, window_end_ns = stand->schedule.start_ns + cell->window_ns;
    bool cut = false; /* stopped before all was due */
    for (uint32_t i = 0; i < cell->clients; i++) {
        due_ns = stand->clients[i].arrival_ns;
        if (due_ns != 0 && due_ns < end_ns)
            keep_unfinished(&cell->total, due_ns, end_ns);
        cut |= due_ns >= end_ns;
    }
    while (!cut && schedule_take(&stand->schedule, &due_ns)) {
        cut = due_ns >= end_ns;
        if (!cut)
            keep_unfinished(&cell->total, due_ns, end_ns);
    }
    cell->due = cell->executions + cell->total.unfinished;
    cell->given_up = atomic_load(&stand->plan.given_up);
    if (cut && end_ns < window_end_ns)
        cell->window_ns =
            end_ns > stand->schedule.start_ns ? end_ns - stand->schedule.start_ns : 0;
    cell->drain_ns = end_ns > window_end_ns ? end_ns - window_end_ns : 0;
}

static void collect(struct stand *stand)
{
    struct cell *cell = stand->cell;
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    recorder_init(&cell->total, stand->runner->arena, &cell->program,
                  executions_of(cell, cell->clients));
    if (stand->plan.schedule)
        recorder_open(&cell->total, stand->runner->arena, executions_of(cell, cell->clients));
    for (uint32_t i = 0; i < stand->worker_count; i++) {
        const struct worker *worker = &stand->workers[i];
        collect_worker(stand, worker);
        first_ns = worker->start_ns < first_ns ? worker->start_ns : first_ns;
        last_ns = worker->end_ns > last_ns ? worker->end_ns : last_ns;
    }
    cell->threads = stand->worker_count;
    cell->wall_ns = last_ns > first_ns ? last_ns - first_ns : 0;
    if (stand->plan.schedule)
        collect_schedule(stand, last_ns);
    for (uint32_t i = 0; i < cell->clients && !cell->failure.failed; i++) {
        if (stand->clients[i].failure.failed)
            keep_failure(cell, &stand->clients[i].failure);
    }
    const struct client_sink *sink = &stand->clients[0].sink;
    cell->has_checksum = sink->hashing && !cell->failure.failed;
    cell->checksum = sink->checksum;
    cell->checksum_rows = sink->rows;
}

static void judge(struct stand *stand)
{
    struct cell *cell = stand->cell;
    struct arena *arena = stand->runner->arena;
    if (stand->timed_out) {
        cell_fail(cell, "failed",
                  arena_printf(arena, "the scenario's deadline of %.1f s is over",
                               (double)cell->scenario->deadline_ns / 1e9));
    } else if (atomic_load(&stand->plan.interrupted)) {
        cell->failure.failed = false;
        cell_fail(cell, "interrupted",
                  stand->runner->timed_out ? "the run's deadline is over"
                                           : "stopped by a signal");
    } else if (!cell->failure.failed && cell->total.operations == 0) {
        cell_fail(cell, "failed",
                  stand->plan.schedule && cell->due == 0
                      ? "nothing was measured: no execution was due in that time at that rate"
                      : "nothing was measured: no operation was executed");
    } else if (cell->failure.failed ||
               (cell->asked && cell->asked != cell->executions + cell->total.unfinished)) {
        cell_fail(cell, "failed", NULL);
    }
    if (stand->severed)
        session_lose(cell->session, "it did not answer, not even a cancel, for 5 s");
}

void stand_run(struct runner *runner, struct cell *cell)
{
    struct stand stand = {.runner = runner, .cell = cell, .begun_ns = os_now_ns()};
    stand.arena = arena_create(16384);
    stand.plan.program = &cell->program;
    stand.plan.scenario = cell->scenario;
    stand.plan.clients = cell->clients;
    atomic_store(&stand.plan.end_ns, UINT64_MAX);
    stand.plan.null_target = cell->session->is_null;
    stand.plan.spinning_most = half_of(runner);
    put_up(&stand);
    measure(&stand);
    collect(&stand);
    judge(&stand);
    for (uint32_t i = 0; i < stand.worker_count; i++)
        arena_destroy(&stand.workers[i].arena);
    gate_done(&stand.gate);
    if (stand.plan.schedule)
        schedule_done(&stand.schedule);
    arena_destroy(&stand.arena);
}
