#include "os/fs.h"
#include "record/record_json.h"
#include "record/record_json_internal.h"

enum {
    JSON_BYTES_MAX = 256 << 20,
    JSON_DEPTH_MAX = 32,
    HISTOGRAMS_MAX = 2000, /* each takes 280 KiB */
};

static bool read_pair(struct reader *reader, json_t *item, void *context)
{
    uint64_t low = 0, count = 0;
    if (!json_is_array(item) || json_array_size(item) != 2)
        return reader_expected(reader, "[lowest value, count]", item);
    if (!reader_u64(reader, json_array_get(item, 0), &low) ||
        !reader_u64(reader, json_array_get(item, 1), &count))
        return false;
    return hist_load_pair(context, low, count, reader->err) ||
           err_wrap(reader->err, "%s", reader->path.at);
}

struct histogram_figures {
    uint64_t count, min, max, overflow;
};

static bool read_figures(struct reader *reader, json_t *item, struct histogram_figures *out)
{
    static const struct field items[] = {
        {"count",    FIELD_U64, offsetof(struct histogram_figures, count),    NULL},
        {"min",      FIELD_U64, offsetof(struct histogram_figures, min),      NULL},
        {"max",      FIELD_U64, offsetof(struct histogram_figures, max),      NULL},
        {"overflow", FIELD_U64, offsetof(struct histogram_figures, overflow), NULL},
    };
    static const struct fields fields = {items, ARRAY_COUNT(items)};
    return reader_fields(reader, &fields, item, out);
}

static bool read_histogram(struct reader *reader, json_t *item, struct rec_run *run)
{
    struct histogram_figures figures = {0};
    __uint128_t sum = 0;
    if (reader->histogram_count++ == HISTOGRAMS_MAX)
        return err_set(reader->err, ERR_CONFIG, "%s: more than %d histograms", reader->path.at,
                       HISTOGRAMS_MAX);
    struct hist *hist = hist_create(reader->arena);
    if (!read_figures(reader, item, &figures) ||
        !reader_u128(reader, json_object_get(item, "sum"), &sum) ||
        !reader_array(reader, item, "pairs", read_pair, hist))
        return false;
    run->histogram = hist;
    if (figures.count == 0 && figures.overflow == 0 && hist->count == 0)
        return true;
    if (!hist_load_done(hist, figures.min, figures.max, figures.overflow, sum, reader->err))
        return err_wrap(reader->err, "%s", reader->path.at);
    if (hist->count != figures.count)
        return err_set(reader->err, ERR_CONFIG, "%s.count: expected %llu, got %llu",
                       reader->path.at, (unsigned long long)hist->count,
                       (unsigned long long)figures.count);
    return true;
}

static bool read_sample(struct reader *reader, json_t *item, void *context)
{
    uint64_t **next = context;
    return reader_u64(reader, item, (*next)++);
}

static bool read_run(struct reader *reader, json_t *item, void *context)
{
    struct rec_run *run = rec_cell_add_run(reader->arena, context);
    if (!reader_fields(reader, &record_sample_fields, item, run))
        return false;
    json_t *histogram = json_object_get(item, "histogram");
    if (histogram) {
        size_t here = reader_enter(reader, "histogram");
        if (!read_histogram(reader, histogram, run))
            return false;
        reader_leave(reader, here);
        return true;
    }
    run->sample_count = json_array_size(json_object_get(item, "samples"));
    uint64_t *samples = arena_array(reader->arena, uint64_t, run->sample_count);
    run->samples = samples;
    return reader_array(reader, item, "samples", read_sample, &samples);
}

static bool read_single(struct reader *reader, json_t *value, struct rec_metric *metric)
{
    size_t here = reader_enter(reader, "value");
    metric->real_value = json_is_real(value);
    if (metric->real_value ? !reader_real(reader, value, &metric->value_real)
                           : !reader_i64(reader, value, &metric->value))
        return false;
    reader_leave(reader, here);
    return true;
}

