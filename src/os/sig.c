#include "os/sig.h"

#include "base/defs.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* Written by the handler or by sig_request, read by sig_pending on any thread. Only the number
 * itself is passed on, so the order of other memory does not matter. */
static atomic_int pending;

/* Set by the first signal, read by the second; both in the handler. */
static atomic_bool caught;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static void note_signal(int number)
{
    if (atomic_exchange(&caught, true))
        _exit(128 + number);
    sig_request(number);
}

void sig_install(void)
{
    /* Without SA_RESTART: a call that waits returns and its loop sees the request. */
    struct sigaction action = {.sa_handler = note_signal};
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
