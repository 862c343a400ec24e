#ifndef OS_SIG_H
#define OS_SIG_H

/*
 * Signals that end a run. The handler only sets a number; whoever loops asks for it. This is
 * the one module with file-scope variables that are not constant.
 */

/* Catches SIGINT, SIGTERM and SIGHUP, ignores SIGPIPE. A second signal of these ends the
 * process at once (the reaper cleans up behind it). */
void sig_install(void);

/* The signal that asked for the end, or 0. */
int sig_pending(void);

/* For tests and for the run's own watchdog. */
void sig_request(int signal_number);

/* Puts all of the above back to their defaults: for a child before it executes a program. */
void sig_default(void);

#endif
