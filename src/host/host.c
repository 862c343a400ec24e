#include "host/host.h"

#include "base/num.h"
#include "host/host_internal.h"
#include "os/fs.h"
#include "os/now.h"

#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 20, CPUS_MOST = 4096, CLOCK_TRIES = 5 };

struct slice host_file(struct arena *arena, const char *path)
{
    struct err err;
    const char *content;
    size_t bytes;
    if (!fs_read(arena, path, FILE_BYTES, &content, &bytes, &err))
        return (struct slice){"", 0};
    return (struct slice){content, bytes};
}

/* A file's trimmed content, or NULL when there is none. */
static const char *text_of(struct arena *arena, const char *path)
{
    struct slice text = slice_trim(host_file(arena, path));
    return text.bytes > 0 ? arena_slice(arena, text) : NULL;
}

static const char *group_root(struct arena *arena, const char *controller)
{
    if (controller)
        return arena_printf(arena, "/sys/fs/cgroup/%s", controller);
    bool pure = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    return pure ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified";
}

void host_each_group(struct arena *arena, const char *controller, const char *file,
                     host_group_fn each, void *context)
{
    struct slice groups = host_file(arena, "/proc/self/cgroup");
    struct slice path = host_parse_cgroup(groups, controller);
    const char *root = group_root(arena, controller);
    for (;;) {
        while (path.bytes > 0 && path.at[path.bytes - 1] == '/')
            path.bytes--;
        struct slice content = host_file(arena, arena_printf(arena, "%s%.*s/%s", root,
                                                             (int)path.bytes, path.at, file));
        if (content.bytes > 0)
            each(context, content);
        if (path.bytes == 0)
            return;
        while (path.bytes > 0 && path.at[path.bytes - 1] != '/')
            path.bytes--;
    }
}

static void keep_lowest_bytes(void *context, struct slice content)
{
    uint64_t *lowest = context, limit = host_parse_limit(content);
    if (limit > 0 && (*lowest == 0 || limit < *lowest))
        *lowest = limit;
}

static void keep_lowest_cpus(void *context, struct slice content)
{
    double *lowest = context, limit = host_parse_cpu_max(content);
    if (limit > 0 && (*lowest <= 0 || limit < *lowest))
        *lowest = limit;
}

/* Version 1 has quota and period in two files, -1 for none; only the group's own is looked at.
 */
static void keep_first(void *context, struct slice content)
{
    double *number = context, found;
    if (*number <= 0 && num_real(slice_trim(content), &found))
        *number = found;
}

static void read_limits(struct arena *arena, struct host_facts *facts)
{
    double quota = 0, period = 0;
    host_each_group(arena, NULL, "memory.max", keep_lowest_bytes, &facts->cgroup_memory_bytes);
    host_each_group(arena, "memory", "memory.limit_in_bytes", keep_lowest_bytes,
                    &facts->cgroup_memory_bytes);
    host_each_group(arena, NULL, "cpu.max", keep_lowest_cpus, &facts->cgroup_cpus);
    host_each_group(arena, "cpu", "cpu.cfs_quota_us", keep_first, &quota);
    host_each_group(arena, "cpu", "cpu.cfs_period_us", keep_first, &period);
    if (facts->cgroup_cpus <= 0 && quota > 0 && period > 0)
        facts->cgroup_cpus = quota / period;
}

static uint32_t count_allowed(void)
{
    uint32_t count = 0;
    cpu_set_t *set = CPU_ALLOC(CPUS_MOST);
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MOST);
    if (!set)
        return 0;
    if (sched_getaffinity(0, bytes, set) == 0)
        count = (uint32_t)CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    return count;
}

static void read_cpu(struct arena *arena, struct host_facts *facts, struct host_signs *signs)
{
    static const char *const keys[] = {"model name", "Hardware", "cpu model", "cpu"};
    struct slice info = host_file(arena, "/proc/cpuinfo"), model = {"", 0};
    for (size_t i = 0; i < ARRAY_COUNT(keys) && model.bytes == 0; i++)
        model = host_value(info, keys[i], ':');
    facts->cpu_model = model.bytes > 0 ? arena_slice(arena, model) : NULL;
    signs->hypervisor_flag = slice_glob(host_value(info, "flags", ':'), "* hypervisor*");
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    facts->cpus_online = online > 0 ? (uint32_t)online : 0;
    facts->cpus_allowed = count_allowed();
}

static void read_virtualisation(struct arena *arena, struct host_facts *facts,
                                struct host_signs *signs)
{
    struct slice environment = host_file(arena, "/proc/1/environ"), word;
    bool more = environment.bytes > 0;
    while (more) {
        more = slice_split(environment, '\0', &word, &environment);
        if (slice_starts(word, "container="))
            signs->container = slice_skip(word, strlen("container="));
    }
    signs->version = host_file(arena, "/proc/version");
    signs->cgroup = host_file(arena, "/proc/self/cgroup");
    signs->vendor = host_file(arena, "/sys/class/dmi/id/sys_vendor");
    signs->product = host_file(arena, "/sys/class/dmi/id/product_name");
    signs->docker_file = access("/.dockerenv", F_OK) == 0;
    signs->podman_file = access("/run/.containerenv", F_OK) == 0;
    facts->virtualisation = host_name_virtualisation(signs);
}

/* In a chroot the mount that holds a folder may not be listed; the kernel still knows its kind.
 */
