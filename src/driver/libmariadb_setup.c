#include "base/num.h"
#include "driver/libmariadb_internal.h"
#include "os/now.h"
#include "os/sig.h"

#include <mariadb/errmsg.h>
#include <poll.h>
#include <string.h>

enum { CONNECT_LIMIT_S = 10, POLL_MS = 100, CANCEL_WAIT_S = 5 };
enum { SET_BLOCK_BYTES = 4096, BINARY_CHARSET = 63 };

static bool fail_server(MYSQL *db, const char *sql, struct err *err)
{
    char message[DRV_ERROR_BYTES];
    int code = (int)mysql_errno(db);
    error_copy(message, sizeof(message), mysql_error(db));
    bool lost = code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST;
    (void)err_set(err, lost ? ERR_SYSTEM : ERR_DATABASE, "%s (%d, SQLSTATE %s) in: %.120s",
                  message, code, mysql_sqlstate(db), sql);
    err->code = code;
    text_print(err->sqlstate, sizeof(err->sqlstate), "%s", mysql_sqlstate(db));
    return false;
}

static const char *connect_hint(int code)
{
    switch (code) {
    case 1045:
    case 1698:
        return "check user and password (write %, @, :, / and ? in them percent-encoded)";
    case 1049: return "create the database, or name another one in the URL";
    case 1040:
    case 1203: return "raise max_connections, or use fewer clients";
    case CR_CONNECTION_ERROR:
    case CR_CONN_HOST_ERROR: return "is a server running there?";
    case CR_UNKNOWN_HOST: return "check the name of the host";
    case CR_SSL_CONNECTION_ERROR: return "does the server offer TLS?";
    default: return "check the target";
    }
}

static bool fail_connect(MYSQL *db, struct err *err)
{
    char message[DRV_ERROR_BYTES];
    int code = (int)mysql_errno(db);
    error_copy(message, sizeof(message), mysql_error(db));
    return err_set(err, ERR_SYSTEM, "cannot connect: %.330s (%d); %s", message, code,
                   connect_hint(code));
}

