#include "base/text.h"
#include "suite/suite_lua_internal.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

enum { SHOWN_BYTES = 40 };

/* Metatable names; also what a message calls one. */
static const char *const kind_names[SUITE_BOX_COUNT] = {
    [SUITE_BOX_EXPR] = "a generator",
    [SUITE_BOX_PARAM] = "a parameter",
    [SUITE_BOX_PARAMS] = "parameters",
    [SUITE_BOX_TABLE] = "a table of columns",
    [SUITE_BOX_COLUMN] = "a column",
    [SUITE_BOX_STEP] = "a step",
    [SUITE_BOX_QUERY] = "a query",
    [SUITE_BOX_SCENARIO] = "a scenario",
    [SUITE_BOX_RELATION] = "a relation",
    [SUITE_BOX_OVERRIDE] = "an override",
    [SUITE_BOX_EXTEND] = "an extended suite",
    [SUITE_BOX_TABLES] = "tables of a suite",
    [SUITE_BOX_SUITE] = "a suite",
    [SUITE_BOX_ANSWER] = "an answer",
    [SUITE_BOX_ANY] = "any",
};

void suite_box_kinds(lua_State *lua)
{
    for (unsigned i = 0; i < SUITE_BOX_COUNT; i++) {
        const char *name = kind_names[i];
        luaL_newmetatable(lua, name);
        lua_pushstring(lua, strncmp(name, "a ", 2) == 0 ? name + 2 : name);
        lua_setfield(lua, -2, "__name"); /* Lua's messages add an article */
        lua_pop(lua, 1);
    }
}

void suite_box_metatable(lua_State *lua, enum suite_box kind)
{
    luaL_getmetatable(lua, kind_names[kind]);
}

void suite_box_push(lua_State *lua, enum suite_box kind, void *item)
{
    assert(item);
    void **box = lua_newuserdatauv(lua, sizeof(*box), 0);
    *box = item;
    luaL_setmetatable(lua, kind_names[kind]);
}

void *suite_box_get(lua_State *lua, int index, enum suite_box kind)
{
    void **box = luaL_testudata(lua, index, kind_names[kind]);
    return box ? *box : NULL;
}

static const char *describe_text(lua_State *lua, int index, char *buffer, size_t room)
{
    size_t bytes;
    const char *text = lua_tolstring(lua, index, &bytes);
    int shown = bytes > SHOWN_BYTES ? SHOWN_BYTES : (int)bytes;
    text_print(buffer, room, "'%.*s%s'", shown, text, bytes > SHOWN_BYTES ? "..." : "");
    for (char *at = buffer; *at; at++) {
        if ((unsigned char)*at < ' ')
            *at = ' ';
    }
    return buffer;
}

static const char *describe_number(lua_State *lua, int index, char *buffer, size_t room)
{
    if (lua_isinteger(lua, index))
        text_print(buffer, room, "%lld", (long long)lua_tointeger(lua, index));
    else
        text_print(buffer, room, "%.14g", lua_tonumber(lua, index));
    return buffer;
}

const char *suite_lua_describe(lua_State *lua, int index)
{
    char *buffer = suite_sandbox(lua)->shown;
    size_t room = sizeof(suite_sandbox(lua)->shown);
    switch (lua_type(lua, index)) {
    case LUA_TNONE:
    case LUA_TNIL: return "nil";
    case LUA_TBOOLEAN: return lua_toboolean(lua, index) ? "true" : "false";
    case LUA_TNUMBER: return describe_number(lua, index, buffer, room);
    case LUA_TSTRING: return describe_text(lua, index, buffer, room);
    case LUA_TTABLE: return "a plain table";
    case LUA_TFUNCTION: return "a function";
    default: break;
    }
    for (unsigned i = 0; i < SUITE_BOX_COUNT; i++) {
        if (luaL_testudata(lua, index, kind_names[i]))
            return kind_names[i];
    }
    return "an object";
}

static uint32_t chunk_of(const struct suite_loader *ld, const char *name)
{
    for (size_t i = 0; i < ld->chunks.count; i++) {
        const struct suite_chunk *chunk = ld->chunks.items[i];
        if (strcmp(chunk->name, name) == 0)
            return (uint32_t)i;
    }
    return 0;
}

/* The next Lua function of the stack, from *level on; its name within the sources is *name. */
static bool next_running(lua_State *lua, int *level, lua_Debug *info, const char **name)
{
    for (; lua_getstack(lua, *level, info); ++*level) {
        if (!lua_getinfo(lua, "Sl", info) || info->currentline <= 0)
            continue;
        *name = info->source + 1; /* "@shop.lua" */
        ++*level;
        return true;
    }
    return false;
}

