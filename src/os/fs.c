#include "os/fs.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ = 4096, PROBE_BYTES = 64 << 10, TEMP_TRIES = 16 };

/* A read that a signal cut short is taken up again. */
static ssize_t read_some(int fd, char *buffer, size_t room)
{
    ssize_t got;
    do
        got = read(fd, buffer, room);
    while (got < 0 && errno == EINTR);
    return got;
}

static bool write_all(int fd, const char *content, size_t bytes)
{
    while (bytes > 0) {
        ssize_t put = write(fd, content, bytes);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0) {
            content += put;
            bytes -= (size_t)put;
        }
    }
    return true;
}

/* close() that leaves errno as the failed call before it set it. */
static void close_quietly(int fd)
{
    int sys = errno;
    close(fd);
    errno = sys;
}

/* One byte of room more than the limit tells a file that fits from one that does not. */
static bool read_open_file(struct arena *arena, int fd, size_t limit, struct slice *content,
                           bool *too_long)
{
    struct stat info;
    size_t room = FIRST_READ, bytes = 0;
    if (fstat(fd, &info) == 0 && info.st_size > 0)
        room = (size_t)info.st_size < limit ? (size_t)info.st_size + 2 : limit + 2;
    char *buffer = arena_array(arena, char, room);
    for (;;) {
        buffer = arena_grow(arena, buffer, bytes, &room, bytes + 2, sizeof(char));
        ssize_t got = read_some(fd, buffer + bytes, room - bytes - 1);
        if (got < 0)
            return false;
        bytes += (size_t)got;
        *too_long = bytes > limit;
        if (got == 0 || *too_long)
            break;
    }
    buffer[bytes] = '\0';
    *content = (struct slice){buffer, bytes};
    return true;
}

bool fs_read(struct arena *arena, const char *path, size_t limit, const char **content,
             size_t *bytes, struct err *err)
{
    assert(limit <= SIZE_MAX - 2);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, "opening %s", path);
    struct slice read = {NULL, 0};
    bool too_long = false;
    bool fine = read_open_file(arena, fd, limit, &read, &too_long);
    close_quietly(fd);
    if (!fine)
        return err_errno(err, "reading %s", path);
    if (too_long)
        return err_set(err, ERR_SYSTEM, "reading %s: longer than the limit of %zu bytes", path,
                       limit);
    *content = read.at;
    *bytes = read.bytes;
    return true;
}

static uint64_t random_u64(void)
{
    uint64_t number = 0;
    ssize_t got = getrandom(&number, sizeof(number), 0);
    assert(got == (ssize_t)sizeof(number));
    return number;
}

/* The folder that holds `path`: "." without a slash, "/" for "/x". */
static void folder_of(const char *path, char *folder, size_t room)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        text_print(folder, room, ".");
    else if (slash == path)
        text_print(folder, room, "/");
    else
        text_print(folder, room, "%.*s", (int)(slash - path), path);
}

/* False when it is too long. */
static bool temp_name(const char *path, char *temp, size_t room)
{
    return text_print(temp, room, "%s.tmp-%016llx", path, (unsigned long long)random_u64()) <
           room - 1;
}

static bool open_temp(const char *path, char *temp, size_t room, int *fd, struct err *err)
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        if (!temp_name(path, temp, room))
            return err_set(err, ERR_SYSTEM, "writing %s: the path is too long", path);
        *fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (*fd >= 0)
            return true;
        if (errno != EEXIST)
            return err_errno(err, "creating a file beside %s", path);
    }
    return err_errno(err, "creating a file beside %s", path);
}

static bool write_directly(const char *path, const char *content, size_t bytes, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_errno(err, "opening %s", path);
    bool fine = write_all(fd, content, bytes);
    close_quietly(fd);
    return fine || err_errno(err, "writing %s", path);
}

/* The file's new name is safe only when its folder is; file systems that cannot sync a folder
 * say so and are believed. */
static bool sync_folder_of(const char *path, struct err *err)
{
    char folder[PATH_MAX];
    folder_of(path, folder, sizeof(folder));
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES || err_errno(err, "opening the folder of %s", path);
    bool fine = fsync(fd) == 0 || errno == EINVAL || errno == EROFS;
    close_quietly(fd);
    return fine || err_errno(err, "syncing the folder of %s", path);
}

static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* Where a symbolic link leads to, so that the link stays one; the path itself when it is new.
 */
