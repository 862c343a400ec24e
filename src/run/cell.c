/* One scenario on one target with so many clients. */
#include "base/text.h"
#include "os/now.h"
#include "run/run_internal.h"

#include <errno.h>

#define LOOK_NS         (10 * NS_PER_MS) /* how often the watch looks */
#define GRACE_NS        (300 * NS_PER_MS) /* from a stop until running operations are cancelled */
#define CANCEL_AGAIN_NS (500 * NS_PER_MS)
#define GIVE_UP_NS      (15 * NS_PER_S) /* from a stop until the server is stopped under them */

/* A cell while it is measured. */
struct stand {
    struct runner *runner;
    struct cell *cell;
    struct arena *arena;
    struct client_plan plan;
    struct gate gate;
    struct worker *workers;
    uint32_t worker_count;
    struct client *clients;
    uint64_t begun_ns, stopped_ns, cancelled_ns;
    bool timed_out, abandoned;
};

static void fail_cell(struct cell *cell, const char *verdict, const char *reason)
{
    if (cell->verdict)
        return;
    cell->verdict = verdict;
    cell->reason = reason;
}

/* ---- the watch: deadlines, signals, progress */

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
        client->class->cancel(client->conn);
        stand->cancelled_ns = now_ns;
    }
}

static void give_up(struct stand *stand)
{
    struct session *session = stand->cell->session;
    text_print(session->why_lost, sizeof session->why_lost,
               "a statement did not return after it was cancelled; the server was stopped");
    session->lost = true;
    if (session->server)
        server_stop(&session->server);
    else
        stand->abandoned = true;
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
    if (stand->stopped_ns == 0 && plan_stopped(&stand->plan))
        stand->stopped_ns =
            now_ns; /* a client failed: the others end at their next execution */
    if (stand->stopped_ns && now_ns > stand->stopped_ns + GRACE_NS)
        cancel_running(stand, now_ns, true);
    if (stand->stopped_ns && now_ns > stand->stopped_ns + GIVE_UP_NS)
        give_up(stand);
    runner_show(runner, stand->cell->scenario->name, stand->cell->session->target.label);
}

/* Waits until all workers are at the gate. */
static void watch(struct stand *stand)
{
    while (!stand->abandoned && !gate_wait(&stand->gate, stand->worker_count, LOOK_NS))
        look(stand);
}

/* ---- putting it up */

static uint32_t threads_for(const struct runner *runner, const struct cell *cell)
{
    if (!(cell->session->target.class->caps & DRV_CAP_ASYNC))
        return cell->clients;
    uint32_t half = runner->cpus > 1 ? runner->cpus / 2 : 1; /* the server needs the rest */
    return cell->clients < half ? cell->clients : half;
}

/* Executions that `clients` of the cell's will record; 0: not known. */
static uint64_t executions_of(const struct cell *cell, uint64_t clients)
{
    const struct program *program = &cell->program;
    uint64_t sum = 0;
    if (cell->scenario->duration_ns)
        return 0;
    for (uint32_t i = 0; i < program->stage_count; i++) {
        uint64_t all = program->stages[i].executions;
        sum +=
            all ? all / cell->clients * clients + clients : cell->scenario->samples * clients;
    }
    return sum;
}

static void put_up(struct stand *stand)
{
    struct cell *cell = stand->cell;
    uint32_t next = 0;
    gate_init(&stand->gate);
    stand->worker_count = threads_for(stand->runner, cell);
    stand->workers = arena_array(stand->arena, struct worker, stand->worker_count);
    stand->clients = arena_array(stand->arena, struct client, cell->clients);
    for (uint32_t i = 0; i < stand->worker_count; i++) {
        struct worker *worker = &stand->workers[i];
        uint32_t share = cell->clients / stand->worker_count;
        worker->client_count = share + (i < cell->clients % stand->worker_count);
        worker->clients = &stand->clients[next];
        worker->gate = &stand->gate;
        worker->plan = &stand->plan;
        worker->warmup = cell->scenario->warmup;
        worker->executions = cell->scenario->duration_ns ? UINT64_MAX : cell->scenario->samples;
        worker->arena = arena_create(16384);
        recorder_init(&worker->recorder, worker->arena, &cell->program,
                      executions_of(cell, worker->client_count));
        for (uint32_t k = 0; k < worker->client_count; k++, next++) {
            stand->clients[next].number = next + 1;
            client_init(&stand->clients[next], worker->arena, &stand->plan,
                        cell->session->conns[next], &worker->recorder);
        }
    }
}

/* Starts the threads; a worker that cannot be started is an error of the cell. */
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
        fail_cell(stand->cell, "failed", arena_text(stand->runner->arena, err.text));
        stand->worker_count = i;
        plan_stop(&stand->plan);
        return false;
    }
    return true;
}

