/* The options that say how hard to load. */
#include "base/num.h"
#include "cli/cli_internal.h"
#include "hist/quantile.h"

#include <errno.h>
#include <sched.h>

enum {
    KEY_FIRST = 0x200,
    GROUP_FIRST = 5,
    LIST_MAX = 64,
    CLIENTS_MAX = 5000,
    THREADS_MAX = 1024
};

#define COUNT_MAX      UINT64_C(1000000000)
#define TIME_MAX_NS    (UINT64_C(30) * 24 * 3600 * NS_PER_S)
#define RATE_MAX_PER_S 10000000.0
#define RATE_MIN_PER_S (1.0 / 3600)

#define OPTION(name, id, arg, doc) \
    CLI_OPTION(name, KEY_FIRST + (id), arg, doc, GROUP_FIRST + (id))

static const struct argp_option options[] = {
    OPTION("clients", CLI_LOAD_CLIENTS, "N[,N...]",
           "numbers of clients, 1 to 5000, a cell each, instead of the suite's"),
    OPTION("duration", CLI_LOAD_DURATION, "TIME", "measure for so long"),
    OPTION("count", CLI_LOAD_COUNT, "N",
           "executions of each client; with --rate of all clients together"),
    OPTION("warmup", CLI_LOAD_WARMUP, "N|TIME",
           "before the measured part: executions of each client, or a time with its unit"),
    OPTION("rate", CLI_LOAD_RATE, "R[/s|/m|/h]",
           "open loop: so many executions begin each second (minute, hour), by all clients "
           "together, however long the earlier ones take; for 10s unless something says how "
           "long"),
    OPTION("arrivals", CLI_LOAD_ARRIVALS, "poisson|fixed",
           "with --rate: gaps as from many independent users (default), or all equal"),
    OPTION(
        "max-rate", CLI_LOAD_MAX_RATE, NULL,
        "search for the highest rate that keeps --slo; each step takes --duration (5s), or up to a "
        "minute where the quantile needs more executions"),
    OPTION("slo", CLI_LOAD_SLO, "pQ=TIME",
           "for --max-rate, a limit of the response time: p50, p95, p99 or p99.9, as p99=5ms"),
    OPTION("client", CLI_LOAD_CLIENT, "NAME[,NAME]",
           "client of servers that name none by ?client=: libpq, libmariadb, wire; several: a "
           "target each"),
    OPTION("threads", CLI_LOAD_THREADS, "N",
           "threads of clients that can share one (default half of the CPUs)"),
    OPTION("pin", CLI_LOAD_PIN, "CPUS", "client threads run on these CPUs, in turn: 0,2-3"),
    OPTION("pin-server", CLI_LOAD_PIN_SERVER, "CPUS", "private servers run on these CPUs"),
    {0},
};

static int bad(const struct cli_load *load, enum cli_load_option option, const char *expected)
{
    cli_usage(load->command, "--%s: expected %s, got '%s'", options[option].name, expected,
              load->given[option]);
    return EINVAL;
}

/* The next item of a comma list; false after the last. */
static bool next_item(struct slice *left, struct slice *item)
{
    if (!left->at)
        return false;
    if (!slice_split(*left, ',', item, left))
        left->at = NULL;
    return true;
}

static int take_clients(struct cli_load *load, const char *value)
{
    static const char expected[] = "up to 64 different whole numbers from 1 to 5000, as 1,8,64";
    uint32_t *clients = arena_array(load->cli->arena, uint32_t, LIST_MAX);
    struct slice left = slice_of(value), item;
    load->client_count = 0;
    while (next_item(&left, &item)) {
        uint64_t number;
        if (load->client_count == LIST_MAX || !num_u64(item, &number) || number == 0 ||
            number > CLIENTS_MAX)
            return bad(load, CLI_LOAD_CLIENTS, expected);
        for (uint32_t i = 0; i < load->client_count; i++) {
            if (clients[i] == number)
                return bad(load, CLI_LOAD_CLIENTS, expected);
        }
        clients[load->client_count++] = (uint32_t)number;
    }
    load->clients = clients;
    return 0;
}

/* "2" or "2-5" */
static bool read_range(struct slice text, uint64_t *first, uint64_t *last)
{
    struct slice low, high;
    if (!slice_split(text, '-', &low, &high))
        high = low;
    return num_u64(low, first) && num_u64(high, last) && *first <= *last && *last < CPU_SETSIZE;
}

struct cpus {
    uint16_t *at;
    uint32_t count;
    bool allowed[CPU_SETSIZE], seen[CPU_SETSIZE];
};

