/* What it costs to wake somebody and be answered. */

#include "os/now.h"
#include "probe/probe_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

/* One whole message; false at the end or on an error. */
static bool receive(int fd, char message[PROBE_MESSAGE])
{
    ssize_t got;
    do
        got = recv(fd, message, PROBE_MESSAGE, MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    return got == PROBE_MESSAGE;
}

static bool deliver(int fd, const char message[PROBE_MESSAGE])
{
    return send(fd, message, PROBE_MESSAGE, MSG_NOSIGNAL) == PROBE_MESSAGE;
}

static void *echo(void *context)
{
    char message[PROBE_MESSAGE];
    const int *fd = context;
    while (receive(*fd, message) && deliver(*fd, message))
        ;
    return NULL;
}

/* `ours` and `theirs` are the ends of one connection. */
static void time_round_trips(struct probe *probe, int ours, int theirs)
{
    char message[PROBE_MESSAGE] = {0};
    pthread_t thread;
    int sys = pthread_create(&thread, NULL, echo, &theirs);
    if (sys != 0) {
        errno = sys;
        probe_failed(probe, "starting a thread");
        return;
    }
    uint64_t from_ns = os_now_ns();
    while (probe_more(probe, from_ns)) {
        if (!deliver(ours, message) || !receive(ours, message)) {
            probe_failed(probe, "sending a message there and back");
            break;
        }
        uint64_t now_ns = os_now_ns();
        probe_add(probe, now_ns - from_ns);
        from_ns = now_ns;
    }
    (void)shutdown(ours, SHUT_RDWR);
    (void)pthread_join(thread, NULL);
}

void probe_unix_round_trip(struct probe *probe)
{
    int ends[2];
    probe->what = "64 bytes to a blocking thread and back over a unix socket";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        probe_failed(probe, "making a pair of sockets");
        return;
    }
    time_round_trips(probe, ends[0], ends[1]);
    close(ends[0]);
    close(ends[1]);
}

static int listen_on_loopback(struct sockaddr_in *at)
{
    socklen_t bytes = sizeof(*at);
    *at =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (const struct sockaddr *)at, bytes) == 0 && listen(fd, 1) == 0 &&
        getsockname(fd, (struct sockaddr *)at, &bytes) == 0)
        return fd;
    int sys = errno;
    close(fd);
    errno = sys;
    return -1;
}

void probe_tcp_round_trip(struct probe *probe)
{
    struct sockaddr_in at;
    int one = 1;
    probe->what = "64 bytes to a blocking thread and back over TCP on 127.0.0.1, no delay";
    int listener = listen_on_loopback(&at);
    int ours = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int theirs = -1;
    if (listener >= 0 && ours >= 0 &&
        connect(ours, (const struct sockaddr *)&at, sizeof(at)) == 0)
        theirs = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (theirs >= 0) {
        (void)setsockopt(ours, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        (void)setsockopt(theirs, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        time_round_trips(probe, ours, theirs);
        close(theirs);
    } else {
        probe_failed(probe, "connecting over 127.0.0.1");
    }
    if (ours >= 0)
        close(ours);
    if (listener >= 0)
        close(listener);
}

/* Written before and after: `ended` by the waker before its last post, read by the sleeper
 * after it; the semaphores order the two. */
struct pair {
    sem_t there, back;
    bool ended;
};

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR)
        ;
}

static void *answer(void *context)
{
    struct pair *pair = context;
    for (;;) {
        wait_for(&pair->there);
        if (pair->ended)
            return NULL;
        (void)sem_post(&pair->back);
    }
}

void probe_thread_wake(struct probe *probe)
{
    struct pair pair = {.ended = false};
    pthread_t thread;
    probe->what = "half of the time to wake a sleeping thread and be woken by it (futex)";
    (void)sem_init(&pair.there, 0, 0);
    (void)sem_init(&pair.back, 0, 0);
    int sys = pthread_create(&thread, NULL, answer, &pair);
    if (sys == 0) {
        uint64_t from_ns = os_now_ns();
        while (probe_more(probe, from_ns)) {
            (void)sem_post(&pair.there);
            wait_for(&pair.back);
            uint64_t now_ns = os_now_ns();
            probe_add(probe, (now_ns - from_ns) / 2);
            from_ns = now_ns;
        }
        pair.ended = true;
        (void)sem_post(&pair.there);
        (void)pthread_join(thread, NULL);
    } else {
        errno = sys;
        probe_failed(probe, "starting a thread");
    }
    (void)sem_destroy(&pair.there);
    (void)sem_destroy(&pair.back);
}
