#include "base/num.h"
#include "driver/libpq_internal.h"
#include "os/now.h"
#include "os/sig.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONNECT_LIMIT_S = 10, SET_BLOCK_BYTES = 4096, CANCEL_WAIT_S = 5 };

const char *pq_error_text(const PGresult *result, char *buffer, size_t room)
{
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY);
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    char whole[2 * DRV_ERROR_BYTES];
    if (!primary)
        return error_copy(buffer, room, PQresultErrorMessage(result));
    text_print(whole, sizeof(whole), "%s: %s%s%s%s", severity ? severity : "ERROR", primary,
               detail ? " (" : "", detail ? detail : "", detail ? ")" : "");
    return error_copy(buffer, room, whole);
}

static bool fail_lost(struct pq_conn *pq, struct err *err)
{
    char message[DRV_ERROR_BYTES];
    error_copy(message, sizeof(message), PQerrorMessage(pq->db));
    return err_set(err, ERR_SYSTEM, "the connection to PostgreSQL is lost: %s", message);
}

static bool fail_result(const PGresult *result, const char *sql, struct err *err)
{
    char message[DRV_ERROR_BYTES];
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    pq_error_text(result, message, sizeof(message));
    (void)err_set(err, ERR_DATABASE, "PostgreSQL: %s%s%s in: %.120s", message,
                  state ? ", SQLSTATE " : "", state ? state : "", sql);
    if (state)
        text_print(err->sqlstate, sizeof(err->sqlstate), "%s", state);
    return false;
}

static bool fail_signal(struct err *err)
{
    return err_set(err, ERR_CANCELLED, "interrupted");
}

struct pq_waiting pq_waiting_start(void)
{
    return (struct pq_waiting){.before = sig_pending(), .give_up_ns = UINT64_MAX};
}

/* PQcancel waits for the server without a limit, so a child of ours does it, which can be
 * ended. It makes system calls alone (libpq allows it in a signal's handler), which is what a
 * child of a process with threads may do. It keeps none of our descriptors: the reaper waits
 * for the end of one. */
static pid_t send_cancel(PGcancel *cancel)
{
    char ignored[256];
    if (!cancel)
        return 0;
    pid_t child = fork();
    if (child != 0)
        return child;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)close_range(3, ~0U, 0);
    (void)PQcancel(cancel, ignored, sizeof(ignored));
    _exit(0);
}

void pq_waiting_end(struct pq_waiting *waiting)
{
    if (waiting->canceller <= 0)
        return;
    (void)kill(waiting->canceller, SIGKILL);
    while (waitpid(waiting->canceller, NULL, 0) < 0 && errno == EINTR) {
    }
    waiting->canceller = 0;
}

bool pq_waiting_look(struct pq_waiting *waiting, PGcancel *cancel, struct err *err)
{
    if (waiting->before == 0 && sig_pending() != 0 && !waiting->cancelled) {
        waiting->cancelled = true;
        waiting->give_up_ns = os_now_ns() + CANCEL_WAIT_S * NS_PER_S;
        waiting->canceller = send_cancel(cancel);
    }
    return !waiting->cancelled || os_now_ns() <= waiting->give_up_ns || fail_signal(err);
}

/* Waits a little for the socket. */
static bool wait_socket(struct pq_conn *pq, struct pq_waiting *waiting, struct err *err)
{
    int flush = PQflush(pq->db);
    struct pollfd fd = {.fd = PQsocket(pq->db),
                        .events = (short)(flush > 0 ? POLLIN | POLLOUT : POLLIN)};
    if (flush < 0)
        return fail_lost(pq, err);
    (void)poll(&fd, 1, PQ_POLL_MS);
    if (!pq_waiting_look(waiting, pq->cancel, err))
        return false;
    return PQconsumeInput(pq->db) || fail_lost(pq, err);
}

static bool is_good(ExecStatusType status)
{
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK ||
           status == PGRES_EMPTY_QUERY;
}

static bool next_result(struct pq_conn *pq, struct pq_waiting *waiting, PGresult **result,
                        struct err *err)
{
    while (PQisBusy(pq->db)) {
        if (!wait_socket(pq, waiting, err))
            return false;
    }
    *result = PQgetResult(pq->db);
    return true;
}

/* Is it COPY? Then it is ended, so that the connection can go on. */
static bool end_copy(PGconn *db, const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    char *row = NULL;
    if (status == PGRES_COPY_IN)
        (void)PQputCopyEnd(db, "COPY with the client is not supported");
    while (status == PGRES_COPY_OUT && PQgetCopyData(db, &row, 0) > 0)
        PQfreemem(row);
    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT;
}

