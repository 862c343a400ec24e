#ifndef SERVER_REAPER_H
#define SERVER_REAPER_H

/*
 * The reaper: a process forked before the first thread. It holds the read end of a pipe whose
 * only write end is ours; when we end in any way (return, signal, crash, kill -9) it reads end
 * of file and cleans up what is still registered: processes INT and TERM (with their group when
 * they lead one), after 5 s QUIT and after 2 s more KILL to all of their families
 * (server/family.h), then clean-ups of schemas, each in a child with a limit of 10 s, then
 * folders. So it always ends. It ignores terminal signals and lives in its own process group.
 */

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Undoes something outside: called in the reaper with the text that was registered. */
typedef void (*reaper_cleanup_fn)(const char *text);

/* Must be called before any thread exists, once. Raises the limit of open descriptors
 * (proc_allow_descriptors), here and in the reaper. */
MUST_CHECK bool reaper_start(reaper_cleanup_fn cleanup, struct err *err);

/* Registration may come from one thread at a time; each is one small write, so it cannot be
 * lost by a crash after the call. Without a running reaper (tests) they do nothing. */
void reaper_add_folder(const char *path);
void reaper_drop_folder(const char *path);
void reaper_add_process(pid_t pid);
void reaper_drop_process(pid_t pid);
/* False: longer than 16 KiB. May hold secrets, stays in memory. */
MUST_CHECK bool reaper_add_cleanup(const char *text);
void reaper_drop_cleanup(const char *text);

/* Normal end: tells the reaper that everything is gone and waits for it. */
void reaper_finish(void);

#endif
