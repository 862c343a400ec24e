#include "suite/suite_lua_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * The library of the sandbox: a few functions of Lua's own, taken from their modules before
 * these are thrown away, and ours where Lua's would be unbounded (they run without counting
 * instructions) or would show an address or an order that differs from run to run.
 */

enum { REPEAT_BYTES_MAX = 1 << 20, SORT_MAX = 100000, BYTES_OF_UNIT = 64 };

void suite_lua_charge(lua_State *L, uint64_t units)
{
    struct suite_sandbox *sandbox = suite_sandbox(L);
    sandbox->spent += units;
    if (sandbox->spent > sandbox->spent_max)
        luaL_error(L, "stopped after %I instructions: an endless loop?",
                   (LUAI_UACINT)sandbox->spent_max);
}

static uint64_t cost_of(lua_State *L, int index)
{
    int type = lua_type(L, index);
    if (type == LUA_TSTRING)
        return lua_rawlen(L, index) / BYTES_OF_UNIT;
    return type == LUA_TTABLE ? lua_rawlen(L, index) : 1;
}

/* Upvalue 1 is the original. */
static int call_original(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int charged(lua_State *L)
{
    suite_lua_charge(L, 1 + cost_of(L, 1));
    return call_original(L);
}

/* At the end nothing moves. */
static int table_insert(lua_State *L)
{
    suite_lua_charge(L, lua_gettop(L) > 2 ? 1 + cost_of(L, 1) : 1);
    return call_original(L);
}

static int table_remove(lua_State *L)
{
    suite_lua_charge(L, lua_gettop(L) > 1 ? 1 + cost_of(L, 1) : 1);
    return call_original(L);
}

static int table_sort(lua_State *L)
{
    uint64_t count = cost_of(L, 1);
    if (count > SORT_MAX)
        return luaL_error(L, "table.sort: at most %d elements", SORT_MAX);
    suite_lua_charge(L, 1 + count * 20);
    return call_original(L);
}

static int string_rep(lua_State *L)
{
    size_t bytes, between = 0;
    luaL_checklstring(L, 1, &bytes);
    luaL_optlstring(L, 3, "", &between);
    lua_Integer times = luaL_checkinteger(L, 2);
    if (times > REPEAT_BYTES_MAX || (bytes + between) > REPEAT_BYTES_MAX ||
        (times > 0 && (lua_Integer)(bytes + between) * times > REPEAT_BYTES_MAX))
        return luaL_error(L, "string.rep: at most 1 MiB");
    suite_lua_charge(L, 1 + (uint64_t)(times > 0 ? times : 0));
    return call_original(L);
}

static bool is_plain(int type)
{
    return type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TBOOLEAN ||
           type == LUA_TNIL;
}

/* %p and a table's %s would print an address. */
static int string_format(lua_State *L)
{
    const char *format = luaL_checkstring(L, 1);
    for (const char *at = strchr(format, '%'); at && at[1]; at = strchr(at + 1, '%')) {
        at++;
        at += strspn(at, "-+ #0123456789.");
        if (*at == 'p')
            return luaL_error(L, "string.format: no %%p");
        if (*at == '\0')
            break;
    }
    for (int i = 2; i <= lua_gettop(L); i++) {
        suite_lua_charge(L, 1 + cost_of(L, i));
        if (!is_plain(lua_type(L, i)))
            return luaL_error(L, "string.format: argument %d: expected text or a number", i);
    }
    return call_original(L);
}

static int base_tostring(lua_State *L)
{
    char buffer[120];
    luaL_checkany(L, 1);
    if (is_plain(lua_type(L, 1)))
        luaL_tolstring(L, 1, NULL);
    else
        lua_pushstring(L, suite_lua_describe(L, 1, buffer, sizeof(buffer)));
    return 1;
}

/* ---- pairs in order: numbers, then texts */
static int compare_keys(lua_State *L, int a, int b)
{
    bool a_text = lua_type(L, a) == LUA_TSTRING, b_text = lua_type(L, b) == LUA_TSTRING;
    if (a_text != b_text)
        return b_text;
    if (!a_text)
        return lua_compare(L, a, b, LUA_OPLT);
    size_t a_bytes, b_bytes;
    const char *x = lua_tolstring(L, a, &a_bytes), *y = lua_tolstring(L, b, &b_bytes);
    int order = memcmp(x, y, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order < 0 || (order == 0 && a_bytes < b_bytes);
}

static int keys_in_order(lua_State *L)
{
    lua_pushboolean(L, compare_keys(L, 1, 2));
    return 1;
}

/* Upvalues: the sorted keys, the last position. */
static int next_pair(lua_State *L)
{
    lua_Integer at = lua_tointeger(L, lua_upvalueindex(2)) + 1;
    lua_pushinteger(L, at);
    lua_replace(L, lua_upvalueindex(2));
    if (lua_rawgeti(L, lua_upvalueindex(1), at) == LUA_TNIL)
        return 1;
    lua_pushvalue(L, -1);
    lua_rawget(L, 1);
    return 2;
}

/* Upvalue 1: table.sort. */
static int base_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer count = 0;
    lua_newtable(L);
    int keys = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        int type = lua_type(L, -1);
        if (type != LUA_TNUMBER && type != LUA_TSTRING)
            return luaL_error(L, "pairs: keys are numbers or texts here, for their order");
        lua_pushvalue(L, -1);
        lua_rawseti(L, keys, ++count);
    }
    if (count > SORT_MAX)
        return luaL_error(L, "pairs: at most %d elements", SORT_MAX);
    suite_lua_charge(L, 1 + (uint64_t)count * 20);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, keys);
    lua_pushcfunction(L, keys_in_order);
    lua_call(L, 2, 0);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_pair, 2);
    lua_pushvalue(L, 1);
    return 2;
}

