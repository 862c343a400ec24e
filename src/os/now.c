#include "os/now.h"

#include "base/text.h"

#include <assert.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t os_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t os_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t os_self_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

bool os_process_cpu_ns(pid_t pid, uint64_t *cpu_ns)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return false;
    *cpu_ns = (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec;
    return true;
}

void os_sleep_until_ns(uint64_t due_ns)
{
    struct timespec due = {.tv_sec = (time_t)(due_ns / NS_PER_S),
                           .tv_nsec = (long)(due_ns % NS_PER_S)};
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

void os_sleep_ns(uint64_t duration_ns)
{
    os_sleep_until_ns(os_now_ns() + duration_ns);
}

void os_wall_text(uint64_t wall_ns, char *buffer, size_t room)
{
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm local;
    char date[24], zone[8];
    assert(room >= 32);
    localtime_r(&seconds, &local);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &local);
    strftime(zone, sizeof(zone), "%z", &local);
    text_print(buffer, room, "%s%.3s:%s", date, zone, zone + 3);
}
