#include "base/num.h"
#include "base/text.h"
#include "suite/suite_lua_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {
    [SUITE_PARAM_INT] = "integer",
    [SUITE_PARAM_REAL] = "number",
    [SUITE_PARAM_TEXT] = "text",
    [SUITE_PARAM_FLAG] = "boolean",
};

/* ---- values */
static bool from_lua(lua_State *lua, enum suite_param_type type, struct value *out)
{
    int64_t whole;
    const char *text;
    switch (type) {
    case SUITE_PARAM_INT:
        if (!suite_lua_whole(lua, -1, &whole))
            return false;
        *out = value_int(whole);
        return true;
    case SUITE_PARAM_REAL:
        *out = value_real(lua_tonumber(lua, -1));
        return lua_type(lua, -1) == LUA_TNUMBER && __builtin_isfinite(out->as.r);
    case SUITE_PARAM_TEXT:
        text = suite_lua_text(lua, -1);
        if (text)
            *out = value_text(text, (uint32_t)strlen(text));
        return text != NULL;
    case SUITE_PARAM_FLAG:
        *out = value_int(lua_toboolean(lua, -1));
        return lua_isboolean(lua, -1);
    }
    return false;
}

static bool from_text(struct slice text, enum suite_param_type type, struct value *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    switch (type) {
    case SUITE_PARAM_INT: out->type = VALUE_INT; return num_i64(text, &out->as.i);
    case SUITE_PARAM_REAL: out->type = VALUE_REAL; return num_real(text, &out->as.r);
    case SUITE_PARAM_TEXT: *out = value_text(text.at, (uint32_t)text.bytes); return true;
    case SUITE_PARAM_FLAG: break;
    }
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (slice_is(text, words[i])) {
            *out = value_int((int64_t)(i % 2));
            return true;
        }
    }
    return false;
}

static bool in_range(const struct suite_param_def *def, const struct value *value)
{
    double x = value->type == VALUE_INT ? (double)value->as.i : value->as.r;
    return !def->p.has_range || (x >= def->p.min && x <= def->p.max);
}

/* "a whole number from 100 to 10000000" */
static void print_expected(char *buffer, size_t room, const struct suite_param_def *def)
{
    static const char *const what[] = {
        [SUITE_PARAM_INT] = "a whole number",
        [SUITE_PARAM_REAL] = "a number",
        [SUITE_PARAM_TEXT] = "text",
        [SUITE_PARAM_FLAG] = "true or false",
    };
    size_t at = text_print(buffer, room, "%s", what[def->type]);
    if (!def->p.has_range)
        return;
    if (def->p.min > -__DBL_MAX__)
        at += text_print(buffer + at, room - at, " from %.15g", def->p.min);
    if (def->p.max < __DBL_MAX__)
        text_print(buffer + at, room - at, "%s%.15g",
                   def->p.min > -__DBL_MAX__ ? " to " : " up to ", def->p.max);
}

/* ---- declarations: integer { 10000, min = 100, quick = 1000, help = "rows" } */
static void read_value(const struct suite_spec *spec, struct suite_param_def *def,
                       const char *key, struct value *out)
{
    char expected[120];
    struct value value = {0};
    print_expected(expected, sizeof(expected), def);
    if (from_lua(spec->lua, def->type, &value) && in_range(def, &value))
        *out = value;
    else
        suite_spec_fault(spec, "%s: expected %s, got %s", key, expected,
                         suite_lua_describe(spec->lua, -1));
    lua_pop(spec->lua, 1);
}

static bool read_limit(const struct suite_spec *spec, const char *key, double *out)
{
    if (!suite_spec_push(spec, key))
        return false;
    bool good = lua_type(spec->lua, -1) == LUA_TNUMBER;
    if (good)
        *out = lua_tonumber(spec->lua, -1);
    else
        suite_spec_fault(spec, "%s: expected a number", key);
    lua_pop(spec->lua, 1);
    return good;
}

static void read_range(const struct suite_spec *spec, struct suite_param_def *def)
{
    def->p.min = -__DBL_MAX__;
    def->p.max = __DBL_MAX__;
    bool has_min = read_limit(spec, "min", &def->p.min);
    bool has_max = read_limit(spec, "max", &def->p.max);
    def->p.has_range = has_min || has_max;
    if (def->p.min > def->p.max) {
        suite_spec_fault(spec, "min is above max");
        def->p.has_range = false;
    }
}

