/* A cell's results into the record. */
#include "base/text.h"
#include "run/note_internal.h"

/* ---- checks */

static void add_check(struct arena *arena, struct rec_cell *out, const struct rec_check *check)
{
    struct rec_check *added = rec_cell_add_check(arena, out);
    *added = *check;
    added->expected = value_copy(arena, &check->expected);
    added->found = value_copy(arena, &check->found);
}

static const char *check_label(struct arena *arena, const struct cell *cell, uint32_t index)
{
    static const char *const names[] = {"rows", "affected", "value", "error"};
    const struct program *program = &cell->program;
    const char *name = names[program->checks[index].kind];
    if (program->stmt_count < 2)
        return name;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct prog_op *op = &program->ops[i];
        if (op->kind == PROG_EXECUTE && index >= op->check_first &&
            index < op->check_first + op->check_count)
            return arena_printf(arena, "%s: %s", program->stmts[op->stmt].name, name);
    }
    return name;
}

static void note_growth(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    struct rec_check check = {
        .name = arena_printf(arena, "growth of %s", cell->scenario->growth_table),
        .expected = value_int(cell->scenario->growth),
        .found = value_int(cell->growth.after - cell->growth.before),
        .times = 1,
    };
    check.ok = check.expected.as.i == check.found.as.i;
    add_check(arena, out, &check);
}

static void note_after(struct arena *arena, struct rec_cell *out, const struct cell *cell,
                       uint32_t index)
{
    const struct after_result *after = &cell->after[index];
    struct rec_check check = {
        .name = arena_printf(arena, "after: %s", cell->scenario->after[index].name),
        .expected = after->expected,
        .found = after->found,
        .ok = after->ok,
        .times = 1,
    };
    if (after->error)
        check.found = value_text(after->error, (uint32_t)strlen(after->error));
    add_check(arena, out, &check);
}

static struct value hex_value(struct arena *arena, uint64_t number)
{
    const char *text = arena_printf(arena, "%016llx", (unsigned long long)number);
    return value_text(text, 16);
}

/* Every execution that was asked for has been answered. */
static void note_executions(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    struct rec_check check = {.name = "executions",
                              .expected = value_int((int64_t)cell->asked),
                              .found = value_int((int64_t)cell->executions),
                              .ok = cell->asked == cell->executions,
                              .times = 1};
    add_check(arena, out, &check);
}

/* The whole answer against the generators. */
static void note_answer(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    struct rec_check check = {.name = "answer",
                              .expected = hex_value(arena, cell->scenario->answer),
                              .found = hex_value(arena, cell->checksum),
                              .ok = cell->scenario->answer == cell->checksum,
                              .times = 1};
    add_check(arena, out, &check);
}

static void note_checks(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    if (cell->has_checksum && cell->scenario->has_answer)
        note_answer(arena, out, cell);
    for (uint32_t i = 0; cell->total.checks && i < cell->program.check_count; i++) {
        const struct check_tally *tally = &cell->total.checks[i];
        struct rec_check check = {.expected = tally->expected,
                                  .found = tally->found,
                                  .ok = !tally->failed,
                                  .times = tally->times};
        check.name = check_label(arena, cell, i);
        if (tally->seen)
            add_check(arena, out, &check);
    }
    if (cell->growth.known)
        note_growth(arena, out, cell);
    for (uint32_t i = 0; i < cell->after_done; i++)
        note_after(arena, out, cell, i);
    if (cell->asked && !cell_is_open(cell) && !cell->reason && !cell->failure.failed)
        note_executions(arena, out, cell);
}

/* ---- what went wrong */

/* A check for an error, "error" or "STATEMENT: error", that found none. */
static bool wants_error(const struct rec_check *check)
{
    const char *colon = strrchr(check->name, ':');
    return check->found.type == VALUE_NULL &&
           (strcmp(check->name, "error") == 0 || (colon && strcmp(colon, ": error") == 0));
}

