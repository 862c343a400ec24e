/* One scenario on one target with so many clients: made ready, measured, checked afterwards. */
#include "base/text.h"
#include "os/now.h"
#include "run/run_internal.h"

void cell_fail(struct cell *cell, const char *verdict, const char *reason)
{
    if (cell->verdict)
        return;
    cell->verdict = verdict;
    cell->reason = reason;
}

uint64_t cell_server_cpu_ns(const struct cell *cell)
{
    return server_usage_cost_ns(&cell->usage_before, &cell->usage_after, cell->wall_ns);
}

bool cell_wants_checksum(const struct cell *cell)
{
    const struct suite_scenario *scenario = cell->scenario;
    return !cell->session->is_null &&
           (scenario->has_answer || scenario->equal == SUITE_EQUAL_ROWS);
}

/* ---- before and after: on the control connection, no longer than the scenario's deadline */

static bool ask(struct runner *runner, struct cell *cell, const char *sql, struct value *value,
                uint64_t *rows, struct err *err)
{
    uint64_t due_ns = os_now_ns() + cell->scenario->deadline_ns;
    if (due_ns > runner->deadline_ns)
        due_ns = runner->deadline_ns;
    return session_query(cell->session, &runner->overseer,
                         &(struct session_question){sql, due_ns, value, rows}, err);
}

static bool table_count(struct runner *runner, struct cell *cell, int64_t *count)
{
    struct value value;
    struct err err;
    const char *sql =
        arena_printf(runner->arena, "SELECT COUNT(*) FROM %s", cell->scenario->growth_table);
    if (!ask(runner, cell, sql, &value, NULL, &err) || value.type != VALUE_INT)
        return false;
    *count = value.as.i;
    return true;
}

static void after_query(struct runner *runner, struct cell *cell, uint32_t index)
{
    const struct suite_query *query = &cell->scenario->after[index];
    struct after_result *result = &cell->after[index];
    const char *sql = query->sql.text[cell->session->target.dialect];
    struct value found = {0};
    uint64_t rows = 0;
    struct err err = {0};
    bool by_rows = query->has_rows && !query->has_value;
    result->expected = by_rows ? value_int((int64_t)query->rows) : query->value;
    if (!sql || !ask(runner, cell, sql, &found, &rows, &err)) {
        result->error = sql ? arena_text(runner->arena, err.text) : "no text for this dialect";
        return;
    }
    result->found = by_rows ? value_int((int64_t)rows) : found;
    result->ok = value_same(&result->expected, &result->found);
    if (query->has_value && query->has_rows && query->rows != rows) {
        result->expected = value_int((int64_t)query->rows);
        result->found = value_int((int64_t)rows);
        result->ok = false;
    }
}

/* What a stop cuts short is not a wrong answer. */
static void fail_after(struct runner *runner, struct cell *cell)
{
    if (runner_stopping(runner))
        cell_fail(cell, "interrupted", "stopped while its answers were checked");
    else
        cell_fail(cell, "failed", NULL);
}

static void check_after(struct runner *runner, struct cell *cell)
{
    const struct suite_scenario *scenario = cell->scenario;
    struct cell_counts *growth = &cell->growth;
    if (growth->known) {
        growth->known = table_count(runner, cell, &growth->after);
        if (!growth->known || growth->after - growth->before != scenario->growth)
            fail_after(runner, cell);
    }
    cell->after = arena_array(runner->arena, struct after_result, scenario->after_count);
    for (; cell->after_done < scenario->after_count && !cell->session->lost;
         cell->after_done++) {
        after_query(runner, cell, cell->after_done);
        if (!cell->after[cell->after_done].ok)
            fail_after(runner, cell);
    }
    if (cell->has_checksum && scenario->has_answer && cell->checksum != scenario->answer)
        cell_fail(cell, "failed", NULL);
}

