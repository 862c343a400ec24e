/* Do so many clients fit? Asked before anything is loaded, answered with the numbers. */
#include "base/num.h"
#include "base/text.h"
#include "os/now.h"
#include "run/run_internal.h"

#include <sys/resource.h>

enum {
    OWN_FILES = 64,    /* of the program: output, pipes, reaper, control connections, /proc */
    FILES_OF_LOOP = 3, /* of a thread's event loop */
    NUMBER_BYTES = 32,
    ASK_S = 10,
};

/* "5,120" */
static const char *grouped(char buffer[NUMBER_BYTES], uint64_t number)
{
    char digits[20];
    uint32_t count = num_print_u64(digits, number);
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}

/* ---- this process */

static uint64_t files_of(const struct drv_target *target, uint64_t clients)
{
    if (target->path && strcmp(target->path, ":memory:") == 0)
        return 0;
    return clients * target->class->files;
}

static uint64_t files_needed(const struct run_options *options, uint64_t clients,
                             uint64_t threads)
{
    uint64_t files = OWN_FILES + FILES_OF_LOOP * threads;
    for (uint32_t i = 0; i < options->target_count; i++)
        files += files_of(&options->targets[i], clients);
    return files;
}

bool limits_check_process(const struct runner *runner, uint32_t clients, struct err *err)
{
    const struct run_options *options = runner->options;
    uint32_t threads = options->threads ? options->threads : runner->cpus;
    uint64_t needed = files_needed(options, clients, threads);
    struct rlimit limit;
    char numbers[3][NUMBER_BYTES];
    struct text names;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        needed <= limit.rlim_cur)
        return true;
    text_init(&names, runner->arena, 200);
    for (uint32_t i = 0; i < options->target_count; i++) {
        const struct drv_target *target = &options->targets[i];
        if (files_of(target, 1) > 0)
            text_addf(&names, "%s%s", names.bytes ? " and on " : " on ", target->label);
    }
    return err_set(err, ERR_SYSTEM,
                   "%s client%s%s need%s %s open files; the limit is %s: raise it with "
                   "ulimit -n",
                   grouped(numbers[0], clients), clients == 1 ? "" : "s", names.at,
                   clients == 1 ? "s" : "", grouped(numbers[1], needed),
                   grouped(numbers[2], limit.rlim_cur));
}

/* ---- the servers */

uint64_t limits_statements(struct arena *arena, const struct suite *suite, enum dialect dialect)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < suite->scenario_count; i++) {
        const struct suite_scenario *scenario = &suite->scenarios[i];
        struct program program;
        struct err err;
        uint64_t prepared = 0, clients = 0;
        if (!suite_compile(arena, suite, scenario, dialect, &program, &err))
            continue;
        for (uint32_t k = 0; k < program.stmt_count; k++)
            prepared += !program.stmts[k].direct;
        for (uint32_t k = 0; k < scenario->client_count; k++)
            clients = scenario->clients[k] > clients ? scenario->clients[k] : clients;
        most = prepared * clients > most ? prepared * clients : most;
    }
    return most;
}

/* A whole number that the server answers with; false: it does not tell. */
static bool ask(struct runner *runner, struct session *session, const char *sql,
                uint64_t *number)
{
    struct value value = {.type = VALUE_NULL};
    struct err err;
    struct session_question question = {.sql = sql,
                                        .due_ns = os_now_ns() + ASK_S * NS_PER_S,
                                        .value = &value};
    if (!session_query(session, &runner->overseer, &question, &err))
        return false;
    if (value.type == VALUE_TEXT)
        return num_u64((struct slice){value.as.text, value.bytes}, number);
    if (value.type != VALUE_INT || value.as.i < 0)
        return false;
    *number = (uint64_t)value.as.i;
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Two targets of one running server: their connections come on top of each other. */
static bool same_server(const struct session *a, const struct session *b)
{
    const struct drv_target *one = &a->control_target, *two = &b->control_target;
    if (a == b)
        return true;
    return !a->server && !b->server && one->dialect == two->dialect && !a->is_null &&
           same_text(one->conninfo, two->conninfo) && same_text(one->host, two->host) &&
           same_text(one->socket, two->socket) && one->port == two->port;
}

static uint32_t sessions_there(const struct runner *runner, const struct session *session)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < runner->session_count; i++)
        count += same_server(session, &runner->sessions[i]);
    return count;
}

