/*
 * SQLite in this process. One connection belongs to one thread, so it is opened without
 * SQLite's mutexes; sqlite3_interrupt is the one call that is safe from another thread.
 *
 * Sources: https://www.sqlite.org/c3ref/intro.html, https://www.sqlite.org/pragma.html
 */

#include "base/num.h"
#include "driver/driver_internal.h"
#include "os/now.h"
#include "os/sig.h"

#include <sqlite3.h>

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

enum { BUSY_LIMIT_MS = 5000, PROGRESS_STEPS = 10000, SET_BLOCK_BYTES = 4096 };

struct lite_stmt {
    sqlite3_stmt *handle; /* NULL for a direct one */
    const char *sql;
    bool changes;
};

struct lite_conn {
    struct drv_conn base;
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *rollback;
    struct arena *set_arena; /* of the prepared set */
    struct lite_stmt *stmts;
    uint32_t stmt_count;
    struct value *row;
    int row_room;

    /* the operation in flight */
    enum drv_op_kind kind;
    uint16_t stmt;
    enum prog_depth depth;
    struct drv_sink *sink;
    int failed; /* by submit */

    /* Set by cancel on another thread, cleared by submit and query: a flag alone, no other
     * memory depends on it. */
    atomic_bool cancelled;
    atomic_bool severed; /* the same, but never cleared */
    bool watching;       /* a query runs that a signal ends; our own thread's */
    char error[DRV_ERROR_BYTES];
};

/* sqlite3_interrupt has no effect just before a statement starts; this has, a little later. */
static int is_cancelled(void *context)
{
    struct lite_conn *lite = context;
    return atomic_load_explicit(&lite->cancelled, memory_order_relaxed) ||
           atomic_load_explicit(&lite->severed, memory_order_relaxed) ||
           (lite->watching && sig_pending() != 0);
}

/* SQLite's own waiting times, with a limit of five seconds. Our own handler because
 * SQLite 3.40's cannot be interrupted. */
static int wait_busy(void *context, int count)
{
    static const uint8_t delay_ms[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100};
    enum { LAST = ARRAY_COUNT(delay_ms) - 1 };
    struct lite_conn *lite = context;
    int waited_ms = 0;
    for (int i = 0; i < count && waited_ms < BUSY_LIMIT_MS; i++)
        waited_ms += delay_ms[i < LAST ? i : LAST];
    if (waited_ms >= BUSY_LIMIT_MS || is_cancelled(lite))
        return 0;
    os_sleep_ns(delay_ms[count < LAST ? count : LAST] * NS_PER_MS);
    return 1;
}

static bool fail_with(struct lite_conn *lite, struct err *err, const char *sql)
{
    char message[DRV_ERROR_BYTES];
    int code = sqlite3_extended_errcode(lite->db);
    error_copy(message, sizeof(message), sqlite3_errmsg(lite->db));
    (void)err_set(err, ERR_DATABASE, "SQLite: %s (%d) in: %.120s", message, code, sql);
    err->code = code;
    return false;
}

static struct value column_value(sqlite3_stmt *stmt, int column)
{
    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_INTEGER: return value_int(sqlite3_column_int64(stmt, column));
    case SQLITE_FLOAT: return value_real(sqlite3_column_double(stmt, column));
    case SQLITE_TEXT: {
        const void *text = sqlite3_column_text(stmt, column);
        return value_text(text, (uint32_t)sqlite3_column_bytes(stmt, column));
    }
    case SQLITE_BLOB: {
        struct value blob = {.type = VALUE_BLOB};
        blob.as.text = sqlite3_column_blob(stmt, column);
        blob.bytes = (uint32_t)sqlite3_column_bytes(stmt, column);
        return blob;
    }
    default: return (struct value){.type = VALUE_NULL};
    }
}

/* The kind and place of a column's value, without turning numbers into anything. */
static struct value column_place(sqlite3_stmt *stmt, int column)
{
    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_INTEGER: return (struct value){.type = VALUE_INT, .bytes = sizeof(int64_t)};
    case SQLITE_FLOAT: return (struct value){.type = VALUE_REAL, .bytes = sizeof(double)};
    default: return column_value(stmt, column);
    }
}

static bool fail_query(struct lite_conn *lite, struct err *err, const char *sql)
{
    int kind = sqlite3_errcode(lite->db) & 0xff;
    bool stopped = lite->watching && sig_pending() != 0 &&
                   (kind == SQLITE_INTERRUPT || kind == SQLITE_BUSY);
    return stopped ? err_set(err, ERR_CANCELLED, "interrupted") : fail_with(lite, err, sql);
}

