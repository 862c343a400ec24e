/* One target of a run: what must be started is started, a fresh place is made, and at the end
 * everything of it is gone. */
#include "base/num.h"
#include "base/text.h"
#include "os/fs.h"
#include "os/now.h"
#include "run/run_internal.h"
#include "server/reaper.h"

#include <assert.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECTIONS_SPARE 8 /* control, clean-up and what a person opens beside us */

static const char *place_name(struct arena *arena)
{
    uint64_t number = os_wall_ns();
    if (getrandom(&number, sizeof number, 0) < 0)
        number ^= (uint64_t)getpid();
    return arena_printf(arena, "dbdyno_%012llx",
                        (unsigned long long)(number & UINT64_C(0xffffffffffff)));
}

/* ---- clean-up by the reaper: fields separated by a byte that no name or password has */

#define FIELD_SEPARATOR '\x1f'

static const char *field(const char *text)
{
    return text ? text : "";
}

static const char *cleanup_text(struct arena *arena, const struct drv_target *target,
                                const char *place)
{
    char s = FIELD_SEPARATOR;
    return arena_printf(arena, "place%c%s%c%s%c%s%c%s%c%s%c%s%c%s%c%u%c%s", s, place, s,
                        target->class->name, s, field(target->conninfo), s, field(target->host),
                        s, field(target->user), s, field(target->password), s,
                        field(target->socket), s, target->port, s, field(target->tls));
}

static void file_remove(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char name[4096];
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        text_print(name, sizeof name, "%s%s", path, endings[i]);
        (void)unlink(name);
    }
}

static bool place_drop(const struct drv_target *target, const char *place, struct err *err)
{
    struct drv_target bare = *target;
    struct drv_conn *conn;
    bare.place = NULL;
    if (!drv_open(&bare, &conn, err))
        return false;
    bool dropped = conn->class->place(conn, place, false, err);
    drv_close(&conn);
    return dropped;
}

static const char *next_field(struct arena *arena, struct slice *rest)
{
    struct slice head;
    (void)slice_split(*rest, FIELD_SEPARATOR, &head, rest);
    return head.bytes ? arena_slice(arena, head) : NULL;
}

void session_cleanup(const char *text)
{
    struct arena *arena = arena_create(4096);
    struct slice rest = slice_of(text);
    struct err err;
    const char *kind = next_field(arena, &rest);
    const char *name = next_field(arena, &rest);
    if (kind && name && strcmp(kind, "file") == 0)
        file_remove(name);
    if (kind && name && strcmp(kind, "place") == 0) {
        const char *class = next_field(arena, &rest);
        struct drv_target target = {.label = "clean-up",
                                    .class = drv_find(slice_of(field(class)))};
        target.conninfo = next_field(arena, &rest);
        target.host = next_field(arena, &rest);
        target.user = next_field(arena, &rest);
        target.password = next_field(arena, &rest);
        target.socket = next_field(arena, &rest);
        const char *port = next_field(arena, &rest);
        target.tls = next_field(arena, &rest);
        uint64_t number = 0;
        if (port && num_u64(slice_of(port), &number) && number <= UINT16_MAX)
            target.port = (uint16_t)number;
        if (target.class)
            (void)place_drop(&target, name, &err);
    }
    arena_destroy(&arena);
}

/* ---- opening */

/* SQLite: a private file, one that the user named and that does not exist, or memory. */
static bool open_embedded(struct session *session, struct err *err)
{
    struct drv_target *target = &session->target;
    struct stat there;
    if (target->dialect != DIALECT_SQLITE || strcmp(target->kind, "null") == 0)
        return true;
    if (!target->path) {
        if (!fs_make_temp(session->arena, "dbdyno", reaper_add_folder, reaper_drop_folder,
                          &session->folder, err))
            return err_wrap(err, "%s", target->label);
        target->path = arena_printf(session->arena, "%s/data.sqlite", session->folder);
        return true;
    }
    if (strcmp(target->path, ":memory:") == 0)
        return true;
    if (stat(target->path, &there) == 0 && there.st_size > 0)
        return err_set(err, ERR_SYSTEM,
                       "%s: %s exists and is not empty; a run makes its own tables and never "
                       "touches a database that was there: name a new file",
                       target->label, target->path);
    session->own_file = target->path;
    session->cleanup = arena_printf(session->arena, "file%c%s", FIELD_SEPARATOR, target->path);
    return reaper_add_cleanup(session->cleanup) ||
           err_set(err, ERR_USAGE, "%s: the path is longer than 16 KiB", target->label);
}

