#include "loop/loop.h"

#include "base/defs.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 64 };

struct loop {
    int epoll, timer, wake;
    uint64_t due_ns; /* what the timer is set to; UINT64_MAX is off */
    struct epoll_event ready[EVENTS_AT_ONCE];
};

/* The upper half of epoll's 64 bits holds the kind, the lower one the index. */
static uint64_t pack(enum loop_kind kind, uint32_t index)
{
    return (uint64_t)kind << 32 | index;
}

static bool add_own(struct loop *loop, int fd, enum loop_kind kind)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = pack(kind, 0)};
    return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void close_own(struct loop *loop)
{
    const int own[] = {loop->epoll, loop->timer, loop->wake};
    for (unsigned i = 0; i < ARRAY_COUNT(own); i++) {
        if (own[i] >= 0)
            close(own[i]);
    }
}

bool loop_create(struct arena *arena, struct loop **loop, struct err *err)
{
    struct loop *made = arena_new(arena, struct loop);
    made->epoll = epoll_create1(EPOLL_CLOEXEC);
    made->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    made->due_ns = UINT64_MAX;
    if (made->epoll >= 0 && made->timer >= 0 && made->wake >= 0 &&
        add_own(made, made->timer, LOOP_TIMER) && add_own(made, made->wake, LOOP_WAKE)) {
        *loop = made;
        return true;
    }
    err_errno(err, "making an event loop");
    close_own(made);
    return false;
}

void loop_destroy(struct loop **loop)
{
    if (!*loop)
        return;
    close_own(*loop);
    *loop = NULL;
}

bool loop_watch(struct loop *loop, int fd, uint32_t index, bool read, bool write,
                struct err *err)
{
    struct epoll_event event = {.events = (read ? EPOLLIN : 0U) | (write ? EPOLLOUT : 0U),
                                .data.u64 = pack(LOOP_FD, index)};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event) == 0)
        return true;
    if (errno == ENOENT && epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
        return true;
    return err_errno(err, "watching descriptor %d", fd);
}

void loop_forget(struct loop *loop, int fd)
{
    (void)epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
}

void loop_timer(struct loop *loop, uint64_t due_ns)
{
    struct itimerspec spec = {
        {0, 0},
        {0, 0}
    };
    if (due_ns == loop->due_ns)
        return;
    loop->due_ns = due_ns;
    if (due_ns != UINT64_MAX) {
        /* All zero would turn the timer off instead of firing at once. */
        uint64_t at_ns = due_ns > 0 ? due_ns : 1;
        spec.it_value.tv_sec = (time_t)(at_ns / NS_PER_S);
        spec.it_value.tv_nsec = (long)(at_ns % NS_PER_S);
    }
    int failed = timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &spec, NULL);
    assert(failed == 0);
}

void loop_wake(struct loop *loop)
{
    const uint64_t one = 1;
    ssize_t put = write(loop->wake, &one, sizeof(one));
    assert(put == (ssize_t)sizeof(one) || errno == EAGAIN);
}

/* Empties the timer's or the eventfd's counter. False when there was none: the timer was set
 * anew after it had fired. */
static bool drain(int fd)
{
    uint64_t count;
    return read(fd, &count, sizeof(count)) == (ssize_t)sizeof(count);
}

/* The loop's own descriptors. */
static NOINLINE bool translate_own(struct loop *loop, uint64_t data, struct loop_event *to)
{
    bool timer = data == pack(LOOP_TIMER, 0);
    *to = (struct loop_event){.kind = timer ? LOOP_TIMER : LOOP_WAKE};
    if (!drain(timer ? loop->timer : loop->wake))
        return false;
    if (timer)
        loop->due_ns = UINT64_MAX;
    return true;
}

/* Not epoll_wait(): in a program with threads the C library surrounds it with the bookkeeping
 * of pthread_cancel(), which nobody here uses. */
static int wait_ready(struct loop *loop, unsigned room, int timeout_ms)
{
    const sigset_t *same = NULL;
    return (int)syscall(SYS_epoll_pwait, loop->epoll, loop->ready, room, timeout_ms, same, 0);
}

static inline unsigned collect(struct loop *loop, struct loop_event *events, unsigned room,
                               int timeout_ms)
{
    unsigned count = 0;
    assert(room > 0);
    int found = wait_ready(loop, room < EVENTS_AT_ONCE ? room : EVENTS_AT_ONCE, timeout_ms);
    assert(found >= 0 || errno == EINTR);
    for (int i = 0; i < found; i++) {
        const struct epoll_event *from = &loop->ready[i];
        if (from->data.u64 <= UINT32_MAX)
            events[count++] =
                (struct loop_event){LOOP_FD, (uint32_t)from->data.u64, from->events};
        else
            count += translate_own(loop, from->data.u64, &events[count]);
    }
    return count;
}

HOT unsigned loop_wait(struct loop *loop, struct loop_event *events, unsigned room)
{
    return collect(loop, events, room, -1);
}

unsigned loop_poll(struct loop *loop, struct loop_event *events, unsigned room)
{
    return collect(loop, events, room, 0);
}
