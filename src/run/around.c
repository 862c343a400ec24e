/* A command beside the measured part: a profiler, a tracer. It gets SIGINT at the end, as at a
 * terminal, so that it writes its report. */
#include "os/proc.h"
#include "run/run_internal.h"
#include "server/reaper.h"

#include <signal.h>
#include <unistd.h>

#define AROUND_END_NS (10 * NS_PER_S)

/* Embedded: the stand itself. A server that we did not start has no pid that we know. */
static const char *server_variable(struct arena *arena, const struct session *session)
{
    if (session->server)
        return arena_printf(arena, "DBDYNO_SERVER_PID=%d", (int)server_pid(session->server));
    if (session->target.home == DRV_HOME_EMBEDDED)
        return arena_printf(arena, "DBDYNO_SERVER_PID=%d", (int)getpid());
    return "DBDYNO_SERVER_PID=";
}

void around_start(struct around *around, const struct runner *runner, const struct cell *cell)
{
    const struct run_options *options = runner->options;
    if (!options->around || (options->around_scenario &&
                             strcmp(options->around_scenario, cell->scenario->name) != 0))
        return;
    const char *const argv[] = {"/bin/sh", "-c", options->around, NULL};
    const char *const env[] = {
        server_variable(runner->arena, cell->session),
        arena_printf(runner->arena, "DBDYNO_CLIENT_PID=%d", (int)getpid()),
        arena_printf(runner->arena, "DBDYNO_SCENARIO=%s", cell->scenario->name),
        arena_printf(runner->arena, "DBDYNO_TARGET=%s", cell->session->target.label), NULL};
    struct proc_spec spec = {.argv = argv,
                             .extra_env = env,
                             .output_path = "/dev/stderr",
                             .own_group = true,
                             .fd_in = -1};
    struct err err;
    if (!proc_start(&spec, reaper_add_process, &around->pid, &err)) {
        around->pid = 0;
        around->fault = arena_text(runner->arena, err.text);
    }
}

void around_stop(struct around *around, const struct runner *runner)
{
    int status;
    char how[80];
    if (around->pid == 0)
        return;
    bool early = proc_wait(around->pid, 0, &status);
    if (early && status != 0) {
        proc_status_text(status, how, sizeof how);
        around->fault =
            arena_printf(runner->arena, "it ended before the measured part: %s", how);
    }
    if (!early)
        (void)kill(-around->pid, SIGINT);
    if (!early && !proc_wait(around->pid, AROUND_END_NS, &status)) {
        (void)kill(-around->pid, SIGKILL);
        (void)proc_wait(around->pid, AROUND_END_NS, &status);
    }
    reaper_drop_process(around->pid);
    around->pid = 0;
}