/* 'value' for a conninfo string. */
static const char *quoted(struct arena *arena, const char *value)
{
    struct text text;
    text_init(&text, arena, 4096);
    text_add_char(&text, '\'');
    for (; *value; value++) {
        if (*value == '\'' || *value == '\\')
            text_add_char(&text, '\\');
        text_add_char(&text, *value);
    }
    text_add_char(&text, '\'');
    return text.at;
}

static void address_managed(struct session *session)
{
    const struct server *server = session->server;
    struct drv_target *target = &session->target;
    struct arena *arena = session->arena;
    if (target->dialect == DIALECT_POSTGRES) {
        target->conninfo =
            arena_printf(arena, "host=%s port=%u user=%s password=%s dbname=postgres",
                         quoted(arena, server_socket(server)), server_port(server),
                         quoted(arena, server_user(server)),
                         quoted(arena, server_password(server)));
        return;
    }
    target->socket = server_socket(server);
    target->host = NULL;
    target->port = server_port(server);
    target->user = server_user(server);
    target->password = server_password(server);
}

static enum server_kind server_kind_of(const struct drv_target *target)
{
    if (target->dialect == DIALECT_POSTGRES)
        return SERVER_POSTGRES;
    return strcmp(target->kind, "mysql") == 0 ? SERVER_MYSQL : SERVER_MARIADB;
}

static bool open_managed(struct session *session, const struct run_options *options,
                         uint32_t clients_max, struct err *err)
{
    const struct drv_target *target = &session->target;
    struct server_setting *settings =
        arena_array(session->arena, struct server_setting, target->setting_count);
    for (uint32_t i = 0; i < target->setting_count; i++)
        settings[i] =
            (struct server_setting){target->settings[i].name, target->settings[i].value};
    struct server_spec spec = {
        .kind = server_kind_of(target),
        .bin = target->bin,
        .settings = settings,
        .setting_count = target->setting_count,
        .connections = clients_max + CONNECTIONS_SPARE,
        .statements = limits_statements(session->arena, options->suite, target->dialect),
        .cpus = options->pin_server,
        .cpu_count = options->pin_server_count,
        .keep = options->keep,
    };
    if (!server_start(session->arena, &spec, &session->server, err))
        return err_wrap(err, "%s", target->label);
    address_managed(session);
    return true;
}

/* A fresh schema or database; known to the reaper before it exists. */
static bool open_place(struct session *session, struct err *err)
{
    struct drv_target *target = &session->target;
    struct drv_conn *conn;
    const char *place = place_name(session->arena);
    session->control_target = drv_control_target(session->arena, target);
    if (!drv_open(&session->control_target, &conn, err))
        return err_wrap(err, "%s", target->label);
    if (target->home == DRV_HOME_RUNNING)
        session->cleanup = cleanup_text(session->arena, &session->control_target, place);
    bool told =
        !session->cleanup || reaper_add_cleanup(session->cleanup) ||
        err_set(err, ERR_USAGE, "%s: the connection text is longer than 16 KiB", target->label);
    bool made = told && conn->class->place(conn, place, true, err);
    drv_close(&conn);
    if (made) {
        session->place = place;
        target->place = session->control_target.place = place;
    }
    return made;
}

