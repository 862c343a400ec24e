#include "record/record_json.h"

#include "os/fs.h"
#include "record/jsonw.h"
#include "record/record_fields.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A member of any type at its place; copied, since a table knows no types. */
#define MEMBER(type, place) (*(const type *)(place))

static void write_value(struct jsonw *json, const char *key, const struct value *value)
{
    switch (value->type) {
    case VALUE_NULL: jsonw_null(json, key); return;
    case VALUE_INT: jsonw_i64(json, key, value->as.i); return;
    case VALUE_TEXT:
        jsonw_slice(json, key, (struct slice){value->as.text, value->bytes});
        return;
    case VALUE_REAL:
        if (isfinite(value->as.r))
            jsonw_real(json, key, value->as.r);
        else
            jsonw_text(json, key,
                       isnan(value->as.r) ? "nan"
                       : value->as.r > 0  ? "inf"
                                          : "-inf");
        return;
    case VALUE_BLOB: break;
    }
    char digits[3];
    struct text hex;
    text_init(&hex, json->out->arena, 2 * (size_t)value->bytes);
    for (uint32_t i = 0; i < value->bytes; i++) {
        text_print(digits, sizeof(digits), "%02x", (unsigned)(unsigned char)value->as.text[i]);
        text_add(&hex, digits);
    }
    jsonw_object(json, key, true);
    jsonw_text(json, "hex", hex.at);
    jsonw_end(json);
}

static void write_pairs(struct jsonw *json, const char *key, const struct rec_pairs *pairs)
{
    jsonw_object(json, key, pairs->count <= 4);
    for (size_t i = 0; i < pairs->count; i++)
        write_value(json, pairs->items[i].name, &pairs->items[i].value);
    jsonw_end(json);
}

static bool is_word(const char *const *words, const char *text)
{
    for (; text && *words; words++) {
        if (strcmp(*words, text) == 0)
            return true;
    }
    return false;
}

static void write_number(struct jsonw *json, const char *key, const struct rec_number *number)
{
    if (number->known)
        jsonw_u64(json, key, number->value);
    else
        jsonw_null(json, key);
}

static void write_field(struct jsonw *json, const struct field *field, const void *at)
{
    const char *key = field->name;
    switch (field->kind) {
    case FIELD_NEED:
    case FIELD_TEXT: jsonw_text(json, key, MEMBER(char *const, at)); return;
    case FIELD_VERDICT:
        assert(is_word(field->words, MEMBER(char *const, at)));
        jsonw_text(json, key, MEMBER(char *const, at));
        return;
    case FIELD_ENUM: jsonw_text(json, key, field->words[MEMBER(unsigned, at)]); return;
    case FIELD_U64: jsonw_u64(json, key, MEMBER(uint64_t, at)); return;
    case FIELD_U32: jsonw_u64(json, key, MEMBER(uint32_t, at)); return;
    case FIELD_I64: jsonw_i64(json, key, MEMBER(int64_t, at)); return;
    case FIELD_MAYBE:
    case FIELD_REAL: jsonw_real(json, key, MEMBER(double, at)); return;
    case FIELD_BOOL: jsonw_bool(json, key, MEMBER(bool, at)); return;
    case FIELD_NUMBER: write_number(json, key, &MEMBER(struct rec_number, at)); return;
    case FIELD_VALUE: write_value(json, key, &MEMBER(struct value, at)); return;
    case FIELD_PAIRS: write_pairs(json, key, &MEMBER(struct rec_pairs, at)); return;
    }
}

static void write_fields(struct jsonw *json, const struct fields *fields, const void *object)
{
    for (size_t i = 0; i < fields->count; i++)
        write_field(json, &fields->items[i], (const char *)object + fields->items[i].offset);
}

static void write_pair(void *context, uint64_t low, uint64_t count)
{
    struct jsonw *json = context;
    jsonw_array(json, NULL, true);
    jsonw_u64(json, NULL, low);
    jsonw_u64(json, NULL, count);
    jsonw_end(json);
}

