#include "base/num.h"
#include "base/text.h"
#include "loop/loop.h"
#include "os/fs.h"
#include "os/now.h"
#include "run/run_internal.h"

#include <poll.h>

#define SLEEP_SLICE_NS (50 * NS_PER_MS) /* how soon a sleeping client sees the stop */
#define EVENTS_MAX     64

/* A client's sleep, in slices. True when it is over or the run stops. */
static void sleep_client(const struct client *client)
{
    uint64_t now_ns;
    while ((now_ns = os_now_ns()) < client->wake_ns && !plan_stopped(client->plan)) {
        uint64_t slice_ns = now_ns + SLEEP_SLICE_NS;
        os_sleep_until_ns(slice_ns < client->wake_ns ? slice_ns : client->wake_ns);
    }
}

void worker_run_alone(struct client *client)
{
    for (;;) {
        enum client_state state = client_run(client);
        if (state == CLIENT_FINISHED)
            return;
        if (state == CLIENT_SLEEPS) {
            sleep_client(client);
            continue;
        }
        short events = state == CLIENT_WANT_WRITE ? POLLIN | POLLOUT : POLLIN;
        struct pollfd wait = {.fd = client->class->fd(client->conn), .events = events};
        (void)poll(&wait, 1, 100); /* looks again now and then: a cancel may have come */
    }
}

/* Many connections on one thread. */
struct crowd {
    struct worker *worker;
    struct loop *loop;
    enum client_state *states;
    bool *writing; /* is this descriptor watched for writing too? */
    uint32_t running;
};

/* The event loop itself failed under a client: that is the client's failure. */
static void fail_client(struct client *client, const struct err *err)
{
    client->failure.failed = true;
    client->failure.what = "statement";
    client->failure.stmt = "event loop";
    client->failure.verdict = DRV_ERROR;
    text_print(client->failure.message, sizeof client->failure.message, "%s", err->text);
    client->finished = true;
    plan_stop(client->plan);
}

static void crowd_advance(struct crowd *crowd, uint32_t index)
{
    struct client *client = &crowd->worker->clients[index];
    struct err err;
    enum client_state state = client_run(client);
    bool write = state == CLIENT_WANT_WRITE;
    if (state != CLIENT_FINISHED && write != crowd->writing[index]) {
        crowd->writing[index] = write;
        if (!loop_watch(crowd->loop, client->class->fd(client->conn), index, true, write,
                        &err)) {
            fail_client(client, &err);
            state = CLIENT_FINISHED;
        }
    }
    crowd->states[index] = state;
    if (state == CLIENT_FINISHED) {
        loop_forget(crowd->loop, client->class->fd(client->conn));
        crowd->running--;
    }
}

/* Earliest wake-up of the sleepers, and a look at the stop flag now and then while there are
 * any. */
static uint64_t crowd_due(const struct crowd *crowd)
{
    uint64_t due_ns = UINT64_MAX;
    for (uint32_t i = 0; i < crowd->worker->client_count; i++) {
        if (crowd->states[i] == CLIENT_SLEEPS && crowd->worker->clients[i].wake_ns < due_ns)
            due_ns = crowd->worker->clients[i].wake_ns;
    }
    if (due_ns == UINT64_MAX)
        return due_ns;
    uint64_t slice_ns = os_now_ns() + SLEEP_SLICE_NS;
    return due_ns < slice_ns ? due_ns : slice_ns;
}

static void crowd_wake(struct crowd *crowd)
{
    uint64_t now_ns = os_now_ns();
    for (uint32_t i = 0; i < crowd->worker->client_count; i++) {
        struct client *client = &crowd->worker->clients[i];
        if (crowd->states[i] != CLIENT_SLEEPS)
            continue;
        if (plan_stopped(client->plan)) {
            client->finished = true;
            crowd_advance(crowd, i);
        } else if (client->wake_ns <= now_ns) {
            crowd_advance(crowd, i);
        }
    }
}

