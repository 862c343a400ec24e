#include "host/host_internal.h"
#include "testing.h"

#include <string.h>

#define SLICE(text) slice_of(text)

static void values_of_key_lines(void **state)
{
    struct arena *arena = *state;
    struct slice text = SLICE("MemTotal:       24068 kB\nMemTotalX: 1\npswpin 7\npswpin_x 8\n"
                              "model name\t: Xeon  \nNAME=\"Debian\"\n");
    assert_int_equal(host_number(text, "MemTotal", ':'), 24068);
    assert_int_equal(host_number(text, "pswpin", ' '), 7);
    assert_int_equal(host_number(text, "pswpin_x", ' '), 8);
    assert_int_equal(host_number(text, "pswp", ' '), 0);
    assert_int_equal(host_number(text, "missing", ':'), 0);
    assert_string_equal(arena_slice(arena, host_value(text, "model name", ':')), "Xeon");
    assert_string_equal(arena_slice(arena, host_value(text, "NAME", '=')), "\"Debian\"");
    assert_int_equal(host_value(SLICE(""), "x", ':').bytes, 0);
}

static void ticks_of_all_cpus(void **state)
{
    (void)state;
    struct host_counters counters = {0};
    /* user nice system idle iowait irq softirq steal guest guest_nice */
    host_parse_stat(SLICE("cpu  100 10 50 800 40 1 2 7 60 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n"),
                    &counters);
    assert_int_equal(counters.busy_ticks, 163);
    assert_int_equal(counters.steal_ticks, 7);
    assert_int_equal(counters.all_ticks, 163 + 840 + 7);
    host_parse_stat(SLICE("nonsense"), &counters);
    assert_int_equal(counters.all_ticks, 0);
}

static const char mountinfo[] =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,data=writeback\n"
    "30 27 8:1 / /data rw,noatime shared:1 master:2 - xfs /dev/sda1 rw,attr2\n"
    "31 27 8:2 / /data\\040two rw - ext4 /dev/sdb rw\n"
    "32 27 8:3 / /data rw - btrfs /dev/sdc rw,space_cache,subvol=/x\n"
    "33 27 0:9 / /merged ro - overlay overlay rw,lowerdir=/a:/b,upperdir=/c,xino=off\n"
    "broken line\n";

static void the_mount_of_a_path(void **state)
{
    struct arena *arena = *state;
    struct host_mount mount;
    assert_true(host_parse_mount(arena, SLICE(mountinfo), "/home/x", &mount));
    assert_string_equal(mount.filesystem, "ext4");
    assert_string_equal(mount.device, "/dev/vda");
    assert_string_equal(host_join_options(arena, &mount, false),
                        "rw,relatime,discard,data=writeback");
    assert_string_equal(host_join_options(arena, &mount, true), "rw,relatime,data=writeback");
    assert_true(host_parse_mount(arena, SLICE(mountinfo), "/data/base", &mount));
    assert_string_equal(mount.filesystem, "btrfs"); /* mounted over the xfs */
    assert_string_equal(host_join_options(arena, &mount, false), "rw,space_cache");
    assert_true(host_parse_mount(arena, SLICE(mountinfo), "/data two", &mount));
    assert_string_equal(mount.device, "/dev/sdb");
    assert_true(host_parse_mount(arena, SLICE(mountinfo), "/database", &mount));
    assert_string_equal(mount.point, "/");
    assert_true(host_parse_mount(arena, SLICE(mountinfo), "/merged/x", &mount));
    assert_string_equal(host_join_options(arena, &mount, false), "ro,xino=off");
    assert_false(host_parse_mount(arena, SLICE(""), "/", &mount));
    assert_false(host_parse_mount(arena, SLICE("1 2 3 4 / rw - "), "/", &mount));
}

static void slugs_of_processors(void **state)
{
    struct arena *arena = *state;
    assert_string_equal(host_slug(arena, SLICE("Intel(R) Xeon(R) CPU @ 2.80GHz")),
                        "intel-xeon-2-80ghz");
    assert_string_equal(host_slug(arena, SLICE("AMD Ryzen 9 5950X 16-Core Processor")),
                        "amd-ryzen-9-5950x-16-core");
    assert_string_equal(host_slug(arena, SLICE("Intel(R) Xeon(R) Processor")), "intel-xeon");
    assert_string_equal(host_slug(arena, SLICE("  @@ ")), "unknown-cpu");
}

static void control_groups(void **state)
{
    struct arena *arena = *state;
    struct slice text = SLICE("4:memory:/a/b\n2:cpu,cpuacct:/c\n0::/user.slice/x\n");
    assert_string_equal(arena_slice(arena, host_parse_cgroup(text, NULL)), "/user.slice/x");
    assert_string_equal(arena_slice(arena, host_parse_cgroup(text, "memory")), "/a/b");
    assert_string_equal(arena_slice(arena, host_parse_cgroup(text, "cpu")), "/c");
    assert_int_equal(host_parse_cgroup(text, "pids").bytes, 0);
    assert_int_equal(host_parse_limit(SLICE("max\n")), 0);
    assert_int_equal(host_parse_limit(SLICE("1073741824\n")), 1073741824);
    assert_int_equal(host_parse_limit(SLICE("9223372036854771712\n")), 0);
    assert_true(host_parse_cpu_max(SLICE("150000 100000\n")) == 1.5);
    assert_true(host_parse_cpu_max(SLICE("max 100000\n")) == 0);
    assert_true(host_parse_cpu_max(SLICE("")) == 0);
}

