#include "os/now.h"
#include "probe/probe_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    AREA_BYTES = 1 << 20, /* written before, then overwritten page by page */
    CHUNK_PIECES = 4,     /* between two flushes of sequential writing */
    FILE_MOST_BYTES = 256 << 20
};

/* A read or write that is not whole counts as failed: the file is ours and has room. */
static bool write_page(struct probe *probe, int fd, size_t bytes, uint64_t at)
{
    ssize_t put = pwrite(fd, probe->page, bytes, (off_t)at);
    if (put >= 0 && (size_t)put != bytes)
        errno = ENOSPC;
    return put == (ssize_t)bytes;
}

static int open_scratch(struct probe *probe)
{
    (void)unlink(probe->file);
    probe->file_bytes = 0;
    int fd = open(probe->file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        probe_failed(probe, "creating a scratch file");
    return fd;
}

/* Times write and fdatasync of one page at a place that moves on by `step` and wraps at `wrap`.
 */
static void time_syncs(struct probe *probe, int fd, uint64_t wrap)
{
    uint64_t at = 0, from_ns = os_now_ns();
    while (probe_more(probe, from_ns)) {
        if (!write_page(probe, fd, PROBE_PAGE, at) || fdatasync(fd) != 0) {
            probe_failed(probe, "writing and syncing the scratch file");
            return;
        }
        uint64_t now_ns = os_now_ns();
        probe_add(probe, now_ns - from_ns);
        from_ns = now_ns;
        at = (at + PROBE_PAGE) % wrap;
    }
}

void probe_fsync_append(struct probe *probe)
{
    probe->what = "8 KiB written to the end of a file, then fdatasync; a disk with a cache of "
                  "its own may answer from it";
    int fd = open_scratch(probe);
    if (fd < 0)
        return;
    time_syncs(probe, fd, UINT64_MAX);
    close(fd);
}

void probe_fsync_overwrite(struct probe *probe)
{
    probe->what =
        "8 KiB written over older data of a 1 MiB file, then fdatasync; a disk with a "
        "cache of its own may answer from it";
    int fd = open_scratch(probe);
    if (fd < 0)
        return;
    if (write_page(probe, fd, AREA_BYTES, 0) && fsync(fd) == 0)
        time_syncs(probe, fd, AREA_BYTES);
    else
        probe_failed(probe, "filling the scratch file");
    close(fd);
}

static uint64_t rate(uint64_t bytes, uint64_t duration_ns)
{
    return (uint64_t)((double)bytes * 1e9 / (double)(duration_ns ? duration_ns : 1));
}

void probe_disk_write_seq(struct probe *probe)
{
    probe->what = "4 MiB written in pieces of 1 MiB through the page cache, then fdatasync";
    int fd = open_scratch(probe);
    uint64_t from_ns = os_now_ns();
    while (fd >= 0 && probe_more(probe, from_ns) && probe->file_bytes < FILE_MOST_BYTES) {
        bool fine = true;
        for (int i = 0; i < CHUNK_PIECES && fine; i++) {
            fine = write_page(probe, fd, PROBE_PIECE, probe->file_bytes);
            probe->file_bytes += PROBE_PIECE;
        }
        if (!fine || fdatasync(fd) != 0) {
            probe_failed(probe, "writing the scratch file");
            probe->file_bytes = 0;
            break;
        }
        uint64_t now_ns = os_now_ns();
        probe_add(probe, rate((uint64_t)CHUNK_PIECES * PROBE_PIECE, now_ns - from_ns));
        from_ns = now_ns;
    }
    if (fd >= 0)
        close(fd);
}

/* Opens what disk_write_seq left, past the page cache where the file system allows it. */
static int open_for_reading(struct probe *probe, bool *direct)
{
    *direct = false;
    if (probe->file_bytes == 0) {
        probe->unavailable = "nothing to read: the file could not be written";
        return -1;
    }
    int fd = open(probe->file, O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (fd >= 0 && pread(fd, probe->page, PROBE_PAGE, 0) == PROBE_PAGE) {
        *direct = true;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    fd = open(probe->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        probe_failed(probe, "opening the scratch file");
    else
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return fd;
}

void probe_disk_read_seq(struct probe *probe)
{
    bool direct;
    uint64_t at = 0;
    int fd = open_for_reading(probe, &direct);
    probe->what = direct ? "1 MiB, O_DIRECT, of a file just written: past the page cache, but "
                           "the disk's or the host's cache may answer"
                         : "1 MiB of a file just written, no O_DIRECT here: the page cache may "
                           "answer";
    if (fd < 0)
        return;
    uint64_t from_ns = os_now_ns();
    while (probe_more(probe, from_ns)) {
        if (pread(fd, probe->page, PROBE_PIECE, (off_t)at) != PROBE_PIECE) {
            probe_failed(probe, "reading the scratch file");
            break;
        }
        uint64_t now_ns = os_now_ns();
        probe_add(probe, rate(PROBE_PIECE, now_ns - from_ns));
        from_ns = now_ns;
        at = (at + PROBE_PIECE) % probe->file_bytes;
    }
    close(fd);
}

void probe_disk_read_random(struct probe *probe)
{
    bool direct;
    uint64_t state = 1, pages = probe->file_bytes / PROBE_PAGE;
    int fd = open_for_reading(probe, &direct);
    probe->what = direct
                      ? "8 KiB at a random place, O_DIRECT, of a file just written: past the "
                        "page cache, but the disk's or the host's cache may answer"
                      : "8 KiB at a random place of a file just written, no O_DIRECT here: "
                        "the page cache may answer";
    if (fd < 0)
        return;
    uint64_t from_ns = os_now_ns();
    while (probe_more(probe, from_ns)) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t at = (state >> 33) % pages * PROBE_PAGE;
        if (pread(fd, probe->page, PROBE_PAGE, (off_t)at) != PROBE_PAGE) {
            probe_failed(probe, "reading the scratch file");
            break;
        }
        uint64_t now_ns = os_now_ns();
        probe_add(probe, now_ns - from_ns);
        from_ns = now_ns;
    }
    close(fd);
}
