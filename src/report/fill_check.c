#include "base/num.h"
#include "report/fill_internal.h"
#include "report/report.h"

/* "1,234.5": digits with commas between threes, and maybe a fraction. */
static bool is_number(struct slice text)
{
    char plain[64];
    size_t bytes = 0, since = 0;
    bool commas = false, fraction = false;
    double number;
    for (size_t i = 0; i < text.bytes && bytes < sizeof(plain); i++) {
        if (text.at[i] == ',') {
            if (fraction || (commas ? since != 3 : since == 0 || since > 3))
                return false;
            commas = true;
            since = 0;
            continue;
        }
        if (text.at[i] == '.') {
            if (commas && since != 3)
                return false;
            fraction = true;
        }
        plain[bytes++] = text.at[i];
        since++;
    }
    if (commas && !fraction && since != 3)
        return false;
    return bytes < sizeof(plain) && num_real((struct slice){plain, bytes}, &number);
}

static bool ends_with(struct slice text, const char *end)
{
    size_t bytes = strlen(end);
    return text.bytes >= bytes && memcmp(text.at + text.bytes - bytes, end, bytes) == 0;
}

/* A number, a blank and one of the units; "/s" stands without a blank. */
static bool has_unit(struct slice text, const char *const *units)
{
    for (; *units; units++) {
        struct slice rest = text;
        if (!ends_with(text, *units))
            continue;
        rest.bytes -= strlen(*units);
        bool glued = (*units)[0] == '/';
        if (!glued && !ends_with(rest, " "))
            continue;
        rest.bytes -= glued ? 0 : 1;
        if (is_number(rest))
            return true;
    }
    return false;
}

static bool metric_ends(const struct figure_name *name, const char *end)
{
    return ends_with(name->metric, end);
}

static bool figure_has_form(const struct figure_name *name, struct slice text,
                            const char **expected)
{
    static const char *const durations[] = {"ns", "us", "ms", "s", NULL};
    static const char *const rates[] = {"/s", "rows/s", "values/s", NULL};
    static const char *const sizes[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};
    static const char *const cores[] = {"cores", NULL};
    static const char *const rows[] = {"ns", "us", "ms", "s", NULL};
    *expected = "a number";
    if (slice_is(name->stat, "n"))
        return is_number(text);
    if (metric_ends(name, "_per_s")) {
        *expected = "a rate such as \"13,116/s\"";
        return has_unit(text, rates);
    }
    if (metric_ends(name, "ns_per_row")) {
        *expected = "a duration such as \"12.3 ns\"";
        return has_unit(text, rows);
    }
    if (metric_ends(name, "_ns")) {
        *expected = "a duration such as \"12.3 ms\"";
        return has_unit(text, durations);
    }
    if (metric_ends(name, "_bytes")) {
        *expected = "a size such as \"12.3 MiB\"";
        return has_unit(text, sizes);
    }
    if (metric_ends(name, "_cores")) {
        *expected = "cores such as \"0.93 cores\"";
        return has_unit(text, cores) || is_number(text);
    }
    /* The unit of any other metric is not known here. */
    struct slice head, tail;
    (void)slice_split(text, ' ', &head, &tail);
    return is_number(head);
}

static bool has_line(struct slice text, const char *start)
{
    struct slice line;
    while (text.bytes > 0) {
        (void)slice_split(text, '\n', &line, &text);
        if (slice_starts(slice_trim(line), start))
            return true;
    }
    return false;
}

static bool block_has_form(enum marker_kind kind, struct slice inside, const char **expected)
{
    switch (kind) {
    case MARKER_TERMINAL: *expected = "a code block"; return has_line(inside, "```");
    case MARKER_TARGETS: *expected = "a list"; return has_line(inside, "- ");
    case MARKER_TABLE:
    case MARKER_RELATIONS:
    case MARKER_COSTS:
    case MARKER_SEARCHES:
    case MARKER_FLOORS:
    case MARKER_HOST: *expected = "a table"; return has_line(inside, "|");
    case MARKER_ANSWER:
    case MARKER_FIGURE: break;
    }
    *expected = "one line";
    return memchr(inside.at, '\n', inside.bytes) == NULL;
}

static bool check_marker(struct slice document, const struct marker *marker, struct err *err)
{
    struct figure_name name;
    enum marker_kind kind;
    const char *expected;
    struct slice inside = {document.at + marker->from, marker->to - marker->from};
    struct slice text = slice_trim(inside);
    if (!marker_kind_of(marker, &kind, &name, err))
        return false;
    if (text.bytes == 0)
        return err_set(err, ERR_CONFIG, "line %zu: the marker \"%.*s\" is empty", marker->line,
                       (int)(marker->name.bytes < 80 ? marker->name.bytes : 80),
                       marker->name.at);
    if (kind == MARKER_FIGURE && slice_starts(text, ">= "))
        text = slice_skip(text, 3); /* a lower bound */
    bool ok = kind == MARKER_FIGURE ? figure_has_form(&name, text, &expected)
                                    : block_has_form(kind, text, &expected);
    if (!ok)
        return err_set(err, ERR_CONFIG, "line %zu: expected %s, got \"%.*s\"", marker->line,
                       expected, (int)(text.bytes < 60 ? text.bytes : 60), text.at);
    return true;
}

int report_fill_check(struct arena *scratch, const char *document, size_t bytes,
                      struct err *err)
{
    struct marker_scan scan = {
        .document = {document, bytes},
          .line = 1
    };
    struct marker marker;
    int count = 0, found;
    (void)scratch;
    while ((found = marker_next(&scan, &marker, err)) > 0) {
        if (!check_marker(scan.document, &marker, err))
            return -1;
        count++;
    }
    return found < 0 ? -1 : count;
}
