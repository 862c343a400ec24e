#include "base/num.h"
#include "report/fill_internal.h"
#include "report/report.h"
#include "report/report_internal.h"

#include <string.h>

enum { TERMINAL_COLUMNS = 100 };

/* ---- finding the markers ---- */

static const char open_text[] = "<!-- dbdyno:";
static const char close_text[] = "<!-- /dbdyno -->";

static bool is_fence(struct slice line, char *fence)
{
    struct slice text = slice_trim(line);
    if (!slice_starts(text, "```") && !slice_starts(text, "~~~"))
        return false;
    if (*fence && text.at[0] != *fence)
        return false;
    if (*fence)
        *fence = '\0';
    else
        *fence = text.at[0];
    return true;
}

static struct slice line_at(struct slice document, size_t at)
{
    const char *end = memchr(document.at + at, '\n', document.bytes - at);
    size_t bytes = end ? (size_t)(end - document.at) - at : document.bytes - at;
    return (struct slice){document.at + at, bytes};
}

static size_t find_in(struct slice text, const char *what)
{
    const char *at = text.bytes > 0 ? memmem(text.at, text.bytes, what, strlen(what)) : NULL;
    return at ? (size_t)(at - text.at) : SIZE_MAX;
}

static size_t count_lines(struct slice text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.bytes; i++)
        lines += text.at[i] == '\n';
    return lines;
}

/* From the end of the opening marker to the closing one. */
static bool read_inside(struct marker_scan *scan, size_t begin, struct marker *marker,
                        struct err *err)
{
    struct slice rest = slice_skip(scan->document, begin);
    size_t name_end = find_in(rest, "-->");
    size_t line_end = line_at(rest, 0).bytes;
    if (name_end == SIZE_MAX || name_end > line_end)
        return err_set(err, ERR_CONFIG, "line %zu: the marker has no \"-->\" on its line",
                       scan->line);
    marker->line = scan->line;
    marker->name = slice_trim((struct slice){rest.at, name_end});
    marker->from = begin + name_end + 3;
    struct slice inside = slice_skip(scan->document, marker->from);
    size_t end = find_in(inside, close_text), again = find_in(inside, open_text);
    if (again < end && end != SIZE_MAX)
        return err_set(err, ERR_CONFIG,
                       "line %zu: another marker begins inside of the one of line %zu",
                       scan->line + count_lines((struct slice){inside.at, again}), scan->line);
    if (end == SIZE_MAX)
        return err_set(err, ERR_CONFIG, "line %zu: no \"%s\" for the marker \"%.*s\"",
                       scan->line, close_text,
                       (int)(marker->name.bytes < 80 ? marker->name.bytes : 80),
                       marker->name.at);
    marker->to = marker->from + end;
    scan->line += count_lines((struct slice){rest.at, marker->to - begin});
    scan->at = marker->to + strlen(close_text);
    return true;
}

int marker_next(struct marker_scan *scan, struct marker *marker, struct err *err)
{
    while (scan->at < scan->document.bytes) {
        struct slice line = line_at(scan->document, scan->at);
        bool fence = is_fence(line, &scan->fence);
        size_t open = fence || scan->fence ? SIZE_MAX : find_in(line, open_text);
        size_t close = fence || scan->fence ? SIZE_MAX : find_in(line, close_text);
        if (close < open) {
            (void)err_set(err, ERR_CONFIG, "line %zu: \"%s\" without a marker before it",
                          scan->line, close_text);
            return -1;
        }
        if (open != SIZE_MAX)
            return read_inside(scan, scan->at + open + strlen(open_text), marker, err) ? 1 : -1;
        scan->at += line.bytes + 1;
        scan->line++;
    }
    return 0;
}

/* ---- what a marker asks for ---- */

static bool split_last(struct slice text, char mark, struct slice *head, struct slice *tail)
{
    for (size_t i = text.bytes; i > 0; i--) {
        if (text.at[i - 1] != mark)
            continue;
        *head = (struct slice){text.at, i - 1};
        *tail = slice_skip(text, i);
        return true;
    }
    return false;
}

