/* Settings of SQLite are pragmas. SQLite says nothing when it does not know one, takes a wrong
 * word for some default and a wrong number for zero, so a value is looked at before it goes in,
 * and read back after it. */

#include "base/num.h"
#include "driver/sqlite_internal.h"

#include <string.h>
#include <strings.h>

enum pragma_kind { PRAGMA_BOOL, PRAGMA_INT, PRAGMA_WORD };

struct pragma {
    const char *name;
    enum pragma_kind kind;
    bool early; /* the first write fixes it, and WAL is one */
    /* WORD: what it takes, NULL at the end; SQLite may answer the place in the list. */
    const char *const *words;
};

static const char *const auto_vacuum[] = {"NONE", "FULL", "INCREMENTAL", NULL};
static const char *const encoding[] = {"UTF-8", "UTF-16le", "UTF-16be", NULL};
static const char *const journal_mode[] = {"DELETE", "TRUNCATE", "PERSIST", "MEMORY",
                                           "WAL",    "OFF",      NULL};
static const char *const locking_mode[] = {"NORMAL", "EXCLUSIVE", NULL};
static const char *const secure_delete[] = {"OFF", "ON", "FAST", NULL};
static const char *const synchronous[] = {"OFF", "NORMAL", "FULL", "EXTRA", NULL};
static const char *const temp_store[] = {"DEFAULT", "FILE", "MEMORY", NULL};

/* Those that set something which stays and can be read: no commands, no tables, nothing that
 * is deprecated or may ruin a file. */
static const struct pragma pragmas[] = {
    {.name = "analysis_limit", .kind = PRAGMA_INT                     },
    {.name = "application_id", .kind = PRAGMA_INT                     },
    {.name = "auto_vacuum",    .kind = PRAGMA_WORD,                     .early = true, .words = auto_vacuum},
    {.name = "automatic_index",    .kind = PRAGMA_BOOL                                          },
    {.name = "busy_timeout",  .kind = PRAGMA_INT},
    {.name = "cache_size",     .kind = PRAGMA_INT                                             },
    {.name = "cache_spill",  .kind = PRAGMA_BOOL},
    {.name = "cell_size_check",    .kind = PRAGMA_BOOL                                               },
    {.name = "checkpoint_fullfsync",  .kind = PRAGMA_BOOL},
    {.name = "encoding",    .kind = PRAGMA_WORD,                                                  .early = true, .words = encoding},
    {.name = "foreign_keys",  .kind = PRAGMA_BOOL},
    {.name = "fullfsync",                        .kind = PRAGMA_BOOL                                         },
    {.name = "hard_heap_limit",                        .kind = PRAGMA_INT                                                                  },
    {.name = "ignore_check_constraints",                        .kind = PRAGMA_BOOL},
    {.name = "journal_mode",                        .kind = PRAGMA_WORD,.words = journal_mode},
    {.name = "journal_size_limit",                        .kind = PRAGMA_INT                                            },
    {.name = "legacy_alter_table",   .kind = PRAGMA_BOOL                                                                              },
    {.name = "locking_mode",.kind = PRAGMA_WORD,.words = locking_mode},
    {.name = "max_page_count",   .kind = PRAGMA_INT},
    {.name = "mmap_size",                       .kind = PRAGMA_INT                                                               },
    {.name = "page_size", .kind = PRAGMA_INT,                    .early = true},
    {.name = "query_only",      .kind = PRAGMA_BOOL    },
    {.name = "read_uncommitted",      .kind = PRAGMA_BOOL                          },
    {.name = "recursive_triggers",                        .kind = PRAGMA_BOOL                                           },
    {.name = "reverse_unordered_selects",                        .kind = PRAGMA_BOOL                                 },
    {.name = "secure_delete",                        .kind = PRAGMA_WORD,          .words = secure_delete},
    {.name = "soft_heap_limit",                        .kind = PRAGMA_INT},
    {.name = "synchronous",                        .kind = PRAGMA_WORD,        .words = synchronous},
    {.name = "temp_store",  .kind = PRAGMA_WORD,                                .words = temp_store},
    {.name = "threads",.kind = PRAGMA_INT                                    },
    {.name = "trusted_schema",.kind = PRAGMA_BOOL},
    {.name = "user_version",     .kind = PRAGMA_INT                       },
    {.name = "wal_autocheckpoint",                        .kind = PRAGMA_INT                                              },
};

static const struct pragma *find_pragma(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(pragmas); i++) {
        if (strcasecmp(pragmas[i].name, name) == 0)
            return &pragmas[i];
    }
    return NULL;
}

static bool read_bool(const char *text, int64_t *out)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes"};
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (strcasecmp(words[i], text) == 0) {
            *out = (int64_t)(i % 2);
            return true;
        }
    }
    int64_t number;
    if (!num_i64(slice_of(text), &number))
        return false;
    *out = number;
    return true;
}

static bool read_word(const char *const *words, const char *text, int64_t *out)
{
    int64_t number, count = 0;
    for (; words[count]; count++) {
        if (strcasecmp(words[count], text) == 0) {
            *out = count;
            return true;
        }
    }
    if (!num_i64(slice_of(text), &number) || number < 0 || number >= count)
        return false;
    *out = number;
    return true;
}

/* A value, as given or as read back, as one number that can be compared. */
static bool read_value(const struct pragma *pragma, const char *text, int64_t *out)
{
    switch (pragma->kind) {
    case PRAGMA_BOOL: return read_bool(text, out);
    case PRAGMA_INT: return num_i64(slice_of(text), out);
    case PRAGMA_WORD: break;
    }
    return read_word(pragma->words, text, out);
}

