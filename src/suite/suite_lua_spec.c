#include "base/num.h"
#include "base/text.h"
#include "suite/suite_lua_internal.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static bool is_position(const char *key)
{
    return key[0] >= '0' && key[0] <= '9';
}

void suite_spec_fault(const struct suite_spec *spec, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    text_vprint(text, sizeof(text), fmt, args);
    va_end(args);
    if (spec->name)
        suite_fault_add(spec->ld, &spec->where, "%s '%s': %s", spec->what, spec->name, text);
    else
        suite_fault_add(spec->ld, &spec->where, "%s: %s", spec->what, text);
}

/* The label of a key in messages. */
static void fault_at(const struct suite_spec *spec, const char *key, const char *expected)
{
    const char *found = suite_lua_describe(spec->lua, -1);
    suite_spec_fault(spec, "%s%s: expected %s, got %s", is_position(key) ? "element " : "", key,
                     expected, found);
}

static bool is_field(const char *key, const char *const *fields)
{
    for (size_t i = 0; fields[i]; i++) {
        if (strcmp(key, fields[i]) == 0)
            return true;
    }
    return false;
}

static void check_field(const struct suite_spec *spec, const char *const *fields)
{
    if (lua_type(spec->lua, -2) != LUA_TSTRING) {
        suite_spec_fault(spec, "a field's name is text or a position");
        return;
    }
    const char *key = lua_tostring(spec->lua, -2);
    if (is_field(key, fields))
        return;
    const char *guess = suite_guess(spec->ld, key, fields);
    suite_spec_fault(spec, "unknown field '%.40s'%s%s%s", key, guess ? "; did you mean '" : "",
                     guess ? guess : "", guess ? "'?" : "");
}

static void check_fields(const struct suite_spec *spec, const char *const *fields,
                         uint32_t positions)
{
    lua_State *lua = spec->lua;
    lua_pushnil(lua);
    while (lua_next(lua, spec->index)) {
        int64_t position;
        if (!suite_lua_whole(lua, -2, &position))
            check_field(spec, fields);
        else if (position < 1 || (uint64_t)position > positions)
            suite_spec_fault(spec, "element %lld: unexpected", (long long)position);
        lua_pop(lua, 1);
    }
}

struct suite_spec suite_spec_open(lua_State *lua, const char *what, const char *const *fields,
                                  uint32_t positions)
{
    suite_lua_check_memory(lua);
    struct suite_spec spec = {.lua = lua,
                              .ld = suite_loader(lua),
                              .index = 1,
                              .what = what,
                              .where = suite_lua_place(lua)};
    if (lua_type(lua, 1) != LUA_TTABLE) {
        suite_spec_fault(&spec, "expected { ... }, got %s", suite_lua_describe(lua, 1));
        lua_settop(lua, 0);
        lua_newtable(lua);
    }
    lua_settop(lua, 1);
    /* Messages are better with the name. */
    if (lua_rawgeti(lua, 1, 1) == LUA_TSTRING) {
        const char *name = lua_tostring(lua, -1);
        if (suite_is_name(name))
            spec.name = arena_text(spec.ld->arena, name);
    }
    lua_pop(lua, 1);
    check_fields(&spec, fields, positions);
    return spec;
}

const char *suite_spec_name(struct suite_spec *spec)
{
    if (!spec->name) {
        lua_rawgeti(spec->lua, spec->index, 1);
        fault_at(spec, "1", "a name (letters, digits, '_', '-', '.'; at most 63 bytes)");
        lua_pop(spec->lua, 1);
        return "_";
    }
    return spec->name;
}

bool suite_spec_push(const struct suite_spec *spec, const char *key)
{
    int type;
    uint64_t position;
    if (is_position(key) && num_u64(slice_of(key), &position)) {
        type = lua_rawgeti(spec->lua, spec->index, (lua_Integer)position);
    } else {
        lua_pushstring(spec->lua, key);
        type = lua_rawget(spec->lua, spec->index);
    }
    if (type == LUA_TNIL)
        lua_pop(spec->lua, 1);
    return type != LUA_TNIL;
}

bool suite_spec_has(const struct suite_spec *spec, const char *key)
{
    bool has = suite_spec_push(spec, key);
    if (has)
        lua_pop(spec->lua, 1);
    return has;
}

