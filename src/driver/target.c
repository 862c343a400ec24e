#include "driver/target.h"

#include "base/num.h"
#include "driver/driver_internal.h"
#include "driver/target_internal.h"
#include "os/fs.h"

#include <assert.h>
#include <string.h>

enum { LABEL_BYTES_MAX = 40, SHOWN_IN_ERRORS = 160 };

enum {
    EMBEDDED_ALLOWS = QUERY_SETTINGS | QUERY_CLIENT,
    MANAGED_ALLOWS = QUERY_SETTINGS | QUERY_CLIENT | QUERY_BIN,
};

static const struct kind {
    const char *name;
    const struct drv_class *class;
    enum dialect dialect;
    enum drv_home home;
    unsigned allows;
} kinds[] = {
    {"sqlite",   &drv_sqlite,     DIALECT_SQLITE,   DRV_HOME_EMBEDDED, EMBEDDED_ALLOWS},
    {"postgres", &drv_libpq,      DIALECT_POSTGRES, DRV_HOME_MANAGED,  MANAGED_ALLOWS },
    {"mariadb",  &drv_libmariadb, DIALECT_MARIADB,  DRV_HOME_MANAGED,  MANAGED_ALLOWS },
    {"mysql",    &drv_libmariadb, DIALECT_MYSQL,    DRV_HOME_MANAGED,  MANAGED_ALLOWS },
    {"null",     &drv_null,       DIALECT_SQLITE,   DRV_HOME_EMBEDDED, QUERY_CLIENT   },
};

static const struct kind *find_kind(struct slice name)
{
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (slice_is(name, kinds[i].name))
            return &kinds[i];
    }
    return NULL;
}

static void take_kind(struct drv_target *target, const struct kind *kind)
{
    target->kind = kind->name;
    target->class = kind->class;
    target->dialect = kind->dialect;
    target->home = kind->home;
}

static bool is_label(struct slice text)
{
    if (text.bytes == 0 || text.bytes > LABEL_BYTES_MAX)
        return false;
    for (size_t i = 0; i < text.bytes; i++) {
        char c = text.at[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c >= '0' && c <= '9') || c == '_';
        if (!word && !((c == '-' || c == '.') && i > 0))
            return false;
    }
    return true;
}

/* Takes LABEL= away from the front, when there is one. */
static struct slice take_label(struct arena *arena, struct slice text, const char **label)
{
    struct slice head, tail;
    if (!slice_split(text, '=', &head, &tail) || !is_label(head))
        return text;
    if (!*label)
        *label = arena_slice(arena, head);
    return tail;
}

static bool fail_kind(struct slice kind, struct err *err)
{
    bool plain = is_label(kind);
    bool server = slice_is(kind, "postgresql");
    return err_set(
        err, ERR_USAGE,
        "%s%.*s%s is no kind of target%s; expected [LABEL=] and sqlite, sqlite:PATH, "
        "sqlite::memory:, postgres, mariadb, mysql, null, postgresql://..., "
        "mysql://..., mariadb://..., conninfo:KEY=VALUE or @FILE",
        plain ? "'" : "this", plain ? (int)kind.bytes : 0, kind.at, plain ? "'" : "",
        server ? " (write postgres for a private server)" : "");
}

/* KIND[:PATH][?QUERY] */
static bool parse_kind(struct arena *arena, struct slice text, struct drv_target *target,
                       struct err *err)
{
    struct slice head, query, name, path;
    const char *rest;
    slice_split(text, '?', &head, &query);
    bool has_path = slice_split(head, ':', &name, &path);
    const struct kind *kind = find_kind(name);
    if (!kind)
        return fail_kind(name, err);
    take_kind(target, kind);
    if (has_path && kind->class != &drv_sqlite)
        return err_set(err, ERR_USAGE, "%s has no path%s%s", kind->name,
                       kind->home == DRV_HOME_MANAGED ? "; a running server is named by a URL, "
                                                      : "",
                       kind->home == DRV_HOME_MANAGED ? "KIND://USER@HOST:PORT/DATABASE" : "");
    if (has_path && path.bytes == 0)
        return err_set(err, ERR_USAGE,
                       "sqlite: needs a path (or write sqlite, or sqlite::memory:)");
    if (has_path && !percent_decode(arena, path, &target->path, err))
        return false;
    return query_read(arena, query, kind->allows, target, &rest, err);
}

static bool fail_encoding(struct err *err)
{
    return err_set(
        err, ERR_USAGE,
        "a port is a number (in a user or password, write : as %%3A, / as %%2F, ? as "
        "%%3F, @ as %%40, %% as %%25)");
}

static bool holds(struct slice text, char mark)
{
    return text.bytes > 0 && memchr(text.at, mark, text.bytes);
}

/* A password with a bare slash or @ makes a part of it a port or a host, which libpq would
 * quote in its message. `hosts` is what follows the user; `path` follows hosts without one. */
