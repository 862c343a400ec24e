#ifndef SUITE_SUITE_BUILD_INTERNAL_H
#define SUITE_SUITE_BUILD_INTERNAL_H

/* A program in the making, for one scenario and dialect (suite_build.c). The calls that add
 * binds, checks and saves belong to the operation that was added last. */

#include "suite/suite_internal.h"

struct suite_build {
    struct suite_loader *ld;
    const struct suite_scenario_def *def;
    enum dialect dialect;
    const char *reason;       /* not NULL: not applicable there */
    bool failed;              /* a fault was recorded */
    struct suite_scope scope; /* variables of the scenario */
    uint64_t first_row;
    bool has_first;   /* a step has said it */
    uint64_t rows;    /* of the stage so far, an execution */
    struct program p; /* counts and limits; the arrays are set at the end */
    struct prog_stmt *stmts;
    struct prog_op *ops;
    struct prog_bind *binds;
    struct prog_check *checks;
    struct prog_save *saves;
    struct prog_stage *stages;
    const char **phases;
    size_t stmt_room, op_room, bind_room, check_room, save_room, stage_room, phase_room;
    uint32_t bind_scratch, check_scratch; /* most that any operation needs */
};

void suite_build_init(struct suite_build *b, struct suite_loader *ld,
                      const struct suite_scenario_def *def, enum dialect dialect);
void suite_build_fault(struct suite_build *b, const struct suite_place *where, const char *why);
/* The operation is filled by the caller before the next call. */
struct prog_op *suite_build_op(struct suite_build *b, enum prog_kind kind);
uint16_t suite_build_stmt(struct suite_build *b, const struct prog_stmt *stmt);
void suite_build_bind(struct suite_build *b, const struct prog_bind *bind);
void suite_build_check(struct suite_build *b, const struct prog_check *check);
void suite_build_save(struct suite_build *b, const struct prog_save *save);
uint16_t suite_build_phase(struct suite_build *b, const struct suite_place *where,
                           const char *phase);
/* An INSERT of `rows` rows of the table, row-driven, with its check. */
struct prog_op *suite_build_insert(struct suite_build *b, const struct suite_table_def *def,
                                   uint32_t rows, const struct suite_place *where);
/* Closes the stage of the operations since the last one. */
void suite_build_stage(struct suite_build *b, uint32_t first_op, uint64_t executions);
struct program *suite_build_finish(struct suite_build *b);

#endif
