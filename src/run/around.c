/* A command beside the measured part: a profiler, a tracer. It gets SIGINT at the end, as at a
 * terminal, so that it writes its report. */
#include "os/proc.h"
#include "run/run_internal.h"
#include "server/reaper.h"

#include <signal.h>
#include <unistd.h>

#define AROUND_END_NS (10 * NS_PER_S)

void around_start(struct around *around, struct runner *runner, const struct cell *cell)
{
    const struct run_options *options = runner->options;
    const struct server *server = cell->session->server;
    struct err err;
    if (!options->around || (options->around_scenario &&
                             strcmp(options->around_scenario, cell->scenario->name) != 0))
        return;
    int pid = server ? (int)server_pid(server) : (int)getpid(); /* embedded: the stand itself */
    const char *const argv[] = {"/bin/sh", "-c", options->around, NULL};
    const char *const env[] = {
        arena_printf(runner->arena, "DBDYNO_SERVER_PID=%d", pid),
        arena_printf(runner->arena, "DBDYNO_CLIENT_PID=%d", (int)getpid()),
        arena_printf(runner->arena, "DBDYNO_SCENARIO=%s", cell->scenario->name),
        arena_printf(runner->arena, "DBDYNO_TARGET=%s", cell->session->target.label), NULL};
    struct proc_spec spec = {.argv = argv,
                             .extra_env = env,
                             .output_path = "/dev/stderr",
                             .own_group = true,
                             .fd_in = -1};
    if (!proc_start(&spec, reaper_add_process, &around->pid, &err)) {
        around->pid = 0;
        runner_show(runner, err.text, NULL);
    }
}

void around_stop(struct around *around)
{
    int status;
    if (around->pid == 0)
        return;
    (void)kill(-around->pid, SIGINT);
    if (!proc_wait(around->pid, AROUND_END_NS, &status)) {
        (void)kill(-around->pid, SIGKILL);
        (void)proc_wait(around->pid, AROUND_END_NS, &status);
    }
    reaper_drop_process(around->pid);
    around->pid = 0;
}
