#include "probe/probe.h"

#include "hist/quantile.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/sig.h"
#include "probe/probe_internal.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

struct recipe {
    const char *name, *unit;
    uint32_t permille; /* of the budget */
    void (*measure)(struct probe *probe);
};

/* disk_write_seq leaves the file that the two reads use. */
static const struct recipe recipes[] = {
    {"fsync_append",     "ns",      260, probe_fsync_append    },
    {"fsync_overwrite",  "ns",      160, probe_fsync_overwrite },
    {"disk_write_seq",   "bytes/s", 120, probe_disk_write_seq  },
    {"disk_read_seq",    "bytes/s", 60,  probe_disk_read_seq   },
    {"disk_read_random", "ns",      60,  probe_disk_read_random},
    {"tcp_round_trip",   "ns",      80,  probe_tcp_round_trip  },
    {"unix_round_trip",  "ns",      80,  probe_unix_round_trip },
    {"memcpy",           "bytes/s", 100, probe_memcpy          },
    {"clock_read",       "ns",      10,  probe_clock_read      },
    {"clock_step",       "ns",      10,  probe_clock_step      },
    {"thread_wake",      "ns",      60,  probe_thread_wake     },
};

static_assert(ARRAY_COUNT(recipes) <= PROBE_FLOORS_MAX, "the caller's array is too small");

bool probe_more(const struct probe *probe, uint64_t now_ns)
{
    if (probe->count < PROBE_LEAST)
        return true;
    return now_ns < probe->until_ns && probe->count < PROBE_VALUES;
}

void probe_add(struct probe *probe, uint64_t value)
{
    probe->values[probe->count++] = value;
}

void probe_failed(struct probe *probe, const char *doing)
{
    struct err err;
    err_errno(&err, "%s", doing);
    probe->unavailable = arena_text(probe->arena, err.text);
}

static void sum_up(struct probe *probe, bool is_rate, struct probe_floor *floor)
{
    uint64_t n = probe->count;
    floor->n = n;
    floor->p50 = quantile_of(probe->values, n, QUANTILE_P50);
    if (is_rate)
        return;
    floor->min = probe->values[0]; /* sorted now */
    floor->max = probe->values[n - 1];
    if (quantile_known(n, QUANTILE_P99))
        floor->p99 = quantile_of(probe->values, n, QUANTILE_P99);
}

static void measure(const struct recipe *recipe, struct probe *probe, uint64_t budget_ns,
                    struct probe_floor *floor)
{
    *floor = (struct probe_floor){.name = recipe->name, .unit = recipe->unit};
    probe->count = 0;
    probe->what = "";
    probe->unavailable = sig_pending() ? "interrupted" : NULL;
    probe->until_ns = os_now_ns() + budget_ns / 1000 * recipe->permille;
    if (!probe->unavailable)
        recipe->measure(probe);
    floor->what = probe->what;
    floor->unavailable = probe->unavailable;
    if (!probe->unavailable)
        sum_up(probe, strcmp(recipe->unit, "ns") != 0, floor);
}

/* Bytes that neither a file system nor a disk can compress (SplitMix64). */
static void fill_page(unsigned char *page)
{
    uint64_t state = 1;
    for (size_t i = 0; i < PROBE_PIECE; i += sizeof(state)) {
        state += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t x = (state ^ (state >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 31;
        memcpy(page + i, &x, sizeof(x));
    }
}

unsigned probe_floors(struct arena *arena, const char *folder, uint64_t budget_ns,
                      void (*progress)(const char *name),
                      struct probe_floor floors[PROBE_FLOORS_MAX])
{
    struct arena *scratch = arena_create(2 << 20);
    struct probe probe = {.arena = arena};
    probe.file =
        arena_printf(scratch, "%s/.dbdyno-floors-%d-%llx", folder ? folder : fs_temp_root(),
                     (int)getpid(), (unsigned long long)os_now_ns());
    probe.page = arena_alloc(scratch, PROBE_PIECE, 4096);
    probe.values = arena_array(scratch, uint64_t, PROBE_VALUES);
    fill_page(probe.page);
    for (size_t i = 0; i < ARRAY_COUNT(recipes); i++) {
        if (progress)
            progress(recipes[i].name);
        measure(&recipes[i], &probe, budget_ns, &floors[i]);
    }
    (void)unlink(probe.file);
    arena_destroy(&scratch);
    return ARRAY_COUNT(recipes);
}
