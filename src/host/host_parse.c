#include "base/num.h"
#include "base/text.h"
#include "host/host_internal.h"

#include <ctype.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct slice host_value(struct slice text, const char *key, char mark)
{
    struct slice line;
    bool more = text.bytes > 0;
    while (more) {
        more = slice_split(text, '\n', &line, &text);
        if (!slice_starts(line, key))
            continue;
        struct slice rest = slice_skip(line, strlen(key));
        size_t blanks = 0;
        while (blanks < rest.bytes && is_blank(rest.at[blanks]))
            blanks++;
        bool marked = mark == ' ' ? blanks > 0 : blanks < rest.bytes && rest.at[blanks] == mark;
        if (marked)
            return slice_trim(slice_skip(rest, mark == ' ' ? blanks : blanks + 1));
    }
    return (struct slice){"", 0};
}

static struct slice first_word(struct slice text)
{
    struct slice word, rest;
    (void)slice_split(text, ' ', &word, &rest);
    return word;
}

uint64_t host_number(struct slice text, const char *key, char mark)
{
    uint64_t number;
    return num_u64(first_word(host_value(text, key, mark)), &number) ? number : 0;
}

void host_parse_stat(struct slice text, struct host_counters *counters)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    uint64_t ticks[FIELDS] = {0};
    struct slice rest = host_value(text, "cpu", ' '), word;
    for (int i = 0; i < FIELDS; i++) {
        (void)slice_split(rest, ' ', &word, &rest);
        if (!num_u64(word, &ticks[i]))
            ticks[i] = 0;
    }
    counters->steal_ticks = ticks[STEAL];
    counters->busy_ticks =
        ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ];
    counters->all_ticks = counters->busy_ticks + ticks[IDLE] + ticks[IOWAIT] + ticks[STEAL];
}

static bool is_octal(struct slice text, size_t at)
{
    for (size_t i = at; i < at + 3; i++) {
        if (i >= text.bytes || text.at[i] < '0' || text.at[i] > '7')
            return false;
    }
    return true;
}

/* Blanks and backslashes stand as \040 in /proc. */
static const char *unescape(struct arena *arena, struct slice text)
{
    char *out = arena_array(arena, char, text.bytes + 1);
    size_t bytes = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        char c = text.at[i];
        if (c == '\\' && is_octal(text, i + 1)) {
            int code = (text.at[i + 1] - '0') * 64 + (text.at[i + 2] - '0') * 8 +
                       (text.at[i + 3] - '0');
            c = (char)(unsigned char)code;
            i += 3;
        }
        out[bytes++] = c;
    }
    return out;
}

/* How much of `path` the mount point covers: 0 for one that is elsewhere. */
static size_t covered(const char *point, const char *path)
{
    size_t bytes = strlen(point);
    if (strcmp(point, "/") == 0)
        return 1;
    if (strncmp(point, path, bytes) != 0 || (path[bytes] != '/' && path[bytes] != '\0'))
        return 0;
    return bytes;
}

/* proc(5): id parent major:minor root POINT OPTIONS [tags] - TYPE DEVICE SUPER_OPTIONS */
static bool parse_mount_line(struct arena *arena, struct slice line, struct host_mount *mount)
{
    struct slice fields[6], word, rest = line;
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        if (!slice_split(rest, ' ', &fields[i], &rest))
            return false;
    }
    do {
        if (!slice_split(rest, ' ', &word, &rest))
            return false;
    } while (!slice_is(word, "-"));
    if (!slice_split(rest, ' ', &word, &rest))
        return false;
    mount->filesystem = arena_slice(arena, word);
    (void)slice_split(rest, ' ', &word, &rest);
    mount->device = unescape(arena, word);
    (void)slice_split(rest, ' ', &mount->super_options, &rest);
    mount->point = unescape(arena, fields[4]);
    mount->options = fields[5];
    return true;
}

bool host_parse_mount(struct arena *arena, struct slice mountinfo, const char *path,
                      struct host_mount *mount)
{
    size_t best = 0;
    struct slice line;
    bool more = mountinfo.bytes > 0;
    while (more) {
        struct host_mount found;
        more = slice_split(mountinfo, '\n', &line, &mountinfo);
        if (!parse_mount_line(arena, line, &found))
            continue;
        size_t bytes = covered(found.point, path);
        if (bytes == 0 || bytes < best)
            continue;
        best = bytes;
        *mount = found;
    }
    return best > 0;
}

static bool is_listed(struct slice options, struct slice wanted)
{
    struct slice option;
    bool more = options.bytes > 0;
    while (more) {
        more = slice_split(options, ',', &option, &options);
        if (slice_equal(option, wanted))
            return true;
    }
    return false;
}

static bool is_lasting(struct slice option)
{
    static const char *const patterns[] = {"*barrier*", "data=*",     "commit=*",
                                           "*async*",   "sync",       "compress*",
                                           "nodatacow", "logbsize=*", "journal*"};
    for (size_t i = 0; i < ARRAY_COUNT(patterns); i++) {
        if (slice_glob(option, patterns[i]))
            return true;
    }
    return false;
}

const char *host_join_options(struct arena *arena, const struct host_mount *mount, bool lasting)
{
    struct text text;
    struct slice option, rest = mount->super_options;
    bool more = rest.bytes > 0;
    text_init(&text, arena, 4096);
    text_add_slice(&text, mount->options);
    while (more) {
        more = slice_split(rest, ',', &option, &rest);
        bool is_path = memchr(option.at, '/', option.bytes) != NULL;
        /* "rw" of a file system that is mounted "ro" would read as a contradiction. */
        if (is_path || slice_is(option, "rw") || is_listed(mount->options, option) ||
            (lasting && !is_lasting(option)))
            continue;
        text_add_char(&text, ',');
        text_add_slice(&text, option);
    }
    return text.at;
}

