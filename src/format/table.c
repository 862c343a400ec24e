#include "format/table.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum {
    GAP = 2,         /* blanks between columns */
    CUT_WIDTH = 8,   /* a column of text is not cut below this */
    WRAP_WIDTH = 24, /* nor wrapped */
    CELL_BYTES_MAX = 4096,
};

struct column {
    const char *group; /* or NULL */
    const char *name;
    enum table_align align;
    bool may_drop;
};

struct row {
    const char **cells;
    const char *title; /* of a rule or line */
    size_t count;
    bool rule, line;
};

struct table {
    struct arena *arena;
    struct column *columns;
    struct row *rows;
    size_t column_count, column_room, row_count, row_room;
    bool wrap_last;
};

/* What of the table is shown, and how wide. */
struct layout {
    const struct table *table;
    unsigned *widths; /* 0: left out */
    unsigned total;
};

/* A line being written; blanks at its end are never put out. */
struct line {
    struct text *out;
    unsigned column, blanks;
};

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static unsigned width_of(const char *text)
{
    unsigned width = 0;
    for (; *text; text++)
        width += !continues(*text);
    return width;
}

/* A copy on one line: control characters, which may come with a server's message, are blanks.
 */
static const char *clean_copy(struct arena *arena, const char *text)
{
    size_t bytes = strlen(text);
    while (bytes > CELL_BYTES_MAX || (bytes == CELL_BYTES_MAX && continues(text[bytes])))
        bytes = bytes > CELL_BYTES_MAX ? CELL_BYTES_MAX : bytes - 1;
    char *copy = arena_slice(arena, (struct slice){text, bytes});
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7f)
            copy[i] = ' ';
    return copy;
}

struct table *table_create(struct arena *arena)
{
    struct table *table = arena_new(arena, struct table);
    table->arena = arena;
    return table;
}

void table_column(struct table *table, const char *group, const char *name,
                  enum table_align align, bool may_drop)
{
    assert(table->row_count == 0);
    table->columns =
        arena_grow(table->arena, table->columns, table->column_count, &table->column_room,
                   table->column_count + 1, sizeof(*table->columns));
    table->columns[table->column_count++] =
        (struct column){group ? clean_copy(table->arena, group) : NULL,
                        clean_copy(table->arena, name), align, may_drop};
}

static struct row *add_row(struct table *table)
{
    table->rows = arena_grow(table->arena, table->rows, table->row_count, &table->row_room,
                             table->row_count + 1, sizeof(*table->rows));
    struct row *row = &table->rows[table->row_count++];
    *row = (struct row){0};
    return row;
}

void table_row(struct table *table)
{
    struct row *row = add_row(table);
    row->cells = arena_array(table->arena, const char *, table->column_count);
    for (size_t i = 0; i < table->column_count; i++)
        row->cells[i] = "";
}

void table_cell(struct table *table, const char *text)
{
    assert(table->row_count > 0);
    struct row *row = &table->rows[table->row_count - 1];
    assert(!row->rule && !row->line && row->count < table->column_count);
    row->cells[row->count++] = clean_copy(table->arena, text);
}

void table_rule(struct table *table, const char *title)
{
    struct row *row = add_row(table);
    row->rule = true;
    row->title = title ? clean_copy(table->arena, title) : NULL;
}

void table_line(struct table *table, const char *text)
{
    struct row *row = add_row(table);
    row->line = true;
    row->title = clean_copy(table->arena, text);
}

void table_wrap_last(struct table *table)
{
    table->wrap_last = true;
}

/* ---- widths */

static void add_up(struct layout *layout)
{
    layout->total = 0;
    for (size_t i = 0; i < layout->table->column_count; i++)
        if (layout->widths[i])
            layout->total += layout->widths[i] + (layout->total ? GAP : 0);
}

