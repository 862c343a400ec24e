#include "cli/cli_internal.h"
#include "driver/target.h"

enum { ARGUMENT_MAX = 1 << 20 };

/* Where the target begins in "--on=TARGET", "LABEL=TARGET" and both. */
static size_t target_start(const char *argument)
{
    static const char option[] = "--on=";
    size_t start = strncmp(argument, option, sizeof(option) - 1) == 0 ? sizeof(option) - 1 : 0;
    const char *rest = argument + start;
    size_t label = strcspn(rest, "=:@/?% '");
    if (label > 0 && rest[label] == '=' && strchr(rest + label, ':'))
        return start + label + 1;
    return start;
}

static unsigned stars(const char *text)
{
    unsigned count = 0;
    while ((text = strstr(text, "***")) != NULL) {
        count++;
        text += 3;
    }
    return count;
}

/* drv_redact also tidies blanks, which is right for a target and wrong for anything else: its
 * answer counts only where it has hidden something. */
static const char *redact_from(struct arena *arena, const char *text, size_t start)
{
    const char *tail = drv_redact(arena, text + start);
    if (stars(tail) <= stars(text + start))
        return text;
    return arena_printf(arena, "%.*s%s", (int)start, text, tail);
}

/* The beginning of `scheme` in a word with "scheme://"; the word's bytes when it has none. */
static size_t scheme_start(struct slice word)
{
    const char *mark = memmem(word.at, word.bytes, "://", 3);
    size_t at = mark ? (size_t)(mark - word.at) : word.bytes;
    while (mark && at > 0 && (word.at[at - 1] == '+' || (word.at[at - 1] | 32) >= 'a') &&
           (word.at[at - 1] | 32) <= 'z')
        at--;
    return at;
}

/* Every URL inside a longer text, a shell command say. */
static const char *redact_words(struct arena *arena, const char *text)
{
    struct text out;
    struct slice rest = slice_of(text), word;
    bool more = true;
    text_init(&out, arena, ARGUMENT_MAX);
    while (more) {
        more = slice_split(rest, ' ', &word, &rest);
        const char *copy = arena_slice(arena, word);
        text_add(&out, redact_from(arena, copy, scheme_start(word)));
        if (more)
            text_add_char(&out, ' ');
    }
    return out.cut ? "***" : out.at;
}

const char *cli_redact(struct arena *arena, const char *argument)
{
    const char *clean = strstr(argument, "://") ? redact_words(arena, argument) : argument;
    clean = redact_from(arena, clean, target_start(clean));
    return redact_from(arena, clean, 0);
}

static size_t common_head(struct slice a, struct slice b)
{
    size_t bytes = 0;
    while (bytes < a.bytes && bytes < b.bytes && a.at[bytes] == b.at[bytes])
        bytes++;
    return bytes;
}

static size_t common_tail(struct slice a, struct slice b)
{
    size_t bytes = 0;
    while (bytes < a.bytes && bytes < b.bytes &&
           a.at[a.bytes - 1 - bytes] == b.at[b.bytes - 1 - bytes])
        bytes++;
    return bytes;
}

void cli_hide_secrets(struct arena *arena, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct slice word = slice_of(argv[i]), clean = slice_of(cli_redact(arena, argv[i]));
        if (slice_equal(word, clean))
            continue;
        size_t head = common_head(word, clean);
        size_t tail = common_tail(slice_skip(word, head), slice_skip(clean, head));
        memset(argv[i] + head, '*', word.bytes - head - tail);
    }
}
