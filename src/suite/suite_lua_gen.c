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
    lua_State *L;
    const char *name;
    struct suite_expr *expr;
    bool bad;
    struct suite_list children;
};

static struct draft begin(lua_State *L, const char *name, enum gen_kind kind)
{
    suite_lua_check_memory(L);
    struct suite_expr *expr = arena_new(suite_loader(L)->arena, struct suite_expr);
    expr->kind = kind;
    return (struct draft){.L = L, .name = name, .expr = expr};
}

static void wrong(struct draft *d, int argument, const char *expected)
{
    char got[80];
    d->bad = true;
    suite_lua_fault(d->L, "%s: argument %d: expected %s, got %s", d->name, argument, expected,
                    suite_lua_describe(d->L, argument, got, sizeof(got)));
}

static void add_child(struct draft *d, int index)
{
    struct suite_expr *child = suite_lua_expr(d->L, index);
    if (child)
        suite_list_add(suite_loader(d->L)->arena, &d->children, child);
    else
        wrong(d, index, "a generator, number, text or boolean");
}

/* Pushes the finished generator, or a 1 after a fault. */
static int finish(struct draft *d)
{
    struct suite_loader *ld = suite_loader(d->L);
    const char *why = NULL;
    struct suite_expr *made = NULL;
    d->expr->child_count = (uint32_t)d->children.count;
    d->expr->children = arena_array(ld->arena, struct suite_expr *, d->children.count);
    for (size_t i = 0; i < d->children.count; i++)
        d->expr->children[i] = d->children.items[i];
    if (!d->bad)
        made = suite_expr_finish(ld, d->expr, &why);
    if (!d->bad && !made)
        suite_lua_fault(d->L, "%s: %s", d->name, why);
    if (!made) {
        struct value one = value_int(1);
        made = suite_expr_const(ld, &one);
    }
    suite_box_push(d->L, SUITE_BOX_EXPR, made);
    return 1;
}

/* ---- by table */
static void take_whole(struct draft *d, int argument, unsigned *count, const int64_t *fallback)
{
    int64_t *to = &d->expr->whole[(*count)++];
    if (fallback && lua_isnoneornil(d->L, argument))
        *to = *fallback;
    else if (!suite_lua_whole(d->L, argument, to))
        wrong(d, argument, "a whole number");
}

static void take_real(struct draft *d, int argument, unsigned *count)
{
    if (lua_type(d->L, argument) == LUA_TNUMBER)
        d->expr->real[(*count)++] = lua_tonumber(d->L, argument);
    else
        wrong(d, argument, "a number");
}