static const char *resolve(const char *path, char *buffer)
{
    return realpath(path, buffer) ? buffer : path;
}

/* A file without a name in the folder of `path`: nothing is left of it however we end. -1 where
 * the file system has no such files. */
static int open_unnamed(const char *path)
{
    char folder[PATH_MAX];
    folder_of(path, folder, sizeof(folder));
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
}

/* Gives it a name for the moment until it is renamed. */
static bool name_it(int fd, const char *path, char *temp, size_t room)
{
    char link[64];
    text_print(link, sizeof(link), "/proc/self/fd/%d", fd);
    return temp_name(path, temp, room) &&
           linkat(AT_FDCWD, link, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) == 0;
}

static bool write_unnamed(const char *path, const char *content, size_t bytes)
{
    char temp[PATH_MAX];
    int fd = open_unnamed(path);
    if (fd < 0)
        return false;
    bool named = write_all(fd, content, bytes) && fsync(fd) == 0 &&
                 name_it(fd, path, temp, sizeof(temp));
    close_quietly(fd);
    if (named && rename(temp, path) == 0)
        return true;
    if (named)
        unlink(temp);
    return false;
}

bool fs_write_atomic(const char *path, const char *content, size_t bytes, struct err *err)
{
    char temp[PATH_MAX], target[PATH_MAX];
    int fd;
    if (is_special(path))
        return write_directly(path, content, bytes, err);
    const char *final = resolve(path, target);
    if (write_unnamed(final, content, bytes))
        return sync_folder_of(final, err);
    if (!open_temp(final, temp, sizeof(temp), &fd, err))
        return false;
    bool written = write_all(fd, content, bytes) && fsync(fd) == 0;
    close_quietly(fd);
    if (written && rename(temp, final) == 0)
        return sync_folder_of(final, err);
    err_errno(err, "writing %s", path);
    unlink(temp);
    return false;
}

bool fs_check_writable(const char *path, struct err *err)
{
    static const char zeros[PROBE_BYTES];
    char temp[PATH_MAX], target[PATH_MAX];
    struct stat info;
    if (is_special(path))
        return access(path, W_OK) == 0 || err_errno(err, "%s cannot be written", path);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return err_set(err, ERR_SYSTEM, "%s is a folder, expected a file", path);
    const char *final = resolve(path, target);
    int fd = open_unnamed(final);
    if (fd < 0) {
        if (!open_temp(final, temp, sizeof(temp), &fd, err))
            return false;
        unlink(temp);
    }
    bool fine = write_all(fd, zeros, sizeof(zeros)) && fsync(fd) == 0;
    if (!fine)
        err_errno(err, "writing %zu bytes beside %s", sizeof(zeros), path);
    close(fd);
    return fine;
}

const char *fs_absolute(struct arena *arena, const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    folder_of(path, folder, sizeof(folder));
    if (!realpath(folder, real))
        return arena_text(arena, path);
    return arena_printf(arena, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
                        slash ? slash + 1 : path);
}

const char *fs_temp_root(void)
{
    const char *root = secure_getenv("TMPDIR");
    return root && root[0] == '/' ? root : "/tmp";
}

/* On failure the name may be somebody else's. */
static bool make_announced(const char *name, fs_name_fn announce, fs_name_fn withdraw)
{
    if (announce)
        announce(name);
    if (mkdir(name, 0711) == 0)
        return true;
    int sys = errno;
    if (withdraw)
        withdraw(name);
    errno = sys;
    return false;
}

bool fs_make_temp(struct arena *arena, const char *prefix, fs_name_fn announce,
                  fs_name_fn withdraw, const char **path, struct err *err)
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        const char *name = arena_printf(arena, "%s/%s-%d-%08x", fs_temp_root(), prefix,
                                        (int)getpid(), (unsigned)random_u64());
        if (make_announced(name, announce, withdraw)) {
            /* mkdir's mode is cut by the umask; others must be able to pass through. */
            if (chmod(name, 0711) != 0)
                return err_errno(err, "setting the mode of %s", name);
            *path = name;
            return true;
        }
        if (errno != EEXIST)
            break;
    }
    (void)err_errno(err, "creating a folder in %s", fs_temp_root());
    size_t bytes = strlen(err->text);
    text_print(err->text + bytes, sizeof(err->text) - bytes,
               "; set TMPDIR to a folder that can be written");
    return false;
}

bool fs_is_executable(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}
