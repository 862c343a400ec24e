#ifndef SERVER_FAMILY_H
#define SERVER_FAMILY_H

/*
 * The processes of a server, to be ended: the first one, those whose parent chain leads to it
 * (PostgreSQL's have sessions of their own) and those of its process group. They are held by
 * pidfds that were opened while they were seen to belong to it, so that a reused pid is never
 * hit, and are still known when the first one has ended and its children have another parent.
 */

#include "base/arena.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct family {
    struct arena *arena;
    struct pollfd *handles; /* -1: has ended */
    pid_t *pids;
    size_t count, handle_room, pid_room;
    const char **shared; /* files that they had mapped and that outlive a killed one */
    size_t shared_count, shared_room;
};

/* Adds `root` and its family as they are now; `root_fd` is a pidfd of it, which stays the
 * caller's. May be repeated, to learn what has come since. */
void family_take(struct family *family, pid_t root, int root_fd);

/* To all that live. A process that is not asked kindly leaves its POSIX shared memory (as
 * PostgreSQL's in /dev/shm) behind, outside any folder of ours: what of it they have mapped is
 * noted first. */
void family_signal(struct family *family, int number);

/* True when all have ended within the time. */
bool family_wait(struct family *family, uint64_t timeout_ns);

/* Removes what was noted, when all have ended. */
void family_close(struct family *family);

#endif