bool suite_spec_enter(const struct suite_spec *spec, const char *key, const char *const *fields,
                      uint32_t positions, struct suite_spec *inner)
{
    if (!suite_spec_push(spec, key))
        return false;
    if (lua_type(spec->lua, -1) != LUA_TTABLE) {
        fault_at(spec, key, "{ ... }");
        lua_pop(spec->lua, 1);
        return false;
    }
    *inner = *spec;
    inner->index = lua_gettop(spec->lua);
    if (fields)
        check_fields(inner, fields, positions);
    return true;
}

const char *suite_spec_text(const struct suite_spec *spec, const char *key)
{
    if (!suite_spec_push(spec, key))
        return NULL;
    const char *text = suite_lua_text(spec->lua, -1);
    if (!text)
        fault_at(spec, key, "text (without NUL, at most 1 MiB)");
    lua_pop(spec->lua, 1);
    return text;
}

bool suite_spec_whole(const struct suite_spec *spec, const char *key, int64_t min, int64_t max,
                      int64_t *out)
{
    int64_t number;
    if (!suite_spec_push(spec, key))
        return false;
    bool good = suite_lua_whole(spec->lua, -1, &number) && number >= min && number <= max;
    if (good) {
        *out = number;
    } else {
        char expected[80];
        text_print(expected, sizeof(expected), "a whole number from %lld to %lld",
                   (long long)min, (long long)max);
        fault_at(spec, key, expected);
    }
    lua_pop(spec->lua, 1);
    return good;
}

bool suite_spec_flag(const struct suite_spec *spec, const char *key, bool *out)
{
    if (!suite_spec_push(spec, key))
        return false;
    bool good = lua_isboolean(spec->lua, -1);
    if (good)
        *out = lua_toboolean(spec->lua, -1);
    else
        fault_at(spec, key, "true or false");
    lua_pop(spec->lua, 1);
    return good;
}

static bool read_duration(lua_State *lua, uint64_t *ns)
{
    if (lua_type(lua, -1) == LUA_TNUMBER) {
        double seconds = lua_tonumber(lua, -1);
        if (!(seconds >= 0 && seconds < 1e9))
            return false;
        *ns = (uint64_t)(seconds * 1e9);
        return true;
    }
    size_t bytes;
    const char *text = lua_type(lua, -1) == LUA_TSTRING ? lua_tolstring(lua, -1, &bytes) : NULL;
    return text && num_duration((struct slice){text, bytes}, ns);
}

bool suite_spec_duration(const struct suite_spec *spec, const char *key, uint64_t *ns)
{
    uint64_t found = 0;
    if (!suite_spec_push(spec, key))
        return false;
    bool good = read_duration(spec->lua, &found) && found > 0 &&
                found <= UINT64_C(24) * 3600 * NS_PER_S;
    if (good)
        *ns = found;
    else
        fault_at(spec, key, "a duration up to 24h, as \"10s\" or \"5ms\"");
    lua_pop(spec->lua, 1);
    return good;
}

bool suite_spec_real(const struct suite_spec *spec, const char *key, double min, double max,
                     double *out)
{
    char expected[80];
    if (!suite_spec_push(spec, key))
        return false;
    double number = lua_type(spec->lua, -1) == LUA_TNUMBER ? lua_tonumber(spec->lua, -1) : -1;
    bool good = number >= min && number <= max;
    if (good)
        *out = number;
    text_print(expected, sizeof(expected), "a number from %g to %.0f", min, max);
    if (!good)
        fault_at(spec, key, expected);
    lua_pop(spec->lua, 1);
    return good;
}

bool suite_spec_choice(const struct suite_spec *spec, const char *key, const char *const *names,
                       unsigned *out)
{
    if (!suite_spec_push(spec, key))
        return false;
    const char *text =
        lua_type(spec->lua, -1) == LUA_TSTRING ? lua_tostring(spec->lua, -1) : "";
    unsigned index = 0;
    while (names[index] && strcmp(names[index], text) != 0)
        index++;
    bool good = names[index] != NULL;
    if (good) {
        *out = index;
    } else {
        char expected[160];
        size_t at = 0;
        for (index = 0; names[index]; index++)
            at += text_print(expected + at, sizeof(expected) - at, "%s\"%s\"",
                             index > 0 ? " or " : "", names[index]);
        fault_at(spec, key, expected);
    }
    lua_pop(spec->lua, 1);
    return good;
}

