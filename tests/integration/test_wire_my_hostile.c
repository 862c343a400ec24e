/* links: driver
 *
 * The wire client of MariaDB against servers that say what no server should. libmariadb logs in
 * to a fake one; what that answers to the next command is the case's. */

#include "base/text.h"
#include "driver/driver.h"
#include "testing.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTEN_BACKLOG = 5, ANSWERS_MOST = 4 };

/* What is answered to one command after the other; then the server closes, or stays. */
struct script {
    struct slice answers[ANSWERS_MOST];
    unsigned count;
    bool in_pieces; /* byte by byte */
};

struct fake {
    int listener;
    uint16_t port;
    const struct script *script;
    unsigned commands; /* that came */
    pthread_t thread;
};

#define BYTES(text)            \
    {                          \
        text, sizeof(text) - 1 \
    }

/* Protocol 10, "5.5.5-10.11.0-MariaDB"; protocol 4.1, secure connection, plugins, several
 * results; columns that are known are not defined again. */
static const struct slice greeting =
    BYTES("\x59\0\0\0\x0a"
          "5.5.5-10.11.0-MariaDB\0"
          "\x07\0\0\0"
          "saltsalt\0"
          "\xfe\xf7\x21\x02\0\xff\x81\x15\0\0\0\0\0\0\x1d\0\0\0"
          "saltsaltsalt\0"
          "mysql_native_password\0");
static const struct slice welcome = BYTES("\7\0\0\2\0\0\0\2\0\0\0");

static bool send_all(int fd, struct slice bytes, bool in_pieces)
{
    while (bytes.bytes > 0) {
        ssize_t put = send(fd, bytes.at, in_pieces ? 1 : bytes.bytes, MSG_NOSIGNAL);
        if (put <= 0)
            return false;
        bytes = slice_skip(bytes, (size_t)put);
    }
    return true;
}

static bool read_packet(int fd)
{
    unsigned char head[4];
    char body[4096];
    if (recv(fd, head, sizeof(head), MSG_WAITALL) != (ssize_t)sizeof(head))
        return false;
    size_t bytes = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16;
    return bytes <= sizeof(body) &&
           (bytes == 0 || recv(fd, body, bytes, MSG_WAITALL) == (ssize_t)bytes);
}