static bool is_word(struct slice text)
{
    for (size_t i = 0; i < text.bytes; i++) {
        char c = text.at[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_')
            return false;
    }
    return text.bytes > 0;
}

static bool is_stat(struct slice text)
{
    static const char *const stats[] = {"n",   "mean", "min", "p50",  "p95",
                                        "p99", "p999", "max", "value"};
    for (size_t i = 0; i < ARRAY_COUNT(stats); i++) {
        if (slice_is(text, stats[i]))
            return true;
    }
    return false;
}

/* SCENARIO[#phase]/TARGET[,clients=N]/METRIC/STAT, taken apart from the end: a scenario or a
 * label may have a slash. */
static bool read_figure_name(const struct marker *marker, struct figure_name *name,
                             struct err *err)
{
    struct slice rest = marker->name, target, clients;
    *name = (struct figure_name){0};
    if (!split_last(rest, '/', &rest, &name->stat) ||
        !split_last(rest, '/', &rest, &name->metric) ||
        !split_last(rest, '/', &rest, &target) || rest.bytes == 0)
        return err_set(err, ERR_CONFIG,
                       "line %zu: unknown marker \"%.*s\"; expected table, answer, relations, "
                       "floors, host, targets, terminal or SCENARIO/TARGET/METRIC/STAT",
                       marker->line, (int)(marker->name.bytes < 80 ? marker->name.bytes : 80),
                       marker->name.at);
    if (!slice_split(rest, '#', &name->scenario, &name->phase))
        name->phase = (struct slice){NULL, 0};
    bool counted = slice_split(target, ',', &name->target, &clients);
    if (counted && (!slice_starts(clients, "clients=") ||
                    !num_u64(slice_skip(clients, 8), &name->clients) || name->clients == 0))
        return err_set(err, ERR_CONFIG,
                       "line %zu: expected clients=N after the target, got "
                       "\"%.*s\"",
                       marker->line, (int)(clients.bytes < 80 ? clients.bytes : 80),
                       clients.at);
    if (!is_word(name->metric) || !is_stat(name->stat))
        return err_set(err, ERR_CONFIG,
                       "line %zu: expected METRIC/STAT with a STAT of n, mean, min, p50, p95, "
                       "p99, p999, max, value; got \"%.*s\"",
                       marker->line, (int)(marker->name.bytes < 80 ? marker->name.bytes : 80),
                       marker->name.at);
    return true;
}

static enum marker_kind block_kind(struct slice name)
{
    static const struct {
        const char *name;
        enum marker_kind kind;
    } kinds[] = {
        {"answer",    MARKER_ANSWER   },
        {"table",     MARKER_TABLE    },
        {"relations", MARKER_RELATIONS},
        {"costs",     MARKER_COSTS    },
        {"searches",  MARKER_SEARCHES },
        {"floors",    MARKER_FLOORS   },
        {"host",      MARKER_HOST     },
        {"targets",   MARKER_TARGETS  },
        {"terminal",  MARKER_TERMINAL }
    };
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (slice_is(name, kinds[i].name))
            return kinds[i].kind;
    }
    return MARKER_FIGURE;
}

bool marker_kind_of(const struct marker *marker, enum marker_kind *kind,
                    struct figure_name *name, struct err *err)
{
    enum marker_kind found = block_kind(marker->name);
    if (found == MARKER_FIGURE && !read_figure_name(marker, name, err))
        return false;
    *kind = found;
    return true;
}

/* ---- filling ---- */

static bool is_one_of_several(const struct record *record, const struct rec_cell *cell)
{
    for (size_t i = 0; i < record->cell_count; i++) {
        const struct rec_cell *other = &record->cells[i];
        if (other != cell && text_same(other->name, cell->name) &&
            text_same(other->target, cell->target) && text_same(other->phase, cell->phase))
            return true;
    }
    return false;
}

static const struct rec_cell *find_cell(struct arena *arena, const struct record *record,
                                        const struct marker *marker,
                                        const struct figure_name *name, struct err *err)
{
    const char *scenario = arena_slice(arena, name->scenario);
    const char *target = arena_slice(arena, name->target);
    const char *phase = name->phase.at ? arena_slice(arena, name->phase) : NULL;
    const struct rec_cell *cell =
        record_find_cell(record, scenario, target, name->clients, phase);
    if (!cell) {
        (void)err_set(err, ERR_CONFIG, "line %zu: the record has no %s%s%s on %s", marker->line,
                      scenario, phase ? "#" : "", phase ? phase : "", target);
        return NULL;
    }
    if (!name->clients && is_one_of_several(record, cell)) {
        (void)err_set(err, ERR_CONFIG,
                      "line %zu: %s on %s has several numbers of clients; write %s,clients=N",
                      marker->line, scenario, target, target);
        return NULL;
    }
    if (cell_has_result(cell) && !cell_is_interrupted(cell))
        return cell;
    (void)err_set(err, ERR_CONFIG, "line %zu: %s on %s has no result: %s", marker->line,
                  scenario, target, or_dash(cell->reason));
    return NULL;
}

/* One line of text, harmless in a document. */
static void add_line(struct arena *arena, const struct record *record, const char *line,
                     struct text *out)
{
    struct pen pen;
    pen_init(&pen, arena, record, 0);
    pen_wrap(&pen, "", line);
    pen.plain.bytes--; /* without the end of the line */
    pen_finish(&pen, out, false);
}