struct suite_expr *suite_spec_expr(const struct suite_spec *spec, const char *key)
{
    if (!suite_spec_push(spec, key))
        return NULL;
    struct suite_expr *expr = suite_lua_expr(spec->lua, -1);
    if (!expr)
        fault_at(spec, key, "a generator, number, text or boolean");
    lua_pop(spec->lua, 1);
    return expr;
}

void *suite_spec_box(const struct suite_spec *spec, const char *key, enum suite_box kind)
{
    static const char *const expected[SUITE_BOX_COUNT] = {
        [SUITE_BOX_TABLE] = "a table made by table { ... }",
        [SUITE_BOX_QUERY] = "a query { ... }",
        [SUITE_BOX_ANSWER] = "an answer { ... }",
    };
    if (!suite_spec_push(spec, key)) {
        suite_spec_fault(spec, "element %s: expected %s", key, expected[kind]);
        return NULL;
    }
    void *item = suite_box_get(spec->lua, -1, kind);
    if (!item)
        fault_at(spec, key, expected[kind]);
    lua_pop(spec->lua, 1);
    return item;
}

/* ---- texts by dialect */
static void put_dialect(const struct suite_spec *spec, const char *key,
                        const char *out[DIALECT_COUNT], const char **fallback)
{
    static const char *const known[] = {"sqlite", "postgres", "mariadb",
                                        "mysql",  "default",  NULL};
    lua_State *lua = spec->lua;
    enum dialect dialect;
    const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
    const char *text = suite_lua_text(lua, -1);
    bool is_default = strcmp(name, "default") == 0;
    if (!is_default && !dialect_parse(slice_of(name), &dialect)) {
        const char *guess = suite_guess(spec->ld, name, known);
        suite_spec_fault(spec, "%s: unknown dialect '%.40s'%s%s%s", key, name,
                         guess ? "; did you mean '" : "", guess ? guess : "",
                         guess ? "'?" : "");
    } else if (!text) {
        fault_at(spec, key, "text for each dialect");
    } else if (is_default) {
        *fallback = text;
    } else {
        out[dialect] = text;
    }
}

bool suite_spec_dialects(const struct suite_spec *spec, const char *key,
                         const char *out[DIALECT_COUNT])
{
    lua_State *lua = spec->lua;
    const char *fallback = NULL;
    if (!suite_spec_push(spec, key))
        return false;
    if (lua_type(lua, -1) == LUA_TTABLE) {
        lua_pushnil(lua);
        while (lua_next(lua, -2)) {
            put_dialect(spec, key, out, &fallback);
            lua_pop(lua, 1);
        }
        if (!out[DIALECT_MYSQL])
            out[DIALECT_MYSQL] = out[DIALECT_MARIADB];
    } else {
        fallback = suite_lua_text(lua, -1);
        if (!fallback)
            fault_at(spec, key, "text, or { sqlite = ..., default = ... }");
    }
    for (unsigned i = 0; i < DIALECT_COUNT; i++) {
        if (!out[i])
            out[i] = fallback;
    }
    lua_pop(lua, 1);
    return true;
}

void **suite_spec_boxes(const struct suite_spec *spec, lua_Integer first, enum suite_box kind,
                        uint32_t *count)
{
    static const char *const expected[SUITE_BOX_COUNT] = {
        [SUITE_BOX_COLUMN] = "a column { ... }",
        [SUITE_BOX_STEP] = "a step",
        [SUITE_BOX_QUERY] = "a query { ... }",
    };
    lua_State *lua = spec->lua;
    lua_Integer end = (lua_Integer)lua_rawlen(lua, -1);
    struct suite_list list = {0};
    for (lua_Integer i = first; i <= end; i++) {
        lua_rawgeti(lua, -1, i);
        void *item = suite_box_get(lua, -1, kind);
        char key[24];
        text_print(key, sizeof(key), "%lld", (long long)i);
        if (item)
            suite_list_add(spec->ld->arena, &list, item);
        else
            fault_at(spec, key, expected[kind]);
        lua_pop(lua, 1);
    }
    *count = (uint32_t)list.count;
    return list.items;
}
