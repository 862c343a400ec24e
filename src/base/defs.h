#ifndef BASE_DEFS_H
#define BASE_DEFS_H

/* Attributes and the handful of macros the whole program may use. */

#define MUST_CHECK              __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define UNUSED                  __attribute__((unused))
#define NORETURN                __attribute__((noreturn))
#define NOINLINE                __attribute__((noinline))
#define FLAT                    __attribute__((flatten)) /* everything it calls is inlined */
#define HOT                     __attribute__((hot, no_stack_protector)) /* the measured loop */

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Nanoseconds in a second, a millisecond, a microsecond: every duration is uint64_t ns. */
#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

#endif
