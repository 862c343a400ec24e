#include "driver/driver.h"

#include "driver/driver_internal.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONN_BLOCK_BYTES = 2048 };

const struct drv_class *const drv_classes[] = {
    &drv_sqlite, &drv_libpq, &drv_libmariadb, &drv_null, NULL,
};

/* What ?client= may name, by the dialect of the target. */
static const struct client_of {
    enum dialect dialect;
    const struct drv_class *class;
} clients[] = {
    {DIALECT_SQLITE,   &drv_sqlite    },
    {DIALECT_POSTGRES, &drv_libpq     },
    {DIALECT_POSTGRES, &drv_wire_pg   },
    {DIALECT_MARIADB,  &drv_libmariadb},
    {DIALECT_MARIADB,  &drv_wire_my   },
    {DIALECT_MYSQL,    &drv_libmariadb},
    {DIALECT_MYSQL,    &drv_wire_my   },
};

const struct drv_class *drv_find_client(enum dialect dialect, struct slice name)
{
    for (size_t i = 0; i < ARRAY_COUNT(clients); i++) {
        if (clients[i].dialect == dialect && slice_is(name, clients[i].class->name))
            return clients[i].class;
    }
    return NULL;
}

const struct drv_class *drv_find(struct slice name)
{
    for (size_t i = 0; drv_classes[i]; i++) {
        if (slice_is(name, drv_classes[i]->name))
            return drv_classes[i];
    }
    return NULL;
}

const char *drv_tier_name(enum drv_tier tier)
{
    switch (tier) {
    case DRV_TIER_UNKNOWN: break;
    case DRV_TIER_NONE: return "none";
    case DRV_TIER_MEMORY: return "memory";
    case DRV_TIER_CACHE: return "page cache";
    case DRV_TIER_FSYNC: return "fsync";
    }
    return "unknown";
}

bool drv_open(const struct drv_target *target, struct drv_conn **conn, struct err *err)
{
    const struct drv_class *class = target->class;
    assert(class && class->abi == DRV_ABI && class->conn_bytes >= sizeof(struct drv_conn));
    struct arena *arena = arena_create(CONN_BLOCK_BYTES);
    struct drv_conn *fresh = arena_alloc(arena, class->conn_bytes, _Alignof(max_align_t));
    *fresh = (struct drv_conn){class, target, arena, target->options, 0};
    if (!class->open(fresh, err)) {
        drv_close(&fresh);
        return false;
    }
    *conn = fresh;
    return true;
}

void drv_close(struct drv_conn **conn)
{
    if (!*conn)
        return;
    struct arena *arena = (*conn)->arena; /* the connection itself lives in it */
    (*conn)->class->close(*conn);
    arena_destroy(&arena);
    *conn = NULL;
}

static const char *skip_line(const char *sql)
{
    const char *end = strchr(sql, '\n');
    return end ? end + 1 : sql + strlen(sql);
}

static const char *skip_block(const char *sql)
{
    const char *end = strstr(sql + 2, "*/");
    return end ? end + 2 : sql + strlen(sql);
}

static const char *skip_space(const char *sql)
{
    for (;;) {
        if (*sql != '\0' && strchr(" \t\r\n(;", *sql))
            sql++;
        else if (strncmp(sql, "--", 2) == 0 || *sql == '#')
            sql = skip_line(sql);
        else if (strncmp(sql, "/*", 2) == 0)
            sql = skip_block(sql);
        else
            return sql;
    }
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

bool sql_changes_rows(const char *sql)
{
    static const char *const words[] = {"insert",  "update", "delete",
                                        "replace", "merge",  "with"};
    sql = skip_space(sql);
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        size_t bytes = strlen(words[i]);
        if (strncasecmp(sql, words[i], bytes) == 0 && !is_word(sql[bytes]))
            return true;
    }
    return false;
}

const char *sql_quote(struct arena *arena, char quote, const char *name)
{
    struct text text;
    text_init(&text, arena, 2 * strlen(name) + 2);
    text_add_char(&text, quote);
    for (; *name; name++) {
        if (*name == quote)
            text_add_char(&text, quote);
        text_add_char(&text, *name);
    }
    text_add_char(&text, quote);
    return text.at;
}

const char *error_copy(char *buffer, size_t room, const char *message)
{
    return error_copy_slice(buffer, room, slice_of(message));
}

const char *error_copy_slice(char *buffer, size_t room, struct slice message)
{
    size_t at = 0;
    for (struct slice left = slice_trim(message); left.bytes > 0 && at + 1 < room;
         left = slice_skip(left, 1)) {
        unsigned char c = (unsigned char)left.at[0];
        bool blank = c < ' ' || c == 0x7f;
        if (!blank)
            buffer[at++] = (char)c;
        else if (at > 0 && buffer[at - 1] != ' ')
            buffer[at++] = ' ';
    }
    buffer[at] = '\0';
    return buffer;
}

bool sever_ready(int *sever_fd, int fd, struct err *err)
{
    *sever_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return *sever_fd >= 0 || err_errno(err, "keeping a second descriptor of a connection");
}

void sever_now(int sever_fd)
{
    if (sever_fd > 0)
        (void)shutdown(sever_fd, SHUT_RDWR);
}

void sever_done(int *sever_fd)
{
    if (*sever_fd > 0)
        close(*sever_fd);
    *sever_fd = 0;
}

void settings_add(struct arena *arena, struct setting_list *list, struct drv_setting setting)
{
    if (secret_name(slice_of(setting.name)))
        return;
    list->at = arena_grow(arena, list->at, list->count, &list->room, list->count + 1,
                          sizeof(*list->at));
    list->at[list->count++] = setting;
}

static int setting_order(const void *left, const void *right)
{
    const struct drv_setting *a = left, *b = right;
    return strcmp(a->name, b->name);
}

void settings_finish(struct setting_list *list, struct drv_facts *facts)
{
    if (list->count > 1)
        qsort(list->at, list->count, sizeof(*list->at), setting_order);
    facts->settings = list->at;
    facts->setting_count = (uint32_t)list->count;
}