static bool pragma_read(struct lite_conn *lite, struct arena *arena, const char *name,
                        const char **text, struct err *err)
{
    struct value value;
    char shown[32];
    const char *sql = arena_printf(arena, "PRAGMA %s", name);
    if (!lite_query(&lite->base, arena, sql, &value, NULL, err))
        return false;
    *text = "";
    if (value.type >= VALUE_TEXT) {
        *text = value.as.text;
    } else if (value.type != VALUE_NULL) {
        value_print(shown, sizeof(shown), &value);
        *text = arena_text(arena, shown);
    }
    return true;
}

static const char *value_shown(const struct pragma *pragma, const char *text)
{
    int64_t place;
    bool word = pragma && pragma->kind == PRAGMA_WORD;
    /* Words stay as SQLite writes them. */
    if (word && num_i64(slice_of(text), &place) && read_value(pragma, text, &place))
        return pragma->words[place];
    return text;
}

const char *lite_pragma_shown(struct lite_conn *lite, struct arena *arena, const char *name)
{
    struct err ignored;
    const char *text;
    if (!pragma_read(lite, arena, name, &text, &ignored))
        return "";
    return value_shown(find_pragma(name), text);
}

static bool pragma_write(struct lite_conn *lite, const char *name, const char *value,
                         struct err *err)
{
    struct arena *arena = lite->base.arena;
    const char *sql = arena_printf(arena, "PRAGMA %s=%s", name, sql_quote(arena, '\'', value));
    return lite_query(&lite->base, arena, sql, NULL, NULL, err);
}

static bool fail_name(struct lite_conn *lite, const char *name, struct err *err)
{
    struct arena *arena = lite->base.arena;
    struct err ignored;
    uint64_t found = 0;
    const char *sql =
        arena_printf(arena, "SELECT 1 FROM pragma_pragma_list WHERE name = lower(%s)",
                     sql_quote(arena, '\'', name));
    if (lite_query(&lite->base, arena, sql, NULL, &found, &ignored) && found > 0)
        return err_set(err, ERR_USAGE,
                       "set.%.64s: PRAGMA %.64s is no setting that a target can have "
                       "(docs/targets.md lists those)",
                       name, name);
    return err_set(err, ERR_USAGE,
                   "set.%.64s: SQLite has no such pragma (set.NAME of a sqlite target is one; "
                   "docs/targets.md lists them)",
                   name);
}

static bool fail_value(struct lite_conn *lite, const struct pragma *pragma, const char *value,
                       struct err *err)
{
    struct text takes;
    text_init(&takes, lite->base.arena, 200);
    if (pragma->kind == PRAGMA_INT)
        text_add(&takes, "a whole number");
    else if (pragma->kind == PRAGMA_BOOL)
        text_add(&takes, "on or off");
    for (int i = 0; pragma->words && pragma->words[i]; i++)
        text_addf(&takes, "%s%s", i > 0 ? ", " : "one of ", pragma->words[i]);
    return err_set(err, ERR_USAGE, "set.%s: SQLite does not take '%.60s'; it takes %s",
                   pragma->name, value, takes.at);
}

static bool setting_apply(struct lite_conn *lite, const struct drv_pair *pair, struct err *err)
{
    const struct pragma *pragma = find_pragma(pair->name);
    const char *text;
    int64_t wanted, found;
    if (!pragma)
        return fail_name(lite, pair->name, err);
    if (!read_value(pragma, pair->value, &wanted) ||
        (pragma->kind == PRAGMA_BOOL && (wanted < 0 || wanted > 1)))
        return fail_value(lite, pragma, pair->value, err);
    if (!pragma_write(lite, pragma->name, pair->value, err) ||
        !pragma_read(lite, lite->base.arena, pragma->name, &text, err))
        return err_wrap(err, "set.%s", pragma->name);
    if (read_value(pragma, text, &found) &&
        (pragma->kind == PRAGMA_BOOL ? wanted == (found != 0) : wanted == found))
        return true;
    return err_set(err, ERR_USAGE, "set.%s: SQLite did not take '%.60s'; it %s%.60s",
                   pragma->name, pair->value, *text ? "is " : "has no such setting here",
                   value_shown(pragma, text));
}

static bool apply_given(struct lite_conn *lite, bool early, struct err *err)
{
    const struct drv_target *target = lite->base.target;
    for (uint32_t i = 0; i < target->setting_count; i++) {
        const struct pragma *pragma = find_pragma(target->settings[i].name);
        bool is_early = pragma && pragma->early;
        if (is_early == early && !setting_apply(lite, &target->settings[i], err))
            return false;
    }
    return true;
}

bool lite_is_given(const struct drv_target *target, const char *name)
{
    for (uint32_t i = 0; i < target->setting_count; i++) {
        if (strcasecmp(target->settings[i].name, name) == 0)
            return true;
    }
    return false;
}

bool lite_apply_settings(struct lite_conn *lite, struct err *err)
{
    const struct drv_target *target = lite->base.target;
    return apply_given(lite, true, err) &&
           (lite_is_given(target, "journal_mode") ||
            pragma_write(lite, "journal_mode", "WAL", err)) &&
           (lite_is_given(target, "synchronous") ||
            pragma_write(lite, "synchronous", "FULL", err)) &&
           apply_given(lite, false, err);
}
