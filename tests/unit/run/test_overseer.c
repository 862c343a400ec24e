/* What must stop is stopped by a thread that nobody waits for: with a driver whose cancel
 * blocks, and one whose setup call hangs until it is severed. links: run */
#include "os/now.h"
#include "run/overseer_internal.h"
#include "testing.h"

#include <stdatomic.h>

struct slow_conn {
    struct drv_conn base;
    atomic_uint cancels, severs;
    atomic_bool blocked; /* cancel does not return while it is set */
};

static void slow_cancel(struct drv_conn *conn)
{
    struct slow_conn *slow = (struct slow_conn *)conn;
    atomic_fetch_add(&slow->cancels, 1);
    while (atomic_load(&slow->blocked))
        os_sleep_ns(NS_PER_MS);
}

static void slow_sever(struct drv_conn *conn)
{
    struct slow_conn *slow = (struct slow_conn *)conn;
    atomic_fetch_add(&slow->severs, 1);
}

static const struct drv_class blocking = {.cancel = slow_cancel, .sever = slow_sever};
static const struct drv_class async = {.caps = DRV_CAP_ASYNC,
                                       .cancel = slow_cancel,
                                       .sever = slow_sever};

static struct overseer overseer; /* large */

static void start(void)
{
    struct err err;
    assert_true(overseer_start(&overseer, &err));
}

static void wait_for(atomic_uint *count)
{
    for (int i = 0; i < 2000 && atomic_load(count) == 0; i++)
        os_sleep_ns(NS_PER_MS);
    assert_true(atomic_load(count) > 0);
}

static void asking_never_blocks(void **state)
{
    (void)state;
    struct slow_conn conn = {.base.class = &blocking, .blocked = true};
    start();
    uint64_t from_ns = os_now_ns();
    overseer_cancel(&overseer, &conn.base);
    overseer_cancel(&overseer, &conn.base);
    assert_true(os_now_ns() - from_ns < NS_PER_S / 2);
    wait_for(&conn.cancels);
    atomic_store(&conn.blocked, false);
    overseer_settle(&overseer);
    overseer_stop(&overseer);
}

static void a_call_in_time_is_left_alone(void **state)
{
    (void)state;
    struct slow_conn conn = {.base.class = &blocking};
    start();
    overseer_enter(&overseer, &conn.base, os_now_ns() + 60 * NS_PER_S);
    os_sleep_ns(60 * NS_PER_MS);
    assert_false(overseer_leave(&overseer));
    overseer_stop(&overseer);
    assert_int_equal(atomic_load(&conn.cancels) + atomic_load(&conn.severs), 0);
}

static void a_late_call_is_cancelled(void **state)
{
    (void)state;
    struct slow_conn conn = {.base.class = &blocking};
    start();
    overseer_enter(&overseer, &conn.base, os_now_ns());
    wait_for(&conn.cancels);
    assert_true(overseer_leave(&overseer));
    overseer_stop(&overseer);
}

static void an_asynchronous_one_is_severed_at_once(void **state)
{
    (void)state;
    struct slow_conn conn = {.base.class = &async, .blocked = true};
    start();
    overseer_enter(&overseer, &conn.base, os_now_ns());
    wait_for(&conn.severs);
    assert_true(overseer_leave(&overseer));
    overseer_stop(&overseer);
    assert_int_equal(atomic_load(&conn.cancels), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_never_blocks),
        cmocka_unit_test(a_call_in_time_is_left_alone),
        cmocka_unit_test(a_late_call_is_cancelled),
        cmocka_unit_test(an_asynchronous_one_is_severed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