static bool read_metric(struct reader *reader, const char *name, json_t *item, void *context)
{
    struct rec_metric *metric = rec_cell_add_metric(reader->arena, context);
    metric->name = arena_text(reader->arena, name);
    if (!reader_fields(reader, &record_metric_fields, item, metric) ||
        !reader_fields(reader, &record_metric_from_fields, item, metric))
        return false;
    size_t here = reader_enter(reader, "unavailable");
    if (!reader_text(reader, json_object_get(item, "unavailable"), &metric->unavailable))
        return false;
    reader_leave(reader, here);
    json_t *value = json_object_get(item, "value");
    if (metric->unavailable)
        return true;
    if (value)
        return read_single(reader, value, metric);
    metric->distribution = true;
    return reader_fields(reader, &record_distribution_fields, item, metric);
}

static bool read_check(struct reader *reader, json_t *item, void *context)
{
    return reader_fields(reader, &record_check_fields, item,
                         rec_cell_add_check(reader->arena, context));
}

static bool read_failure(struct reader *reader, json_t *item, void *context)
{
    return reader_fields(reader, &record_failure_fields, item,
                         rec_cell_add_failure(reader->arena, context));
}

static bool fill_guard(struct reader *reader, json_t *item, struct rec_guard *guard)
{
    if (!reader_fields(reader, &record_guard_fields, item, guard))
        return false;
    json_t *figure = json_object_get(item, "figure");
    size_t here = reader_enter(reader, "figure");
    if (!reader_real(reader, figure, &guard->figure))
        return false;
    reader_leave(reader, here);
    guard->has_figure = figure != NULL;
    return true;
}

static bool read_cell_guard(struct reader *reader, json_t *item, void *context)
{
    return fill_guard(reader, item, rec_cell_add_guard(reader->arena, context));
}

static bool read_run_guard(struct reader *reader, json_t *item, void *context)
{
    return fill_guard(reader, item, record_add_guard(context));
}

static bool read_cell(struct reader *reader, json_t *item, void *context)
{
    struct rec_cell *cell = record_add_cell(context);
    if (!reader_fields(reader, &record_cell_key_fields, item, cell) ||
        !reader_array(reader, item, "runs", read_run, cell))
        return false;
    size_t here = reader_enter(reader, "metrics");
    if (!reader_members(reader, json_object_get(item, "metrics"), read_metric, cell))
        return false;
    reader_leave(reader, here);
    return reader_array(reader, item, "checks", read_check, cell) &&
           reader_array(reader, item, "guards", read_cell_guard, cell) &&
           reader_array(reader, item, "failures", read_failure, cell) &&
           reader_fields(reader, &record_cell_end_fields, item, cell);
}

static bool read_target(struct reader *reader, json_t *item, void *context)
{
    return reader_fields(reader, &record_target_fields, item, record_add_target(context));
}

static bool read_relation(struct reader *reader, json_t *item, void *context)
{
    return reader_fields(reader, &record_relation_fields, item, record_add_relation(context));
}

static bool read_cost(struct reader *reader, json_t *item, void *context)
{
    return reader_fields(reader, &record_cost_fields, item, record_add_cost(context));
}

static bool read_step(struct reader *reader, json_t *item, void *context)
{
    return reader_fields(reader, &record_step_fields, item,
                         rec_search_add_step(reader->arena, context));
}

static bool read_search(struct reader *reader, json_t *item, void *context)
{
    struct rec_search *search = record_add_search(context);
    return reader_fields(reader, &record_search_fields, item, search) &&
           reader_array(reader, item, "steps", read_step, search);
}

static bool read_limit(struct reader *reader, json_t *item, void *context)
{
    const char *text;
    if (!reader_need(reader, item, &text))
        return false;
    record_add_limit(context, text);
    return true;
}

static bool read_floor(struct reader *reader, const char *name, json_t *item, void *context)
{
    static const char *const sides[] = {"before", "after"};
    if (!json_is_object(item))
        return reader_expected(reader, "an object", item);
    name = arena_text(reader->arena, name);
    for (size_t i = 0; i < ARRAY_COUNT(sides); i++) {
        json_t *side = json_object_get(item, sides[i]);
        if (!side)
            continue;
        size_t here = reader_enter(reader, sides[i]);
        struct rec_floor *floor = record_add_floor(context);
        floor->name = name;
        floor->when = sides[i];
        if (!reader_fields(reader, &record_floor_fields, side, floor))
            return false;
        reader_leave(reader, here);
    }
    return true;
}

static bool read_argument(struct reader *reader, json_t *item, void *context)
{
    const char ***next = context;
    const char *text;
    if (!reader_text(reader, item, &text))
        return false;
    *(*next)++ = text ? text : "";
    return true;
}

