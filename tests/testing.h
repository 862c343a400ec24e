#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

/*
 * What every cmocka program includes: cmocka behind the headers that it needs, and seeded
 * random numbers. A test that draws numbers calls test_random_init() once, which prints the
 * seed; DBDYNO_TEST_SEED repeats it.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
/* clang-format on */

/* Sanitizers make code several times slower: a bound on measured time is multiplied by this,
 * and holds as written in the plain build. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SLOWDOWN 10
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SLOWDOWN 10
#endif
#ifndef TEST_SLOWDOWN
#define TEST_SLOWDOWN 1
#endif

struct test_random {
    uint64_t state;
};

static inline struct test_random test_random_init(void)
{
    const char *text = getenv("DBDYNO_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)now.tv_nsec;
    printf("DBDYNO_TEST_SEED=%llu\n", (unsigned long long)seed);
    return (struct test_random){seed};
}

/* SplitMix64. */
static inline uint64_t test_random_u64(struct test_random *random)
{
    uint64_t x = random->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Below `limit`, which is at least 1. */
static inline uint64_t test_random_below(struct test_random *random, uint64_t limit)
{
    return test_random_u64(random) % limit;
}

#endif
