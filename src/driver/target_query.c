/* The query of a target: ?NAME=VALUE&… */

#include "base/num.h"
#include "driver/driver_internal.h"
#include "driver/target_internal.h"

#include <assert.h>
#include <string.h>

enum { ITEMS_MAX = 256, NAME_BYTES_MAX = 63 };

struct item {
    struct slice raw;
    const char *name, *value;
};

struct query {
    struct arena *arena;
    struct drv_target *target;
    struct item *items;
    uint32_t count;
    unsigned allows;
    struct drv_pair *settings;
    void *options;
    struct text rest;
};

static bool split_items(struct query *query, struct slice text, struct err *err)
{
    query->items = arena_array(query->arena, struct item, ITEMS_MAX);
    bool more = text.bytes > 0;
    while (more) {
        struct item *item = &query->items[query->count];
        struct slice name, value;
        if (query->count == ITEMS_MAX)
            return err_set(err, ERR_USAGE, "a target has at most %d parameters", ITEMS_MAX);
        more = slice_split(text, '&', &item->raw, &text);
        if (!slice_split(item->raw, '=', &name, &value) || name.bytes == 0)
            return err_set(err, ERR_USAGE,
                           "what follows the ? of a target is NAME=VALUE, joined by &");
        if (!percent_decode(query->arena, name, &item->name, err) ||
            !percent_decode(query->arena, value, &item->value, err))
            return false;
        for (uint32_t i = 0; i < query->count; i++) {
            if (strcmp(query->items[i].name, item->name) == 0)
                return err_set(err, ERR_USAGE, "parameter '%.60s' is given twice", item->name);
        }
        query->count++;
    }
    return true;
}

static const struct drv_option *find_option(const struct drv_class *class, const char *name)
{
    for (const struct drv_option *option = class->options; option && option->name; option++) {
        if (strcmp(option->name, name) == 0)
            return option;
    }
    return NULL;
}

