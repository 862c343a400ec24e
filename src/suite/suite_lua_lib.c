#include "base/text.h"
#include "suite/suite_lua_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * The library of the sandbox: a few functions of Lua's own, taken from their modules before
 * these are thrown away, and ours where Lua's would be unbounded (they run without counting
 * instructions) or would show an address or an order that differs from run to run.
 */

enum { REPEAT_BYTES_MAX = 1 << 20, SORT_MAX = 100000, BYTES_OF_UNIT = 64 };

void suite_lua_stop(lua_State *lua, int level, const char *why)
{
    luaL_where(lua, level);
    lua_pushstring(lua, why);
    lua_concat(lua, 2);
    lua_error(lua);
}

bool suite_lua_spend(lua_State *lua, uint64_t units)
{
    struct suite_sandbox *sandbox = suite_sandbox(lua);
    sandbox->spent += units;
    if (sandbox->spent > sandbox->spent_max)
        text_print(sandbox->shown, sizeof(sandbox->shown),
                   "stopped after %llu instructions: an endless loop?",
                   (unsigned long long)sandbox->spent_max);
    return sandbox->spent <= sandbox->spent_max;
}

void suite_lua_charge(lua_State *lua, uint64_t units)
{
    if (!suite_lua_spend(lua, units))
        suite_lua_stop(lua, 1, suite_sandbox(lua)->shown);
}

static uint64_t cost_of(lua_State *lua, int index)
{
    int type = lua_type(lua, index);
    if (type == LUA_TSTRING)
        return lua_rawlen(lua, index) / BYTES_OF_UNIT;
    return type == LUA_TTABLE ? lua_rawlen(lua, index) : 1;
}

/* Upvalue 1 is the original. */
static int call_original(lua_State *lua)
{
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
    return lua_gettop(lua);
}

static int charged(lua_State *lua)
{
    suite_lua_charge(lua, 1 + cost_of(lua, 1));
    return call_original(lua);
}

/* At the end nothing moves. */
static int table_insert(lua_State *lua)
{
    suite_lua_charge(lua, lua_gettop(lua) > 2 ? 1 + cost_of(lua, 1) : 1);
    return call_original(lua);
}

static int table_remove(lua_State *lua)
{
    suite_lua_charge(lua, lua_gettop(lua) > 1 ? 1 + cost_of(lua, 1) : 1);
    return call_original(lua);
}

/* Bounded by what Lua's stack takes. */
static int table_unpack(lua_State *lua)
{
    lua_Integer first = luaL_optinteger(lua, 2, 1);
    lua_Integer last = luaL_opt(lua, luaL_checkinteger, 3, (lua_Integer)cost_of(lua, 1));
    if (last >= first && (uint64_t)last - (uint64_t)first > SORT_MAX)
        return luaL_error(lua, "table.unpack: at most %d elements", SORT_MAX);
    suite_lua_charge(lua, last >= first ? 1 + (uint64_t)(last - first) : 1);
    return call_original(lua);
}

static int table_sort(lua_State *lua)
{
    uint64_t count = cost_of(lua, 1);
    if (count > SORT_MAX)
        return luaL_error(lua, "table.sort: at most %d elements", SORT_MAX);
    suite_lua_charge(lua, 1 + count * 20);
    return call_original(lua);
}

static int string_rep(lua_State *lua)
{
    size_t bytes, between = 0;
    luaL_checklstring(lua, 1, &bytes);
    luaL_optlstring(lua, 3, "", &between);
    lua_Integer times = luaL_checkinteger(lua, 2);
    if (times > REPEAT_BYTES_MAX || (bytes + between) > REPEAT_BYTES_MAX ||
        (times > 0 && (lua_Integer)(bytes + between) * times > REPEAT_BYTES_MAX))
        return luaL_error(lua, "string.rep: at most 1 MiB");
    suite_lua_charge(lua, 1 + (uint64_t)(times > 0 ? times : 0));
    return call_original(lua);
}

static bool is_plain(int type)
{
    return type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TBOOLEAN ||
           type == LUA_TNIL;
}

