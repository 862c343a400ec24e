#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>

enum { REPORT_BYTES_MAX = 64 << 20 };

static const char *const style_codes[] = {"\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m",
                                          "\x1b[2m"};

void pen_init(struct pen *pen, struct arena *arena, const struct record *record, unsigned width)
{
    *pen = (struct pen){.arena = arena, .record = record, .width = width};
    pen->markdown = width == 0;
    text_init(&pen->plain, arena, REPORT_BYTES_MAX);
}

static void add_span(struct pen *pen, size_t from, size_t to, enum style style)
{
    pen->spans = arena_grow(pen->arena, pen->spans, pen->span_count, &pen->span_room,
                            pen->span_count + 1, sizeof(*pen->spans));
    pen->spans[pen->span_count++] = (struct span){from, to, style};
}

void pen_styled(struct pen *pen, enum style style, const char *text)
{
    size_t from = pen->plain.bytes;
    text_add(&pen->plain, text);
    add_span(pen, from, pen->plain.bytes, style);
}

void pen_heading(struct pen *pen, const char *title)
{
    text_add_char(&pen->plain, '\n');
    if (pen->markdown) {
        text_addf(&pen->plain, "**%s**\n\n", title);
        return;
    }
    pen_styled(pen, STYLE_BOLD, title);
    text_add_char(&pen->plain, '\n');
}

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ' && c != GLUE;
}

/* Cuts the next word off *text; an empty one at the end. */
static struct slice next_word(struct slice *text)
{
    while (text->bytes > 0 && is_blank(text->at[0]))
        *text = slice_skip(*text, 1);
    size_t bytes = 0;
    while (bytes < text->bytes && !is_blank(text->at[bytes]))
        bytes++;
    struct slice word = {text->at, bytes};
    *text = slice_skip(*text, bytes);
    return word;
}

static size_t columns_of(struct slice text)
{
    size_t columns = 0;
    for (size_t i = 0; i < text.bytes; i++)
        columns += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return columns;
}

size_t text_columns(const char *text)
{
    return columns_of(slice_of(text));
}

void pen_wrap(struct pen *pen, const char *lead, const char *text)
{
    struct slice rest = slice_of(text);
    size_t indent = text_columns(lead), at = indent;
    text_add(&pen->plain, lead);
    for (;;) {
        struct slice word = next_word(&rest);
        size_t columns = columns_of(word);
        if (columns == 0)
            break;
        bool first = at == indent;
        if (!first && pen->width > 0 && at + 1 + columns > pen->width) {
            text_add_char(&pen->plain, '\n');
            text_add_many(&pen->plain, ' ', indent);
            at = indent;
        } else if (!first) {
            text_add_char(&pen->plain, ' ');
            at++;
        }
        text_add_slice(&pen->plain, word);
        at += columns;
    }
    text_add_char(&pen->plain, '\n');
}

void pen_item(struct pen *pen, const char *text)
{
    pen_wrap(pen, pen->markdown ? "- " : "  - ", text);
}

/* Words in a table that are coloured. */
static void find_words(struct pen *pen, size_t from)
{
    static const struct {
        const char *word;
        enum style style;
    } words[] = {
        {"FAILED",  STYLE_BAD  },
        {"n/a",     STYLE_FAINT},
        {"not run", STYLE_FAINT}
    };
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        const char *at = pen->plain.at + from;
        while ((at = strstr(at, words[i].word)) != NULL) {
            size_t place = (size_t)(at - pen->plain.at);
            at += strlen(words[i].word);
            add_span(pen, place, place + strlen(words[i].word), words[i].style);
        }
    }
}

