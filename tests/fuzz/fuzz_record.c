/* Any bytes are a record or an error with a text; a record that was read is written so that it
 * reads again and then writes the same bytes.
 * links: record */

#include "record/record_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create(1 << 16);
    struct record *first, *second;
    struct err err = {0};
    if (record_from_json(arena, (const char *)bytes, count, &first, &err)) {
        size_t once, again;
        const char *json = record_to_json(arena, first, &once);
        if (!record_from_json(arena, json, once, &second, &err))
            abort();
        const char *back = record_to_json(arena, second, &again);
        if (once != again || memcmp(json, back, once) != 0)
            abort();
    } else if (err.kind != ERR_CONFIG || err.text[0] == '\0') {
        abort();
    }
    arena_destroy(&arena);
    return 0;
}
