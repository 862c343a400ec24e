#ifndef RECORD_RECORD_JSON_INTERNAL_H
#define RECORD_RECORD_JSON_INTERNAL_H

/*
 * Private to the reader, and the one place that includes jansson: values out of a parsed
 * document, with errors that name the place. Every function answers false with the error set
 * and the path left where the fault is; an absent item leaves *out alone unless said otherwise.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "record/record.h"
#include "record/record_fields.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

struct reader {
    struct arena *arena;
    struct err *err;
    struct text path; /* of the item being read: "scenarios[3].metrics.service_ns" */
    size_t histogram_count;
};

typedef bool (*item_fn)(struct reader *reader, json_t *item, void *context);
typedef bool (*member_fn)(struct reader *reader, const char *name, json_t *item, void *context);

/* Goes down into a member; returns what reader_leave() needs to come back. */
size_t reader_enter(struct reader *reader, const char *key);
void reader_leave(struct reader *reader, size_t here);

/* "PATH: expected WHAT, got ITEM"; returns false. */
bool reader_expected(struct reader *reader, const char *what, json_t *item);

struct slice reader_slice(json_t *item); /* of a string; at is NULL for all else */
MUST_CHECK bool reader_text(struct reader *reader, json_t *item,
                            const char **out); /* or NULL */
MUST_CHECK bool reader_need(struct reader *reader, json_t *item, const char **out);
MUST_CHECK bool reader_u64(struct reader *reader, json_t *item, uint64_t *out);
MUST_CHECK bool reader_u128(struct reader *reader, json_t *item, __uint128_t *out);
MUST_CHECK bool reader_i64(struct reader *reader, json_t *item, int64_t *out);
MUST_CHECK bool reader_real(struct reader *reader, json_t *item, double *out);
MUST_CHECK bool reader_pairs(struct reader *reader, json_t *item, struct rec_pairs *out);

/* All members of a table; absent ones leave the struct as it is. */
MUST_CHECK bool reader_fields(struct reader *reader, const struct fields *fields,
                              json_t *object, void *out);

/* Calls `each` for every item of the array `key`, every member of an object; absent is empty.
 */
MUST_CHECK bool reader_array(struct reader *reader, json_t *object, const char *key,
                             item_fn each, void *context);
MUST_CHECK bool reader_members(struct reader *reader, json_t *object, member_fn each,
                               void *context);

#endif