static void cpus_init(struct cpus *cpus, struct arena *arena)
{
    cpu_set_t allowed;
    *cpus = (struct cpus){.at = arena_array(arena, uint16_t, CPU_SETSIZE)};
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return;
    for (unsigned i = 0; i < CPU_SETSIZE; i++)
        cpus->allowed[i] = CPU_ISSET(i, &allowed);
}

static int add_cpu(struct cli_load *load, enum cli_load_option option, struct cpus *cpus,
                   uint64_t cpu)
{
    if (cpus->seen[cpu])
        return bad(load, option, "each CPU once");
    if (!cpus->allowed[cpu]) {
        cli_usage(load->command, "--%s: this process may not run on CPU %u",
                  options[option].name, (unsigned)cpu);
        return EINVAL;
    }
    cpus->seen[cpu] = true;
    cpus->at[cpus->count++] = (uint16_t)cpu;
    return 0;
}

static int take_cpus(struct cli_load *load, enum cli_load_option option, const char *value)
{
    struct slice left = slice_of(value), item;
    struct cpus cpus;
    cpus_init(&cpus, load->cli->arena);
    while (next_item(&left, &item)) {
        uint64_t first, last;
        if (!read_range(item, &first, &last))
            return bad(load, option, "CPUs such as 0,2-3");
        for (; first <= last; first++) {
            if (add_cpu(load, option, &cpus, first) != 0)
                return EINVAL;
        }
    }
    *(option == CLI_LOAD_PIN ? &load->pin : &load->pin_server) = cpus.at;
    *(option == CLI_LOAD_PIN ? &load->pin_count : &load->pin_server_count) = cpus.count;
    return 0;
}

static bool read_time(struct slice text, uint64_t *ns)
{
    return num_duration(text, ns) && *ns > 0 && *ns <= TIME_MAX_NS;
}

static int take_warmup(struct cli_load *load, const char *value)
{
    uint64_t number;
    struct slice text = slice_of(value);
    load->warmup = 0;
    load->warmup_ns = 0;
    if (num_u64(text, &number) && number <= COUNT_MAX) {
        load->warmup = (uint32_t)number;
        return 0;
    }
    bool unit = slice_glob(text, "*s") || slice_glob(text, "*m") || slice_glob(text, "*h");
    if (unit && read_time(text, &load->warmup_ns))
        return 0;
    return bad(load, CLI_LOAD_WARMUP, "executions such as 10, or a time with its unit: 500ms");
}

static int take_rate(struct cli_load *load, const char *value)
{
    static const char expected[] =
        "a rate from 1/h to 10000000/s, such as 1000, 0.5/s, 90/m or 1/h";
    struct slice number, unit;
    double rate;
    bool has_unit = slice_split(slice_of(value), '/', &number, &unit);
    double seconds = !has_unit || slice_is(unit, "s") ? 1
                     : slice_is(unit, "m")            ? 60
                     : slice_is(unit, "h")            ? 3600
                                                      : 0;
    if (seconds < 1 || !num_real(number, &rate))
        return bad(load, CLI_LOAD_RATE, expected);
    rate /= seconds;
    if (rate > RATE_MAX_PER_S || rate < RATE_MIN_PER_S * (1 - 1e-9))
        return bad(load, CLI_LOAD_RATE, expected);
    load->rate_per_s = rate;
    return 0;
}

static int take_slo(struct cli_load *load, const char *value)
{
    static const struct {
        const char *name;
        uint32_t ppm;
    } quantiles[] = {
        {"p50",   QUANTILE_P50 },
        {"p95",   QUANTILE_P95 },
        {"p99",   QUANTILE_P99 },
        {"p99.9", QUANTILE_P999},
    };
    struct slice name, limit;
    if (slice_split(slice_of(value), '=', &name, &limit) && read_time(limit, &load->slo_ns)) {
        for (size_t i = 0; i < ARRAY_COUNT(quantiles); i++) {
            if (!slice_is(name, quantiles[i].name))
                continue;
            load->slo_ppm = quantiles[i].ppm;
            return 0;
        }
    }
    return bad(load, CLI_LOAD_SLO, "p50, p95, p99 or p99.9 with a time, as p99=5ms");
}

static int take_drivers(struct cli_load *load, const char *value)
{
    static const char *const known[] = {"libpq", "libmariadb", "wire"};
    const char **names = arena_array(load->cli->arena, const char *, ARRAY_COUNT(known));
    struct slice left = slice_of(value), item;
    load->driver_count = 0;
    while (next_item(&left, &item)) {
        const char *name = NULL;
        for (size_t i = 0; i < ARRAY_COUNT(known); i++)
            name = slice_is(item, known[i]) ? known[i] : name;
        for (uint32_t i = 0; i < load->driver_count; i++)
            name = names[i] == name ? NULL : name;
        if (!name)
            return bad(load, CLI_LOAD_CLIENT, "some of libpq, libmariadb and wire, each once");
        names[load->driver_count++] = name;
    }
    load->drivers = names;
    return 0;
}