static void add_answer(struct arena *arena, const struct record *record, struct text *out)
{
    struct text answer;
    text_init(&answer, arena, 1 << 16);
    part_answer(&answer, record);
    add_line(arena, record, answer.at, out);
}

static bool fill_figure(struct arena *arena, const struct record *record,
                        const struct marker *marker, const struct figure_name *name,
                        struct text *out, struct err *err)
{
    char shown[128];
    double figure;
    const char *metric_name = arena_slice(arena, name->metric);
    const char *stat = arena_slice(arena, name->stat);
    const struct rec_cell *cell = find_cell(arena, record, marker, name, err);
    if (!cell)
        return false;
    const struct rec_metric *metric = rec_cell_metric(cell, metric_name);
    if (!metric)
        return err_set(err, ERR_CONFIG, "line %zu: %s on %s has no metric %s", marker->line,
                       or_dash(cell->name), or_dash(cell->target), metric_name);
    if (!rec_metric_stat(metric, stat, &figure))
        return err_set(err, ERR_CONFIG, "line %zu: %s of %s on %s has no %s%s%s", marker->line,
                       metric_name, or_dash(cell->name), or_dash(cell->target), stat,
                       metric->unavailable ? ": " : "",
                       metric->unavailable ? metric->unavailable : "");
    bool count = strcmp(stat, "n") == 0;
    figure_with_unit(shown, sizeof(shown), count ? "1" : metric->unit, figure);
    if (metric_is_bound(metric, stat, figure))
        text_add(out, ">= ");
    add_line(arena, record, shown, out);
    return true;
}

static void write_part(struct pen *pen, enum marker_kind kind)
{
    const struct record *record = pen->record;
    switch (kind) {
    case MARKER_TABLE: part_tables(pen); return;
    case MARKER_RELATIONS: part_relations(pen); return;
    case MARKER_COSTS: part_costs(pen); return;
    case MARKER_SEARCHES: part_searches(pen); return;
    case MARKER_TARGETS: part_targets(pen); return;
    case MARKER_HOST: part_host(pen); return;
    case MARKER_FLOORS: part_floors(pen, record->floors, record->floor_count); return;
    case MARKER_TERMINAL:
    case MARKER_ANSWER:
    case MARKER_FIGURE: return;
    }
}

/* A block stands on lines of its own; the text may not end the marker or begin another. */
static void fill_block(struct arena *arena, const struct record *record, enum marker_kind kind,
                       struct text *out)
{
    struct text part;
    struct pen pen;
    text_init(&part, arena, 16 << 20);
    if (kind == MARKER_TERMINAL) {
        report_terminal(record, &part, TERMINAL_COLUMNS, false);
    } else {
        pen_init(&pen, arena, record, 0);
        write_part(&pen, kind);
        pen_finish(&pen, &part, false);
    }
    struct slice body = slice_trim((struct slice){part.at, part.bytes});
    text_add(out, kind == MARKER_TERMINAL ? "\n```\n" : "\n");
    for (size_t i = 0; i < body.bytes; i++) {
        if (kind == MARKER_TERMINAL && (body.at[i] == '`' || body.at[i] == '<'))
            text_add_char(out, '\'');
        else
            text_add_char(out, body.at[i]);
    }
    text_add(out, kind == MARKER_TERMINAL ? "\n```\n" : "\n");
}

static bool fill_marker(struct arena *arena, const struct record *record,
                        const struct marker *marker, struct text *out, struct err *err)
{
    struct figure_name name;
    enum marker_kind kind;
    if (!marker_kind_of(marker, &kind, &name, err))
        return false;
    if (kind == MARKER_FIGURE)
        return fill_figure(arena, record, marker, &name, out, err);
    if (kind == MARKER_ANSWER)
        add_answer(arena, record, out);
    else
        fill_block(arena, record, kind, out);
    return true;
}

bool report_fill(const struct record *record, const char *document, size_t bytes,
                 struct text *out, struct err *err)
{
    struct arena *arena = arena_create(1u << 16);
    struct marker_scan scan = {
        .document = {document, bytes},
          .line = 1
    };
    struct marker marker;
    struct text filled;
    size_t copied = 0;
    int found;
    text_init(&filled, out->arena, out->limit - out->bytes);
    while ((found = marker_next(&scan, &marker, err)) > 0) {
        text_add_slice(&filled, (struct slice){document + copied, marker.from - copied});
        if (!fill_marker(arena, record, &marker, &filled, err)) {
            found = -1;
            break;
        }
        copied = marker.to;
    }
    text_add_slice(&filled, (struct slice){document + copied, bytes - copied});
    arena_destroy(&arena);
    if (found < 0)
        return false;
    if (filled.cut)
        return err_set(err, ERR_CONFIG, "the filled document is longer than %zu bytes",
                       filled.limit);
    text_add_slice(out, (struct slice){filled.at, filled.bytes});
    return true;
}