static bool read_command(struct reader *reader, json_t *run, struct record *record)
{
    record->command_count = json_array_size(json_object_get(run, "command"));
    record->command = arena_array(reader->arena, const char *, record->command_count);
    const char **next = record->command;
    return reader_array(reader, run, "command", read_argument, &next);
}

static bool read_part(struct reader *reader, json_t *root, const char *key,
                      const struct fields *fields, struct record *record)
{
    size_t here = reader_enter(reader, key);
    if (!reader_fields(reader, fields, json_object_get(root, key), record))
        return false;
    reader_leave(reader, here);
    return true;
}

static bool read_head(struct reader *reader, json_t *root, struct record *record)
{
    json_t *run = json_object_get(root, "run");
    if (!read_part(reader, root, "suite", &record_suite_fields, record) ||
        !read_part(reader, root, "run", &record_run_fields, record))
        return false;
    size_t here = reader_enter(reader, "run");
    if (!read_command(reader, run, record))
        return false;
    reader_leave(reader, here);
    here = reader_enter(reader, "host");
    if (!reader_pairs(reader, json_object_get(root, "host"), &record->host))
        return false;
    reader_leave(reader, here);
    here = reader_enter(reader, "floors");
    if (!reader_members(reader, json_object_get(root, "floors"), read_floor, record))
        return false;
    reader_leave(reader, here);
    return true;
}

static bool read_root(struct reader *reader, json_t *root, struct record *record)
{
    json_t *schema = json_object_get(root, "schema");
    if (!json_is_object(root))
        return reader_expected(reader, "an object", root);
    size_t here = reader_enter(reader, "schema");
    if (!json_is_string(schema) || !slice_is(reader_slice(schema), RECORD_SCHEMA))
        return reader_expected(reader, "\"" RECORD_SCHEMA "\"", schema);
    reader_leave(reader, here);
    return read_head(reader, root, record) &&
           reader_array(reader, root, "targets", read_target, record) &&
           reader_array(reader, root, "scenarios", read_cell, record) &&
           reader_array(reader, root, "relations", read_relation, record) &&
           reader_array(reader, root, "costs", read_cost, record) &&
           reader_array(reader, root, "searches", read_search, record) &&
           reader_array(reader, root, "guards", read_run_guard, record) &&
           reader_array(reader, root, "limits", read_limit, record) &&
           reader_fields(reader, &record_end_fields, root, record);
}

/* The parser below recurses, so depth is looked at before it sees the text. */
static bool check_depth(const char *json, size_t bytes, struct err *err)
{
    unsigned depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < bytes; i++) {
        char c = json[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            depth++;
        else if (!quoted && (c == '}' || c == ']') && depth > 0)
            depth--;
        if (depth > JSON_DEPTH_MAX)
            return err_set(err, ERR_CONFIG, "byte %zu: nested deeper than %d", i,
                           JSON_DEPTH_MAX);
    }
    return true;
}

bool record_from_json(struct arena *arena, const char *json, size_t bytes,
                      struct record **record, struct err *err)
{
    json_error_t fault;
    if (bytes > JSON_BYTES_MAX)
        return err_set(err, ERR_CONFIG, "expected at most 256 MiB of JSON, got %zu bytes",
                       bytes);
    if (!check_depth(json, bytes, err))
        return false;
    json_t *root = json_loadb(json, bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
    if (!root)
        return err_set(err, ERR_CONFIG, "line %d, column %d: %s", fault.line, fault.column,
                       fault.text);
    struct reader reader = {.arena = arena, .err = err};
    text_init(&reader.path, arena, 240);
    struct record *made = record_create(arena);
    bool ok = read_root(&reader, root, made);
    json_decref(root);
    if (ok)
        *record = made;
    return ok;
}

bool record_read(struct arena *arena, const char *path, struct record **record, struct err *err)
{
    struct arena *scratch = arena_create(1u << 20);
    const char *json;
    size_t bytes;
    bool ok = fs_read(scratch, path, JSON_BYTES_MAX, &json, &bytes, err) &&
              (record_from_json(arena, json, bytes, record, err) || err_wrap(err, "%s", path));
    arena_destroy(&scratch);
    return ok;
}
