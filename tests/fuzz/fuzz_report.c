/* Any record that can be read can be reported, and nothing in it steers a terminal or opens a
 * comment in a document.
 * links: report */

#include "record/record_json.h"
#include "report/report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void look_for_controls(const struct text *out)
{
    for (size_t i = 0; i < out->bytes; i++) {
        unsigned char c = (unsigned char)out->at[i];
        if ((c < ' ' && c != '\n') || c == 0x7f)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create(1 << 16);
    struct record *record;
    struct err err = {0};
    if (record_from_json(arena, (const char *)bytes, count, &record, &err)) {
        struct text out;
        text_init(&out, arena, 1 << 26);
        report_terminal(record, &out, 80, false);
        report_answer(record, &out);
        look_for_controls(&out);
        text_reset(&out);
        report_markdown(record, &out);
        look_for_controls(&out);
        if (memchr(out.at, '<', out.bytes))
            abort();
    }
    arena_destroy(&arena);
    return 0;
}
