/* links: driver
 *
 * PostgreSQL's wire client against servers that break the protocol, in a thread of this
 * program: they log the client in and prepare its statement as they should. */

#include "base/text.h"
#include "driver/driver.h"
#include "os/now.h"
#include "testing.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ONE_COLUMN "T\0\0\0\34\0\1one\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\0"
#define BOUND      "2\0\0\0\4"
#define ROW        "D\0\0\0\13\0\1\0\0\0\0017"
#define DONE       "C\0\0\0\rSELECT 1\0"
#define READY      "Z\0\0\0\5I"
#define LOGGED_IN  "R\0\0\0\10\0\0\0\0K\0\0\0\14\0\0\0\1\0\0\0\1" READY
#define FORGOTTEN  "C\0\0\0\23DEALLOCATE ALL\0" READY
#define PREPARED   "1\0\0\0\4t\0\0\0\6\0\0" ONE_COLUMN READY

struct script {
    const char *bytes;
    size_t count;
    bool trickles;     /* byte by byte */
    const char *words; /* of the error; NULL: a right answer */
};

#define SCRIPT(text, words)                  \
    {                                        \
        text, sizeof(text) - 1, false, words \
    }
#define AFTER(text, words) SCRIPT(BOUND ONE_COLUMN text, words)

struct fake {
    char folder[32], path[64], conninfo[128];
    int listener;
    pthread_t thread;
    const struct script *script;
};

static void put(int fd, const char *at, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        at += sent;
        bytes -= (size_t)sent;
    }
}

static bool get(int fd, unsigned char *at, size_t bytes)
{
    for (size_t have = 0; have < bytes;) {
        ssize_t got = recv(fd, at + have, bytes - have, 0);
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return true;
}

/* A message of the client; the first one has no type. '\0' at the end. */
static char next(int fd, bool first, bool *bound)
{
    unsigned char head[5] = {'!'}, body[2000];
    if (!get(fd, head + first, 5 - (size_t)first))
        return '\0';
    size_t length = (size_t)head[3] << 8 | head[4];
    if (length < 4 || length > sizeof body || !get(fd, body, length - 4))
        return '\0';
    *bound = *bound || head[0] == 'B';
    return (char)head[0];
}

static void perform(int fd, const struct script *script)
{
    for (size_t i = 0; script->trickles && i < script->count; i++) {
        put(fd, script->bytes + i, 1);
        os_sleep_ns(NS_PER_MS / 4);
    }
    if (!script->trickles)
        put(fd, script->bytes, script->count);
}

static void *serve(void *context)
{
    struct fake *fake = context;
    bool bound = false;
    int fd = accept(fake->listener, NULL, NULL);
    if (next(fd, true, &bound) == '!') /* the typeless StartupMessage */
        put(fd, LOGGED_IN, sizeof(LOGGED_IN) - 1);
    for (;;) {
        char type = next(fd, false, &bound);
        if (type == 'Q')
            put(fd, FORGOTTEN, sizeof(FORGOTTEN) - 1);
        else if (type == 'S' && !bound)
            put(fd, PREPARED, sizeof(PREPARED) - 1);
        else if (type == 'S' || type == '\0' || type == 'X')
            break;
    }
    if (bound)
        perform(fd, fake->script);
    close(fd);
    return NULL;
}

static void fake_begin(struct fake *fake, const struct script *script)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *fake = (struct fake){.folder = "/tmp/dbdyno-fake-XXXXXX", .script = script};
    assert_non_null(mkdtemp(fake->folder));
    text_print(fake->path, sizeof fake->path, "%s/.s.PGSQL.5432", fake->folder);
    text_print(fake->conninfo, sizeof fake->conninfo, "host=%s port=5432 user=u dbname=d",
               fake->folder);
    text_print(address.sun_path, sizeof address.sun_path, "%s", fake->path);
    fake->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fake->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fake->listener, 1), 0);
    assert_int_equal(pthread_create(&fake->thread, NULL, serve, fake), 0);
}

static void fake_end(struct fake *fake)
{
    pthread_join(fake->thread, NULL);
    close(fake->listener);
    unlink(fake->path);
    rmdir(fake->folder);
}

struct sum {
    struct drv_sink sink;
    int64_t sum;
};

static void add(struct drv_sink *sink, const struct value *values, uint16_t count)
{
    for (uint16_t i = 0; values && i < count; i++)
        ((struct sum *)sink)->sum += values[i].as.i;
}

static enum drv_step finish(struct drv_conn *conn, struct drv_outcome *outcome)
{
    for (;;) {
        enum drv_step step = conn->class->step(conn, outcome);
        if (step == DRV_DONE || step == DRV_FAILED)
            return step;
        struct pollfd fd = {.fd = conn->class->fd(conn), .events = POLLIN};
        assert_int_equal(poll(&fd, 1, 20000), 1);
    }
}

static struct drv_conn *connect_to(struct arena *arena, struct drv_target *target,
                                   const char *conninfo, const char *options)
{
    struct err err = {0};
    struct drv_conn *conn = NULL;
    const struct prog_stmt stmt = {.name = "it", .sql = "SELECT 7"};
    const char *url = arena_printf(arena, "postgresql:///?client=wire%s", options);
    if (!drv_target_parse(arena, url, target, &err))
        fail_msg("%s", err.text);
    target->conninfo = conninfo;
    if (!drv_open(target, &conn, &err) || !conn->class->prepare(conn, &stmt, 1, &err))
        fail_msg("%s", err.text);
    return conn;
}

