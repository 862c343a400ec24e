#include "guard/guard_internal.h"

/* Below these a run says little about the far tail, a large table, and a steady state. */
#define TAIL_SAMPLES UINT64_C(10000) /* of which 10 lie beyond the 99.9th percentile */
#define LARGE_ROWS   UINT64_C(1000000)
#define STEADY_S     60.0

struct sayings {
    const char **out;
    unsigned count;
};

static void say(struct sayings *sayings, bool when, const char *text)
{
    if (when && sayings->count < GUARD_LIMITS_MAX)
        sayings->out[sayings->count++] = text;
}

static void say_of_place(struct arena *arena, const struct guard_limits *limits,
                         struct sayings *sayings)
{
    say(sayings, limits->loopback,
        "what a network adds: client and server spoke over loopback or a unix socket");
    say(sayings, limits->shared_cores,
        "what the server does with a machine of its own: the client took part of its cores");
    say(sayings, limits->embedded,
        "what other processes on the same embedded database do to it");
    say(sayings, limits->virtual_machine,
        "how steady the figures are on real hardware: this is a virtual machine or container");
    say(sayings, limits->fsync_fast,
        arena_printf(
            arena,
            "what a commit costs on a disk without a cache: a flush took %s here, so a "
            "cache may absorb it",
            guard_duration(arena, (double)limits->fsync_p50_ns)));
    say(sayings, limits->managed_defaults,
        "what a tuned server does: the servers ran with their defaults");
    say(sayings, limits->superuser,
        "what permission checks and row security cost: the client was a superuser");
}

static void say_of_load(struct arena *arena, const struct guard_limits *limits,
                        struct sayings *sayings)
{
    say(sayings, limits->quick, "what the full sizes take: --quick shrinks them");
    say(sayings, limits->hot_cache,
        "what reading from disk costs: the data had just been loaded and was in memory");
    say(sayings, limits->data_rows > 0 && limits->data_rows < LARGE_ROWS,
        arena_printf(arena, "how larger tables behave: the largest one has %llu rows",
                     (unsigned long long)limits->data_rows));
    say(sayings, limits->single_client,
        "what locks and conflicts cost: one client alone was at work");
    say(sayings, limits->closed_loop,
        "how long answers take at a given rate: each client waited for its answer before it asked "
        "again, so a stall also stops the requests");
    say(sayings, limits->most_samples > 0 && limits->most_samples < TAIL_SAMPLES,
        arena_printf(
            arena,
            "how slow the slowest in a thousand is: no scenario has more than %llu samples",
            (unsigned long long)limits->most_samples));
    say(sayings, limits->longest_s < STEADY_S,
        arena_printf(
            arena,
            "the steady state with checkpoints and vacuum: the longest measured part took %.1f s",
            limits->longest_s));
    say(sayings, limits->one_run, "how much the figures vary from run to run: this is one run");
}

unsigned guard_limits_say(struct arena *arena, const struct guard_limits *limits,
                          const char *out[GUARD_LIMITS_MAX])
{
    struct sayings sayings = {out, 0};
    say_of_place(arena, limits, &sayings);
    say_of_load(arena, limits, &sayings);
    return sayings.count;
}
