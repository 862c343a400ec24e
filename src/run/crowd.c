/* Many connections on one thread: an event loop, and a heap of those that sleep. */
#include "base/text.h"
#include "loop/loop.h"
#include "os/now.h"
#include "run/run_internal.h"

#define EVENTS_MAX 64

struct sleeper {
    uint64_t wake_ns;
    uint32_t index;
};

struct crowd {
    struct client *clients;
    uint32_t count, running;
    struct loop *loop; /* NULL: it could not be made */
    enum client_state *states;
    bool *deaf;    /* not watched: it sleeps, and its server said something meanwhile */
    bool *writing; /* is this descriptor watched for writing too? */
    struct sleeper *sleepers; /* a binary heap, earliest first */
    uint32_t sleeper_count;
    uint64_t
        looked_ns; /* the last look at the clock, when nothing has happened since; else 0 */
    uint64_t spin_ns;
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

/* ---- the heap */

static void heap_add(struct crowd *crowd, uint64_t wake_ns, uint32_t index)
{
    struct sleeper *heap = crowd->sleepers;
    uint32_t at = crowd->sleeper_count++;
    for (; at > 0 && heap[(at - 1) / 2].wake_ns > wake_ns; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = (struct sleeper){wake_ns, index};
}

static uint32_t heap_take(struct crowd *crowd)
{
    struct sleeper *heap = crowd->sleepers;
    uint32_t first = heap[0].index, count = --crowd->sleeper_count, at = 0;
    struct sleeper last = heap[count];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < count && heap[child + 1].wake_ns < heap[child].wake_ns)
            child++;
        if (child >= count || heap[child].wake_ns >= last.wake_ns)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

/* ---- going on */

static void watch(struct crowd *crowd, uint32_t index, bool write)
{
    struct client *client = &crowd->clients[index];
    struct err err;
    crowd->writing[index] = write;
    if (!loop_watch(crowd->loop, client->fd, index, true, write, &err))
        fail_client(client, &err);
}

/* The client does something else than to wait for reading, or it did so before. */
static NOINLINE void change(struct crowd *crowd, uint32_t index, enum client_state state)
{
    struct client *client = &crowd->clients[index];
    bool write = state == CLIENT_WANT_WRITE;
    if (state != CLIENT_FINISHED && write != crowd->writing[index])
        watch(crowd, index, write);
    if (state == CLIENT_SLEEPS)
        heap_add(crowd, client->wake_ns, index);
    crowd->states[index] = client->finished ? CLIENT_FINISHED : state;
    if (client->finished) {
        loop_forget(crowd->loop, client->fd);
        crowd->running--;
    }
}

static HOT void advance(struct crowd *crowd, uint32_t index)
{
    enum client_state state = client_run(&crowd->clients[index]);
    if (state != CLIENT_WANT_READ || crowd->states[index] != CLIENT_WANT_READ)
        change(crowd, index, state);
}

/* Another look at the clock: what lies between it and the last one was spent on looking. */
static void look(struct crowd *crowd, uint64_t now_ns)
{
    if (crowd->looked_ns)
        crowd->spin_ns += worker_spun_ns(crowd->looked_ns, now_ns);
    crowd->looked_ns = now_ns;
}

/* What comes while a client sleeps (the end of an idle session, a notice) waits until it wakes;
 * being told of it again and again would cost a core. */
static NOINLINE void be_deaf(struct crowd *crowd, uint32_t index)
{
    if (crowd->states[index] != CLIENT_SLEEPS)
        return;
    loop_forget(crowd->loop, crowd->clients[index].fd);
    crowd->deaf[index] = true;
}

static void hear(struct crowd *crowd, uint32_t index)
{
    if (crowd->deaf[index])
        watch(crowd, index, false);
    crowd->deaf[index] = false;
}

/* Those whose sleep is over, and all when the run stops. */
static void wake(struct crowd *crowd)
{
    bool stopped = plan_stopped(crowd->clients[0].plan);
    uint64_t now_ns = os_now_ns();
    while (crowd->sleeper_count > 0 && (stopped || crowd->sleepers[0].wake_ns <= now_ns)) {
        uint32_t index = heap_take(crowd);
        look(crowd, now_ns);
        crowd->looked_ns = 0;
        hear(crowd, index);
        advance(crowd, index);
    }
}

/* What is ready, waited for until a sleeper's time comes near: the last WORKER_SPIN_NS before
 * the start of an execution are not slept, but spent looking at the clock and the sockets. */
static NOINLINE unsigned next_timed(struct crowd *crowd, struct loop_event *events)
{
    const struct sleeper *first = &crowd->sleepers[0];
    uint64_t now_ns = os_now_ns(), slice_ns = now_ns + WORKER_SLICE_NS;
    uint64_t early_ns = crowd->clients[first->index].spins ? WORKER_SPIN_NS : 0;
    if (first->wake_ns <= now_ns + early_ns) {
        look(crowd, now_ns);
        unsigned count = loop_poll(crowd->loop, events, EVENTS_MAX);
        if (count > 0 || early_ns == 0)
            crowd->looked_ns = 0;
        return count;
    }
    crowd->looked_ns = 0;
    uint64_t due_ns = first->wake_ns - early_ns;
    loop_timer(crowd->loop, due_ns < slice_ns ? due_ns : slice_ns);
    return loop_wait(crowd->loop, events, EVENTS_MAX);
}

static void begin(struct crowd *crowd)
{
    crowd->running = crowd->count;
    crowd->sleeper_count = 0;
    crowd->spin_ns = crowd->looked_ns = 0;
    for (uint32_t i = 0; i < crowd->count; i++)
        advance(crowd, i);
}

void crowd_ready(struct crowd *crowd)
{
    for (uint32_t i = 0; crowd->loop && i < crowd->count; i++) {
        crowd->states[i] = CLIENT_WANT_READ;
        watch(crowd, i, false);
    }
}

void crowd_run(struct crowd *crowd)
{
    struct loop_event events[EVENTS_MAX];
    if (!crowd->loop)
        return; /* crowd_open has said so */
    begin(crowd);
    while (crowd->running > 0) {
        unsigned count = crowd->sleeper_count > 0 ? next_timed(crowd, events)
                                                  : loop_wait(crowd->loop, events, EVENTS_MAX);
        for (unsigned i = 0; i < count; i++) {
            uint32_t index = events[i].index;
            if (events[i].kind != LOOP_FD)
                continue;
            if (crowd->states[index] <= CLIENT_WANT_WRITE)
                advance(crowd, index);
            else
                be_deaf(crowd, index);
        }
        if (crowd->sleeper_count > 0)
            wake(crowd);
    }
    loop_timer(crowd->loop, UINT64_MAX);
}

uint64_t crowd_spin_ns(const struct crowd *crowd)
{
    return crowd->spin_ns;
}

struct crowd *crowd_open(struct arena *arena, struct client *clients, uint32_t count)
{
    struct crowd *crowd = arena_new(arena, struct crowd);
    struct err err;
    crowd->clients = clients;
    crowd->count = count;
    crowd->states = arena_array(arena, enum client_state, count);
    crowd->deaf = arena_array(arena, bool, count);
    crowd->writing = arena_array(arena, bool, count);
    crowd->sleepers = arena_array(arena, struct sleeper, count);
    if (!loop_create(arena, &crowd->loop, &err)) {
        crowd->loop = NULL;
        fail_client(&clients[0], &err);
    }
    return crowd;
}

void crowd_close(struct crowd *crowd)
{
    loop_destroy(&crowd->loop);
}
