#ifndef BASE_SLICE_H
#define BASE_SLICE_H

/* A piece of text or bytes that somebody else owns; passed by value. */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *at;
    size_t bytes;
};

static inline struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
    return slice_equal(a, slice_of(text));
}

/* Does `a` begin with `text`? */
static inline bool slice_starts(struct slice a, const char *text)
{
    size_t bytes = strlen(text);
    return a.bytes >= bytes && memcmp(a.at, text, bytes) == 0;
}

/* The rest after the first `bytes` bytes (all of it when shorter: an empty slice). */
static inline struct slice slice_skip(struct slice a, size_t bytes)
{
    size_t cut = bytes < a.bytes ? bytes : a.bytes;
    return (struct slice){a.at + cut, a.bytes - cut};
}

/* Splits at the first `mark`: *head is what stands before it, *tail what follows. Without a
 * mark, *head is everything, *tail is empty and the answer is false. */
bool slice_split(struct slice text, char mark, struct slice *head, struct slice *tail);

/* Without blanks (space, tab, CR, LF) at both ends. */
struct slice slice_trim(struct slice text);

/* Shell-like pattern with * and ? over the whole text. Linear memory, no backtracking blow-up.
 */
bool slice_glob(struct slice text, const char *pattern);

#endif