static void set_options(MYSQL *db, const struct drv_target *target)
{
    unsigned no_files = 0, protocol = MYSQL_PROTOCOL_TCP;
    my_bool no = 0, yes = 1;
    mysql_optionsv(db, MYSQL_OPT_RECONNECT, &no);
    mysql_optionsv(db, MYSQL_OPT_LOCAL_INFILE, &no_files);
    mysql_optionsv(db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_optionsv(db, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &no);
    if (target->tls)
        mysql_optionsv(db, MYSQL_OPT_SSL_ENFORCE, &yes);
    /* "localhost" alone means the default socket, with a port it means the port. */
    if (!target->socket && target->port != 0)
        mysql_optionsv(db, MYSQL_OPT_PROTOCOL, &protocol);
}

/* Connects a handle of its own, as `target` says. With a limit for answers, a server that takes
 * connections and does not speak is given up too. */
static bool my_connect(const struct drv_target *target, unsigned connect_s, unsigned answer_s,
                       MYSQL **db, struct err *err)
{
    MYSQL *fresh = mysql_init(NULL);
    if (!fresh)
        return err_set(err, ERR_SYSTEM, "libmariadb has no memory");
    set_options(fresh, target);
    mysql_optionsv(fresh, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    if (answer_s > 0) {
        mysql_optionsv(fresh, MYSQL_OPT_READ_TIMEOUT, &answer_s);
        mysql_optionsv(fresh, MYSQL_OPT_WRITE_TIMEOUT, &answer_s);
    }
    const char *database = has_text(target->place) ? target->place : target->database;
    const char *host = target->socket ? NULL : target->host;
    if (!mysql_real_connect(fresh, host, target->user, target->password,
                            has_text(database) ? database : NULL, target->port, target->socket,
                            CLIENT_FOUND_ROWS)) {
        bool ok = fail_connect(fresh, err);
        mysql_close(fresh);
        return ok;
    }
    /* MYSQL_OPT_SSL_ENFORCE lets a server without TLS pass. */
    if (target->tls && !mysql_get_ssl_cipher(fresh)) {
        mysql_close(fresh);
        return err_set(err, ERR_SYSTEM,
                       "the server has no TLS, and the target says tls=required");
    }
    *db = fresh;
    return true;
}

/* The protocol has no other way than a second connection. */
void my_kill(const struct my_conn *my)
{
    MYSQL *other;
    struct err ignored;
    char sql[48];
    if (!my_connect(my->base.target, CANCEL_WAIT_S, CANCEL_WAIT_S, &other, &ignored))
        return;
    size_t bytes = text_print(sql, sizeof(sql), "KILL QUERY %lu", my->thread_id);
    (void)mysql_real_query(other, sql, bytes);
    mysql_close(other);
}

/* Waits for the answer; a signal that comes meanwhile (not one that was there before: a
 * clean-up goes on) stops the statement. */
static bool wait_answer(struct my_conn *my)
{
    struct pollfd fd = {.fd = mysql_get_socket(my->db), .events = POLLIN};
    int before = sig_pending();
    uint64_t give_up_ns = UINT64_MAX;
    while (poll(&fd, 1, POLL_MS) <= 0) {
        if (os_now_ns() > give_up_ns)
            return false;
        if (before == 0 && sig_pending() != 0 && !my->stopped) {
            my->stopped = true;
            give_up_ns = os_now_ns() + CANCEL_WAIT_S * NS_PER_S;
            my_kill(my);
        }
    }
    return mysql_read_query_result(my->db) == 0;
}

static bool fail_query(struct my_conn *my, const char *sql, struct err *err)
{
    return my->stopped ? err_set(err, ERR_CANCELLED, "interrupted")
                       : fail_server(my->db, sql, err);
}

static bool send_query(struct my_conn *my, const char *sql, struct err *err)
{
    my->stopped = false;
    return (mysql_send_query(my->db, sql, strlen(sql)) == 0 && wait_answer(my)) ||
           fail_query(my, sql, err);
}

static bool execute(struct my_conn *my, const char *sql, struct err *err)
{
    if (!send_query(my, sql, err))
        return false;
    mysql_free_result(mysql_store_result(my->db));
    return true;
}

/* A number as it is, anything else quoted. */
static const char *setting_value(struct my_conn *my, const char *text)
{
    double number;
    size_t bytes = strlen(text);
    if (num_real((struct slice){text, bytes}, &number))
        return text;
    char *escaped = arena_array(my->base.arena, char, 2 * bytes + 1);
    mysql_real_escape_string(my->db, escaped, text, bytes);
    return arena_printf(my->base.arena, "'%s'", escaped);
}

static const char *setting_hint(int code)
{
    switch (code) {
    case 1229: /* a global variable */
    case 1238: /* a read-only variable */
        return "; a session cannot change it, set it on the server";
    case 1227: return "; this user may not change it, set it on the server";
    default: return "";
    }
}

static bool apply_setting(struct my_conn *my, const struct drv_pair *pair, struct err *err)
{
    char message[DRV_ERROR_BYTES];
    const char *sql = arena_printf(my->base.arena, "SET SESSION %s = %s", pair->name,
                                   setting_value(my, pair->value));
    if (execute(my, sql, err))
        return true;
    if (err->kind != ERR_DATABASE)
        return err_wrap(err, "set.%.60s", pair->name);
    /* What stands in the target is wrong; nothing ran. */
    error_copy(message, sizeof(message), mysql_error(my->db));
    return err_set(err, ERR_USAGE, "set.%.60s: the server does not take '%.60s': %.250s (%d)%s",
                   pair->name, pair->value, message, err->code, setting_hint(err->code));
}

/* On a server that we did not start, settings can only be those of the session. */
static bool apply_settings(struct my_conn *my, struct err *err)
{
    const struct drv_target *target = my->base.target;
    for (uint32_t i = 0; target->home == DRV_HOME_RUNNING && i < target->setting_count; i++) {
        if (!apply_setting(my, &target->settings[i], err))
            return false;
    }
    return true;
}

bool my_open(struct drv_conn *conn, struct err *err)
{
    struct my_conn *my = (struct my_conn *)conn;
    if (!my_connect(conn->target, CONNECT_LIMIT_S, 0, &my->db, err))
        return false;
    my->thread_id = mysql_thread_id(my->db);
    return sever_ready(&my->sever_fd, mysql_get_socket(my->db), err) && apply_settings(my, err);
}

static void drop_set(struct my_conn *my)
{
    for (uint32_t i = 0; i < my->stmt_count; i++) {
        if (my->stmts[i].handle)
            mysql_stmt_close(my->stmts[i].handle);
    }
    my->stmt_count = 0;
    my->stmts = NULL;
    arena_destroy(&my->set_arena);
}

void my_close(struct drv_conn *conn)
{
    struct my_conn *my = (struct my_conn *)conn;
    sever_done(&my->sever_fd);
    drop_set(my);
    if (my->db)
        mysql_close(my->db);
    my->db = NULL;
    free(my->spill);
    my->spill = NULL;
}

bool my_place(struct drv_conn *conn, const char *name, bool create, struct err *err)
{
    struct my_conn *my = (struct my_conn *)conn;
    const char *quoted = sql_quote(conn->arena, '`', name);
    const char *sql =
        create ? arena_printf(conn->arena, "CREATE DATABASE %s CHARACTER SET utf8mb4", quoted)
               : arena_printf(conn->arena, "DROP DATABASE IF EXISTS %s", quoted);
    return execute(my, sql, err);
}

enum my_kind my_kind_of(const MYSQL_FIELD *field)
{
    switch ((int)field->type) { /* the header has more types than servers send */
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_YEAR: return MY_INT;
    case MYSQL_TYPE_LONGLONG: return (field->flags & UNSIGNED_FLAG) ? MY_UNSIGNED : MY_INT;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE: return MY_REAL;
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL: return MY_NUMERIC;
    case MYSQL_TYPE_BIT: return MY_BIT;
    case MYSQL_TYPE_GEOMETRY: return MY_BLOB;
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB:
    case MYSQL_TYPE_STRING:
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_VAR_STRING: return field->charsetnr == BINARY_CHARSET ? MY_BLOB : MY_TEXT;
    default: return MY_TEXT; /* dates and times, enumerations, JSON */
    }
}

static struct value decode_bits(const char *bytes, uint32_t count)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < count; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return value_int((int64_t)number);
}

struct value my_decode(enum my_kind kind, const char *text, uint32_t bytes)
{
    switch (kind) {
    case MY_INT:
    case MY_UNSIGNED:
    case MY_NUMERIC: return value_of_number(text, bytes);
    case MY_REAL: return value_of_real(text, bytes);
    case MY_BIT: return decode_bits(text, bytes);
    case MY_BLOB: return (struct value){.type = VALUE_BLOB, .bytes = bytes, .as.text = text};
    case MY_TEXT: break;
    }
    return value_text(text, bytes);
}

static bool is_string(enum my_kind kind)
{
    return kind != MY_INT && kind != MY_UNSIGNED && kind != MY_REAL;
}

/* Where one column of a result goes. */
static void bind_column(struct my_conn *my, const MYSQL_FIELD *field, MYSQL_BIND *bind,
                        struct my_cell *cell, size_t share)
{
    cell->kind = my_kind_of(field);
    *bind = (MYSQL_BIND){.length = &cell->bytes, .is_null = &cell->null, .error = &cell->cut};
    if (!is_string(cell->kind)) {
        bind->buffer_type = cell->kind == MY_REAL ? MYSQL_TYPE_DOUBLE : MYSQL_TYPE_LONGLONG;
        bind->is_unsigned = cell->kind == MY_UNSIGNED ? 1 : 0;
        bind->buffer = &cell->as;
        bind->buffer_length = sizeof(cell->as);
        return;
    }
    size_t room = field->length < share ? field->length : share;
    bool text = cell->kind == MY_TEXT || cell->kind == MY_NUMERIC;
    bind->buffer_type = text ? MYSQL_TYPE_STRING : MYSQL_TYPE_BLOB;
    bind->buffer_length = room + 1;
    cell->text = arena_array(my->set_arena, char, room + 1);
    bind->buffer = cell->text;
}

static bool bind_columns(struct my_conn *my, struct my_stmt *stmt, struct err *err)
{
    MYSQL_RES *meta = mysql_stmt_result_metadata(stmt->handle);
    if (!meta)
        return true;
    unsigned count = mysql_num_fields(meta);
    const MYSQL_FIELD *fields = mysql_fetch_fields(meta);
    size_t share =
        MY_ROW_BYTES / count < MY_INLINE_BYTES ? MY_ROW_BYTES / count : MY_INLINE_BYTES;
    stmt->column_count = (uint16_t)count;
    stmt->columns = arena_array(my->set_arena, MYSQL_BIND, count);
    stmt->cells = arena_array(my->set_arena, struct my_cell, count);
    for (unsigned i = 0; i < count; i++)
        bind_column(my, &fields[i], &stmt->columns[i], &stmt->cells[i], share);
    mysql_free_result(meta);
    if (mysql_stmt_bind_result(stmt->handle, stmt->columns) != 0)
        return err_set(err, ERR_DATABASE, "cannot bind the columns of: %.120s", stmt->sql);
    return true;
}

static bool fail_stmt(MYSQL_STMT *handle, const char *name, struct err *err)
{
    char message[DRV_ERROR_BYTES];
    int code = (int)mysql_stmt_errno(handle);
    error_copy(message, sizeof(message), mysql_stmt_error(handle));
    (void)err_set(err, ERR_DATABASE, "statement %.60s: %s (%d, SQLSTATE %s)", name, message,
                  code, mysql_stmt_sqlstate(handle));
    err->code = code;
    text_print(err->sqlstate, sizeof(err->sqlstate), "%s", mysql_stmt_sqlstate(handle));
    return false;
}

static bool prepare_one(struct my_conn *my, const struct prog_stmt *from, struct my_stmt *stmt,
                        struct err *err)
{
    stmt->sql = arena_text(my->set_arena, from->sql);
    stmt->changes = sql_changes_rows(from->sql);
    if (from->direct)
        return true;
    stmt->handle = mysql_stmt_init(my->db);
    if (!stmt->handle)
        return err_set(err, ERR_SYSTEM, "libmariadb has no memory");
    if (mysql_stmt_prepare(stmt->handle, from->sql, strlen(from->sql)) != 0)
        return fail_stmt(stmt->handle, from->name, err);
    stmt->param_count = (uint32_t)mysql_stmt_param_count(stmt->handle);
    if (stmt->param_count != from->param_count)
        return err_set(err, ERR_CONFIG,
                       "statement %.60s: the server counts %u parameters, not %u", from->name,
                       stmt->param_count, from->param_count);
    return bind_columns(my, stmt, err);
}

static void reserve_buffers(struct my_conn *my)
{
    uint32_t params = 0;
    uint16_t columns = 0;
    for (uint32_t i = 0; i < my->stmt_count; i++) {
        const struct my_stmt *stmt = &my->stmts[i];
        /* What a direct statement answers is not known before it runs. */
        uint16_t here = stmt->handle ? stmt->column_count : MY_COLUMNS_MAX;
        columns = here > columns ? here : columns;
        params = stmt->param_count > params ? stmt->param_count : params;
    }
    my->params = arena_array(my->set_arena, MYSQL_BIND, params);
    my->row = arena_array(my->set_arena, struct value, columns);
    my->row_room = columns;
}

bool my_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                struct err *err)
{
    struct my_conn *my = (struct my_conn *)conn;
    drop_set(my);
    my->set_arena = arena_create(SET_BLOCK_BYTES);
    my->stmts = arena_array(my->set_arena, struct my_stmt, count);
    for (uint32_t i = 0; i < count; i++) {
        my->stmt_count = i + 1;
        if (!prepare_one(my, &stmts[i], &my->stmts[i], err)) {
            drop_set(my);
            return false;
        }
    }
    reserve_buffers(my);
    return true;
}

