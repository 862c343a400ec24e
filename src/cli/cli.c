#include "cli/cli.h"

#include "cli/cli_internal.h"
#include "driver/driver.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { ARENA_BYTES = 64 << 10, HELP_ROOM = 8 << 10 };

const struct cli_command cli_commands[] = {
    {"run",    "measure a suite on targets; prints a table, writes the record", cmd_run   },
    {"list",   "what there is: suites, scenarios, drivers",                     cmd_list  },
    {"floors", "what this machine can do at best",                              cmd_floors},
    {"rerun",  "a record's command, seed and settings again; what differs",     cmd_rerun },
    {"fill",   "figures of a record between markers in a document",             cmd_fill  },
    {NULL,     NULL,                                                            NULL      },
};

static void add_help(struct text *out)
{
    text_add(out,
             "Usage: dbdyno COMMAND [ARGUMENT...]\n"
             "A test stand for databases: runs a workload, checks every answer, measures, and\n"
             "keeps a record.\n\n");
    for (const struct cli_command *at = cli_commands; at->name; at++)
        text_addf(out, "  %-8s %s\n", at->name, at->summary);
    text_add(
        out,
        "\n  --help, --version\n\n"
        "Examples:\n"
        "  dbdyno run shop                            on SQLite, which needs nothing\n"
        "  dbdyno run shop --on postgres --on mariadb on private servers, side by side\n"
        "  dbdyno help run                            more about one command\n" CLI_EXIT_CODES);
}

static const struct cli_command *find_command(const char *name)
{
    for (const struct cli_command *at = cli_commands; at->name; at++)
        if (strcmp(at->name, name) == 0)
            return at;
    return NULL;
}

static int unknown_option(struct cli *cli, const char *word)
{
    static const char *const names[] = {"--help", "--version"};
    const char *near = cli_did_you_mean(cli, word, names, ARRAY_COUNT(names));
    return cli_usage(NULL, "unknown option '%s' before the command%s", word, near);
}

static int unknown_command(struct cli *cli, const char *word)
{
    const char *names[ARRAY_COUNT(cli_commands) + 1] = {"help"};
    size_t count = 1;
    struct text all;
    text_init(&all, cli->arena, HELP_ROOM);
    for (const struct cli_command *at = cli_commands; at->name; at++) {
        names[count++] = at->name;
        text_addf(&all, "%s%s", all.bytes ? ", " : "", at->name);
    }
    const char *near = cli_did_you_mean(cli, word, names, count);
    if (*near)
        return cli_usage(NULL, "unknown command '%s'%s", word, near);
    return cli_usage(NULL, "unknown command '%s', expected one of: %s", word, all.at);
}

static int unknown_word(struct cli *cli, const char *word)
{
    return word[0] == '-' ? unknown_option(cli, word) : unknown_command(cli, word);
}

static int help_of(struct cli *cli, int argc, char **argv)
{
    char help[] = "--help";
    if (argc == 0) {
        struct text out;
        text_init(&out, cli->arena, HELP_ROOM);
        add_help(&out);
        return cli_print_text(&out);
    }
    const struct cli_command *command = find_command(argv[0]);
    if (!command)
        return unknown_word(cli, argv[0]);
    char *words[] = {argv[0], help, NULL};
    return command->run(cli, 2, words);
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* argv without the program's name. */
static int dispatch(struct cli *cli, int argc, char **argv)
{
    if (argc == 0) {
        struct text out;
        text_init(&out, cli->arena, HELP_ROOM);
        add_help(&out);
        fputs(out.at, stderr);
        return CLI_USAGE;
    }
    if (is_one_of(argv[0], "--help", "-h"))
        return help_of(cli, 0, NULL);
    if (strcmp(argv[0], "help") == 0)
        return help_of(cli, argc - 1, argv + 1);
    if (is_one_of(argv[0], "--version", "-V"))
        return cli_print_version(cli);
    const struct cli_command *command = find_command(argv[0]);
    return command ? command->run(cli, argc, argv) : unknown_word(cli, argv[0]);
}

/* A file opened later must not become stdout by accident. Opened for reading, so that writing
 * to a closed stdout still fails. */
static void keep_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_NOCTTY) != fd)
            _exit(CLI_SYSTEM);
}

/* Servers and the reaper work in other folders than ours: TMPDIR is a path from the root on. */
static void settle_temp_root(struct cli *cli)
{
    const char *root = secure_getenv("TMPDIR");
    char folder[PATH_MAX];
    if (!root || !*root || root[0] == '/' || !getcwd(folder, sizeof(folder)))
        return;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the program has no other thread yet */
    setenv("TMPDIR", arena_printf(cli->arena, "%s/%s", folder, root), 1);
}

int cli_main(int argc, char **argv)
{
    struct cli cli;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    keep_standard_streams();
    sigaction(SIGPIPE, &ignore, NULL); /* a closed stdout is an error that we report */
    cli.arena = arena_create(ARENA_BYTES);
    int count = argc > 0 ? argc - 1 : 0;
    char **words = arena_array(cli.arena, char *, (size_t)count + 1);
    for (int i = 0; i < count; i++)
        words[i] = arena_text(cli.arena, argv[i + 1]);
    cli_hide_secrets(cli.arena, argc, argv);
    settle_temp_root(&cli);
    int code = dispatch(&cli, count, words);
    arena_destroy(&cli.arena);
    return code;
}