static void write_run(struct jsonw *json, const struct rec_run *run)
{
    jsonw_object(json, NULL, false);
    write_fields(json, &record_sample_fields, run);
    if (run->histogram) {
        jsonw_object(json, "histogram", true);
        jsonw_u64(json, "count", run->histogram->count);
        jsonw_u128(json, "sum", run->histogram->sum);
        jsonw_u64(json, "min", run->histogram->count > 0 ? run->histogram->min : 0);
        jsonw_u64(json, "max", run->histogram->max);
        jsonw_u64(json, "overflow", run->histogram->overflow);
        jsonw_array(json, "pairs", true);
        hist_each(run->histogram, write_pair, json);
        jsonw_end(json);
        jsonw_end(json);
    } else {
        jsonw_array(json, "samples", true);
        for (uint64_t i = 0; i < run->sample_count; i++)
            jsonw_u64(json, NULL, run->samples[i]);
        jsonw_end(json);
    }
    jsonw_end(json);
}

/* A figure that is not finite is no figure. */
static const char *unavailable(const struct rec_metric *metric)
{
    double figure = metric->distribution ? metric->mean
                    : metric->real_value ? metric->value_real
                                         : 0;
    if (!metric->unavailable && !isfinite(figure))
        return "the figure is not a finite number";
    return metric->unavailable;
}

static void write_metric(struct jsonw *json, const struct rec_metric *metric)
{
    jsonw_object(json, metric->name, true);
    write_fields(json, &record_metric_fields, metric);
    const char *reason = unavailable(metric);
    if (reason)
        jsonw_text(json, "unavailable", reason);
    else if (metric->distribution)
        write_fields(json, &record_distribution_fields, metric);
    else if (metric->real_value)
        jsonw_real(json, "value", metric->value_real);
    else
        jsonw_i64(json, "value", metric->value);
    write_fields(json, &record_metric_from_fields, metric);
    jsonw_end(json);
}

static void write_guards(struct jsonw *json, const struct rec_guard *guards, size_t count)
{
    jsonw_array(json, "guards", false);
    for (size_t i = 0; i < count; i++) {
        jsonw_object(json, NULL, true);
        write_fields(json, &record_guard_fields, &guards[i]);
        if (guards[i].has_figure && isfinite(guards[i].figure))
            jsonw_real(json, "figure", guards[i].figure);
        jsonw_end(json);
    }
    jsonw_end(json);
}

static void write_flat(struct jsonw *json, const struct fields *fields, const void *object)
{
    jsonw_object(json, NULL, true);
    write_fields(json, fields, object);
    jsonw_end(json);
}

static void write_cell(struct jsonw *json, const struct rec_cell *cell)
{
    jsonw_object(json, NULL, false);
    write_fields(json, &record_cell_key_fields, cell);
    jsonw_array(json, "runs", false);
    for (size_t i = 0; i < cell->run_count; i++)
        write_run(json, &cell->runs[i]);
    jsonw_end(json);
    jsonw_object(json, "metrics", false);
    for (size_t i = 0; i < cell->metric_count; i++) {
        assert(rec_cell_metric(cell, cell->metrics[i].name) == &cell->metrics[i]);
        write_metric(json, &cell->metrics[i]);
    }
    jsonw_end(json);
    jsonw_array(json, "checks", false);
    for (size_t i = 0; i < cell->check_count; i++)
        write_flat(json, &record_check_fields, &cell->checks[i]);
    jsonw_end(json);
    write_guards(json, cell->guards, cell->guard_count);
    jsonw_array(json, "failures", false);
    for (size_t i = 0; i < cell->failure_count; i++)
        write_flat(json, &record_failure_fields, &cell->failures[i]);
    jsonw_end(json);
    write_fields(json, &record_cell_end_fields, cell);
    jsonw_end(json);
}

static const char *when_of(const struct rec_floor *floor)
{
    return floor->when && strcmp(floor->when, "after") == 0 ? "after" : "before";
}

static const struct rec_floor *find_floor(const struct record *record, const char *name,
                                          const char *when)
{
    for (size_t i = 0; i < record->floor_count; i++) {
        const struct rec_floor *floor = &record->floors[i];
        if (strcmp(floor->name, name) == 0 && (!when || strcmp(when_of(floor), when) == 0))
            return floor;
    }
    return NULL;
}

static void write_floors(struct jsonw *json, const struct record *record)
{
    static const char *const sides[] = {"before", "after"};
    jsonw_object(json, "floors", false);
    for (size_t i = 0; i < record->floor_count; i++) {
        const char *name = record->floors[i].name;
        if (find_floor(record, name, NULL) != &record->floors[i])
            continue;
        jsonw_object(json, name, false);
        for (size_t side = 0; side < ARRAY_COUNT(sides); side++) {
            const struct rec_floor *floor = find_floor(record, name, sides[side]);
            if (!floor)
                continue;
            jsonw_object(json, sides[side], true);
            write_fields(json, &record_floor_fields, floor);
            jsonw_end(json);
        }
        jsonw_end(json);
    }
    jsonw_end(json);
}