struct room {
    const char *setting, *what; /* "max_connections", "connections" */
    uint32_t clients, targets;  /* so many of each; targets of this server */
    uint64_t most, reserved, used, needed;
};

static bool check_room(const struct session *session, const struct room *room, struct err *err)
{
    char numbers[5][NUMBER_BYTES], reserved[60] = "", times[30] = "";
    uint64_t taken = room->used + room->reserved;
    if (taken <= room->most && room->needed <= room->most - taken)
        return true;
    if (room->reserved > 0)
        text_print(reserved, sizeof reserved, ", %s are reserved",
                   grouped(numbers[0], room->reserved));
    if (room->targets > 1)
        text_print(times, sizeof times, "%u times ", room->targets);
    return err_set(err, ERR_SYSTEM,
                   "%s: %s%s client%s need%s %s %s more; the server allows %s (%s), %s are in "
                   "use%s: raise %s, or ask for fewer clients",
                   session->target.label, times, grouped(numbers[1], room->clients),
                   room->clients == 1 ? "" : "s", room->clients == 1 ? "s" : "",
                   grouped(numbers[2], room->needed), room->what,
                   grouped(numbers[3], room->most), room->setting,
                   grouped(numbers[4], room->used), reserved, room->setting);
}

static bool check_postgres(struct runner *runner, struct session *session, uint32_t clients,
                           struct err *err)
{
    static const char reserve[] =
        "SELECT current_setting('superuser_reserved_connections')::int8 "
        "+ coalesce(nullif(current_setting('reserved_connections', true), ''), '0')::int8";
    struct room room = {.setting = "max_connections",
                        .what = "connections",
                        .clients = clients,
                        .targets = sessions_there(runner, session)};
    room.needed = (uint64_t)clients * room.targets;
    if (session->facts.pooled || /* the pooler's limits are others */
        !ask(runner, session, "SELECT current_setting('max_connections')", &room.most) ||
        !ask(runner, session,
             "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
             &room.used))
        return true;
    if (!session->facts.superuser && !ask(runner, session, reserve, &room.reserved))
        room.reserved = 0;
    return check_room(session, &room, err);
}

static bool ask_status(struct runner *runner, struct session *session, const char *name,
                       uint64_t *number)
{
    const char *schema = session->target.dialect == DIALECT_MARIADB ? "information_schema"
                                                                    : "performance_schema";
    return ask(runner, session,
               arena_printf(runner->arena,
                            "SELECT variable_value FROM %s.global_status "
                            "WHERE variable_name = '%s'",
                            schema, name),
               number);
}

static bool check_mysql(struct runner *runner, struct session *session, uint32_t clients,
                        struct err *err)
{
    struct room room = {.setting = "max_connections",
                        .what = "connections",
                        .clients = clients,
                        .targets = sessions_there(runner, session)};
    room.needed = (uint64_t)clients * room.targets;
    if (ask(runner, session, "SELECT @@max_connections", &room.most) &&
        ask_status(runner, session, "Threads_connected", &room.used) &&
        !check_room(session, &room, err))
        return false;
    room.setting = "max_prepared_stmt_count";
    room.what = "prepared statements";
    room.needed = room.targets * limits_statements(runner->arena, runner->options->suite,
                                                   session->target.dialect);
    return !ask(runner, session, "SELECT @@max_prepared_stmt_count", &room.most) ||
           !ask_status(runner, session, "Prepared_stmt_count", &room.used) ||
           check_room(session, &room, err);
}

bool limits_check_servers(struct runner *runner, uint32_t clients, struct err *err)
{
    for (uint32_t i = 0; i < runner->session_count; i++) {
        struct session *session = &runner->sessions[i];
        if (!(session->target.class->caps & DRV_CAP_REMOTE))
            continue;
        bool fits = session->target.dialect == DIALECT_POSTGRES
                        ? check_postgres(runner, session, clients, err)
                        : check_mysql(runner, session, clients, err);
        if (!fits)
            return false;
    }
    return true;
}
