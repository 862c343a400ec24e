#include "base/defs.h"
#include "os/proc.h"
#include "server/server.h"

#define ENDED_SPAN_NS (NS_PER_S / 2)

void server_usage_read(struct arena *arena, pid_t pid, struct server_usage *usage)
{
    struct arena *scratch = arena_create(SERVER_PROCESSES_MAX * sizeof(pid_t));
    pid_t *family = arena_array(scratch, pid_t, SERVER_PROCESSES_MAX);
    *usage = (struct server_usage){0};
    usage->processes = proc_family(pid, family, SERVER_PROCESSES_MAX);
    usage->each = arena_array(arena, struct server_process, usage->processes);
    for (uint32_t i = 0; i < usage->processes; i++) {
        struct proc_facts facts;
        proc_read_times(family[i], &facts);
        usage->each[i].pid = family[i];
        usage->each[i].cpu_ns = facts.cpu_ns;
        usage->ended_ns += facts.children_cpu_ns;
    }
    arena_destroy(&scratch);
}

uint64_t server_usage_bytes(const struct server_usage *usage)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < usage->processes; i++) {
        struct proc_facts facts;
        proc_read(usage->each[i].pid, &facts);
        bytes += facts.proportional_bytes ? facts.proportional_bytes : facts.resident_bytes;
    }
    return bytes;
}

/* CPU of one process at a reading; 0 when it was not there. */
static uint64_t cpu_of(const struct server_usage *usage, pid_t pid)
{
    for (uint32_t i = 0; i < usage->processes; i++) {
        if (usage->each[i].pid == pid)
            return usage->each[i].cpu_ns;
    }
    return 0;
}

static uint64_t gain(uint64_t before_ns, uint64_t after_ns)
{
    return after_ns > before_ns ? after_ns - before_ns : 0;
}

uint64_t server_usage_cost_ns(const struct server_usage *before,
                              const struct server_usage *after, uint64_t wall_ns)
{
    uint64_t cost_ns = 0, gone_ns = before->ended_ns;
    for (uint32_t i = 0; i < after->processes; i++)
        cost_ns += gain(cpu_of(before, after->each[i].pid), after->each[i].cpu_ns);
    if (wall_ns < ENDED_SPAN_NS)
        return cost_ns;
    /* What ended in between has moved with all it had used before. */
    for (uint32_t i = 0; i < before->processes; i++) {
        if (cpu_of(after, before->each[i].pid) == 0)
            gone_ns += before->each[i].cpu_ns;
    }
    return cost_ns + gain(gone_ns, after->ended_ns);
}
