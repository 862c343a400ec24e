#include "run/run.h"

#include "base/text.h"
#include "os/now.h"
#include "os/sig.h"
#include "run/note_internal.h"
#include "server/reaper.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <signal.h>

#define DEADLINE_NS (3600 * NS_PER_S)
#define SHOW_NS     (250 * NS_PER_MS)

bool run_prepare_process(struct err *err)
{
    return reaper_start(session_cleanup, err);
}

void run_finish_process(void)
{
    reaper_finish();
}

/* ---- what cells ask of the run */

void runner_show(struct runner *runner, const char *step, const char *target)
{
    char line[160];
    uint64_t now_ns = os_now_ns();
    if (!runner->options->progress || now_ns < runner->shown_ns + SHOW_NS)
        return;
    runner->shown_ns = now_ns;
    text_print(line, sizeof line, "%s%s%s", step, target ? " on " : "", target ? target : "");
    struct run_progress progress = {.step = line,
                                    .done = runner->cells_done,
                                    .total = runner->cells_total,
                                    .elapsed_ns = now_ns - runner->start_ns};
    runner->options->progress(runner->options->progress_context, &progress);
}

bool runner_stopping(struct runner *runner)
{
    if (runner->signal_number == 0)
        runner->signal_number = sig_pending();
    if (os_now_ns() > runner->deadline_ns)
        runner->timed_out = true;
    return runner->signal_number != 0 || runner->timed_out;
}

/* ---- the parts of a run */

static uint32_t clients_max(const struct suite *suite)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < suite->scenario_count; i++) {
        for (uint32_t k = 0; k < suite->scenarios[i].client_count; k++) {
            if (suite->scenarios[i].clients[k] > most)
                most = suite->scenarios[i].clients[k];
        }
    }
    return most;
}

static uint32_t cells_total(const struct suite *suite, uint32_t targets)
{
    uint32_t cells = 0;
    for (uint32_t i = 0; i < suite->scenario_count; i++)
        cells += suite->scenarios[i].client_count;
    return cells * targets;
}

static uint32_t cpus_allowed(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (uint32_t)CPU_COUNT(&set);
}

static bool stopped_early(struct runner *runner, struct err *err)
{
    if (!runner_stopping(runner))
        return false;
    if (runner->signal_number)
        (void)err_set(err, ERR_CANCELLED, "interrupted before anything was measured");
    else
        (void)err_set(err, ERR_DATABASE,
                      "the run's deadline was over before anything was measured (--deadline)");
    return true;
}

static bool open_sessions(struct runner *runner, struct err *err)
{
    const struct run_options *options = runner->options;
    uint32_t most = clients_max(options->suite);
    if (!limits_check_process(runner, most, err))
        return false;
    runner->sessions = arena_array(runner->arena, struct session, options->target_count);
    for (uint32_t i = 0; i < options->target_count; i++) {
        const struct drv_target *target = &options->targets[i];
        runner->shown_ns = 0;
        runner_show(runner, target->home == DRV_HOME_MANAGED ? "starting" : "opening",
                    target->label);
        if (stopped_early(runner, err))
            return false;
        if (!session_open(&runner->sessions[i], runner->arena, target, options, most, err)) {
            (void)stopped_early(runner, err);
            return false;
        }
        runner->session_count++;
    }
    return limits_check_servers(runner, most, err);
}

static void close_sessions(struct runner *runner)
{
    for (uint32_t i = 0; i < runner->session_count; i++)
        session_close(&runner->sessions[i], runner->options->keep);
}

/* A scenario that others build on: it makes or fills a table. */
static bool is_foundation(const struct cell *cell)
{
    if (cell->scenario->rows_loaded)
        return true;
    const struct program *program = &cell->program;
    return program->stmt_count == 1 && program->stmts[0].direct &&
           slice_starts(slice_of(program->stmts[0].sql), "CREATE TABLE");
}

/* All targets in one cell of the suite, their order rotated by the seed and the cell's number.
 */
static void run_row(struct runner *runner, const struct suite_scenario *scenario,
                    uint32_t clients)
{
    uint32_t count = runner->session_count;
    struct cell *cells = arena_array(runner->arena, struct cell, count);
    uint64_t turn = runner->options->suite->seed + runner->cells_done / count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = (uint32_t)((i + turn) % count);
        struct cell *cell = &cells[index];
        cell->scenario = scenario;
        cell->session = &runner->sessions[index];
        cell->clients = clients;
        runner_show(runner, scenario->name, cell->session->target.label);
        cell_run(runner, cell);
        runner->cells_done++;
        if (cell->verdict && strcmp(cell->verdict, "failed") == 0 && is_foundation(cell))
            cell->session->blocked_by = scenario->name;
    }
    for (uint32_t i = 0; i < count; i++)
        note_cell(runner, &cells[i]);
    note_costs(runner, cells, count);
    if (scenario->equal == SUITE_EQUAL_ROWS)
        note_answers(runner, cells, count);
}

