#include "report/report_internal.h"

#include <math.h>
#include <string.h>

bool cell_has_result(const struct rec_cell *cell)
{
    static const char *const none[] = {"failed", "not-applicable", "not-run"};
    for (size_t i = 0; cell && i < ARRAY_COUNT(none); i++) {
        if (cell->verdict && strcmp(cell->verdict, none[i]) == 0)
            return false;
    }
    return cell != NULL;
}

bool cell_is_interrupted(const struct rec_cell *cell)
{
    return cell && text_is(cell->verdict, "interrupted");
}

bool is_null_target(const struct record *record, const char *label)
{
    for (size_t i = 0; i < record->target_count; i++) {
        if (text_is(record->targets[i].label, label))
            return text_is(record->targets[i].kind, "null");
    }
    return false;
}

bool cell_stat(const struct rec_cell *cell, const char *metric, const char *stat, double *out)
{
    if (!cell_has_result(cell))
        return false;
    const struct rec_metric *found = rec_cell_metric(cell, metric);
    return found && rec_metric_stat(found, stat, out);
}

bool metric_is_bound(const struct rec_metric *metric, const char *stat, double figure)
{
    if (!metric->bounded_from.known || !metric->distribution || text_is(stat, "n") ||
        text_is(stat, "min"))
        return false;
    return text_is(stat, "mean") || figure >= (double)metric->bounded_from.value;
}

bool cell_time(const struct rec_cell *cell, double *ns)
{
    double n;
    if (!cell_stat(cell, "service_ns", "n", &n))
        return false;
    return cell_stat(cell, "service_ns", n < 3 ? "mean" : "p50", ns);
}

bool cell_affected(const struct rec_cell *cell, double *rows)
{
    return cell_stat(cell, "affected", "value", rows);
}

static void print_count(char *buffer, size_t room, double value)
{
    if (fabs(value) < 9e15)
        format_count(buffer, room, llround(value));
    else
        text_print(buffer, room, "%.3g", value);
}

void figure_print(char *buffer, size_t room, enum unit unit, double ns)
{
    static const double scales[] = {1, 1e3, 1e6, 1e9};
    double value = ns / scales[unit];
    if (unit == UNIT_NS || value >= 999.95)
        print_count(buffer, room, value);
    else if (value >= 99.995)
        text_print(buffer, room, "%.1f", value);
    else if (value >= 9.9995)
        text_print(buffer, room, "%.2f", value);
    else if (value >= 0.0995 || value < 1e-9)
        text_print(buffer, room, "%.3f", value);
    else
        text_print(buffer, room, "%.*f", 1 - (int)floor(log10(value)), value);
}

void figure_with_unit(char *buffer, size_t room, const char *unit, double value)
{
    char number[40];
    if (!unit)
        unit = "1";
    if (strcmp(unit, "ns") == 0 && value >= 0 && value < 0x1p63)
        format_duration(buffer, room, (uint64_t)(value + 0.5));
    else if (strcmp(unit, "bytes") == 0 && value >= 0 && value < 0x1p63)
        format_bytes(buffer, room, (uint64_t)value);
    else if (strcmp(unit, "bytes/s") == 0 && value >= 0 && value < 0x1p63) {
        format_bytes(number, sizeof(number), (uint64_t)value);
        text_print(buffer, room, "%s/s", number);
    } else if (strcmp(unit, "1") == 0 && fabs(value - rint(value)) < 1e-9) {
        print_count(buffer, room, value);
    } else if (strcmp(unit, "1") == 0) {
        text_print(buffer, room, "%.3g", value);
    } else if (strcmp(unit, "1/s") == 0) {
        format_rate(number, sizeof(number), value);
        text_print(buffer, room, "%s/s", number);
    } else if (strcmp(unit, "cores") == 0) {
        text_print(buffer, room, "%.2f cores", value);
    } else {
        format_rate(number, sizeof(number), value);
        text_print(buffer, room, "%s %s", number, unit);
    }
}

void figure_glued(char *buffer, size_t room, const char *unit, double value)
{
    figure_with_unit(buffer, room, unit, value);
    for (char *at = buffer; *at; at++) {
        if (*at == ' ')
            *at = GLUE;
    }
}

void list_names(struct text *out, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_add(out, i + 1 == count ? " and " : ", ");
        text_add(out, names[i]);
    }
}
