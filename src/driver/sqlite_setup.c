#include "driver/sqlite_internal.h"
#include "os/now.h"
#include "os/sig.h"

#include <assert.h>
#include <string.h>

enum { BUSY_LIMIT_MS = 5000, PROGRESS_STEPS = 10000, SET_BLOCK_BYTES = 4096 };

/* sqlite3_interrupt has no effect just before a statement starts; this has, a little later. */
int lite_is_cancelled(void *context)
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
    if (waited_ms >= BUSY_LIMIT_MS || lite_is_cancelled(lite))
        return 0;
    os_sleep_ns(delay_ms[count < LAST ? count : LAST] * NS_PER_MS);
    return 1;
}

static const char *skip_comment(const char *sql)
{
    bool line = sql[0] == '-';
    const char *end = line ? strchr(sql, '\n') : strstr(sql + 2, "*/");
    return end ? end + (line ? 1 : 2) : sql + strlen(sql);
}

/* Nothing but blanks, comments and semicolons? */
static bool is_empty(const char *sql)
{
    while (*sql) {
        if (strchr(" \t\r\n\f;", *sql))
            sql++;
        else if (strncmp(sql, "--", 2) == 0 || strncmp(sql, "/*", 2) == 0)
            sql = skip_comment(sql);
        else
            return false;
    }
    return true;
}

int lite_compile(struct lite_conn *lite, const char *sql, unsigned flags, sqlite3_stmt **stmt)
{
    const char *rest = "";
    lite->refusal = NULL;
    int code = sqlite3_prepare_v3(lite->db, sql, -1, flags, stmt, &rest);
    if (code != SQLITE_OK)
        return code;
    if (*stmt && is_empty(rest))
        return SQLITE_OK;
    lite->refusal = *stmt ? "one statement at a time: another one follows" : "no statement";
    sqlite3_finalize(*stmt);
    *stmt = NULL;
    return SQLITE_ERROR;
}

static bool fail_with(struct lite_conn *lite, struct err *err, const char *sql)
{
    char message[DRV_ERROR_BYTES];
    int code = lite->refusal ? SQLITE_ERROR : sqlite3_extended_errcode(lite->db);
    error_copy(message, sizeof(message),
               lite->refusal ? lite->refusal : sqlite3_errmsg(lite->db));
    (void)err_set(err, ERR_DATABASE, "SQLite: %s (%d) in: %.120s", message, code, sql);
    err->code = code;
    return false;
}

struct value lite_column_value(sqlite3_stmt *stmt, int column)
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
    int code = lite_compile(lite, sql, 0, &stmt);
    if (code != SQLITE_OK)
        return fail_query(lite, err, sql);
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (count++ == 0 && value && sqlite3_column_count(stmt) > 0) {
            struct value here = lite_column_value(stmt, 0);
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
bool lite_query(struct drv_conn *conn, struct arena *arena, const char *sql,
                struct value *value, uint64_t *rows, struct err *err)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    atomic_store_explicit(&lite->cancelled, false, memory_order_relaxed);
    lite->watching = sig_pending() == 0;
    bool ok = run_query(lite, arena, sql, value, rows, err);
    lite->watching = false;
    return ok;
}

static bool is_memory(const struct drv_target *target)
{
    return strcmp(target->path, ":memory:") == 0;
}

static bool prepare_own(struct lite_conn *lite, const char *sql, sqlite3_stmt **stmt,
                        struct err *err)
{
    if (lite_compile(lite, sql, SQLITE_PREPARE_PERSISTENT, stmt) == SQLITE_OK)
        return true;
    return fail_with(lite, err, sql);
}

bool lite_open(struct drv_conn *conn, struct err *err)
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
    sqlite3_progress_handler(lite->db, PROGRESS_STEPS, lite_is_cancelled, lite);
    /* Plain BEGIN, as applications write it: the write lock is taken by the first write. BEGIN
     * IMMEDIATE would make transactions that only read wait for writers. */
    return lite_apply_settings(lite, err) && prepare_own(lite, "BEGIN", &lite->begin, err) &&
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

void lite_close(struct drv_conn *conn)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    drop_set(lite);
    sqlite3_finalize(lite->begin);
    sqlite3_finalize(lite->commit);
    sqlite3_finalize(lite->rollback);
    sqlite3_close(lite->db);
    lite->db = NULL;
}

bool lite_place(UNUSED struct drv_conn *conn, UNUSED const char *name, UNUSED bool create,
                struct err *err)
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

bool lite_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
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

const char *lite_library(struct arena *arena)
{
    return arena_printf(arena, "sqlite3 %s", sqlite3_libversion());
}

bool lite_describe(struct drv_conn *conn, struct arena *arena, struct drv_facts *facts,
                   UNUSED struct err *err)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    const struct drv_target *target = conn->target;
    const char *journal = lite_pragma_shown(lite, arena, "journal_mode");
    const char *synchronous = lite_pragma_shown(lite, arena, "synchronous");
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
    if (!lite_is_given(target, "journal_mode"))
        settings_add(arena, &list, (struct drv_setting){"journal_mode", journal, "dbdyno"});
    if (!lite_is_given(target, "synchronous"))
        settings_add(arena, &list, (struct drv_setting){"synchronous", synchronous, "dbdyno"});
    for (uint32_t i = 0; i < target->setting_count; i++) {
        const struct drv_pair *pair = &target->settings[i];
        const char *value = lite_pragma_shown(lite, arena, pair->name);
        settings_add(arena, &list,
                     (struct drv_setting){pair->name, *value ? value : pair->value, "target"});
    }
    settings_finish(&list, facts);
    return true;
}
