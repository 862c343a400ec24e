#include "cli/cli_internal.h"
#include "driver/driver.h"
#include "host/host.h"
#include "os/fs.h"
#include "os/proc.h"
#include "record/record_json.h"
#include "server/server.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

enum { KEY_ON = 0x100, KEY_OUT, KEY_AROUND, KEY_JSON, KEY_MARKDOWN, VERSION_ROOM = 4096 };

static const char default_out[] = "dbdyno-rerun.json";

static const struct argp_option options[] = {
    CLI_OPTION(
        "on", KEY_ON, "LABEL=TARGET",
        "another target under a label of the record; needed for those whose password the "
        "record does not have: --on LABEL=@FILE",
        1),
    CLI_OPTION("out", KEY_OUT, "FILE", "where the new record goes (default dbdyno-rerun.json)",
               2),
    CLI_OPTION("json", KEY_JSON, NULL, "print the record instead of the table", 3),
    CLI_OPTION("markdown", KEY_MARKDOWN, NULL, "print the table as Markdown", 4),
    CLI_OPTION("around", KEY_AROUND, "COMMAND",
               "shell command beside the measured part; the record's own is not run", 5),
    {0},
};

struct rerun {
    struct cli *cli;
    const char *path, *out, *around;
    const char **targets;
    size_t target_count, target_room;
    bool json, markdown;
    const struct record *record;
    unsigned differ;
};

static error_t take_record(struct rerun *rerun, const char *word)
{
    if (rerun->path) {
        cli_usage("rerun", "one record at a time: '%s' comes after '%s'", word, rerun->path);
        return EINVAL;
    }
    rerun->path = word;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct rerun *rerun = state->input;
    switch (key) {
    case KEY_ON:
        cli_push(rerun->cli, &rerun->targets, &rerun->target_count, &rerun->target_room, value);
        return 0;
    case KEY_OUT: rerun->out = value; return 0;
    case KEY_AROUND: rerun->around = value; return 0;
    case KEY_JSON: rerun->json = true; return 0;
    case KEY_MARKDOWN: rerun->markdown = true; return 0;
    case ARGP_KEY_ARG: return take_record(rerun, value);
    case ARGP_KEY_END:
        if (rerun->path)
            return 0;
        cli_usage("rerun", "which record?");
        return EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp rerun_argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "RECORD",
    .doc =
        "Run the command of a record again, with its seed and settings. First says on stderr "
        "what is not as it was: host, versions, suite."
        "\vExamples:\n"
        "  dbdyno rerun dbdyno.json\n"
        "  dbdyno rerun r.json --on staging=@staging.url --out again.json\n" CLI_EXIT_CODES,
    .children = cli_common_options,
};

/* ---- what differs */

static void differs(struct rerun *rerun, const char *what, const char *then, const char *now)
{
    if (!then || !now || strcmp(then, now) == 0)
        return;
    rerun->differ++;
    cli_say("differs: %s was %s, is %s", what, then, now);
}

static const char *pair_text(struct cli *cli, const struct rec_pairs *pairs, const char *name)
{
    const struct value *value = rec_pairs_find(pairs, name);
    return value && value->type == VALUE_TEXT
               ? arena_slice(cli->arena, (struct slice){value->as.text, value->bytes})
               : NULL;
}

static void compare_params(struct rerun *rerun, const struct suite *suite)
{
    char then[128], now[128];
    for (uint32_t i = 0; i < suite->param_count; i++) {
        const struct suite_param *param = &suite->params[i];
        const struct value *old = rec_pairs_find(&rerun->record->suite_params, param->name);
        if (!old || value_same(old, &param->value))
            continue;
        value_print(then, sizeof(then), old);
        value_print(now, sizeof(now), &param->value);
        differs(rerun, arena_printf(rerun->cli->arena, "parameter %s", param->name), then, now);
    }
}

/* The first "12.3" or "12.3.4" of a text. */
static const char *version_number(struct cli *cli, const char *text)
{
    for (const char *at = text; *at; at++) {
        size_t bytes = strspn(at, "0123456789.");
        if (bytes >= 3 && isdigit((unsigned char)*at) && memchr(at, '.', bytes))
            return arena_slice(cli->arena, (struct slice){at, bytes});
        at += bytes > 0 ? bytes - 1 : 0;
    }
    return NULL;
}

static const char *managed_version(struct cli *cli, const struct drv_target *target)
{
    static const struct {
        const char *name;
        enum server_kind kind;
    } kinds[] = {
        {"postgres", SERVER_POSTGRES},
        {"mariadb",  SERVER_MARIADB },
        {"mysql",    SERVER_MYSQL   }
    };
    struct err err = {.kind = ERR_NONE};
    const char *output = NULL, *path = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kinds[i].name, target->kind) == 0)
            path = server_find(cli->arena, kinds[i].kind, target->bin);
    const char *words[] = {path, "--version", NULL};
    if (!path || !proc_capture(cli->arena, words, 10 * NS_PER_S, VERSION_ROOM, &output, &err))
        return NULL;
    return version_number(cli, output);
}