static bool run_query(struct lite_conn *lite, struct arena *arena, const char *sql,
                      struct value *value, uint64_t *rows, struct err *err)
{
    struct value first = {.type = VALUE_NULL};
    uint64_t count = 0;
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(lite->db, sql, -1, &stmt, NULL);
    if (code != SQLITE_OK)
        return fail_query(lite, err, sql);
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (count++ == 0 && value && sqlite3_column_count(stmt) > 0) {
            struct value here = column_value(stmt, 0);
            first = value_copy(arena, &here);
        }
    }
    bool ok = code == SQLITE_DONE || fail_query(lite, err, sql);
    sqlite3_finalize(stmt);
    if (!ok)
        return false;
    if (value)
        *value = first;
    if (rows)
        *rows = count;
    return true;
}

/* A signal ends it, unless there was one before: clean-ups go on. */
static bool lite_query(struct drv_conn *conn, struct arena *arena, const char *sql,
                       struct value *value, uint64_t *rows, struct err *err)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    atomic_store_explicit(&lite->cancelled, false, memory_order_relaxed);
    lite->watching = sig_pending() == 0;
    bool ok = run_query(lite, arena, sql, value, rows, err);
    lite->watching = false;
    return ok;
}

static const char *query_text(struct lite_conn *lite, struct arena *arena, const char *sql)
{
    struct value value;
    struct err ignored;
    char shown[32];
    if (!lite_query(&lite->base, arena, sql, &value, NULL, &ignored) ||
        value.type == VALUE_NULL)
        return "";
    if (value.type >= VALUE_TEXT)
        return value.as.text;
    value_print(shown, sizeof(shown), &value);
    return arena_text(arena, shown);
}

static const char *pragma_read(struct lite_conn *lite, struct arena *arena, const char *name)
{
    return query_text(lite, arena, arena_printf(arena, "PRAGMA %s", name));
}

/* SQLite says nothing when it does not know a pragma. */
static bool pragma_known(struct lite_conn *lite, const char *name)
{
    struct arena *arena = lite->base.arena;
    const char *quoted = sql_quote(arena, '\'', name);
    uint64_t all = 0, found = 0;
    struct err ignored;
    const char *sql = "SELECT name FROM pragma_pragma_list";
    if (!lite_query(&lite->base, arena, sql, NULL, &all, &ignored) || all == 0)
        return true;
    sql = arena_printf(arena, "%s WHERE name = lower(%s)", sql, quoted);
    return lite_query(&lite->base, arena, sql, NULL, &found, &ignored) && found > 0;
}

static bool pragma_set(struct lite_conn *lite, const char *name, const char *value,
                       struct err *err)
{
    struct arena *arena = lite->base.arena;
    if (!pragma_known(lite, name))
        return err_set(err, ERR_USAGE,
                       "SQLite has no pragma '%.64s' (set.NAME of a sqlite target is a pragma)",
                       name);
    const char *quoted = sql_quote(arena, '\'', value);
    const char *sql = arena_printf(arena, "PRAGMA %s=%s", name, quoted);
    return lite_query(&lite->base, arena, sql, NULL, NULL, err);
}

static bool is_memory(const struct drv_target *target)
{
    return strcmp(target->path, ":memory:") == 0;
}

static bool apply_settings(struct lite_conn *lite, struct err *err)
{
    const struct drv_target *target = lite->base.target;
    if (!pragma_set(lite, "journal_mode", "WAL", err) ||
        !pragma_set(lite, "synchronous", "FULL", err))
        return false;
    for (uint32_t i = 0; i < target->setting_count; i++) {
        if (!pragma_set(lite, target->settings[i].name, target->settings[i].value, err))
            return false;
    }
    return true;
}

static bool prepare_own(struct lite_conn *lite, const char *sql, sqlite3_stmt **stmt,
                        struct err *err)
{
    if (sqlite3_prepare_v3(lite->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) ==
        SQLITE_OK)
        return true;
    return fail_with(lite, err, sql);
}

