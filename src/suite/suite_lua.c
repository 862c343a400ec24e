#include "base/text.h"
#include "suite/suite_lua_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A backstop for what neither instructions nor memory count, as comparing long texts. */
#define CPU_NS_MAX (UINT64_C(1500) * NS_PER_MS)

#define MEMORY_BYTES_MAX ((size_t)64 << 20)
#define INSTRUCTIONS_MAX UINT64_C(50000000)

enum { HOOK_EVERY = 1000, BYTES_OF_UNIT = 64 };

uint64_t suite_lua_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* New memory counts as work: making a long text is one instruction. */
static void *allocate(void *context, void *old, size_t old_bytes, size_t bytes)
{
    struct suite_sandbox *sandbox = context;
    size_t had = old ? old_bytes : 0;
    if (bytes == 0) {
        free(old);
        sandbox->bytes -= had;
        return NULL;
    }
    if (bytes > had && sandbox->bytes + (bytes - had) > sandbox->bytes_max) {
        sandbox->out_of_memory = true;
        return NULL;
    }
    void *memory = realloc(old, bytes);
    if (!memory)
        return NULL;
    sandbox->bytes = sandbox->bytes - had + bytes;
    sandbox->spent += bytes / BYTES_OF_UNIT;
    return memory;
}

static void count_instructions(lua_State *lua, lua_Debug *info)
{
    struct suite_sandbox *sandbox = suite_sandbox(lua);
    (void)info;
    if (suite_lua_cpu_ns() > sandbox->cpu_deadline_ns)
        suite_lua_stop(lua, 0, "stopped after 1.5 s of CPU time");
    if (!suite_lua_spend(lua, HOOK_EVERY))
        suite_lua_stop(lua, 0, sandbox->shown);
}

void suite_lua_run(lua_State *lua, const struct suite_chunk *chunk)
{
    struct suite_loader *ld = suite_loader(lua);
    size_t first_table = ld->tables.count;
    const char *name = lua_pushfstring(lua, "@%s", chunk->name);
    if (luaL_loadbufferx(lua, chunk->source, chunk->bytes, name, "t") != LUA_OK)
        lua_error(lua);
    lua_call(lua, 0, 1);
    struct suite_def *def = suite_box_get(lua, -1, SUITE_BOX_SUITE);
    if (!def) {
        luaL_error(lua, "%s: expected the file to end in return suite { ... }", chunk->name);
        return;
    }
    def->first_table = first_table;
    def->end_table = ld->tables.count;
}

/* Everything that can raise a Lua error happens in here. */
static int run_protected(lua_State *lua)
{
    suite_lua_libraries(lua);
    lua_sethook(lua, count_instructions, LUA_MASKCOUNT, HOOK_EVERY);
    suite_lua_run(lua, suite_sandbox(lua)->chunk);
    suite_loader(lua)->def = suite_box_get(lua, -1, SUITE_BOX_SUITE);
    return 0;
}

/* What a failed run says; the message is Lua's and must not be made longer there. */
static void add_lua_fault(lua_State *lua, const struct suite_chunk *chunk)
{
    struct suite_sandbox *sandbox = suite_sandbox(lua);
    struct suite_loader *ld = sandbox->ld;
    struct suite_fault *fault = arena_new(ld->arena, struct suite_fault);
    const char *text = "an error that is not text";
    if (lua_type(lua, -1) == LUA_TSTRING)
        text = lua_tostring(lua, -1);
    char *message;
    bool placed = false;
    for (size_t i = 0; i < ld->chunks.count; i++) {
        const char *name = ((const struct suite_chunk *)ld->chunks.items[i])->name;
        placed |= slice_starts(slice_of(text), name);
    }
    if (sandbox->out_of_memory)
        message = arena_printf(ld->arena, "%s: needs more than %zu MiB of memory", chunk->name,
                               sandbox->bytes_max >> 20);
    else
        message = arena_printf(ld->arena, "%s%s%.380s", placed ? "" : chunk->name,
                               placed ? "" : ": ", text);
    for (char *at = message; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    }
    fault->text = message;
    fault->where = (struct suite_place){.text = fault->text, .chunk = UINT32_MAX};
    suite_list_add(ld->arena, &ld->faults, fault);
}

bool suite_run_lua(struct suite_loader *ld, const struct suite_chunk *chunk)
{
    const struct suite_options *options = ld->options;
    struct suite_sandbox sandbox = {
        .ld = ld,
        .chunk = chunk,
        .bytes_max = options->memory_bytes_max ? options->memory_bytes_max : MEMORY_BYTES_MAX,
        .spent_max = options->instructions_max ? options->instructions_max : INSTRUCTIONS_MAX,
        .cpu_deadline_ns = suite_lua_cpu_ns() + CPU_NS_MAX};
    lua_State *lua = lua_newstate(allocate, &sandbox);
    if (!lua) {
        struct suite_place where = {.text = chunk->name};
        suite_fault_add(ld, &where, "not enough memory for Lua");
        return false;
    }
    *(struct suite_sandbox **)lua_getextraspace(lua) = &sandbox;
    lua_pushcfunction(lua, run_protected);
    bool done = lua_pcall(lua, 0, 0, 0) == LUA_OK;
    if (!done && !ld->usage)
        add_lua_fault(lua, chunk);
    lua_close(lua);
    return done;
}