/* Words that say nothing. */
static bool is_filler(struct slice word)
{
    static const char *const fillers[] = {"r", "tm", "c", "cpu", "processor", "with"};
    for (size_t i = 0; i < ARRAY_COUNT(fillers); i++) {
        if (slice_is(word, fillers[i]))
            return true;
    }
    return false;
}

static size_t word_bytes(struct slice text)
{
    size_t bytes = 0;
    while (bytes < text.bytes && isalnum((unsigned char)text.at[bytes]))
        bytes++;
    return bytes;
}

const char *host_slug(struct arena *arena, struct slice model)
{
    struct text text;
    char *lower = arena_slice(arena, model);
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    struct slice rest = slice_of(lower);
    text_init(&text, arena, 120);
    while (rest.bytes > 0) {
        size_t bytes = word_bytes(rest);
        struct slice word = {rest.at, bytes};
        rest = slice_skip(rest, bytes > 0 ? bytes : 1);
        if (bytes == 0 || is_filler(word))
            continue;
        if (text.bytes > 0)
            text_add_char(&text, '-');
        text_add_slice(&text, word);
    }
    return text.bytes > 0 ? text.at : "unknown-cpu";
}

struct slice host_parse_cgroup(struct slice text, const char *controller)
{
    struct slice line, number, names;
    bool more = text.bytes > 0;
    while (more) {
        more = slice_split(text, '\n', &line, &text);
        if (!slice_split(line, ':', &number, &line) || !slice_split(line, ':', &names, &line))
            continue;
        if (controller ? is_listed(names, slice_of(controller)) : slice_is(number, "0"))
            return line;
    }
    return (struct slice){"", 0};
}

uint64_t host_parse_limit(struct slice text)
{
    uint64_t number;
    return num_u64(slice_trim(text), &number) && number < UINT64_C(1) << 60 ? number : 0;
}

double host_parse_cpu_max(struct slice text)
{
    struct slice quota, period;
    double numerator, denominator;
    (void)slice_split(slice_trim(text), ' ', &quota, &period);
    if (!num_real(quota, &numerator) || !num_real(slice_trim(period), &denominator))
        return 0;
    return numerator > 0 && denominator > 0 ? numerator / denominator : 0;
}

uint64_t host_parse_pressure(struct slice text)
{
    uint64_t number;
    struct slice word, rest = host_value(text, "some", ' ');
    bool more = rest.bytes > 0;
    while (more) {
        more = slice_split(rest, ' ', &word, &rest);
        if (slice_starts(word, "total=") && num_u64(slice_skip(word, 6), &number))
            return number;
    }
    return 0;
}

const char *host_bracketed(struct arena *arena, struct slice text)
{
    struct slice before, inside, after;
    if (!slice_split(text, '[', &before, &inside) || !slice_split(inside, ']', &inside, &after))
        return NULL;
    return arena_slice(arena, inside);
}

double host_parse_load(struct slice text)
{
    double load;
    return num_real(first_word(text), &load) ? load : 0;
}

struct slice host_kernel_series(const char *release)
{
    size_t bytes = 0;
    int dots = 0;
    for (; release[bytes]; bytes++) {
        bool digit = isdigit((unsigned char)release[bytes]);
        if (!digit && (release[bytes] != '.' || ++dots == 2))
            break;
    }
    return (struct slice){release, bytes};
}

static const char *name_machine(const struct host_signs *signs)
{
    static const struct {
        const char *pattern, *name;
    } makers[] = {
        {"*QEMU*",      "kvm"       },
        {"*KVM*",       "kvm"       },
        {"*Google*",    "kvm"       },
        {"*Amazon*",    "kvm"       },
        {"*VMware*",    "vmware"    },
        {"*innotek*",   "virtualbox"},
        {"*Microsoft*", "hyper-v"   },
        {"*Xen*",       "xen"       },
        {"*Parallels*", "parallels" },
    };
    if (!signs->hypervisor_flag)
        return NULL;
    for (size_t i = 0; i < ARRAY_COUNT(makers); i++) {
        if (slice_glob(signs->vendor, makers[i].pattern) ||
            slice_glob(signs->product, makers[i].pattern))
            return makers[i].name;
    }
    return "virtual machine";
}

const char *host_name_virtualisation(const struct host_signs *signs)
{
    static const char *const containers[] = {"docker", "podman", "lxc", "systemd-nspawn"};
    if (slice_glob(signs->version, "*icrosoft*WSL2*") ||
        slice_glob(signs->version, "*microsoft-standard*"))
        return "wsl2";
    if (slice_glob(signs->version, "*Microsoft*"))
        return "wsl1";
    for (size_t i = 0; i < ARRAY_COUNT(containers); i++) {
        if (slice_is(signs->container, containers[i]))
            return containers[i];
    }
    if (signs->podman_file)
        return "podman";
    if (signs->docker_file || slice_glob(signs->cgroup, "*docker*"))
        return "docker";
    if (slice_glob(signs->cgroup, "*kubepods*"))
        return "kubernetes";
    if (slice_glob(signs->cgroup, "*/lxc*"))
        return "lxc";
    if (signs->container.bytes > 0)
        return "container";
    return name_machine(signs);
}
