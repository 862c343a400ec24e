#ifndef FORMAT_TABLE_H
#define FORMAT_TABLE_H

/*
 * A table of text cells, rendered for a terminal or as Markdown. Knows nothing of numbers:
 * cells come printed. Widths count code points of UTF-8 (each taken as one column).
 */

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table;

struct table *table_create(struct arena *arena);

/* Columns first, then rows. `group` (may be NULL) is a heading over neighbouring columns that
 * share it, e.g. a target's label and tier. A column that `may_drop` is left out, last first,
 * when the table is wider than the terminal. */
void table_column(struct table *table, const char *group, const char *name,
                  enum table_align align, bool may_drop);

void table_row(struct table *table);                    /* begins a row */
void table_cell(struct table *table, const char *text); /* copied; missing cells are empty */
void table_rule(struct table *table,
                const char *title); /* a line across, with a title or NULL */
/* Text on a line of its own over the next row, as wide as it is: for a key that would be cut.
 * In Markdown it is the first cell of a row. */
void table_line(struct table *table, const char *text);

/* From now on the last column is wrapped at blanks where the table would be wider than the
 * terminal, instead of being cut. */
void table_wrap_last(struct table *table);

/* Renders within `width` columns: drops droppable columns, then cuts the longest left-aligned
 * column with a trailing "~", never figures. width 0: no limit. */
void table_render(const struct table *table, struct text *out, unsigned width);
void table_render_markdown(const struct table *table, struct text *out);

#endif
