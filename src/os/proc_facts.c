#include "base/num.h"
#include "base/text.h"
#include "os/fs.h"
#include "os/now.h"
#include "os/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAIL_BYTES = 8 << 10, STAT_BYTES = 1024, STATUS_BYTES = 8 << 10 };

const char *proc_log_tail(struct arena *arena, const char *path, unsigned lines)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        if (fd >= 0)
            close(fd);
        return "";
    }
    char *text = arena_array(arena, char, TAIL_BYTES + 1);
    off_t from = info.st_size > TAIL_BYTES ? info.st_size - TAIL_BYTES : 0;
    ssize_t got = pread(fd, text, TAIL_BYTES, from);
    close(fd);
    struct slice tail = slice_trim((struct slice){text, got > 0 ? (size_t)got : 0});
    size_t start = tail.bytes;
    for (unsigned seen = 0; start > 0; start--) {
        if (tail.at[start - 1] == '\n' && ++seen == lines)
            break;
    }
    return arena_slice(arena, slice_skip(tail, lines > 0 ? start : tail.bytes));
}

/* A small file of /proc into a fixed buffer, so that sampling many processes allocates nothing.
 */
static size_t read_proc(pid_t pid, const char *name, char *buffer, size_t room)
{
    char path[64];
    text_print(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, buffer, room - 1) : 0;
    if (fd >= 0)
        close(fd);
    buffer[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

/* The value of a line "Name:   123 kB" in bytes, or 0. */
static uint64_t field_bytes(const char *content, const char *name)
{
    uint64_t kib;
    struct slice line, rest = slice_of(content);
    bool more = true;
    while (more) {
        more = slice_split(rest, '\n', &line, &rest);
        if (!slice_starts(line, name))
            continue;
        struct slice number = slice_trim(slice_skip(line, strlen(name)));
        (void)slice_split(number, ' ', &number, &line);
        return num_u64(number, &kib) ? kib * 1024 : 0;
    }
    return 0;
}

struct stat_line {
    pid_t parent, group;
    uint64_t children_ticks;
};

/* proc(5): fields 4 (parent), 5 (process group), 16 and 17 (times of waited-for children). The
 * name, field 2, stands in brackets and may hold anything, so counting begins behind the last
 * one. */
static bool read_stat(pid_t pid, struct stat_line *line)
{
    char content[STAT_BYTES];
    size_t bytes = read_proc(pid, "stat", content, sizeof(content));
    const char *name_end = bytes > 0 ? memrchr(content, ')', bytes) : NULL;
    if (!name_end)
        return false;
    struct slice field, rest = slice_skip(slice_of(name_end), 2);
    uint64_t number;
    *line = (struct stat_line){0};
    for (int index = 3; index <= 17; index++) {
        (void)slice_split(rest, ' ', &field, &rest);
        if (!num_u64(field, &number))
            continue;
        if (index == 4)
            line->parent = (pid_t)number;
        else if (index == 5)
            line->group = (pid_t)number;
        else if (index == 16 || index == 17)
            line->children_ticks += number;
    }
    return true;
}

void proc_read_times(pid_t pid, struct proc_facts *facts)
{
    struct stat_line line;
    *facts = (struct proc_facts){0};
    if (!read_stat(pid, &line))
        return;
    facts->parent = line.parent;
    facts->children_cpu_ns = line.children_ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
    if (!os_process_cpu_ns(pid, &facts->cpu_ns))
        facts->cpu_ns = 0;
}

void proc_read(pid_t pid, struct proc_facts *facts)
{
    char content[STATUS_BYTES];
    proc_read_times(pid, facts);
    if (facts->parent == 0)
        return;
    (void)read_proc(pid, "status", content, sizeof(content));
    facts->resident_bytes = field_bytes(content, "VmRSS:");
    facts->peak_bytes = field_bytes(content, "VmHWM:");
    (void)read_proc(pid, "smaps_rollup", content, sizeof(content));
    facts->proportional_bytes = field_bytes(content, "Pss:");
}

struct relation {
    pid_t pid, parent, group;
};

static size_t read_relations(struct arena *arena, struct relation **all)
{
    struct dirent **entries = NULL;
    int entry_count = scandir("/proc", &entries, NULL, NULL);
    if (entry_count <= 0)
        return 0;
    size_t count = 0;
    *all = arena_array(arena, struct relation, (size_t)entry_count);
    for (int i = 0; i < entry_count; i++) {
        uint64_t pid;
        struct stat_line line;
        if (num_u64(slice_of(entries[i]->d_name), &pid) && read_stat((pid_t)pid, &line))
            (*all)[count++] = (struct relation){(pid_t)pid, line.parent, line.group};
        free(entries[i]);
    }
    free(entries);
    return count;
}

/* Moves the children of `parent` that are not taken yet to pids. */
static unsigned take_children(struct relation *all, size_t count, pid_t parent, pid_t *pids,
                              unsigned room)
{
    unsigned taken = 0;
    for (size_t i = 0; i < count && taken < room; i++) {
        if (all[i].parent != parent)
            continue;
        pids[taken++] = all[i].pid;
        all[i].parent = -1;
    }
    return taken;
}

unsigned proc_family(pid_t root, pid_t *pids, unsigned room)
{
    struct stat_line line;
    struct relation *all = NULL;
    if (room == 0 || !read_stat(root, &line))
        return 0;
    struct arena *scratch = arena_create(64 << 10);
    size_t count = read_relations(scratch, &all);
    unsigned known = 1;
    pids[0] = root;
    for (unsigned next = 0; next < known; next++)
        known += take_children(all, count, pids[next], pids + known, room - known);
    arena_destroy(&scratch);
    return known;
}

unsigned proc_group(pid_t group, pid_t *pids, unsigned room)
{
    struct relation *all = NULL;
    struct arena *scratch = arena_create(64 << 10);
    size_t count = read_relations(scratch, &all);
    unsigned known = 0;
    for (size_t i = 0; i < count && known < room; i++) {
        if (all[i].group == group)
            pids[known++] = all[i].pid;
    }
    arena_destroy(&scratch);
    return known;
}