static bool lite_open(struct drv_conn *conn, struct err *err)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    const struct drv_target *target = conn->target;
    assert(target->path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    const char *path = target->path;
    if (is_memory(target)) {
        /* A plain :memory: would be an empty database for each connection. */
        path = arena_printf(conn->arena, "file:/dbdyno-%s?vfs=memdb", target->label);
        flags |= SQLITE_OPEN_URI;
    }
    int code = sqlite3_open_v2(path, &lite->db, flags, NULL);
    if (code != SQLITE_OK)
        return err_set(err, ERR_SYSTEM, "cannot open the SQLite database %.200s: %s",
                       target->path,
                       lite->db ? sqlite3_errmsg(lite->db) : sqlite3_errstr(code));
    sqlite3_extended_result_codes(lite->db, 1);
    sqlite3_busy_handler(lite->db, wait_busy, lite);
    sqlite3_progress_handler(lite->db, PROGRESS_STEPS, is_cancelled, lite);
    /* Plain BEGIN, as applications write it: the write lock is taken by the first write. BEGIN
     * IMMEDIATE would make transactions that only read wait for writers. */
    return apply_settings(lite, err) && prepare_own(lite, "BEGIN", &lite->begin, err) &&
           prepare_own(lite, "COMMIT", &lite->commit, err) &&
           prepare_own(lite, "ROLLBACK", &lite->rollback, err);
}

static void drop_set(struct lite_conn *lite)
{
    for (uint32_t i = 0; i < lite->stmt_count; i++)
        sqlite3_finalize(lite->stmts[i].handle);
    lite->stmt_count = 0;
    lite->stmts = NULL;
    arena_destroy(&lite->set_arena);
}

static void lite_close(struct drv_conn *conn)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    drop_set(lite);
    sqlite3_finalize(lite->begin);
    sqlite3_finalize(lite->commit);
    sqlite3_finalize(lite->rollback);
    sqlite3_close(lite->db);
    lite->db = NULL;
}

static bool lite_place(UNUSED struct drv_conn *conn, UNUSED const char *name,
                       UNUSED bool create, struct err *err)
{
    return err_set(err, ERR_USAGE, "a SQLite database is one file and has no place inside it");
}

static bool prepare_one(struct lite_conn *lite, const struct prog_stmt *from,
                        struct lite_stmt *stmt, struct err *err)
{
    stmt->sql = arena_text(lite->set_arena, from->sql);
    stmt->changes = sql_changes_rows(from->sql);
    if (from->direct)
        return true;
    if (!prepare_own(lite, stmt->sql, &stmt->handle, err))
        return err_wrap(err, "statement %.60s", from->name);
    uint32_t params = (uint32_t)sqlite3_bind_parameter_count(stmt->handle);
    if (params != from->param_count)
        return err_set(err, ERR_CONFIG, "statement %.60s: SQLite counts %u parameters, not %u",
                       from->name, params, from->param_count);
    stmt->changes = stmt->changes && !sqlite3_stmt_readonly(stmt->handle);
    return true;
}

static void reserve_row(struct lite_conn *lite)
{
    int want = 0;
    for (uint32_t i = 0; i < lite->stmt_count; i++) {
        /* What a direct statement answers is not known before it runs. */
        int columns = lite->stmts[i].handle ? sqlite3_column_count(lite->stmts[i].handle)
                                            : sqlite3_limit(lite->db, SQLITE_LIMIT_COLUMN, -1);
        want = columns > want ? columns : want;
    }
    lite->row = arena_array(lite->set_arena, struct value, (size_t)want);
    lite->row_room = want;
}

static bool lite_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                         struct err *err)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    drop_set(lite);
    lite->set_arena = arena_create(SET_BLOCK_BYTES);
    lite->stmts = arena_array(lite->set_arena, struct lite_stmt, count);
    for (; lite->stmt_count < count; lite->stmt_count++) {
        if (!prepare_one(lite, &stmts[lite->stmt_count], &lite->stmts[lite->stmt_count], err)) {
            lite->stmt_count++;
            drop_set(lite);
            return false;
        }
    }
    reserve_row(lite);
    return true;
}

static enum drv_tier tier_of(const struct drv_target *target, const char *journal,
                             const char *synchronous)
{
    if (is_memory(target))
        return DRV_TIER_MEMORY;
    /* Without a journal on the disk, or without any flush, a crash may ruin the whole file. */
    if (strcmp(synchronous, "OFF") == 0 || strcmp(journal, "off") == 0 ||
        strcmp(journal, "memory") == 0)
        return DRV_TIER_NONE;
    if (strcmp(journal, "wal") == 0 && strcmp(synchronous, "NORMAL") == 0)
        return DRV_TIER_CACHE;
    return DRV_TIER_FSYNC;
}

static const char *synchronous_name(const char *number)
{
    static const char *const names[] = {"OFF", "NORMAL", "FULL", "EXTRA"};
    uint64_t level;
    if (num_u64(slice_of(number), &level) && level < ARRAY_COUNT(names))
        return names[level];
    return number;
}