static int declare(lua_State *lua, enum suite_param_type type)
{
    static const char *const fields[] = {"help", "quick", "min", "max", NULL};
    static const char *const plain_fields[] = {"help", "quick", NULL};
    bool numeric = type == SUITE_PARAM_INT || type == SUITE_PARAM_REAL;
    struct suite_spec spec =
        suite_spec_open(lua, type_names[type], numeric ? fields : plain_fields, 1);
    spec.name = NULL;
    struct suite_param_def *def = arena_new(spec.ld->arena, struct suite_param_def);
    def->type = type;
    def->p.value = value_int(0);
    if (type == SUITE_PARAM_TEXT)
        def->p.value = value_text("", 0);
    if (numeric)
        read_range(&spec, def);
    def->p.help = suite_spec_text(&spec, "help");
    if (suite_spec_push(&spec, "1"))
        read_value(&spec, def, "default", &def->p.value);
    else
        suite_spec_fault(&spec, "expected a default, %s { value, ... }", type_names[type]);
    def->has_quick = suite_spec_push(&spec, "quick");
    if (def->has_quick) {
        def->quick = def->p.value;
        read_value(&spec, def, "quick", &def->quick);
    }
    suite_box_push(lua, SUITE_BOX_PARAM, def);
    return 1;
}

static int new_integer(lua_State *lua)
{
    return declare(lua, SUITE_PARAM_INT);
}

static int new_number(lua_State *lua)
{
    return declare(lua, SUITE_PARAM_REAL);
}

int suite_lua_text_param(lua_State *lua)
{
    return declare(lua, SUITE_PARAM_TEXT);
}

static int new_boolean(lua_State *lua)
{
    return declare(lua, SUITE_PARAM_FLAG);
}

/* ---- params { ... } */
static struct suite_param_def *find_param(const struct suite_loader *ld, const char *name)
{
    for (size_t i = 0; i < ld->params.count; i++) {
        struct suite_param_def *def = ld->params.items[i];
        if (strcmp(def->p.name, name) == 0)
            return def;
    }
    return NULL;
}

/* A plain value is a parameter with that default. */
static struct suite_param_def *from_plain(lua_State *lua)
{
    struct suite_param_def def = {.type = SUITE_PARAM_INT};
    switch (lua_type(lua, -1)) {
    case LUA_TBOOLEAN: def.type = SUITE_PARAM_FLAG; break;
    case LUA_TSTRING: def.type = SUITE_PARAM_TEXT; break;
    case LUA_TNUMBER:
        if (!lua_isinteger(lua, -1))
            def.type = SUITE_PARAM_REAL;
        break;
    default: return NULL;
    }
    if (!from_lua(lua, def.type, &def.p.value))
        return NULL;
    struct suite_param_def *kept = arena_new(suite_loader(lua)->arena, struct suite_param_def);
    *kept = def;
    return kept;
}

/* The command line is wrong, not the suite: everything ends here. */
static void refuse(lua_State *lua, const struct suite_param_def *def, struct slice text)
{
    struct suite_loader *ld = suite_loader(lua);
    char expected[120];
    print_expected(expected, sizeof(expected), def);
    err_set(ld->err, ERR_USAGE, "%s: expected %s, got %.*s", def->p.name, expected,
            text.bytes > 60 ? 60 : (int)text.bytes, text.at);
    ld->usage = true;
    luaL_error(lua, "%s", ld->err->text);
}

static void apply_options(lua_State *lua, struct suite_param_def *def)
{
    const struct suite_options *options = suite_loader(lua)->options;
    if (options->quick && def->has_quick)
        def->p.value = def->quick;
    for (uint32_t i = 0; i < options->override_count; i++) {
        struct slice name, text;
        struct value value = {0};
        if (!slice_split(slice_of(options->overrides[i]), '=', &name, &text) ||
            !slice_is(name, def->p.name))
            continue;
        if (!from_text(text, def->type, &value) || !in_range(def, &value))
            refuse(lua, def, text);
        else
            def->p.value = value_copy(suite_loader(lua)->arena, &value);
        def->p.changed = true;
    }
}

