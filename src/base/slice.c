#include "base/slice.h"

bool slice_split(struct slice text, char mark, struct slice *head, struct slice *tail)
{
    const char *at = text.bytes > 0 ? memchr(text.at, mark, text.bytes) : NULL;
    if (!at) {
        *head = text;
        *tail = slice_skip(text, text.bytes);
        return false;
    }
    *head = (struct slice){text.at, (size_t)(at - text.at)};
    *tail = slice_skip(text, head->bytes + 1);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct slice slice_trim(struct slice text)
{
    while (text.bytes > 0 && is_blank(text.at[0]))
        text = slice_skip(text, 1);
    while (text.bytes > 0 && is_blank(text.at[text.bytes - 1]))
        text.bytes--;
    return text;
}

/* Only the last star ever has to be tried again: an earlier one that swallowed more could not
 * help. So the work is at most text times pattern. */
bool slice_glob(struct slice text, const char *pattern)
{
    const char *star = NULL;
    size_t at = 0, star_at = 0;
    while (at < text.bytes) {
        if (*pattern == '*') {
            star = ++pattern;
            star_at = at;
        } else if (*pattern != '\0' && (*pattern == '?' || *pattern == text.at[at])) {
            pattern++;
            at++;
        } else if (star) {
            pattern = star;
            at = ++star_at;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
