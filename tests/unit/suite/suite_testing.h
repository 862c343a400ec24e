#ifndef TESTS_UNIT_SUITE_TESTING_H
#define TESTS_UNIT_SUITE_TESTING_H

/* A suite loaded from text, with what came of it. */

#include "suite/suite.h"
#include "testing.h"

#include <string.h>

struct loaded {
    struct arena *arena;
    struct suite suite;
    struct suite_faults faults;
    struct err err;
    bool done;
};

static inline struct loaded load_with(const char *source, struct suite_options options)
{
    struct loaded l = {.arena = arena_create(1 << 16)};
    options.name = "t.lua";
    options.seed = 42;
    l.done = suite_load_text(l.arena, slice_of(source), &options, &l.suite, &l.faults, &l.err);
    return l;
}

static inline struct loaded load_ok(const char *source)
{
    struct loaded l = load_with(source, (struct suite_options){0});
    for (uint32_t i = 0; i < l.faults.count; i++)
        print_error("%s\n", l.faults.texts[i]);
    if (!l.done)
        print_error("%s\n", l.err.text);
    assert_true(l.done);
    return l;
}

static inline void unload(struct loaded *l)
{
    arena_destroy(&l->arena);
}

/* The scenario's program. */
static inline struct program compiled(struct loaded *l, uint32_t index, enum dialect dialect)
{
    struct program program;
    assert_true(index < l->suite.scenario_count);
    assert_true(suite_compile(l->arena, &l->suite, &l->suite.scenarios[index], dialect,
                              &program, &l->err));
    assert_true(program_verify(&program, &l->err));
    return program;
}

#endif