static void check_lost(struct drv_conn *conn, const char *words)
{
    struct drv_outcome outcome;
    const char *error = conn->class->last_error(conn);
    print_message("             %s\n", error);
    if (!strstr(error, words))
        fail_msg("'%s' is not in: %s", words, error);
    for (int again = 0; again < 2; again++) { /* and it stays lost */
        conn->class->submit(conn, &(struct drv_op){0});
        assert_int_equal(finish(conn, &outcome), DRV_FAILED);
        assert_int_equal(outcome.verdict, DRV_LOST);
    }
}

static void check(struct arena *arena, const struct script *script, bool sink,
                  enum prog_depth depth)
{
    struct fake fake;
    struct drv_target target;
    struct drv_outcome outcome;
    struct sum sum = {.sink = {add}};
    fake_begin(&fake, script);
    struct drv_conn *conn = connect_to(arena, &target, fake.conninfo, "&message_bytes=1000000");
    struct drv_op op = {.depth = depth, .sink = sink ? &sum.sink : NULL};
    conn->class->submit(conn, &op);
    enum drv_step step = finish(conn, &outcome);
    if (script->words) {
        assert_int_equal(step, DRV_FAILED);
        assert_int_equal(outcome.verdict, DRV_LOST);
        check_lost(conn, script->words);
    } else {
        if (step != DRV_DONE || outcome.verdict != DRV_OK)
            fail_msg("%s", conn->class->last_error(conn));
        assert_int_equal(outcome.rows, 1);
        assert_true(!sink || depth != PROG_DECODE || sum.sum == 7);
    }
    drv_close(&conn);
    fake_end(&fake);
}

static const struct script scripts[] = {
    AFTER(ROW DONE READY, NULL),
    {BOUND ONE_COLUMN ROW DONE READY, sizeof(BOUND ONE_COLUMN ROW DONE READY) - 1, true, NULL},
    SCRIPT("N\0\0\0\21SNOTICE\0Mhi\0\0" BOUND ROW "S\0\0\0\10a\0b\0" DONE READY, NULL),
    SCRIPT("", "closed the connection"),
    AFTER("", "closed the connection"),
    AFTER("D\0\0\0\13\0\1\0\0", "in the middle of a message"),
    AFTER("D\177\377\377\377\0\1", "2147483647 bytes, at most 1000000"),
    AFTER("D\377\377\377\377\0\1", "4294967295 bytes, at most"),
    AFTER("D\0\0\0\3\0\1", "3 bytes, at least 4"),
    AFTER("C\0\0\165\61SELECT", "at most 30000"),
    AFTER("D\0\0\0\20\0\2\0\0\0\0017\0\0\0\0018", "2 came, 1 were announced"),
    AFTER("D\0\0\0\6\0\0", "0 came, 1 were announced"),
    AFTER("D\0\0\0\6\377\377", "65535 came, 1 were announced"),
    AFTER("D\0\0\0\5\0", "another number of columns"),
    AFTER(ROW READY, "where the statement's end was expected"),
    AFTER(ROW DONE "Z\0\0\0\6II", "one byte"),
    AFTER("d\0\0\0\5x", "where none was announced"),
    AFTER("W\0\0\0\7\0\0\0", "not expected here"),
    AFTER("s\0\0\0\4", "not expected here"),
    AFTER("?\0\0\0\4", "unknown"),
    AFTER("E\0\0\0\6Sx", "too early"),
    AFTER("C\0\0\0\6OK", "too early"),
    AFTER("T\0\0\0\6\377\377", "number of columns is negative"),
    SCRIPT(BOUND "T\0\0\0\3\0\1" ROW DONE READY, "3 bytes, at least 4"),
    SCRIPT("HTTP/1.1 400 Bad Request\r\n\r\n", "not PostgreSQL's protocol"),
    SCRIPT("\0\0\0\0\0\0\0\0", "0x00"),
    SCRIPT("E\0\0\0\43SFATAL\0C57P01\0Mgo away please\0\0", "FATAL: go away please"),
};

static void hostile_answers_are_told(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < ARRAY_COUNT(scripts); i++) {
        for (int way = 0; way < 4; way++)
            check(arena, &scripts[i], way % 2, way < 2 ? PROG_DECODE : PROG_DRAIN);
    }
}

static const struct script value_scripts[] = {
    AFTER("D\0\0\0\13\0\1\0\0\0\0027", "longer than its row"),
    AFTER("D\0\0\0\13\0\1\177\377\377\3777", "longer than its row"),
    AFTER("D\0\0\0\13\0\1\377\377\377\3767", "length is negative"),
    AFTER("D\0\0\0\10\0\1\0\0", "too early"),
    AFTER("D\0\0\0\14\0\1\0\0\0\00178", "bytes are left"),
};

/* Of values that somebody looks at. */
static void hostile_values_are_told(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < ARRAY_COUNT(value_scripts); i++) {
        for (int way = 0; way < 4; way++)
            check(arena, &value_scripts[i], way % 2, way < 2 ? PROG_DECODE : PROG_WALK);
    }
}

static int make_arena(void **state)
{
    *state = arena_create(1 << 16);
    return 0;
}

static int end_arena(void **state)
{
    arena_destroy((struct arena **)state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_answers_are_told),
        cmocka_unit_test(hostile_values_are_told),
    };
    return cmocka_run_group_tests(tests, make_arena, end_arena);
}
