#include "base/num.h"
#include "cli/cli_internal.h"

#include <errno.h>
#include <inttypes.h>

enum {
    KEY_ON = 0x100,
    KEY_PARAM,
    KEY_QUICK,
    KEY_SEED,
    KEY_OUT,
    KEY_KEEP,
    KEY_PROJECT,
    KEY_FACT,
    KEY_AROUND,
    KEY_AROUND_AT,
    KEY_DEADLINE,
    KEY_NO_FLOORS,
    KEY_JSON,
    KEY_MARKDOWN,
};

static const struct argp_option options[] = {
    CLI_OPTION(
        "on", KEY_ON, "TARGET",
        "what to load, any number of times, as [LABEL=]TARGET: sqlite (default), "
        "sqlite:PATH, sqlite::memory:, postgres, mariadb, mysql (private servers), "
        "postgresql://..., mysql://..., mariadb://..., conninfo:..., null; @FILE reads one "
        "of these from a file",
        1),
    CLI_OPTION("param", KEY_PARAM, "NAME=VALUE", "set a parameter of the suite", 2),
    CLI_OPTION("quick", KEY_QUICK, NULL, "small sizes, a few seconds", 3),
    CLI_OPTION("seed", KEY_SEED, "N", "seed of all generated values (default 1)", 4),
    CLI_OPTION("deadline", KEY_DEADLINE, "TIME",
               "end the run after this time: 90s, 10m (default 1h, and what the load asks for)",
               20),
    CLI_OPTION("out", KEY_OUT, "FILE", "where the record goes (default dbdyno.json)", 21),
    CLI_OPTION("json", KEY_JSON, NULL, "print the record instead of the table", 22),
    CLI_OPTION("markdown", KEY_MARKDOWN, NULL, "print the table as Markdown", 23),
    CLI_OPTION("project", KEY_PROJECT, "DIR",
               "record commit and dirty flag of the software under test", 24),
    CLI_OPTION("fact", KEY_FACT, "NAME=VALUE", "record a fact of your own", 25),
    CLI_OPTION("around", KEY_AROUND, "COMMAND",
               "run a shell command, a profiler say, beside the measured part; it finds "
               "DBDYNO_SERVER_PID, DBDYNO_CLIENT_PID, DBDYNO_TARGET and DBDYNO_SCENARIO in its "
               "environment",
               26),
    CLI_OPTION("around-at", KEY_AROUND_AT, "SCENARIO", "--around for this scenario only", 27),
    CLI_OPTION("no-floors", KEY_NO_FLOORS, NULL,
               "do not measure what the machine can do at best", 28),
    CLI_OPTION("keep", KEY_KEEP, NULL,
               "leave servers, schemas and files; the record says where", 29),
    {0},
};

void cli_push(struct cli *cli, const char ***list, size_t *count, size_t *room,
              const char *text)
{
    *list = arena_grow(cli->arena, (void *)*list, *count, room, *count + 1, sizeof(char *));
    (*list)[(*count)++] = text;
}

static int bad(const struct cli_run *run, const char *option, const char *expected,
               const char *got)
{
    cli_usage(run->name, "--%s: expected %s, got '%s'", option, expected, got);
    return EINVAL;
}

static bool is_pair(const char *text)
{
    const char *equals = strchr(text, '=');
    return equals && equals > text;
}

/* NAME=VALUE whose name was not there before. */
static int take_pair(const struct cli_run *run, const char *option, const char *value,
                     const char *const *earlier, size_t count)
{
    if (!is_pair(value))
        return bad(run, option, "NAME=VALUE", value);
    size_t bytes = (size_t)(strchr(value, '=') - value) + 1;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(earlier[i], value, bytes) != 0)
            continue;
        cli_usage(run->name, "--%s: %.*s is given twice", option, (int)bytes - 1, value);
        return EINVAL;
    }
    return 0;
}

static int take_list(int key, const char *value, struct cli_run *run)
{
    struct cli *cli = run->cli;
    if (key == KEY_ON) {
        cli_push(cli, &run->targets, &run->target_count, &run->target_room, value);
        return 0;
    }
    int fault = key == KEY_PARAM ? take_pair(run, "param", value, run->params, run->param_count)
                                 : take_pair(run, "fact", value, run->facts, run->fact_count);
    if (fault == 0 && key == KEY_PARAM)
        cli_push(cli, &run->params, &run->param_count, &run->param_room, value);
    else if (fault == 0)
        cli_push(cli, &run->facts, &run->fact_count, &run->fact_room,
                 cli_redact(cli->arena, value));
    return fault;
}

