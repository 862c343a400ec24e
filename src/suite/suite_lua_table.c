#include "base/text.h"
#include "suite/suite_figure_internal.h"
#include "suite/suite_lua_internal.h"

#include <string.h>

/* What column { } makes; table { } gives it its tree. */
struct column_draft {
    struct suite_column column;
    struct suite_expr *expr;
    struct suite_place where;
};

static int new_column(lua_State *lua)
{
    static const char *const fields[] = {NULL};
    struct suite_spec spec = suite_spec_open(lua, "column", fields, 3);
    struct column_draft *draft = arena_new(spec.ld->arena, struct column_draft);
    draft->where = spec.where;
    draft->column.name = suite_spec_name(&spec);
    if (!suite_is_identifier(draft->column.name))
        suite_spec_fault(&spec, "a column's name is a letter or _ and then letters, digits, _");
    if (!suite_spec_dialects(&spec, "2", draft->column.type))
        suite_spec_fault(&spec, "element 2: expected an SQL type");
    draft->expr = suite_spec_expr(&spec, "3");
    if (!draft->expr) {
        struct value one = value_int(1);
        if (!suite_spec_has(&spec, "3"))
            suite_spec_fault(&spec, "element 3: expected a generator or value");
        draft->expr = suite_expr_const(spec.ld, &one);
    }
    suite_box_push(lua, SUITE_BOX_COLUMN, draft);
    return 1;
}

static struct suite_table_def *find_table(const struct suite_loader *ld, const char *name)
{
    for (size_t i = 0; i < ld->tables.count; i++) {
        struct suite_table_def *def = ld->tables.items[i];
        if (strcmp(def->table.name, name) == 0)
            return def;
    }
    return NULL;
}

static bool has_column(const struct suite_column *columns, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(columns[i].name, name) == 0)
            return true;
    }
    return false;
}

/* A column may name the columns before it. */
static gen_id column_tree(const struct suite_spec *spec, const struct column_draft *draft,
                          const struct suite_table_def *def)
{
    const char *why = NULL;
    struct suite_scope scope = suite_scope_of_table(spec->ld, def);
    gen_id tree = GEN_NONE;
    if (draft->expr->uses & SUITE_USE_CLIENT)
        why = "a column does not know the client";
    else
        tree = suite_expr_lower(spec->ld, draft->expr, &scope, &why);
    if (tree != GEN_NONE)
        return tree;
    suite_fault_add(spec->ld, &draft->where, "column '%s': %s", draft->column.name, why);
    struct value one = value_int(1);
    return gen_const(spec->ld->pool, &one);
}

static uint32_t column_weight(const struct suite_expr *expr, const uint32_t *weights,
                              uint32_t count)
{
    uint64_t weight = expr->weight;
    for (uint32_t i = 0; i < count && (expr->uses & SUITE_USE_COLUMN); i++)
        weight += weights[i];
    return weight > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)weight;
}

static void add_columns(const struct suite_spec *spec, struct suite_table_def *def,
                        void **drafts, uint32_t count)
{
    struct suite_column *columns = arena_array(spec->ld->arena, struct suite_column, count);
    uint32_t *weights = arena_array(spec->ld->arena, uint32_t, count);
    def->table.columns = columns;
    def->weights = weights;
    for (uint32_t i = 0; i < count; i++) {
        const struct column_draft *draft = drafts[i];
        if (has_column(columns, i, draft->column.name))
            suite_fault_add(spec->ld, &draft->where, "table '%s': column '%s' is there twice",
                            def->table.name, draft->column.name);
        columns[i] = draft->column;
        columns[i].stream = gen_stream(def->table.name, columns[i].name, 0);
        columns[i].tree = column_tree(spec, draft, def);
        weights[i] = column_weight(draft->expr, weights, i);
        def->table.column_count++;
    }
}