void pen_table(struct pen *pen, const struct table *table)
{
    size_t from = pen->plain.bytes;
    struct text rendered;
    text_init(&rendered, pen->arena, REPORT_BYTES_MAX);
    if (pen->markdown)
        table_render_markdown(table, &rendered);
    else
        table_render(table, &rendered, pen->width);
    struct slice line, rest = {rendered.at, rendered.bytes};
    while (rest.bytes > 0) {
        (void)slice_split(rest, '\n', &line, &rest);
        while (line.bytes > 0 && line.at[line.bytes - 1] == ' ')
            line.bytes--;
        text_add_slice(&pen->plain, line);
        text_add_char(&pen->plain, '\n');
    }
    find_words(pen, from);
}

size_t pen_columns_wide(struct pen *pen, const struct table *table)
{
    struct text scratch;
    text_init(&scratch, pen->arena, REPORT_BYTES_MAX);
    table_render(table, &scratch, 0);
    size_t widest = 0, line = 0;
    for (size_t i = 0; i < scratch.bytes; i++) {
        unsigned char c = (unsigned char)scratch.at[i];
        line = c == '\n' ? 0 : line + ((c & 0xc0) != 0x80);
        widest = line > widest ? line : widest;
    }
    return widest;
}

static bool chunks_fit(struct pen *pen, const struct rows *rows, targets_fn build, size_t chunk)
{
    for (size_t from = 0; from < rows->target_count; from += chunk) {
        size_t to = from + chunk < rows->target_count ? from + chunk : rows->target_count;
        const struct table *table = build(pen, rows, from, to);
        if (table && pen_columns_wide(pen, table) > pen->width)
            return false;
    }
    return true;
}

bool pen_targets(struct pen *pen, const struct rows *rows, targets_fn build)
{
    bool any = false;
    size_t chunk = rows->target_count;
    while (!pen->markdown && chunk > 1 && !chunks_fit(pen, rows, build, chunk))
        chunk = (chunk + 1) / 2;
    for (size_t from = 0; from < rows->target_count; from += chunk) {
        size_t to = from + chunk < rows->target_count ? from + chunk : rows->target_count;
        const struct table *table = build(pen, rows, from, to);
        if (!table)
            continue;
        if (any)
            text_add_char(&pen->plain, '\n');
        pen_table(pen, table);
        any = true;
    }
    return any;
}

/* Bytes of a control character at the start of `text`: ASCII ones, and U+0080 to U+009F. */
static size_t control_bytes(struct slice text)
{
    unsigned char first = (unsigned char)text.at[0];
    if (first == '\n')
        return 0;
    if (first < ' ' || first == 0x7f)
        return 1;
    bool second = text.bytes > 1 && ((unsigned char)text.at[1] & 0xe0) == 0x80;
    return first == 0xc2 && second ? 2 : 0;
}

static void add_clean(const struct pen *pen, struct text *out, size_t from, size_t to)
{
    struct slice rest = {pen->plain.at + from, to - from};
    while (rest.bytes > 0) {
        size_t control = control_bytes(rest);
        if (control > 0)
            text_add_char(out, rest.at[0] == GLUE ? ' ' : '?');
        else if (pen->markdown && rest.at[0] == '<')
            text_add(out, "&lt;");
        else
            text_add_char(out, rest.at[0]);
        rest = slice_skip(rest, control > 0 ? control : 1);
    }
}

static int by_place(const void *a, const void *b)
{
    size_t x = ((const struct span *)a)->from, y = ((const struct span *)b)->from;
    return x < y ? -1 : x > y;
}

void pen_finish(struct pen *pen, struct text *out, bool colour)
{
    size_t at = 0;
    if (pen->span_count > 1)
        qsort(pen->spans, pen->span_count, sizeof(*pen->spans), by_place);
    for (size_t i = 0; colour && i < pen->span_count; i++) {
        const struct span *span = &pen->spans[i];
        if (span->from < at)
            continue;
        add_clean(pen, out, at, span->from);
        text_add(out, style_codes[span->style]);
        add_clean(pen, out, span->from, span->to);
        text_add(out, "\x1b[0m");
        at = span->to;
    }
    add_clean(pen, out, at, pen->plain.bytes);
}