static void usage_read(const struct cell *cell, struct server_usage *usage)
{
    if (cell->session->server)
        server_usage_read(server_pid(cell->session->server), usage);
}

static void finish_threads(struct stand *stand)
{
    for (uint32_t i = 0; i < stand->worker_count; i++) {
        if (stand->abandoned)
            pthread_detach(stand->workers[i].thread);
        else
            pthread_join(stand->workers[i].thread, NULL);
    }
}

/* A duration begins as the gate opens; a stop that has come stays. */
static void time_limit(struct stand *stand)
{
    uint_fast64_t none = UINT64_MAX;
    uint64_t duration_ns = stand->cell->scenario->duration_ns;
    if (duration_ns)
        atomic_compare_exchange_strong(&stand->plan.end_ns, &none, os_now_ns() + duration_ns);
}

static void measure(struct stand *stand)
{
    struct cell *cell = stand->cell;
    struct around around = {0};
    bool started = start_threads(stand);
    watch(stand);
    if (started && !plan_stopped(&stand->plan))
        around_start(&around, stand->runner, cell);
    usage_read(cell, &cell->usage_before);
    time_limit(stand);
    gate_open(&stand->gate, 1);
    watch(stand);
    usage_read(cell, &cell->usage_after);
    around_stop(&around);
    gate_open(&stand->gate, 2);
    finish_threads(stand);
    cell->server_cpu_known = cell->session->server != NULL;
}

