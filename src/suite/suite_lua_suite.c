#include "base/text.h"
#include "suite/suite_lua_internal.h"

#include <string.h>

enum { ELEMENTS_MAX = 20000 };

/* ---- relation { "index speed-up", a = "name_scan", b = { "concurrent", clients = 8 } } */
static void read_side(struct suite_spec *spec, const char *key, const char **name,
                      uint32_t *clients, const char **phase)
{
    static const char *const fields[] = {"clients", "phase", NULL};
    struct suite_spec inner;
    int64_t number = 0;
    *name = "_";
    if (!suite_spec_push(spec, key)) {
        suite_spec_fault(spec, "%s: expected a scenario's name", key);
        return;
    }
    bool plain = lua_type(spec->lua, -1) == LUA_TSTRING;
    lua_pop(spec->lua, 1);
    if (plain) {
        *name = suite_spec_text(spec, key);
    } else if (suite_spec_enter(spec, key, fields, 1, &inner)) {
        *name = suite_spec_text(&inner, "1");
        *phase = suite_spec_text(&inner, "phase");
        suite_spec_whole(&inner, "clients", 1, SUITE_CLIENTS_MAX, &number);
        *clients = (uint32_t)number;
        lua_pop(spec->lua, 1);
    }
    if (!*name) {
        suite_spec_fault(spec, "%s: expected a scenario's name", key);
        *name = "_";
    }
}

static int new_relation(lua_State *lua)
{
    static const char *const fields[] = {"a", "b", "metric", "stat", "differs", NULL};
    static const char *const metrics[] = {"service_ns", "throughput_per_s", "rows_per_s",
                                          "ns_per_row", "wall_ns",          NULL};
    static const char *const stats[] = {"p50", "mean", "max", "value", NULL};
    struct suite_spec spec = suite_spec_open(lua, "relation", fields, 1);
    struct suite_relation_def *def = arena_new(spec.ld->arena, struct suite_relation_def);
    unsigned metric = 0, stat = 0;
    def->where = spec.where;
    def->r.where = spec.where.text;
    def->r.name = suite_spec_text(&spec, "1");
    if (!def->r.name) {
        suite_spec_fault(&spec, "element 1: expected a name");
        def->r.name = "_";
    }
    spec.name = def->r.name;
    read_side(&spec, "a", &def->r.a, &def->r.a_clients, &def->r.a_phase);
    read_side(&spec, "b", &def->r.b, &def->r.b_clients, &def->r.b_phase);
    suite_spec_choice(&spec, "metric", metrics, &metric);
    if (!suite_spec_choice(&spec, "stat", stats, &stat) && metric != 0)
        stat = 3; /* rates and the like are one value */
    def->r.metric = metrics[metric];
    def->r.stat = stats[stat];
    def->r.differs = suite_spec_text(&spec, "differs");
    suite_box_push(lua, SUITE_BOX_RELATION, def);
    return 1;
}

/* ---- override { "id_point", samples = 20 } */
struct override {
    const char *name;
    struct suite_place where;
    int spec; /* reference to its table */
};

static int new_override(lua_State *lua)
{
    struct suite_loader *ld = suite_loader(lua);
    suite_lua_check_memory(lua);
    struct override *over = arena_new(ld->arena, struct override);
    over->where = suite_lua_place(lua);
    if (lua_type(lua, 1) != LUA_TTABLE) {
        suite_lua_fault(lua, "override: expected { \"scenario\", field = value, ... }");
        lua_settop(lua, 0);
        lua_newtable(lua);
    }
    lua_rawgeti(lua, 1, 1);
    over->name = suite_lua_text(lua, -1);
    if (!over->name) {
        suite_lua_fault(lua, "override: element 1: expected a scenario's name");
        over->name = "";
    }
    lua_pop(lua, 1);
    over->spec = luaL_ref(lua, LUA_REGISTRYINDEX);
    suite_box_push(lua, SUITE_BOX_OVERRIDE, over);
    return 1;
}

/* Copies the fields of the table at `from` into the one at `to`. */
static void copy_fields(lua_State *lua, int from, int to)
{
    lua_pushnil(lua);
    while (lua_next(lua, from)) {
        lua_pushvalue(lua, -2);
        lua_insert(lua, -2);
        lua_rawset(lua, to);
    }
}

static void clear_field(lua_State *lua, int table, const char *field)
{
    lua_pushstring(lua, field);
    lua_pushnil(lua);
    lua_rawset(lua, table);
}

static bool has_field(lua_State *lua, int table, const char *field)
{
    lua_pushstring(lua, field);
    bool has = lua_rawget(lua, table) != LUA_TNIL;
    lua_pop(lua, 1);
    return has;
}

