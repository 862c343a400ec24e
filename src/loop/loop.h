#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

/*
 * One thread's event loop: epoll, one timerfd and one eventfd.
 *
 * The caller owns the control flow: loop_wait() returns what is ready and calls nobody back. A
 * descriptor is known by the caller's own number ("index"), usually the place of the connection
 * in an array. Readiness is level-triggered: what is not handled is reported again.
 *
 * A loop belongs to one thread; only loop_wake() may be called from another. The loop never
 * closes a descriptor that is not its own; forget a descriptor before closing it. An error that
 * epoll sees without being asked (EPOLLERR, EPOLLHUP) is reported too: the next read or write
 * finds out what it is.
 *
 * No epoll_pwait2: valgrind 3.19 does not know it. The timerfd gives the same nanoseconds.
 */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;

enum loop_kind {
    LOOP_FD,    /* a watched descriptor */
    LOOP_TIMER, /* the timer is due; it is off now */
    LOOP_WAKE,  /* loop_wake() was called, once or more often */
};

struct loop_event {
    enum loop_kind kind;
    uint32_t index; /* of LOOP_FD, else 0 */
    uint32_t ready; /* of LOOP_FD: EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP of <sys/epoll.h> */
};

/* The loop's memory is in the arena; its three descriptors live until loop_destroy. */
MUST_CHECK bool loop_create(struct arena *arena, struct loop **loop, struct err *err);
void loop_destroy(struct loop **loop); /* sets *loop to NULL; NULL is fine */

/* Begins to watch `fd`, or changes its index and what is waited for. Neither read nor write
 * leaves the descriptor known but silent (errors are still reported). */
MUST_CHECK bool loop_watch(struct loop *loop, int fd, uint32_t index, bool read, bool write,
                           struct err *err);

/* Stops watching; a descriptor that is not watched is fine. */
void loop_forget(struct loop *loop, int fd);

/* Sets the one timer to an absolute time of os_now_ns(); UINT64_MAX turns it off. A time in the
 * past fires at once. Setting the same time again costs nothing. */
void loop_timer(struct loop *loop, uint64_t due_ns);

/* Makes the running or the next loop_wait return. The one call for other threads. */
void loop_wake(struct loop *loop);

/* Waits without limit until something is ready; fills at most `room` events and returns how
 * many. 0 means that a signal came: look at sig_pending(). */
unsigned loop_wait(struct loop *loop, struct loop_event *events, unsigned room);

/* What is ready now; does not wait. */
unsigned loop_poll(struct loop *loop, struct loop_event *events, unsigned room);

#endif
