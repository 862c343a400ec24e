#include "loop/loop.h"
#include "os/now.h"
#include "testing.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct place {
    struct arena *arena;
    struct loop *loop;
    int ends[2];
};

static int make_place(void **state)
{
    static struct place place;
    struct err err;
    place.arena = arena_create(4096);
    if (!loop_create(place.arena, &place.loop, &err))
        return -1;
    *state = &place;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, place.ends);
}

static int remove_place(void **state)
{
    struct place *place = *state;
    close(place->ends[0]);
    close(place->ends[1]);
    loop_destroy(&place->loop);
    loop_destroy(&place->loop);
    arena_destroy(&place->arena);
    return 0;
}

static struct loop_event wait_one(struct loop *loop)
{
    struct loop_event events[8];
    assert_int_equal(loop_wait(loop, events, 8), 1);
    return events[0];
}

static void descriptors_report_what_was_asked(void **state)
{
    struct place *place = *state;
    struct err err;
    assert_true(loop_watch(place->loop, place->ends[0], 7, true, true, &err));
    struct loop_event event = wait_one(place->loop);
    assert_true(event.kind == LOOP_FD && event.index == 7);
    assert_true(event.ready == EPOLLOUT);
    assert_int_equal(write(place->ends[1], "x", 1), 1);
    event = wait_one(place->loop);
    assert_true(event.ready == (EPOLLIN | EPOLLOUT));
    assert_true(loop_watch(place->loop, place->ends[0], 9, true, false, &err));
    event = wait_one(place->loop);
    assert_true(event.index == 9 && event.ready == EPOLLIN);
}

static void silent_and_forgotten_descriptors_say_nothing(void **state)
{
    struct place *place = *state;
    struct err err;
    assert_int_equal(write(place->ends[1], "x", 1), 1);
    assert_true(loop_watch(place->loop, place->ends[0], 1, true, false, &err));
    assert_true(loop_watch(place->loop, place->ends[0], 1, false, false, &err));
    loop_wake(place->loop);
    assert_int_equal(wait_one(place->loop).kind, LOOP_WAKE);
    assert_true(loop_watch(place->loop, place->ends[0], 1, true, false, &err));
    loop_forget(place->loop, place->ends[0]);
    loop_forget(place->loop, place->ends[0]);
    loop_wake(place->loop);
    assert_int_equal(wait_one(place->loop).kind, LOOP_WAKE);
}

static void a_closed_peer_is_told(void **state)
{
    struct place *place = *state;
    struct err err;
    assert_true(loop_watch(place->loop, place->ends[0], 3, false, false, &err));
    close(place->ends[1]);
    struct loop_event event = wait_one(place->loop);
    assert_int_equal(event.ready, EPOLLHUP);
}

static void what_cannot_be_watched_is_an_error(void **state)
{
    struct place *place = *state;
    struct err err;
    assert_false(loop_watch(place->loop, -1, 0, true, false, &err));
    assert_int_equal(err.sys, EBADF);
}

static void timer_fires_once_and_not_early(void **state)
{
    struct place *place = *state;
    uint64_t due_ns = os_now_ns() + 3 * NS_PER_MS;
    loop_timer(place->loop, due_ns);
    assert_int_equal(wait_one(place->loop).kind, LOOP_TIMER);
    assert_true(os_now_ns() >= due_ns);
    loop_wake(place->loop);
    assert_int_equal(wait_one(place->loop).kind, LOOP_WAKE);
    /* The same time again is a new request, and is past: at once. */
    loop_timer(place->loop, due_ns);
    assert_int_equal(wait_one(place->loop).kind, LOOP_TIMER);
    loop_timer(place->loop, 0);
    assert_int_equal(wait_one(place->loop).kind, LOOP_TIMER);
}

static void timer_can_be_moved_and_turned_off(void **state)
{
    struct place *place = *state;
    uint64_t now_ns = os_now_ns();
    loop_timer(place->loop, now_ns + 3600 * NS_PER_S);
    loop_timer(place->loop, now_ns + 2 * NS_PER_MS);
    assert_int_equal(wait_one(place->loop).kind, LOOP_TIMER);
    loop_timer(place->loop, os_now_ns() + 2 * NS_PER_MS);
    loop_timer(place->loop, UINT64_MAX);
    os_sleep_ns(4 * NS_PER_MS);
    loop_wake(place->loop);
    assert_int_equal(wait_one(place->loop).kind, LOOP_WAKE);
}

static void *wake_later(void *argument)
{
    os_sleep_ns(2 * NS_PER_MS);
    loop_wake(argument);
    return NULL;
}

static void many_wakes_are_one_event_from_any_thread(void **state)
{
    struct place *place = *state;
    pthread_t thread;
    for (int i = 0; i < 5; i++)
        loop_wake(place->loop);
    assert_int_equal(wait_one(place->loop).kind, LOOP_WAKE);
    assert_int_equal(pthread_create(&thread, NULL, wake_later, place->loop), 0);
    assert_int_equal(wait_one(place->loop).kind, LOOP_WAKE);
    pthread_join(thread, NULL);
}

static void room_bounds_what_is_returned(void **state)
{
    struct place *place = *state;
    struct loop_event events[4];
    struct err err;
    assert_true(loop_watch(place->loop, place->ends[0], 0, false, true, &err));
    assert_true(loop_watch(place->loop, place->ends[1], 1, false, true, &err));
    loop_wake(place->loop);
    assert_int_equal(loop_wait(place->loop, events, 1), 1);
    unsigned seen = 0;
    for (int i = 0; i < 3; i++) {
        unsigned count = loop_wait(place->loop, events, 2);
        assert_in_range(count, 1, 2);
        for (unsigned at = 0; at < count; at++)
            seen |= events[at].kind == LOOP_WAKE ? 4U : 1U << events[at].index;
    }
    assert_int_equal(seen & 3U, 3);
}

static void on_alarm(int number)
{
    (void)number;
}

static void a_signal_ends_the_wait_with_nothing(void **state)
{
    struct place *place = *state;
    struct loop_event events[1];
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    ualarm(2000, 0);
    assert_int_equal(loop_wait(place->loop, events, 1), 0);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PLACE(descriptors_report_what_was_asked),
        WITH_PLACE(silent_and_forgotten_descriptors_say_nothing),
        WITH_PLACE(a_closed_peer_is_told),
        WITH_PLACE(what_cannot_be_watched_is_an_error),
        WITH_PLACE(timer_fires_once_and_not_early),
        WITH_PLACE(timer_can_be_moved_and_turned_off),
        WITH_PLACE(many_wakes_are_one_event_from_any_thread),
        WITH_PLACE(room_bounds_what_is_returned),
        WITH_PLACE(a_signal_ends_the_wait_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
