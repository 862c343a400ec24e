#include "os/now.h"
#include "testing.h"

#include <sys/wait.h>
#include <unistd.h>

/* Burns processor time until the thread's clock has moved by `ns`. */
static void burn(uint64_t ns)
{
    uint64_t until_ns = os_thread_cpu_ns() + ns;
    while (os_thread_cpu_ns() < until_ns)
        ;
}

static void cpu_clocks_count_work_and_not_waiting(void **state)
{
    (void)state;
    uint64_t process_ns, before_ns = os_self_cpu_ns();
    burn(5 * NS_PER_MS);
    uint64_t after_ns = os_self_cpu_ns();
    assert_in_range(after_ns - before_ns, 5 * NS_PER_MS, 50 * NS_PER_MS);
    assert_true(os_process_cpu_ns(getpid(), &process_ns));
    assert_true(process_ns >= after_ns);
    before_ns = os_self_cpu_ns();
    os_sleep_ns(10 * NS_PER_MS);
    assert_true(os_self_cpu_ns() - before_ns < 5 * NS_PER_MS);
}

static void a_gone_process_has_no_clock(void **state)
{
    (void)state;
    uint64_t ns = 77;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    assert_false(os_process_cpu_ns(child, &ns));
    assert_int_equal(ns, 77);
}

static void sleeping_lasts_at_least_as_long_as_asked(void **state)
{
    (void)state;
    uint64_t before_ns = os_now_ns();
    os_sleep_until_ns(before_ns + 3 * NS_PER_MS);
    assert_true(os_now_ns() >= before_ns + 3 * NS_PER_MS);
    os_sleep_until_ns(1); /* long past: returns at once */
}

static void wall_time_reads_like_iso_8601(void **state)
{
    (void)state;
    char text[32];
    setenv("TZ", "XYZ-05:30", 1);
    tzset();
    os_wall_text(UINT64_C(1764529200) * NS_PER_S + 999, text, sizeof(text));
    assert_string_equal(text, "2025-12-01T00:30:00+05:30");
    assert_true(os_wall_ns() > UINT64_C(1764529200) * NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_clocks_count_work_and_not_waiting),
        cmocka_unit_test(a_gone_process_has_no_clock),
        cmocka_unit_test(sleeping_lasts_at_least_as_long_as_asked),
        cmocka_unit_test(wall_time_reads_like_iso_8601),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
