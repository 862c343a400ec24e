#ifndef SUITE_SUITE_LUA_INTERNAL_H
#define SUITE_SUITE_LUA_INTERNAL_H

/*
 * The Lua side of the loader: for suite_lua*.c only.
 *
 * What the constructors make lives in the loader's arena; Lua holds it in a box, a userdata of
 * one pointer with a metatable a kind. There is no __gc anywhere. All of it runs under one
 * lua_pcall: a Lua error may leave any of these functions by longjmp, so none of them holds
 * anything that needs releasing.
 */

#include "suite/suite_internal.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum suite_box {
    SUITE_BOX_EXPR,
    SUITE_BOX_PARAM,
    SUITE_BOX_PARAMS, /* what params{} returns */
    SUITE_BOX_TABLE,
    SUITE_BOX_COLUMN,
    SUITE_BOX_STEP,
    SUITE_BOX_QUERY,
    SUITE_BOX_SCENARIO,
    SUITE_BOX_RELATION,
    SUITE_BOX_OVERRIDE,
    SUITE_BOX_EXTEND,
    SUITE_BOX_TABLES, /* s.tables of an extended suite */
    SUITE_BOX_SUITE,
    SUITE_BOX_ANSWER,
    SUITE_BOX_ANY, /* a value that is not looked at */
    SUITE_BOX_COUNT,
};

struct suite_sandbox {
    struct suite_loader *ld;
    const struct suite_chunk *chunk; /* to run */
    size_t bytes, bytes_max;         /* Lua's memory */
    uint64_t spent, spent_max; /* instructions, and work of library functions in that unit */
    uint64_t cpu_deadline_ns;  /* of this thread's CPU clock */
    bool out_of_memory;
    char shown[80];                     /* of suite_lua_describe */
    uint32_t nesting;                   /* suites being extended */
    const struct suite_place *standing; /* the place of faults, not the running line */
};

static inline struct suite_sandbox *suite_sandbox(lua_State *lua)
{
    return *(struct suite_sandbox **)lua_getextraspace(lua);
}

static inline struct suite_loader *suite_loader(lua_State *lua)
{
    return suite_sandbox(lua)->ld;
}

/* ---- boxes (suite_lua_value.c) */
void suite_box_push(lua_State *lua, enum suite_box kind, void *item);
void *suite_box_get(lua_State *lua, int index, enum suite_box kind); /* NULL: not one */
void suite_box_kinds(lua_State *lua);                                /* makes the metatables */
/* Replaces the metatable's __index and the like; leaves the metatable pushed. */
void suite_box_metatable(lua_State *lua, enum suite_box kind);

/* ---- values (suite_lua_value.c) */
/* For messages: "nil", "12", "'text'", "a plain table", "a scenario"; good until the next call.
 */
const char *suite_lua_describe(lua_State *lua, int index);
/* The place of the innermost Lua function that runs, and who called it when it is a function of
 * the suite. */