static struct value first_value(struct arena *arena, MYSQL_RES *result)
{
    struct value value = {.type = VALUE_NULL};
    MYSQL_ROW row = mysql_fetch_row(result);
    const unsigned long *bytes = row ? mysql_fetch_lengths(result) : NULL;
    if (!bytes || !row[0])
        return value;
    value = my_decode(my_kind_of(mysql_fetch_fields(result)), row[0], (uint32_t)bytes[0]);
    return value_copy(arena, &value);
}

bool my_query(struct drv_conn *conn, struct arena *arena, const char *sql, struct value *value,
              uint64_t *rows, struct err *err)
{
    struct my_conn *my = (struct my_conn *)conn;
    struct value first = {.type = VALUE_NULL};
    uint64_t count = 0;
    if (!send_query(my, sql, err))
        return false;
    MYSQL_RES *result = mysql_store_result(my->db);
    if (!result && mysql_errno(my->db) != 0)
        return fail_query(my, sql, err);
    if (result) {
        count = mysql_num_rows(result);
        first = first_value(arena, result);
        mysql_free_result(result);
    }
    while (mysql_next_result(my->db) == 0) /* what a CALL still has to say */
        mysql_free_result(mysql_store_result(my->db));
    if (value)
        *value = first;
    if (rows)
        *rows = count;
    return true;
}