/* Takes all results of what was sent; the last good one goes to *out (the caller's to clear).
 */
static bool take_results(struct pq_conn *pq, const char *sql, PGresult **out, struct err *err)
{
    struct pq_waiting waiting = pq_waiting_start();
    PGresult *last = NULL, *result = NULL;
    bool ok = true;
    for (;;) {
        if (!next_result(pq, &waiting, &result, err)) {
            ok = false;
            break;
        }
        if (!result)
            break;
        PQclear(last);
        last = result;
        if (end_copy(pq->db, result) && ok)
            ok = err_set(err, ERR_DATABASE, "COPY with the client is not supported: %.120s",
                         sql);
        else if (ok && !is_good(PQresultStatus(result)))
            ok = fail_result(result, sql, err);
    }
    pq_waiting_end(&waiting);
    if (!ok && waiting.cancelled)
        (void)fail_signal(err);
    if (ok && out)
        *out = last;
    else
        PQclear(last);
    return ok;
}

/* One statement with text parameters (may be none), waited for. */
static bool execute(struct pq_conn *pq, const char *sql, int count, const char *const *params,
                    PGresult **out, struct err *err)
{
    int sent = count > 0 ? PQsendQueryParams(pq->db, sql, count, NULL, params, NULL, NULL, 0)
                         : PQsendQuery(pq->db, sql);
    return sent ? take_results(pq, sql, out, err) : fail_lost(pq, err);
}

static bool execute_simple(struct pq_conn *pq, const char *sql, struct err *err)
{
    return execute(pq, sql, 0, NULL, NULL, err);
}

static const char *connect_hint(const char *message)
{
    static const char *const hints[][2] = {
        {"no password supplied",  "give a password in the URL (postgresql://USER:PASSWORD@...)"},
        {"authentication failed", "check user and password (write %, @, :, / and ? in them "
                                  "percent-encoded)"          },
        {"Is the server running", "check host and port"                                        },
        {"does not exist",        "create it, or name another one in the URL"                  },
        {"no pg_hba.conf entry",  "the server's pg_hba.conf does not let this client in"       },
        {"could not translate",   "check the name of the host"                                 },
        {"too many",              "raise max_connections, or use fewer clients"                },
        {"remaining connection",  "raise max_connections, or use fewer clients"                },
        {"does not support SSL",  "use sslmode=prefer or disable"                              },
    };
    for (size_t i = 0; i < ARRAY_COUNT(hints); i++) {
        if (strstr(message, hints[i][0]))
            return hints[i][1];
    }
    return "check the target";
}

static bool fail_connect(struct pq_conn *pq, struct err *err)
{
    char message[DRV_ERROR_BYTES];
    error_copy(message, sizeof(message), PQerrorMessage(pq->db));
    return err_set(err, ERR_SYSTEM, "cannot connect to PostgreSQL: %.330s; %s", message,
                   connect_hint(message));
}

/* Messages about a conninfo string quote the piece they mean, which may be of a password: they
 * are cut before it. */
static bool fail_conninfo(const char *message, struct err *err)
{
    struct slice shown, piece;
    if (slice_starts(slice_of(message), "missing \"=\""))
        message = "a key lacks its = and value";
    slice_split(slice_of(message), '"', &shown, &piece);
    shown = slice_trim(shown);
    return err_set(
        err, ERR_USAGE,
        "libpq cannot read the target: %.*s ...; it takes postgresql://USER:PASSWORD@"
        "HOST:PORT/DATABASE with odd characters percent-encoded, or "
        "conninfo:KEY=VALUE ...",
        (int)shown.bytes, shown.at);
}

/* connect_timeout as libpq means it, for each host: the non-blocking calls leave it to us. */
static uint64_t connect_limit_ns(struct pq_conn *pq)
{
    uint64_t seconds = CONNECT_LIMIT_S, hosts = 1;
    PQconninfoOption *options = PQconninfo(pq->db);
    for (PQconninfoOption *option = options; option && option->keyword; option++) {
        if (!option->val)
            continue;
        uint64_t given;
        if (strcmp(option->keyword, "connect_timeout") == 0 &&
            num_u64(slice_of(option->val), &given) && given > 0 && given < UINT16_MAX)
            seconds = given < 2 ? 2 : given;
        bool names_hosts =
            strcmp(option->keyword, "host") == 0 || strcmp(option->keyword, "hostaddr") == 0;
        for (const char *c = option->val; names_hosts && *c; c++)
            hosts += *c == ',';
    }
    PQconninfoFree(options);
    return seconds * hosts * NS_PER_S;
}

