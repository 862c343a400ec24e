/* What a PostgreSQL server tells of itself. Engines that only speak its protocol may not know
 * all of it: what cannot be asked stays unknown. */

#include "driver/libpq_internal.h"

#include <string.h>

struct durability {
    const char *fsync, *commit, *full_page_writes;
};

static const char *ask(struct drv_conn *conn, struct arena *arena, const char *sql)
{
    struct value value = {.type = VALUE_NULL};
    struct err ignored;
    if (!pq_query(conn, arena, sql, &value, NULL, &ignored) || value.type != VALUE_TEXT)
        return "";
    return value.as.text;
}

static const char *ask_setting(struct drv_conn *conn, struct arena *arena, const char *name)
{
    return ask(conn, arena, arena_printf(arena, "SELECT current_setting('%s', true)", name));
}

static enum drv_tier tier_of(const struct durability *how)
{
    if (!*how->fsync || !*how->commit)
        return DRV_TIER_UNKNOWN;
    if (strcmp(how->fsync, "off") == 0)
        return DRV_TIER_NONE; /* a crash of the system may ruin the cluster */
    if (strcmp(how->commit, "off") == 0)
        return DRV_TIER_MEMORY; /* acknowledged before it is written */
    return DRV_TIER_FSYNC;
}

/* Rows of name, setting, source as one text: unit and record separators never occur in them. */
static void read_settings(struct drv_conn *conn, struct arena *arena, struct drv_facts *facts)
{
    static const char sql[] =
        "SELECT string_agg(name || chr(31) || coalesce(current_setting(name, true), '') || "
        "chr(31) || source, chr(30) ORDER BY name) FROM pg_settings "
        "WHERE source NOT IN ('default', 'override') AND setting IS DISTINCT FROM boot_val "
        "AND name NOT IN ('application_name', 'search_path', 'port', 'data_directory', "
        "'config_file', 'hba_file', 'ident_file', 'unix_socket_directories', "
        "'external_pid_file')";
    struct setting_list list = {0};
    struct slice left = slice_of(ask(conn, arena, sql));
    while (left.bytes > 0) {
        struct slice line, name, value, source;
        slice_split(left, '\x1e', &line, &left);
        slice_split(line, '\x1f', &name, &line);
        slice_split(line, '\x1f', &value, &source);
        /* Commands may have a password in them. */
        bool command = slice_glob(name, "*_command");
        settings_add(arena, &list,
                     (struct drv_setting){arena_slice(arena, name),
                                          command ? "(set)" : arena_slice(arena, value),
                                          arena_slice(arena, source)});
    }
    settings_finish(&list, facts);
}

const char *pq_library(struct arena *arena)
{
    int version = PQlibVersion();
    return arena_printf(arena, "libpq %d.%d", version / 10000, version % 10000);
}

/* A pooler answers the login with a process number of its own, and questions from a server's.
 */
static bool is_pooled(struct drv_conn *conn, struct arena *arena)
{
    const struct pq_conn *c = (const struct pq_conn *)conn;
    const char *told = arena_printf(arena, "%d", PQbackendPID(c->db));
    return strcmp(ask(conn, arena, "SELECT pg_backend_pid()::text"), told) != 0;
}

bool pq_describe(struct drv_conn *conn, struct arena *arena, struct drv_facts *facts,
                 struct err *err)
{
    struct value version;
    if (!pq_query(conn, arena, "SELECT version()", &version, NULL, err))
        return false;
    struct durability how = {
        ask_setting(conn, arena, "fsync"),
        ask_setting(conn, arena, "synchronous_commit"),
        ask_setting(conn, arena, "full_page_writes"),
    };
    bool debug = strcmp(ask_setting(conn, arena, "debug_assertions"), "on") == 0;
    enum drv_tier tier = tier_of(&how);
    *facts = (struct drv_facts){
        .server_version = version.type == VALUE_TEXT ? version.as.text : "",
        .client_version = pq_library(arena),
        .tier = tier,
        .tier_why = tier == DRV_TIER_UNKNOWN
                        ? "the server does not tell fsync and synchronous_commit"
                        : arena_printf(arena,
                                       "fsync=%s, synchronous_commit=%s, "
                                       "full_page_writes=%s",
                                       how.fsync, how.commit, how.full_page_writes),
        .debug_build = debug,
        .debug_why = debug ? "debug_assertions=on" : NULL,
        .superuser = strcmp(ask_setting(conn, arena, "is_superuser"), "on") == 0,
        .pooled = is_pooled(conn, arena),
    };
    read_settings(conn, arena, facts);
    return true;
}