bool session_open(struct session *session, struct arena *arena, const struct drv_target *target,
                  const struct run_options *options, uint32_t clients_max, struct err *err)
{
    *session = (struct session){.target = *target, .arena = arena};
    session->is_null = strcmp(target->kind, "null") == 0;
    session->conn_room = clients_max;
    session->conns = arena_array(arena, struct drv_conn *, clients_max);
    bool ready = target->home == DRV_HOME_MANAGED
                     ? open_managed(session, options, clients_max, err)
                     : open_embedded(session, err);
    session->control_target = session->target;
    if (ready && (target->class->caps & DRV_CAP_REMOTE))
        ready = open_place(session, err);
    ready = ready && drv_open(&session->control_target, &session->control, err) &&
            session->control->class->describe(session->control, arena, &session->facts, err);
    if (ready && target->class->control)
        session->facts.client_version = target->class->library(arena);
    if (!ready) {
        session_close(session, false);
        if (err->kind == ERR_DATABASE)
            err->kind = ERR_SYSTEM; /* nothing was measured: the target is not available */
    }
    return ready;
}

/* ---- connections */

bool session_connect(struct session *session, uint64_t *connect_ns, struct err *err)
{
    uint64_t start_ns = os_now_ns();
    assert(session->conn_count < session->conn_room);
    if (!drv_open(&session->target, &session->conns[session->conn_count], err))
        return false;
    *connect_ns = os_now_ns() - start_ns;
    session->conn_count++;
    return true;
}

void session_disconnect(struct session *session, uint32_t keep_count)
{
    while (session->conn_count > keep_count)
        drv_close(&session->conns[--session->conn_count]);
}

bool session_query(struct session *session, struct overseer *overseer,
                   const struct session_question *question, struct err *err)
{
    if (!session->control && !drv_open(&session->control_target, &session->control, err))
        return false;
    assert(session->control);
    struct drv_conn *control = session->control;
    struct value value = {.type = VALUE_NULL};
    overseer_enter(overseer, control, question->due_ns);
    bool answered = control->class->query(control, session->arena, question->sql, &value,
                                          question->rows, err);
    if (overseer_leave(overseer)) {
        drv_close(&session->control);
        return err_set(err, ERR_DATABASE, "no answer within the time for it");
    }
    if (answered && question->value)
        *question->value = value;
    return answered;
}

void session_lose(struct session *session, const char *why)
{
    if (session->lost)
        return;
    text_print(session->why_lost, sizeof session->why_lost, "%s", why);
    session->lost = true;
}

/* A running server is asked by a new connection, which has a time limit of its own. */
bool session_alive(struct session *session)
{
    char how[120] = "", why[200];
    struct err err;
    if (session->lost)
        return false;
    if (session->server && !server_alive(session->server, how, sizeof how)) {
        text_print(why, sizeof why, "the server ended: %s", how);
        session_lose(session, why);
    } else if (session->target.home == DRV_HOME_RUNNING) {
        drv_close(&session->control);
        if (!drv_open(&session->control_target, &session->control, &err))
            session_lose(session, err.text);
    }
    return !session->lost;
}

static const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/"
                         : arena_slice(arena, (struct slice){path, (size_t)(slash - path)});
}

const char *session_data_folder(const struct session *session)
{
    if (session->server)
        return server_folder(session->server);
    if (session->own_file)
        return folder_of(session->arena, session->own_file);
    return session->folder;
}

/* ---- the end */

static void close_place(struct session *session, bool keep)
{
    struct err err;
    if (keep || !session->place || session->target.home != DRV_HOME_RUNNING)
        return;
    /* A place that cannot be dropped now stays known to the reaper, which tries again. */
    if (place_drop(&session->control_target, session->place, &err) && session->cleanup) {
        reaper_drop_cleanup(session->cleanup);
        session->cleanup = NULL;
    }
}

void session_close(struct session *session, bool keep)
{
    struct err err;
    session_disconnect(session, 0);
    drv_close(&session->control);
    close_place(session, keep);
    if (session->server)
        server_stop(&session->server);
    if (session->folder) {
        if (keep || fs_remove_tree(session->folder, &err))
            reaper_drop_folder(session->folder);
        session->folder = NULL;
    }
    if (session->own_file && !keep)
        file_remove(session->own_file);
    if (session->cleanup && (keep || session->own_file)) {
        reaper_drop_cleanup(session->cleanup);
        session->cleanup = NULL;
    }
}