struct suite_place suite_lua_place(lua_State *lua);
void suite_lua_fault(lua_State *lua, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "function: why", or why alone when it begins with the name. */
void suite_lua_fault_in(lua_State *lua, const char *function, const char *why);
/* A Lua error when the suite has taken too much of the arena; at the start of constructors. */
void suite_lua_check_memory(lua_State *lua);
/* A string without NUL, copied to the arena; else NULL. */
const char *suite_lua_text(lua_State *lua, int index);
/* A whole number; 3.0 is one, "3" is not. */
bool suite_lua_whole(lua_State *lua, int index, int64_t *out);
/* A generator, number, text or boolean; else NULL. */
struct suite_expr *suite_lua_expr(lua_State *lua, int index);
void suite_lua_push_value(lua_State *lua, const struct value *value);

/* ---- the table that a constructor was called with (suite_lua_spec.c). A key that begins with
 * a digit is a position. Wrong values are faults; the answer is then as if it were absent. */
struct suite_spec {
    lua_State *lua;
    struct suite_loader *ld;
    int index;        /* of the table, absolute */
    const char *what; /* "scenario" */
    const char *name; /* of the thing, or NULL */
    struct suite_place where;
};

/* `fields` is NULL-terminated; positions beyond `positions` are faults. A wrong argument leaves
 * an empty table to work with. */
struct suite_spec suite_spec_open(lua_State *lua, const char *what, const char *const *fields,
                                  uint32_t positions);
/* The name at position 1, a suite_is_name; sets spec->name; a fault gives "_". */
const char *suite_spec_name(struct suite_spec *spec);
void suite_spec_fault(const struct suite_spec *spec, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Pushes the value; false (nothing pushed) when it is nil. */
bool suite_spec_push(const struct suite_spec *spec, const char *key);
bool suite_spec_has(const struct suite_spec *spec, const char *key);
/* Pushes a table within; the caller pops it. `fields` NULL: not checked. */
bool suite_spec_enter(const struct suite_spec *spec, const char *key, const char *const *fields,
                      uint32_t positions, struct suite_spec *inner);
const char *suite_spec_text(const struct suite_spec *spec, const char *key);
bool suite_spec_whole(const struct suite_spec *spec, const char *key, int64_t min, int64_t max,
                      int64_t *out);
bool suite_spec_flag(const struct suite_spec *spec, const char *key, bool *out);
bool suite_spec_duration(const struct suite_spec *spec, const char *key, uint64_t *ns);
bool suite_spec_real(const struct suite_spec *spec, const char *key, double min, double max,
                     double *out);
bool suite_spec_choice(const struct suite_spec *spec, const char *key, const char *const *names,
                       unsigned *out);
struct suite_expr *suite_spec_expr(const struct suite_spec *spec, const char *key);
void *suite_spec_box(const struct suite_spec *spec, const char *key, enum suite_box kind);
/* Text, or a table of texts by dialect and "default"; mysql takes mariadb's. */
bool suite_spec_dialects(const struct suite_spec *spec, const char *key,
                         const char *out[DIALECT_COUNT]);
/* A list of boxes of one kind, from position `first` of the table at the stack's top. */
void **suite_spec_boxes(const struct suite_spec *spec, lua_Integer first, enum suite_box kind,
                        uint32_t *count);

/* ---- libraries (suite_lua_lib.c): fills the globals */
void suite_lua_libraries(lua_State *lua);
/* Counts work that no instruction counts; a Lua error beyond the limit. */
void suite_lua_charge(lua_State *lua, uint64_t units);
/* The same without the error: false, with its text in the sandbox's `shown`. */
bool suite_lua_spend(lua_State *lua, uint64_t units);
/* A Lua error at the line that runs at this level of the stack. */
void suite_lua_stop(lua_State *lua, int level, const char *why);

/* ---- constructors; each registers its own globals */
void suite_lua_generators(lua_State *lua); /* suite_lua_gen.c */
void suite_lua_params(lua_State *lua);     /* suite_lua_param.c */
void suite_lua_tables(lua_State *lua);     /* suite_lua_table.c */
void suite_lua_steps(lua_State *lua);      /* suite_lua_step.c */
void suite_lua_scenarios(lua_State *lua);  /* suite_lua_scenario.c */
void suite_lua_suites(lua_State *lua);     /* suite_lua_suite.c */

/* text { "default" }: a parameter, not a generator (suite_lua_param.c). */
int suite_lua_text_param(lua_State *lua);

/* "<" and the like (suite_lua_gen.c). */
bool suite_lua_comparison(const char *text, enum gen_operator *op);

/* The parts of a scenario that is one statement, and of `execute` (suite_lua_step.c). */
struct suite_step *suite_step_new(struct suite_spec *spec, enum prog_kind kind);
void suite_step_statement(struct suite_spec *spec, struct suite_step *step);
/* `scenario` takes growth and answer; NULL: they do not belong there. */
void suite_step_expect(struct suite_spec *spec, struct suite_expect *expect,
                       struct suite_scenario *scenario);
/* A list of steps, from position `first` of the table at the stack's top. */
struct suite_step *const *suite_step_list(struct suite_spec *spec, lua_Integer first,
                                          uint32_t *count);

/* Calls the constructor that made a scenario again, on the table at the stack's top, which it
 * pops. */
struct suite_scenario_def *suite_scenario_again(lua_State *lua, int maker);
/* ping { "name", ... } is a scenario, ping { } a step (suite_lua_scenario.c). */
int suite_lua_ping_scenario(lua_State *lua);

/* CPU time of this thread. Native work that has its own limit gives its time back to
 * cpu_deadline_ns. */
uint64_t suite_lua_cpu_ns(void);

/* Loads and runs a chunk; its result is pushed. A Lua error when it cannot. */
void suite_lua_run(lua_State *lua, const struct suite_chunk *chunk);

#endif
