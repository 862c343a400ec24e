#include "report/tables_internal.h"

static void add_note(struct view *view, const char *lead, const char *text)
{
    if (view->pen->markdown)
        text_add_char(&view->pen->plain, '\n');
    pen_wrap(view->pen, view->pen->markdown ? "" : lead, text);
}

static bool is_told(const struct timings *timings, const char *timing)
{
    for (size_t i = 0; i < timings->count; i++) {
        if (text_is(timing, timings->told[i]))
            return true;
    }
    return false;
}

static void tell(struct view *view, const struct row *row, struct timings *timings)
{
    for (size_t t = 0; t < view->rows->target_count; t++) {
        const char *timing = row->cells[t] ? row->cells[t]->timing : NULL;
        if (!timing || is_told(timings, timing) || timings->count == ARRAY_COUNT(timings->told))
            continue;
        timings->told[timings->count++] = timing;
        add_note(view, "  ",
                 arena_printf(view->pen->arena, "%s: %s.",
                              row->phase ? "Phases are timed" : "Timed", timing));
    }
}

void around_timing(struct view *view, struct timings *timings)
{
    for (size_t i = 0; i < view->rows->count; i++) {
        if (view->rows->items[i].kind == view->kind)
            tell(view, &view->rows->items[i], timings);
    }
}

void around_notes(struct view *view)
{
    for (size_t i = 0; i < view->note_count; i++) {
        const char *lead = arena_printf(view->pen->arena, "  [%zu] ", i + 1);
        const char *text = view->pen->markdown ? arena_printf(view->pen->arena, "[%zu] %s",
                                                              i + 1, view->notes[i])
                                               : view->notes[i];
        add_note(view, lead, text);
    }
    if (view->shown & SHOW_CORES)
        add_note(view, "  ", "cores: of the client + of the server");
    if (view->stopped)
        add_note(view, "  ", "~ interrupted: what was measured until then");
    if (view->unfit)
        add_note(view, "  ", "! not valid: the warnings say why");
}

static const char *tier_of(const struct record *record, const char *label)
{
    for (size_t i = 0; i < record->target_count; i++) {
        if (text_is(record->targets[i].label, label))
            return or_dash(record->targets[i].tier);
    }
    return "-";
}

/* Target whose tier counts, from *t on. */
static bool next_storing(const struct pen *pen, const struct rows *rows, size_t *t)
{
    while (*t < rows->target_count && is_null_target(pen->record, rows->labels[*t]))
        ++*t;
    return *t < rows->target_count;
}

static const char *tier_word(const char *tier)
{
    return strcmp(tier, "none") == 0 ? "nothing" : tier;
}

void around_tiers(struct pen *pen, const struct rows *rows)
{
    struct text line;
    const char *first = NULL;
    size_t storing = 0;
    bool equal = true;
    for (size_t t = 0; next_storing(pen, rows, &t); t++) {
        const char *tier = tier_of(pen->record, rows->labels[t]);
        first = first ? first : tier;
        equal &= strcmp(first, tier) == 0;
        storing++;
    }
    if (!first)
        return;
    text_init(&line, pen->arena, 4096);
    text_add(&line, equal ? "commits wait for " : "commits wait for: ");
    if (equal)
        text_addf(&line, "%s%s", tier_word(first),
                  storing < 2                    ? ""
                  : storing < rows->target_count ? " (all but null)"
                                                 : " (all targets)");
    for (size_t t = 0; !equal && next_storing(pen, rows, &t); t++)
        text_addf(&line, "%s %s%s", rows->labels[t],
                  tier_word(tier_of(pen->record, rows->labels[t])), --storing > 0 ? ", " : "");
    pen_wrap(pen, pen->markdown ? "" : "  ", line.at);
    if (pen->markdown)
        text_add_char(&pen->plain, '\n');
}