static void pressure_load_and_brackets(void **state)
{
    struct arena *arena = *state;
    struct slice text = SLICE("some avg10=0.54 avg60=0.15 avg300=0.13 total=5252289\n"
                              "full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n");
    assert_int_equal(host_parse_pressure(text), 5252289);
    assert_int_equal(host_parse_pressure(SLICE("")), 0);
    assert_true(host_parse_load(SLICE("0.25 0.06 0.01 1/200 44\n")) == 0.25);
    assert_string_equal(host_bracketed(arena, SLICE("always [madvise] never\n")), "madvise");
    assert_null(host_bracketed(arena, SLICE("always [madvise")));
}

static void series_of_a_kernel(void **state)
{
    struct arena *arena = *state;
    assert_string_equal(arena_slice(arena, host_kernel_series("6.18.44-x")), "6.18");
    assert_string_equal(arena_slice(arena, host_kernel_series("6.1-rc1")), "6.1");
    assert_string_equal(arena_slice(arena, host_kernel_series("7")), "7");
}

static void virtual_machines_and_containers(void **state)
{
    (void)state;
    struct host_signs signs = {.version = SLICE("Linux version 6.1"),
                               .container = SLICE(""),
                               .cgroup = SLICE("0::/\n"),
                               .vendor = SLICE("QEMU\n"),
                               .product = SLICE("")};
    assert_null(host_name_virtualisation(&signs));
    signs.hypervisor_flag = true;
    assert_string_equal(host_name_virtualisation(&signs), "kvm");
    signs.vendor = SLICE("");
    assert_string_equal(host_name_virtualisation(&signs), "virtual machine");
    signs.cgroup = SLICE("0::/kubepods/pod1\n");
    assert_string_equal(host_name_virtualisation(&signs), "kubernetes");
    signs.docker_file = true;
    assert_string_equal(host_name_virtualisation(&signs), "docker");
    signs.container = SLICE("lxc");
    assert_string_equal(host_name_virtualisation(&signs), "lxc");
    signs.version = SLICE("Linux version 5.15.90.1-microsoft-standard-WSL2 (x)");
    assert_string_equal(host_name_virtualisation(&signs), "wsl2");
}

static void this_host_is_read(void **state)
{
    struct arena *arena = *state;
    struct host_facts facts;
    host_read(arena, "/tmp", &facts);
    print_message("%s\n%s, %s, %u of %u CPUs, %s, clock %s, %s on %s (%s)\n", facts.class,
                  facts.os, facts.virtualisation ? facts.virtualisation : "bare",
                  facts.cpus_allowed, facts.cpus_online, facts.kernel, facts.clock_source,
                  facts.filesystem, facts.device, facts.mount_options);
    assert_non_null(facts.class);
    assert_non_null(facts.kernel);
    assert_non_null(facts.filesystem);
    assert_true(facts.cpus_online >= 1 && facts.cpus_allowed >= 1);
    assert_true(facts.memory_bytes >= facts.memory_available_bytes);
    assert_true(facts.memory_bytes > 1 << 20 && facts.disk_free_bytes > 0);
    assert_non_null(strstr(facts.class, facts.filesystem));
    host_read(arena, "/nonexistent/folder", &facts);
    assert_non_null(facts.class);
}

static void counters_go_forward(void **state)
{
    (void)state;
    struct host_counters first, second;
    host_count(&first);
    host_count(&second);
    assert_true(first.all_ticks > 0 && second.all_ticks >= first.all_ticks);
    assert_true(second.monotonic_ns > first.monotonic_ns);
    int64_t drift = (int64_t)(second.wall_ns - first.wall_ns) -
                    (int64_t)(second.monotonic_ns - first.monotonic_ns);
    assert_true(drift > -100000000 && drift < 100000000);
    assert_true(second.cpu_pressure_us >= first.cpu_pressure_us);
}

static int make_arena(void **state)
{
    *state = arena_create(4096);
    return 0;
}

static int drop_arena(void **state)
{
    arena_destroy((struct arena **)state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_key_lines),
        cmocka_unit_test(ticks_of_all_cpus),
        cmocka_unit_test(the_mount_of_a_path),
        cmocka_unit_test(slugs_of_processors),
        cmocka_unit_test(control_groups),
        cmocka_unit_test(pressure_load_and_brackets),
        cmocka_unit_test(series_of_a_kernel),
        cmocka_unit_test(virtual_machines_and_containers),
        cmocka_unit_test(this_host_is_read),
        cmocka_unit_test(counters_go_forward),
    };
    return cmocka_run_group_tests_name("host", tests, make_arena, drop_arena);
}
