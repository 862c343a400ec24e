#ifndef OS_FS_H
#define OS_FS_H

/* Files and folders. */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a whole file of at most `limit` bytes into the arena (NUL-terminated; *bytes without
 * it). A longer file is an error that says the limit. Works on /proc files, whose size reads 0.
 */
MUST_CHECK bool fs_read(struct arena *arena, const char *path, size_t limit,
                        const char **content, size_t *bytes, struct err *err);

/* Writes a file so that a reader sees the old content or the new one, never a part: temporary
 * file in the same folder, fsync, rename, fsync of the folder. Mode 0644 under the umask. A
 * path that exists and is not a regular file (/dev/stdout, a pipe) is written directly. On
 * failure nothing is left behind and the old file is untouched. */
MUST_CHECK bool fs_write_atomic(const char *path, const char *content, size_t bytes,
                                struct err *err);

/* Can `path` be written by fs_write_atomic? Tries its folder with a real temporary file, so
 * that a run finds out before it has measured for minutes. */
MUST_CHECK bool fs_check_writable(const char *path, struct err *err);

/* Removes a folder and all below it; does not follow symbolic links, does not cross into
 * another file system; a missing folder is fine. */
MUST_CHECK bool fs_remove_tree(const char *path, struct err *err);

/* The path from the root on. Symbolic links on the way are followed, the last name is left as
 * it is; a path whose folder is missing comes back unchanged. */
const char *fs_absolute(struct arena *arena, const char *path);

/* The folder for private clusters and scratch files: $TMPDIR or /tmp. */
const char *fs_temp_root(void);

/* Makes `<root>/<prefix>-<pid>-<random>`, mode 0711, and returns its path in the arena. The
 * name is chosen first and handed to `announce` (may be NULL) before the folder exists, so that
 * a reaper can know it in time. A name that could not be made, which may be somebody else's
 * folder, is handed to `withdraw` (may be NULL) before another one is tried. */
typedef void (*fs_name_fn)(const char *path);
MUST_CHECK bool fs_make_temp(struct arena *arena, const char *prefix, fs_name_fn announce,
                             fs_name_fn withdraw, const char **path, struct err *err);

bool fs_is_executable(const char *path);

#endif
