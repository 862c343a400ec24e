#include "base/text.h"
#include "format/units.h"
#include "suite/suite_lua_internal.h"

#include <assert.h>
#include <string.h>

enum maker { MAKER_SCENARIO, MAKER_PING, MAKER_CREATE, MAKER_LOAD, MAKER_COUNT };

enum { DEFAULT_WARMUP = 1, DEFAULT_SAMPLES = 7, DEFAULT_BATCH = 500, SAMPLES_MAX = 1000000000 };

enum { HELP_BYTES = 64 };

#define DEFAULT_OPEN_NS (10 * NS_PER_S)
#define RATE_MIN_PER_S  0.00027 /* one an hour */
#define RATE_MAX_PER_S  1e7

/* ---- what all kinds of scenarios have */
static void add_client(struct suite_spec *spec, uint32_t *clients, uint32_t *count,
                       int64_t number)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (clients[i] == number) {
            suite_spec_fault(spec, "clients: %lld is there twice", (long long)number);
            return;
        }
    }
    if (*count == SUITE_CELLS_MAX)
        suite_spec_fault(spec, "clients: more than %d numbers", SUITE_CELLS_MAX);
    else
        clients[(*count)++] = (uint32_t)number;
}

static void read_client(struct suite_spec *spec, uint32_t *clients, uint32_t *count)
{
    int64_t number;
    if (suite_lua_whole(spec->lua, -1, &number) && number >= 1 && number <= SUITE_CLIENTS_MAX)
        add_client(spec, clients, count, number);
    else
        suite_spec_fault(spec, "clients: expected whole numbers from 1 to %d, got %s",
                         SUITE_CLIENTS_MAX, suite_lua_describe(spec->lua, -1));
}

static void read_clients(struct suite_spec *spec, struct suite_scenario *s)
{
    lua_State *lua = spec->lua;
    uint32_t *clients = arena_array(spec->ld->arena, uint32_t, SUITE_CELLS_MAX);
    s->clients_named = suite_spec_push(spec, "clients");
    if (s->clients_named && lua_type(lua, -1) == LUA_TTABLE) {
        lua_Integer count = (lua_Integer)lua_rawlen(lua, -1);
        for (lua_Integer i = 1; i <= count && i <= SUITE_CELLS_MAX + 1; i++) {
            lua_rawgeti(lua, -1, i);
            read_client(spec, clients, &s->client_count);
            lua_pop(lua, 1);
        }
        if (count == 0)
            suite_spec_fault(spec, "clients: expected one number at least");
    } else if (s->clients_named) {
        read_client(spec, clients, &s->client_count);
    }
    if (s->clients_named)
        lua_pop(lua, 1);
    if (s->client_count == 0)
        clients[s->client_count++] = 1;
    s->clients = clients;
}

/* No default: a reason belongs to one dialect; mysql does not take mariadb's. */
static const char *const *read_unsupported(struct suite_spec *spec)
{
    lua_State *lua = spec->lua;
    struct suite_spec inner;
    if (!suite_spec_enter(spec, "unsupported",
                          (const char *const[]){"sqlite", "postgres", "mariadb", "mysql", NULL},
                          0, &inner))
        return NULL;
    const char **reasons = arena_array(spec->ld->arena, const char *, DIALECT_COUNT);
    for (unsigned i = 0; i < DIALECT_COUNT; i++)
        reasons[i] = suite_spec_text(&inner, dialect_name((enum dialect)i));
    lua_pop(lua, 1);
    return reasons;
}

static void read_after(struct suite_spec *spec, struct suite_list *queries)
{
    struct suite_spec inner;
    uint32_t count;
    if (!suite_spec_enter(spec, "after", (const char *const[]){NULL}, 100, &inner))
        return;
    void **items = suite_spec_boxes(spec, 1, SUITE_BOX_QUERY, &count);
    for (uint32_t i = 0; i < count; i++)
        suite_list_add(spec->ld->arena, queries, items[i]);
    lua_pop(spec->lua, 1);
}

