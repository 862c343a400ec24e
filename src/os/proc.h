#ifndef OS_PROC_H
#define OS_PROC_H

/* Child processes, and what /proc tells of any process. */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_spec {
    const char *const *argv; /* NULL-terminated; argv[0] is a path, no PATH search */
    const char *const
        *extra_env; /* "NAME=VALUE" added to our environment, NULL-terminated, or NULL */
    const char *output_path; /* stdout and stderr are appended to this file; NULL keeps ours */
    const char *folder;      /* working folder, or NULL */
    const char *user;        /* root only: run as this user (groups cleared), or NULL */
    const uint16_t *cpus;    /* it and all of its own run only there; count 0: as we do */
    uint32_t cpu_count;
    bool own_group; /* setpgid(0, 0): a Ctrl-C at the terminal does not reach it */
    int fd_in;      /* becomes fd 0 when >= 0; use -1 for /dev/null */
};

/* Starts a process. The child waits on a pipe until `announce` (may be NULL; it is told the
 * pid) has returned and then executes; when we die before that, it ends without executing. Exec
 * failures are reported here with their errno. */
MUST_CHECK bool proc_start(const struct proc_spec *spec, void (*announce)(pid_t pid),
                           pid_t *pid, struct err *err);

/* Raises our limit of open descriptors as far as we may. Children that are started here get the
 * limit that there was before: servers choose settings by it. Before any thread exists. */
void proc_allow_descriptors(void);

/* Waits at most timeout_ns (0: only looks). True when it has ended: *status as from waitpid. */
bool proc_wait(pid_t pid, uint64_t timeout_ns, int *status);

/* Runs to its end within timeout_ns (killed and an error otherwise). Non-zero exit is an error
 * that names the program and shows the last lines of output_path. */
MUST_CHECK bool proc_run(struct arena *scratch, const struct proc_spec *spec,
                         uint64_t timeout_ns, struct err *err);

/* Runs and returns at most `limit` bytes of its stdout (stderr dropped). For `git rev-parse`,
 * `postgres --version`. */
MUST_CHECK bool proc_capture(struct arena *arena, const char *const *argv, uint64_t timeout_ns,
                             size_t limit, const char **output, struct err *err);

/* "exit 1", "signal 9 (Killed)" */
void proc_status_text(int status, char *buffer, size_t room);

/* The last `lines` lines of a file, for error messages; "" when it cannot be read. */
const char *proc_log_tail(struct arena *arena, const char *path, unsigned lines);

/* First program of that name in PATH, or NULL. */
const char *proc_find(struct arena *arena, const char *name);

/* /proc of one process. Fields are 0 when the process is gone or closed to us. */
struct proc_facts {
    pid_t parent;
    uint64_t cpu_ns;          /* its own threads, exact */
    uint64_t children_cpu_ns; /* of children that it has waited for, in ticks of 10 ms */
    uint64_t resident_bytes;  /* VmRSS */
    uint64_t peak_bytes;      /* VmHWM */
    uint64_t
        proportional_bytes; /* Pss: shared pages divided by who shares them; 0 = closed to us */
};
void proc_read(pid_t pid, struct proc_facts *facts);
void proc_read_times(pid_t pid, struct proc_facts *facts); /* without bytes: far cheaper */

/* Pids of all processes whose parent chain leads to `root`, with `root` first; at most `room`.
 * Returns how many there are. */
unsigned proc_family(pid_t root, pid_t *pids, unsigned room);

/* Pids of the processes of a process group; at most `room`. Returns how many there are. */
unsigned proc_group(pid_t group, pid_t *pids, unsigned room);

#endif
