#include "os/now.h"
#include "probe/probe_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COPIES_MAX = 4096 };

/* What the copying child hands back. */
struct copies {
    uint64_t count;
    uint64_t rates[COPIES_MAX];
};

static void copy_until_due(struct probe *probe, struct copies *copies)
{
    unsigned char *memory = mmap(NULL, 2 * (size_t)PROBE_COPY, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return;
    memset(memory, 1, PROBE_COPY); /* untouched pages would all be the one page of zeros */
    uint64_t from_ns = os_now_ns();
    while (copies->count < COPIES_MAX && probe_more(probe, from_ns)) {
        memcpy(memory + PROBE_COPY, memory, PROBE_COPY);
        volatile unsigned char seen =
            memory[PROBE_COPY + copies->count]; /* so that it is done */
        (void)seen;
        uint64_t now_ns = os_now_ns();
        copies->rates[copies->count++] =
            (uint64_t)(PROBE_COPY * 1e9 / (double)(now_ns - from_ns));
        probe->count = copies->count;
        from_ns = now_ns;
    }
}

/* In a child, so that its 128 MiB are not taken for the stand's own memory. */
void probe_memcpy(struct probe *probe)
{
    probe->what = "64 MiB copied to another 64 MiB by one thread";
    struct copies *copies =
        mmap(NULL, sizeof(*copies), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (copies == MAP_FAILED) {
        probe_failed(probe, "getting memory");
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        copy_until_due(probe, copies);
        _exit(0);
    }
    if (child < 0)
        probe_failed(probe, "starting a process");
    else
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    for (uint64_t i = 0; i < copies->count; i++)
        probe_add(probe, copies->rates[i]);
    if (copies->count == 0 && !probe->unavailable)
        probe->unavailable = "getting 128 MiB of memory failed";
    (void)munmap(copies, sizeof(*copies));
}

void probe_clock_read(struct probe *probe)
{
    probe->what = "one reading of CLOCK_MONOTONIC, mean of 64 in a row";
    uint64_t from_ns = os_now_ns(), now_ns = from_ns;
    while (probe_more(probe, now_ns)) {
        for (int i = 0; i < PROBE_BATCH; i++)
            now_ns = os_now_ns();
        probe_add(probe, (now_ns - from_ns) / PROBE_BATCH);
        from_ns = now_ns;
    }
}

void probe_clock_step(struct probe *probe)
{
    probe->what = "difference of two readings of CLOCK_MONOTONIC that differ; the smallest is "
                  "the clock's step or its cost, whichever is larger";
    uint64_t from_ns = os_now_ns();
    while (probe_more(probe, from_ns)) {
        uint64_t now_ns = os_now_ns();
        if (now_ns != from_ns)
            probe_add(probe, now_ns - from_ns);
        from_ns = now_ns;
    }
}

void probe_clock(struct probe_clock *clock)
{
    uint64_t first_ns = os_now_ns(), from_ns = first_ns, step_ns = UINT64_MAX;
    for (int i = 0; i < PROBE_READINGS; i++) {
        uint64_t now_ns = os_now_ns();
        if (now_ns > from_ns && now_ns - from_ns < step_ns)
            step_ns = now_ns - from_ns;
        from_ns = now_ns;
    }
    clock->cost_ns = (from_ns - first_ns) / PROBE_READINGS;
    clock->step_ns = step_ns == UINT64_MAX ? 0 : step_ns;
}
