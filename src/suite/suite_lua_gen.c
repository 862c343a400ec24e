#include "base/text.h"
#include "suite/suite_lua_internal.h"

#include <string.h>

/* Arguments of a generator by letter: i whole, r real, x a value or generator; capitals may be
 * left out. */
struct maker {
    const char *name;
    enum gen_kind kind;
    const char *arguments;
    int64_t defaults[2]; /* of whole numbers */
};

static const struct maker makers[] = {
    {"sequence",    GEN_SEQUENCE,    "II",  {1, 1}                  },
    {"modulo",      GEN_MODULO,      "xi",  {0}                     },
    {"round_robin", GEN_ROUND_ROBIN, "i",   {0}                     },
    {"affine",      GEN_AFFINE,      "ixi", {0}                     },
    {"permute",     GEN_PERMUTE,     "xi",  {0}                     },
    {"uniform",     GEN_UNIFORM,     "ii",  {0}                     },
    {"zipf",        GEN_ZIPF,        "ir",  {0}                     },
    {"gaussian",    GEN_GAUSSIAN,    "iir", {0}                     },
    {"exponential", GEN_EXPONENTIAL, "iir", {0}                     },
    {"hotspot",     GEN_HOTSPOT,     "irr", {0}                     },
    {"latest",      GEN_LATEST,      "ir",  {0}                     },
    {"text",        GEN_TEXT,        "iI",  {0, 100}                },
    {"uuid7",       GEN_UUID7,       "I",   {INT64_C(1767225600000)}}, /* 2026-01-01 */
};

/* A generator in the making. */
struct draft {
    lua_State *lua;
    const char *name;
    struct suite_expr *expr;
    bool bad;
    struct suite_list children;
};

static struct draft begin(lua_State *lua, const char *name, enum gen_kind kind)
{
    suite_lua_check_memory(lua);
    struct suite_expr *expr = arena_new(suite_loader(lua)->arena, struct suite_expr);
    expr->kind = kind;
    return (struct draft){.lua = lua, .name = name, .expr = expr};
}

static void wrong(struct draft *d, int argument, const char *expected)
{
    d->bad = true;
    suite_lua_fault(d->lua, "%s: argument %d: expected %s, got %s", d->name, argument, expected,
                    suite_lua_describe(d->lua, argument));
}

static void add_child(struct draft *d, int index)
{
    struct suite_expr *child = suite_lua_expr(d->lua, index);
    if (child)
        suite_list_add(suite_loader(d->lua)->arena, &d->children, child);
    else
        wrong(d, index, "a generator, number, text or boolean");
}

/* Pushes the finished generator, or a 1 after a fault. */
static int finish(struct draft *d)
{
    struct suite_loader *ld = suite_loader(d->lua);
    const char *why = NULL;
    struct suite_expr *made = NULL;
    d->expr->child_count = (uint32_t)d->children.count;
    d->expr->children = arena_array(ld->arena, struct suite_expr *, d->children.count);
    for (size_t i = 0; i < d->children.count; i++)
        d->expr->children[i] = d->children.items[i];
    if (!d->bad)
        made = suite_expr_finish(ld, d->expr, &why);
    if (!d->bad && !made)
        suite_lua_fault_in(d->lua, d->name, why);
    if (!made) {
        struct value one = value_int(1);
        made = suite_expr_const(ld, &one);
    }
    suite_box_push(d->lua, SUITE_BOX_EXPR, made);
    return 1;
}

/* ---- by table */
static void take_whole(struct draft *d, int argument, unsigned *count, const int64_t *fallback)
{
    int64_t *to = &d->expr->whole[(*count)++];
    if (fallback && lua_isnoneornil(d->lua, argument))
        *to = *fallback;
    else if (!suite_lua_whole(d->lua, argument, to))
        wrong(d, argument, "a whole number");
}

static void take_real(struct draft *d, int argument, unsigned *count)
{
    if (lua_type(d->lua, argument) == LUA_TNUMBER)
        d->expr->real[(*count)++] = lua_tonumber(d->lua, argument);
    else
        wrong(d, argument, "a number");
}

static void take_arguments(struct draft *d, const struct maker *maker)
{
    unsigned wholes = 0, reals = 0;
    int count = (int)strlen(maker->arguments);
    if (lua_gettop(d->lua) > count)
        wrong(d, count + 1, "no more arguments");
    for (int i = 0; i < count; i++) {
        switch (maker->arguments[i]) {
        case 'i': take_whole(d, i + 1, &wholes, NULL); break;
        case 'I': take_whole(d, i + 1, &wholes, &maker->defaults[wholes]); break;
        case 'r': take_real(d, i + 1, &reals); break;
        default: add_child(d, i + 1); break;
        }
    }
}

