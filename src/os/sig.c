#include "os/sig.h"

#include "base/defs.h"
#include "os/now.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

/* Written by the handler or by sig_request, read by sig_pending on any thread. Only the number
 * itself is passed on, so the order of other memory does not matter. */
static atomic_int pending;

/* When the first signal came; 0: none did. The handler alone uses it, on any thread. */
static atomic_ullong caught_ns;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

void sig_note(int signal_number, uint64_t now_ns)
{
    unsigned long long first_ns = 0;
    if (atomic_compare_exchange_strong(&caught_ns, &first_ns, now_ns))
        sig_request(signal_number);
    else if (now_ns >= first_ns + SIG_ECHO_NS) /* the handlers may overtake each other */
        _exit(128 + signal_number);
}

/* Reading the clock is allowed in a handler (signal-safety(7)). */
static void catch_signal(int number)
{
    sig_note(number, os_now_ns());
}

void sig_install(void)
{
    /* Without SA_RESTART: a call that waits returns and its loop sees the request. */
    struct sigaction action = {.sa_handler = catch_signal};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_COUNT(ending); i++)
        sigaction(ending[i], &action, NULL);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
}

int sig_pending(void)
{
    return atomic_load(&pending);
}

void sig_request(int signal_number)
{
    int none = 0;
    atomic_compare_exchange_strong(&pending, &none, signal_number);
}

void sig_default(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (size_t i = 0; i < ARRAY_COUNT(ending); i++)
        sigaction(ending[i], &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}