static bool parse_bool(const char *text, bool *out)
{
    static const char *const yes[] = {"on", "true", "yes", "1"};
    static const char *const no[] = {"off", "false", "no", "0"};
    for (size_t i = 0; i < ARRAY_COUNT(yes); i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *out = strcmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static bool store_choice(const struct drv_option *option, const char *text, int *out,
                         struct arena *arena, struct err *err)
{
    struct text known;
    text_init(&known, arena, 200);
    for (int i = 0; option->values[i]; i++) {
        if (strcmp(option->values[i], text) == 0) {
            *out = i;
            return true;
        }
        text_addf(&known, "%s%s", i > 0 ? ", " : "", option->values[i]);
    }
    return err_set(err, ERR_USAGE, "%s is one of %s, not '%.60s'", option->name, known.at,
                   text);
}

/* Copies by bytes, so that the driver's struct needs no common shape. */
static bool store_option(struct query *query, const struct drv_option *option, const char *text,
                         struct err *err)
{
    char *at = (char *)query->options + option->offset;
    bool flag;
    int64_t number;
    int choice;
    switch (option->type) {
    case DRV_OPTION_BOOL:
        if (!parse_bool(text, &flag))
            return err_set(err, ERR_USAGE, "%s is on or off, not '%.60s'", option->name, text);
        memcpy(at, &flag, sizeof(flag));
        return true;
    case DRV_OPTION_INT:
        if (!num_i64(slice_of(text), &number) || number < option->min || number > option->max)
            return err_set(err, ERR_USAGE, "%s is a number from %lld to %lld, not '%.60s'",
                           option->name, (long long)option->min, (long long)option->max, text);
        memcpy(at, &number, sizeof(number));
        return true;
    case DRV_OPTION_TEXT: memcpy(at, &text, sizeof(text)); return true;
    case DRV_OPTION_CHOICE: break;
    }
    if (!store_choice(option, text, &choice, query->arena, err))
        return false;
    memcpy(at, &choice, sizeof(choice));
    return true;
}

static bool fill_defaults(struct query *query, struct err *err)
{
    const struct drv_class *class = query->target->class;
    query->options = arena_alloc(query->arena, class->options_bytes, _Alignof(max_align_t));
    for (const struct drv_option *option = class->options; option && option->name; option++) {
        if (option->initial && !store_option(query, option, option->initial, err))
            return false;
    }
    return true;
}

static bool fail_client(const struct query *query, const char *name, struct err *err)
{
    const struct drv_target *target = query->target;
    bool two = drv_find_client(target->dialect, slice_of("wire")) != NULL;
    return err_set(err, ERR_USAGE, "client of a %s target is %s%s, not '%.60s'", target->kind,
                   target->class->name, two ? " or wire" : "", name);
}

/* ?client= names another class for the same kind of target. */
static bool choose_client(struct query *query, struct err *err)
{
    struct drv_target *target = query->target;
    for (uint32_t i = 0; (query->allows & QUERY_CLIENT) && i < query->count; i++) {
        if (strcmp(query->items[i].name, "client") == 0)
            target->client = query->items[i].value;
    }
    if (!target->client || strcmp(target->client, target->class->name) == 0)
        return true;
    const struct drv_class *class =
        target->class == &drv_null ? NULL
                                   : drv_find_client(target->dialect, slice_of(target->client));
    if (!class)
        return fail_client(query, target->client, err);
    target->class = class;
    return true;
}

struct drv_target drv_control_target(struct arena *arena, const struct drv_target *target)
{
    struct drv_target control = *target;
    struct err ignored;
    if (!target->class->control)
        return control;
    control.class = target->class->control;
    struct query query = {.arena = arena, .target = &control};
    bool filled = fill_defaults(&query, &ignored);
    assert(filled); /* a class takes its own defaults */
    control.options = control.class->options_bytes > 0 ? query.options : NULL;
    return control;
}

static bool good_setting_name(struct slice name)
{
    if (name.bytes == 0 || name.bytes > NAME_BYTES_MAX)
        return false;
    for (size_t i = 0; i < name.bytes; i++) {
        char c = name.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool inner = (c >= '0' && c <= '9') || c == '.' || c == '-';
        if (!letter && !(inner && i > 0))
            return false;
    }
    return true;
}

static bool take_setting(struct query *query, const struct item *item, struct err *err)
{
    const char *name = item->name + strlen("set.");
    if (!good_setting_name(slice_of(name)))
        return err_set(err, ERR_USAGE, "set.NAME needs the name of a setting, not '%.60s'",
                       name);
    struct drv_target *target = query->target;
    query->settings[target->setting_count++] = (struct drv_pair){name, item->value};
    return true;
}

static bool take_tls(struct drv_target *target, const char *value, struct err *err)
{
    if (strcmp(value, "required") != 0 && strcmp(value, "off") != 0)
        return err_set(err, ERR_USAGE, "tls is required or off, not '%.60s'", value);
    target->tls = strcmp(value, "required") == 0 ? "required" : NULL;
    return true;
}

static bool fail_unknown(const struct query *query, const char *name, struct err *err)
{
    static const struct {
        unsigned allows;
        const char *name;
    } names[] = {
        {QUERY_BIN,      "bin"     },
        {QUERY_CLIENT,   "client"  },
        {QUERY_SETTINGS, "set.NAME"},
        {QUERY_SOCKET,   "socket"  },
        {QUERY_SOCKET,   "tls"     },
    };
    struct text known;
    text_init(&known, query->arena, 300);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (query->allows & names[i].allows)
            text_addf(&known, "%s%s", known.bytes ? ", " : "", names[i].name);
    }
    const struct drv_option *option = query->target->class->options;
    for (; option && option->name; option++)
        text_addf(&known, "%s%s", known.bytes ? ", " : "", option->name);
    return err_set(err, ERR_USAGE, "unknown parameter '%.60s'; a %s target %s%s", name,
                   query->target->kind, known.bytes ? "knows " : "has no parameters", known.at);
}

/* Which of our own parameters is it? 0: none. */
static unsigned ours(const char *name)
{
    if (strcmp(name, "bin") == 0)
        return QUERY_BIN;
    if (strcmp(name, "client") == 0)
        return QUERY_CLIENT;
    if (strncmp(name, "set.", strlen("set.")) == 0)
        return QUERY_SETTINGS;
    if (strcmp(name, "socket") == 0 || strcmp(name, "tls") == 0)
        return QUERY_SOCKET;
    return 0;
}

static bool take_ours(struct query *query, const struct item *item, struct err *err)
{
    switch (query->allows & ours(item->name)) {
    case QUERY_BIN: query->target->bin = item->value; return true;
    case QUERY_CLIENT: return true;
    case QUERY_SETTINGS: return take_setting(query, item, err);
    default: break;
    }
    if (strcmp(item->name, "tls") == 0)
        return take_tls(query->target, item->value, err);
    query->target->socket = item->value;
    return true;
}

/* The other client of the same server that has an option of that name, or NULL. */
static const struct drv_class *class_with(const struct drv_target *target, const char *name)
{
    static const char *const clients[] = {"libpq", "libmariadb", "wire"};
    for (size_t i = 0; i < ARRAY_COUNT(clients); i++) {
        const struct drv_class *class = drv_find_client(target->dialect, slice_of(clients[i]));
        if (class && find_option(class, name))
            return class;
    }
    return NULL;
}

static bool take(struct query *query, const struct item *item, struct err *err)
{
    const struct drv_option *option = find_option(query->target->class, item->name);
    if (option)
        return store_option(query, option, item->value, err);
    if (query->allows & ours(item->name))
        return take_ours(query, item, err);
    if (ours(item->name) == QUERY_BIN || !(query->allows & QUERY_REST))
        return fail_unknown(query, item->name, err);
    const struct drv_class *other = class_with(query->target, item->name);
    if (other)
        return err_set(err, ERR_USAGE, "%s is a parameter of client=%s; this target's is %s",
                       item->name, other->name, query->target->class->name);
    text_add(&query->rest, query->rest.bytes ? "&" : "?");
    text_add_slice(&query->rest, item->raw);
    return true;
}

bool query_read(struct arena *arena, struct slice text, unsigned allows,
                struct drv_target *target, const char **rest, struct err *err)
{
    struct query query = {.arena = arena, .target = target, .allows = allows};
    assert(target->class);
    text_init(&query.rest, arena, TARGET_BYTES_MAX);
    if (!split_items(&query, text, err) || !choose_client(&query, err) ||
        !fill_defaults(&query, err))
        return false;
    query.settings = arena_array(arena, struct drv_pair, query.count);
    target->settings = query.settings;
    for (uint32_t i = 0; i < query.count; i++) {
        if (!take(&query, &query.items[i], err))
            return false;
    }
    target->options = target->class->options_bytes > 0 ? query.options : NULL;
    *rest = query.rest.at;
    return true;
}