static void run_scenarios(struct runner *runner)
{
    const struct suite *suite = runner->options->suite;
    for (uint32_t i = 0; i < suite->scenario_count; i++) {
        const struct suite_scenario *scenario = &suite->scenarios[i];
        bool search = search_wanted(runner, scenario);
        for (uint32_t k = 0; k < scenario->client_count; k++)
            (search ? search_row : run_row)(runner, scenario, scenario->clients[k]);
    }
}

/* ---- the record around it */

static const char *now_text(struct arena *arena)
{
    char text[40];
    os_wall_text(os_wall_ns(), text, sizeof text);
    return arena_text(arena, text);
}

static const char *build_text(struct arena *arena)
{
#ifdef __OPTIMIZE__
    const char *kind = "optimised";
#else
    const char *kind = "debug";
#endif
    return arena_printf(arena, "%s, %s, glibc %s", "compiler " __VERSION__, kind,
                        gnu_get_libc_version());
}

static void note_suite(struct record *record, const struct suite *suite)
{
    record->suite = suite->name;
    record->suite_path = suite->path;
    record->suite_hash =
        arena_printf(record->arena, "%016llx", (unsigned long long)suite->hash);
    record->seed = suite->seed;
    record->quick = suite->quick;
    for (uint32_t i = 0; i < suite->param_count; i++)
        rec_pairs_add(record->arena, &record->suite_params, suite->params[i].name,
                      suite->params[i].value);
}

static void note_facts(struct record *record, const struct run_options *options)
{
    for (uint32_t i = 0; i < options->fact_count; i++) {
        struct slice name, text;
        (void)slice_split(slice_of(options->facts[i]), '=', &name, &text);
        rec_pairs_add(record->arena, &record->facts, arena_slice(record->arena, name),
                      value_text(text.at, (uint32_t)text.bytes));
    }
}

static struct record *record_begin(struct arena *arena, const struct run_options *options)
{
    struct record *record = record_create(arena);
    record->dbdyno_version = DBDYNO_VERSION;
    record->build = build_text(arena);
    record->started = now_text(arena);
    record->command = arena_array(arena, const char *, options->command_count + 1u);
    record->command_count = options->command_count;
    for (uint32_t i = 0; i < options->command_count; i++)
        record->command[i] = arena_text(arena, options->command[i]);
    if (options->suite)
        note_suite(record, options->suite);
    note_facts(record, options);
    if (options->project)
        note_project(record, options->project);
    return record;
}

/* What became of the targets, and what their servers used at most. */
static void note_ends(struct runner *runner)
{
    for (uint32_t i = 0; i < runner->session_count; i++) {
        const struct session *session = &runner->sessions[i];
        struct rec_target *target = &runner->record->targets[i];
        if (session->server)
            target->peak_resident_bytes =
                (struct rec_number){true, session->peak_resident_bytes};
        if (!session->lost)
            continue;
        target->verdict = "lost";
        target->reason = arena_text(runner->arena, session->why_lost);
    }
}

static bool any(const struct record *record, const char *verdict)
{
    for (size_t i = 0; i < record->cell_count; i++) {
        if (strcmp(record->cells[i].verdict, verdict) == 0)
            return true;
    }
    for (size_t i = 0; i < record->guard_count; i++) {
        bool same = (strcmp(verdict, "invalid") == 0 &&
                     strcmp(record->guards[i].level, "invalid") == 0) ||
                    (strcmp(verdict, "reserve") == 0 &&
                     strcmp(record->guards[i].level, "warning") == 0);
        if (same)
            return true;
    }
    return false;
}

static const char *signal_name(int number)
{
    if (number == SIGINT)
        return "SIGINT";
    return number == SIGHUP ? "SIGHUP" : "SIGTERM";
}

/* The first cell or guard that made the verdict, in words. */
static const char *verdict_reason(const struct record *record)
{
    const char *level = strcmp(record->verdict, "invalid") == 0 ? "invalid" : "warning";
    for (size_t i = 0; i < record->cell_count; i++) {
        const struct rec_cell *cell = &record->cells[i];
        if (strcmp(cell->verdict, record->verdict) == 0)
            return arena_printf(record->arena, "%s on %s: %s", cell->name, cell->target,
                                cell->reason ? cell->reason : cell->verdict);
    }
    for (size_t i = 0; i < record->guard_count; i++) {
        if (strcmp(record->guards[i].level, level) == 0)
            return record->guards[i].text;
    }
    return NULL;
}