static bool check_hosts(struct slice hosts, struct slice path, struct err *err)
{
    struct slice host, before, query;
    uint64_t port;
    bool more = true;
    slice_split(path, '?', &before, &query);
    if (holds(hosts, '@') || (holds(hosts, ':') && holds(before, '@')))
        return fail_encoding(err);
    while (more) {
        more = slice_split(hosts, ',', &host, &hosts);
        const char *colon = host.bytes ? memrchr(host.at, ':', host.bytes) : NULL;
        struct slice digits =
            slice_skip(host, colon ? (size_t)(colon - host.at) + 1 : host.bytes);
        if (digits.bytes > 0 && !holds(digits, ']') && !num_u64(digits, &port))
            return fail_encoding(err);
    }
    return true;
}

/* libpq reads the URI itself; only what is ours is taken out of its query. The query begins
 * after the user and password, which libpq ends at the first @ before a slash. */
static bool parse_postgres(struct arena *arena, struct slice text, size_t scheme,
                           struct drv_target *target, struct err *err)
{
    struct slice body = slice_skip(text, scheme), authority, path, user, after, head, query;
    const char *rest;
    slice_split(body, '/', &authority, &path);
    bool has_user = slice_split(authority, '@', &user, &after);
    size_t start = has_user ? scheme + user.bytes + 1 : scheme;
    slice_split(has_user ? after : authority, '?', &head, &query);
    if (!check_hosts(head, has_user ? (struct slice){path.at, 0} : path, err))
        return false;
    slice_split(slice_skip(text, start), '?', &head, &query);
    take_kind(target, find_kind(slice_of("postgres")));
    target->home = DRV_HOME_RUNNING;
    if (!query_read(arena, query, QUERY_SETTINGS | QUERY_CLIENT | QUERY_REST, target, &rest,
                    err))
        return false;
    target->conninfo = arena_printf(arena, "%.*s%s", (int)(start + head.bytes), text.at, rest);
    return true;
}

static bool parse_conninfo(struct arena *arena, struct slice text, struct drv_target *target,
                           struct err *err)
{
    const char *rest;
    take_kind(target, find_kind(slice_of("postgres")));
    target->home = DRV_HOME_RUNNING;
    target->conninfo = arena_slice(arena, text);
    return query_read(arena, (struct slice){text.at, 0}, 0, target, &rest, err);
}

static bool parse_port(struct slice text, uint16_t *port, struct err *err)
{
    uint64_t number;
    if (!num_u64(text, &number) || number == 0 || number > UINT16_MAX)
        return err_set(err, ERR_USAGE,
                       "a port is a number from 1 to 65535 (in a user or password, write : as "
                       "%%3A, / as %%2F, ? as %%3F, @ as %%40, %% as %%25)");
    *port = (uint16_t)number;
    return true;
}

/* [::1]:3306, db.example:3306, or the percent-encoded path of a unix socket */
static bool parse_host(struct arena *arena, struct slice text, struct drv_target *target,
                       struct err *err)
{
    struct slice host = text, port = {text.at, 0};
    const char *name, *colon = text.bytes ? memrchr(text.at, ':', text.bytes) : NULL;
    if (slice_starts(text, "[")) {
        if (!slice_split(slice_skip(text, 1), ']', &host, &port))
            return err_set(err, ERR_USAGE,
                           "an IPv6 address is written [::1], with both brackets");
        if (port.bytes > 0 && port.at[0] != ':')
            return err_set(err, ERR_USAGE, "after [ADDRESS] comes :PORT or nothing");
        colon = port.bytes > 0 ? port.at : NULL;
    } else if (colon) {
        host.bytes = (size_t)(colon - text.at);
    }
    if (colon) {
        port = slice_skip(text, (size_t)(colon - text.at) + 1);
        if (!parse_port(port, &target->port, err))
            return false;
    }
    if (!percent_decode(arena, host, &name, err))
        return false;
    if (strchr(name, ','))
        return err_set(err, ERR_USAGE, "a %s URL names one host", target->kind);
    if (*name == '/' || *name == '@')
        target->socket = name;
    else if (*name)
        target->host = name;
    return true;
}

static bool parse_user(struct arena *arena, struct slice text, struct drv_target *target,
                       struct err *err)
{
    struct slice user, password;
    bool has_password = slice_split(text, ':', &user, &password);
    if (user.bytes > 0 && !percent_decode(arena, user, &target->user, err))
        return false;
    return !has_password || percent_decode(arena, password, &target->password, err);
}