static bool wait_connected(struct pq_conn *pq, struct err *err)
{
    uint64_t end_ns = os_now_ns() + connect_limit_ns(pq);
    int before = sig_pending();
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK) {
        short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        struct pollfd fd = {.fd = PQsocket(pq->db), .events = events};
        int ready = poll(&fd, 1, PQ_POLL_MS);
        if (before == 0 && sig_pending() != 0)
            return fail_signal(err);
        if (os_now_ns() > end_ns)
            return err_set(err, ERR_SYSTEM,
                           "cannot connect to PostgreSQL: no answer in time; is the address "
                           "right? (connect_timeout=SECONDS in the URL waits longer)");
        if (ready <= 0)
            continue;
        status = PQconnectPoll(pq->db);
        if (status == PGRES_POLLING_FAILED)
            return fail_connect(pq, err);
    }
    return true;
}

static void ignore_notice(UNUSED void *context, UNUSED const PGresult *result)
{
}

static bool connect_start(struct pq_conn *pq, struct err *err)
{
    /* What stands after dbname wins over it, what stands before it does not. */
    static const char *const names[] = {"client_encoding", "dbname",
                                        "fallback_application_name", NULL};
    const char *values[] = {"UTF8", pq->base.target->conninfo, "dbdyno", NULL};
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(pq->base.target->conninfo, &message);
    if (!options) {
        bool ok = fail_conninfo(message ? message : "out of memory", err);
        PQfreemem(message);
        return ok;
    }
    PQconninfoFree(options);
    pq->db = PQconnectStartParams(names, values, 1);
    if (!pq->db || PQstatus(pq->db) == CONNECTION_BAD)
        return fail_connect(pq, err);
    PQsetNoticeReceiver(pq->db, ignore_notice, NULL);
    return wait_connected(pq, err);
}

