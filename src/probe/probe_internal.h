#ifndef PROBE_PROBE_INTERNAL_H
#define PROBE_PROBE_INTERNAL_H

/* Between probe.c, which hands out time and sums up, and the files that measure one kind each.
 */

#include "probe/probe.h"

#include <stddef.h>

enum {
    PROBE_PAGE = 8 << 10,    /* what PostgreSQL writes and syncs for one small commit */
    PROBE_PIECE = 1 << 20,   /* of sequential reading and writing */
    PROBE_MESSAGE = 64,      /* about a point query and its answer */
    PROBE_COPY = 64 << 20,   /* larger than most last-level caches */
    PROBE_VALUES = 1 << 16,  /* samples of one floor at most */
    PROBE_LEAST = 3,         /* samples that are taken whatever the budget */
    PROBE_BATCH = 64,        /* clock readings that are timed together */
    PROBE_READINGS = 100000, /* of the clock */
};

/* One floor being measured. */
struct probe {
    struct arena *arena;
    const char *file;    /* scratch file; made by the first that writes, removed at the end */
    uint64_t file_bytes; /* of data that disk_write_seq left in it */
    unsigned char *page; /* PROBE_PIECE bytes, aligned for direct access, not compressible */
    uint64_t *values;    /* PROBE_VALUES */
    uint64_t count, until_ns;
    const char *what;        /* set by the measuring function */
    const char *unavailable; /* likewise, when it could not */
};

/* Is there time and room for one more sample? */
bool probe_more(const struct probe *probe, uint64_t now_ns);
void probe_add(struct probe *probe, uint64_t value);

/* "opening /x: No space left on device" into .unavailable, from errno. */
void probe_failed(struct probe *probe, const char *doing);

void probe_fsync_append(struct probe *probe);
void probe_fsync_overwrite(struct probe *probe);
void probe_disk_write_seq(struct probe *probe);
void probe_disk_read_seq(struct probe *probe);
void probe_disk_read_random(struct probe *probe);

void probe_tcp_round_trip(struct probe *probe);
void probe_unix_round_trip(struct probe *probe);
void probe_thread_wake(struct probe *probe);

void probe_memcpy(struct probe *probe);
void probe_clock_read(struct probe *probe);
void probe_clock_step(struct probe *probe);

#endif
