/* links: record
 *
 * Any record, also one of odd texts and extreme numbers, comes back from its JSON so that it
 * gives the same JSON again. */

#include "record/record_json.h"
#include "testing.h"

#include <string.h>

enum { ROUNDS = 150 };

static struct test_random random_state;

static uint64_t below(uint64_t limit)
{
    return test_random_below(&random_state, limit);
}

/* Small, any, or next to the bounds of what JSON integers carry. */
static uint64_t any_u64(void)
{
    switch (below(4)) {
    case 0: return below(10);
    case 1: return UINT64_MAX - below(3);
    case 2: return (UINT64_C(1) << 63) - 1 + below(3) - 1;
    default: return test_random_u64(&random_state);
    }
}

static double any_real(void)
{
    double real;
    uint64_t bits = test_random_u64(&random_state);
    if (below(3) == 0)
        return (double)below(1000) / 8;
    memcpy(&real, &bits, sizeof(real));
    return real;
}

static const char *bytes_of(struct arena *arena, size_t count, bool zero)
{
    static const char *const parts[] = {"a",    "\xc3\xa4", "\xff",
                                        "\"",   "\\",       "\n",
                                        "\x1b", " ",        "\xf0\x9f\x90\xac",
                                        "<",    "|",        "\xed\xa0\x80"};
    char *text = arena_array(arena, char, 4 * count + 1);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const char *part = parts[below(ARRAY_COUNT(parts))];
        size_t bytes = strlen(part);
        memcpy(text + at, part, bytes);
        at += bytes;
        if (zero && below(9) == 0)
            text[at++ - 1] = '\0';
    }
    return text;
}

static const char *any_text(struct arena *arena)
{
    return below(6) == 0 ? NULL : bytes_of(arena, below(12), false);
}

static const char *name(struct arena *arena, size_t index)
{
    return arena_printf(arena, "n%zu", index);
}

static struct value any_value(struct arena *arena)
{
    switch (below(5)) {
    case 0: return (struct value){.type = VALUE_NULL};
    case 1: return value_int((int64_t)any_u64());
    case 2: return value_real(any_real());
    case 3: return value_text(bytes_of(arena, 12, true), (uint32_t)below(12));
    default: break;
    }
    struct value blob = value_text(bytes_of(arena, 12, true), (uint32_t)below(12));
    blob.type = VALUE_BLOB;
    return blob;
}

static void add_pairs(struct arena *arena, struct rec_pairs *pairs)
{
    for (size_t i = below(7); i > 0; i--)
        rec_pairs_add(arena, pairs, name(arena, i), any_value(arena));
}

static struct rec_number any_number(void)
{
    struct rec_number number = {below(2) == 0, 0};
    number.value = number.known ? any_u64() : 0;
    return number;
}

static void fill_guard(struct arena *arena, struct rec_guard *guard)
{
    guard->id = name(arena, below(5));
    guard->level = "warning";
    guard->code = any_text(arena);
    guard->text = any_text(arena);
    guard->has_figure = below(2) == 0;
    guard->figure = any_real();
}

static void add_run(struct arena *arena, struct rec_cell *cell)
{
    struct rec_run *run = rec_cell_add_run(arena, cell);
    run->slot = (uint32_t)any_u64();
    run->arm = any_text(arena);
    run->metric = any_text(arena);
    if (below(8) == 0) {
        struct hist *hist = hist_create(arena);
        for (uint64_t i = below(200); i > 0; i--)
            hist_record(hist, any_u64() >> below(64));
        run->histogram = hist;
        return;
    }
    uint64_t *samples = arena_array(arena, uint64_t, 20);
    run->samples = samples;
    run->sample_count = below(20);
    for (uint64_t i = 0; i < run->sample_count; i++)
        samples[i] = any_u64();
}

static void add_metric(struct arena *arena, struct rec_cell *cell, size_t index)
{
    struct rec_metric *metric = rec_cell_add_metric(arena, cell);
    metric->name = name(arena, index);
    metric->unit = any_text(arena);
    metric->kind = (enum rec_kind)below(3);
    metric->better = (enum rec_better)below(3);
    metric->distribution = below(2) == 0;
    metric->n = any_u64();
    metric->mean = any_real();
    metric->min = any_u64();
    metric->max = any_u64();
    metric->p50 = any_number();
    metric->p999 = any_number();
    metric->bounded_from = any_number();
    metric->real_value = below(2) == 0;
    metric->value = (int64_t)any_u64();
    metric->value_real = any_real();
    metric->decided_by = any_text(arena);
    metric->unavailable = below(5) == 0 ? "no counter" : NULL;
}

