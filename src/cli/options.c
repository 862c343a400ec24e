#include "cli/cli_internal.h"

#include <errno.h>

enum { OPTIONS_MAX = 40, HELP_KEY = 'h', VERSION_KEY = 'V' };

static const struct argp_option common_options[] = {
    CLI_OPTION("help", HELP_KEY, NULL, "show this help", 1),
    CLI_OPTION("version", VERSION_KEY, NULL, "show the versions of dbdyno and its libraries",
               2),
    {0},
};
const struct argp cli_common_argp = {.options = common_options};
const struct argp_child cli_common_options[] = {
    {&cli_common_argp, 0, NULL, -1},
    {0           }
};

struct option_list {
    const struct argp_option *items[OPTIONS_MAX];
    const char *names[OPTIONS_MAX];
    size_t count;
};

static void add_options(struct option_list *list, const struct argp_option *from)
{
    for (; from && (from->name || from->key || from->doc); from++)
        if (from->name && list->count < OPTIONS_MAX) {
            list->items[list->count] = from;
            list->names[list->count++] = from->name;
        }
}

struct scan {
    struct cli *cli;
    const char *command;
    struct option_list list;
    bool help, version;
    int exit_code;
};

/* An option may be cut short as long as it stays clear which one is meant. */
static const struct argp_option *find_long(struct scan *scan, struct slice name)
{
    const struct argp_option *found = NULL;
    struct text others;
    size_t matches = 0;
    text_init(&others, scan->cli->arena, 400);
    for (size_t i = 0; i < scan->list.count; i++) {
        struct slice have = slice_of(scan->list.names[i]);
        if (slice_equal(have, name))
            return scan->list.items[i];
        if (have.bytes > name.bytes && memcmp(have.at, name.at, name.bytes) == 0) {
            found = scan->list.items[i];
            text_addf(&others, "%s--%s", matches++ ? ", " : "", scan->list.names[i]);
        }
    }
    if (matches == 1)
        return found;
    const char *word = arena_slice(scan->cli->arena, name);
    if (matches > 1) {
        scan->exit_code =
            cli_usage(scan->command, "option '--%s' could be %s", word, others.at);
        return NULL;
    }
    const char *near = cli_nearest(word, scan->list.names, scan->list.count);
    scan->exit_code = near
                          ? cli_usage(scan->command,
                                      "unknown option '--%s', did you mean '--%s'?", word, near)
                          : cli_usage(scan->command, "unknown option '--%s'", word);
    return NULL;
}

static const struct argp_option *find_short(struct scan *scan, const char *word)
{
    for (size_t i = 0; i < scan->list.count; i++)
        if (scan->list.items[i]->key == (unsigned char)word[1] && word[2] == '\0')
            return scan->list.items[i];
    const char *near = cli_nearest(word + 1, scan->list.names, scan->list.count);
    scan->exit_code =
        near ? cli_usage(scan->command, "unknown option '%s', did you mean '--%s'?", word, near)
             : cli_usage(scan->command, "unknown option '%s'", word);
    return NULL;
}

/* One word that begins with '-': false ends the scan with exit_code set. *skip: the next word
 * is its value. */
static bool scan_option(struct scan *scan, const char *word, const char *next, bool *skip)
{
    struct slice name, value;
    bool is_long = word[1] == '-';
    bool given = is_long && slice_split(slice_of(word + 2), '=', &name, &value);
    const struct argp_option *option = is_long ? find_long(scan, name) : find_short(scan, word);
    if (!option)
        return false;
    if (option->key == HELP_KEY)
        scan->help = true;
    if (option->key == VERSION_KEY)
        scan->version = true;
    if (given && !option->arg) {
        scan->exit_code =
            cli_usage(scan->command, "option '--%s' takes no value", option->name);
        return false;
    }
    if (option->arg && !given && !next) {
        scan->exit_code = cli_usage(scan->command, "option '--%s' needs a value: --%s=%s",
                                    option->name, option->name, option->arg);
        return false;
    }
    *skip = option->arg && !given;
    return true;
}

static bool scan_words(struct scan *scan, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool skip = false;
        if (strcmp(argv[i], "--") == 0)
            break;
        if (argv[i][0] != '-' || argv[i][1] == '\0')
            continue;
        if (!scan_option(scan, argv[i], argv[i + 1], &skip))
            return false;
        if (scan->help || scan->version)
            return true;
        i += skip;
    }
    return true;
}

/* argp writes to a stream only; memory is one whose errors we see. */
static int print_help(struct cli *cli, const struct argp *argp, const char *command)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) {
        struct err err;
        err_errno(&err, "printing the help");
        return cli_fail(&err);
    }
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the program has no other thread yet */
    argp_help(argp, stream, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
              arena_printf(cli->arena, "dbdyno %s", command));
    fclose(stream);
    int code = cli_print(text, bytes);
    free(text);
    return code;
}

bool cli_parse(struct cli *cli, const struct argp *argp, int argc, char **argv, void *input,
               int *exit_code)
{
    struct scan scan = {.cli = cli, .command = argv[0]};
    add_options(&scan.list, argp->options);
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        add_options(&scan.list, child->argp->options);
    if (!scan_words(&scan, argc, argv)) {
        *exit_code = scan.exit_code;
        return false;
    }
    if (scan.help || scan.version) {
        *exit_code = scan.help ? print_help(cli, argp, argv[0]) : cli_print_version(cli);
        return false;
    }
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the program has no other thread yet */
    if (argp_parse(argp, argc, argv, ARGP_SILENT, NULL, input) != 0) {
        *exit_code = CLI_USAGE;
        return false;
    }
    return true;
}