static const char *kind_of_filesystem(const char *path)
{
    static const struct {
        long magic;
        const char *name;
    } kinds[] = {
        {EXT4_SUPER_MAGIC,      "ext4"   },
        {XFS_SUPER_MAGIC,       "xfs"    },
        {BTRFS_SUPER_MAGIC,     "btrfs"  },
        {TMPFS_MAGIC,           "tmpfs"  },
        {OVERLAYFS_SUPER_MAGIC, "overlay"},
        {F2FS_SUPER_MAGIC,      "f2fs"   },
        {NFS_SUPER_MAGIC,       "nfs"    },
    };
    struct statfs info;
    if (statfs(path, &info) != 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if ((long)info.f_type == kinds[i].magic)
            return kinds[i].name;
    }
    return NULL;
}

static void read_disk(struct arena *arena, const char *folder, struct host_facts *facts,
                      struct host_mount *mount)
{
    char real[PATH_MAX];
    struct statvfs disk;
    const char *path = realpath(folder, real) ? real : "/";
    if (host_parse_mount(arena, host_file(arena, "/proc/self/mountinfo"), path, mount)) {
        facts->filesystem = mount->filesystem;
        facts->device = mount->device;
        facts->mount_options = host_join_options(arena, mount, false);
    } else {
        facts->filesystem = kind_of_filesystem(path);
    }
    if (statvfs(path, &disk) == 0)
        facts->disk_free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
}

static void read_memory(struct arena *arena, struct host_facts *facts)
{
    struct slice info = host_file(arena, "/proc/meminfo");
    facts->memory_bytes = host_number(info, "MemTotal", ':') * 1024;
    facts->memory_available_bytes = host_number(info, "MemAvailable", ':') * 1024;
    facts->swap_bytes = host_number(info, "SwapTotal", ':') * 1024;
}

static void read_system(struct arena *arena, struct host_facts *facts)
{
    struct utsname system;
    if (uname(&system) == 0)
        facts->kernel = arena_text(arena, system.release);
    if (uname(&system) == 0 && !facts->cpu_model)
        facts->cpu_model = arena_text(arena, system.machine);
    struct slice name = host_value(host_file(arena, "/etc/os-release"), "PRETTY_NAME", '=');
    if (name.bytes >= 2 && name.at[0] == '"' && name.at[name.bytes - 1] == '"')
        name = (struct slice){name.at + 1, name.bytes - 2};
    facts->os = name.bytes > 0 ? arena_slice(arena, name) : NULL;
    facts->clock_source =
        text_of(arena, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    facts->governor = text_of(arena, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    facts->huge_pages =
        host_bracketed(arena, host_file(arena, "/sys/kernel/mm/transparent_hugepage/enabled"));
    facts->load1 = host_parse_load(host_file(arena, "/proc/loadavg"));
}

void host_read(struct arena *arena, const char *folder, struct host_facts *facts)
{
    struct host_signs signs = {
        .container = {"", 0}
    };
    struct host_mount mount = {
        .options = {"", 0},
          .super_options = {"", 0}
    };
    *facts = (struct host_facts){0};
    read_cpu(arena, facts, &signs);
    read_virtualisation(arena, facts, &signs);
    read_disk(arena, folder, facts, &mount);
    read_memory(arena, facts);
    read_system(arena, facts);
    read_limits(arena, facts);
    struct slice model = slice_of(facts->cpu_model ? facts->cpu_model : "");
    struct slice series = host_kernel_series(facts->kernel ? facts->kernel : "unknown");
    facts->class = arena_printf(arena, "%s/%uc/%.*s/%s/%s", host_slug(arena, model),
                                facts->cpus_online, (int)series.bytes, series.at,
                                facts->filesystem ? facts->filesystem : "unknown",
                                host_join_options(arena, &mount, true));
}

/* The wall clock between two readings of the other; of a few tries the one with the least time
 * between them, so that being put aside for a moment does not look like a step. */
static void read_clocks(struct host_counters *counters)
{
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t before_ns = os_now_ns(), wall_ns = os_wall_ns(), after_ns = os_now_ns();
        if (after_ns - before_ns >= best_ns)
            continue;
        best_ns = after_ns - before_ns;
        counters->wall_ns = wall_ns;
        counters->monotonic_ns = before_ns + best_ns / 2;
    }
}

static void keep_most_throttled(void *context, struct slice content)
{
    uint64_t *most = context, count = host_number(content, "nr_throttled", ' ');
    *most = count > *most ? count : *most;
}

void host_count(struct host_counters *counters)
{
    struct arena *scratch = arena_create(64 << 10);
    *counters = (struct host_counters){0};
    host_parse_stat(host_file(scratch, "/proc/stat"), counters);
    struct slice memory = host_file(scratch, "/proc/vmstat");
    counters->swapped_pages =
        host_number(memory, "pswpin", ' ') + host_number(memory, "pswpout", ' ');
    counters->oom_kills = host_number(memory, "oom_kill", ' ');
    counters->cpu_pressure_us = host_parse_pressure(host_file(scratch, "/proc/pressure/cpu"));
    counters->io_pressure_us = host_parse_pressure(host_file(scratch, "/proc/pressure/io"));
    host_each_group(scratch, NULL, "cpu.stat", keep_most_throttled, &counters->throttled_count);
    host_each_group(scratch, "cpu", "cpu.stat", keep_most_throttled,
                    &counters->throttled_count);
    counters->load1 = host_parse_load(host_file(scratch, "/proc/loadavg"));
    arena_destroy(&scratch);
    read_clocks(counters);
}