static void take_arguments(struct draft *d, const struct maker *maker)
{
    unsigned wholes = 0, reals = 0;
    int count = (int)strlen(maker->arguments);
    if (lua_gettop(d->L) > count)
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

static int make_by_table(lua_State *L)
{
    const struct maker *maker = &makers[lua_tointeger(L, lua_upvalueindex(1))];
    if (maker->kind == GEN_TEXT && lua_type(L, 1) == LUA_TTABLE)
        return suite_lua_text_param(L);
    struct draft d = begin(L, maker->name, maker->kind);
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
static int make_choice(lua_State *L)
{
    struct draft d = begin(L, "choice", GEN_CHOICE);
    if (lua_type(L, 1) != LUA_TTABLE) {
        wrong(&d, 1, "a list of values, choice { ... }");
        return finish(&d);
    }
    lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
    if (count < 1 || count > 1000)
        wrong(&d, 1, "1 to 1000 values");
    for (lua_Integer i = 1; i <= count && !d.bad; i++) {
        lua_rawgeti(L, 1, i);
        add_child(&d, lua_gettop(L));
        lua_pop(L, 1);
    }
    return finish(&d);
}

static int make_format(lua_State *L)
{
    struct draft d = begin(L, "format", GEN_FORMAT);
    d.expr->text = suite_lua_text(L, 1);
    if (!d.expr->text)
        wrong(&d, 1, "text with %d, %s or %0Nd");
    int count = lua_gettop(L);
    if (count > 100)
        wrong(&d, 101, "at most 99 values");
    for (int i = 2; i <= count && !d.bad; i++)
        add_child(&d, i);
    return finish(&d);
}

/* The name and value of one { "name", value }, which is at the stack's top. */
static bool take_member(struct draft *d, const char **name)
{
    lua_State *L = d->L;
    int pair = lua_gettop(L);
    if (lua_type(L, pair) != LUA_TTABLE)
        return false;
    lua_rawgeti(L, pair, 1);
    lua_rawgeti(L, pair, 2);
    *name = suite_lua_text(L, pair + 1);
    struct suite_expr *value = suite_lua_expr(L, pair + 2);
    if (*name && value)
        suite_list_add(suite_loader(L)->arena, &d->children, value);
    lua_settop(L, pair);
    return *name && value;
}

static int make_json(lua_State *L)
{
    struct draft d = begin(L, "json", GEN_JSON);
    bool is_table = lua_type(L, 1) == LUA_TTABLE;
    lua_Integer count = is_table ? (lua_Integer)lua_rawlen(L, 1) : 0;
    if (!is_table || count > 1000) {
        wrong(&d, 1, "json { { \"name\", value }, ... } of at most 1000");
        return finish(&d);
    }
    const char **names = arena_array(suite_loader(L)->arena, const char *, (size_t)count);
    for (lua_Integer i = 1; i <= count && !d.bad; i++) {
        lua_rawgeti(L, 1, i);
        if (!take_member(&d, &names[i - 1]))
            wrong(&d, 1, "every member to be { \"name\", value }");
        lua_pop(L, 1);
    }
    d.expr->names = names;
    return finish(&d);
}

static int make_name(lua_State *L, const char *what, enum gen_kind kind)
{
    struct draft d = begin(L, what, kind);
    d.expr->text = suite_lua_text(L, 1);
    if (!d.expr->text || !suite_is_identifier(d.expr->text))
        wrong(&d, 1, "a name");
    return finish(&d);
}

static int make_var(lua_State *L)
{
    return make_name(L, "var", GEN_VAR);
}

static int make_bound(lua_State *L)
{
    return make_name(L, "bound", GEN_BOUND);
}

static int make_col(lua_State *L)
{
    return make_name(L, "col", GEN_AT);
}

/* ---- operators */
static int apply(lua_State *L, const char *name, enum gen_operator op, int count)
{
    struct draft d = begin(L, name, GEN_ARITH);
    d.expr->op = op;
    for (int i = 1; i <= count; i++)
        add_child(&d, i);
    return finish(&d);
}

static int meta_add(lua_State *L)
{
    return apply(L, "+", GEN_ADD, 2);
}

static int meta_sub(lua_State *L)
{
    return apply(L, "-", GEN_SUB, 2);
}

static int meta_mul(lua_State *L)
{
    return apply(L, "*", GEN_MUL, 2);
}

static int meta_div(lua_State *L)
{
    return apply(L, "/", GEN_DIV, 2);
}

static int meta_idiv(lua_State *L)
{
    return apply(L, "//", GEN_IDIV, 2);
}

static int meta_mod(lua_State *L)
{
    return apply(L, "%", GEN_MOD, 2);
}

static int meta_unm(lua_State *L)
{
    return apply(L, "-", GEN_NEG, 1);
}

static int meta_concat(lua_State *L)
{
    struct draft d = begin(L, "..", GEN_FORMAT);
    d.expr->text = "%s%s";
    add_child(&d, 1);
    add_child(&d, 2);
    return finish(&d);
}

static int meta_order(lua_State *L)
{
    return luaL_error(L, "compare generators with is(a, \"<\", b): < and > cannot be values");
}

static int make_both(lua_State *L)
{
    return apply(L, "both", GEN_AND, 2);
}

static int make_either(lua_State *L)
{
    return apply(L, "either", GEN_OR, 2);
}

static int make_negate(lua_State *L)
{
    return apply(L, "negate", GEN_NOT, 1);
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

static int make_is(lua_State *L)
{
    enum gen_operator op = GEN_EQ;
    const char *text = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    bool known = suite_lua_comparison(text, &op);
    struct draft d = begin(L, "is", GEN_ARITH);
    if (!known)
        wrong(&d, 2, "one of = <> < <= > >=");
    d.expr->op = op;
    add_child(&d, 1);
    add_child(&d, 3);
    return finish(&d);
}

static void set_constant(lua_State *L, const char *name, enum gen_kind kind)
{
    struct draft d = begin(L, name, kind);
    finish(&d);
    lua_setglobal(L, name);
}

void suite_lua_generators(lua_State *L)
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
    lua_pushglobaltable(L);
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
    suite_box_metatable(L, SUITE_BOX_EXPR);
    luaL_setfuncs(L, operators, 0);
    lua_pop(L, 1);
    for (size_t i = 0; i < ARRAY_COUNT(makers); i++) {
        lua_pushinteger(L, (lua_Integer)i);
        lua_pushcclosure(L, make_by_table, 1);
        lua_setglobal(L, makers[i].name);
    }
    set_constant(L, "row", GEN_ROW);
    set_constant(L, "client", GEN_CLIENT);
    set_constant(L, "null", GEN_CONST); /* of type VALUE_NULL */
}
