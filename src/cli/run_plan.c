#include "cli/cli_internal.h"
#include "driver/driver.h"
#include "os/fs.h"
#include "suite/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

enum { LEFT_ROOM = 1 << 16 };

#define DEADLINE_NS (3600 * NS_PER_S)

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

static bool parse_target(const struct cli_run *run, const char *text, const char *client,
                         struct drv_target *target, int *exit_code)
{
    struct err err = {.kind = ERR_NONE};
    if (drv_target_parse_client(run->cli->arena, text, client, target, &err))
        return true;
    const char *near =
        strstr(err.text, "is no kind of target") ? suggest_kind(run->cli, text) : "";
    *exit_code =
        err.kind == ERR_USAGE ? cli_usage(run->name, "%s%s", err.text, near) : cli_fail(&err);
    return false;
}

static bool add_target(const struct cli_run *run, struct cli_plan *plan,
                       const struct drv_target *target, int *exit_code)
{
    for (uint32_t i = 0; i < plan->target_count; i++) {
        if (strcmp(plan->targets[i].label, target->label) != 0)
            continue;
        *exit_code = cli_usage(run->name,
                               "two targets are labelled '%s': name one of them, as in "
                               "--on %s2=%s",
                               target->label, target->label, target->shown);
        return false;
    }
    plan->targets[plan->target_count++] = *target;
    return true;
}

/* A target once for each client of --client that it has; the one that is its kind's own keeps
 * the label. */
static bool add_clients(const struct cli_run *run, struct cli_plan *plan, const char *text,
                        const struct drv_target *plain, int *exit_code)
{
    const struct cli_load *load = &run->load;
    uint32_t before = plan->target_count;
    const char *names[8];
    uint32_t count = 0;
    for (uint32_t i = 0; i < load->driver_count; i++) {
        if (drv_find_client(plain->dialect, slice_of(load->drivers[i])))
            names[count++] = load->drivers[i];
    }
    if (count == 1 && load->driver_count > 1)
        cli_say("of the clients that --client names, %s has %s alone", plain->label, names[0]);
    for (uint32_t i = 0; i < count; i++) {
        struct drv_target target;
        if (!parse_target(run, text, names[i], &target, exit_code))
            return false;
        if (count > 1 && target.class != plain->class)
            target.label = arena_printf(run->cli->arena, "%s-%s", target.label, names[i]);
        if (!add_target(run, plan, &target, exit_code))
            return false;
    }
    if (plan->target_count > before)
        return true;
    bool wire = drv_find_client(plain->dialect, slice_of("wire")) != NULL;
    *exit_code = cli_usage(run->name, "--client %s: the clients of %s are %s%s",
                           load->given[CLI_LOAD_CLIENT], plain->label, plain->class->name,
                           wire ? " and wire" : ""); /* all that it could be */
    return false;
}

/* A name of --client that no target can have is a mistake. */
static bool check_drivers(const struct cli_run *run, const struct cli_plan *plan,
                          int *exit_code)
{
    const struct cli_load *load = &run->load;
    for (uint32_t i = 0; i < load->driver_count; i++) {
        bool used = false;
        for (uint32_t k = 0; k < plan->target_count && !used; k++)
            used = plan->targets[k].client &&
                   strcmp(plan->targets[k].client, load->drivers[i]) == 0;
        if (used)
            continue;
        *exit_code =
            cli_usage(run->name, "--client: no target has the client %s", load->drivers[i]);
        return false;
    }
    return true;
}

static bool parse_targets(const struct cli_run *run, struct cli_plan *plan, int *exit_code)
{
    uint32_t clients = run->load.driver_count;
    plan->targets = arena_array(run->cli->arena, struct drv_target,
                                run->target_count * (clients ? clients : 1));
    plan->target_count = 0;
    for (size_t i = 0; i < run->target_count; i++) {
        struct drv_target target;
        const char *text = run->targets[i];
        if (!parse_target(run, text, NULL, &target, exit_code))
            return false;
        bool open = clients > 0 && target.home != DRV_HOME_EMBEDDED && !target.client;
        bool added = open ? add_clients(run, plan, text, &target, exit_code)
                          : add_target(run, plan, &target, exit_code);
        if (!added)
            return false;
    }
    return check_drivers(run, plan, exit_code);
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

static bool check_pin_server(const struct cli_run *run, const struct cli_plan *plan,
                             int *exit_code)
{
    bool managed = false;
    for (uint32_t i = 0; i < plan->target_count; i++)
        managed = managed || plan->targets[i].home == DRV_HOME_MANAGED;
    if (managed || run->load.pin_server_count == 0)
        return true;
    *exit_code = cli_usage(run->name, "--pin-server: no target is a server that is started for "
                                      "the run (postgres, mariadb, mysql)");
    return false;
}

/* The load, and a deadline that leaves it its time. */
static bool plan_load(const struct cli_run *run, struct cli_plan *plan, int *exit_code)
{
    struct text left;
    struct err err = {.kind = ERR_NONE};
    text_init(&left, run->cli->arena, LEFT_ROOM);
    if (!cli_load_apply(run->cli->arena, &run->load, &plan->suite, &left, &err)) {
        *exit_code = cli_usage(run->name, "%s", err.text);
        return false;
    }
    struct slice line, rest = slice_of(left.at);
    while (slice_split(rest, '\n', &line, &rest))
        cli_say("runs as the suite says: %.*s", (int)line.bytes, line.at);
    uint64_t time_ns = cli_load_time_ns(&run->load, &plan->suite) * plan->target_count;
    plan->deadline_ns = run->deadline_ns ? run->deadline_ns
                        : time_ns > 0    ? time_ns + DEADLINE_NS
                                         : 0;
    if (run->deadline_ns == 0 || run->deadline_ns > time_ns)
        return true;
    *exit_code = cli_usage(run->name, "--deadline: the load alone takes %" PRIu64 " s",
                           time_ns / NS_PER_S);
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
        !parse_targets(run, plan, exit_code) || !check_pin_server(run, plan, exit_code) ||
        !plan_load(run, plan, exit_code))
        return false;
    if (fs_check_writable(run->out, &err))
        return true;
    err_wrap(&err, "the record cannot be written, nothing was measured");
    *exit_code = cli_fail(&err);
    return false;
}
