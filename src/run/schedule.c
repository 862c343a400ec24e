#include "run/schedule.h"

#include "base/hash.h"
#include "math/math.h"

#define NS 1e9

/* Of the k-th gap, uniform in [0, 1) with 53 bits. */
static double uniform(uint64_t seed, uint64_t k)
{
    uint64_t bits =
        hash_mix(hash_mix(seed ^ UINT64_C(0x6f70656e)) + k * UINT64_C(0x9e3779b97f4a7c15));
    return (double)(bits >> 11) * 0x1p-53;
}

static double gap_ns(const struct schedule_spec *spec, uint64_t k)
{
    return -math_log(1 - uniform(spec->seed, k)) * NS / spec->rate_per_s;
}

void schedule_init(struct schedule *schedule, const struct schedule_spec *spec)
{
    *schedule = (struct schedule){.spec = *spec};
    pthread_mutex_init(&schedule->mutex, NULL);
    if (spec->arrivals == SUITE_POISSON)
        schedule->offset_ns = gap_ns(spec, 0);
}

void schedule_done(struct schedule *schedule)
{
    pthread_mutex_destroy(&schedule->mutex);
}

void schedule_start(struct schedule *schedule, uint64_t start_ns)
{
    pthread_mutex_lock(&schedule->mutex);
    schedule->start_ns = start_ns;
    pthread_mutex_unlock(&schedule->mutex);
}

static bool is_over(const struct schedule *schedule)
{
    const struct schedule_spec *spec = &schedule->spec;
    return (spec->count > 0 && schedule->taken >= spec->count) ||
           (spec->window_ns > 0 && schedule->offset_ns >= (double)spec->window_ns);
}

static void move_on(struct schedule *schedule)
{
    const struct schedule_spec *spec = &schedule->spec;
    schedule->taken++;
    if (spec->arrivals == SUITE_POISSON)
        schedule->offset_ns += gap_ns(spec, schedule->taken);
    else
        schedule->offset_ns = (double)schedule->taken * NS / spec->rate_per_s;
}

bool schedule_take(struct schedule *schedule, uint64_t *due_ns)
{
    pthread_mutex_lock(&schedule->mutex);
    bool there = !is_over(schedule);
    if (there) {
        *due_ns = schedule->start_ns + (uint64_t)schedule->offset_ns;
        move_on(schedule);
    }
    pthread_mutex_unlock(&schedule->mutex);
    return there;
}

uint64_t schedule_window_ns(struct schedule *schedule)
{
    const struct schedule_spec *spec = &schedule->spec;
    if (spec->window_ns > 0 || spec->count == 0)
        return spec->window_ns;
    if (spec->arrivals == SUITE_FIXED)
        return (uint64_t)((double)spec->count * NS / spec->rate_per_s);
    double offset_ns = 0;
    for (uint64_t k = 0; k < spec->count; k++)
        offset_ns += gap_ns(spec, k);
    return (uint64_t)offset_ns;
}
