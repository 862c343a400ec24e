#include "base/num.h"
#include "driver/sqlite_internal.h"

#include <string.h>
#include <strings.h>

static const char *query_text(struct lite_conn *lite, struct arena *arena, const char *sql)
{
    struct value value;
    struct err ignored;
    char shown[32];
    if (!lite_query(&lite->base, arena, sql, &value, NULL, &ignored) ||
        value.type == VALUE_NULL)
        return "";
    if (value.type >= VALUE_TEXT)
        return value.as.text;
    value_print(shown, sizeof(shown), &value);
    return arena_text(arena, shown);
}

static const char *pragma_read(struct lite_conn *lite, struct arena *arena, const char *name)
{
    return query_text(lite, arena, arena_printf(arena, "PRAGMA %s", name));
}

/* SQLite says nothing when it does not know a pragma. */
static bool pragma_known(struct lite_conn *lite, const char *name)
{
    struct arena *arena = lite->base.arena;
    const char *quoted = sql_quote(arena, '\'', name);
    uint64_t all = 0, found = 0;
    struct err ignored;
    const char *sql = "SELECT name FROM pragma_pragma_list";
    if (!lite_query(&lite->base, arena, sql, NULL, &all, &ignored) || all == 0)
        return true;
    sql = arena_printf(arena, "%s WHERE name = lower(%s)", sql, quoted);
    return lite_query(&lite->base, arena, sql, NULL, &found, &ignored) && found > 0;
}

static bool pragma_set(struct lite_conn *lite, const char *name, const char *value,
                       struct err *err)
{
    struct arena *arena = lite->base.arena;
    if (!pragma_known(lite, name))
        return err_set(err, ERR_USAGE,
                       "SQLite has no pragma '%.64s' (set.NAME of a sqlite target is a pragma)",
                       name);
    const char *quoted = sql_quote(arena, '\'', value);
    const char *sql = arena_printf(arena, "PRAGMA %s=%s", name, quoted);
    return lite_query(&lite->base, arena, sql, NULL, NULL, err);
}

static const char *synchronous_name(const char *number)
{
    static const char *const names[] = {"OFF", "NORMAL", "FULL", "EXTRA"};
    uint64_t level;
    if (num_u64(slice_of(number), &level) && level < ARRAY_COUNT(names))
        return names[level];
    return number;
}

bool lite_is_given(const struct drv_target *target, const char *name)
{
    for (uint32_t i = 0; i < target->setting_count; i++) {
        if (strcasecmp(target->settings[i].name, name) == 0)
            return true;
    }
    return false;
}

const char *lite_pragma_shown(struct lite_conn *lite, struct arena *arena, const char *name)
{
    const char *value = pragma_read(lite, arena, name);
    return strcasecmp(name, "synchronous") == 0 ? synchronous_name(value) : value;
}

bool lite_apply_settings(struct lite_conn *lite, struct err *err)
{
    const struct drv_target *target = lite->base.target;
    if (!pragma_set(lite, "journal_mode", "WAL", err) ||
        !pragma_set(lite, "synchronous", "FULL", err))
        return false;
    for (uint32_t i = 0; i < target->setting_count; i++) {
        if (!pragma_set(lite, target->settings[i].name, target->settings[i].value, err))
            return false;
    }
    return true;
}
