#ifndef HOST_HOST_INTERNAL_H
#define HOST_HOST_INTERNAL_H

/* Parsers of what the kernel shows as text. They read no file; all texts may be cut or strange,
 * what is not found is an empty slice, 0 or NULL. */

#include "base/slice.h"
#include "host/host.h"

/* The trimmed rest of the first line that begins with `key`, blanks and then `mark`. A mark of
 * ' ' means blanks alone. */
struct slice host_value(struct slice text, const char *key, char mark);

/* The number that such a line begins with ("MemTotal:  24068 kB" is 24068); 0 without one. */
uint64_t host_number(struct slice text, const char *key, char mark);

/* The "cpu" line of /proc/stat. Guest time is part of user time and not counted twice; waiting
 * for a disk is idle. */
void host_parse_stat(struct slice text, struct host_counters *counters);

/* The entry of /proc/self/mountinfo that `path` (absolute, resolved) is on; the last one of
 * those with the longest matching mount point, since later mounts cover earlier ones. */
struct host_mount {
    const char *point, *filesystem, *device;
    struct slice options, super_options;
};
bool host_parse_mount(struct arena *arena, struct slice mountinfo, const char *path,
                      struct host_mount *mount);

/* The mount's options followed by those of its file system that are new; options that hold a
 * path (overlayfs) are left out. With `lasting`: of the file system's own only those that
 * change what a sync costs, which is what the host class needs. */
const char *host_join_options(struct arena *arena, const struct host_mount *mount,
                              bool lasting);

/* "Intel(R) Xeon(R) CPU @ 2.80GHz" -> "intel-xeon-2-80ghz" */
const char *host_slug(struct arena *arena, struct slice model);

/* Path of our group: `controller` NULL is version 2's ("0::/a/b"); "" when there is none. */
struct slice host_parse_cgroup(struct slice text, const char *controller);

/* "max" and numbers past 2^60 (version 1's "none") are 0. */
uint64_t host_parse_limit(struct slice text);

/* "200000 100000" -> 2.0; "max 100000" -> 0 */
double host_parse_cpu_max(struct slice text);

/* total= of the "some" line of /proc/pressure. */
uint64_t host_parse_pressure(struct slice text);

/* "always [madvise] never" -> "madvise"; NULL without brackets. */
const char *host_bracketed(struct arena *arena, struct slice text);

double host_parse_load(struct slice text);

/* "6.18.44-x" -> "6.18" */
struct slice host_kernel_series(const char *release);

/* What tells of a virtual machine or container; NULL fields and false are "not there". */
struct host_signs {
    struct slice version;         /* /proc/version */
    struct slice container;       /* value of container= in the environment of process 1 */
    struct slice cgroup;          /* /proc/self/cgroup */
    struct slice vendor, product; /* of /sys/class/dmi/id */
    bool docker_file, podman_file, hypervisor_flag;
};
const char *host_name_virtualisation(const struct host_signs *signs);

/* Files: at most 1 MiB, an empty slice when they cannot be read. */
struct slice host_file(struct arena *arena, const char *path);

/* A file of our control group, from its own folder upwards; calls `each` for every one found.
 */
typedef void (*host_group_fn)(void *context, struct slice content);
void host_each_group(struct arena *arena, const char *controller, const char *file,
                     host_group_fn each, void *context);

#endif