/* %p and a table's %s would print an address. */
static int string_format(lua_State *lua)
{
    const char *format = luaL_checkstring(lua, 1);
    for (const char *at = strchr(format, '%'); at && at[1]; at = strchr(at + 1, '%')) {
        at++;
        at += strspn(at, "-+ #0123456789.");
        if (*at == 'p')
            return luaL_error(lua, "string.format: no %%p");
        if (*at == '\0')
            break;
    }
    for (int i = 2; i <= lua_gettop(lua); i++) {
        suite_lua_charge(lua, 1 + cost_of(lua, i));
        if (!is_plain(lua_type(lua, i)))
            return luaL_error(lua, "string.format: argument %d: expected text or a number", i);
    }
    return call_original(lua);
}

static int base_tostring(lua_State *lua)
{
    luaL_checkany(lua, 1);
    if (is_plain(lua_type(lua, 1)))
        luaL_tolstring(lua, 1, NULL);
    else
        lua_pushstring(lua, suite_lua_describe(lua, 1));
    return 1;
}

/* ---- pairs in order: numbers, then texts */
static int compare_keys(lua_State *lua, int a, int b)
{
    bool a_text = lua_type(lua, a) == LUA_TSTRING, b_text = lua_type(lua, b) == LUA_TSTRING;
    if (a_text != b_text)
        return b_text;
    if (!a_text)
        return lua_compare(lua, a, b, LUA_OPLT);
    size_t a_bytes, b_bytes;
    const char *x = lua_tolstring(lua, a, &a_bytes), *y = lua_tolstring(lua, b, &b_bytes);
    int order = memcmp(x, y, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order < 0 || (order == 0 && a_bytes < b_bytes);
}

static int keys_in_order(lua_State *lua)
{
    lua_pushboolean(lua, compare_keys(lua, 1, 2));
    return 1;
}

/* Upvalues: the sorted keys, the last position. */
static int next_pair(lua_State *lua)
{
    lua_Integer at = lua_tointeger(lua, lua_upvalueindex(2)) + 1;
    lua_pushinteger(lua, at);
    lua_replace(lua, lua_upvalueindex(2));
    if (lua_rawgeti(lua, lua_upvalueindex(1), at) == LUA_TNIL)
        return 1;
    lua_pushvalue(lua, -1);
    lua_rawget(lua, 1);
    return 2;
}

/* Upvalue 1: table.sort. */
static int base_pairs(lua_State *lua)
{
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_Integer count = 0;
    lua_newtable(lua);
    int keys = lua_gettop(lua);
    lua_pushnil(lua);
    while (lua_next(lua, 1)) {
        lua_pop(lua, 1);
        int type = lua_type(lua, -1);
        if (type != LUA_TNUMBER && type != LUA_TSTRING)
            return luaL_error(lua, "pairs: keys are numbers or texts here, for their order");
        lua_pushvalue(lua, -1);
        lua_rawseti(lua, keys, ++count);
    }
    if (count > SORT_MAX)
        return luaL_error(lua, "pairs: at most %d elements", SORT_MAX);
    suite_lua_charge(lua, 1 + (uint64_t)count * 20);
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_pushvalue(lua, keys);
    lua_pushcfunction(lua, keys_in_order);
    lua_call(lua, 2, 0);
    lua_pushinteger(lua, 0);
    lua_pushcclosure(lua, next_pair, 2);
    lua_pushvalue(lua, 1);
    return 2;
}

/* ---- the globals: reading an unknown one and writing any is an error */
static int unknown_global(lua_State *lua)
{
    const char *name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "?";
    const char *names[80] = {0};
    size_t count = 0;
    lua_pushnil(lua);
    while (lua_next(lua, 1) && count < ARRAY_COUNT(names) - 1) {
        lua_pop(lua, 1);
        if (lua_type(lua, -1) == LUA_TSTRING)
            names[count++] = lua_tostring(lua, -1);
    }
    const char *guess = suite_guess(suite_loader(lua), name, names);
    return luaL_error(lua, "unknown name '%s'%s%s%s", name, guess ? "; did you mean '" : "",
                      guess ? guess : "", guess ? "'?" : "");
}

static int refuse_global(lua_State *lua)
{
    const char *name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "?";
    return luaL_error(lua, "'%s' is not declared: write local %s", name, name);
}

/* A function of ours over Lua's, or Lua's own. */
struct taken {
    const char *name;
    lua_CFunction ours;
};

/* The module's table is at the stack's top; leaves a new table with what was taken. */
static void take(lua_State *lua, const struct taken *list)
{
    lua_newtable(lua);
    for (; list->name; list++) {
        lua_getfield(lua, -2, list->name);
        if (list->ours)
            lua_pushcclosure(lua, list->ours, 1);
        lua_setfield(lua, -2, list->name);
    }
    lua_remove(lua, -2);
}

/* Runs a module's opener and leaves its table. Its global is not set. */
static void open_module(lua_State *lua, const char *name, lua_CFunction opener)
{
    lua_pushcfunction(lua, opener);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 1);
}