/* A field takes the place of those that exclude it. */
static void clear_excluded(lua_State *lua, int over, int merged)
{
    static const char *const excluded[][2] = {
        {"samples",    "per_client"},
        {"samples",    "duration"  },
        {"per_client", "samples"   },
        {"per_client", "duration"  },
        {"duration",   "samples"   },
        {"duration",   "per_client"},
        {"sql",        "steps"     },
        {"steps",      "sql"       },
        {"steps",      "bind"      },
        {"steps",      "direct"    },
        {"steps",      "depth"     },
    };
    for (size_t i = 0; i < ARRAY_COUNT(excluded); i++) {
        if (has_field(lua, over, excluded[i][0]) && !has_field(lua, over, excluded[i][1]))
            clear_field(lua, merged, excluded[i][1]);
    }
}

static struct suite_scenario_def *find_scenario(const struct suite_def *def, const char *name,
                                                size_t *index)
{
    for (*index = 0; *index < def->scenarios.count; ++*index) {
        struct suite_scenario_def *s = def->scenarios.items[*index];
        if (strcmp(s->s.name, name) == 0)
            return s;
    }
    return NULL;
}

static const char *guess_scenario(struct suite_loader *ld, const struct suite_def *def,
                                  const char *name)
{
    const char **names = arena_array(ld->arena, const char *, def->scenarios.count + 1);
    for (size_t i = 0; i < def->scenarios.count; i++)
        names[i] = ((const struct suite_scenario_def *)def->scenarios.items[i])->s.name;
    return suite_guess(ld, name, names);
}

static void apply_override(lua_State *lua, struct suite_def *def, const struct override *over)
{
    struct suite_loader *ld = suite_loader(lua);
    size_t index;
    struct suite_scenario_def *old = find_scenario(def, over->name, &index);
    if (!old) {
        const char *guess = guess_scenario(ld, def, over->name);
        suite_fault_add(ld, &over->where, "override: no scenario '%.63s' before it%s%s%s",
                        over->name, guess ? "; did you mean '" : "", guess ? guess : "",
                        guess ? "'?" : "");
        return;
    }
    int top = lua_gettop(lua);
    luaL_checkstack(lua, 20, "override");
    lua_newtable(lua);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, old->spec);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, over->spec);
    copy_fields(lua, top + 2, top + 1);
    clear_excluded(lua, top + 3, top + 1);
    copy_fields(lua, top + 3, top + 1);
    lua_settop(lua, top + 1);
    suite_sandbox(lua)->standing = &over->where;
    def->scenarios.items[index] = suite_scenario_again(lua, old->maker);
    suite_sandbox(lua)->standing = NULL;
}

/* ---- extend "shop" */
static int call_extend(lua_State *lua)
{
    struct suite_sandbox *sandbox = suite_sandbox(lua);
    struct suite_loader *ld = sandbox->ld;
    const char *why = "expected a suite's name, extend \"shop\"";
    const char *name = suite_lua_text(lua, 1);
    uint32_t from = suite_lua_place(lua).chunk;
    if (!name || sandbox->nesting >= SUITE_NEST_MAX)
        return luaL_error(lua, "extend: %s",
                          name ? "suites extend one another too deeply" : why);
    const struct suite_chunk *chunk = suite_find_chunk(ld, name, ld->chunks.items[from], &why);
    if (!chunk)
        return luaL_error(lua, "extend: %s", why);
    sandbox->nesting++;
    suite_lua_run(lua, chunk);
    sandbox->nesting--;
    struct suite_def *def = suite_box_get(lua, -1, SUITE_BOX_SUITE);
    suite_box_push(lua, SUITE_BOX_EXTEND, def);
    return 1;
}

static int get_extend_field(lua_State *lua)
{
    struct suite_def *def = suite_box_get(lua, 1, SUITE_BOX_EXTEND);
    const char *key = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
    if (def && strcmp(key, "tables") == 0)
        suite_box_push(lua, SUITE_BOX_TABLES, def);
    else if (def && strcmp(key, "params") == 0)
        suite_box_push(lua, SUITE_BOX_PARAMS, suite_loader(lua));
    else
        return luaL_error(lua, "an extended suite has the fields tables and params, not '%s'",
                          key);
    return 1;
}

static int get_extended_table(lua_State *lua)
{
    const struct suite_loader *ld = suite_loader(lua);
    const struct suite_def *def = suite_box_get(lua, 1, SUITE_BOX_TABLES);
    const char *key = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
    for (size_t i = def ? def->first_table : 0; def && i < def->end_table; i++) {
        struct suite_table_def *table = ld->tables.items[i];
        if (strcmp(table->table.name, key) == 0) {
            suite_box_push(lua, SUITE_BOX_TABLE, table);
            return 1;
        }
    }
    return luaL_error(lua, "suite '%s' has no table '%s'", def ? def->name : "", key);
}