static void add_cell(struct arena *arena, struct record *record)
{
    static const char *const verdicts[] = {"valid",          "reserve",     "invalid", "failed",
                                           "not-applicable", "interrupted", "not-run"};
    struct rec_cell *cell = record_add_cell(record);
    cell->name = name(arena, below(5));
    cell->target = name(arena, below(3));
    cell->phase = any_text(arena);
    cell->help = any_text(arena);
    cell->verdict = verdicts[below(ARRAY_COUNT(verdicts))];
    cell->reason = any_text(arena);
    add_pairs(arena, &cell->params);
    for (uint64_t i = below(3); i > 0; i--)
        add_run(arena, cell);
    for (uint64_t i = below(6); i > 0; i--)
        add_metric(arena, cell, i);
    for (uint64_t i = below(3); i > 0; i--) {
        *rec_cell_add_check(arena, cell) =
            (struct rec_check){"rows", any_value(arena), any_value(arena), below(2) == 0,
                               any_u64()};
        *rec_cell_add_failure(arena, cell) =
            (struct rec_failure){any_text(arena), any_text(arena), (int64_t)any_u64(),
                                 any_u64()};
        fill_guard(arena, rec_cell_add_guard(arena, cell));
    }
}

static void add_floors(struct arena *arena, struct record *record)
{
    for (uint64_t i = below(5); i > 0; i--) {
        struct rec_floor *floor = record_add_floor(record);
        floor->name = name(arena, i);
        floor->when = below(2) == 0 ? "before" : "after";
        floor->what = any_text(arena);
        floor->p50 = any_number();
        floor->max = any_number();
        floor->p99 = any_number();
        floor->unavailable = any_text(arena);
    }
}

static void add_search(struct arena *arena, struct record *record)
{
    struct rec_search *search = record_add_search(record);
    search->name = name(arena, below(5));
    search->target = any_text(arena);
    search->limit = any_text(arena);
    search->closed_per_s = any_real();
    search->known = below(2) == 0;
    search->rate_per_s = any_real();
    search->reason = any_text(arena);
    add_pairs(arena, &search->params);
    for (uint64_t i = below(5); i > 0; i--)
        *rec_search_add_step(arena, search) =
            (struct rec_search_step){any_real(),   any_real(), any_number(),  any_number(),
                                     any_number(), any_u64(),  below(2) == 0, any_text(arena)};
}

static void add_cost(struct arena *arena, struct record *record)
{
    struct rec_cost *cost = record_add_cost(record);
    cost->name = name(arena, below(5));
    cost->library = any_text(arena);
    cost->wire = any_text(arena);
    cost->library_client = any_text(arena);
    cost->known = below(2) == 0;
    cost->library_cpu_ns = any_real();
    cost->wire_cpu_ns = any_real();
    cost->library_p50_ns = any_u64();
    cost->wire_p50_ns = any_u64();
    cost->reason = any_text(arena);
    add_pairs(arena, &cost->params);
}

static struct record *any_record(struct arena *arena)
{
    static const char *const verdicts[] = {"valid", "reserve", "invalid", "failed",
                                           "interrupted"};
    struct record *record = record_create(arena);
    record->suite = "any";
    record->suite_path = any_text(arena);
    record->seed = any_u64();
    record->quick = below(2) == 0;
    record->duration_ns = any_u64();
    record->verdict = verdicts[below(ARRAY_COUNT(verdicts))];
    record->command = arena_array(arena, const char *, 4);
    for (record->command_count = 0; record->command_count < 3; record->command_count++)
        record->command[record->command_count] = bytes_of(arena, 5, false);
    add_pairs(arena, &record->suite_params);
    add_pairs(arena, &record->host);
    add_pairs(arena, &record->facts);
    add_floors(arena, record);
    for (uint64_t i = below(3); i > 0; i--) {
        struct rec_target *target = record_add_target(record);
        target->label = name(arena, i);
        target->tier_why = any_text(arena);
        target->init_ns = any_number();
        add_pairs(arena, &target->settings);
        struct rec_relation *relation = record_add_relation(record);
        relation->name = name(arena, i);
        relation->differs = any_text(arena);
        relation->known = below(2) == 0;
        relation->a_value = any_real();
        relation->ratio = any_real();
        add_cost(arena, record);
        add_search(arena, record);
        fill_guard(arena, record_add_guard(record));
        record_add_limit(record, name(arena, i));
    }
    for (uint64_t i = below(4); i > 0; i--)
        add_cell(arena, record);
    return record;
}

static void records_round_trip(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena *arena = arena_create(1 << 16);
        struct record *back;
        struct err err = {0};
        size_t bytes, bytes_again;
        const char *json = record_to_json(arena, any_record(arena), &bytes);
        if (!record_from_json(arena, json, bytes, &back, &err))
            fail_msg("round %d: %s", round, err.text);
        const char *again = record_to_json(arena, back, &bytes_again);
        assert_string_equal(json, again);
        assert_int_equal(bytes, bytes_again);
        arena_destroy(&arena);
    }
}

int main(void)
{
    random_state = test_random_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(records_round_trip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
