#include "os/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Deeper trees are not ours; each level holds one descriptor. */
enum { DEEPEST = 64 };

/* `path` is the tree that the caller named, for messages. */
struct walk {
    const char *path;
    dev_t device;
    struct err *err;
};

static bool remove_entry(struct walk *walk, int folder, const char *name, int depth);

static bool is_self_or_parent(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool empty_folder(struct walk *walk, int folder, int depth)
{
    struct dirent **entries = NULL;
    int count = scandirat(folder, ".", &entries, NULL, NULL);
    if (count < 0)
        return err_errno(walk->err, "reading a folder of %s", walk->path);
    bool fine = true;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (fine && !is_self_or_parent(name))
            fine = remove_entry(walk, folder, name, depth);
        free(entries[i]);
    }
    free(entries);
    return fine;
}

static bool remove_folder(struct walk *walk, int folder, const char *name, int depth)
{
    struct stat info;
    if (depth > DEEPEST)
        return err_set(walk->err, ERR_SYSTEM, "%s: deeper than %d folders", walk->path,
                       DEEPEST);
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || err_errno(walk->err, "opening %s of %s", name, walk->path);
    if (fstat(fd, &info) != 0 || info.st_dev != walk->device) {
        close(fd);
        return err_set(walk->err, ERR_SYSTEM, "%s of %s is another file system and stays", name,
                       walk->path);
    }
    bool empty = empty_folder(walk, fd, depth + 1);
    close(fd);
    if (!empty)
        return false;
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return true;
    return err_errno(walk->err, "removing %s of %s", name, walk->path);
}

static bool remove_entry(struct walk *walk, int folder, const char *name, int depth)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || err_errno(walk->err, "looking at %s of %s", name, walk->path);
    if (S_ISDIR(info.st_mode))
        return remove_folder(walk, folder, name, depth);
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return true;
    return err_errno(walk->err, "removing %s of %s", name, walk->path);
}

bool fs_remove_tree(const char *path, struct err *err)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return errno == ENOENT || err_errno(err, "removing %s", path);
    struct walk walk = {path, info.st_dev, err};
    return remove_entry(&walk, AT_FDCWD, path, 0);
}