/* ---- suite { "shop", summary = "...", scenario { }, relation { }, ... } */
static void add_scenario(struct suite_spec *spec, struct suite_def *def,
                         struct suite_scenario_def *scenario)
{
    size_t index;
    const struct suite_scenario_def *old = find_scenario(def, scenario->s.name, &index);
    if (old)
        suite_fault_add(spec->ld, &scenario->where,
                        "scenario '%s' is there twice, first at %s; override { } changes one",
                        scenario->s.name, old->where.text);
    else
        suite_list_add(spec->ld->arena, &def->scenarios, scenario);
}

static void add_extended(struct suite_spec *spec, struct suite_def *def,
                         const struct suite_def *other)
{
    for (size_t i = 0; i < other->scenarios.count; i++)
        add_scenario(spec, def, other->scenarios.items[i]);
    for (size_t i = 0; i < other->relations.count; i++)
        suite_list_add(spec->ld->arena, &def->relations, other->relations.items[i]);
}

static void add_list(struct suite_spec *spec, struct suite_def *def, lua_Integer first,
                     unsigned level);

static void add_element(struct suite_spec *spec, struct suite_def *def, lua_Integer position,
                        unsigned level)
{
    static const enum suite_box kinds[] = {SUITE_BOX_SCENARIO, SUITE_BOX_RELATION,
                                           SUITE_BOX_EXTEND, SUITE_BOX_OVERRIDE};
    lua_State *lua = spec->lua;
    void *items[ARRAY_COUNT(kinds)];
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        items[i] = suite_box_get(lua, -1, kinds[i]);
    if (items[0])
        add_scenario(spec, def, items[0]);
    else if (items[1])
        suite_list_add(spec->ld->arena, &def->relations, items[1]);
    else if (items[2])
        add_extended(spec, def, items[2]);
    else if (items[3])
        apply_override(lua, def, items[3]);
    else if (lua_type(lua, -1) == LUA_TTABLE && level < SUITE_NEST_MAX)
        add_list(spec, def, 1, level + 1);
    else
        suite_spec_fault(spec,
                         "element %lld: expected a scenario, relation, extend, override or a "
                         "list of them, got %s",
                         (long long)position, suite_lua_describe(lua, -1));
}

/* The elements of the table at the stack's top. */
static void add_list(struct suite_spec *spec, struct suite_def *def, lua_Integer first,
                     unsigned level)
{
    lua_State *lua = spec->lua;
    lua_Integer count = (lua_Integer)lua_rawlen(lua, -1);
    luaL_checkstack(lua, 20, "suite");
    for (lua_Integer i = first; i <= count; i++) {
        suite_lua_charge(lua, 1 + def->scenarios.count / 16);
        lua_rawgeti(lua, -1, i);
        add_element(spec, def, i, level);
        lua_pop(lua, 1);
    }
}

static int new_suite(lua_State *lua)
{
    static const char *const fields[] = {"summary", NULL};
    struct suite_spec spec = suite_spec_open(lua, "suite", fields, ELEMENTS_MAX);
    struct suite_def *def = arena_new(spec.ld->arena, struct suite_def);
    def->where = spec.where;
    def->name = suite_spec_name(&spec);
    def->summary = suite_spec_text(&spec, "summary");
    def->end_table = spec.ld->tables.count;
    lua_pushvalue(lua, spec.index);
    add_list(&spec, def, 2, 0);
    if (def->relations.count > SUITE_RELATIONS_MAX) {
        suite_spec_fault(&spec, "more than %d relations", SUITE_RELATIONS_MAX);
        def->relations.count = SUITE_RELATIONS_MAX;
    }
    if (def->scenarios.count == 0)
        suite_spec_fault(&spec, "expected one scenario at least");
    suite_box_push(lua, SUITE_BOX_SUITE, def);
    return 1;
}

static void set_index(lua_State *lua, enum suite_box kind, lua_CFunction function)
{
    suite_box_metatable(lua, kind);
    lua_pushcfunction(lua, function);
    lua_setfield(lua, -2, "__index");
    lua_pop(lua, 1);
}

void suite_lua_suites(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"relation", new_relation},
        {"override", new_override},
        {"extend",   call_extend },
        {"suite",    new_suite   },
        {NULL,       NULL        },
    };
    lua_pushglobaltable(lua);
    luaL_setfuncs(lua, functions, 0);
    lua_pop(lua, 1);
    set_index(lua, SUITE_BOX_EXTEND, get_extend_field);
    set_index(lua, SUITE_BOX_TABLES, get_extended_table);
}