static void set_after(struct suite_scenario_def *def, struct suite_loader *ld,
                      const struct suite_list *queries)
{
    struct suite_query *after = arena_array(ld->arena, struct suite_query, queries->count);
    for (size_t i = 0; i < queries->count; i++)
        after[i] = *(const struct suite_query *)queries->items[i];
    def->s.after = after;
    def->s.after_count = (uint32_t)queries->count;
}

static struct suite_scenario_def *begin(struct suite_spec *spec, enum maker maker)
{
    lua_State *lua = spec->lua;
    struct suite_scenario_def *def = arena_new(spec->ld->arena, struct suite_scenario_def);
    struct suite_list queries = {0};
    def->where = spec->where;
    def->maker = (int)maker;
    def->s.where = spec->where.text;
    def->s.name = suite_spec_name(spec);
    def->s.help = suite_spec_text(spec, "help");
    def->s.source = &def->source;
    suite_spec_duration(spec, "deadline", &def->s.deadline_ns);
    suite_spec_duration(spec, "statement_deadline", &def->source.statement_deadline_ns);
    def->s.unsupported = read_unsupported(spec);
    read_clients(spec, &def->s);
    read_after(spec, &queries);
    set_after(def, spec->ld, &queries);
    lua_pushvalue(lua, spec->index);
    def->spec = luaL_ref(lua, LUA_REGISTRYINDEX);
    return def;
}

/* Executions of each client, or a text: a time. */
static void read_warmup(struct suite_spec *spec, struct suite_scenario *s)
{
    int64_t warmup = DEFAULT_WARMUP;
    bool is_text = false;
    if (suite_spec_push(spec, "warmup")) {
        is_text = lua_type(spec->lua, -1) == LUA_TSTRING;
        lua_pop(spec->lua, 1);
    }
    if (is_text && suite_spec_duration(spec, "warmup", &s->warmup_ns))
        warmup = 0;
    else if (!is_text)
        suite_spec_whole(spec, "warmup", 0, SAMPLES_MAX, &warmup);
    s->warmup = (uint32_t)warmup;
}

static void read_rate(struct suite_spec *spec, struct suite_scenario *s)
{
    static const char *const arrivals[] = {
        [SUITE_POISSON] = "poisson", [SUITE_FIXED] = "fixed", NULL};
    unsigned law = SUITE_POISSON;
    suite_spec_real(spec, "rate", RATE_MIN_PER_S, RATE_MAX_PER_S, &s->rate_per_s);
    suite_spec_choice(spec, "arrivals", arrivals, &law);
    s->arrivals = (enum suite_arrivals)law;
    if (suite_spec_has(spec, "arrivals") && !suite_spec_has(spec, "rate"))
        suite_spec_fault(spec, "arrivals belongs to an open loop: rate is missing");
    double executions = s->rate_per_s * (double)s->duration_ns / 1e9;
    if (executions > SAMPLES_MAX)
        suite_spec_fault(spec, "rate and duration make %.0f executions, more than %d",
                         executions, SAMPLES_MAX);
}

/* How often: samples, per_client (the same) or duration, one of them; at which rate. */
static void read_mode(struct suite_spec *spec, struct suite_scenario *s)
{
    int64_t samples = DEFAULT_SAMPLES;
    int given = suite_spec_has(spec, "samples") + suite_spec_has(spec, "per_client") +
                suite_spec_has(spec, "duration");
    read_warmup(spec, s);
    suite_spec_whole(spec, "samples", 1, SAMPLES_MAX, &samples);
    suite_spec_whole(spec, "per_client", 1, SAMPLES_MAX, &samples);
    if (given == 0 && suite_spec_has(spec, "rate"))
        s->duration_ns = DEFAULT_OPEN_NS;
    suite_spec_duration(spec, "duration", &s->duration_ns);
    if (s->duration_ns)
        samples = 0;
    if (given > 1)
        suite_spec_fault(spec, "expected one of samples, per_client and duration");
    s->samples = (uint64_t)samples;
    read_rate(spec, s);
}

