#include "os/fs.h"
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    struct arena *arena;
    const char *folder;
};

static char announced[4096];

static void note(const char *path)
{
    struct stat info;
    assert_int_not_equal(stat(path, &info), 0); /* told before it exists */
    snprintf(announced, sizeof(announced), "%s", path);
}

static int make_place(void **state)
{
    static struct place place;
    struct err err;
    place.arena = arena_create(4096);
    if (!fs_make_temp(place.arena, "dbdyno-test", note, NULL, &place.folder, &err))
        return -1;
    *state = &place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    struct err err;
    struct stat info;
    bool fine = fs_remove_tree(place->folder, &err) && stat(place->folder, &info) != 0;
    arena_destroy(&place->arena);
    return fine ? 0 : -1;
}

static const char *in(struct place *place, const char *name)
{
    return arena_printf(place->arena, "%s/%s", place->folder, name);
}

static unsigned count_entries(const char *folder)
{
    unsigned count = 0;
    DIR *stream = opendir(folder);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2;
}

static void temp_folder_is_announced_and_passable(void **state)
{
    struct place *place = *state;
    struct stat info;
    assert_string_equal(announced, place->folder);
    assert_non_null(strstr(place->folder, "/dbdyno-test-"));
    assert_int_equal(stat(place->folder, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0711);
}

static unsigned withdrawn_count;

/* Somebody else makes the folder in between, the first time. */
static void note_and_forestall(const char *path)
{
    if (withdrawn_count == 0)
        assert_int_equal(mkdir(path, 0700), 0);
    snprintf(announced, sizeof(announced), "%s", path);
}

static void note_withdrawn(const char *path)
{
    assert_string_equal(path, announced);
    assert_int_equal(rmdir(path), 0);
    errno = 0;
    withdrawn_count++;
}

static void a_name_that_is_taken_is_withdrawn(void **state)
{
    struct place *place = *state;
    struct err err;
    const char *path;
    withdrawn_count = 0;
    assert_true(fs_make_temp(place->arena, "dbdyno-test", note_and_forestall, note_withdrawn,
                             &path, &err));
    assert_int_equal(withdrawn_count, 1);
    assert_string_equal(path, announced);
    assert_int_equal(rmdir(path), 0);
}

static void what_is_written_is_read(void **state)
{
    struct place *place = *state;
    struct err err;
    const char *path = in(place, "file"), *content;
    size_t bytes;
    char *data = arena_array(place->arena, char, 100000);
    for (int i = 0; i < 100000; i++)
        data[i] = (char)(i * 31);
    assert_true(fs_write_atomic(path, "old", 3, &err));
    assert_true(fs_write_atomic(path, data, 100000, &err));
    assert_true(fs_read(place->arena, path, 100000, &content, &bytes, &err));
    assert_int_equal(bytes, 100000);
    assert_memory_equal(content, data, 100000);
    assert_int_equal(content[bytes], '\0');
    assert_int_equal(count_entries(place->folder), 1);
}

static void a_link_stays_a_link(void **state)
{
    struct place *place = *state;
    struct err err;
    struct stat info;
    const char *content;
    size_t bytes;
    assert_true(fs_write_atomic(in(place, "real"), "old", 3, &err));
    assert_int_equal(symlink("real", in(place, "link")), 0);
    assert_true(fs_write_atomic(in(place, "link"), "new", 3, &err));
    assert_int_equal(lstat(in(place, "link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_true(fs_read(place->arena, in(place, "real"), 10, &content, &bytes, &err));
    assert_string_equal(content, "new");
}

static void limit_is_exact(void **state)
{
    struct place *place = *state;
    struct err err;
    const char *content = "untouched";
    size_t bytes = 77;
    assert_true(fs_write_atomic(in(place, "file"), "12345", 5, &err));
    assert_false(fs_read(place->arena, in(place, "file"), 4, &content, &bytes, &err));
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_non_null(strstr(err.text, "limit of 4 bytes"));
    assert_string_equal(content, "untouched");
    assert_int_equal(bytes, 77);
    assert_true(fs_read(place->arena, in(place, "file"), 5, &content, &bytes, &err));
    assert_string_equal(content, "12345");
}

static void proc_files_and_missing_ones(void **state)
{
    struct place *place = *state;
    struct err err;
    const char *content;
    size_t bytes;
    assert_true(fs_read(place->arena, "/proc/self/status", 65536, &content, &bytes, &err));
    assert_non_null(strstr(content, "VmRSS:"));
    assert_false(fs_read(place->arena, in(place, "none"), 10, &content, &bytes, &err));
    assert_int_equal(err.sys, ENOENT);
}

static void devices_are_written_directly(void **state)
{
    struct place *place = *state;
    struct err err;
    struct stat info;
    const char *fifo = in(place, "fifo");
    char buffer[16];
    assert_true(fs_write_atomic("/dev/null", "x", 1, &err));
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int fd = open(fifo, O_RDWR);
    assert_true(fs_write_atomic(fifo, "record", 6, &err));
    assert_int_equal(read(fd, buffer, sizeof(buffer)), 6);
    close(fd);
    assert_true(fs_check_writable("/dev/null", &err));
}

static void unwritable_places_are_found_out(void **state)
{
    struct place *place = *state;
    struct err err;
    assert_true(fs_check_writable(in(place, "file"), &err));
    assert_int_equal(count_entries(place->folder), 0);
    assert_false(fs_check_writable(in(place, "none/file"), &err));
    assert_int_equal(err.sys, ENOENT);
    assert_false(fs_check_writable(place->folder, &err));
    assert_false(fs_write_atomic("/proc/dbdyno", "x", 1, &err));
    assert_int_equal(err.kind, ERR_SYSTEM);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    struct place *place = *state;
    struct err err;
    const char *content;
    size_t bytes;
    assert_int_equal(mkdir(in(place, "folder"), 0700), 0);
    assert_true(fs_write_atomic(in(place, "folder/x"), "x", 1, &err));
    /* A rename onto a folder that is not empty fails after the temporary file was written. */
    assert_false(fs_write_atomic(in(place, "folder"), "new", 3, &err));
    assert_int_equal(count_entries(place->folder), 1);
    assert_true(fs_read(place->arena, in(place, "folder/x"), 10, &content, &bytes, &err));
}

static void trees_go_without_following_links(void **state)
{
    struct place *place = *state;
    struct err err;
    struct stat info;
    assert_true(fs_write_atomic(in(place, "kept"), "x", 1, &err));
    assert_int_equal(mkdir(in(place, "tree"), 0700), 0);
    assert_int_equal(mkdir(in(place, "tree/a"), 0700), 0);
    assert_int_equal(mkdir(in(place, "tree/a/b"), 0700), 0);
    for (int i = 0; i < 200; i++)
        assert_true(
            fs_write_atomic(arena_printf(place->arena, "%s/%d", in(place, "tree/a/b"), i), "x",
                            1, &err));
    assert_int_equal(symlink(in(place, "kept"), in(place, "tree/a/file")), 0);
    assert_int_equal(symlink("..", in(place, "tree/a/up")), 0);
    assert_int_equal(symlink("/nowhere", in(place, "tree/dangling")), 0);
    assert_true(fs_remove_tree(in(place, "tree"), &err));
    assert_int_not_equal(lstat(in(place, "tree"), &info), 0);
    assert_int_equal(stat(in(place, "kept"), &info), 0);
    assert_true(fs_remove_tree(in(place, "tree"), &err));
    /* A link as the root itself goes; what it leads to stays. */
    assert_int_equal(symlink("kept", in(place, "link")), 0);
    assert_true(fs_remove_tree(in(place, "link"), &err));
    assert_int_equal(stat(in(place, "kept"), &info), 0);
}

static void executables_are_files_with_the_bit(void **state)
{
    struct place *place = *state;
    struct err err;
    assert_true(fs_is_executable("/bin/sh"));
    assert_false(fs_is_executable("/bin"));
    assert_true(fs_write_atomic(in(place, "file"), "x", 1, &err));
    assert_false(fs_is_executable(in(place, "file")));
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

static void paths_begin_at_the_root(void **state)
{
    struct place *place = *state;
    char real[PATH_MAX], cwd[PATH_MAX];
    assert_non_null(realpath(place->folder, real));
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    assert_string_equal(fs_absolute(place->arena, in(place, "new.json")),
                        arena_printf(place->arena, "%s/new.json", real));
    assert_int_equal(mkdir(in(place, "sub"), 0700), 0);
    assert_int_equal(symlink("sub", in(place, "link")), 0);
    assert_string_equal(fs_absolute(place->arena, in(place, "link/../link/./x.lua")),
                        arena_printf(place->arena, "%s/sub/x.lua", real));
    assert_string_equal(fs_absolute(place->arena, in(place, "link")),
                        arena_printf(place->arena, "%s/link", real));
    assert_string_equal(fs_absolute(place->arena, "x.lua"),
                        arena_printf(place->arena, "%s/x.lua", cwd));
    assert_string_equal(fs_absolute(place->arena, "/x"), "/x");
    assert_string_equal(fs_absolute(place->arena, "missing/x"), "missing/x");
}

static void a_temporary_folder_that_cannot_be_says_what_to_do(void **state)
{
    struct place *place = *state;
    struct err err = {0};
    const char *path = NULL, *before = getenv("TMPDIR");
    setenv("TMPDIR", in(place, "missing"), 1);
    assert_false(fs_make_temp(place->arena, "x", NULL, NULL, &path, &err));
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    assert_null(path);
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.text,
                        arena_printf(place->arena,
                                     "creating a folder in %s/missing: No such file or "
                                     "directory; set TMPDIR to a folder that can be written",
                                     place->folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PLACE(temp_folder_is_announced_and_passable),
        WITH_PLACE(a_name_that_is_taken_is_withdrawn),
        WITH_PLACE(what_is_written_is_read),
        WITH_PLACE(a_link_stays_a_link),
        WITH_PLACE(limit_is_exact),
        WITH_PLACE(proc_files_and_missing_ones),
        WITH_PLACE(devices_are_written_directly),
        WITH_PLACE(unwritable_places_are_found_out),
        WITH_PLACE(a_failed_write_leaves_the_old_file),
        WITH_PLACE(trees_go_without_following_links),
        WITH_PLACE(executables_are_files_with_the_bit),
        WITH_PLACE(paths_begin_at_the_root),
        WITH_PLACE(a_temporary_folder_that_cannot_be_says_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