/* Called as table { ... } through __call: argument 1 is the library's table itself. */
static int new_table(lua_State *lua)
{
    static const char *const fields[] = {"rows", NULL};
    lua_remove(lua, 1);
    struct suite_spec spec = suite_spec_open(lua, "table", fields, SUITE_COLUMNS_MAX + 1);
    struct suite_loader *ld = spec.ld;
    struct suite_table_def *def = arena_new(ld->arena, struct suite_table_def);
    int64_t rows = 0;
    uint32_t count;
    def->where = spec.where;
    def->table.where = spec.where.text;
    def->table.name = suite_spec_name(&spec);
    if (!suite_is_identifier(def->table.name))
        suite_spec_fault(&spec, "a table's name is a letter or _ and then letters, digits, _");
    if (!suite_spec_has(&spec, "rows"))
        suite_spec_fault(&spec, "expected rows = a number");
    suite_spec_whole(&spec, "rows", 0, (int64_t)SUITE_ROWS_MAX, &rows);
    def->table.rows = (uint64_t)rows;
    lua_pushvalue(lua, spec.index);
    void **drafts = suite_spec_boxes(&spec, 2, SUITE_BOX_COLUMN, &count);
    add_columns(&spec, def, drafts, count);
    if (count == 0)
        suite_spec_fault(&spec, "expected one column at least");
    const struct suite_table_def *old = find_table(ld, def->table.name);
    if (old)
        suite_spec_fault(&spec, "there is a table of that name already, at %s",
                         old->where.text);
    else if (ld->tables.count == SUITE_TABLES_MAX)
        suite_spec_fault(&spec, "more than %d tables", SUITE_TABLES_MAX);
    else
        suite_list_add(ld->arena, &ld->tables, def);
    suite_box_push(lua, SUITE_BOX_TABLE, def);
    return 1;
}

/* users.rows, users.name */
static int get_table_field(lua_State *lua)
{
    const struct suite_table_def *def = suite_box_get(lua, 1, SUITE_BOX_TABLE);
    const char *key = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
    if (def && strcmp(key, "rows") == 0)
        lua_pushinteger(lua, (lua_Integer)def->table.rows);
    else if (def && strcmp(key, "name") == 0)
        lua_pushstring(lua, def->table.name);
    else
        return luaL_error(lua, "a table has the fields name and rows, not '%s'", key);
    return 1;
}

/* ---- functions over tables; a wrong argument is a fault, and the answer 1 */
static const struct suite_table_def *table_argument(lua_State *lua, const char *function)
{
    const struct suite_table_def *def = suite_box_get(lua, 1, SUITE_BOX_TABLE);
    if (!def)
        suite_lua_fault(lua, "%s: argument 1: expected a table made by table { ... }, got %s",
                        function, suite_lua_describe(lua, 1));
    return def;
}

static const struct suite_column *find_column(lua_State *lua, const char *function,
                                              const struct suite_table_def *def,
                                              const char *name, uint32_t *index)
{
    const char *names[SUITE_COLUMNS_MAX + 1] = {0};
    for (*index = 0; *index < def->table.column_count; ++*index) {
        if (strcmp(def->table.columns[*index].name, name) == 0)
            return &def->table.columns[*index];
        names[*index] = def->table.columns[*index].name;
    }
    suite_lua_charge(lua, 1000);
    const char *guess = suite_guess(suite_loader(lua), name, names);
    suite_lua_fault(lua, "%s: table '%s' has no column '%.63s'%s%s%s", function,
                    def->table.name, name, guess ? "; did you mean '" : "", guess ? guess : "",
                    guess ? "'?" : "");
    return NULL;
}

static struct suite_expr *finish(lua_State *lua, const char *function, struct suite_expr *expr)
{
    const char *why = NULL;
    struct suite_expr *made = suite_expr_finish(suite_loader(lua), expr, &why);
    if (!made)
        suite_lua_fault_in(lua, function, why);
    return made;
}

static struct suite_expr *named_column(lua_State *lua, const char *function,
                                       const struct suite_table_def *def, const char *name)
{
    uint32_t index;
    if (!find_column(lua, function, def, name, &index))
        return NULL;
    struct suite_expr *expr = arena_new(suite_loader(lua)->arena, struct suite_expr);
    expr->kind = GEN_AT;
    expr->text = def->table.columns[index].name;
    return finish(lua, function, expr);
}

/* A column's name or an expression. */
static struct suite_expr *column_argument(lua_State *lua, const char *function,
                                          const struct suite_table_def *def, int argument)
{
    if (lua_type(lua, argument) != LUA_TSTRING) {
        struct suite_expr *given = suite_lua_expr(lua, argument);
        if (!given)
            suite_lua_fault(lua,
                            "%s: argument %d: expected a column's name or a generator, got %s",
                            function, argument, suite_lua_describe(lua, argument));
        return given;
    }
    return named_column(lua, function, def, lua_tostring(lua, argument));
}