/* Thousands of connections take a while: it is shown, and can be stopped. */
static bool show_work(struct runner *runner, const struct cell *cell, const char *what,
                      uint32_t done, struct err *err)
{
    char step[80];
    if (runner_stopping(runner))
        return err_set(err, ERR_CANCELLED, "stopped");
    text_print(step, sizeof step, "%s %u of %u", what, done + 1, cell->clients);
    if (done > 0)
        runner_show(runner, step, cell->session->target.label);
    return true;
}

/* Exactly as many connections as the cell has clients; earlier ones stay. */
static bool connect_all(struct runner *runner, struct cell *cell, struct err *err)
{
    struct session *session = cell->session;
    cell->connect_ns = arena_array(runner->arena, uint64_t, cell->clients);
    session_disconnect(session, cell->clients);
    while (session->conn_count < cell->clients) {
        if (!show_work(runner, cell, "connecting", session->conn_count, err))
            return false;
        if (!session_connect(session, &cell->connect_ns[cell->connect_count], err))
            return err_wrap(err, "connection %u of %u", session->conn_count + 1, cell->clients);
        cell->connect_count++;
    }
    return true;
}

static bool prepare_all(struct runner *runner, struct cell *cell, struct err *err)
{
    const struct program *program = &cell->program;
    for (uint32_t i = 0; i < cell->clients; i++) {
        struct drv_conn *conn = cell->session->conns[i];
        if (!show_work(runner, cell, "preparing", i, err))
            return false;
        conn->in_flight = program_in_flight(program);
        overseer_enter(&runner->overseer, conn, os_now_ns() + cell->scenario->deadline_ns);
        bool prepared = conn->class->prepare(conn, program->stmts, program->stmt_count, err);
        if (overseer_leave(&runner->overseer) || !prepared)
            return false;
    }
    return true;
}

static bool get_ready(struct runner *runner, struct cell *cell)
{
    struct session *session = cell->session;
    const struct suite *suite = runner->options->suite;
    struct err err = {0};
    if (!suite_compile(runner->arena, suite, cell->scenario, session->target.dialect,
                       &cell->program, &err)) {
        bool refused = err.kind == ERR_NONE;
        cell_fail(cell, refused ? "not-applicable" : "failed",
                  arena_text(runner->arena, err.text));
        return false;
    }
    if (!connect_all(runner, cell, &err) || !prepare_all(runner, cell, &err)) {
        bool stopping = runner_stopping(runner);
        cell_fail(cell, stopping ? "interrupted" : "failed",
                  stopping ? "stopped before anything of it was measured"
                           : arena_text(runner->arena, err.text));
        return false;
    }
    if (cell->scenario->growth_table && !session->is_null)
        cell->growth.known = table_count(runner, cell, &cell->growth.before);
    return true;
}

/* Why it cannot even begin. */
static void refuse(struct runner *runner, struct cell *cell)
{
    const struct session *session = cell->session;
    if (runner_stopping(runner))
        cell_fail(cell, "not-run",
                  runner->timed_out ? "the run's deadline was over"
                                    : "the run was stopped by a signal");
    else if (session->lost)
        cell_fail(cell, "not-run", session->why_lost);
    else if (session->blocked_by)
        cell_fail(cell, "not-run",
                  arena_printf(runner->arena, "%s failed, and this builds on it",
                               session->blocked_by));
}

void cell_run(struct runner *runner, struct cell *cell)
{
    struct session *session = cell->session;
    refuse(runner, cell);
    if (cell->verdict)
        return;
    if (get_ready(runner, cell)) {
        stand_run(runner, cell);
        if (!cell->verdict && !session->is_null)
            check_after(runner, cell);
    }
    if (cell->given_up && !cell->verdict)
        session_disconnect(session, 0);
    if (!cell->verdict || strcmp(cell->verdict, "not-applicable") == 0)
        return;
    session_disconnect(session, 0); /* may be inside a transaction: start afresh */
    (void)session_alive(session);
}