static void add_string(lua_State *lua)
{
    static const struct taken list[] = {
        {"byte",    charged      },
        {"char",    NULL         },
        {"format",  string_format},
        {"len",     NULL         },
        {"sub",     charged      },
        {"lower",   charged      },
        {"upper",   charged      },
        {"rep",     string_rep   },
        {"reverse", charged      },
        {NULL,      NULL         },
    };
    open_module(lua, LUA_STRLIBNAME, luaopen_string);
    take(lua, list);
    /* ("").rep: the metatable of texts was set by the module. */
    lua_pushliteral(lua, "");
    if (lua_getmetatable(lua, -1)) {
        lua_pushvalue(lua, -3);
        lua_setfield(lua, -2, "__index");
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    lua_setglobal(lua, LUA_STRLIBNAME);
}

static void add_table_and_pairs(lua_State *lua)
{
    static const struct taken list[] = {
        {"insert", table_insert},
        {"remove", table_remove},
        {"concat", charged     },
        {"unpack", table_unpack},
        {"sort",   table_sort  },
        {NULL,     NULL        },
    };
    open_module(lua, LUA_TABLIBNAME, luaopen_table);
    lua_getfield(lua, -1, "sort");
    lua_pushcclosure(lua, base_pairs, 1);
    lua_setglobal(lua, "pairs");
    take(lua, list);
    lua_setglobal(lua, LUA_TABLIBNAME);
}

static void add_math(lua_State *lua)
{
    static const struct taken list[] = {
        {"abs",        NULL},
        {"ceil",       NULL},
        {"floor",      NULL},
        {"fmod",       NULL},
        {"huge",       NULL},
        {"max",        NULL},
        {"min",        NULL},
        {"pi",         NULL},
        {"sqrt",       NULL},
        {"tointeger",  NULL},
        {"maxinteger", NULL},
        {"type",       NULL},
        {"mininteger", NULL},
        {NULL,         NULL},
    };
    open_module(lua, LUA_MATHLIBNAME, luaopen_math);
    take(lua, list);
    lua_setglobal(lua, LUA_MATHLIBNAME);
}

/* luaopen_base fills the globals themselves: what is not wanted is taken out again. */
static void add_base(lua_State *lua)
{
    static const char *const kept[] = {"assert",   "error", "ipairs", "select",
                                       "tonumber", "type",  NULL};
    open_module(lua, "_G", luaopen_base);
    lua_newtable(lua);
    for (size_t i = 0; kept[i]; i++) {
        lua_getfield(lua, -2, kept[i]);
        lua_setfield(lua, -2, kept[i]);
    }
    lua_remove(lua, -2);
    lua_pushvalue(lua, -1);
    lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pop(lua, 1);
    lua_pushcfunction(lua, base_tostring);
    lua_setglobal(lua, "tostring");
}

void suite_lua_libraries(lua_State *lua)
{
    add_base(lua);
    add_string(lua);
    add_table_and_pairs(lua);
    add_math(lua);
    suite_box_kinds(lua);
    suite_lua_generators(lua);
    suite_lua_params(lua);
    suite_lua_tables(lua);
    suite_lua_steps(lua);
    suite_lua_scenarios(lua);
    suite_lua_suites(lua);
    lua_pushglobaltable(lua);
    lua_newtable(lua);
    lua_pushcfunction(lua, unknown_global);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_global);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, -2);
    lua_pop(lua, 1);
}