/* Arguments `first`, first + 1 and first + 2: x op value, or x alone. */
static struct suite_expr *predicate_argument(lua_State *lua, const char *function,
                                             const struct suite_table_def *def, int first)
{
    struct suite_expr *left = column_argument(lua, function, def, first);
    if (!left || lua_gettop(lua) == first)
        return left;
    struct suite_loader *ld = suite_loader(lua);
    enum gen_operator op;
    const char *text =
        lua_type(lua, first + 1) == LUA_TSTRING ? lua_tostring(lua, first + 1) : "";
    struct suite_expr *right = suite_lua_expr(lua, first + 2);
    if (!suite_lua_comparison(text, &op) || !right || lua_gettop(lua) > first + 2) {
        suite_lua_fault(lua, "%s: expected a column, one of = <> < <= > >=, and a value",
                        function);
        return NULL;
    }
    struct suite_expr *expr = arena_new(ld->arena, struct suite_expr);
    expr->kind = GEN_ARITH;
    expr->op = op;
    expr->child_count = 2;
    expr->children = arena_array(ld->arena, struct suite_expr *, 2);
    expr->children[0] = left;
    expr->children[1] = right;
    return finish(lua, function, expr);
}

static int push_figure(lua_State *lua, const char *function, bool good, uint64_t figure,
                       const char *why)
{
    if (!good && why)
        suite_lua_fault_in(lua, function, why);
    lua_pushinteger(lua, good ? (lua_Integer)figure : 1);
    return 1;
}

/* Rows have their own limit: the time that they took does not count. */
static void give_back(lua_State *lua, uint64_t since_ns)
{
    suite_sandbox(lua)->cpu_deadline_ns += suite_lua_cpu_ns() - since_ns;
}

static int call_count(lua_State *lua)
{
    suite_lua_check_memory(lua);
    uint64_t start_ns = suite_lua_cpu_ns();
    const struct suite_table_def *def = table_argument(lua, "count");
    struct suite_expr *predicate = NULL;
    const char *why = NULL;
    uint64_t count = 0;
    bool good = def != NULL;
    if (good && lua_gettop(lua) > 1) {
        predicate = predicate_argument(lua, "count", def, 2);
        good = predicate != NULL;
    }
    good = good && suite_table_count(suite_loader(lua), def, predicate, &count, &why);
    give_back(lua, start_ns);
    return push_figure(lua, "count", good, count, why);
}

static int call_distinct(lua_State *lua)
{
    suite_lua_check_memory(lua);
    uint64_t start_ns = suite_lua_cpu_ns();
    const struct suite_table_def *def = table_argument(lua, "distinct");
    struct suite_expr *expr = def ? column_argument(lua, "distinct", def, 2) : NULL;
    struct suite_expr *predicate = NULL;
    const char *why = NULL;
    uint64_t count = 0;
    bool good = expr != NULL;
    if (good && lua_gettop(lua) > 2) {
        predicate = predicate_argument(lua, "distinct", def, 3);
        good = predicate != NULL;
    }
    good = good && suite_table_distinct(suite_loader(lua), def, expr, predicate, &count, &why);
    give_back(lua, start_ns);
    return push_figure(lua, "distinct", good, count, why);
}

/* ---- answer { table, columns and generators, where = predicate } */
static struct suite_expr *answer_value(struct suite_spec *spec,
                                       const struct suite_table_def *def, const char *key)
{
    struct suite_expr *expr = NULL;
    if (!suite_spec_push(spec, key))
        return NULL;
    bool named = lua_type(spec->lua, -1) == LUA_TSTRING;
    if (named)
        expr = named_column(spec->lua, "answer", def, lua_tostring(spec->lua, -1));
    lua_pop(spec->lua, 1);
    return named ? expr : suite_spec_expr(spec, key);
}