static int take_number(int key, const char *value, struct cli_run *run)
{
    if (key == KEY_SEED)
        return num_u64(slice_of(value), &run->seed)
                   ? 0
                   : bad(run, "seed", "a whole number from 0 to 18446744073709551615", value);
    if (!num_duration(slice_of(value), &run->deadline_ns) || run->deadline_ns == 0)
        return bad(run, "deadline", "a time above 0 such as 90s or 10m", value);
    return 0;
}

static int take_word(const char *value, struct cli_run *run)
{
    if (run->suite) {
        cli_usage(run->name, "one suite at a time: '%s' comes after '%s'", value, run->suite);
        return EINVAL;
    }
    run->suite = value;
    return 0;
}

static int check_request(const struct cli_run *run)
{
    if (!run->suite) {
        cli_usage(run->name, "which suite? 'dbdyno list suites' shows what there is");
        return EINVAL;
    }
    if (run->json && run->markdown) {
        cli_usage(run->name, "--json and --markdown both want stdout: choose one");
        return EINVAL;
    }
    if (run->around_at && !run->around) {
        cli_usage(run->name, "--around-at says where; --around COMMAND is missing");
        return EINVAL;
    }
    return 0;
}

static int take_text(int key, const char *value, struct cli_run *run)
{
    const char **place = key == KEY_OUT       ? &run->out
                         : key == KEY_PROJECT ? &run->project
                         : key == KEY_AROUND  ? &run->around
                                              : &run->around_at;
    if (!*value) {
        cli_usage(run->name, "an option has an empty value");
        return EINVAL;
    }
    *place = value;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct cli_run *run = state->input;
    switch (key) {
    case KEY_ON:
    case KEY_PARAM:
    case KEY_FACT: return take_list(key, value, run);
    case KEY_SEED:
    case KEY_DEADLINE: return take_number(key, value, run);
    case KEY_OUT:
    case KEY_PROJECT:
    case KEY_AROUND:
    case KEY_AROUND_AT: return take_text(key, value, run);
    case KEY_QUICK: run->quick = true; return 0;
    case KEY_KEEP: run->keep = true; return 0;
    case KEY_NO_FLOORS: run->no_floors = true; return 0;
    case KEY_JSON: run->json = true; return 0;
    case KEY_MARKDOWN: run->markdown = true; return 0;
    case ARGP_KEY_INIT: state->child_inputs[0] = &run->load; return 0;
    case ARGP_KEY_ARG: return take_word(value, run);
    case ARGP_KEY_END: return check_request(run);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&cli_load_argp, 0, NULL, 0},
    {&cli_common_argp,          0, NULL, -1},
    {0             }
};

static const struct argp run_argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "SUITE|FILE.lua",
    .doc =
        "Measure a suite on one target or on several side by side. Every answer is checked. The "
        "table goes to stdout, the record to a file."
        "\vTIMES are ns, us, ms, s, m or h; a bare number is seconds.\n"
        "\nThe options from --clients to --slo are for the scenarios of a suite that name\n"
        "their clients; the others run as the suite says.\n"
        "\nExamples:\n"
        "  dbdyno run shop --on sqlite --on postgres --on mariadb --out r.json\n"
        "  dbdyno run shop --on 'jit_off=postgres?set.jit=off' --on postgres\n"
        "  dbdyno run my.lua --on @staging.url --param users=1000\n"
        "  dbdyno run point --on postgres --client libpq,wire --clients 8,64\n"
        "  dbdyno run point --on postgres --clients 32 --rate 5000 --duration 30s\n"
        "  dbdyno run point --on postgres --clients 32 --max-rate --slo p99=5ms\n" CLI_EXIT_CODES,
    .children = children,
};

static void redact_command(struct cli_run *run, int argc, char **argv)
{
    struct cli *cli = run->cli;
    run->command = arena_array(cli->arena, const char *, (size_t)argc);
    run->command[0] = "run";
    for (int i = 1; i < argc; i++)
        run->command[i] = cli_redact(cli->arena, argv[i]);
    run->command_count = (size_t)argc;
}

bool cli_run_parse(struct cli *cli, int argc, char **argv, struct cli_run *run, int *exit_code)
{
    *run =
        (struct cli_run){.cli = cli, .name = argv[0], .seed = CLI_RUN_SEED, .out = CLI_RUN_OUT};
    run->load = (struct cli_load){.cli = cli, .command = argv[0]};
    redact_command(run, argc, argv); /* before argp puts the words in another order */
    if (!cli_parse(cli, &run_argp, argc, argv, run, exit_code))
        return false;
    if (run->target_count == 0)
        cli_push(cli, &run->targets, &run->target_count, &run->target_room, CLI_RUN_TARGET);
    return true;
}
