/* Options of load: what is read, and what becomes of a suite. */
#include "cli/cli_internal.h"
#include "testing.h"

static struct cli cli;

static int setup(void **state)
{
    (void)state;
    cli.arena = arena_create(1 << 16);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(&cli.arena);
    return 0;
}

/* Words as they stand on the command line, blanks between them; false: a usage error. */
static bool read_words(struct cli_load *load, const char *text)
{
    char *words[20] = {arena_text(cli.arena, "run")};
    int count = 1, exit_code = 0;
    struct slice left = slice_of(text), word;
    while (left.bytes > 0) {
        slice_split(left, ' ', &word, &left);
        words[count++] = arena_text(cli.arena, arena_slice(cli.arena, word));
    }
    *load = (struct cli_load){.cli = &cli, .command = "run"};
    return cli_parse(&cli, &cli_load_argp, count, words, load, &exit_code);
}

static struct cli_load load_of(const char *text)
{
    struct cli_load load;
    assert_true(read_words(&load, text));
    return load;
}

static void test_read(void **state)
{
    (void)state;
    struct cli_load load = load_of("--clients 1,5000,8 --threads 3 --duration 1.5s --pin 0");
    assert_int_equal(load.client_count, 3);
    assert_int_equal(load.clients[1], 5000);
    assert_int_equal(load.clients[2], 8);
    assert_int_equal(load.threads, 3);
    assert_int_equal(load.duration_ns, 1500 * NS_PER_MS);
    load = load_of("--warmup 20 --count 1000000000");
    assert_int_equal(load.warmup, 20);
    assert_int_equal(load.warmup_ns, 0);
    assert_int_equal(load.count, 1000000000);
    load = load_of("--warmup 20 --warmup 250ms"); /* the last one counts */
    assert_int_equal(load.warmup, 0);
    assert_int_equal(load.warmup_ns, 250 * NS_PER_MS);
    load = load_of("--max-rate --slo p99.9=5ms --client libpq,wire");
    assert_int_equal(load.slo_ppm, 999000);
    assert_int_equal(load.slo_ns, 5 * NS_PER_MS);
    assert_int_equal(load.driver_count, 2);
    assert_string_equal(load.drivers[1], "wire");
}

static void test_rates(void **state)
{
    (void)state;
    assert_true(load_of("--rate 1000").rate_per_s == 1000);
    assert_true(load_of("--rate 0.5/s").rate_per_s == 0.5);
    assert_true(load_of("--rate 90/m").rate_per_s == 1.5);
    assert_true(load_of("--rate 1/h").rate_per_s == 1.0 / 3600);
    assert_true(load_of("--rate 10000000").rate_per_s == 1e7);
    assert_int_equal(load_of("--rate 1 --arrivals fixed").arrivals, SUITE_FIXED);
    assert_int_equal(load_of("--rate 1").arrivals, SUITE_POISSON);
    static const char *const bad[] = {"0",     "-1",    "1/d",      "",      "nan",
                                      "inf",   "1e400", "10000001", "0.9/h", "1/",
                                      "1/s/s", "x",     "/s",       "1 /s"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct cli_load load;
        assert_false(read_words(&load, arena_printf(cli.arena, "--rate=%s", bad[i])));
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "--clients 0",
        "--clients 5001",
        "--clients 1,,2",
        "--clients 4,4",
        "--clients -1",
        "--clients ,",
        "--threads 0",
        "--threads 1025",
        "--duration 0",
        "--duration 721h",
        "--count 0",
        "--count 1000000001",
        "--warmup 1.5",
        "--warmup 0s",
        "--warmup 5x",
        "--pin 0,0",
        "--pin 1-0",
        "--pin 0-",
        "--pin 1023",
        "--pin -1",
        "--pin 99999999999",
        "--pin-server x",
        "--slo p99=5ms",
        "--max-rate",
        "--max-rate --slo p98=1ms",
        "--max-rate --slo p99",
        "--max-rate --slo p99=0",
        "--max-rate --slo p99=1ms --rate 5",
        "--max-rate --slo p99=1ms --count 5",
        "--duration 1s --count 5",
        "--arrivals poisson",
        "--rate 5 --arrivals Fixed",
        "--client libpq,libpq",
        "--client psql",
        "--client wire,",
    };
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct cli_load load;
        if (read_words(&load, bad[i]))
            fail_msg("accepted: %s", bad[i]);
    }
}