/* Who called a suite's own function: "shop.lua:75 (called from line 120)". */
static const char *with_caller(lua_State *lua, int level, const char *place, const char *name)
{
    struct arena *arena = suite_loader(lua)->arena;
    lua_Debug caller;
    const char *other;
    if (!next_running(lua, &level, &caller, &other))
        return place;
    if (strcmp(other, name) == 0)
        return arena_printf(arena, "%s (called from line %d)", place, caller.currentline);
    return arena_printf(arena, "%s (called from %s:%d)", place, other, caller.currentline);
}

struct suite_place suite_lua_place(lua_State *lua)
{
    struct suite_loader *ld = suite_loader(lua);
    lua_Debug info;
    const char *name;
    int level = 0;
    if (suite_sandbox(lua)->standing)
        return *suite_sandbox(lua)->standing;
    if (!next_running(lua, &level, &info, &name))
        return (struct suite_place){.text = "suite"};
    bool in_function = strcmp(info.what, "main") != 0; /* the file itself is run by nobody */
    const char *place = arena_printf(ld->arena, "%s:%d", name, info.currentline);
    return (struct suite_place){.text =
                                    in_function ? with_caller(lua, level, place, name) : place,
                                .chunk = chunk_of(ld, name),
                                .line = (uint32_t)info.currentline};
}

void suite_lua_fault(lua_State *lua, const char *fmt, ...)
{
    struct suite_place where = suite_lua_place(lua);
    char text[400];
    va_list args;
    va_start(args, fmt);
    text_vprint(text, sizeof(text), fmt, args);
    va_end(args);
    suite_fault_add(suite_loader(lua), &where, "%s", text);
}

void suite_lua_fault_in(lua_State *lua, const char *function, const char *why)
{
    bool named = slice_starts(slice_of(why), function);
    suite_lua_fault(lua, "%s%s%s", named ? "" : function, named ? "" : ": ", why);
}

void suite_lua_check_memory(lua_State *lua)
{
    const struct suite_loader *ld = suite_loader(lua);
    if (suite_over_limits(ld))
        luaL_error(lua, "the suite is too large (256 MiB, a million generators)");
    if (ld->faults.count >= SUITE_FAULTS_MAX)
        luaL_error(lua, "more than %d faults", SUITE_FAULTS_MAX);
}

const char *suite_lua_text(lua_State *lua, int index)
{
    if (lua_type(lua, index) != LUA_TSTRING)
        return NULL;
    size_t bytes;
    const char *text = lua_tolstring(lua, index, &bytes);
    if (bytes > SUITE_TEXT_BYTES_MAX || memchr(text, '\0', bytes))
        return NULL;
    suite_lua_check_memory(lua);
    return arena_slice(suite_loader(lua)->arena, (struct slice){text, bytes});
}

bool suite_lua_whole(lua_State *lua, int index, int64_t *out)
{
    int whole = 0;
    if (lua_type(lua, index) != LUA_TNUMBER)
        return false;
    lua_Integer number = lua_tointegerx(lua, index, &whole);
    if (whole)
        *out = number;
    return whole;
}

static bool plain_value(lua_State *lua, int index, struct value *value)
{
    const char *text;
    switch (lua_type(lua, index)) {
    case LUA_TBOOLEAN: *value = value_int(lua_toboolean(lua, index)); return true;
    case LUA_TNUMBER:
        *value = lua_isinteger(lua, index) ? value_int(lua_tointeger(lua, index))
                                           : value_real(lua_tonumber(lua, index));
        return lua_isinteger(lua, index) || __builtin_isfinite(value->as.r);
    case LUA_TSTRING:
        text = suite_lua_text(lua, index);
        if (text)
            *value = value_text(text, (uint32_t)strlen(text));
        return text != NULL;
    default: return false;
    }
}

struct suite_expr *suite_lua_expr(lua_State *lua, int index)
{
    struct suite_expr *expr = suite_box_get(lua, index, SUITE_BOX_EXPR);
    struct value value;
    if (expr || !plain_value(lua, index, &value))
        return expr;
    suite_lua_check_memory(lua);
    expr = suite_expr_const(suite_loader(lua), &value);
    return expr->id == GEN_NONE ? NULL : expr;
}

void suite_lua_push_value(lua_State *lua, const struct value *value)
{
    switch (value->type) {
    case VALUE_NULL: lua_pushnil(lua); break;
    case VALUE_INT: lua_pushinteger(lua, value->as.i); break;
    case VALUE_REAL: lua_pushnumber(lua, value->as.r); break;
    case VALUE_TEXT:
    case VALUE_BLOB: lua_pushlstring(lua, value->as.text, value->bytes); break;
    }
}