static void *serve(void *context)
{
    struct fake *fake = context;
    const struct script *script = fake->script;
    int fd = accept4(fake->listener, NULL, NULL, SOCK_CLOEXEC);
    bool on = fd >= 0 && send_all(fd, greeting, false) && read_packet(fd) &&
              send_all(fd, welcome, false);
    for (unsigned i = 0; on && i < script->count; i++) {
        on = read_packet(fd);
        fake->commands += on;
        on = on && send_all(fd, script->answers[i], script->in_pieces);
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static struct fake fake_start(const struct script *script)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    struct fake fake = {.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                        .script = script};
    assert_true(fake.listener >= 0);
    assert_int_equal(bind(fake.listener, (struct sockaddr *)&address, bytes), 0);
    assert_int_equal(listen(fake.listener, LISTEN_BACKLOG), 0);
    assert_int_equal(getsockname(fake.listener, (struct sockaddr *)&address, &bytes), 0);
    fake.port = ntohs(address.sin_port);
    return fake;
}

static struct drv_conn *fake_open(struct arena *arena, struct fake *fake)
{
    struct drv_target *target = arena_new(arena, struct drv_target);
    struct drv_conn *conn = NULL;
    struct err err = {0};
    const char *url =
        arena_printf(arena, "mariadb://u:p@127.0.0.1:%u/?client=wire", fake->port);
    if (!drv_target_parse(arena, url, target, &err))
        fail_msg("%s", err.text);
    assert_int_equal(pthread_create(&fake->thread, NULL, serve, fake), 0);
    if (!drv_open(target, &conn, &err))
        fail_msg("%s", err.text);
    return conn;
}

static void fake_end(struct fake *fake, struct drv_conn **conn)
{
    drv_close(conn);
    pthread_join(fake->thread, NULL);
    close(fake->listener);
}

static struct drv_outcome finish(struct drv_conn *conn, enum drv_step *step)
{
    struct drv_outcome outcome = {0};
    while ((*step = conn->class->step(conn, &outcome)) == DRV_WANT_READ) {
        struct pollfd fd = {.fd = conn->class->fd(conn), .events = POLLIN};
        assert_int_equal(poll(&fd, 1, 20000), 1);
    }
    return outcome;
}

#define NUMBER "\x18\0\0\x02\3def\0\0\0\1c\0\0\x0c\x3f\0\x0b\0\0\0\3\0\0\0\0\0"
#define HEAD   "\2\0\0\1\1\1" NUMBER "\5\0\0\3\xfe\0\0\2\0"

/* Answers to a statement sent as text, which end the connection. */
static const struct {
    struct slice answer;
    const char *says;
} lethal[] = {
    {BYTES(""),                                                 "the server closed the connection"                            },
    {BYTES("\7\0\0"),                                           "the server closed the connection: in the middle of a message"},
    {BYTES("\7\0\0\1\0\0"),                                     "in the middle of a message"                                  },
    {BYTES("\xff\xff\xff\1\0\0"),                               "in the middle of a message"                                  },
    {BYTES("\7\0\0\2\0\0\0\2\0\0\0"),                           "a packet with number 2 came where another was expected"      },
    {BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"),                 "a packet with number 80 came"                                },
    {BYTES("\0\0\0\1"),                                         "a packet without any byte came"                              },
    {BYTES("\1\0\0\1\0"),                                       "a packet ends too early"                                     },
    {BYTES("\4\0\0\1\xfc\xff\xff\1"),                           "1 to 4096 columns were expected, 65535 are announced"        },
    {BYTES("\x0a\0\0\1\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1"), "are announced"                                               },
    {BYTES("\2\0\0\1\1\0"),                                     "columns without definitions came"                            },
    {BYTES("\2\0\0\1\1\1" NUMBER "\2\0\0\3\1\1"),
     "the end of the column definitions (0xfe) was expected, 0x01 came"                                                       },
    {BYTES(HEAD "\5\0\0\4\xfe\0\0\2"),                          "in the middle of a message"                                  },
    {BYTES(HEAD "\2\0\0\4\2\1"),                                "a row ends before its last column"                           },
    {BYTES(HEAD "\3\0\0\4\1\1\1"),                              "a row goes on after its last column"                         },
    {BYTES(HEAD "\2\0\0\5\1\1"),                                "a packet with number 5 came where another was expected"      },
    {BYTES("\x10\0\0\0\xff\xc7\x0f#HY000goodbye"),
     "the server ended the connection: goodbye (4039)"                                                                        },
    {BYTES("\x0f\0\0\1\xff\x1d\x04#08S01ending"),               "ending"                                                      }, /* 1053: it shuts down */
};

static void nonsense_loses_the_connection(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < ARRAY_COUNT(lethal); i++) {
        for (int pieces = 0; pieces < 2; pieces++) {
            struct script script = {{lethal[i].answer}, 1, pieces == 1};
            struct fake fake = fake_start(&script);
            struct drv_conn *conn = fake_open(arena, &fake);
            const struct prog_stmt stmt = {.name = "it", .sql = "SELECT 1", .direct = true};
            struct err err = {0};
            enum drv_step step;
            int fd = conn->class->fd(conn);
            assert_true(conn->class->prepare(conn, &stmt, 1, &err));
            for (int again = 0; again < 2; again++) {
                conn->class->submit(conn, &(struct drv_op){.depth = PROG_DECODE});
                assert_int_equal(finish(conn, &step).verdict, DRV_LOST);
                assert_int_equal(step, DRV_FAILED);
                if (!strstr(conn->class->last_error(conn), lethal[i].says))
                    fail_msg("case %zu says: %s", i, conn->class->last_error(conn));
            }
            assert_false(conn->class->prepare(conn, &stmt, 1, &err));
            assert_int_equal(err.kind, ERR_SYSTEM);
            assert_int_equal(conn->class->fd(conn), fd);
            fake_end(&fake, &conn);
        }
    }
}

/* The same while statements are prepared. */
static const struct {
    struct slice answer;
    enum err_kind kind;
    const char *says;
} unprepared[] = {
    {BYTES(""),                                            ERR_SYSTEM,   "statement it: the server closed the connection"},
    {BYTES("\1\0\0\1\1"),                                  ERR_SYSTEM,   "begins with 0x00 was expected, 0x01 came"      },
    {BYTES("\x0c\0\0\1\0\1\0\0\0\xff\xff\0\0\0\0\0"),      ERR_SYSTEM,   "65535 are announced"                           },
    {BYTES("\x0c\0\0\1\0\1\0\0\0\0\0\2\0\0\0\0\1\0\0\2x"), ERR_SYSTEM,   "ends too early"                                },
    {BYTES("\x0c\0\0\1\0\1\0\0\0\0\0\0\0\0\0\0"),          ERR_CONFIG,   "counts 0 parameters, not 1"                    },
    {BYTES("\x0d\0\0\1\xff\xb5\x05#42000many"),            ERR_DATABASE, "max_prepared_stmt_count"                       },
};

static void nonsense_stops_a_prepare(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < ARRAY_COUNT(unprepared); i++) {
        struct script script = {{unprepared[i].answer}, 1, i % 2 == 1};
        struct fake fake = fake_start(&script);
        struct drv_conn *conn = fake_open(arena, &fake);
        const struct prog_stmt stmt = {.name = "it", .sql = "SELECT ?", .param_count = 1};
        struct err err = {0};
        assert_false(conn->class->prepare(conn, &stmt, 1, &err));
        assert_int_equal(err.kind, unprepared[i].kind);
        if (!strstr(err.text, unprepared[i].says))
            fail_msg("case %zu says: %s", i, err.text);
        fake_end(&fake, &conn);
    }
}