static void write_relation(struct jsonw *json, struct rec_relation relation)
{
    bool finite =
        isfinite(relation.a_value) && isfinite(relation.b_value) && isfinite(relation.ratio);
    relation.known = relation.known && finite;
    if (!relation.known) {
        relation.a_value = relation.b_value = relation.ratio = (double)NAN;
        if (!relation.reason)
            relation.reason = "the figures give no finite ratio";
    }
    write_flat(json, &record_relation_fields, &relation);
}

static void write_cost(struct jsonw *json, struct rec_cost cost)
{
    bool finite = isfinite(cost.library_cpu_ns) && isfinite(cost.wire_cpu_ns);
    cost.known = cost.known && finite;
    if (!cost.known) {
        cost.library_cpu_ns = cost.wire_cpu_ns = (double)NAN;
        if (!cost.reason)
            cost.reason = "the figures are not finite";
    }
    write_flat(json, &record_cost_fields, &cost);
}

static void write_search(struct jsonw *json, const struct rec_search *search)
{
    jsonw_object(json, NULL, false);
    write_fields(json, &record_search_fields, search);
    jsonw_array(json, "steps", false);
    for (size_t i = 0; i < search->step_count; i++)
        write_flat(json, &record_step_fields, &search->steps[i]);
    jsonw_end(json);
    jsonw_end(json);
}

static void write_run_of_tool(struct jsonw *json, const struct record *record)
{
    jsonw_object(json, "run", false);
    jsonw_array(json, "command", true);
    for (size_t i = 0; i < record->command_count; i++)
        jsonw_text(json, NULL, record->command[i]);
    jsonw_end(json);
    write_fields(json, &record_run_fields, record);
    jsonw_end(json);
}

static void write_lists(struct jsonw *json, const struct record *record)
{
    jsonw_array(json, "targets", false);
    for (size_t i = 0; i < record->target_count; i++) {
        jsonw_object(json, NULL, false);
        write_fields(json, &record_target_fields, &record->targets[i]);
        jsonw_end(json);
    }
    jsonw_end(json);
    jsonw_array(json, "scenarios", false);
    for (size_t i = 0; i < record->cell_count; i++)
        write_cell(json, &record->cells[i]);
    jsonw_end(json);
    jsonw_array(json, "relations", false);
    for (size_t i = 0; i < record->relation_count; i++)
        write_relation(json, record->relations[i]);
    jsonw_end(json);
    jsonw_array(json, "costs", false);
    for (size_t i = 0; i < record->cost_count; i++)
        write_cost(json, record->costs[i]);
    jsonw_end(json);
    jsonw_array(json, "searches", false);
    for (size_t i = 0; i < record->search_count; i++)
        write_search(json, &record->searches[i]);
    jsonw_end(json);
    write_guards(json, record->guards, record->guard_count);
    jsonw_array(json, "limits", false);
    for (size_t i = 0; i < record->limit_count; i++)
        jsonw_text(json, NULL, record->limits[i]);
    jsonw_end(json);
}

const char *record_to_json(struct arena *arena, const struct record *record, size_t *bytes)
{
    struct text out;
    struct jsonw json;
    text_init(&out, arena, SIZE_MAX / 4);
    jsonw_init(&json, &out);
    jsonw_object(&json, NULL, false);
    jsonw_text(&json, "schema", RECORD_SCHEMA);
    jsonw_object(&json, "suite", false);
    write_fields(&json, &record_suite_fields, record);
    jsonw_end(&json);
    write_run_of_tool(&json, record);
    write_pairs(&json, "host", &record->host);
    write_floors(&json, record);
    write_lists(&json, record);
    write_fields(&json, &record_end_fields, record);
    jsonw_end(&json);
    text_add_char(&out, '\n');
    *bytes = out.bytes;
    return out.at;
}

bool record_write(const struct record *record, const char *path, struct err *err)
{
    struct arena *arena = arena_create(1u << 20);
    size_t bytes;
    const char *json = record_to_json(arena, record, &bytes);
    bool ok = fs_write_atomic(path, json, bytes, err);
    arena_destroy(&arena);
    return ok;
}