static bool given(const struct drv_target *target, const char *name)
{
    for (uint32_t i = 0; i < target->setting_count; i++) {
        if (strcasecmp(target->settings[i].name, name) == 0)
            return true;
    }
    return false;
}

static const char *lite_library(struct arena *arena)
{
    return arena_printf(arena, "sqlite3 %s", sqlite3_libversion());
}

static bool lite_describe(struct drv_conn *conn, struct arena *arena, struct drv_facts *facts,
                          UNUSED struct err *err)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    const struct drv_target *target = conn->target;
    const char *journal = pragma_read(lite, arena, "journal_mode");
    const char *synchronous = synchronous_name(pragma_read(lite, arena, "synchronous"));
    bool debug = sqlite3_compileoption_used("DEBUG") != 0;
    *facts = (struct drv_facts){
        .server_version = arena_printf(arena, "SQLite %s", sqlite3_libversion()),
        .client_version = lite_library(arena),
        .tier = tier_of(target, journal, synchronous),
        .tier_why = is_memory(target) ? "the database lives in memory"
                                      : arena_printf(arena, "journal_mode=%s, synchronous=%s",
                                                     journal, synchronous),
        .debug_build = debug,
        .debug_why = debug ? "compile option SQLITE_DEBUG" : NULL,
    };
    struct setting_list list = {0};
    if (!given(target, "journal_mode"))
        settings_add(arena, &list, (struct drv_setting){"journal_mode", journal, "dbdyno"});
    if (!given(target, "synchronous"))
        settings_add(arena, &list, (struct drv_setting){"synchronous", synchronous, "dbdyno"});
    for (uint32_t i = 0; i < target->setting_count; i++) {
        const struct drv_pair *pair = &target->settings[i];
        const char *value = pragma_read(lite, arena, pair->name);
        settings_add(arena, &list,
                     (struct drv_setting){pair->name, *value ? value : pair->value, "target"});
    }
    settings_finish(&list, facts);
    return true;
}

static int bind_one(sqlite3_stmt *stmt, int index, const struct value *value)
{
    switch (value->type) {
    case VALUE_NULL: return sqlite3_bind_null(stmt, index);
    case VALUE_INT: return sqlite3_bind_int64(stmt, index, value->as.i);
    case VALUE_REAL: return sqlite3_bind_double(stmt, index, value->as.r);
    case VALUE_TEXT:
        return sqlite3_bind_text(stmt, index, value->bytes ? value->as.text : "",
                                 (int)value->bytes, SQLITE_STATIC);
    case VALUE_BLOB: break;
    }
    return sqlite3_bind_blob(stmt, index, value->bytes ? value->as.text : "", (int)value->bytes,
                             SQLITE_STATIC);
}

static int bind_all(sqlite3_stmt *stmt, const struct drv_op *op)
{
    int count = sqlite3_bind_parameter_count(stmt);
    if ((uint32_t)count != op->param_count)
        return SQLITE_RANGE;
    for (int i = 0; i < count; i++) {
        int code = bind_one(stmt, i + 1, &op->params[i]);
        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK;
}

static void lite_submit(struct drv_conn *conn, const struct drv_op *op)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    atomic_store_explicit(&lite->cancelled, false, memory_order_relaxed);
    lite->kind = op->kind;
    lite->stmt = op->stmt;
    lite->depth = op->depth;
    lite->sink = op->sink && op->sink->row ? op->sink : NULL;
    lite->failed = SQLITE_OK;
    lite->error[0] = '\0';
    if (op->kind != DRV_OP_EXECUTE)
        return;
    assert(op->stmt < lite->stmt_count);
    sqlite3_stmt *stmt = lite->stmts[op->stmt].handle;
    if (stmt)
        lite->failed = bind_all(stmt, op);
}

static void give_row(struct lite_conn *lite, sqlite3_stmt *stmt)
{
    struct drv_sink *sink = lite->sink;
    if (lite->depth == PROG_DRAIN) {
        if (sink)
            sink->row(sink, NULL, 0);
        return;
    }
    int columns = sqlite3_data_count(stmt);
    columns = columns < lite->row_room ? columns : lite->row_room;
    for (int i = 0; i < columns; i++)
        lite->row[i] =
            lite->depth == PROG_DECODE ? column_value(stmt, i) : column_place(stmt, i);
    if (sink)
        sink->row(sink, lite->row, (uint16_t)columns);
}

static const char *code_text(const struct lite_conn *lite, int code)
{
    switch (code) {
    case SQLITE_RANGE: return "wrong number of parameters";
    case SQLITE_INTERRUPT: return "interrupted";
    default: return sqlite3_errmsg(lite->db);
    }
}