static int make_by_table(lua_State *lua)
{
    const struct maker *maker = &makers[lua_tointeger(lua, lua_upvalueindex(1))];
    if (maker->kind == GEN_TEXT && lua_type(lua, 1) == LUA_TTABLE)
        return suite_lua_text_param(lua);
    struct draft d = begin(lua, maker->name, maker->kind);
    take_arguments(&d, maker);
    if (maker->kind == GEN_TEXT && !d.bad) {
        int64_t bytes = d.expr->whole[0], unique = d.expr->whole[1];
        if (bytes < 0 || bytes > SUITE_TEXT_BYTES_MAX)
            wrong(&d, 1, "at most 1048576 bytes");
        else if (unique < 0 || unique > 100)
            wrong(&d, 2, "a percentage from 0 to 100");
    }
    return finish(&d);
}

/* ---- the others */
static int make_choice(lua_State *lua)
{
    struct draft d = begin(lua, "choice", GEN_CHOICE);
    if (lua_type(lua, 1) != LUA_TTABLE) {
        wrong(&d, 1, "a list of values, choice { ... }");
        return finish(&d);
    }
    lua_Integer count = (lua_Integer)lua_rawlen(lua, 1);
    if (count < 1 || count > 1000)
        wrong(&d, 1, "1 to 1000 values");
    for (lua_Integer i = 1; i <= count && !d.bad; i++) {
        lua_rawgeti(lua, 1, i);
        add_child(&d, lua_gettop(lua));
        lua_pop(lua, 1);
    }
    return finish(&d);
}

static int make_format(lua_State *lua)
{
    struct draft d = begin(lua, "format", GEN_FORMAT);
    d.expr->text = suite_lua_text(lua, 1);
    if (!d.expr->text)
        wrong(&d, 1, "text with %d, %s or %0Nd");
    int count = lua_gettop(lua);
    if (count > 100)
        wrong(&d, 101, "at most 99 values");
    for (int i = 2; i <= count && !d.bad; i++)
        add_child(&d, i);
    return finish(&d);
}

/* The name and value of one { "name", value }, which is at the stack's top. */
static bool take_member(struct draft *d, const char **name)
{
    lua_State *lua = d->lua;
    int pair = lua_gettop(lua);
    if (lua_type(lua, pair) != LUA_TTABLE)
        return false;
    lua_rawgeti(lua, pair, 1);
    lua_rawgeti(lua, pair, 2);
    *name = suite_lua_text(lua, pair + 1);
    struct suite_expr *value = suite_lua_expr(lua, pair + 2);
    if (*name && value)
        suite_list_add(suite_loader(lua)->arena, &d->children, value);
    lua_settop(lua, pair);
    return *name && value;
}

static int make_json(lua_State *lua)
{
    struct draft d = begin(lua, "json", GEN_JSON);
    bool is_table = lua_type(lua, 1) == LUA_TTABLE;
    lua_Integer count = is_table ? (lua_Integer)lua_rawlen(lua, 1) : 0;
    if (!is_table || count > 1000) {
        wrong(&d, 1, "json { { \"name\", value }, ... } of at most 1000");
        return finish(&d);
    }
    const char **names = arena_array(suite_loader(lua)->arena, const char *, (size_t)count);
    for (lua_Integer i = 1; i <= count && !d.bad; i++) {
        lua_rawgeti(lua, 1, i);
        if (!take_member(&d, &names[i - 1]))
            wrong(&d, 1, "every member to be { \"name\", value }");
        lua_pop(lua, 1);
    }
    d.expr->names = names;
    return finish(&d);
}

static int make_name(lua_State *lua, const char *what, enum gen_kind kind)
{
    struct draft d = begin(lua, what, kind);
    d.expr->text = suite_lua_text(lua, 1);
    if (!d.expr->text || !suite_is_identifier(d.expr->text))
        wrong(&d, 1, "a name");
    return finish(&d);
}

static int make_var(lua_State *lua)
{
    return make_name(lua, "var", GEN_VAR);
}

static int make_bound(lua_State *lua)
{
    return make_name(lua, "bound", GEN_BOUND);
}

static int make_col(lua_State *lua)
{
    return make_name(lua, "col", GEN_AT);
}

