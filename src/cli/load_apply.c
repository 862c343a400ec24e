/* What the command line says of the load, put into a suite. */
#include "cli/cli_internal.h"
#include "format/units.h"

#define EXECUTIONS_MAX   1000000000.0
#define RATE_DURATION_NS (10 * NS_PER_S)
#define STEP_DURATION_NS (5 * NS_PER_S)
#define DEADLINE_MAX_NS  (UINT64_C(365) * 24 * 3600 * NS_PER_S)

/* The option that touches scenarios and comes first, or NULL. */
static const char *touching(const struct cli_load *load)
{
    static const struct {
        enum cli_load_option option;
        const char *name;
    } names[] = {
        {CLI_LOAD_CLIENTS,  "--clients" },
        {CLI_LOAD_DURATION, "--duration"},
        {CLI_LOAD_COUNT,    "--count"   },
        {CLI_LOAD_WARMUP,   "--warmup"  },
        {CLI_LOAD_RATE,     "--rate"    },
        {CLI_LOAD_MAX_RATE, "--max-rate"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (load->given[names[i].option])
            return names[i].name;
    }
    return NULL;
}

/* A time for it, by the options, else by the suite, else what an open loop takes. */
static uint64_t duration_of(const struct cli_load *load, const struct suite_scenario *s)
{
    if (load->count)
        return 0;
    if (load->duration_ns)
        return load->duration_ns;
    if (s->duration_ns == 0 && load->slo_ppm)
        return STEP_DURATION_NS;
    return s->duration_ns == 0 && load->rate_per_s > 0 ? RATE_DURATION_NS : s->duration_ns;
}

static uint32_t most_clients(const struct suite_scenario *s)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < s->client_count; i++)
        most = s->clients[i] > most ? s->clients[i] : most;
    return most;
}

/* How long an open loop of so many executions takes, or how much longer than now a closed one
 * with more of them than the suite has reckoned with. */
static double counted_ns(const struct suite_scenario *was, const struct suite_scenario *s)
{
    if (s->rate_per_s > 0)
        return (double)s->samples / s->rate_per_s * 1e9;
    double before = (double)(was->samples ? was->samples : 1) * most_clients(was);
    double more = (double)s->samples * most_clients(s) / before;
    return more > 1 ? (more - 1) * (double)was->deadline_ns : 0;
}

/* The scenario keeps the time that it had for all but its measured part. */
static void settle_deadline(const struct suite_scenario *was, struct suite_scenario *s)
{
    uint64_t beside_ns = was->deadline_ns - was->duration_ns;
    double ns = (double)beside_ns + (double)s->warmup_ns + (double)s->duration_ns +
                (double)(2 * RUN_DRAIN_NS);
    if (s->duration_ns == 0)
        ns += counted_ns(was, s);
    s->deadline_ns = ns < (double)DEADLINE_MAX_NS ? (uint64_t)ns : DEADLINE_MAX_NS;
}

static bool apply_rate(struct arena *arena, const struct cli_load *load,
                       struct suite_scenario *s, struct err *err)
{
    char executions[40];
    s->rate_per_s = load->rate_per_s;
    s->arrivals = load->arrivals;
    double many = s->rate_per_s * (double)s->duration_ns / 1e9;
    if (many <= EXECUTIONS_MAX)
        return true;
    format_count(executions, sizeof(executions), (int64_t)many);
    return err_set(err, ERR_USAGE,
                   "--rate: %s for %s are %s executions; a cell has 1,000,000,000 at most",
                   load->given[CLI_LOAD_RATE],
                   load->given[CLI_LOAD_DURATION]
                       ? load->given[CLI_LOAD_DURATION]
                       : arena_printf(arena, "%.0fs", (double)s->duration_ns / 1e9),
                   executions);
}

static bool apply_one(struct arena *arena, const struct cli_load *load,
                      struct suite_scenario *s, struct err *err)
{
    const struct suite_scenario was = *s;
    if (load->client_count) {
        s->clients = load->clients;
        s->client_count = load->client_count;
    }
    s->duration_ns = duration_of(load, s);
    s->samples = load->count ? load->count : s->duration_ns ? 0 : s->samples;
    if (load->given[CLI_LOAD_WARMUP]) {
        s->warmup = load->warmup;
        s->warmup_ns = load->warmup_ns;
    }
    if ((load->given[CLI_LOAD_RATE] || load->given[CLI_LOAD_MAX_RATE]) &&
        !apply_rate(arena, load, s, err))
        return false;
    settle_deadline(&was, s);
    return true;
}

static bool fail_none(const struct cli_load *load, const struct suite *suite,
                      const struct suite_scenario *fixed, struct err *err)
{
    if (fixed)
        return err_set(err, ERR_USAGE, "%s: scenario '%s' has to run as the suite says: %s",
                       touching(load), fixed->name, suite_scenario_fixed(fixed));
    return err_set(err, ERR_USAGE,
                   "%s: no scenario of '%s' is made for load: none names its clients",
                   touching(load), suite->name);
}

bool cli_load_apply(struct arena *arena, const struct cli_load *load, struct suite *suite,
                    struct text *left, struct err *err)
{
    const struct suite_scenario *fixed = NULL;
    uint32_t applied = 0;
    if (!touching(load))
        return true;
    struct suite_scenario *all =
        arena_array(arena, struct suite_scenario, suite->scenario_count);
    for (uint32_t i = 0; i < suite->scenario_count; i++) {
        all[i] = suite->scenarios[i];
        if (!all[i].clients_named)
            continue;
        const char *why = suite_scenario_fixed(&all[i]);
        fixed = why && !fixed ? &suite->scenarios[i] : fixed;
        if (why && left)
            text_addf(left, "%s: %s\n", all[i].name, why);
        if (why)
            continue;
        if (!apply_one(arena, load, &all[i], err))
            return false;
        applied++;
    }
    if (applied == 0)
        return fail_none(load, suite, fixed, err);
    suite->scenarios = all;
    return true;
}

uint64_t cli_load_time_ns(const struct cli_load *load, const struct suite *suite)
{
    uint64_t cells = load->slo_ppm ? 2 * RUN_SEARCH_STEPS + 1 : 1, sum = 0;
    if (!touching(load))
        return 0;
    for (uint32_t i = 0; i < suite->scenario_count; i++) {
        const struct suite_scenario *s = &suite->scenarios[i];
        if (!s->clients_named || suite_scenario_fixed(s))
            continue;
        double ns = s->duration_ns      ? (double)s->duration_ns
                    : s->rate_per_s > 0 ? (double)s->samples / s->rate_per_s * 1e9
                                        : 0;
        ns = (ns + (double)s->warmup_ns) * (double)(cells * s->client_count);
        if (ns > (double)(DEADLINE_MAX_NS - sum))
            return DEADLINE_MAX_NS;
        sum += (uint64_t)ns;
    }
    return sum;
}
