#include "cli/cli_internal.h"

#include <ctype.h>

enum { WORD_MAX = 40 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

struct word {
    char at[WORD_MAX + 1];
    size_t bytes;
};

/* Lower case; false when it is empty or too long to be a name. */
static bool read_word(const char *text, struct word *word)
{
    size_t bytes = strlen(text);
    if (bytes == 0 || bytes > WORD_MAX)
        return false;
    *word = (struct word){.bytes = bytes};
    for (size_t i = 0; i < bytes; i++)
        word->at[i] = (char)tolower((unsigned char)text[i]);
    return true;
}

/* Edits that turn `a` into `b`: a letter put in, left out, changed, or two neighbours swapped
 * (optimal string alignment). */
static unsigned distance(const struct word *a, const struct word *b)
{
    unsigned cost[WORD_MAX + 1][WORD_MAX + 1] = {{0}};
    for (unsigned i = 0; i <= a->bytes; i++)
        cost[i][0] = i;
    for (unsigned j = 0; j <= b->bytes; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= a->bytes; i++)
        for (size_t j = 1; j <= b->bytes; j++) {
            unsigned change = cost[i - 1][j - 1] + (a->at[i - 1] != b->at[j - 1]);
            unsigned other = least(cost[i - 1][j], cost[i][j - 1]) + 1;
            cost[i][j] = least(change, other);
            if (i > 1 && j > 1 && a->at[i - 1] == b->at[j - 2] && a->at[i - 2] == b->at[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a->bytes][b->bytes];
}

/* A beginning counts as one mistake: "post" means postgres. */
static unsigned mistakes(const struct word *wanted, const struct word *name)
{
    bool begins = wanted->bytes >= 3 && strncmp(name->at, wanted->at, wanted->bytes) == 0;
    return begins && name->bytes > wanted->bytes ? 1 : distance(wanted, name);
}

const char *cli_nearest(const char *word, const char *const *names, size_t count)
{
    struct word wanted, name;
    const char *best = NULL;
    if (!read_word(word, &wanted))
        return NULL;
    unsigned below = (unsigned)(wanted.bytes + 2) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        if (!names[i] || !read_word(names[i], &name))
            continue;
        unsigned far = mistakes(&wanted, &name);
        if (far < below) {
            best = names[i];
            below = far;
        }
    }
    return best;
}

const char *cli_did_you_mean(struct cli *cli, const char *word, const char *const *names,
                             size_t count)
{
    const char *near = cli_nearest(word, names, count);
    return near ? arena_printf(cli->arena, ", did you mean '%s'?", near) : "";
}