static bool same_group(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* The last shown column of the group that begins at a shown column, and the columns' width. */
static size_t group_end(const struct layout *layout, size_t first, unsigned *width)
{
    const struct column *columns = layout->table->columns;
    size_t last = first;
    *width = layout->widths[first];
    for (size_t i = first + 1; i < layout->table->column_count; i++) {
        if (!layout->widths[i])
            continue;
        if (!same_group(columns[first].group, columns[i].group))
            break;
        *width += GAP + layout->widths[i];
        last = i;
    }
    return last;
}

static unsigned natural_width(const struct table *table, size_t column)
{
    unsigned width = width_of(table->columns[column].name);
    for (size_t i = 0; i < table->row_count; i++) {
        if (table->rows[i].rule || table->rows[i].line)
            continue;
        unsigned cell = width_of(table->rows[i].cells[column]);
        width = cell > width ? cell : width;
    }
    return width > 0 ? width : 1;
}

/* Widens the last column of each group whose heading is longer than its columns, by `spare` in
 * all at most. */
static void widen_for_groups(struct layout *layout, unsigned spare)
{
    const struct table *table = layout->table;
    for (size_t i = 0; i < table->column_count; i++) {
        unsigned width;
        if (!layout->widths[i] || !table->columns[i].group)
            continue;
        size_t last = group_end(layout, i, &width);
        unsigned heading = width_of(table->columns[i].group);
        unsigned more = heading > width ? heading - width : 0;
        more = more < spare ? more : spare;
        layout->widths[last] += more;
        spare -= more;
        i = last;
    }
    add_up(layout);
}

/* Widths of the columns that are shown, as their cells want them. */
static void set_natural(struct layout *layout)
{
    for (size_t i = 0; i < layout->table->column_count; i++)
        if (layout->widths[i])
            layout->widths[i] = natural_width(layout->table, i);
    add_up(layout);
}

static bool drop_one(struct layout *layout)
{
    for (size_t i = layout->table->column_count; i > 0; i--) {
        if (!layout->widths[i - 1] || !layout->table->columns[i - 1].may_drop)
            continue;
        layout->widths[i - 1] = 0;
        set_natural(layout);
        widen_for_groups(layout, UINT_MAX);
        return true;
    }
    return false;
}

/* Takes one from the longest column of text. */
static bool narrow_one(struct layout *layout)
{
    size_t longest = layout->table->column_count;
    for (size_t i = 0; i < layout->table->column_count; i++) {
        bool text = layout->table->columns[i].align == TABLE_LEFT;
        if (!text || layout->widths[i] <= CUT_WIDTH)
            continue;
        if (longest == layout->table->column_count ||
            layout->widths[i] > layout->widths[longest])
            longest = i;
    }
    if (longest == layout->table->column_count)
        return false;
    layout->widths[longest]--;
    add_up(layout);
    return true;
}

/* Gives the last column what the others leave. */
static void narrow_last(struct layout *layout, unsigned width)
{
    unsigned *last = &layout->widths[layout->table->column_count - 1];
    unsigned others = layout->total - *last;
    unsigned left = width > others ? width - others : 0;
    left = left > WRAP_WIDTH ? left : WRAP_WIDTH;
    *last = left < *last ? left : *last;
    add_up(layout);
}

static struct layout lay_out(const struct table *table, unsigned width)
{
    struct layout layout = {.table = table};
    layout.widths = arena_array(table->arena, unsigned, table->column_count);
    for (size_t i = 0; i < table->column_count; i++)
        layout.widths[i] = 1;
    set_natural(&layout);
    widen_for_groups(&layout, UINT_MAX);
    if (width == 0)
        return layout;
    bool more = true;
    while (more && layout.total > width)
        more = drop_one(&layout);
    if (layout.total <= width)
        return layout;
    set_natural(&layout); /* headings are cut before cells */
    if (table->wrap_last && layout.total > width)
        narrow_last(&layout, width);
    more = true;
    while (more && layout.total > width)
        more = narrow_one(&layout);
    widen_for_groups(&layout, layout.total < width ? width - layout.total : 0);
    return layout;
}

/* ---- writing */

static void put_blanks(struct line *line, unsigned count)
{
    line->blanks += count;
    line->column += count;
}

/* Writes text that takes `width` columns at most; longer text ends in "~". */
static void put_cut(struct line *line, const char *text, unsigned width)
{
    unsigned full = width_of(text);
    unsigned shown = full <= width ? full : width - 1;
    if (full == 0)
        return;
    text_add_many(line->out, ' ', line->blanks);
    line->blanks = 0;
    for (unsigned at = 0; *text; text++) {
        at += !continues(*text);
        if (at > shown)
            break;
        text_add_char(line->out, *text);
    }
    if (shown < full)
        text_add_char(line->out, '~');
    line->column += shown < full ? width : full;
}

static void put_to(struct line *line, unsigned column)
{
    if (column > line->column)
        put_blanks(line, column - line->column);
}

static void put_aligned(struct line *line, const char *text, unsigned width,
                        enum table_align align)
{
    unsigned begin = line->column;
    unsigned full = width_of(text);
    if (align == TABLE_RIGHT && full < width)
        put_blanks(line, width - full);
    put_cut(line, text, align == TABLE_RIGHT && full > width ? full : width);
    put_to(line, begin + width);
}

static void end_line(struct line *line)
{
    text_add_char(line->out, '\n');
    *line = (struct line){.out = line->out};
}

/* The headings over groups, each centred over its columns. */
static void put_groups(const struct layout *layout, struct line *line)
{
    const struct table *table = layout->table;
    bool any = false;
    unsigned begin = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        unsigned width;
        if (!layout->widths[i])
            continue;
        size_t last = group_end(layout, i, &width);
        const char *group = table->columns[i].group;
        if (group) {
            unsigned full = width_of(group);
            put_to(line, begin + (full < width ? (width - full) / 2 : 0));
            put_cut(line, group, width);
            any = true;
        }
        begin += width + GAP;
        i = last;
    }
    if (any)
        end_line(line);
}