void note_verdict(struct runner *runner)
{
    static const char *const order[] = {"failed", "invalid", "reserve"};
    struct record *record = runner->record;
    record->verdict = "valid";
    for (size_t i = 0; i < ARRAY_COUNT(order) && strcmp(record->verdict, "valid") == 0; i++) {
        if (any(record, order[i]))
            record->verdict = order[i];
    }
    if (strcmp(record->verdict, "valid") != 0)
        record->reason = verdict_reason(record);
    for (size_t i = 0; i < record->target_count; i++) {
        const struct rec_target *target = &record->targets[i];
        if (!target->verdict || strcmp(target->verdict, "lost") != 0)
            continue;
        if (strcmp(record->verdict, "failed") != 0)
            record->reason =
                arena_printf(runner->arena, "%s was lost: %s", target->label, target->reason);
        record->verdict = "failed";
    }
    if (runner->signal_number) {
        record->reason = arena_printf(runner->arena, "stopped by %s after %u of %u cells",
                                      signal_name(runner->signal_number), runner->cells_done,
                                      runner->cells_total);
        record->verdict = "interrupted";
    } else if (runner->timed_out) {
        record->reason = "the run's deadline was over (--deadline)";
        record->verdict = "failed";
    }
}

static void measure(struct runner *runner, const struct host_counters *before)
{
    struct host_counters after;
    note_floors(runner, "before");
    run_scenarios(runner);
    if (!runner_stopping(runner))
        note_floors(runner, "after");
    host_count(&after);
    note_ends(runner);
    note_relations(runner);
    note_run(runner, before, &after);
    note_verdict(runner);
}

/* A schema that could not be dropped: the server does not answer. The reaper tries once more.
 */
static void note_left(struct runner *runner)
{
    for (uint32_t i = 0; i < runner->session_count; i++) {
        const struct session *session = &runner->sessions[i];
        struct rec_target *target = &runner->record->targets[i];
        if (session->cleanup && session->place && !target->kept)
            target->kept =
                arena_printf(runner->arena,
                             "%s could not be dropped; if it is still there, drop it",
                             session->place);
    }
}

static bool run_sessions(struct runner *runner, const struct host_counters *before,
                         struct err *err)
{
    bool opened = open_sessions(runner, err);
    if (opened) {
        note_targets(runner);
        note_host(runner->record, session_data_folder(&runner->sessions[0]));
        note_pins(runner->record, runner->options);
        measure(runner, before);
    }
    close_sessions(runner);
    if (opened)
        note_left(runner);
    return opened;
}

bool run_suite(struct arena *arena, const struct run_options *options, struct record **record,
               int *signal_number, struct err *err)
{
    struct host_counters before;
    struct runner *runner = arena_new(arena, struct runner);
    *runner = (struct runner){.arena = arena,
                              .options = options,
                              .cpus = cpus_allowed(),
                              .start_ns = os_now_ns()};
    runner->cells_total = cells_total(options->suite, options->target_count);
    runner->deadline_ns =
        runner->start_ns + (options->deadline_ns ? options->deadline_ns : DEADLINE_NS);
    host_count(&before); /* before anything of ours makes the machine busy */
    runner->record = record_begin(arena, options);
    probe_clock(&runner->clock);
    if (!overseer_start(&runner->overseer, err))
        return false;
    bool done = run_sessions(runner, &before, err);
    overseer_stop(&runner->overseer);
    runner->record->ended = now_text(arena);
    runner->record->duration_ns = os_now_ns() - runner->start_ns;
    *signal_number = runner->signal_number;
    if (done)
        *record = runner->record;
    return done;
}

int run_exit_code(const struct record *record, int signal_number)
{
    if (signal_number)
        return 128 + signal_number;
    if (strcmp(record->verdict, "failed") == 0)
        return 5;
    return strcmp(record->verdict, "invalid") == 0 ? 6 : 0;
}

bool run_floors(struct arena *arena, uint64_t budget_ns, run_progress_fn progress,
                void *context, struct record **record, struct err *err)
{
    struct probe_floor floors[PROBE_FLOORS_MAX];
    struct run_options options = {.progress = progress, .progress_context = context};
    struct runner runner = {.arena = arena, .options = &options, .start_ns = os_now_ns()};
    (void)err;
    runner_show(&runner, "floors of this machine", NULL);
    *record = record_begin(arena, &options);
    note_host(*record, NULL);
    note_floors_of(*record, NULL, budget_ns, "before", floors);
    (*record)->ended = now_text(arena);
    (*record)->duration_ns = os_now_ns() - runner.start_ns;
    (*record)->verdict = "valid";
    return true;
}