static const char *failure_reason(struct arena *arena, const struct rec_cell *out,
                                  const struct cell *cell)
{
    const struct client_failure *failure = &cell->failure;
    char expected[96], found[96];
    if (failure->failed && strcmp(failure->what, "statement") == 0) {
        static const char *const verdicts[] = {"ok", "serialization failure or deadlock",
                                               "error", "deadline", "connection lost"};
        return arena_printf(arena, "%s%s%s (%s%s%s): %s", *failure->stmt ? "statement " : "",
                            failure->stmt, *failure->stmt ? "" : "connection",
                            verdicts[failure->verdict], *failure->sqlstate ? " " : "",
                            failure->sqlstate, failure->message);
    }
    for (size_t i = 0; i < out->check_count; i++) {
        const struct rec_check *check = &out->checks[i];
        if (check->ok)
            continue;
        value_print(expected, sizeof expected, &check->expected);
        value_print(found, sizeof found, &check->found);
        if (wants_error(check))
            return arena_printf(arena, "%.*sexpected error %s, but the statement succeeded",
                                (int)(strlen(check->name) - strlen("error")), check->name,
                                expected);
        return arena_printf(arena, "%s: expected %s, found %s", check->name, expected, found);
    }
    return "failed";
}

static void note_failure(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    const struct client_failure *failure = &cell->failure;
    if (!failure->failed || strcmp(failure->what, "statement") != 0)
        return;
    struct rec_failure *added = rec_cell_add_failure(arena, out);
    added->sqlstate = arena_text(arena, failure->sqlstate);
    added->code = failure->code;
    added->text = arena_text(arena, failure->message);
    added->count = 1;
}

/* ---- the cell */

/* "2 s of warm-up + ", or nothing. */
static const char *warmup_text(struct arena *arena, const struct suite_scenario *scenario)
{
    if (scenario->warmup_ns == 0)
        return "";
    return arena_printf(arena, "%g s of warm-up + ", (double)scenario->warmup_ns / 1e9);
}

static const char *open_text(struct runner *runner, const struct cell *cell)
{
    const struct suite_scenario *scenario = cell->scenario;
    struct text text;
    text_init(&text, runner->arena, 200);
    text_addf(&text, "open loop, %s, %.10g/s, seed %llu, %u %s on %u threads, %s",
              scenario->arrivals == SUITE_FIXED ? "fixed" : "poisson", scenario->rate_per_s,
              (unsigned long long)runner->options->suite->seed, cell->clients,
              cell->clients == 1 ? "client" : "clients", cell->threads,
              warmup_text(runner->arena, scenario));
    if (scenario->duration_ns)
        text_addf(&text, "%g s", (double)scenario->duration_ns / 1e9);
    else
        text_addf(&text, "%llu executions", (unsigned long long)cell->asked);
    text_addf(&text, ", all due work awaited for %g s more", (double)RUN_DRAIN_NS / 1e9);
    return text.at;
}

static const char *mode_text(struct runner *runner, const struct cell *cell)
{
    struct arena *arena = runner->arena;
    const struct suite_scenario *scenario = cell->scenario;
    const char *clients = cell->clients == 1 ? "client" : "clients";
    if (scenario->rows_loaded)
        return arena_printf(arena, "load, %llu rows a statement, %llu rows a commit",
                            (unsigned long long)scenario->rows_per_statement,
                            (unsigned long long)scenario->rows_per_commit);
    if (cell_is_open(cell))
        return open_text(runner, cell);
    if (scenario->duration_ns)
        return arena_printf(arena, "%s%g s, %u %s on %u threads, closed loop",
                            warmup_text(arena, scenario), (double)scenario->duration_ns / 1e9,
                            cell->clients, clients, cell->threads);
    if (scenario->samples == 1 && scenario->warmup == 0 && scenario->warmup_ns == 0)
        return "once";
    const char *before = scenario->warmup_ns ? warmup_text(arena, scenario)
                                             : arena_printf(arena, "%u + ", scenario->warmup);
    return arena_printf(arena, "%s%llu samples, %u %s on %u threads, closed loop", before,
                        (unsigned long long)scenario->samples, cell->clients, clients,
                        cell->threads);
}

