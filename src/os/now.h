#ifndef OS_NOW_H
#define OS_NOW_H

/* Time and processor time. Read the clock once an event and pass `now_ns` down. */

#include "base/defs.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns: the only clock that durations come from. */
static inline uint64_t os_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t os_wall_ns(void);       /* CLOCK_REALTIME, ns since 1970 */
uint64_t os_thread_cpu_ns(void); /* user + system of the calling thread */
uint64_t os_self_cpu_ns(void);   /* user + system of this process, all threads */
MUST_CHECK bool os_process_cpu_ns(pid_t pid,
                                  uint64_t *cpu_ns); /* any process; false when it is gone */

/* Sleeps until the monotonic time; returns early on a signal. */
void os_sleep_until_ns(uint64_t due_ns);
void os_sleep_ns(uint64_t duration_ns);

/* "2026-11-30T19:56:01+01:00" into a buffer of at least 32 bytes. */
void os_wall_text(uint64_t wall_ns, char *buffer, size_t room);

#endif