/* False after a fault. */
static bool read_answer(struct suite_spec *spec, struct suite_answer_of *of)
{
    lua_Integer count = (lua_Integer)lua_rawlen(spec->lua, spec->index) - 1;
    bool good = true;
    if (count < 1 || count > SUITE_COLUMNS_MAX) {
        suite_spec_fault(spec, "expected a table and then 1 to %d columns or generators",
                         SUITE_COLUMNS_MAX);
        return false;
    }
    of->values = arena_array(spec->ld->arena, struct suite_expr *, (size_t)count);
    for (; of->value_count < count; of->value_count++) {
        char key[24];
        text_print(key, sizeof(key), "%u", of->value_count + 2);
        of->values[of->value_count] = answer_value(spec, of->table, key);
        good &= of->values[of->value_count] != NULL;
    }
    of->where = answer_value(spec, of->table, "where");
    return good && (of->where || !suite_spec_has(spec, "where"));
}

static int new_answer(lua_State *lua)
{
    static const char *const fields[] = {"where", NULL};
    struct suite_spec spec = suite_spec_open(lua, "answer", fields, SUITE_COLUMNS_MAX + 1);
    struct suite_answer *answer = arena_new(spec.ld->arena, struct suite_answer);
    struct suite_answer_of of = {.table = suite_spec_box(&spec, "1", SUITE_BOX_TABLE)};
    const char *why = NULL;
    spec.name = NULL;
    if (of.table && read_answer(&spec, &of)) {
        uint64_t start_ns = suite_lua_cpu_ns();
        if (!suite_table_answer(spec.ld, &of, answer, &why))
            suite_spec_fault(&spec, "%s", why);
        give_back(lua, start_ns);
    }
    suite_box_push(lua, SUITE_BOX_ANSWER, answer);
    return 1;
}

static int call_at(lua_State *lua)
{
    suite_lua_check_memory(lua);
    struct suite_loader *ld = suite_loader(lua);
    const struct suite_table_def *def = table_argument(lua, "at");
    struct suite_expr *made = NULL;
    struct suite_expr *row = suite_lua_expr(lua, 3);
    const char *name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
    uint32_t index = 0;
    const struct suite_column *column = def ? find_column(lua, "at", def, name, &index) : NULL;
    if (!row)
        suite_lua_fault(lua, "at: argument 3: expected the row, a number or generator");
    if (row && column) {
        struct suite_expr *expr = arena_new(ld->arena, struct suite_expr);
        expr->kind = GEN_AT;
        expr->column = column;
        expr->weight = def->weights[index];
        expr->child_count = 1;
        expr->children = arena_new(ld->arena, struct suite_expr *);
        expr->children[0] = row;
        made = finish(lua, "at", expr);
    }
    if (!made) {
        struct value one = value_int(1);
        made = suite_expr_const(ld, &one);
    }
    suite_box_push(lua, SUITE_BOX_EXPR, made);
    return 1;
}

static int call_value_at(lua_State *lua)
{
    suite_lua_check_memory(lua);
    struct suite_loader *ld = suite_loader(lua);
    const struct suite_table_def *def = table_argument(lua, "value_at");
    const char *name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
    uint32_t index = 0;
    int64_t row = 0;
    const struct suite_column *column =
        def ? find_column(lua, "value_at", def, name, &index) : NULL;
    bool good = suite_lua_whole(lua, 3, &row) && row >= 1;
    struct value value = value_int(1);
    if (!good)
        suite_lua_fault(lua, "value_at: argument 3: expected a row number from 1");
    suite_lua_charge(lua, def && column ? def->weights[index] : 1);
    if (good && column)
        value = suite_tree_value(ld, column->tree, column->stream, (uint64_t)row);
    suite_lua_push_value(lua, &value);
    return 1;
}

void suite_lua_tables(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"column",   new_column   },
        {"count",    call_count   },
        {"distinct", call_distinct},
        {"at",       call_at      },
        {"value_at", call_value_at},
        {"answer",   new_answer   },
        {NULL,       NULL         },
    };
    lua_pushglobaltable(lua);
    luaL_setfuncs(lua, functions, 0);
    lua_pop(lua, 1);
    suite_box_metatable(lua, SUITE_BOX_TABLE);
    lua_pushcfunction(lua, get_table_field);
    lua_setfield(lua, -2, "__index");
    lua_pop(lua, 1);
    /* The library `table` can be called. */
    lua_getglobal(lua, "table");
    lua_newtable(lua);
    lua_pushcfunction(lua, new_table);
    lua_setfield(lua, -2, "__call");
    lua_setmetatable(lua, -2);
    lua_pop(lua, 1);
}
