/* CPU that a run reports for its clients against what the kernel says of the whole process.
 * links: run */
#include "os/now.h"
#include "run/run.h"
#include "testing.h"

#include <string.h>
#include <sys/resource.h>

static uint64_t usage_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * NS_PER_S +
           ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * NS_PER_US;
}

static const char *const source =
    "local t = table { 't', rows = 2000,\n"
    "  column { 'id', 'INTEGER PRIMARY KEY', sequence(1) },\n"
    "  column { 'v', 'INTEGER', modulo(row, 100) } }\n"
    "return suite { 'cpu', create { 'create', t }, load { 'load', t, batch = 500, commit = 500 },\n"
    "  scenario { 'sum', sql = 'SELECT v, COUNT(*) FROM t GROUP BY v', warmup = 1,\n"
    "    duration = '1s', clients = { 2 }, expect = { rows = 100 } } }\n";

static void test_within_five_percent(void **state)
{
    (void)state;
    struct arena *arena = arena_create(65536);
    struct err err = {0};
    struct suite loaded;
    struct suite_faults faults = {0};
    struct suite_options suite_options = {.name = "cpu.lua", .seed = 1};
    struct drv_target target;
    struct record *record;
    int signal_number;
    bool ready =
        suite_load_text(arena, slice_of(source), &suite_options, &loaded, &faults, &err) &&
        drv_target_parse(arena, "sqlite::memory:", &target, &err);
    if (!ready)
        print_error("%s\n", err.text);
    assert_true(ready);
    struct run_options options = {.suite = &loaded, .targets = &target, .target_count = 1};
    uint64_t before_ns = usage_ns();
    assert_true(run_suite(arena, &options, &record, &signal_number, &err));
    uint64_t kernel_ns = usage_ns() - before_ns;
    const struct rec_cell *cell = record_find_cell(record, "sum", "sqlite", 2, NULL);
    if (!cell)
        cell = record_find_cell(record, "sum", "sqlite::memory:", 2, NULL);
    assert_non_null(cell);
    assert_string_not_equal(cell->verdict, "failed");
    uint64_t reported_ns = (uint64_t)rec_cell_metric(cell, "client_cpu_ns")->value;
    print_message("client CPU: reported %.1f ms, getrusage %.1f ms (with loading and set-up)\n",
                  (double)reported_ns / 1e6, (double)kernel_ns / 1e6);
    assert_true(reported_ns <= kernel_ns);
    /* A sanitizer's own threads and the slower set-up are part of the kernel's figure. */
    double least_share = TEST_SLOWDOWN == 1 ? 0.95 : 0.5;
    assert_true((double)reported_ns >= least_share * (double)kernel_ns);
    arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_within_five_percent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
