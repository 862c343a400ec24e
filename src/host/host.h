#ifndef HOST_HOST_H
#define HOST_HOST_H

/*
 * What machine this is: facts for the record, and the readings that tell whether it was quiet.
 * Everything comes from /proc, /sys, uname and statvfs; what cannot be read is NULL or 0.
 */

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct host_facts {
    const char *class; /* "intel-xeon-2-80ghz/2c/6.18/ext4/rw,relatime": CPU slug, cores, kernel
                          x.y, file system and mount options of the data folder */
    const char *cpu_model;
    uint32_t cpus_online, cpus_allowed; /* this process's affinity */
    const char *kernel;                 /* release */
    const char *os;                     /* PRETTY_NAME */
    const char *virtualisation;         /* "wsl2", "docker", "lxc", "kvm" … or NULL */
    const char *filesystem, *mount_options, *device; /* of the data folder */
    uint64_t disk_free_bytes, memory_bytes, memory_available_bytes, swap_bytes;
    uint64_t cgroup_memory_bytes; /* 0: no limit */
    double cgroup_cpus;           /* 0: no limit */
    const char *clock_source, *governor;
    const char *huge_pages; /* the bracketed choice of transparent_hugepage/enabled */
    double load1;
};

/* `folder` is where the data will be. */
void host_read(struct arena *arena, const char *folder, struct host_facts *facts);

/* Counters whose change over a run tells what disturbed it. */
struct host_counters {
    uint64_t wall_ns, monotonic_ns; /* read together: a clock step shows in their difference */
    uint64_t steal_ticks, busy_ticks, all_ticks; /* of all CPUs, from /proc/stat */
    uint64_t throttled_count;                    /* cgroup cpu.stat nr_throttled */
    uint64_t swapped_pages;                      /* pswpin + pswpout */
    uint64_t oom_kills;
    uint64_t cpu_pressure_us, io_pressure_us; /* PSI "some" totals */
    double load1;
};
void host_count(struct host_counters *counters);

#endif