/* ---- the globals: reading an unknown one and writing any is an error */
static int unknown_global(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    const char *names[80] = {0};
    size_t count = 0;
    lua_pushnil(L);
    while (lua_next(L, 1) && count < ARRAY_COUNT(names) - 1) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING)
            names[count++] = lua_tostring(L, -1);
    }
    const char *guess = suite_guess(name, names);
    return luaL_error(L, "unknown name '%s'%s%s%s", name, guess ? "; did you mean '" : "",
                      guess ? guess : "", guess ? "'?" : "");
}

static int refuse_global(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    return luaL_error(L, "'%s' is not declared: write local %s", name, name);
}

/* A function of ours over Lua's, or Lua's own. */
struct taken {
    const char *name;
    lua_CFunction ours;
};

/* The module's table is at the stack's top; leaves a new table with what was taken. */
static void take(lua_State *L, const struct taken *list)
{
    lua_newtable(L);
    for (; list->name; list++) {
        lua_getfield(L, -2, list->name);
        if (list->ours)
            lua_pushcclosure(L, list->ours, 1);
        lua_setfield(L, -2, list->name);
    }
    lua_remove(L, -2);
}

/* Runs a module's opener and leaves its table. Its global is not set. */
static void open_module(lua_State *L, const char *name, lua_CFunction opener)
{
    lua_pushcfunction(L, opener);
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

static void add_string(lua_State *L)
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
    open_module(L, LUA_STRLIBNAME, luaopen_string);
    take(L, list);
    /* ("").rep: the metatable of texts was set by the module. */
    lua_pushliteral(L, "");
    if (lua_getmetatable(L, -1)) {
        lua_pushvalue(L, -3);
        lua_setfield(L, -2, "__index");
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    lua_setglobal(L, LUA_STRLIBNAME);
}

static void add_table_and_pairs(lua_State *L)
{
    static const struct taken list[] = {
        {"insert", table_insert},
        {"remove", table_remove},
        {"concat", charged     },
        {"unpack", charged     },
        {"sort",   table_sort  },
        {NULL,     NULL        },
    };
    open_module(L, LUA_TABLIBNAME, luaopen_table);
    lua_getfield(L, -1, "sort");
    lua_pushcclosure(L, base_pairs, 1);
    lua_setglobal(L, "pairs");
    take(L, list);
    lua_setglobal(L, LUA_TABLIBNAME);
}

static void add_math(lua_State *L)
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
    open_module(L, LUA_MATHLIBNAME, luaopen_math);
    take(L, list);
    lua_setglobal(L, LUA_MATHLIBNAME);
}

/* luaopen_base fills the globals themselves: what is not wanted is taken out again. */
static void add_base(lua_State *L)
{
    static const char *const kept[] = {"assert",   "error", "ipairs", "select",
                                       "tonumber", "type",  NULL};
    open_module(L, "_G", luaopen_base);
    lua_newtable(L);
    for (size_t i = 0; kept[i]; i++) {
        lua_getfield(L, -2, kept[i]);
        lua_setfield(L, -2, kept[i]);
    }
    lua_remove(L, -2);
    lua_pushvalue(L, -1);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pop(L, 1);
    lua_pushcfunction(L, base_tostring);
    lua_setglobal(L, "tostring");
}

void suite_lua_libraries(lua_State *L)
{
    add_base(L);
    add_string(L);
    add_table_and_pairs(L);
    add_math(L);
    suite_box_kinds(L);
    suite_lua_generators(L);
    suite_lua_params(L);
    suite_lua_tables(L);
    suite_lua_steps(L);
    suite_lua_scenarios(L);
    suite_lua_suites(L);
    lua_pushglobaltable(L);
    lua_newtable(L);
    lua_pushcfunction(L, unknown_global);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_global);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
