/* Stalls of a closed loop and what they hid. */
#include "hist/quantile.h"
#include "run/note_internal.h"

#define STALL_FACTOR 20
#define BEYOND_LEAST 10 /* executions beyond the tail */

/* Does so much lie beyond the quantile that one stall of all clients does not reach it? */
static bool is_tail(uint64_t n, uint32_t clients, uint32_t q_ppm)
{
    uint64_t least =
        UINT64_C(2) * clients > BEYOND_LEAST ? UINT64_C(2) * clients : BEYOND_LEAST;
    return n - quantile_rank(n, q_ppm) >= least;
}

static uint64_t tail_of(const struct hist *hist, uint32_t clients)
{
    static const uint32_t q_ppm[] = {QUANTILE_P999, QUANTILE_P99, QUANTILE_P95};
    for (size_t i = 0; i < ARRAY_COUNT(q_ppm); i++) {
        if (quantile_known(hist->count, q_ppm[i]) && is_tail(hist->count, clients, q_ppm[i]))
            return hist_quantile(hist, q_ppm[i]);
    }
    return 0;
}

struct sums {
    const struct stalls *stalls;
    uint64_t from_ns; /* the shortest stall */
    uint64_t at_ns;   /* of the corrected values, those not above this are counted */
    uint64_t below, omitted;
    double stall_ns;
};

/* Of `count` stalls of v: values v - k p50, k = 1 … v / p50 - 1, which are all p50 or more. */
static void add_stall(void *context, uint64_t low, uint64_t count)
{
    struct sums *sums = context;
    uint64_t p50_ns = sums->stalls->p50_ns;
    if (low < sums->from_ns)
        return;
    uint64_t each = low / p50_ns - 1;
    sums->omitted += count * each;
    sums->stall_ns += (double)count * (double)(low - p50_ns);
    uint64_t first = low > sums->at_ns ? (low - sums->at_ns + p50_ns - 1) / p50_ns : 1;
    if (first <= each)
        sums->below += count * (each - first + 1);
}

static void add_recorded(void *context, uint64_t low, uint64_t count)
{
    struct sums *sums = context;
    if (low <= sums->at_ns)
        sums->below += count;
}

/* How many of the recorded and the omitted are not above the value. */
static uint64_t rank_of(const struct hist *hist, struct sums sums, uint64_t at_ns)
{
    sums.at_ns = at_ns;
    sums.below = 0;
    hist_each(hist, add_recorded, &sums);
    hist_each(hist, add_stall, &sums);
    return sums.below;
}

/* The smallest upper edge of a bucket that enough are not above: nearest rank, as
 * hist_quantile. */
static uint64_t corrected_p99(const struct hist *hist, const struct sums *sums)
{
    uint64_t rank = quantile_rank(hist->count + sums->omitted, QUANTILE_P99);
    uint32_t low = 0, high = HIST_BUCKET_COUNT - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rank_of(hist, *sums, hist_bucket_high(middle)) >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    uint64_t edge_ns = hist_bucket_high(low);
    return edge_ns < hist->max ? edge_ns : hist->max;
}

static void look(const struct hist *hist, uint32_t clients, struct stalls *out)
{
    if (hist->count == 0 || !quantile_known(hist->count, QUANTILE_P99))
        return;
    out->tail_ns = tail_of(hist, clients);
    out->p50_ns = hist_quantile(hist, QUANTILE_P50);
    out->max_ns = hist->max;
    out->judged = out->tail_ns > 0 && out->tail_ns < UINT64_MAX / STALL_FACTOR &&
                  out->p50_ns > 0 && clients > 0;
    if (!out->judged)
        return;
    out->p99_ns = hist_quantile(hist, QUANTILE_P99);
    uint64_t from_ns = STALL_FACTOR * out->tail_ns;
    struct sums sums = {.stalls = out,
                        .from_ns = from_ns > STALL_LEAST_NS ? from_ns : STALL_LEAST_NS};
    hist_each(hist, add_stall, &sums);
    out->omitted = sums.omitted;
    out->stall_ns = (uint64_t)(sums.stall_ns / clients);
    out->corrected_p99_ns = sums.omitted ? corrected_p99(hist, &sums) : out->p99_ns;
}

void stalls_look(const struct series *service, uint32_t clients, struct stalls *out)
{
    *out = (struct stalls){0};
    if (service->hist) {
        look(service->hist, clients, out);
        return;
    }
    struct arena *scratch = arena_create(1u << 20);
    struct hist *hist = hist_create(scratch);
    for (uint64_t i = 0; i < service->count; i++)
        hist_record(hist, service->raw[i]);
    look(hist, clients, out);
    arena_destroy(&scratch);
}
