#ifndef RUN_OVERSEER_INTERNAL_H
#define RUN_OVERSEER_INTERNAL_H

/*
 * The overseer: one thread of a run that cancels what must stop. The main thread's watch must
 * never block, but a driver's cancel may; and the main thread's own setup calls (prepare,
 * queries before and after a scenario) may hang on a server that does not answer. A connection
 * stays open until its cancel has returned, or is severed first.
 */

#include "base/err.h"
#include "driver/driver.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define OVERSEER_QUEUE_MAX 8192

struct overseer {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all that follows */
    pthread_cond_t changed;
    struct drv_conn *queue[OVERSEER_QUEUE_MAX];
    uint32_t count;
    struct drv_conn *busy;  /* being cancelled */
    struct drv_conn *setup; /* the main thread is in a call on it */
    uint64_t setup_due_ns, setup_cut_ns;
    bool quit, gone;
};

MUST_CHECK bool overseer_start(struct overseer *overseer, struct err *err);
void overseer_stop(struct overseer *overseer);

/* Asks for a connection's running operation to be cancelled; returns at once. */
void overseer_cancel(struct overseer *overseer, struct drv_conn *conn);

/* Forgets what was asked for and waits, a second at most, for a cancel that runs: before
 * connections are closed. */
void overseer_settle(struct overseer *overseer);

/* Around a setup call of the main thread: at due_ns, or when a signal comes, it is cancelled
 * and then severed. overseer_leave answers whether that happened; the connection is of no more
 * use then. */
void overseer_enter(struct overseer *overseer, struct drv_conn *conn, uint64_t due_ns);
bool overseer_leave(struct overseer *overseer);

#endif