/* A list of as many numbers as are allowed, and of one more. */
static void test_list_limit(void **state)
{
    struct text text;
    struct cli_load load;
    (void)state;
    text_init(&text, cli.arena, 1000);
    text_add(&text, "--clients=1");
    for (int i = 2; i <= 64; i++)
        text_addf(&text, ",%d", i);
    assert_true(read_words(&load, text.at));
    assert_int_equal(load.client_count, 64);
    text_add(&text, ",65");
    assert_false(read_words(&load, text.at));
}

/* The command of a record can be read again, and says the same. */
static void test_spell(void **state)
{
    (void)state;
    static const char text[] = "--clients 1,8 --duration 5s --warmup 1s --arrivals fixed "
                               "--max-rate --slo p95=1ms --client wire --threads 2 --pin 0 "
                               "--pin-server 0";
    struct cli_load load = load_of(text);
    const char **words = NULL;
    size_t count = 0, room = 0;
    struct text again;
    cli_load_spell(&load, &words, &count, &room);
    text_init(&again, cli.arena, 1000);
    for (size_t i = 0; i < count; i++)
        text_addf(&again, "%s%s", i ? " " : "", words[i]);
    assert_string_equal(again.at, text);
}

/* ---- into a suite */

static const char source[] =
    "local t = table { 't', rows = 10, column { 'id', 'INTEGER', sequence(1) } }\n"
    "return suite { 's', summary = 'x',\n"
    "  create { 'make', t }, load { 'fill', t, clients = { 2 } },\n"
    "  scenario { 'one', sql = 'SELECT 1', samples = 7 },\n"
    "  scenario { 'read', sql = 'SELECT 1', samples = 7, warmup = 3, clients = { 1, 4 } },\n"
    "  scenario { 'timed', sql = 'SELECT 1', duration = '2s', clients = { 1 }, deadline = '9s' },\n"
    "  scenario { 'grow', steps = { insert { t } }, samples = 5, clients = { 1 },\n"
    "    expect = { growth = { t, 5 } } },\n"
    "  scenario { 'seen', sql = 'SELECT 1', samples = 5, clients = { 1 },\n"
    "    after = { query { 'q', sql = 'SELECT 1', value = 1 } } } }\n";

enum { FILL = 1, ONE, READ, TIMED, GROW, SEEN };

static struct suite suite_from(const char *text)
{
    struct suite suite;
    struct suite_faults faults;
    struct err err;
    struct suite_options options = {.name = "t.lua", .seed = 1};
    bool done = suite_load_text(cli.arena, slice_of(text), &options, &suite, &faults, &err);
    if (!done)
        print_error("%s\n", err.text);
    assert_true(done);
    return suite;
}

static void test_apply(void **state)
{
    (void)state;
    struct suite suite = suite_from(source);
    const struct suite_scenario *before = suite.scenarios;
    struct cli_load load = load_of("--clients 3,9 --count 50 --warmup 0");
    struct text left;
    struct err err;
    text_init(&left, cli.arena, 1000);
    assert_true(cli_load_apply(cli.arena, &load, &suite, &left, &err));
    const struct suite_scenario *read = &suite.scenarios[READ];
    assert_int_equal(read->client_count, 2);
    assert_int_equal(read->clients[1], 9);
    assert_int_equal(read->samples, 50);
    assert_int_equal(read->warmup, 0);
    assert_int_equal(suite.scenarios[TIMED].duration_ns, 0);
    assert_int_equal(suite.scenarios[TIMED].samples, 50);
    assert_int_equal(suite.scenarios[ONE].samples, 7); /* names no clients */
    assert_int_equal(suite.scenarios[ONE].client_count, 1);
    assert_int_equal(suite.scenarios[GROW].samples, 5);
    assert_int_equal(before[READ].samples, 7); /* a copy was changed */
    assert_string_equal(left.at, "fill: it loads a known number of rows\n"
                                 "grow: its check of the table's growth counts its executions\n"
                                 "seen: its checks afterwards may count its executions\n");
}

static void test_apply_time(void **state)
{
    (void)state;
    struct err err;
    struct suite suite = suite_from(source);
    struct cli_load load = load_of("--duration 20s --warmup 4s");
    assert_true(cli_load_apply(cli.arena, &load, &suite, NULL, &err));
    const struct suite_scenario *timed = &suite.scenarios[TIMED];
    assert_int_equal(timed->duration_ns, 20 * NS_PER_S);
    assert_int_equal(timed->warmup_ns, 4 * NS_PER_S);
    assert_int_equal(timed->warmup, 0);
    assert_int_equal(timed->samples, 0);
    /* the seven seconds beside its duration stay beside the new one */
    assert_true(timed->deadline_ns >= 31 * NS_PER_S + RUN_DRAIN_NS);
    assert_true(suite.scenarios[READ].deadline_ns > 324 * NS_PER_S);
    assert_int_equal(cli_load_time_ns(&load, &suite), 72 * NS_PER_S);
}