/* mysql://USER:PASSWORD@HOST:PORT/DATABASE?… */
static bool parse_mysql(struct arena *arena, struct slice body, const char *kind,
                        struct drv_target *target, struct err *err)
{
    struct slice before, query, authority, path;
    const char *rest;
    take_kind(target, find_kind(slice_of(kind)));
    target->home = DRV_HOME_RUNNING;
    slice_split(body, '?', &before, &query);
    slice_split(before, '/', &authority, &path);
    const char *at = authority.bytes ? memrchr(authority.at, '@', authority.bytes) : NULL;
    if (at) {
        struct slice user = {authority.at, (size_t)(at - authority.at)};
        authority = slice_skip(authority, user.bytes + 1);
        if (!parse_user(arena, user, target, err))
            return false;
    }
    if (!parse_host(arena, authority, target, err))
        return false;
    if (path.bytes > 0 && memchr(path.at, '/', path.bytes))
        return err_set(err, ERR_USAGE,
                       "a %s URL has one database after the host (in a password, write / as "
                       "%%2F)",
                       kind);
    if (path.bytes > 0 && !percent_decode(arena, path, &target->database, err))
        return false;
    return query_read(arena, query, QUERY_SETTINGS | QUERY_CLIENT | QUERY_SOCKET, target, &rest,
                      err);
}

static bool check_bytes(struct slice text, bool is_conninfo, struct err *err)
{
    if (text.bytes > TARGET_BYTES_MAX)
        return err_set(err, ERR_USAGE, "a target has at most %d bytes", TARGET_BYTES_MAX);
    if (text.bytes == 0)
        return err_set(err, ERR_USAGE, "the target is empty; try sqlite or postgres");
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if ((c < ' ' || c == 0x7f) && !(is_conninfo && (c == '\n' || c == '\r' || c == '\t')))
            return err_set(err, ERR_USAGE, "a target is one line without control characters");
    }
    return true;
}

static bool parse_form(struct arena *arena, struct slice text, struct drv_target *target,
                       struct err *err)
{
    static const struct {
        const char *scheme, *mysql;
    } schemes[] = {
        {"postgresql://", NULL     },
        {"postgres://",   NULL     },
        {"mysql://",      "mysql"  },
        {"mariadb://",    "mariadb"},
    };
    if (slice_starts(text, "conninfo:"))
        return parse_conninfo(arena, slice_skip(text, strlen("conninfo:")), target, err);
    for (size_t i = 0; i < ARRAY_COUNT(schemes); i++) {
        size_t bytes = strlen(schemes[i].scheme);
        if (!slice_starts(text, schemes[i].scheme))
            continue;
        if (!schemes[i].mysql)
            return parse_postgres(arena, text, bytes, target, err);
        return parse_mysql(arena, slice_skip(text, bytes), schemes[i].mysql, target, err);
    }
    return parse_kind(arena, text, target, err);
}

static bool read_file(struct arena *arena, struct slice path, struct slice *text,
                      struct err *err)
{
    const char *content;
    size_t bytes;
    const char *name = arena_slice(arena, path);
    if (path.bytes == 0)
        return err_set(err, ERR_USAGE, "@ needs the name of a file that holds the target");
    if (!fs_read(arena, name, TARGET_BYTES_MAX, &content, &bytes, err)) {
        err->kind = ERR_USAGE;
        return false;
    }
    if (memchr(content, '\0', bytes))
        return err_set(err, ERR_USAGE, "%.200s is no text file", name);
    *text = slice_trim((struct slice){content, bytes});
    if (slice_starts(*text, "@"))
        return err_set(err, ERR_USAGE, "%.200s names another @FILE", name);
    return true;
}

/* What stands on the command line without its label, or in the file. */
static bool parse_text(struct arena *arena, struct slice text, struct drv_target *target,
                       struct err *err)
{
    if (!check_bytes(text, slice_starts(text, "conninfo:"), err))
        return false;
    target->shown = drv_redact(arena, arena_slice(arena, text));
    return parse_form(arena, text, target, err) ||
           err_wrap(err, "target %.*s", SHOWN_IN_ERRORS, target->shown);
}

bool drv_target_parse_client(struct arena *arena, const char *text, const char *client,
                             struct drv_target *target, struct err *err)
{
    struct drv_target fresh = {.client = client};
    const char *label = NULL;
    struct slice given = take_label(arena, slice_of(text), &label), left = given;
    bool from_file = slice_starts(given, "@") && given.bytes <= TARGET_BYTES_MAX;
    if (from_file) {
        if (!read_file(arena, slice_skip(given, 1), &left, err))
            return false;
        left = take_label(arena, left, &label);
    }
    if (!parse_text(arena, left, &fresh, err))
        return from_file ? err_wrap(err, "%.*s", SHOWN_IN_ERRORS, given.at) : false;
    fresh.label = label ? label : fresh.kind;
    *target = fresh;
    return true;
}

bool drv_target_parse(struct arena *arena, const char *text, struct drv_target *target,
                      struct err *err)
{
    return drv_target_parse_client(arena, text, NULL, target, err);
}
