/* What a MariaDB or MySQL server tells of itself. What cannot be asked stays unknown. */

#include "driver/libmariadb_internal.h"

#include <string.h>
#include <strings.h>

struct durability {
    const char *flush_log, *log_bin, *sync_binlog, *flush_method, *doublewrite;
};

static const char *ask(struct drv_conn *conn, struct arena *arena, const char *sql)
{
    struct value value = {.type = VALUE_NULL};
    struct err ignored;
    char shown[32];
    if (!my_query(conn, arena, sql, &value, NULL, &ignored) || value.type == VALUE_NULL)
        return "";
    if (value.type == VALUE_TEXT || value.type == VALUE_BLOB)
        return value.as.text;
    value_print(shown, sizeof(shown), &value);
    return arena_text(arena, shown);
}

/* "" when the server has no such variable. */
static const char *ask_variable(struct drv_conn *conn, struct arena *arena, const char *name)
{
    return ask(conn, arena, arena_printf(arena, "SELECT @@GLOBAL.%s", name));
}

static bool is(const char *text, const char *word)
{
    return strcasecmp(text, word) == 0;
}

static enum drv_tier tier_of(const struct durability *how)
{
    if (is(how->flush_method, "nosync"))
        return DRV_TIER_NONE;
    if (is(how->flush_log, "0"))
        return DRV_TIER_MEMORY; /* written and flushed once a second */
    if (is(how->flush_log, "2"))
        return DRV_TIER_CACHE; /* written at commit, flushed once a second */
    return is(how->flush_log, "") ? DRV_TIER_UNKNOWN : DRV_TIER_FSYNC;
}

static const char *tier_why(struct arena *arena, const struct durability *how)
{
    bool binlog = is(how->log_bin, "1") || is(how->log_bin, "ON");
    if (is(how->flush_log, ""))
        return "the server does not tell innodb_flush_log_at_trx_commit";
    return arena_printf(arena,
                        "innodb_flush_log_at_trx_commit=%s, innodb_flush_method=%s, "
                        "innodb_doublewrite=%s, %s%s",
                        how->flush_log, how->flush_method, how->doublewrite,
                        binlog ? "sync_binlog=" : "log_bin=OFF",
                        binlog ? how->sync_binlog : "");
}

/* All rows of name, value, source as settings. Paths and ports of the instance are left out. */
static bool read_rows(struct my_conn *my, struct arena *arena, const char *sql,
                      struct setting_list *list)
{
    static const char *const left_out[] = {
        "*dir",       "*_file",
        "*file_path", "socket",
        "port",       "hostname",
        "basedir",    "server_uuid",
        "pid_file",   "pseudo_*",
        "timestamp",  "*_basename",
        "*log_index", "character_sets_dir",
    };
    MYSQL_RES *result = NULL;
    MYSQL_ROW row;
    if (mysql_real_query(my->db, sql, strlen(sql)) != 0 ||
        !(result = mysql_store_result(my->db)))
        return false;
    while ((row = mysql_fetch_row(result))) {
        bool out = !row[0];
        for (size_t i = 0; !out && i < ARRAY_COUNT(left_out); i++)
            out = slice_glob(slice_of(row[0]), left_out[i]);
        if (!out)
            settings_add(arena, list,
                         (struct drv_setting){arena_text(arena, row[0]),
                                              arena_text(arena, row[1] ? row[1] : ""),
                                              arena_text(arena, row[2] ? row[2] : "")});
    }
    mysql_free_result(result);
    return true;
}

static void read_settings(struct my_conn *my, struct arena *arena, struct drv_facts *facts)
{
    static const char mariadb[] =
        "SELECT lower(variable_name), global_value, lower(global_value_origin) "
        "FROM information_schema.system_variables "
        "WHERE global_value_origin NOT IN ('COMPILE-TIME', 'AUTO') AND global_value IS NOT NULL "
        "AND NOT global_value <=> default_value";
    static const char mysql[] =
        "SELECT lower(i.variable_name), g.variable_value, lower(i.variable_source) "
        "FROM performance_schema.variables_info i "
        "JOIN performance_schema.global_variables g ON g.variable_name = i.variable_name "
        "WHERE i.variable_source <> 'COMPILED'";
    struct setting_list list = {0};
    if (!read_rows(my, arena, mariadb, &list))
        (void)read_rows(my, arena, mysql, &list);
    settings_finish(&list, facts);
}

static bool has_query_cache(struct drv_conn *conn, struct arena *arena)
{
    const char *type = ask_variable(conn, arena, "query_cache_type");
    const char *size = ask_variable(conn, arena, "query_cache_size");
    return *type && !is(type, "OFF") && !is(type, "0") && *size && !is(size, "0");
}

const char *my_library(struct arena *arena)
{
    return arena_printf(arena, "libmariadb %s", mysql_get_client_info());
}

bool my_describe(struct drv_conn *conn, struct arena *arena, struct drv_facts *facts,
                 struct err *err)
{
    struct my_conn *my = (struct my_conn *)conn;
    struct value version;
    if (!my_query(conn, arena, "SELECT concat(version(), ' ', @@version_comment)", &version,
                  NULL, err))
        return false;
    const char *text = version.type == VALUE_TEXT ? version.as.text : "";
    struct durability how = {
        ask_variable(conn, arena, "innodb_flush_log_at_trx_commit"),
        ask_variable(conn, arena, "log_bin"),
        ask_variable(conn, arena, "sync_binlog"),
        ask_variable(conn, arena, "innodb_flush_method"),
        ask_variable(conn, arena, "innodb_doublewrite"),
    };
    bool debug = strcasestr(text, "debug") != NULL;
    *facts = (struct drv_facts){
        .server_version = arena_printf(arena, "%s %s",
                                       strcasestr(text, "mariadb") ? "MariaDB" : "MySQL", text),
        .client_version = my_library(arena),
        .tier = tier_of(&how),
        .tier_why = tier_why(arena, &how),
        .debug_build = debug,
        .debug_why = debug ? "the version says debug" : NULL,
        .query_cache = has_query_cache(conn, arena),
        .superuser = strcmp(ask(conn, arena,
                                "SELECT count(*) > 0 FROM information_schema.user_privileges "
                                "WHERE privilege_type = 'SUPER' AND grantee = concat('''', "
                                "replace(current_user(), '@', '''@'''), '''')"),
                            "1") == 0,
    };
    read_settings(my, arena, facts);
    return true;
}
