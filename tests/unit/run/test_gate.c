/* Nobody passes a gate before main opens it, and main knows when all are there. */
#include "os/now.h"
#include "run/run_internal.h"
#include "testing.h"

#include <stdatomic.h>

#define WALKERS 4

struct walk {
    struct gate gate;
    atomic_uint before, after;
};

static void *walker(void *context)
{
    struct walk *walk = context;
    atomic_fetch_add(&walk->before, 1);
    gate_pass(&walk->gate, 1);
    atomic_fetch_add(&walk->after, 1);
    gate_pass(&walk->gate, 2);
    return NULL;
}

static void all_wait_until_it_opens(void **state)
{
    (void)state;
    struct walk walk = {.before = 0};
    pthread_t threads[WALKERS];
    gate_init(&walk.gate);
    assert_false(gate_wait(&walk.gate, 1, NS_PER_MS)); /* nobody there: the time is over */
    for (int i = 0; i < WALKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, walker, &walk), 0);
    while (!gate_wait(&walk.gate, WALKERS, NS_PER_S)) {
    }
    assert_int_equal(atomic_load(&walk.before), WALKERS);
    assert_int_equal(atomic_load(&walk.after), 0);
    gate_open(&walk.gate, 1);
    while (!gate_wait(&walk.gate, WALKERS, NS_PER_S)) {
    }
    assert_int_equal(atomic_load(&walk.after), WALKERS);
    gate_open(&walk.gate, 2);
    for (int i = 0; i < WALKERS; i++)
        pthread_join(threads[i], NULL);
    gate_done(&walk.gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_wait_until_it_opens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
