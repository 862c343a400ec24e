#include "program/program.h"
#include "testing.h"

#include <string.h>

/* A correct program that each test breaks in one place. */
struct sample {
    struct prog_stmt stmts[2];
    struct prog_op ops[8];
    struct prog_bind binds[3];
    struct prog_check checks[1];
    struct prog_save saves[1];
    struct prog_stage stages[1];
    struct program p;
};

static struct prog_op op_of(enum prog_kind kind)
{
    return (struct prog_op){
        .kind = kind, .phase = PROG_NONE, .repeat = 1, .expr = 0, .depth = PROG_DECODE};
}

static void make(struct sample *s)
{
    static const char *const phases[] = {"begin", "insert"};
    static const char *const vars[] = {"x"};
    memset(s, 0, sizeof(*s));
    s->stmts[0] = (struct prog_stmt){"get", "SELECT ?", 1, false};
    s->stmts[1] = (struct prog_stmt){"put", "INSERT", 4, false};
    s->binds[0] = (struct prog_bind){.tree = 1};
    s->binds[1] = (struct prog_bind){.tree = 2};
    s->binds[2] = (struct prog_bind){.tree = 3};
    s->checks[0] = (struct prog_check){.kind = PROG_CHECK_ROWS, .expected = 4};

    s->ops[0] = op_of(PROG_BEGIN);
    s->ops[0].phase = 0;
    s->ops[1] = op_of(PROG_EXECUTE);
    s->ops[1].bind_count = s->ops[1].check_count = s->ops[1].save_count = 1;
    s->ops[2] = op_of(PROG_BRANCH);
    s->ops[2].target = 4;
    s->ops[3] = op_of(PROG_SET);
    s->ops[4] = op_of(PROG_PIPE_START);
    s->ops[5] = op_of(PROG_EXECUTE);
    s->ops[5].stmt = 1;
    s->ops[5].rows = 2;
    s->ops[5].repeat = 3;
    s->ops[5].bind_first = 1;
    s->ops[5].bind_count = 2;
    s->ops[6] = op_of(PROG_PIPE_END);
    s->ops[7] = op_of(PROG_COMMIT);
    s->stages[0] = (struct prog_stage){.first_op = 0,
                                       .end_op = 8,
                                       .executions = 0,
                                       .rows_per_execution = 6};
    s->p = (struct program){.stmts = s->stmts,
                            .ops = s->ops,
                            .binds = s->binds,
                            .checks = s->checks,
                            .saves = s->saves,
                            .stages = s->stages,
                            .phases = phases,
                            .vars = vars,
                            .stmt_count = 2,
                            .op_count = 8,
                            .bind_count = 3,
                            .check_count = 1,
                            .save_count = 1,
                            .stage_count = 1,
                            .phase_count = 2,
                            .var_count = 1,
                            .values_max = 4};
}

static void is_right(struct sample *s)
{
    struct err err = {0};
    if (!program_verify(&s->p, &err))
        fail_msg("%s", err.text);
    make(s);
}

static void is_wrong(struct sample *s, const char *text)
{
    struct err err = {0};
    assert_false(program_verify(&s->p, &err));
    assert_string_equal(err.text, text);
    make(s);
}

static void the_sample_is_right(void **state)
{
    (void)state;
    struct sample s;
    make(&s);
    is_right(&s);
    s.ops[2].target = 8; /* the stage's end is a place to go */
    is_right(&s);
}

static void indexes(void **state)
{
    (void)state;
    struct sample s;
    make(&s);
    s.ops[1].stmt = 2;
    is_wrong(&s, "operation 1: a statement that does not exist");
    s.ops[5].bind_first = 2;
    is_wrong(&s, "operation 5: binds out of range");
    s.ops[1].check_first = 1;
    is_wrong(&s, "operation 1: checks out of range");
    s.ops[1].check_first = UINT32_MAX;
    is_wrong(&s, "operation 1: checks out of range");
    s.ops[1].save_count = 2;
    is_wrong(&s, "operation 1: saves out of range");
    s.saves[0].var = 1;
    is_wrong(&s, "operation 1: a save to a variable that does not exist");
    s.ops[3].var = 1;
    is_wrong(&s, "operation 3: a set without a variable or value");
    s.ops[0].phase = 2;
    is_wrong(&s, "operation 0: a phase that does not exist");
    s.binds[0].tree = GEN_NONE;
    is_wrong(&s, "operation 1: a bind without a generator");
    struct gen_pool pool = {.count = 4};
    s.p.pool = &pool;
    is_wrong(&s, "operation 1: a check without an expectation");
}

static void counts(void **state)
{
    (void)state;
    struct sample s;
    make(&s);
    s.stmts[0].param_count = 2;
    is_wrong(&s, "operation 1: the statement has another number of parameters than values");
    s.ops[5].rows = 3;
    is_wrong(&s, "operation 5: the statement has another number of parameters than values");
    s.p.values_max = 3;
    is_wrong(&s, "operation 5: more values than values_max");
    s.stmts[0].direct = true;
    is_wrong(&s, "operation 1: a direct statement has no parameters");
    s.ops[7].repeat = 0;
    is_wrong(&s, "operation 7: repeated 0 times");
    s.stages[0].rows_per_execution = 2;
    is_wrong(&s, "stage 0: rows_per_execution is wrong");
    s.stages[0].end_op = 9;
    is_wrong(&s, "stage 0: operations out of range");
    s.p.stage_count = 0;
    is_wrong(&s, "no stages");
}

static void branches_and_pipelines(void **state)
{
    (void)state;
    struct sample s;
    make(&s);
    s.ops[2].target = 9;
    is_wrong(&s, "operation 2: a branch out of its stage");
    s.ops[2].target = 5;
    is_wrong(&s, "operation 2: a branch into a pipeline");
    s.ops[6].kind = PROG_ROLLBACK;
    is_wrong(&s, "operation 8: a pipeline without an end");
    s.ops[4].kind = PROG_ROLLBACK;
    is_wrong(&s, "operation 6: the end of a pipeline that has not begun");
    s.ops[7].kind = PROG_PIPE_START;
    s.ops[6].kind = PROG_PIPE_START;
    is_wrong(&s, "operation 6: a pipeline within a pipeline");
    s.ops[5] = s.ops[3];
    s.stages[0].rows_per_execution = 0;
    is_wrong(&s, "operation 5: a set, branch, sleep or mark within a pipeline");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_is_right),
        cmocka_unit_test(indexes),
        cmocka_unit_test(counts),
        cmocka_unit_test(branches_and_pipelines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
