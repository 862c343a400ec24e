#include "cli/cli_internal.h"
#include "driver/driver.h"
#include "format/table.h"
#include "record/jsonw.h"
#include "server/server.h"
#include "suite/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

enum { KEY_JSON = 0x100, KEY_QUICK, LIST_ROOM = 4 << 20 };

static const struct argp_option options[] = {
    CLI_OPTION("json", KEY_JSON, NULL, "print JSON", 1),
    CLI_OPTION("quick", KEY_QUICK, NULL, "scenarios as with 'dbdyno run --quick'", 2),
    {0},
};

struct list {
    struct cli *cli;
    const char *what, *suite;
    bool json, quick;
    struct text out;
    struct jsonw writer;
};

static const char *const things[] = {"suites", "scenarios", "drivers"};

static int check_words(const struct list *list)
{
    bool scenarios = list->what && strcmp(list->what, "scenarios") == 0;
    if (scenarios == (list->suite != NULL))
        return 0;
    if (scenarios)
        cli_usage("list", "scenarios of which suite? 'dbdyno list suites' shows what there is");
    else
        cli_usage("list", "unexpected word '%s'", list->suite);
    return EINVAL;
}

static int take_word(struct list *list, const char *word)
{
    if (list->what && list->suite) {
        cli_usage("list", "unexpected word '%s'", word);
        return EINVAL;
    }
    if (list->what) {
        list->suite = word;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_COUNT(things); i++)
        if (strcmp(things[i], word) == 0) {
            list->what = word;
            return 0;
        }
    cli_usage("list", "'%s' cannot be listed, expected suites, scenarios SUITE or drivers%s",
              word, cli_did_you_mean(list->cli, word, things, ARRAY_COUNT(things)));
    return EINVAL;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct list *list = state->input;
    switch (key) {
    case KEY_JSON: list->json = true; return 0;
    case KEY_QUICK: list->quick = true; return 0;
    case ARGP_KEY_ARG: return take_word(list, value);
    case ARGP_KEY_END: return check_words(list);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp list_argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "[suites|scenarios SUITE|drivers]",
    .doc = "What there is. Without a word: suites and drivers. With scenarios also the "
           "suite's parameters, which run's --param sets."
           "\vExamples:\n"
           "  dbdyno list\n"
           "  dbdyno list scenarios shop\n"
           "  dbdyno list drivers --json\n" CLI_EXIT_CODES,
    .children = cli_common_options,
};

static bool load(struct list *list, const char *name, struct suite *suite, int *exit_code)
{
    struct suite_options suite_options = {.name = name,
                                          .quick = list->quick,
                                          .seed = CLI_RUN_SEED};
    return cli_load_suite(list->cli, "list", &suite_options, suite, exit_code);
}

static void json_param(struct jsonw *json, const struct suite_param *param)
{
    jsonw_object(json, NULL, true);
    jsonw_text(json, "name", param->name);
    if (param->value.type == VALUE_INT)
        jsonw_i64(json, "value", param->value.as.i);
    else if (param->value.type == VALUE_REAL)
        jsonw_real(json, "value", param->value.as.r);
    else
        jsonw_slice(json, "value", (struct slice){param->value.as.text, param->value.bytes});
    jsonw_text(json, "help", param->help);
    jsonw_end(json);
}

static void json_params(struct jsonw *json, const struct suite *suite)
{
    jsonw_array(json, "params", false);
    for (uint32_t i = 0; i < suite->param_count; i++)
        json_param(json, &suite->params[i]);
    jsonw_end(json);
}

static void json_suite(struct jsonw *json, const struct suite *suite)
{
    jsonw_object(json, NULL, false);
    jsonw_text(json, "name", suite->name);
    jsonw_text(json, "summary", suite->summary);
    jsonw_i64(json, "scenarios", suite->scenario_count);
    json_params(json, suite);
    jsonw_end(json);
}

/* Within the terminal; nothing is cut, the last column is wrapped. */
static void show(struct list *list, struct table *table)
{
    table_wrap_last(table);
    table_render(table, &list->out, cli_width(STDOUT_FILENO));
}

static bool list_suites(struct list *list, int *exit_code)
{
    struct table *table = table_create(list->cli->arena);
    table_column(table, NULL, "suite", TABLE_LEFT, false);
    table_column(table, NULL, "scenarios", TABLE_RIGHT, false);
    table_column(table, NULL, "what it is", TABLE_LEFT, false);
    if (list->json)
        jsonw_array(&list->writer, "suites", false);
    for (uint32_t i = 0; i < suite_builtin_count; i++) {
        struct suite suite;
        if (!load(list, suite_builtins[i].name, &suite, exit_code))
            return false;
        if (list->json) {
            json_suite(&list->writer, &suite);
            continue;
        }
        table_row(table);
        table_cell(table, suite.name);
        table_cell(table, arena_printf(list->cli->arena, "%" PRIu32, suite.scenario_count));
        table_cell(table, suite.summary ? suite.summary : "");
    }
    if (list->json)
        jsonw_end(&list->writer);
    else
        show(list, table);
    return true;
}

static const char *clients_text(struct list *list, const struct suite_scenario *scenario)
{
    struct text text;
    text_init(&text, list->cli->arena, 200);
    for (uint32_t i = 0; i < scenario->client_count; i++)
        text_addf(&text, "%s%" PRIu32, i ? "," : "", scenario->clients[i]);
    return text.at;
}

static void json_scenario(struct jsonw *json, const struct suite_scenario *scenario)
{
    jsonw_object(json, NULL, false);
    jsonw_text(json, "name", scenario->name);
    jsonw_text(json, "help", scenario->help);
    jsonw_text(json, "where", scenario->where);
    jsonw_array(json, "clients", true);
    for (uint32_t i = 0; i < scenario->client_count; i++)
        jsonw_i64(json, NULL, scenario->clients[i]);
    jsonw_end(json);
    jsonw_i64(json, "warmup", scenario->warmup);
    jsonw_u64(json, "samples", scenario->samples);
    jsonw_u64(json, "duration_ns", scenario->duration_ns);
    jsonw_u64(json, "deadline_ns", scenario->deadline_ns);
    jsonw_end(json);
}

static void scenario_row(struct list *list, struct table *table,
                         const struct suite_scenario *scenario)
{
    struct arena *arena = list->cli->arena;
    table_row(table);
    table_cell(table, scenario->name);
    table_cell(table, clients_text(list, scenario));
    if (scenario->duration_ns > 0)
        table_cell(table, arena_printf(arena, "%" PRIu32 " + %.3g s", scenario->warmup,
                                       (double)scenario->duration_ns / 1e9));
    else
        table_cell(table, arena_printf(arena, "%" PRIu32 " + %" PRIu64, scenario->warmup,
                                       scenario->samples));
    table_cell(table, scenario->help ? scenario->help : "");
}

static void list_params(struct list *list, const struct suite *suite)
{
    char shown[200];
    struct table *table = table_create(list->cli->arena);
    table_column(table, NULL, "parameter", TABLE_LEFT, false);
    table_column(table, NULL, "value", TABLE_RIGHT, false);
    table_column(table, NULL, "what it is", TABLE_LEFT, false);
    for (uint32_t i = 0; i < suite->param_count; i++) {
        value_print(shown, sizeof(shown), &suite->params[i].value);
        table_row(table);
        table_cell(table, suite->params[i].name);
        table_cell(table, shown);
        table_cell(table, suite->params[i].help ? suite->params[i].help : "");
    }
    if (suite->param_count > 0) {
        text_add_char(&list->out, '\n');
        show(list, table);
    }
}

static bool list_scenarios(struct list *list, int *exit_code)
{
    struct suite suite;
    if (!load(list, list->suite, &suite, exit_code))
        return false;
    struct table *table = table_create(list->cli->arena);
    table_column(table, NULL, "scenario", TABLE_LEFT, false);
    table_column(table, NULL, "clients", TABLE_RIGHT, false);
    table_column(table, NULL, "warm-up + timed", TABLE_RIGHT, false);
    table_column(table, NULL, "what it does", TABLE_LEFT, false);
    if (list->json) {
        jsonw_text(&list->writer, "suite", suite.name);
        jsonw_array(&list->writer, "scenarios", false);
    }
    for (uint32_t i = 0; i < suite.scenario_count; i++)
        if (list->json)
            json_scenario(&list->writer, &suite.scenarios[i]);
        else
            scenario_row(list, table, &suite.scenarios[i]);
    if (!list->json) {
        show(list, table);
        list_params(list, &suite);
        return true;
    }
    jsonw_end(&list->writer);
    json_params(&list->writer, &suite);
    return true;
}

static const struct {
    const char *kind;
    bool managed;
    enum server_kind server;
} kinds[] = {
    {"sqlite",   false, SERVER_POSTGRES},
    {"postgres", true,  SERVER_POSTGRES},
    {"mariadb",  true,  SERVER_MARIADB },
    {"mysql",    true,  SERVER_MYSQL   },
    {"null",     false, SERVER_POSTGRES},
};

/* Where the server is, or how to get it. */
static const char *server_state(struct list *list, bool managed, const char *path,
                                const char *package)
{
    if (!managed)
        return "built in";
    if (path)
        return path;
    if (package)
        return arena_printf(list->cli->arena, "not found: apt-get install %s", package);
    return "not found: no Debian package; ?bin=DIR for your own";
}

static void json_driver(struct jsonw *json, size_t kind, const struct drv_target *target,
                        const char *path, const char *package)
{
    jsonw_object(json, NULL, false);
    jsonw_text(json, "target", kinds[kind].kind);
    jsonw_text(json, "client", target->class->name);
    jsonw_text(json, "summary", target->class->summary);
    jsonw_bool(json, "managed", kinds[kind].managed);
    jsonw_text(json, "server", path);
    jsonw_text(json, "package", package);
    jsonw_end(json);
}

static bool list_drivers(struct list *list, int *exit_code)
{
    struct table *table = table_create(list->cli->arena);
    table_column(table, NULL, "target", TABLE_LEFT, false);
    table_column(table, NULL, "client", TABLE_LEFT, false);
    table_column(table, NULL, "server", TABLE_LEFT, false);
    if (list->json)
        jsonw_array(&list->writer, "drivers", false);
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        struct drv_target target;
        struct err err = {.kind = ERR_NONE};
        const char *path = NULL, *package = NULL;
        if (!drv_target_parse(list->cli->arena, kinds[i].kind, &target, &err)) {
            *exit_code = cli_fail(&err);
            return false;
        }
        if (kinds[i].managed) {
            path = server_find(list->cli->arena, kinds[i].server, NULL);
            package = server_package(kinds[i].server);
        }
        if (list->json) {
            json_driver(&list->writer, i, &target, path, package);
            continue;
        }
        table_row(table);
        table_cell(table, kinds[i].kind);
        table_cell(table, target.class->name);
        table_cell(table, server_state(list, kinds[i].managed, path, package));
    }
    if (list->json)
        jsonw_end(&list->writer);
    else
        show(list, table);
    return true;
}

static bool list_asked(struct list *list, int *exit_code)
{
    if (!list->what) {
        if (!list_suites(list, exit_code))
            return false;
        if (!list->json)
            text_add_char(&list->out, '\n');
        return list_drivers(list, exit_code);
    }
    if (strcmp(list->what, "suites") == 0)
        return list_suites(list, exit_code);
    if (strcmp(list->what, "drivers") == 0)
        return list_drivers(list, exit_code);
    return list_scenarios(list, exit_code);
}

int cmd_list(struct cli *cli, int argc, char **argv)
{
    struct list list = {.cli = cli};
    int exit_code = CLI_FINE;
    if (!cli_parse(cli, &list_argp, argc, argv, &list, &exit_code))
        return exit_code;
    text_init(&list.out, cli->arena, LIST_ROOM);
    jsonw_init(&list.writer, &list.out);
    if (list.json)
        jsonw_object(&list.writer, NULL, false);
    if (!list_asked(&list, &exit_code))
        return exit_code;
    if (list.json) {
        jsonw_end(&list.writer);
        text_add_char(&list.out, '\n');
    }
    return cli_print_text(&list.out);
}
