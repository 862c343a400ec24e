/* A target is parsed or refused; what is shown of it, and why it was refused, never holds a
 * password that the parser itself has found.
 * links: driver */

#include "driver/driver.h"
#include "driver/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Only a word that stands in the text once: it may as well be the name of the user. */
static void check_hidden(const char *text, const struct drv_target *target)
{
    static const char word[] = "S3cretWord";
    const char *first = strstr(text, word);
    if (!target->password || strcmp(target->password, word) != 0 || !first)
        return;
    if (!strstr(first + 1, word) && strstr(target->shown, word))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create(4096);
    char *text = arena_slice(arena, (struct slice){(const char *)bytes, count});
    struct drv_target target = {0};
    struct err err = {0};
    if (*text == '@' || strstr(text, "=@")) {
        arena_destroy(&arena); /* would read files */
        return 0;
    }
    if (drv_target_parse(arena, text, &target, &err)) {
        if (!target.label || !target.kind || !target.class || !target.shown)
            abort();
        check_hidden(text, &target);
    } else if (err.kind != ERR_USAGE || target.label) {
        abort();
    }
    (void)drv_redact(arena, text);
    arena_destroy(&arena);
    return 0;
}
