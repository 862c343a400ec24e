#include "os/proc.h"
#include "server/server.h"

enum { FAMILY_MOST = 4096 };

/* A process that ends between two readings moves its time to its parent's "children": that is
 * why both are counted. What ended below a process that is gone itself is in its parent's too.
 */
void server_usage_read(pid_t pid, struct server_usage *usage)
{
    pid_t family[FAMILY_MOST];
    unsigned count = proc_family(pid, family, FAMILY_MOST);
    struct server_usage sum = {.processes = count};
    for (unsigned i = 0; i < count; i++) {
        struct proc_facts facts;
        proc_read(family[i], &facts);
        sum.cpu_ns += facts.cpu_ns + facts.children_cpu_ns;
        sum.resident_bytes +=
            facts.proportional_bytes ? facts.proportional_bytes : facts.resident_bytes;
    }
    *usage = sum;
}
