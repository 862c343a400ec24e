#ifndef OS_SIG_H
#define OS_SIG_H

/*
 * Signals that end a run. The handler only sets a number; whoever loops asks for it. This is
 * the one module with file-scope variables that are not constant.
 */

#include <stdint.h>

/* Catches SIGINT, SIGTERM and SIGHUP, ignores SIGPIPE. A second signal of these ends the
 * process at once (the reaper cleans up behind it), except within SIG_ECHO_NS of the first:
 * timeout(1) sends TERM to the process and then to its group, a terminal and a supervisor may
 * both have one, and each is meant once. */
#define SIG_ECHO_NS UINT64_C(1000000000)
void sig_install(void);

/* What the handler does with a signal that came at now_ns. */
void sig_note(int signal_number, uint64_t now_ns);

/* The signal that asked for the end, or 0. */
int sig_pending(void);

/* For tests and for the run's own watchdog. */
void sig_request(int signal_number);

/* Puts all of the above back to their defaults: for a child before it executes a program. */
void sig_default(void);

#endif