static const char *shown(const struct suite_spec *spec, uint64_t ns)
{
    char buffer[40];
    format_duration(buffer, sizeof(buffer), ns);
    return arena_text(spec->ld->arena, buffer);
}

static void check_step_deadlines(const struct suite_spec *spec, uint64_t deadline_ns,
                                 struct suite_step *const *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct suite_step *step = steps[i];
        if (step->deadline_ns > deadline_ns)
            suite_fault_add(spec->ld, &step->where,
                            "scenario '%s': the step's deadline (%s) is longer than the "
                            "scenario's (%s)",
                            spec->name, shown(spec, step->deadline_ns),
                            shown(spec, deadline_ns));
        check_step_deadlines(spec, deadline_ns, step->body, step->body_count);
        check_step_deadlines(spec, deadline_ns, step->other, step->other_count);
    }
}

/* Warm-up, connecting and the last executions need time beside the duration. */
static void settle_deadlines(const struct suite_spec *spec, struct suite_scenario_def *def)
{
    struct suite_scenario *s = &def->s;
    uint64_t statement_ns = def->source.statement_deadline_ns;
    uint64_t measured_ns = s->warmup_ns + s->duration_ns;
    if (s->rate_per_s > 0 && s->duration_ns == 0)
        measured_ns += (uint64_t)((double)s->samples / s->rate_per_s * 1e9);
    bool given = s->deadline_ns > 0;
    if (!given)
        s->deadline_ns = measured_ns + SUITE_DEADLINE_NS;
    if (given && measured_ns >= s->deadline_ns) {
        suite_spec_fault(spec, "deadline (%s) is not longer than %s (%s)",
                         shown(spec, s->deadline_ns),
                         s->warmup_ns ? "warmup and duration" : "duration",
                         shown(spec, measured_ns));
        return;
    }
    if (statement_ns > s->deadline_ns)
        suite_spec_fault(spec, "statement_deadline (%s) is longer than deadline (%s%s)",
                         shown(spec, statement_ns), shown(spec, s->deadline_ns),
                         given ? "" : ", as none is given");
    check_step_deadlines(spec, s->deadline_ns, def->source.steps, def->source.step_count);
}

static int finish(struct suite_spec *spec, struct suite_scenario_def *def)
{
    struct suite_loader *ld = spec->ld;
    settle_deadlines(spec, def);
    if (++ld->scenario_count > SUITE_SCENARIOS_MAX)
        luaL_error(spec->lua, "more than %d scenarios", SUITE_SCENARIOS_MAX);
    suite_compile_all(ld, def);
    suite_box_push(spec->lua, SUITE_BOX_SCENARIO, def);
    return 1;
}

/* ---- scenario { } */
/* The statement, for a scenario that does not say what it does: on one line, cut when long. */
static const char *help_of(struct arena *arena, const struct suite_sql *sql)
{
    struct text help;
    const char *at = NULL;
    for (unsigned i = 0; i < DIALECT_COUNT && !at; i++)
        at = sql->text[i];
    text_init(&help, arena, HELP_BYTES + 8);
    for (; at && *at && help.bytes < HELP_BYTES; at++) {
        bool blank = (unsigned char)*at <= ' ';
        if (!blank)
            text_add_char(&help, *at);
        else if (help.bytes > 0 && help.at[help.bytes - 1] != ' ')
            text_add_char(&help, ' ');
    }
    while (at && ((unsigned char)*at & 0xc0) == 0x80) /* a character is not cut */
        text_add_char(&help, *at++);
    if (at && *at)
        text_add(&help, "...");
    return help.bytes > 0 ? help.at : NULL;
}

