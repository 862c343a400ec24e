#include "base/text.h"
#include "suite/suite_internal.h"

#include <stdarg.h>
#include <string.h>

enum { GUESS_BYTES_MAX = 40 };

void suite_list_add(struct arena *arena, struct suite_list *list, void *item)
{
    list->items = arena_grow(arena, list->items, list->count, &list->room, list->count + 1,
                             sizeof(*list->items));
    list->items[list->count++] = item;
}

void suite_fault_add(struct suite_loader *ld, const struct suite_place *where, const char *fmt,
                     ...)
{
    if (ld->faults.count >= SUITE_FAULTS_MAX)
        return;
    struct suite_fault *fault = arena_new(ld->arena, struct suite_fault);
    va_list args;
    va_start(args, fmt);
    char text[400];
    text_vprint(text, sizeof(text), fmt, args);
    va_end(args);
    for (char *at = text; *at; at++) { /* names may hold anything */
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
    fault->where = *where;
    fault->text = arena_printf(ld->arena, "%s: %s", where->text, text);
    suite_list_add(ld->arena, &ld->faults, fault);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance (insert, delete, replace, swap counts as two). */
static size_t distance(const char *a, const char *b)
{
    size_t row[GUESS_BYTES_MAX + 1];
    size_t a_bytes = strlen(a), b_bytes = strlen(b);
    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            size_t replaced = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            row[j] = smaller(smaller(row[j], row[j - 1]) + 1, replaced);
        }
    }
    return row[b_bytes];
}

const char *suite_guess(const struct suite_loader *ld, const char *name,
                        const char *const *names)
{
    const char *best = NULL;
    size_t bytes = strlen(name);
    size_t nearest = smaller(2, bytes > 0 ? (bytes - 1) / 2 : 0);
    if (bytes > GUESS_BYTES_MAX || ld->faults.count >= SUITE_FAULTS_MAX)
        return NULL;
    for (size_t i = 0; names[i]; i++) {
        if (strlen(names[i]) > GUESS_BYTES_MAX)
            continue;
        size_t edits = distance(name, names[i]);
        if (edits <= nearest && (!best || edits < nearest)) {
            best = names[i];
            nearest = edits;
        }
    }
    return best;
}

static int by_place(const void *left, const void *right)
{
    const struct suite_fault *a = *(const struct suite_fault *const *)left;
    const struct suite_fault *b = *(const struct suite_fault *const *)right;
    if (a->where.chunk != b->where.chunk)
        return a->where.chunk < b->where.chunk ? -1 : 1;
    if (a->where.line != b->where.line)
        return a->where.line < b->where.line ? -1 : 1;
    return strcmp(a->text, b->text);
}

bool suite_faults_report(struct suite_loader *ld, struct suite_faults *faults, struct err *err)
{
    struct suite_list *list = &ld->faults;
    qsort(list->items, list->count, sizeof(*list->items), by_place);
    const char **texts = arena_array(ld->arena, const char *, list->count);
    uint32_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *text = ((const struct suite_fault *)list->items[i])->text;
        if (count == 0 || strcmp(texts[count - 1], text) != 0)
            texts[count++] = text;
    }
    *faults = (struct suite_faults){texts, count};
    return err_set(err, ERR_CONFIG, "%s", texts[0]);
}

bool suite_over_limits(const struct suite_loader *ld)
{
    size_t bytes = arena_bytes(ld->arena) - ld->arena_start + arena_bytes(ld->scratch);
    return bytes > SUITE_ARENA_BYTES_MAX || ld->pool->count > SUITE_GENERATORS_MAX ||
           ld->work > SUITE_WORK_MAX;
}

static bool is_word(char c, bool first)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return letter || (!first && c >= '0' && c <= '9');
}

bool suite_is_identifier(const char *name)
{
    for (size_t i = 0; name[i]; i++) {
        if (!is_word(name[i], i == 0) || i == SUITE_NAME_BYTES)
            return false;
    }
    return name[0] != '\0';
}

bool suite_is_name(const char *name)
{
    for (size_t i = 0; name[i]; i++) {
        bool mark = i > 0 && (name[i] == '-' || name[i] == '.');
        if ((!mark && !is_word(name[i], i == 0)) || i == SUITE_NAME_BYTES)
            return false;
    }
    return name[0] != '\0';
}
