#include "cli/cli_internal.h"
#include "os/sig.h"
#include "record/record_json.h"
#include "report/report.h"

#include <errno.h>
#include <unistd.h>

enum { KEY_JSON = 0x100, REPORT_ROOM = 1 << 20 };

static const struct argp_option options[] = {
    CLI_OPTION("json", KEY_JSON, NULL, "print a record without scenarios", 1),
    {0},
};

struct floors {
    struct cli *cli;
    bool json;
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct floors *floors = state->input;
    switch (key) {
    case KEY_JSON: floors->json = true; return 0;
    case ARGP_KEY_ARG: cli_usage("floors", "unexpected word '%s'", value); return EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp floors_argp = {
    .options = options,
    .parser = parse_option,
    .doc =
        "What this machine can do at best: fdatasync, disk, loopback, memory, clock. Scratch "
        "files go to $TMPDIR or /tmp. Takes a few seconds."
        "\vExample:\n"
        "  TMPDIR=/srv/data dbdyno floors     on the disk that the database will use\n" CLI_EXIT_CODES,
    .children = cli_common_options,
};

static int print_floors(const struct floors *floors, const struct record *record)
{
    struct text out;
    if (floors->json) {
        size_t bytes = 0;
        const char *json = record_to_json(floors->cli->arena, record, &bytes);
        return cli_print(json, bytes);
    }
    text_init(&out, floors->cli->arena, REPORT_ROOM);
    report_floors(record->floors, record->floor_count, &out, cli_width(STDOUT_FILENO));
    return cli_print_text(&out);
}

int cmd_floors(struct cli *cli, int argc, char **argv)
{
    struct floors floors = {.cli = cli};
    struct cli_progress progress;
    struct record *record = NULL;
    struct err err = {.kind = ERR_NONE};
    int exit_code = CLI_FINE;
    if (!cli_parse(cli, &floors_argp, argc, argv, &floors, &exit_code))
        return exit_code;
    sig_install();
    if (!run_prepare_process(&err))
        return cli_fail(&err);
    cli_progress_init(&progress);
    bool measured =
        run_floors(cli->arena, 2 * NS_PER_S, cli_progress_show, &progress, &record, &err);
    cli_progress_end(&progress);
    run_finish_process();
    if (!measured)
        return cli_fail_run(&err);
    int printed = print_floors(&floors, record);
    int code = run_exit_code(record, sig_pending());
    return code != CLI_FINE ? code : printed;
}