static void test_apply_rate(void **state)
{
    (void)state;
    struct err err;
    struct suite suite = suite_from(source);
    struct cli_load load = load_of("--rate 100 --arrivals fixed");
    assert_true(cli_load_apply(cli.arena, &load, &suite, NULL, &err));
    assert_true(suite.scenarios[READ].rate_per_s == 100);
    assert_int_equal(suite.scenarios[READ].arrivals, SUITE_FIXED);
    assert_int_equal(suite.scenarios[READ].duration_ns, 10 * NS_PER_S);
    assert_int_equal(suite.scenarios[READ].samples, 0);
    assert_int_equal(suite.scenarios[TIMED].duration_ns, 2 * NS_PER_S); /* the suite's */
    assert_true(suite.scenarios[ONE].rate_per_s == 0);

    suite = suite_from(source);
    load = load_of("--rate 1/m --count 600");
    assert_true(cli_load_apply(cli.arena, &load, &suite, NULL, &err));
    assert_int_equal(suite.scenarios[READ].samples, 600);
    assert_true(suite.scenarios[READ].deadline_ns > UINT64_C(36000) * NS_PER_S);

    suite = suite_from(source);
    load = load_of("--max-rate --slo p99=1ms");
    assert_true(cli_load_apply(cli.arena, &load, &suite, NULL, &err));
    assert_true(suite.scenarios[READ].rate_per_s == 0);
    assert_int_equal(suite.scenarios[READ].duration_ns, 5 * NS_PER_S);
}

/* More executions of more clients get more time. */
static void test_apply_count_deadline(void **state)
{
    (void)state;
    struct err err;
    struct suite suite = suite_from(source);
    uint64_t before_ns = suite.scenarios[READ].deadline_ns;
    struct cli_load load = load_of("--count 700 --clients 40");
    assert_true(cli_load_apply(cli.arena, &load, &suite, NULL, &err));
    assert_true(suite.scenarios[READ].deadline_ns >= 1000 * before_ns);
    load = load_of("--count 1000000000 --clients 5000");
    assert_true(cli_load_apply(cli.arena, &load, &suite, NULL, &err));
    assert_true(suite.scenarios[READ].deadline_ns <= UINT64_C(366) * 86400 * NS_PER_S);
}

static void refused(const char *text, const char *words, const char *why)
{
    struct err err;
    struct suite suite = suite_from(text);
    const struct suite_scenario *before = suite.scenarios;
    struct cli_load load = load_of(words);
    assert_false(cli_load_apply(cli.arena, &load, &suite, NULL, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_string_equal(err.text, why);
    assert_ptr_equal(suite.scenarios, before);
}

static void test_apply_refused(void **state)
{
    (void)state;
    refused("return suite { 'plain', scenario { 'a', sql = 'SELECT 1' } }", "--clients 4",
            "--clients: no scenario of 'plain' is made for load: none names its clients");
    refused("local t = table { 't', rows = 10, column { 'id', 'INTEGER', sequence(1) } }\n"
            "return suite { 'fixed', scenario { 'a', steps = { insert { t } }, samples = 5,\n"
            "  clients = 1, expect = { growth = { t, 5 } } } }",
            "--duration 5s",
            "--duration: scenario 'a' has to run as the suite says: its check of the table's "
            "growth counts its executions");
    refused(source, "--rate 1e7 --duration 1000s",
            "--rate: 1e7 for 1000s are 10,000,000,000 executions; a cell has 1,000,000,000 at "
            "most");
}

/* Threads and pins touch no scenario: any suite will do. */
static void test_apply_nothing(void **state)
{
    (void)state;
    struct err err;
    struct suite suite = suite_from("return suite { 'p', scenario { 'a', sql = 'SELECT 1' } }");
    const struct suite_scenario *before = suite.scenarios;
    struct cli_load load = load_of("--threads 2 --pin 0 --client wire");
    assert_true(cli_load_apply(cli.arena, &load, &suite, NULL, &err));
    assert_ptr_equal(suite.scenarios, before);
    assert_int_equal(cli_load_time_ns(&load, &suite), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_list_limit),
        cmocka_unit_test(test_spell),
        cmocka_unit_test(test_apply),
        cmocka_unit_test(test_apply_time),
        cmocka_unit_test(test_apply_rate),
        cmocka_unit_test(test_apply_count_deadline),
        cmocka_unit_test(test_apply_refused),
        cmocka_unit_test(test_apply_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