static const char *timing_text(struct arena *arena, const struct cell *cell)
{
    static const char *const texts[] = {
        [PROG_DRAIN] = "until the last row has come",
        [PROG_WALK] = "until the last row is walked",
        [PROG_DECODE] = "until the last row is decoded",
    };
    enum prog_depth depth = cell->program.op_count ? cell->program.ops[0].depth : PROG_DECODE;
    if (cell_is_open(cell))
        return arena_printf(
            arena,
            "response from when an execution was due %s, service from its first "
            "submission, lag between the two",
            texts[depth]);
    return arena_printf(arena, "from the first submission %s", texts[depth]);
}

static void note_params(struct arena *arena, struct rec_cell *out, const struct cell *cell)
{
    const struct suite_scenario *scenario = cell->scenario;
    double rate = scenario->rate_per_s;
    const char *arrivals = scenario->arrivals == SUITE_FIXED ? "fixed" : "poisson";
    if (scenario->clients_named)
        rec_pairs_add(arena, &out->params, "clients", value_int(cell->clients));
    if (!cell_is_open(cell))
        return;
    bool whole = rate < 1e15 && rate == (double)(int64_t)rate;
    rec_pairs_add(arena, &out->params, "rate_per_s",
                  whole ? value_int((int64_t)rate) : value_real(rate));
    rec_pairs_add(arena, &out->params, "arrivals",
                  value_text(arrivals, (uint32_t)strlen(arrivals)));
    if (cell->attempt > 0)
        rec_pairs_add(arena, &out->params, "attempt", value_int(cell->attempt));
}

static struct rec_cell *cell_begin(struct runner *runner, const struct cell *cell,
                                   const char *phase)
{
    struct arena *arena = runner->arena;
    struct rec_cell *out = record_add_cell(runner->record);
    out->name = cell->scenario->name;
    out->help = cell->scenario->help;
    out->target = cell->session->target.label;
    out->client = cell->session->target.class->name;
    out->phase = phase;
    note_params(arena, out, cell);
    out->mode = mode_text(runner, cell);
    out->timing = phase ? "from the phase's submission until its answer is complete"
                        : timing_text(arena, cell);
    return out;
}

/* A phase is as good as its scenario. */
static void note_phases(struct runner *runner, const struct cell *cell, const char *verdict,
                        const char *reason)
{
    for (uint16_t i = 0; cell->total.phases && i < cell->program.phase_count; i++) {
        const struct series *series = &cell->total.phases[i];
        if (series->count == 0 && (!series->hist || series->hist->count == 0))
            continue;
        struct rec_cell *out = cell_begin(runner, cell, cell->program.phases[i]);
        out->verdict = verdict;
        out->reason = reason;
        note_series(runner->arena, out, "service_ns", series);
        note_values(runner->arena, out, "service_ns", series);
    }
}

void note_cell(struct runner *runner, const struct cell *cell)
{
    struct arena *arena = runner->arena;
    struct rec_cell *out = cell_begin(runner, cell, NULL);
    bool has_figures = !cell->verdict || strcmp(cell->verdict, "interrupted") == 0;
    note_checks(arena, out, cell);
    note_failure(arena, out, cell);
    out->verdict = cell->verdict ? cell->verdict : "valid";
    out->reason = cell->reason;
    if (cell->verdict && !cell->reason)
        out->reason = failure_reason(arena, out, cell);
    if (has_figures && cell->total.operations > 0) {
        note_metrics(arena, out, cell);
        note_values(arena, out, "service_ns", &cell->total.service);
    }
    if (has_figures && cell->total.operations > 0 && cell_is_open(cell)) {
        note_values(arena, out, "response_ns", &cell->total.response);
        note_values(arena, out, "lag_ns", &cell->total.lag);
    }
    note_guards(runner, cell, out);
    if (has_figures)
        note_phases(runner, cell, out->verdict, out->reason);
}