static void one_statement(struct suite_spec *spec, struct suite_scenario_def *def)
{
    struct suite_step *step = suite_step_new(spec, PROG_EXECUTE);
    struct suite_step **steps = arena_new(spec->ld->arena, struct suite_step *);
    step->name = def->s.name;
    step->deadline_ns = 0; /* `deadline` is the scenario's */
    if (!suite_spec_dialects(spec, "sql", step->sql.text)) {
        suite_spec_fault(spec, "expected sql = text or steps = { ... }");
        step->kind = PROG_PING;
    }
    if (!def->s.help)
        def->s.help = help_of(spec->ld->arena, &step->sql);
    suite_step_statement(spec, step);
    suite_step_expect(spec, &step->expect, &def->s);
    steps[0] = step;
    def->source.steps = steps;
    def->source.step_count = 1;
}

static void many_steps(struct suite_spec *spec, struct suite_scenario_def *def)
{
    static const char *const of_statements[] = {"sql", "bind", "direct", "depth"};
    struct suite_expect expect = {0};
    struct suite_spec inner;
    uint64_t total = 0;
    for (size_t i = 0; i < ARRAY_COUNT(of_statements); i++) {
        if (suite_spec_has(spec, of_statements[i]))
            suite_spec_fault(spec, "%s belongs to a step, not beside steps", of_statements[i]);
    }
    suite_step_expect(spec, &expect, &def->s);
    if (expect.rows || expect.affected || expect.value_count > 0 || expect.has_error)
        suite_spec_fault(spec, "expect: beside steps only growth; the rest belongs to a step");
    int64_t first = 1;
    suite_spec_whole(spec, "first", 1, INT64_MAX / 2, &first);
    def->source.first_row = (uint64_t)first;
    if (!suite_spec_enter(spec, "steps", (const char *const[]){NULL}, SUITE_STEPS_MAX, &inner))
        return;
    def->source.steps = suite_step_list(spec, 1, &def->source.step_count);
    for (uint32_t i = 0; i < def->source.step_count; i++)
        total += def->source.steps[i]->total;
    if (total > SUITE_STEPS_MAX) {
        suite_spec_fault(spec, "more than %d steps", SUITE_STEPS_MAX);
        def->source.step_count = 1;
    }
    if (def->source.step_count == 0)
        suite_spec_fault(spec, "steps: expected one step at least");
    lua_pop(spec->lua, 1);
}

static int new_scenario(lua_State *lua)
{
    static const char *const fields[] = {"help",       "sql",      "first",
                                         "bind",       "expect",   "after",
                                         "steps",      "warmup",   "samples",
                                         "duration",   "clients",  "equal",
                                         "per_client", "deadline", "statement_deadline",
                                         "depth",      "direct",   "unsupported",
                                         "rate",       "arrivals", NULL};
    static const char *const equals[] = {"rows", NULL};
    struct suite_spec spec = suite_spec_open(lua, "scenario", fields, 1);
    struct suite_scenario_def *def = begin(&spec, MAKER_SCENARIO);
    unsigned equal = 0;
    read_mode(&spec, &def->s);
    if (suite_spec_choice(&spec, "equal", equals, &equal))
        def->s.equal = SUITE_EQUAL_ROWS;
    if (suite_spec_has(&spec, "steps"))
        many_steps(&spec, def);
    else
        one_statement(&spec, def);
    return finish(&spec, def);
}

/* ---- ping, create, load */
int suite_lua_ping_scenario(lua_State *lua)
{
    static const char *const fields[] = {"help",        "after",    "warmup",
                                         "samples",     "duration", "clients",
                                         "per_client",  "deadline", "statement_deadline",
                                         "unsupported", "rate",     "arrivals",
                                         NULL};
    struct suite_spec spec = suite_spec_open(lua, "ping", fields, 1);
    struct suite_scenario_def *def = begin(&spec, MAKER_PING);
    struct suite_step *step = arena_new(spec.ld->arena, struct suite_step);
    struct suite_step **steps = arena_new(spec.ld->arena, struct suite_step *);
    const char **reasons = arena_array(spec.ld->arena, const char *, DIALECT_COUNT);
    read_mode(&spec, &def->s);
    for (unsigned i = 0; i < DIALECT_COUNT && def->s.unsupported; i++)
        reasons[i] = def->s.unsupported[i];
    if (!reasons[DIALECT_SQLITE])
        reasons[DIALECT_SQLITE] = "embedded: no protocol to ping";
    def->s.unsupported = reasons;
    *step = (struct suite_step){
        .kind = PROG_PING, .where = spec.where, .times = 1, .total = 1, .level = 1};
    steps[0] = step;
    def->source.steps = steps;
    def->source.step_count = 1;
    return finish(&spec, def);
}