static enum drv_step fail_step(struct lite_conn *lite, int code, struct drv_outcome *outcome)
{
    int kind = code & 0xff; /* of an extended code */
    bool cancelled = is_cancelled(lite);
    error_copy(lite->error, sizeof(lite->error), code_text(lite, code));
    outcome->code = code;
    if (kind == SQLITE_INTERRUPT || (kind == SQLITE_BUSY && cancelled))
        outcome->verdict = DRV_TIMEOUT;
    else if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
        outcome->verdict = DRV_RETRY;
    else
        outcome->verdict = DRV_ERROR;
    if (!atomic_load_explicit(&lite->severed, memory_order_relaxed))
        return DRV_DONE;
    outcome->verdict = DRV_LOST;
    return DRV_FAILED;
}

/* Runs a statement to its end; the answer is SQLite's code. */
static int run_stmt(struct lite_conn *lite, sqlite3_stmt *stmt, struct drv_outcome *outcome)
{
    int code = is_cancelled(lite) ? SQLITE_INTERRUPT : sqlite3_step(stmt);
    while (code == SQLITE_ROW) {
        outcome->rows++;
        give_row(lite, stmt);
        code = sqlite3_step(stmt);
    }
    return code;
}

static int run_direct(struct lite_conn *lite, const char *sql, struct drv_outcome *outcome)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(lite->db, sql, -1, &stmt, NULL);
    if (code != SQLITE_OK)
        return code;
    code = run_stmt(lite, stmt, outcome);
    int after = sqlite3_finalize(stmt);
    return code == SQLITE_DONE || code == SQLITE_INTERRUPT ? code : after;
}

static int run_prepared(struct lite_conn *lite, sqlite3_stmt *stmt, struct drv_outcome *outcome)
{
    int code = run_stmt(lite, stmt, outcome);
    sqlite3_reset(stmt);
    return code;
}

static int run_execute(struct lite_conn *lite, struct drv_outcome *outcome)
{
    const struct lite_stmt *stmt = &lite->stmts[lite->stmt];
    if (lite->failed != SQLITE_OK)
        return lite->failed;
    int code = stmt->handle ? run_prepared(lite, stmt->handle, outcome)
                            : run_direct(lite, stmt->sql, outcome);
    if (stmt->changes && code == SQLITE_DONE)
        outcome->affected = sqlite3_changes64(lite->db);
    return code;
}

static int run_rollback(struct lite_conn *lite, struct drv_outcome *outcome)
{
    /* Some failures have rolled back already; servers take a second ROLLBACK for a warning. */
    if (sqlite3_get_autocommit(lite->db))
        return SQLITE_DONE;
    return run_prepared(lite, lite->rollback, outcome);
}

static enum drv_step lite_step(struct drv_conn *conn, struct drv_outcome *outcome)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    *outcome = (struct drv_outcome){.verdict = DRV_OK, .affected = -1};
    int code = SQLITE_DONE;
    switch (lite->kind) {
    case DRV_OP_EXECUTE: code = run_execute(lite, outcome); break;
    case DRV_OP_PING: break;
    case DRV_OP_BEGIN: code = run_prepared(lite, lite->begin, outcome); break;
    case DRV_OP_COMMIT: code = run_prepared(lite, lite->commit, outcome); break;
    case DRV_OP_ROLLBACK: code = run_rollback(lite, outcome); break;
    }
    return code == SQLITE_DONE ? DRV_DONE : fail_step(lite, code, outcome);
}

static void lite_cancel(struct drv_conn *conn)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    atomic_store(&lite->cancelled, true);
    sqlite3_interrupt(lite->db);
}

static void lite_sever(struct drv_conn *conn)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    atomic_store(&lite->severed, true);
    sqlite3_interrupt(lite->db);
}

static const char *lite_last_error(const struct drv_conn *conn)
{
    return ((const struct lite_conn *)conn)->error;
}

static const struct drv_option lite_options[] = {{0}};

const struct drv_class drv_sqlite = {
    .name = "sqlite",
    .summary = "SQLite in this process",
    .abi = DRV_ABI,
    .options = lite_options,
    .conn_bytes = sizeof(struct lite_conn),
    .open = lite_open,
    .close = lite_close,
    .place = lite_place,
    .prepare = lite_prepare,
    .query = lite_query,
    .describe = lite_describe,
    .submit = lite_submit,
    .step = lite_step,
    .cancel = lite_cancel,
    .sever = lite_sever,
    .library = lite_library,
    .last_error = lite_last_error,
};