/* A parameter that an extended suite declares again keeps its first value. */
static void add_param(lua_State *lua, const char *name, struct suite_param_def *def)
{
    struct suite_loader *ld = suite_loader(lua);
    const struct suite_param_def *old = find_param(ld, name);
    if (old) {
        if (old->type != def->type)
            suite_lua_fault(lua, "params: '%s' is declared as %s and as %s", name,
                            type_names[old->type], type_names[def->type]);
        return;
    }
    if (ld->params.count == SUITE_PARAMS_MAX) {
        suite_lua_fault(lua, "params: more than %d parameters", SUITE_PARAMS_MAX);
        return;
    }
    struct suite_param_def *kept = arena_new(ld->arena, struct suite_param_def);
    *kept = *def;
    kept->p.name = name;
    apply_options(lua, kept);
    suite_list_add(ld->arena, &ld->params, kept);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, for Lua's own order changes from run to run. */
static size_t sorted_keys(const struct suite_spec *spec, const char **keys)
{
    lua_State *lua = spec->lua;
    size_t count = 0;
    lua_pushnil(lua);
    while (lua_next(lua, 1)) {
        const char *key = suite_lua_text(lua, -2);
        if (!key || !suite_is_identifier(key))
            suite_spec_fault(spec,
                             "a parameter's name is a letter and then letters, digits, _");
        else if (count == SUITE_PARAMS_MAX)
            suite_spec_fault(spec, "more than %d parameters", SUITE_PARAMS_MAX);
        else
            keys[count++] = key;
        lua_pop(lua, 1);
    }
    qsort(keys, count, sizeof(*keys), by_text);
    return count;
}

/* What stands at the stack's top. */
static void take_param(const struct suite_spec *spec, const char *name)
{
    struct suite_param_def *def = suite_box_get(spec->lua, -1, SUITE_BOX_PARAM);
    if (!def)
        def = from_plain(spec->lua);
    if (def)
        add_param(spec->lua, name, def);
    else
        suite_spec_fault(spec,
                         "%s: expected a number, text, boolean or integer { ... }, got %s",
                         name, suite_lua_describe(spec->lua, -1));
}

static int new_params(lua_State *lua)
{
    const char *keys[SUITE_PARAMS_MAX] = {0};
    size_t count = 0;
    suite_lua_check_memory(lua);
    struct suite_spec spec = {.lua = lua,
                              .ld = suite_loader(lua),
                              .index = 1,
                              .what = "params",
                              .where = suite_lua_place(lua)};
    if (lua_type(lua, 1) == LUA_TTABLE)
        count = sorted_keys(&spec, keys);
    else
        suite_spec_fault(&spec, "expected { name = value, ... }, got %s",
                         suite_lua_describe(lua, 1));
    for (size_t i = 0; i < count; i++) {
        lua_getfield(lua, 1, keys[i]);
        take_param(&spec, keys[i]);
        lua_pop(lua, 1);
    }
    suite_box_push(lua, SUITE_BOX_PARAMS, spec.ld);
    return 1;
}

static int get_param(lua_State *lua)
{
    const struct suite_loader *ld = suite_loader(lua);
    const char *name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
    const struct suite_param_def *def = find_param(ld, name);
    if (!def) {
        const char *names[SUITE_PARAMS_MAX + 1] = {0};
        for (size_t i = 0; i < ld->params.count; i++)
            names[i] = ((const struct suite_param_def *)ld->params.items[i])->p.name;
        const char *guess = suite_guess(ld, name, names);
        return luaL_error(lua, "unknown parameter '%s'%s%s%s", name,
                          guess ? "; did you mean '" : "", guess ? guess : "",
                          guess ? "'?" : "");
    }
    if (def->type == SUITE_PARAM_FLAG)
        lua_pushboolean(lua, def->p.value.as.i != 0);
    else
        suite_lua_push_value(lua, &def->p.value);
    return 1;
}

static int refuse_write(lua_State *lua)
{
    return luaL_error(lua, "parameters are read only");
}

void suite_lua_params(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"integer", new_integer},
        {"number",  new_number },
        {"boolean", new_boolean},
        {"params",  new_params },
        {NULL,      NULL       },
    };
    static const luaL_Reg access[] = {
        {"__index",    get_param   },
        {"__newindex", refuse_write},
        {NULL,         NULL        }
    };
    lua_pushglobaltable(lua);
    luaL_setfuncs(lua, functions, 0);
    lua_pop(lua, 1);
    suite_box_metatable(lua, SUITE_BOX_PARAMS);
    luaL_setfuncs(lua, access, 0);
    lua_pop(lua, 1);
}