static void crowd_run(struct crowd *crowd)
{
    struct loop_event events[EVENTS_MAX];
    bool sleepers = false;
    for (uint32_t i = 0; i < crowd->worker->client_count; i++)
        crowd_advance(crowd, i);
    while (crowd->running > 0) {
        uint64_t due_ns = crowd_due(crowd);
        if (due_ns != UINT64_MAX || sleepers)
            loop_timer(crowd->loop, due_ns);
        sleepers = due_ns != UINT64_MAX;
        unsigned count = loop_wait(crowd->loop, events, EVENTS_MAX);
        for (unsigned i = 0; i < count; i++) {
            if (events[i].kind == LOOP_FD && crowd->states[events[i].index] != CLIENT_SLEEPS)
                crowd_advance(crowd, events[i].index);
        }
        if (sleepers)
            crowd_wake(crowd);
    }
}

static void run_crowd(struct worker *worker)
{
    struct crowd crowd = {.worker = worker, .running = worker->client_count};
    struct err err;
    crowd.states = arena_array(worker->arena, enum client_state, worker->client_count);
    crowd.writing = arena_array(worker->arena, bool, worker->client_count);
    if (!loop_create(worker->arena, &crowd.loop, &err)) {
        fail_client(&worker->clients[0], &err);
        return;
    }
    bool watched = true;
    for (uint32_t i = 0; i < worker->client_count && watched; i++) {
        struct client *client = &worker->clients[i];
        crowd.states[i] = CLIENT_WANT_READ;
        watched = loop_watch(crowd.loop, client->class->fd(client->conn), i, true, false, &err);
    }
    if (watched)
        crowd_run(&crowd);
    else
        fail_client(&worker->clients[0], &err);
    loop_destroy(&crowd.loop);
}

static void run_part(struct worker *worker)
{
    if (worker->clients[0].class->caps & DRV_CAP_ASYNC)
        run_crowd(worker);
    else
        worker_run_alone(&worker->clients[0]);
}

/* Nanoseconds that this thread was runnable without a CPU (second figure of schedstat). */
static uint64_t run_wait_ns(struct worker *worker)
{
    const char *text;
    size_t bytes;
    struct err err;
    struct slice ran, rest, waited;
    uint64_t wait_ns = 0;
    if (!fs_read(worker->arena, "/proc/thread-self/schedstat", 256, &text, &bytes, &err))
        return 0;
    if (!slice_split((struct slice){text, bytes}, ' ', &ran, &rest))
        return 0;
    (void)slice_split(rest, ' ', &waited, &rest);
    return num_u64(waited, &wait_ns) ? wait_ns : 0;
}

static void measure(struct worker *worker)
{
    uint64_t wait_ns = run_wait_ns(worker);
    uint64_t cpu_ns = os_thread_cpu_ns();
    worker->start_ns = os_now_ns();
    for (uint32_t i = 0; i < worker->client_count; i++)
        client_begin(&worker->clients[i], worker->executions, true);
    if (!plan_stopped(worker->plan))
        run_part(worker);
    worker->end_ns = os_now_ns();
    worker->cpu_ns = os_thread_cpu_ns() - cpu_ns;
    worker->run_wait_ns = run_wait_ns(worker) - wait_ns;
    for (uint32_t i = 0; i < worker->client_count; i++) {
        worker->done_count += worker->clients[i].execution - worker->clients[i].begun;
        worker->recorder.operations += worker->clients[i].operations;
        worker->recorder.rows += worker->clients[i].rows;
        worker->recorder.affected += worker->clients[i].affected;
    }
}

void *worker_main(void *context)
{
    struct worker *worker = context;
    if (worker->warmup > 0) {
        for (uint32_t i = 0; i < worker->client_count; i++)
            client_begin(&worker->clients[i], worker->warmup, false);
        run_part(worker);
    }
    gate_pass(worker->gate, 1); /* warmed up; main reads the counters before it opens */
    measure(worker);
    gate_pass(worker->gate, 2); /* done; main reads the counters again before we go */
    return NULL;
}
