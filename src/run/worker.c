#include "base/num.h"
#include "base/text.h"
#include "os/fs.h"
#include "os/now.h"
#include "run/run_internal.h"

#include <assert.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool spin_enter(struct client_plan *plan)
{
    if (atomic_fetch_add(&plan->spinning, 1) < plan->spinning_most)
        return true;
    atomic_fetch_sub(&plan->spinning, 1);
    return false;
}

/* Looks at the clock until it is time. Where as many do that already as there may be, it sleeps
 * and wakes when the kernel gets to it. */
static void spin(struct client *client)
{
    uint64_t now_ns = os_now_ns(), next_ns;
    if (!spin_enter(client->plan)) {
        os_sleep_until_ns(client->wake_ns);
        return;
    }
    for (; now_ns < client->wake_ns; now_ns = next_ns) {
        next_ns = os_now_ns();
        client->spin_ns += worker_spun_ns(now_ns, next_ns);
    }
    atomic_fetch_sub(&client->plan->spinning, 1);
}

/* Until the sleep is over or the run stops; in slices, to see the stop. */
static void sleep_client(struct client *client)
{
    uint64_t now_ns, wake_ns = client->wake_ns - (client->spins ? WORKER_SPIN_NS : 0);
    while ((now_ns = os_now_ns()) < wake_ns && !plan_stopped(client->plan)) {
        uint64_t slice_ns = now_ns + WORKER_SLICE_NS;
        os_sleep_until_ns(slice_ns < wake_ns ? slice_ns : wake_ns);
    }
    if (client->spins && !plan_stopped(client->plan))
        spin(client);
}

/* Until the connection is ready. What cancels or cuts it makes it ready, too, so there is no
 * time limit. Not poll(): see loop.c. */
static void wait_connection(const struct client *client, enum client_state state)
{
    short events = state == CLIENT_WANT_WRITE ? POLLIN | POLLOUT : POLLIN;
    struct pollfd wait = {.fd = client->fd, .events = events};
    const struct timespec *forever = NULL;
    const sigset_t *same = NULL;
    (void)syscall(SYS_ppoll, &wait, 1, forever, same, 0);
}

HOT void worker_run_alone(struct client *client)
{
    for (;;) {
        enum client_state state = client_run(client);
        if (state == CLIENT_FINISHED)
            return;
        if (state == CLIENT_SLEEPS)
            sleep_client(client);
        else
            wait_connection(client, state);
    }
}

static void get_ready(struct worker *worker)
{
    if (worker->crowd)
        crowd_ready(worker->crowd);
}

static void run_part(struct worker *worker)
{
    if (worker->crowd)
        crowd_run(worker->crowd);
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

/* The processor's time lies within the wall's, so a share is never above one. */
static void measure(struct worker *worker)
{
    uint64_t wait_ns = run_wait_ns(worker);
    uint64_t allocated = arena_calls();
    for (uint32_t i = 0; i < worker->client_count; i++)
        client_begin(&worker->clients[i], worker->executions, true);
    get_ready(worker);
    worker->start_ns = os_now_ns();
    uint64_t cpu_ns = os_thread_cpu_ns();
    if (!plan_stopped(worker->plan))
        run_part(worker);
    worker->cpu_ns = os_thread_cpu_ns() - cpu_ns;
    worker->end_ns = os_now_ns();
    assert(arena_calls() == allocated); /* nothing is allocated in the measured part */
    worker->run_wait_ns = run_wait_ns(worker) - wait_ns;
    worker->spin_ns = worker->crowd ? crowd_spin_ns(worker->crowd) : worker->clients[0].spin_ns;
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
    get_ready(worker);
    run_part(worker);
}

/* Timers of this thread end on time instead of up to 50 us later, as the kernel's default is.
 */
static void take_place(const struct worker *worker)
{
    cpu_set_t set;
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    if (!worker->pinned)
        return;
    CPU_ZERO(&set);
    CPU_SET(worker->cpu, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

void *worker_main(void *context)
{
    struct worker *worker = context;
    take_place(worker);
    if (worker->client_count > 1)
        worker->crowd = crowd_open(worker->arena, worker->clients, worker->client_count);
    if (worker->warmup > 0 && !plan_stopped(worker->plan)) {
        for (uint32_t i = 0; i < worker->client_count; i++)
            client_begin(&worker->clients[i], worker->warmup, false);
        get_ready(worker);
        run_part(worker);
    }
    gate_pass(worker->gate, 1); /* warmed up; main reads the counters before it opens */
    measure(worker);
    gate_pass(worker->gate, 2); /* done; main reads the counters again before we go */
    checksum(worker);
    gate_pass(worker->gate, 3);
    if (worker->crowd)
        crowd_close(worker->crowd);
    return NULL;
}
