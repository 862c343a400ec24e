#include "cli/cli_internal.h"
#include "driver/target.h"
#include "os/fs.h"
#include "suite/suite.h"

#include <errno.h>
#include <sys/stat.h>

static bool ends_in(const char *text, const char *end)
{
    size_t bytes = strlen(text), end_bytes = strlen(end);
    return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

/* A suite that is named and not a file: the nearest name helps more than a list alone. */
static bool check_suite_name(struct cli *cli, const char *command, const char *name,
                             int *exit_code)
{
    const char **names = arena_array(cli->arena, const char *, suite_builtin_count);
    struct text all;
    if (ends_in(name, ".sql")) {
        *exit_code =
            cli_usage(command,
                      "'%s': SQL scripts are not supported yet; a suite is a .lua file "
                      "or one of 'dbdyno list suites'",
                      name);
        return false;
    }
    if (strchr(name, '/') || ends_in(name, ".lua"))
        return true;
    text_init(&all, cli->arena, 400);
    for (uint32_t i = 0; i < suite_builtin_count; i++) {
        names[i] = suite_builtins[i].name;
        if (strcmp(names[i], name) == 0)
            return true;
        text_addf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = cli_did_you_mean(cli, name, names, suite_builtin_count);
    *exit_code = cli_usage(command, "unknown suite '%s'%s There are: %s, and FILE.lua", name,
                           *near ? near : ".", all.at);
    return false;
}

bool cli_load_suite(struct cli *cli, const char *command,
                    const struct suite_options *suite_options, struct suite *suite,
                    int *exit_code)
{
    struct suite_faults faults = {NULL, 0};
    struct err err = {.kind = ERR_NONE};
    if (!check_suite_name(cli, command, suite_options->name, exit_code))
        return false;
    if (suite_load(cli->arena, suite_options, suite, &faults, &err)) {
        if (strcmp(suite->path, "built-in") != 0)
            suite->path = fs_absolute(cli->arena, suite->path);
        return true;
    }
    if (err.kind == ERR_USAGE) {
        *exit_code = cli_usage(command, "%s", err.text);
        return false;
    }
    for (uint32_t i = 0; i < faults.count; i++)
        fprintf(stderr, "%s\n", faults.texts[i]);
    if (faults.count == 0)
        cli_fail(&err);
    else if (faults.count > 1)
        cli_say("%u faults in %s", faults.count, suite_options->name);
    *exit_code = err_exit_code(err.kind);
    return false;
}

/* What is meant by a target that could not be parsed: its kind, without label and path. */
static const char *suggest_kind(struct cli *cli, const char *text)
{
    static const char *const kinds[] = {"sqlite", "postgres",   "mariadb", "mysql",
                                        "null",   "postgresql", "conninfo"};
    struct slice label, rest, kind, tail;
    if (!slice_split(slice_of(text), '=', &label, &rest) || strpbrk(text, ":?/"))
        rest = slice_of(text);
    kind = rest;
    slice_split(rest, '?', &kind, &tail);
    slice_split(kind, ':', &kind, &tail);
    const char *word = arena_slice(cli->arena, kind);
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kinds[i], word) == 0)
            return "";
    return cli_did_you_mean(cli, word, kinds, ARRAY_COUNT(kinds));
}

static bool parse_targets(const struct cli_run *run, struct cli_plan *plan, int *exit_code)
{
    struct cli *cli = run->cli;
    plan->targets = arena_array(cli->arena, struct drv_target, run->target_count);
    plan->target_count = (uint32_t)run->target_count;
    for (size_t i = 0; i < run->target_count; i++) {
        struct drv_target *target = &plan->targets[i];
        struct err err = {.kind = ERR_NONE};
        if (!drv_target_parse(cli->arena, run->targets[i], target, &err)) {
            const char *near = suggest_kind(cli, run->targets[i]);
            *exit_code = err.kind == ERR_USAGE ? cli_usage(run->name, "%s%s", err.text, near)
                                               : cli_fail(&err);
            return false;
        }
        for (size_t k = 0; k < i; k++)
            if (strcmp(plan->targets[k].label, target->label) == 0) {
                *exit_code = cli_usage(run->name,
                                       "two targets are labelled '%s': name one of them, as in "
                                       "--on %s2=%s",
                                       target->label, target->label, target->shown);
                return false;
            }
    }
    return true;
}

static bool check_around(const struct cli_run *run, const struct suite *suite, int *exit_code)
{
    if (!run->around_at)
        return true;
    const char **names = arena_array(run->cli->arena, const char *, suite->scenario_count);
    for (uint32_t i = 0; i < suite->scenario_count; i++) {
        names[i] = suite->scenarios[i].name;
        if (strcmp(names[i], run->around_at) == 0)
            return true;
    }
    *exit_code =
        cli_usage(run->name, "--around-at: the suite has no scenario '%s'%s", run->around_at,
                  cli_did_you_mean(run->cli, run->around_at, names, suite->scenario_count));
    return false;
}

static bool check_project(const struct cli_run *run, int *exit_code)
{
    struct stat info;
    if (!run->project)
        return true;
    bool there = stat(run->project, &info) == 0;
    if (there && S_ISDIR(info.st_mode))
        return true;
    char reason[128];
    *exit_code = cli_usage(run->name, "--project: %s: %s", run->project,
                           there ? "not a folder" : strerror_r(errno, reason, sizeof(reason)));
    return false;
}

bool cli_run_plan(const struct cli_run *run, struct cli_plan *plan, int *exit_code)
{
    struct suite_options suite_options = {
        .name = run->suite,
        .overrides = run->params,
        .override_count = (uint32_t)run->param_count,
        .quick = run->quick,
        .seed = run->seed,
    };
    struct err err = {.kind = ERR_NONE};
    if (!cli_load_suite(run->cli, run->name, &suite_options, &plan->suite, exit_code) ||
        !check_around(run, &plan->suite, exit_code) || !check_project(run, exit_code) ||
        !parse_targets(run, plan, exit_code))
        return false;
    if (fs_check_writable(run->out, &err))
        return true;
    err_wrap(&err, "the record cannot be written, nothing was measured");
    *exit_code = cli_fail(&err);
    return false;
}
