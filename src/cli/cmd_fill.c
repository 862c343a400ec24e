#include "cli/cli_internal.h"
#include "os/fs.h"
#include "record/record_json.h"
#include "report/report.h"

#include <errno.h>

enum { KEY_FROM = 0x100, KEY_CHECK, DOCUMENT_MAX = 16 << 20 };

static const struct argp_option options[] = {
    CLI_OPTION("from", KEY_FROM, "RECORD", "where the figures come from", 1),
    CLI_OPTION("check", KEY_CHECK, NULL,
               "write nothing; exit 1 when the document differs from the record, or, without "
               "--from, when its markers are malformed",
               2),
    {0},
};

struct fill {
    struct cli *cli;
    const char *file, *from;
    bool check;
};

static int check_words(const struct fill *fill)
{
    if (!fill->file)
        cli_usage("fill", "which document?");
    else if (!fill->from && !fill->check)
        cli_usage("fill", "--from RECORD is missing (or --check for the markers alone)");
    else
        return 0;
    return EINVAL;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct fill *fill = state->input;
    switch (key) {
    case KEY_FROM: fill->from = value; return 0;
    case KEY_CHECK: fill->check = true; return 0;
    case ARGP_KEY_ARG:
        if (fill->file) {
            cli_usage("fill", "one document at a time: '%s' comes after '%s'", value,
                      fill->file);
            return EINVAL;
        }
        fill->file = value;
        return 0;
    case ARGP_KEY_END: return check_words(fill);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp fill_argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "FILE",
    .doc = "Put figures of a record between the markers of a document, so that they are never "
           "retyped. The file is replaced as a whole or not at all."
           "\vMarkers:\n"
           "  <!-- dbdyno:table -->...<!-- /dbdyno -->\n"
           "      also answer, targets, relations, floors, host, terminal\n"
           "  <!-- dbdyno:SCENARIO/TARGET/METRIC/STAT -->...<!-- /dbdyno -->\n"
           "      SCENARIO#PHASE for a phase, TARGET,clients=N where there are several\n"
           "\nExamples:\n"
           "  dbdyno fill README.md --from dbdyno.json\n"
           "  dbdyno fill README.md --check\n" CLI_EXIT_CODES,
    .children = cli_common_options,
};

static const char begin_mark[] = "<!-- dbdyno:", end_mark[] = "<!-- /dbdyno -->";

/* The first marker of `text` and its inside; *text moves behind it. */
static bool next_marker(struct slice *text, struct slice *name, struct slice *inside)
{
    const char *begin = memmem(text->at, text->bytes, begin_mark, sizeof(begin_mark) - 1);
    if (!begin)
        return false;
    struct slice rest = slice_skip(*text, (size_t)(begin - text->at) + sizeof(begin_mark) - 1);
    const char *close = memmem(rest.at, rest.bytes, "-->", 3);
    if (!close)
        return false;
    *name = slice_trim((struct slice){rest.at, (size_t)(close - rest.at)});
    rest = slice_skip(rest, (size_t)(close - rest.at) + 3);
    const char *end = memmem(rest.at, rest.bytes, end_mark, sizeof(end_mark) - 1);
    if (!end)
        return false;
    *inside = (struct slice){rest.at, (size_t)(end - rest.at)};
    *text = slice_skip(rest, inside->bytes + sizeof(end_mark) - 1);
    return true;
}

static unsigned line_of(const char *document, const char *at)
{
    unsigned line = 1;
    for (const char *c = document; c < at; c++)
        line += *c == '\n';
    return line;
}

/* Both have the same markers in the same order: one was made from the other. */
static unsigned say_differences(const char *file, struct slice document, struct slice filled)
{
    struct slice name, inside, name_now, inside_now, rest = document;
    unsigned differ = 0;
    while (next_marker(&rest, &name, &inside) && next_marker(&filled, &name_now, &inside_now)) {
        if (slice_equal(inside, inside_now))
            continue;
        differ++;
        fprintf(stderr, "%s:%u: marker '%.*s' differs from the record\n", file,
                line_of(document.at, name.at), (int)name.bytes, name.at);
    }
    return differ;
}

static unsigned count_markers(struct slice document)
{
    struct slice name, inside;
    unsigned count = 0;
    while (next_marker(&document, &name, &inside))
        count++;
    return count;
}

static int check_form(const struct fill *fill, struct slice document)
{
    struct err err = {.kind = ERR_NONE};
    int count = report_fill_check(fill->cli->arena, document.at, document.bytes, &err);
    if (count < 0) {
        cli_say("%s: %s", fill->file, err.text);
        return CLI_DIFFERS;
    }
    if (count == 0) {
        cli_say("%s: no markers", fill->file);
        return CLI_DIFFERS;
    }
    const char *line = arena_printf(fill->cli->arena, "%s: %d marker%s well formed\n",
                                    fill->file, count, count == 1 ? "" : "s");
    return cli_print(line, strlen(line));
}

static int write_filled(const struct fill *fill, struct slice document,
                        const struct text *filled, struct err *err)
{
    unsigned markers = count_markers(document);
    bool same = slice_equal(document, (struct slice){filled->at, filled->bytes});
    if (!same && !fs_write_atomic(fill->file, filled->at, filled->bytes, err))
        return cli_fail(err);
    const char *line =
        arena_printf(fill->cli->arena, "%s: %u marker%s, %s\n", fill->file, markers,
                     markers == 1 ? "" : "s", same ? "nothing changed" : "filled");
    return cli_print(line, strlen(line));
}

static int fill_from_record(const struct fill *fill, struct slice document, struct err *err)
{
    struct record *record = NULL;
    struct text filled;
    text_init(&filled, fill->cli->arena, 2 * (size_t)DOCUMENT_MAX);
    if (!record_read(fill->cli->arena, fill->from, &record, err))
        return cli_fail(err);
    if (!report_fill(record, document.at, document.bytes, &filled, err)) {
        err_wrap(err, "%s", fill->file);
        return cli_fail(err);
    }
    if (count_markers(document) == 0) {
        cli_say("%s: no markers", fill->file);
        return fill->check ? CLI_DIFFERS : CLI_BAD_SUITE;
    }
    if (filled.cut) {
        err_set(err, ERR_CONFIG, "%s: longer than %d MiB when filled", fill->file,
                2 * (DOCUMENT_MAX >> 20));
        return cli_fail(err);
    }
    if (!fill->check)
        return write_filled(fill, document, &filled, err);
    struct slice now = {filled.at, filled.bytes};
    return say_differences(fill->file, document, now) > 0 ? CLI_DIFFERS : CLI_FINE;
}

int cmd_fill(struct cli *cli, int argc, char **argv)
{
    struct fill fill = {.cli = cli};
    struct err err = {.kind = ERR_NONE};
    struct slice document = {NULL, 0};
    int exit_code = CLI_FINE;
    if (!cli_parse(cli, &fill_argp, argc, argv, &fill, &exit_code))
        return exit_code;
    if (!fs_read(cli->arena, fill.file, DOCUMENT_MAX, &document.at, &document.bytes, &err))
        return cli_fail(&err);
    return fill.from ? fill_from_record(&fill, document, &err) : check_form(&fill, document);
}
