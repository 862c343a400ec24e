#include "base/num.h"
#include "base/text.h"
#include "loop/loop.h"
#include "os/fs.h"
#include "os/now.h"
#include "run/run_internal.h"

#include <assert.h>
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
            enum client_state state = crowd->states[events[i].index];
            if (events[i].kind == LOOP_FD && state != CLIENT_SLEEPS && state != CLIENT_FINISHED)
                crowd_advance(crowd, events[i].index);
        }
        if (sleepers)
            crowd_wake(crowd);
    }
}

static bool crowd_open(struct worker *worker, struct err *err)
{
    struct crowd *crowd = arena_new(worker->arena, struct crowd);
    crowd->worker = worker;
    crowd->states = arena_array(worker->arena, enum client_state, worker->client_count);
    crowd->writing = arena_array(worker->arena, bool, worker->client_count);
    worker->crowd = crowd;
    return loop_create(worker->arena, &crowd->loop, err);
}

static bool crowd_watch(struct crowd *crowd, struct err *err)
{
    crowd->running = crowd->worker->client_count;
    for (uint32_t i = 0; i < crowd->worker->client_count; i++) {
        struct client *client = &crowd->worker->clients[i];
        crowd->states[i] = CLIENT_WANT_READ;
        crowd->writing[i] = false;
        if (!loop_watch(crowd->loop, client->class->fd(client->conn), i, true, false, err))
            return false;
    }
    return true;
}

static void run_part(struct worker *worker)
{
    struct err err;
    if (!worker->crowd)
        worker_run_alone(&worker->clients[0]);
    else if (crowd_watch(worker->crowd, &err))
        crowd_run(worker->crowd);
    else
        fail_client(&worker->clients[0], &err);
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

/* The processor's time lies within the wall's, so a share is never above one. */
static void measure(struct worker *worker)
{
    uint64_t wait_ns = run_wait_ns(worker);
    uint64_t allocated = arena_calls();
    for (uint32_t i = 0; i < worker->client_count; i++)
        client_begin(&worker->clients[i], worker->executions, true);
    worker->start_ns = os_now_ns();
    uint64_t cpu_ns = os_thread_cpu_ns();
    if (!plan_stopped(worker->plan))
        run_part(worker);
    worker->cpu_ns = os_thread_cpu_ns() - cpu_ns;
    worker->end_ns = os_now_ns();
    assert(arena_calls() == allocated); /* nothing is allocated in the measured part */
    worker->run_wait_ns = run_wait_ns(worker) - wait_ns;
    for (uint32_t i = 0; i < worker->client_count; i++) {
        worker->done_count += worker->clients[i].execution - worker->clients[i].begun;
        worker->recorder.operations += worker->clients[i].operations;
        worker->recorder.rows += worker->clients[i].rows;
        worker->recorder.affected += worker->clients[i].affected;
    }
}

/* Once more with every row hashed, by the first client, outside the measured part. */
static void checksum(struct worker *worker)
{
    struct client *client = &worker->clients[0];
    if (client->number != 1 || !worker->checksum || plan_stopped(worker->plan))
        return;
    for (uint32_t i = 1; i < worker->client_count; i++)
        worker->clients[i].finished = true;
    client_begin_checksum(client);
    run_part(worker);
}

void *worker_main(void *context)
{
    struct worker *worker = context;
    struct err err;
    if (worker->clients[0].class->caps & DRV_CAP_ASYNC && !crowd_open(worker, &err))
        fail_client(&worker->clients[0], &err);
    if (worker->warmup > 0 && !plan_stopped(worker->plan)) {
        for (uint32_t i = 0; i < worker->client_count; i++)
            client_begin(&worker->clients[i], worker->warmup, false);
        run_part(worker);
    }
    gate_pass(worker->gate, 1); /* warmed up; main reads the counters before it opens */
    measure(worker);
    gate_pass(worker->gate, 2); /* done; main reads the counters again before we go */
    checksum(worker);
    gate_pass(worker->gate, 3);
    if (worker->crowd)
        loop_destroy(&worker->crowd->loop);
    return NULL;
}