static const char *setting_hint(const char *sqlstate)
{
    static const char *const hints[][2] = {
        {"55P02", "; a session cannot change it, set it on the server" },
        {"42501", "; this user may not change it, set it on the server"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(hints); i++) {
        if (strcmp(sqlstate, hints[i][0]) == 0)
            return hints[i][1];
    }
    return "";
}

static bool apply_setting(struct pq_conn *pq, const struct drv_pair *pair, struct err *err)
{
    const char *params[] = {pair->name, pair->value};
    char message[DRV_ERROR_BYTES];
    if (execute(pq, "SELECT set_config($1, $2, false)", 2, params, NULL, err))
        return true;
    if (err->kind != ERR_DATABASE)
        return err_wrap(err, "set.%.60s", pair->name);
    /* What stands in the target is wrong; nothing ran. */
    static const char prefix[] = "ERROR:  ";
    const char *words = PQerrorMessage(pq->db);
    if (slice_starts(slice_of(words), prefix))
        words += strlen(prefix);
    error_copy(message, sizeof(message), words);
    return err_set(err, ERR_USAGE, "set.%.60s: PostgreSQL does not take '%.60s': %.250s%s",
                   pair->name, pair->value, message, setting_hint(err->sqlstate));
}

/* On a server that we did not start, settings can only be those of the session. */
static bool apply_settings(struct pq_conn *pq, struct err *err)
{
    const struct drv_target *target = pq->base.target;
    if (has_text(target->place)) {
        const char *place = sql_quote(pq->base.arena, '"', target->place);
        if (!execute_simple(pq, arena_printf(pq->base.arena, "SET search_path TO %s", place),
                            err))
            return false;
    }
    for (uint32_t i = 0; target->home == DRV_HOME_RUNNING && i < target->setting_count; i++) {
        if (!apply_setting(pq, &target->settings[i], err))
            return false;
    }
    return true;
}

bool pq_open(struct drv_conn *conn, struct err *err)
{
    struct pq_conn *pq = (struct pq_conn *)conn;
    if (!connect_start(pq, err))
        return false;
    if (!sever_ready(&pq->sever_fd, PQsocket(pq->db), err))
        return false;
    if (PQsetnonblocking(pq->db, 1) != 0)
        return fail_lost(pq, err);
    pq->cancel = PQgetCancel(pq->db);
    return apply_settings(pq, err);
}

void pq_close(struct drv_conn *conn)
{
    struct pq_conn *pq = (struct pq_conn *)conn;
    sever_done(&pq->sever_fd);
    PQfreeCancel(pq->cancel);
    PQfinish(pq->db);
    pq->cancel = NULL;
    pq->db = NULL;
    arena_destroy(&pq->set_arena);
}

bool pq_place(struct drv_conn *conn, const char *name, bool create, struct err *err)
{
    struct pq_conn *pq = (struct pq_conn *)conn;
    const char *quoted = sql_quote(conn->arena, '"', name);
    const char *sql =
        create ? arena_printf(conn->arena, "CREATE SCHEMA %s", quoted)
               : arena_printf(conn->arena, "DROP SCHEMA IF EXISTS %s CASCADE", quoted);
    return execute_simple(pq, sql, err);
}

/* Prepares one statement and learns its parameters; *columns is how many it answers. */
static bool prepare_one(struct pq_conn *pq, const struct prog_stmt *from, struct pq_stmt *stmt,
                        int *columns, struct err *err)
{
    PGresult *result = NULL;
    if (!PQsendPrepare(pq->db, stmt->name, from->sql, 0, NULL))
        return fail_lost(pq, err);
    if (!take_results(pq, from->sql, NULL, err))
        return err_wrap(err, "statement %.60s", from->name);
    if (!PQsendDescribePrepared(pq->db, stmt->name))
        return fail_lost(pq, err);
    if (!take_results(pq, from->sql, &result, err))
        return false;
    int count = PQnparams(result);
    uint8_t *params = arena_array(pq->set_arena, uint8_t, (size_t)count);
    for (int i = 0; i < count; i++)
        params[i] = (uint8_t)pgp_param_of(PQparamtype(result, i), false);
    *columns = PQnfields(result);
    PQclear(result);
    if ((uint32_t)count != from->param_count)
        return err_set(err, ERR_CONFIG,
                       "statement %.60s: PostgreSQL counts %d parameters, not %u", from->name,
                       count, from->param_count);
    stmt->params = params;
    stmt->param_count = from->param_count;
    return true;
}

/* Everything that submit and step need, so that they never have to ask for memory. */
static void reserve_buffers(struct pq_conn *pq, int columns)
{
    const struct pq_options *options = pq->base.options;
    size_t most = 0;
    for (uint32_t i = 0; i < pq->stmt_count; i++)
        most = pq->stmts[i].param_count > most ? pq->stmts[i].param_count : most;
    pq->values = arena_array(pq->set_arena, const char *, most);
    pq->lengths = arena_array(pq->set_arena, int, most);
    pq->formats = arena_array(pq->set_arena, int, most);
    pq->buffer_room = most == 0 ? 0 : most * PQ_NUMBER_BYTES + (size_t)options->param_bytes;
    pq->buffer = arena_array(pq->set_arena, char, pq->buffer_room);
    pq->row = arena_array(pq->set_arena, struct value, (size_t)columns);
    pq->columns = arena_array(pq->set_arena, uint8_t, (size_t)columns);
    pq->row_room = (uint16_t)columns;
}

bool pq_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                struct err *err)
{
    struct pq_conn *pq = (struct pq_conn *)conn;
    int most = 0;
    arena_destroy(&pq->set_arena);
    pq->stmt_count = 0;
    pq->set_arena = arena_create(SET_BLOCK_BYTES);
    pq->stmts = arena_array(pq->set_arena, struct pq_stmt, count);
    if (!execute_simple(pq, "DEALLOCATE ALL", err))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct pq_stmt *stmt = &pq->stmts[i];
        int columns = PQ_COLUMNS_MAX; /* a direct statement's are not known before it runs */
        stmt->sql = arena_text(pq->set_arena, stmts[i].sql);
        stmt->direct = stmts[i].direct;
        text_print(stmt->name, sizeof(stmt->name), "s%u", i);
        if (!stmt->direct && !prepare_one(pq, &stmts[i], stmt, &columns, err))
            return false;
        most = columns > most ? columns : most;
    }
    pq->stmt_count = count;
    reserve_buffers(pq, most);
    return true;
}

bool pq_query(struct drv_conn *conn, struct arena *arena, const char *sql, struct value *value,
              uint64_t *rows, struct err *err)
{
    struct pq_conn *pq = (struct pq_conn *)conn;
    struct value first = {.type = VALUE_NULL};
    PGresult *result = NULL;
    if (!execute(pq, sql, 0, NULL, &result, err))
        return false;
    if (PQntuples(result) > 0 && PQnfields(result) > 0 && !PQgetisnull(result, 0, 0)) {
        first = pgp_decode(pgp_kind_of(PQftype(result, 0), false), PQgetvalue(result, 0, 0),
                           (uint32_t)PQgetlength(result, 0, 0));
        first = value_copy(arena, &first);
    }
    if (value)
        *value = first;
    if (rows)
        *rows = (uint64_t)PQntuples(result);
    PQclear(result);
    return true;
}