/* The client answers with an empty packet, and goes on. */
static void a_file_that_is_asked_for_is_refused(void **state)
{
    struct arena *arena = *state;
    const struct script script = {
        {BYTES("\x0c\0\0\1\xfb/etc/passwd"), BYTES("\7\0\0\3\0\0\0\2\0\0\0"),
         BYTES("\7\0\0\1\0\0\0\2\0\0\0")},
        3,
        false
    };
    struct fake fake = fake_start(&script);
    struct drv_conn *conn = fake_open(arena, &fake);
    const struct prog_stmt stmt = {.name = "it", .sql = "SELECT 1", .direct = true};
    struct err err = {0};
    enum drv_step step;
    assert_true(conn->class->prepare(conn, &stmt, 1, &err));
    conn->class->submit(conn, &(struct drv_op){0});
    assert_int_equal(finish(conn, &step).verdict, DRV_ERROR);
    assert_int_equal(step, DRV_DONE);
    assert_non_null(strstr(conn->class->last_error(conn), "'/etc/passwd', which is refused"));
    conn->class->submit(conn, &(struct drv_op){.kind = DRV_OP_PING});
    assert_int_equal(finish(conn, &step).verdict, DRV_OK);
    fake_end(&fake, &conn);
    assert_int_equal(fake.commands, 3);
}

/* A prepared statement whose known answer comes in pieces, and a progress report before it. */
static void an_answer_may_come_in_pieces(void **state)
{
    struct arena *arena = *state;
    const struct script script = {
        {BYTES("\x0c\0\0\1\0\1\0\0\0\1\0\0\0\0\0\0" NUMBER "\5\0\0\3\xfe\0\0\2\0"),
         BYTES("\2\0\0\1\1\0\5\0\0\2\xfe\0\0\2\0\6\0\0\3\0\0\5\0\0\0\5\0\0\4\xfe\0\0\2\0"),
         BYTES("\x0c\0\0\1\xff\xff\xff\1\1\2\0\0\0\2go\2\0\0\2\1\0\5\0\0\3\xfe\0\0\2\0"
               "\5\0\0\4\xfe\0\0\2\0")},
        3,
        true
    };
    struct fake fake = fake_start(&script);
    struct drv_conn *conn = fake_open(arena, &fake);
    const struct prog_stmt stmt = {.name = "it", .sql = "SELECT 1"};
    struct err err = {0};
    enum drv_step step;
    if (!conn->class->prepare(conn, &stmt, 1, &err))
        fail_msg("%s", err.text);
    for (uint64_t rows = 2; rows-- > 0;) {
        conn->class->submit(conn, &(struct drv_op){.depth = PROG_DECODE});
        struct drv_outcome outcome = finish(conn, &step);
        if (outcome.verdict != DRV_OK)
            fail_msg("%s", conn->class->last_error(conn));
        assert_int_equal(outcome.rows, rows);
    }
    fake_end(&fake, &conn);
}

/* Definitions are kept for the first result of an execution; a second one without any is wrong.
 */
static void a_second_result_has_its_own_definitions(void **state)
{
    struct arena *arena = *state;
    const struct script script = {
        {BYTES("\x0c\0\0\1\0\1\0\0\0\1\0\0\0\0\0\0" NUMBER "\5\0\0\3\xfe\0\0\2\0"),
         BYTES("\2\0\0\1\1\0\5\0\0\2\xfe\0\0\2\0\6\0\0\3\0\0\5\0\0\0\5\0\0\4\xfe\0\0\x0a\0"
               "\2\0\0\5\1\0\5\0\0\6\xfe\0\0\2\0\6\0\0\7\0\0\5\0\0\0\5\0\0\x08\xfe\0\0\2\0")},
        2,
        false
    };
    struct fake fake = fake_start(&script);
    struct drv_conn *conn = fake_open(arena, &fake);
    const struct prog_stmt stmt = {.name = "it", .sql = "SELECT 1"};
    struct err err = {0};
    enum drv_step step;
    if (!conn->class->prepare(conn, &stmt, 1, &err))
        fail_msg("%s", err.text);
    conn->class->submit(conn, &(struct drv_op){.depth = PROG_DECODE});
    struct drv_outcome outcome = finish(conn, &step);
    assert_int_equal(step, DRV_FAILED);
    assert_int_equal(outcome.verdict, DRV_LOST);
    assert_non_null(strstr(conn->class->last_error(conn), "without definitions"));
    fake_end(&fake, &conn);
}

int main(void)
{
    struct arena *arena = arena_create(1 << 14);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(nonsense_loses_the_connection, arena),
        cmocka_unit_test_prestate(nonsense_stops_a_prepare, arena),
        cmocka_unit_test_prestate(a_file_that_is_asked_for_is_refused, arena),
        cmocka_unit_test_prestate(an_answer_may_come_in_pieces, arena),
        cmocka_unit_test_prestate(a_second_result_has_its_own_definitions, arena),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(&arena);
    return failed;
}
