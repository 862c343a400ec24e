/* Cancelling may block (it needs a connection of its own), and setup calls of the main thread
 * may never return; so both are looked after by a thread that nobody waits for longer than a
 * second. */
#include "os/now.h"
#include "os/sig.h"
#include "run/overseer_internal.h"

#define LOOK_NS     (20 * NS_PER_MS)
#define SEVER_NS    (3 * NS_PER_S) /* from cancelling a setup call until it is severed */
#define FAREWELL_NS NS_PER_S

static void wait_a_little(struct overseer *overseer, uint64_t span_ns)
{
    uint64_t due_ns = os_now_ns() + span_ns;
    struct timespec due = {.tv_sec = (time_t)(due_ns / NS_PER_S),
                           .tv_nsec = (long)(due_ns % NS_PER_S)};
    (void)pthread_cond_timedwait(&overseer->changed, &overseer->mutex, &due);
}

/* Calls the driver without the lock. */
static void cancel_one(struct overseer *overseer, struct drv_conn *conn)
{
    overseer->busy = conn;
    pthread_mutex_unlock(&overseer->mutex);
    conn->class->cancel(conn);
    pthread_mutex_lock(&overseer->mutex);
    overseer->busy = NULL;
    pthread_cond_broadcast(&overseer->changed);
}

/* The main thread's call: cancelled when its time is over or the run is to stop, then severed.
 * An asynchronous driver's cancel could hang on the very server that hangs, so it is severed.
 */
static void look_after_setup(struct overseer *overseer)
{
    uint64_t now_ns = os_now_ns();
    struct drv_conn *conn = overseer->setup;
    if (!conn || (now_ns < overseer->setup_due_ns && sig_pending() == 0))
        return;
    bool first = overseer->setup_cut_ns == 0;
    if (first)
        overseer->setup_cut_ns = now_ns;
    if (conn->class->caps & DRV_CAP_ASYNC || now_ns > overseer->setup_cut_ns + SEVER_NS)
        conn->class->sever(conn);
    else if (first)
        cancel_one(overseer, conn);
}

static void *overseer_main(void *context)
{
    struct overseer *overseer = context;
    pthread_mutex_lock(&overseer->mutex);
    while (!overseer->quit) {
        if (overseer->count > 0)
            cancel_one(overseer, overseer->queue[--overseer->count]);
        look_after_setup(overseer);
        if (overseer->count == 0 && !overseer->quit)
            wait_a_little(overseer, LOOK_NS);
    }
    overseer->gone = true;
    pthread_cond_broadcast(&overseer->changed);
    pthread_mutex_unlock(&overseer->mutex);
    return NULL;
}

bool overseer_start(struct overseer *overseer, struct err *err)
{
    pthread_condattr_t attr;
    *overseer = (struct overseer){0};
    pthread_mutex_init(&overseer->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&overseer->changed, &attr);
    pthread_condattr_destroy(&attr);
    int fault = pthread_create(&overseer->thread, NULL, overseer_main, overseer);
    if (fault == 0)
        return true;
    overseer->gone = true;
    return err_set(err, ERR_SYSTEM, "a thread could not be started (error %d)", fault);
}

void overseer_stop(struct overseer *overseer)
{
    pthread_mutex_lock(&overseer->mutex);
    bool started = !overseer->gone;
    overseer->quit = true;
    pthread_cond_broadcast(&overseer->changed);
    uint64_t due_ns = os_now_ns() + FAREWELL_NS;
    while (!overseer->gone && os_now_ns() < due_ns)
        wait_a_little(overseer, LOOK_NS);
    bool gone = overseer->gone;
    pthread_mutex_unlock(&overseer->mutex);
    if (started && gone)
        pthread_join(overseer->thread, NULL);
    else if (started)
        pthread_detach(overseer->thread); /* hangs in a cancel that nobody answers */
}

void overseer_cancel(struct overseer *overseer, struct drv_conn *conn)
{
    pthread_mutex_lock(&overseer->mutex);
    bool known = overseer->busy == conn;
    for (uint32_t i = 0; i < overseer->count && !known; i++)
        known = overseer->queue[i] == conn;
    if (!known && overseer->count < OVERSEER_QUEUE_MAX)
        overseer->queue[overseer->count++] = conn;
    pthread_cond_broadcast(&overseer->changed);
    pthread_mutex_unlock(&overseer->mutex);
}

void overseer_settle(struct overseer *overseer)
{
    pthread_mutex_lock(&overseer->mutex);
    overseer->count = 0;
    uint64_t due_ns = os_now_ns() + FAREWELL_NS;
    while (overseer->busy && os_now_ns() < due_ns)
        wait_a_little(overseer, LOOK_NS);
    pthread_mutex_unlock(&overseer->mutex);
}

void overseer_enter(struct overseer *overseer, struct drv_conn *conn, uint64_t due_ns)
{
    pthread_mutex_lock(&overseer->mutex);
    overseer->setup = conn;
    overseer->setup_due_ns = due_ns;
    overseer->setup_cut_ns = 0;
    pthread_mutex_unlock(&overseer->mutex);
}

bool overseer_leave(struct overseer *overseer)
{
    pthread_mutex_lock(&overseer->mutex);
    bool cut = overseer->setup_cut_ns != 0;
    uint64_t due_ns = os_now_ns() + FAREWELL_NS;
    while (overseer->busy && overseer->busy == overseer->setup && os_now_ns() < due_ns)
        wait_a_little(overseer, LOOK_NS);
    overseer->setup = NULL;
    pthread_mutex_unlock(&overseer->mutex);
    return cut;
}