static int new_create(lua_State *lua)
{
    static const char *const fields[] = {"help",        "after",
                                         "deadline",    "statement_deadline",
                                         "unsupported", NULL};
    struct suite_spec spec = suite_spec_open(lua, "create", fields, 2);
    struct suite_scenario_def *def = begin(&spec, MAKER_CREATE);
    def->source.table = suite_spec_box(&spec, "2", SUITE_BOX_TABLE);
    def->source.origin = def->source.table ? SUITE_CREATE : SUITE_STEPS;
    if (def->source.table && !def->s.help)
        def->s.help =
            arena_printf(spec.ld->arena, "makes the table %s", def->source.table->table.name);
    def->s.samples = 1;
    return finish(&spec, def);
}

/* Rows a statement: what was asked for, within the limit of values. */
static uint64_t batch_of(const struct suite_table *table, uint64_t asked)
{
    uint64_t columns = table->column_count > 0 ? table->column_count : 1;
    uint64_t limit = SUITE_VALUES_MAX / columns;
    return asked < limit ? asked : limit;
}

static bool commits_all(const struct suite_spec *spec)
{
    if (!suite_spec_push(spec, "commit"))
        return false;
    bool all = lua_type(spec->lua, -1) == LUA_TSTRING &&
               strcmp(lua_tostring(spec->lua, -1), "all") == 0;
    lua_pop(spec->lua, 1);
    return all;
}

static void read_load(struct suite_spec *spec, struct suite_scenario_def *def)
{
    const struct suite_table *table = &def->source.table->table;
    int64_t batch = DEFAULT_BATCH, commit = 0;
    bool asked = suite_spec_whole(spec, "batch", 1, (int64_t)SUITE_ROWS_MAX, &batch);
    if (table->rows == 0)
        suite_spec_fault(spec, "table '%s' has no rows to load", table->name);
    if (commits_all(spec))
        commit = (int64_t)table->rows;
    else if (!suite_spec_whole(spec, "commit", 1, (int64_t)SUITE_ROWS_MAX, &commit))
        commit = batch;
    if (!asked && batch > commit)
        batch = commit;
    if (batch > commit && !commits_all(spec))
        suite_spec_fault(spec, "a commit of %lld rows is smaller than a statement of %lld",
                         (long long)commit, (long long)batch);
    if ((uint64_t)commit > table->rows)
        commit = (int64_t)table->rows;
    if (batch > commit)
        batch = commit;
    def->source.batch = batch_of(table, (uint64_t)batch);
    def->source.commit = (uint64_t)commit;
    if (!def->s.help)
        def->s.help = arena_printf(spec->ld->arena, "loads the table %s: %llu rows",
                                   table->name, (unsigned long long)table->rows);
    def->s.rows_loaded = table->rows;
    def->s.rows_per_commit = def->source.commit;
    def->s.rows_per_statement = def->source.batch;
}

static void add_count_query(struct suite_spec *spec, struct suite_scenario_def *def)
{
    struct suite_list queries = {0};
    const char *sql =
        arena_printf(spec->ld->arena, "SELECT count(*) FROM %s", def->source.table->table.name);
    struct suite_query count = {.name = "count",
                                .has_value = true,
                                .value = value_int((int64_t)def->s.rows_loaded)};
    for (unsigned i = 0; i < DIALECT_COUNT; i++)
        count.sql.text[i] = sql;
    suite_list_add(spec->ld->arena, &queries, &count);
    read_after(spec, &queries);
    set_after(def, spec->ld, &queries);
}