static int take_number(struct cli_load *load, enum cli_load_option option, const char *value)
{
    uint64_t number;
    bool threads = option == CLI_LOAD_THREADS;
    if (!num_u64(slice_of(value), &number) || number == 0 ||
        number > (threads ? THREADS_MAX : COUNT_MAX))
        return bad(load, option,
                   threads ? "a whole number from 1 to 1024"
                           : "a whole number from 1 to 1000000000");
    if (threads)
        load->threads = (uint32_t)number;
    else
        load->count = number;
    return 0;
}

static int take_arrivals(struct cli_load *load, const char *value)
{
    if (strcmp(value, "poisson") != 0 && strcmp(value, "fixed") != 0)
        return bad(load, CLI_LOAD_ARRIVALS, "poisson or fixed");
    load->arrivals = strcmp(value, "fixed") == 0 ? SUITE_FIXED : SUITE_POISSON;
    return 0;
}

static int take(struct cli_load *load, enum cli_load_option option, const char *value)
{
    value = value ? value : "";
    load->given[option] = value;
    switch (option) {
    case CLI_LOAD_CLIENTS: return take_clients(load, value);
    case CLI_LOAD_THREADS:
    case CLI_LOAD_COUNT: return take_number(load, option, value);
    case CLI_LOAD_PIN:
    case CLI_LOAD_PIN_SERVER: return take_cpus(load, option, value);
    case CLI_LOAD_DURATION:
        return read_time(slice_of(value), &load->duration_ns)
                   ? 0
                   : bad(load, option, "a time above 0, at most 720h, such as 10s or 5m");
    case CLI_LOAD_WARMUP: return take_warmup(load, value);
    case CLI_LOAD_RATE: return take_rate(load, value);
    case CLI_LOAD_ARRIVALS: return take_arrivals(load, value);
    case CLI_LOAD_SLO: return take_slo(load, value);
    case CLI_LOAD_CLIENT: return take_drivers(load, value);
    case CLI_LOAD_MAX_RATE:
    case CLI_LOAD_OPTIONS: break;
    }
    return 0;
}

/* Options that cannot stand together. */
static int check_together(const struct cli_load *load)
{
    static const struct {
        enum cli_load_option a, b;
        const char *why;
    } excluded[] = {
        {CLI_LOAD_DURATION, CLI_LOAD_COUNT,    "a time or a number of executions: choose one"  },
        {CLI_LOAD_RATE,     CLI_LOAD_MAX_RATE, "a given rate or a search for one: choose one"  },
        {CLI_LOAD_COUNT,    CLI_LOAD_MAX_RATE, "each step of a search takes a time: --duration"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(excluded); i++) {
        if (!load->given[excluded[i].a] || !load->given[excluded[i].b])
            continue;
        cli_usage(load->command, "--%s and --%s: %s", options[excluded[i].a].name,
                  options[excluded[i].b].name, excluded[i].why);
        return EINVAL;
    }
    bool searches = load->given[CLI_LOAD_MAX_RATE] != NULL;
    if (searches != (load->given[CLI_LOAD_SLO] != NULL)) {
        cli_usage(load->command,
                  searches ? "--max-rate needs the limit that is to be kept: --slo p99=5ms"
                           : "--slo is the limit of a search: --max-rate is missing");
        return EINVAL;
    }
    if (load->given[CLI_LOAD_ARRIVALS] && !load->given[CLI_LOAD_RATE] && !searches) {
        cli_usage(load->command, "--arrivals belongs to an open loop: --rate is missing");
        return EINVAL;
    }
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct cli_load *load = state->input;
    if (key >= KEY_FIRST && key < KEY_FIRST + CLI_LOAD_OPTIONS)
        return take(load, (enum cli_load_option)(key - KEY_FIRST), value);
    return key == ARGP_KEY_END ? check_together(load) : ARGP_ERR_UNKNOWN;
}

const struct argp cli_load_argp = {.options = options, .parser = parse_option};

void cli_load_spell(const struct cli_load *load, const char ***words, size_t *count,
                    size_t *room)
{
    for (int i = 0; i < CLI_LOAD_OPTIONS; i++) {
        if (!load->given[i])
            continue;
        cli_push(load->cli, words, count, room,
                 arena_printf(load->cli->arena, "--%s", options[i].name));
        if (options[i].arg)
            cli_push(load->cli, words, count, room, load->given[i]);
    }
}
