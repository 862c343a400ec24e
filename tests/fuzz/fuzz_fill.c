/* Any document is filled or refused with its line; what was filled is well formed, and filling
 * it again changes nothing. links: report */

#include "../fake/sample_record.h"
#include "report/report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create(1 << 16);
    struct record *record = sample_record(arena);
    struct text once, again;
    struct err err = {0};
    text_init(&once, arena, 1 << 26);
    text_init(&again, arena, 1 << 26);
    int checked = report_fill_check(arena, (const char *)bytes, count, &err);
    if (checked < 0 && strncmp(err.text, "line ", 5) != 0)
        abort();
    if (report_fill(record, (const char *)bytes, count, &once, &err)) {
        if (!report_fill(record, once.at, once.bytes, &again, &err) ||
            once.bytes != again.bytes || memcmp(once.at, again.at, once.bytes) != 0)
            abort();
        if (report_fill_check(arena, once.at, once.bytes, &err) < 0)
            abort();
    } else if (err.kind != ERR_CONFIG || strncmp(err.text, "line ", 5) != 0) {
        abort();
    }
    arena_destroy(&arena);
    return 0;
}