/* A server that cannot be asked is no difference: the run will say what is wrong. */
static const char *running_version(struct cli *cli, const struct drv_target *target)
{
    struct drv_conn *conn = NULL;
    struct drv_facts facts = {0};
    struct err err = {.kind = ERR_NONE};
    struct drv_target control = drv_control_target(cli->arena, target);
    if (!drv_open(&control, &conn, &err))
        return NULL;
    bool known = conn->class->describe(conn, cli->arena, &facts, &err);
    drv_close(&conn);
    return known && facts.server_version ? version_number(cli, facts.server_version) : NULL;
}

static const struct rec_target *find_target(const struct record *record, const char *label)
{
    for (size_t i = 0; i < record->target_count; i++)
        if (strcmp(record->targets[i].label, label) == 0)
            return &record->targets[i];
    return NULL;
}

static void compare_target(struct rerun *rerun, const struct drv_target *target)
{
    struct cli *cli = rerun->cli;
    const struct rec_target *old = find_target(rerun->record, target->label);
    const char *then =
        old && old->server_version ? version_number(cli, old->server_version) : NULL;
    const char *now = NULL;
    if (!old)
        return;
    if (target->class->library)
        differs(rerun, arena_printf(cli->arena, "%s: client", target->label),
                old->client_version, target->class->library(cli->arena));
    if (target->home == DRV_HOME_MANAGED)
        now = managed_version(cli, target);
    else if (target->home == DRV_HOME_RUNNING)
        now = running_version(cli, target);
    differs(rerun, arena_printf(cli->arena, "%s: server", target->label), then, now);
}

static void compare_all(struct rerun *rerun, const struct cli_plan *plan)
{
    struct cli *cli = rerun->cli;
    const struct record *record = rerun->record;
    struct host_facts host;
    host_read(cli->arena, fs_temp_root(), &host);
    differs(rerun, "host class", pair_text(cli, &record->host, "class"), host.class);
    differs(rerun, "dbdyno", record->dbdyno_version, DBDYNO_VERSION);
    differs(rerun, "suite hash", record->suite_hash,
            arena_printf(cli->arena, "%016" PRIx64, plan->suite.hash));
    compare_params(rerun, &plan->suite);
    for (uint32_t i = 0; i < plan->target_count; i++)
        compare_target(rerun, &plan->targets[i]);
    if (rerun->differ == 0)
        cli_say("host, versions and suite are as they were");
}

/* ---- the command again */

static bool was_redacted(const char *text)
{
    return strstr(text, "***") != NULL;
}

/* The label of a target as the command line named it, or NULL when it cannot be told. */
static const char *label_of(struct cli *cli, const char *text)
{
    struct drv_target target;
    struct err err = {.kind = ERR_NONE};
    return drv_target_parse(cli->arena, text, &target, &err) ? target.label : NULL;
}

/* Puts each --on of ours in the place of the target with its label. */
static bool replace_targets(struct rerun *rerun, struct cli_run *run, int *exit_code)
{
    struct cli *cli = rerun->cli;
    for (size_t i = 0; i < rerun->target_count; i++) {
        struct drv_target target;
        struct err err = {.kind = ERR_NONE};
        bool placed = false;
        if (!drv_target_parse(cli->arena, rerun->targets[i], &target, &err)) {
            *exit_code =
                err.kind == ERR_USAGE ? cli_usage("rerun", "%s", err.text) : cli_fail(&err);
            return false;
        }
        for (size_t k = 0; k < run->target_count && !placed; k++) {
            const char *label = label_of(cli, run->targets[k]);
            if (!label && k < rerun->record->target_count)
                label = rerun->record->targets[k].label;
            placed = label && strcmp(label, target.label) == 0;
            if (placed)
                run->targets[k] = rerun->targets[i];
        }
        if (!placed) {
            *exit_code = cli_usage("rerun", "the record has no target '%s'", target.label);
            return false;
        }
    }
    return true;
}

static bool check_secrets(struct rerun *rerun, const struct cli_run *run, int *exit_code)
{
    for (size_t i = 0; i < run->target_count; i++) {
        if (!was_redacted(run->targets[i]))
            continue;
        const char *label = label_of(rerun->cli, run->targets[i]);
        label = label ? label : "LABEL";
        *exit_code = cli_usage("rerun",
                               "the record does not have the password of %s; write the target "
                               "into a file and add --on %s=@FILE",
                               run->targets[i], label);
        return false;
    }
    return true;
}

static void spell_option(struct cli_run *run, size_t *room, const char *option,
                         const char *value)
{
    cli_push(run->cli, &run->command, &run->command_count, room, option);
    if (value)
        cli_push(run->cli, &run->command, &run->command_count, room,
                 cli_redact(run->cli->arena, value));
}

