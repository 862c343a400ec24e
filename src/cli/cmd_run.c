#include "cli/cli_internal.h"
#include "guard/guard.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/sig.h"
#include "record/record_json.h"
#include "report/report.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { REPORT_ROOM = 64 << 20 };

static const uint64_t floor_budget_ns = NS_PER_S;
static const uint64_t floor_quick_ns = 300 * NS_PER_MS;

/* A record that cannot go where it was wanted is still minutes of work. */
static void save_elsewhere(const struct cli_run *run, const struct record *record,
                           struct err *first)
{
    struct err err = {.kind = ERR_NONE};
    const char *path = arena_printf(run->cli->arena, "%s/dbdyno-%d-%" PRIu64 ".json",
                                    fs_temp_root(), (int)getpid(), os_wall_ns() / NS_PER_MS);
    cli_say("the record could not be written: %s", first->text);
    if (record_write(record, path, &err))
        cli_say("it is in %s instead; choose another place with --out", path);
    else
        cli_say("nor to the folder for temporary files: %s; --json prints it to stdout",
                err.text);
}

static int print_result(const struct cli_run *run, const struct record *record)
{
    struct text out;
    if (run->json) {
        size_t bytes = 0;
        const char *json = record_to_json(run->cli->arena, record, &bytes);
        return cli_print(json, bytes);
    }
    text_init(&out, run->cli->arena, REPORT_ROOM);
    if (run->markdown)
        report_markdown(record, &out);
    else
        report_terminal(record, &out, cli_width(STDOUT_FILENO), cli_colour(STDOUT_FILENO));
    return cli_print_text(&out);
}

/* An interrupted or failed run says so, whatever becomes of its output. */
static int worst(int measured, int written, int printed)
{
    if (measured >= CLI_SIGNAL || measured == CLI_FAILED)
        return measured;
    if (written != CLI_FINE || printed != CLI_FINE)
        return CLI_SYSTEM;
    return measured;
}

/* The record tells the folder to whoever reads it, from wherever. */
static const char *project_of(const struct cli_run *run)
{
    char real[PATH_MAX];
    return run->project && realpath(run->project, real) ? arena_text(run->cli->arena, real)
                                                        : run->project;
}

static struct run_options run_options_of(const struct cli_run *run, const struct cli_plan *plan,
                                         struct cli_progress *progress)
{
    uint64_t budget_ns = run->quick ? floor_quick_ns : floor_budget_ns;
    return (struct run_options){
        .suite = &plan->suite,
        .targets = plan->targets,
        .target_count = plan->target_count,
        .keep = run->keep,
        .project = project_of(run),
        .facts = run->facts,
        .fact_count = (uint32_t)run->fact_count,
        .command = run->command,
        .command_count = (uint32_t)run->command_count,
        .around = run->around,
        .around_scenario = run->around_at,
        .threads = run->load.threads,
        .pin = run->load.pin,
        .pin_count = run->load.pin_count,
        .pin_server = run->load.pin_server,
        .pin_server_count = run->load.pin_server_count,
        .slo_ppm = run->load.slo_ppm,
        .slo_ns = run->load.slo_ns,
        .deadline_ns = plan->deadline_ns,
        .floor_budget_ns = run->no_floors ? 0 : budget_ns,
        .progress = cli_progress_show,
        .progress_context = progress,
    };
}

/* What ran beside us took cores and disk from us. */
static void note_others(const struct cli_run *run, struct record *record, const char *others)
{
    struct rec_guard *guard = record_add_guard(record);
    guard->id = "another-run";
    guard->code = "D38";
    guard->level = guard_level_name(GUARD_WARNING);
    guard->text = arena_printf(run->cli->arena,
                               "another dbdyno (%s) ran at the same time: both took cores and "
                               "disk from each other; run them one after the other",
                               others);
    if (strcmp(record->verdict, "valid") != 0)
        return;
    record->verdict = "reserve";
    record->reason = guard->text;
}

struct outcome {
    struct record *record;
    int signal_number;
};

static bool measure(const struct cli_run *run, const struct cli_plan *plan,
                    const struct cli_claim *claim, struct outcome *outcome, struct err *err)
{
    struct arena *arena = run->cli->arena;
    struct cli_progress progress;
    const char *others = cli_claim_others(arena, claim);
    if (others)
        cli_say("another dbdyno is running (%s): the figures of both will suffer", others);
    cli_progress_init(&progress);
    struct run_options options = run_options_of(run, plan, &progress);
    bool measured = run_suite(arena, &options, &outcome->record, &outcome->signal_number, err);
    cli_progress_end(&progress);
    others = others ? others : cli_claim_others(arena, claim);
    if (measured && others)
        note_others(run, outcome->record, others);
    return measured;
}

int cli_run_measure(const struct cli_run *run, const struct cli_plan *plan)
{
    struct cli_claim claim;
    struct outcome outcome = {.record = NULL};
    struct err err = {.kind = ERR_NONE};
    int written = CLI_FINE;
    sig_install();
    if (!run_prepare_process(&err))
        return cli_fail(&err);
    bool measured = cli_claim_output(run->cli->arena, run->out, &claim, &err) &&
                    measure(run, plan, &claim, &outcome, &err);
    run_finish_process();
    if (!measured)
        return cli_fail_run(&err);
    if (!record_write(outcome.record, run->out, &err)) {
        save_elsewhere(run, outcome.record, &err);
        written = CLI_SYSTEM;
    }
    cli_claim_drop(&claim);
    int printed = print_result(run, outcome.record);
    return worst(run_exit_code(outcome.record, outcome.signal_number), written, printed);
}

int cmd_run(struct cli *cli, int argc, char **argv)
{
    struct cli_run run;
    struct cli_plan plan;
    int exit_code = CLI_FINE;
    sig_install(); /* before anything is made that would have to go again */
    if (!cli_run_parse(cli, argc, argv, &run, &exit_code) ||
        !cli_run_plan(&run, &plan, &exit_code))
        return exit_code;
    return cli_run_measure(&run, &plan);
}