/* Bytes of the first line of a text that is wrapped at `width` columns: up to a blank, or part
 * of a word that is longer. */
static size_t first_piece(const char *text, unsigned width)
{
    size_t end = 0, i = 0;
    unsigned columns = 0;
    for (;; i++) {
        if (text[i] == ' ' || text[i] == '\0')
            end = i;
        if (text[i] == '\0' || (columns == width && !continues(text[i])))
            break;
        columns += !continues(text[i]);
    }
    return end > 0 ? end : i;
}

/* A cell of the last column, wrapped to the lines below. */
static void put_wrapped(const struct layout *layout, struct line *line, const char *text)
{
    unsigned begin = line->column, width = layout->widths[layout->table->column_count - 1];
    for (bool first = true; first || *text; first = false) {
        size_t bytes = first_piece(text, width);
        if (!first)
            end_line(line);
        put_to(line, begin);
        put_cut(line, arena_slice(layout->table->arena, (struct slice){text, bytes}), width);
        text += bytes + (text[bytes] == ' ');
    }
    end_line(line);
}

static void put_cells(const struct layout *layout, struct line *line, const char *const *cells)
{
    const struct table *table = layout->table;
    bool first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!layout->widths[i])
            continue;
        if (!first)
            put_blanks(line, GAP);
        first = false;
        if (table->wrap_last && i + 1 == table->column_count) {
            put_wrapped(layout, line, cells[i]);
            return;
        }
        put_aligned(line, cells[i], layout->widths[i], table->columns[i].align);
    }
    end_line(line);
}

static void put_rule(const struct layout *layout, struct line *line, const char *title)
{
    unsigned total = layout->total;
    if (title && total > 6) {
        put_cut(line, "-- ", 3);
        put_cut(line, title, total - 4);
        put_blanks(line, 1);
    }
    if (line->column < total) {
        text_add_many(line->out, ' ', line->blanks);
        line->blanks = 0;
        text_add_many(line->out, '-', total - line->column);
    }
    end_line(line);
}

static void put_line(struct line *line, const char *text)
{
    put_cut(line, text, width_of(text));
    end_line(line);
}

static const char *const *names_of(const struct table *table)
{
    const char **names = arena_array(table->arena, const char *, table->column_count);
    for (size_t i = 0; i < table->column_count; i++)
        names[i] = table->columns[i].name;
    return names;
}

void table_render(const struct table *table, struct text *out, unsigned width)
{
    struct layout layout = lay_out(table, width);
    struct line line = {.out = out};
    put_groups(&layout, &line);
    put_cells(&layout, &line, names_of(table));
    put_rule(&layout, &line, NULL);
    for (size_t i = 0; i < table->row_count; i++) {
        const struct row *row = &table->rows[i];
        if (row->rule)
            put_rule(&layout, &line, row->title);
        else if (row->line)
            put_line(&line, row->title);
        else
            put_cells(&layout, &line, row->cells);
    }
}

/* ---- Markdown */

static void put_escaped(struct text *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\`*<", *text))
            text_add_char(out, '\\');
        text_add_char(out, *text);
    }
}

static void put_markdown_names(const struct table *table, struct text *out)
{
    for (size_t i = 0; i < table->column_count; i++) {
        text_add(out, "| ");
        if (table->columns[i].group) {
            put_escaped(out, table->columns[i].group);
            text_add_char(out, ' ');
        }
        put_escaped(out, table->columns[i].name);
        text_add_char(out, ' ');
    }
    text_add(out, "|\n");
    for (size_t i = 0; i < table->column_count; i++)
        text_add(out, table->columns[i].align == TABLE_RIGHT ? "| ---: " : "| --- ");
    text_add(out, "|\n");
}

static void put_markdown_row(const struct table *table, struct text *out, const struct row *row)
{
    for (size_t i = 0; i < table->column_count; i++) {
        text_add(out, "| ");
        if (row->rule && i == 0 && row->title) {
            text_add(out, "**");
            put_escaped(out, row->title);
            text_add(out, "** ");
        } else if (row->line && i == 0) {
            put_escaped(out, row->title);
            text_add_char(out, ' ');
        } else if (!row->rule && !row->line && row->cells[i][0]) {
            put_escaped(out, row->cells[i]);
            text_add_char(out, ' ');
        }
    }
    text_add(out, "|\n");
}

void table_render_markdown(const struct table *table, struct text *out)
{
    put_markdown_names(table, out);
    for (size_t i = 0; i < table->row_count; i++)
        if (!table->rows[i].rule || table->rows[i].title)
            put_markdown_row(table, out, &table->rows[i]);
}