static int new_load(lua_State *lua)
{
    static const char *const fields[] = {"help",     "after",       "batch",
                                         "commit",   "clients",     "statement_deadline",
                                         "deadline", "unsupported", NULL};
    struct suite_spec spec = suite_spec_open(lua, "load", fields, 2);
    struct suite_scenario_def *def = begin(&spec, MAKER_LOAD);
    def->source.table = suite_spec_box(&spec, "2", SUITE_BOX_TABLE);
    def->s.samples = 1;
    if (def->source.table) {
        read_load(&spec, def);
        add_count_query(&spec, def);
        def->source.origin = def->source.table->table.rows > 0 ? SUITE_LOAD : SUITE_STEPS;
    }
    return finish(&spec, def);
}

/* ---- query { "count", sql = "...", value = 5 } */
static void check_query(struct suite_spec *spec, const struct suite_query *query)
{
    for (unsigned i = 0; i < DIALECT_COUNT; i++) {
        struct sqltext out;
        struct err err = {0};
        const char *text = query->sql.text[i];
        if (!text)
            continue;
        if (!sqltext_compile(spec->ld->arena, text, (enum dialect)i, &out, &err))
            suite_spec_fault(spec, "SQL: %s", err.text);
        else if (out.param_count > 0)
            suite_spec_fault(spec, "SQL: a query has no parameters, got :%s", out.params[0]);
    }
}

static int new_query(lua_State *lua)
{
    static const char *const fields[] = {"sql", "value", "rows", NULL};
    struct suite_spec spec = suite_spec_open(lua, "query", fields, 1);
    struct suite_query *query = arena_new(spec.ld->arena, struct suite_query);
    int64_t rows = 0;
    query->name = suite_spec_text(&spec, "1");
    if (!query->name) {
        suite_spec_fault(&spec, "element 1: expected a name");
        query->name = "_";
    }
    spec.name = query->name;
    if (!suite_spec_dialects(&spec, "sql", query->sql.text))
        suite_spec_fault(&spec, "expected sql = text");
    check_query(&spec, query);
    query->has_rows = suite_spec_whole(&spec, "rows", 0, INT64_MAX, &rows);
    query->rows = (uint64_t)rows;
    struct suite_expr *value = suite_spec_expr(&spec, "value");
    query->has_value = value != NULL;
    if (value &&
        ((value->uses & SUITE_USE_NAMES) || !gen_is_constant(spec.ld->pool, value->id)))
        suite_spec_fault(&spec, "value: expected a value that does not change");
    else if (value)
        query->value = suite_tree_value(spec.ld, value->id, 0, 1);
    if (!suite_spec_has(&spec, "rows") && !suite_spec_has(&spec, "value"))
        suite_spec_fault(&spec, "expected value = ... or rows = ...");
    suite_box_push(lua, SUITE_BOX_QUERY, query);
    return 1;
}

struct suite_scenario_def *suite_scenario_again(lua_State *lua, int maker)
{
    static const lua_CFunction makers[MAKER_COUNT] = {
        [MAKER_SCENARIO] = new_scenario,
        [MAKER_PING] = suite_lua_ping_scenario,
        [MAKER_CREATE] = new_create,
        [MAKER_LOAD] = new_load,
    };
    assert(maker >= 0 && maker < MAKER_COUNT);
    lua_pushcfunction(lua, makers[maker]);
    lua_insert(lua, -2);
    lua_call(lua, 1, 1);
    struct suite_scenario_def *def = suite_box_get(lua, -1, SUITE_BOX_SCENARIO);
    lua_pop(lua, 1);
    return def;
}

void suite_lua_scenarios(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        {"scenario", new_scenario},
        {"create",   new_create  },
        {"load",     new_load    },
        {"query",    new_query   },
        {NULL,       NULL        },
    };
    lua_pushglobaltable(lua);
    luaL_setfuncs(lua, functions, 0);
    lua_pop(lua, 1);
}
