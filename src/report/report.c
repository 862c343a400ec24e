#include "report/report.h"

#include "report/report_internal.h"

#include <string.h>

enum { WIDTH_LEAST = 80, ANSWER_BYTES_MAX = 8192 };

static enum style answer_style(const struct record *record)
{
    if (record->verdict && strcmp(record->verdict, "valid") == 0)
        return STYLE_GOOD;
    if (record->verdict && strcmp(record->verdict, "reserve") == 0)
        return STYLE_BOLD;
    return STYLE_BAD;
}

static void add_answer(struct pen *pen)
{
    struct text answer;
    text_init(&answer, pen->arena, ANSWER_BYTES_MAX);
    part_answer(&answer, pen->record);
    if (pen->markdown) {
        pen_wrap(pen, "", arena_printf(pen->arena, "**%s**", answer.at));
        return;
    }
    struct pen lines;
    pen_init(&lines, pen->arena, pen->record, pen->width);
    pen_wrap(&lines, "", answer.at);
    pen_styled(pen, answer_style(pen->record), lines.plain.at);
}

static void write_report(struct pen *pen)
{
    add_answer(pen);
    part_failures(pen);
    part_targets(pen);
    part_searches(pen);
    part_tables(pen);
    part_relations(pen);
    part_costs(pen);
    part_usage(pen);
    if (pen->record->floor_count > 0) {
        pen_heading(pen, "Floors of this machine");
        part_floors(pen, pen->record->floors, pen->record->floor_count);
    }
    part_guards(pen);
    part_limits(pen);
    part_run(pen);
}

void report_terminal(const struct record *record, struct text *out, unsigned width, bool colour)
{
    struct arena *arena = arena_create(1u << 16);
    struct pen pen;
    pen_init(&pen, arena, record, width < WIDTH_LEAST ? WIDTH_LEAST : width);
    write_report(&pen);
    pen_finish(&pen, out, colour);
    arena_destroy(&arena);
}

void report_markdown(const struct record *record, struct text *out)
{
    struct arena *arena = arena_create(1u << 16);
    struct pen pen;
    pen_init(&pen, arena, record, 0);
    write_report(&pen);
    pen_finish(&pen, out, false);
    arena_destroy(&arena);
}

void report_answer(const struct record *record, struct text *out)
{
    struct arena *arena = arena_create(1u << 16);
    struct pen pen;
    struct text answer;
    pen_init(&pen, arena, record, 1u << 20);
    text_init(&answer, arena, ANSWER_BYTES_MAX);
    part_answer(&answer, record);
    pen_wrap(&pen, "", answer.at);
    pen.plain.bytes--; /* without the end of the line */
    pen_finish(&pen, out, false);
    arena_destroy(&arena);
}

void report_floors(const struct rec_floor *floors, size_t count, struct text *out,
                   unsigned width)
{
    struct arena *arena = arena_create(1u << 16);
    struct pen pen;
    pen_init(&pen, arena, NULL, width < WIDTH_LEAST ? WIDTH_LEAST : width);
    part_floors(&pen, floors, count);
    pen_finish(&pen, out, false);
    arena_destroy(&arena);
}
