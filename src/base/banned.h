#ifndef BASE_BANNED_H
#define BASE_BANNED_H

/*
 * Functions that this project does not call, after git's idea. Included before every source
 * file by the build (cmake/Module.cmake). What to use instead: base/text.h for strings,
 * base/num.h for numbers, os/ for time, waiting and processes, gen/ for randomness.
 */

#include <stdio.h>  /* IWYU pragma: keep */
#include <stdlib.h> /* IWYU pragma: keep */
#include <string.h> /* IWYU pragma: keep */
#include <time.h>   /* IWYU pragma: keep */
#include <unistd.h> /* IWYU pragma: keep */

#define BANNED(name) dbdyno_##name##_is_banned

#undef strcpy
#define strcpy(a, b) BANNED(strcpy)
#undef strcat
#define strcat(a, b) BANNED(strcat)
#undef strncpy
#define strncpy(a, b, n) BANNED(strncpy)
#undef strncat
#define strncat(a, b, n) BANNED(strncat)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef snprintf
#define snprintf(...) BANNED(snprintf)
#undef strtok
#define strtok(a, b) BANNED(strtok)
#undef atoi
#define atoi(a) BANNED(atoi)
#undef atol
#define atol(a) BANNED(atol)
#undef strtol
#define strtol(a, b, c) BANNED(strtol)
#undef strtoul
#define strtoul(a, b, c) BANNED(strtoul)
#undef localtime
#define localtime(a) BANNED(localtime)
#undef gmtime
#define gmtime(a) BANNED(gmtime)
#undef rand
#define rand() BANNED(rand)
#undef sleep
#define sleep(a) BANNED(sleep)
#undef system
#define system(a) BANNED(system)
#undef popen
#define popen(a, b) BANNED(popen)

#endif