/* The same run as one command line, so that a record of a rerun can be rerun. */
static void spell_command(struct cli_run *run)
{
    size_t room = 0;
    run->command = NULL;
    run->command_count = 0;
    spell_option(run, &room, "run", run->suite);
    for (size_t i = 0; i < run->target_count; i++)
        spell_option(run, &room, "--on", run->targets[i]);
    for (size_t i = 0; i < run->param_count; i++)
        spell_option(run, &room, "--param", run->params[i]);
    for (size_t i = 0; i < run->fact_count; i++)
        spell_option(run, &room, "--fact", run->facts[i]);
    spell_option(run, &room, "--seed", arena_printf(run->cli->arena, "%" PRIu64, run->seed));
    spell_option(run, &room, "--out", run->out);
    if (run->quick)
        spell_option(run, &room, "--quick", NULL);
    if (run->keep)
        spell_option(run, &room, "--keep", NULL);
    if (run->no_floors)
        spell_option(run, &room, "--no-floors", NULL);
    if (run->project)
        spell_option(run, &room, "--project", run->project);
    if (run->around)
        spell_option(run, &room, "--around", run->around);
    if (run->around_at)
        spell_option(run, &room, "--around-at", run->around_at);
    if (run->deadline_ns > 0)
        spell_option(run, &room, "--deadline",
                     arena_printf(run->cli->arena, "%" PRIu64 "ns", run->deadline_ns));
    cli_load_spell(&run->load, &run->command, &run->command_count, &room);
}

static void say_command(const struct cli_run *run)
{
    struct text text;
    text_init(&text, run->cli->arena, 1500);
    for (size_t i = 0; i < run->command_count; i++)
        if (strpbrk(run->command[i], " ?&*$"))
            text_addf(&text, " '%s'", run->command[i]);
        else
            text_addf(&text, " %s", run->command[i]);
    cli_say("running again: dbdyno%s", text.at);
}

/* The suite's file where it was, wherever we are; false when it is gone. */
static bool find_suite(struct rerun *rerun, struct cli_run *run, int *exit_code)
{
    const char *path = rerun->record->suite_path;
    struct err err = {.kind = ERR_NONE};
    if (!path || strcmp(path, "built-in") == 0)
        return true;
    run->suite = path;
    if (access(path, R_OK) == 0)
        return true;
    (void)err_errno(&err, "the suite of %s, %s", rerun->path, path);
    *exit_code = cli_fail(&err);
    return false;
}

/* The record's command as a request. It comes from a file, so its shell command is left out. */
static bool read_command(struct rerun *rerun, struct cli_run *run, int *exit_code)
{
    struct cli *cli = rerun->cli;
    const struct record *record = rerun->record;
    if (record->command_count < 2 || strcmp(record->command[0], "run") != 0) {
        cli_say("%s has no 'run' command to repeat", rerun->path);
        *exit_code = CLI_BAD_SUITE;
        return false;
    }
    char **words = arena_array(cli->arena, char *, record->command_count + 1);
    for (size_t i = 0; i < record->command_count; i++)
        words[i] = arena_text(cli->arena, record->command[i]);
    if (!cli_run_parse(cli, (int)record->command_count, words, run, exit_code))
        return false;
    if (!find_suite(rerun, run, exit_code))
        return false;
    if (run->project)
        run->project = pair_text(cli, &record->project, "folder");
    run->name = run->load.command = "rerun";
    run->seed = record->seed;
    run->out = rerun->out ? rerun->out : default_out;
    run->json = rerun->json;
    run->markdown = rerun->markdown;
    if (run->around && !rerun->around)
        cli_say("left out: --around '%s'; give --around again to have it", run->around);
    run->around = rerun->around;
    run->around_at = rerun->around ? run->around_at : NULL;
    return true;
}

int cmd_rerun(struct cli *cli, int argc, char **argv)
{
    struct rerun rerun = {.cli = cli};
    struct record *record = NULL;
    struct cli_run run;
    struct cli_plan plan;
    struct err err = {.kind = ERR_NONE};
    int exit_code = CLI_FINE;
    if (!cli_parse(cli, &rerun_argp, argc, argv, &rerun, &exit_code))
        return exit_code;
    if (rerun.json && rerun.markdown)
        return cli_usage("rerun", "--json and --markdown both want stdout: choose one");
    if (!record_read(cli->arena, rerun.path, &record, &err))
        return cli_fail(&err);
    rerun.record = record;
    if (!read_command(&rerun, &run, &exit_code) || !replace_targets(&rerun, &run, &exit_code) ||
        !check_secrets(&rerun, &run, &exit_code))
        return exit_code;
    spell_command(&run);
    say_command(&run);
    if (!cli_run_plan(&run, &plan, &exit_code))
        return exit_code;
    compare_all(&rerun, &plan);
    return cli_run_measure(&run, &plan);
}