/* ---- operators */
static int apply(lua_State *lua, const char *name, enum gen_operator op, int count)
{
    struct draft d = begin(lua, name, GEN_ARITH);
    d.expr->op = op;
    for (int i = 1; i <= count; i++)
        add_child(&d, i);
    return finish(&d);
}

static int meta_add(lua_State *lua)
{
    return apply(lua, "+", GEN_ADD, 2);
}

static int meta_sub(lua_State *lua)
{
    return apply(lua, "-", GEN_SUB, 2);
}

static int meta_mul(lua_State *lua)
{
    return apply(lua, "*", GEN_MUL, 2);
}

static int meta_div(lua_State *lua)
{
    return apply(lua, "/", GEN_DIV, 2);
}

static int meta_idiv(lua_State *lua)
{
    return apply(lua, "//", GEN_IDIV, 2);
}

static int meta_mod(lua_State *lua)
{
    return apply(lua, "%", GEN_MOD, 2);
}

static int meta_unm(lua_State *lua)
{
    return apply(lua, "-", GEN_NEG, 1);
}

static int meta_concat(lua_State *lua)
{
    struct draft d = begin(lua, "..", GEN_FORMAT);
    d.expr->text = "%s%s";
    add_child(&d, 1);
    add_child(&d, 2);
    return finish(&d);
}

static int meta_order(lua_State *lua)
{
    return luaL_error(lua, "compare generators with is(a, \"<\", b): < and > cannot be values");
}

static int make_both(lua_State *lua)
{
    return apply(lua, "both", GEN_AND, 2);
}

static int make_either(lua_State *lua)
{
    return apply(lua, "either", GEN_OR, 2);
}

static int make_negate(lua_State *lua)
{
    return apply(lua, "negate", GEN_NOT, 1);
}

bool suite_lua_comparison(const char *text, enum gen_operator *op)
{
    static const struct {
        const char *text;
        enum gen_operator op;
    } names[] = {
        {"=",  GEN_EQ},
        {"==", GEN_EQ},
        {"<>", GEN_NE},
        {"!=", GEN_NE},
        {"~=", GEN_NE},
        {"<",  GEN_LT},
        {"<=", GEN_LE},
        {">",  GEN_GT},
        {">=", GEN_GE},
    };
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (strcmp(names[i].text, text) == 0) {
            *op = names[i].op;
            return true;
        }
    }
    return false;
}

static int make_is(lua_State *lua)
{
    enum gen_operator op = GEN_EQ;
    const char *text = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
    bool known = suite_lua_comparison(text, &op);
    struct draft d = begin(lua, "is", GEN_ARITH);
    if (!known)
        wrong(&d, 2, "one of = <> < <= > >=");
    d.expr->op = op;
    add_child(&d, 1);
    add_child(&d, 3);
    return finish(&d);
}

static void set_constant(lua_State *lua, const char *name, enum gen_kind kind)
{
    struct draft d = begin(lua, name, kind);
    finish(&d);
    lua_setglobal(lua, name);
}

void suite_lua_generators(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"choice", make_choice},
        {"format", make_format},
        {"json",   make_json  },
        {"var",    make_var   },
        {"bound",  make_bound },
        {"col",    make_col   },
        {"is",     make_is    },
        {"both",   make_both  },
        {"either", make_either},
        {"negate", make_negate},
        {NULL,     NULL       },
    };
    static const luaL_Reg operators[] = {
        {"__add",    meta_add   },
        {"__sub",    meta_sub   },
        {"__mul",    meta_mul   },
        {"__div",    meta_div   },
        {"__idiv",   meta_idiv  },
        {"__mod",    meta_mod   },
        {"__unm",    meta_unm   },
        {"__concat", meta_concat},
        {"__lt",     meta_order },
        {"__le",     meta_order },
        {NULL,       NULL       },
    };
    lua_pushglobaltable(lua);
    luaL_setfuncs(lua, functions, 0);
    lua_pop(lua, 1);
    suite_box_metatable(lua, SUITE_BOX_EXPR);
    luaL_setfuncs(lua, operators, 0);
    lua_pop(lua, 1);
    for (size_t i = 0; i < ARRAY_COUNT(makers); i++) {
        lua_pushinteger(lua, (lua_Integer)i);
        lua_pushcclosure(lua, make_by_table, 1);
        lua_setglobal(lua, makers[i].name);
    }
    set_constant(lua, "row", GEN_ROW);
    set_constant(lua, "client", GEN_CLIENT);
    set_constant(lua, "null", GEN_CONST); /* of type VALUE_NULL */
}