uint64_t cell_server_cpu_ns(const struct cell *cell)
{
    return server_usage_cost_ns(&cell->usage_before, &cell->usage_after, cell->wall_ns);
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

static void collect(struct stand *stand)
{
    struct cell *cell = stand->cell;
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    recorder_init(&cell->total, stand->runner->arena, &cell->program,
                  executions_of(cell, cell->clients));
    for (uint32_t i = 0; i < stand->worker_count; i++) {
        const struct worker *worker = &stand->workers[i];
        recorder_merge(&cell->total, &worker->recorder, &cell->program);
        cell->executions += worker->done_count;
        cell->client_cpu_ns += worker->cpu_ns;
        cell->run_wait_ns += worker->run_wait_ns;
        if (worker->cpu_ns > cell->busiest_cpu_ns)
            cell->busiest_cpu_ns = worker->cpu_ns;
        first_ns = worker->start_ns < first_ns ? worker->start_ns : first_ns;
        last_ns = worker->end_ns > last_ns ? worker->end_ns : last_ns;
    }
    cell->threads = stand->worker_count;
    cell->wall_ns = last_ns > first_ns ? last_ns - first_ns : 0;
    for (uint32_t i = 0; i < cell->clients && !cell->failure.failed; i++) {
        if (stand->clients[i].failure.failed)
            keep_failure(cell, &stand->clients[i].failure);
    }
}

/* Runs the program once more with every row hashed, outside the measured part. */
static void checksum(struct stand *stand)
{
    struct cell *cell = stand->cell;
    struct client *client = &stand->clients[0];
    client_begin_checksum(client);
    worker_run_alone(client);
    cell->has_checksum = !client->failure.failed;
    cell->checksum = client->sink.checksum;
    cell->checksum_rows = client->sink.rows;
}

static void judge(struct stand *stand)
{
    struct cell *cell = stand->cell;
    struct arena *arena = stand->runner->arena;
    if (stand->abandoned || stand->timed_out) {
        fail_cell(cell, "failed",
                  arena_printf(arena, "the scenario's deadline of %.1f s is over",
                               (double)cell->scenario->deadline_ns / 1e9));
    } else if (atomic_load(&stand->plan.interrupted)) {
        cell->failure.failed = false;
        fail_cell(cell, "interrupted",
                  stand->runner->timed_out ? "the run's deadline is over"
                                           : "stopped by a signal");
    } else if (cell->failure.failed) {
        fail_cell(cell, "failed", NULL);
    } else if (cell->total.operations == 0) {
        fail_cell(cell, "failed", "nothing was measured: no operation was executed");
    }
}

static void stand_run(struct runner *runner, struct cell *cell)
{
    struct stand stand = {.runner = runner, .cell = cell, .begun_ns = os_now_ns()};
    stand.arena = arena_create(16384);
    stand.plan.program = &cell->program;
    stand.plan.scenario = cell->scenario;
    stand.plan.clients = cell->clients;
    atomic_store(&stand.plan.end_ns, UINT64_MAX);
    stand.plan.null_target = strcmp(cell->session->target.kind, "null") == 0;
    put_up(&stand);
    measure(&stand);
    if (!stand.abandoned) {
        collect(&stand);
        judge(&stand);
        if (!cell->verdict && cell->scenario->equal == SUITE_EQUAL_ROWS &&
            !stand.plan.null_target)
            checksum(&stand);
        for (uint32_t i = 0; i < stand.worker_count; i++)
            arena_destroy(&stand.workers[i].arena);
        gate_done(&stand.gate);
        arena_destroy(&stand.arena);
    } else {
        judge(&stand); /* threads that hang still use their memory: it stays */
    }
}

/* ---- before and after */

static bool table_count(struct cell *cell, struct arena *arena, int64_t *count)
{
    struct drv_conn *control = cell->session->control;
    struct value value;
    struct err err;
    const char *sql =
        arena_printf(arena, "SELECT COUNT(*) FROM %s", cell->scenario->growth_table);
    if (!control->class->query(control, arena, sql, &value, NULL, &err) ||
        value.type != VALUE_INT)
        return false;
    *count = value.as.i;
    return true;
}

static void after_query(struct cell *cell, struct arena *arena, uint32_t index)
{
    const struct suite_query *query = &cell->scenario->after[index];
    struct after_result *result = &cell->after[index];
    struct drv_conn *control = cell->session->control;
    const char *sql = query->sql.text[cell->session->target.dialect];
    struct value found = {0};
    uint64_t rows = 0;
    struct err err;
    if (!sql || !control->class->query(control, arena, sql, &found, &rows, &err)) {
        result->error = sql ? arena_text(arena, err.text) : "no text for this dialect";
        return;
    }
    result->expected = query->has_value ? query->value : value_int((int64_t)query->rows);
    result->found = query->has_value ? value_copy(arena, &found) : value_int((int64_t)rows);
    result->ok = value_same(&result->expected, &result->found);
    if (query->has_value && query->has_rows && query->rows != rows) {
        result->expected = value_int((int64_t)query->rows);
        result->found = value_int((int64_t)rows);
        result->ok = false;
    }
}

static void check_after(struct runner *runner, struct cell *cell)
{
    const struct suite_scenario *scenario = cell->scenario;
    struct cell_counts *growth = &cell->growth;
    cell->after = arena_array(runner->arena, struct after_result, scenario->after_count);
    if (growth->known) {
        growth->known = table_count(cell, runner->arena, &growth->after);
        if (!growth->known || growth->after - growth->before != scenario->growth)
            fail_cell(cell, "failed", NULL);
    }
    for (uint32_t i = 0; i < scenario->after_count; i++) {
        after_query(cell, runner->arena, i);
        if (!cell->after[i].ok)
            fail_cell(cell, "failed", NULL);
    }
}

static bool prepare_all(struct cell *cell, struct err *err)
{
    const struct program *program = &cell->program;
    for (uint32_t i = 0; i < cell->clients; i++) {
        struct drv_conn *conn = cell->session->conns[i];
        if (!conn->class->prepare(conn, program->stmts, program->stmt_count, err))
            return false;
    }
    return true;
}

static bool get_ready(struct runner *runner, struct cell *cell)
{
    struct session *session = cell->session;
    const struct suite *suite = runner->options->suite;
    struct err err = {0};
    if (!suite_compile(runner->arena, suite, cell->scenario, session->target.dialect,
                       &cell->program, &err)) {
        bool refused = err.kind == ERR_NONE;
        fail_cell(cell, refused ? "not-applicable" : "failed",
                  arena_text(runner->arena, err.text));
        return false;
    }
    cell->connect_ns = arena_array(runner->arena, uint64_t, cell->clients);
    if (!session_connect(session, cell->clients, cell->connect_ns, &cell->connect_count,
                         &err) ||
        !prepare_all(cell, &err)) {
        fail_cell(cell, "failed", arena_text(runner->arena, err.text));
        return false;
    }
    if (cell->scenario->growth_table)
        cell->growth.known = table_count(cell, runner->arena, &cell->growth.before);
    return true;
}

void cell_run(struct runner *runner, struct cell *cell)
{
    struct session *session = cell->session;
    bool null_target = strcmp(session->target.kind, "null") == 0;
    if (session->lost)
        fail_cell(cell, "not-run", session->why_lost);
    else if (runner_stopping(runner))
        fail_cell(cell, "not-run",
                  runner->timed_out ? "the run's deadline was over"
                                    : "the run was stopped by a signal");
    else if (session->blocked_by)
        fail_cell(cell, "not-run",
                  arena_printf(runner->arena, "%s failed, and this builds on it",
                               session->blocked_by));
    if (cell->verdict)
        return;
    if (get_ready(runner, cell)) {
        stand_run(runner, cell);
        if (!cell->verdict && !null_target)
            check_after(runner, cell);
    }
    if (cell->verdict && strcmp(cell->verdict, "not-applicable") != 0) {
        if (!session->lost)
            session_disconnect(session, 0); /* may be inside a transaction: start afresh */
        (void)session_alive(session);
    }
}
