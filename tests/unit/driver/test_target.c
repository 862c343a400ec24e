#include "base/arena.h"
#include "driver/driver.h"
#include "driver/target.h"
#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int make_arena(void **state)
{
    struct arena *arena = arena_create(4096);
    *state = arena;
    return 0;
}

static int drop_arena(void **state)
{
    struct arena *arena = *state;
    arena_destroy(&arena);
    return 0;
}

static struct drv_target parsed(struct arena *arena, const char *text)
{
    struct drv_target target;
    struct err err = {0};
    if (!drv_target_parse(arena, text, &target, &err))
        fail_msg("%s: %s", text, err.text);
    return target;
}

static struct err refused(struct arena *arena, const char *text)
{
    struct drv_target target = {.label = "untouched"};
    struct err err = {0};
    if (drv_target_parse(arena, text, &target, &err))
        fail_msg("accepted: %s", text);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_string_equal(target.label, "untouched");
    return err;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

static void test_kinds(void **state)
{
    struct drv_target target = parsed(*state, "sqlite");
    assert_string_equal(target.label, "sqlite");
    assert_string_equal(target.kind, "sqlite");
    assert_string_equal(target.shown, "sqlite");
    assert_null(target.path);
    assert_int_equal(target.home, DRV_HOME_EMBEDDED);
    assert_string_equal(target.class->name, "sqlite");
    target = parsed(*state, "sqlite:/tmp/a b@c:d.db");
    assert_string_equal(target.path, "/tmp/a b@c:d.db");
    assert_string_equal(target.shown, "sqlite:/tmp/a b@c:d.db");
    target = parsed(*state, "m=sqlite::memory:?set.cache_size=-2000&set.synchronous=NORMAL");
    assert_string_equal(target.label, "m");
    assert_string_equal(target.path, ":memory:");
    assert_int_equal(target.setting_count, 2);
    assert_string_equal(target.settings[0].name, "cache_size");
    assert_string_equal(target.settings[0].value, "-2000");
    assert_string_equal(target.settings[1].value, "NORMAL");
    target = parsed(*state, "sqlite:x%3F%25%41.db");
    assert_string_equal(target.path, "x?%A.db");
    target = parsed(*state, "null");
    assert_string_equal(target.class->name, "null");
}

static void test_managed(void **state)
{
    struct drv_target target = parsed(*state, "jit_off=postgres?set.jit=off&bin=/x%20y");
    assert_string_equal(target.label, "jit_off");
    assert_string_equal(target.kind, "postgres");
    assert_string_equal(target.bin, "/x y");
    assert_string_equal(target.settings[0].name, "jit");
    assert_string_equal(target.settings[0].value, "off");
    assert_int_equal(target.home, DRV_HOME_MANAGED);
    assert_int_equal(target.dialect, DIALECT_POSTGRES);
    assert_null(target.conninfo);
    target = parsed(*state, "mysql");
    assert_string_equal(target.kind, "mysql");
    assert_int_equal(target.dialect, DIALECT_MYSQL);
    assert_string_equal(target.class->name, "libmariadb");
    assert_int_equal(parsed(*state, "mariadb").dialect, DIALECT_MARIADB);
    assert_string_equal(parsed(*state, "postgres?client=libpq&rows=stream").class->name,
                        "libpq");
}

static void test_postgres_urls(void **state)
{
    struct drv_target target =
        parsed(*state, "postgresql://u:p%40w@h:5433/db?sslmode=disable&rows=stream&set.jit=off"
                       "&application_name=a%20b");
    assert_string_equal(
        target.conninfo,
        "postgresql://u:p%40w@h:5433/db?sslmode=disable&application_name=a%20b");
    assert_string_equal(target.shown,
                        "postgresql://u:***@h:5433/db?sslmode=disable&rows=stream&set.jit=off"
                        "&application_name=a%20b");
    assert_string_equal(target.settings[0].name, "jit");
    assert_int_equal(target.home, DRV_HOME_RUNNING);
    assert_string_equal(target.label, "postgres");
    assert_string_equal(parsed(*state, "postgres://").conninfo, "postgres://");
    assert_string_equal(parsed(*state, "a=postgres:///db?host=/run/x&rows=whole").conninfo,
                        "postgres:///db?host=/run/x");
    assert_string_equal(parsed(*state, "postgres://h1:1,h2:2,[::1]/d").conninfo,
                        "postgres://h1:1,h2:2,[::1]/d");
    /* libpq takes a ? in a password; so must what looks for the query. */
    assert_string_equal(parsed(*state, "postgres://u:a?b@h/d?rows=whole").conninfo,
                        "postgres://u:a?b@h/d");
    target = parsed(*state, "c=conninfo:host=/tmp user=me password='a b' dbname=x?y=z");
    assert_string_equal(target.conninfo, "host=/tmp user=me password='a b' dbname=x?y=z");
    assert_string_equal(target.shown, "conninfo:host=/tmp user=me password=*** dbname=x?y=z");
    assert_string_equal(parsed(*state, "conninfo:").conninfo, "");
}

static void test_mysql_urls(void **state)
{
    struct drv_target target =
        parsed(*state, "mysql://me:6IeC13B$l4@db.example:3307/shop?tls=required&rows=stream");
    assert_string_equal(target.kind, "mysql");
    assert_string_equal(target.user, "me");
    assert_string_equal(target.password, "6IeC13B$l4");
    assert_string_equal(target.host, "db.example");
    assert_string_equal(target.database, "shop");
    assert_string_equal(target.tls, "required");
    assert_int_equal(target.port, 3307);
    assert_null(target.socket);
    target = parsed(*state, "mariadb://a%40b:p%2Bq%3D%2F%3F%25%40%3A+=@[::1]:3306/");
    assert_string_equal(target.user, "a@b");
    assert_string_equal(target.password, "p+q=/?%@:+=");
    assert_string_equal(target.host, "::1");
    assert_null(target.database);
    target = parsed(*state, "mariadb://u@%2Frun%2Fm.sock/db");
    assert_string_equal(target.socket, "/run/m.sock");
    assert_null(target.host);
    assert_string_equal(target.database, "db");
    target = parsed(*state, "mariadb:///db?socket=/run/m.sock&set.sql_mode=ANSI");
    assert_string_equal(target.socket, "/run/m.sock");
    assert_string_equal(target.settings[0].value, "ANSI");
    target = parsed(*state, "mysql://u:x@y@h");
    assert_string_equal(target.password, "x@y");
    assert_null(parsed(*state, "mysql://").user);
    assert_null(parsed(*state, "mysql://h?tls=off").tls);
    assert_string_equal(parsed(*state, "mysql://:pw@h").password, "pw");
}

static void test_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "x=",
        "sqlite:",
        "sqlite?",
        "sqlite?a",
        "sqlite?=1",
        "sqlite?bin=/x",
        "null?set.a=1",
        "postgres?sslmode=disable",
        "postgres:5432",
        "null:x",
        "mysql://h:0",
        "mysql://h:65536",
        "mysql://h:x",
        "mysql://[::1",
        "mysql://[::1]x",
        "mysql://h1,h2/",
        "mysql://h/a/b",
        "mysql://u:%zz@h",
        "mysql://u:%00@h",
        "mysql://u:%4",
        "sqlite:%",
        "sqlite:a\nb",
        "mysql://h?what=1",
        "mysql://h?tls=maybe",
        "mysql://h?bin=/x",
        "mysql://h?rows=some",
        "postgres://h?bin=/x",
        "postgres?client=psql",
        "sqlite?client=wire",
        "postgres?set.=1",
        "postgres?set.a;b=1",
        "postgres?set.a=1&set.a=2",
        "postgres?bin=a&bin=b",
        "@",
        "@/nonexistent/file",
        "postgresql",
        "redis://h",
        "file:/tmp",
        "my label=sqlite",
        "SQLITE",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(texts[i], "sqlite?") == 0)
            continue; /* an empty query is harmless */
        (void)refused(*state, texts[i]);
    }
    parsed(*state, "sqlite?");
    assert_has(refused(*state, "oracle").text, "postgres, mariadb, mysql, null");
    assert_has(refused(*state, "postgres?sslmode=x").text, "bin, client, set.NAME, rows");
    assert_has(refused(*state, "postgres?rows=some").text, "whole, stream");
    assert_has(refused(*state, "postgresql").text, "write postgres");
}

static void test_limits(void **state)
{
    enum { LONG = 70000 };
    char *text = calloc(1, LONG + 1);
    memset(text, 'a', LONG);
    memcpy(text, "sqlite:", 7);
    assert_has(refused(*state, text).text, "65536");
    memset(text, '&', LONG);
    memcpy(text, "postgres?", 9);
    text[60000] = '\0';
    refused(*state, text);
    for (size_t i = 0; i < 300; i++)
        snprintf(text + 9 + 10 * i, 11, "set.a%03zu=&", i);
    text[9 + 10 * 300 - 1] = '\0';
    refused(*state, text);
    free(text);
}

static void test_files(void **state)
{
    char path[] = "/tmp/dbdyno-target-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const char content[] = "  inner=mysql://u:secret@h/d  \n\n";
    assert_int_equal(write(fd, content, sizeof(content) - 1), (int)sizeof(content) - 1);
    char text[100];
    snprintf(text, sizeof(text), "@%s", path);
    struct drv_target target = parsed(*state, text);
    assert_string_equal(target.label, "inner");
    assert_string_equal(target.password, "secret");
    assert_string_equal(target.shown, "mysql://u:***@h/d");
    snprintf(text, sizeof(text), "outer=@%s", path);
    assert_string_equal(parsed(*state, text).label, "outer");
    assert_int_equal(pwrite(fd, "@other", 6, 0), 6);
    assert_has(refused(*state, text).text, "another");
    const char two[] = "mysql://u:SECRET@h/d\nsqlite\n";
    assert_int_equal(pwrite(fd, two, sizeof(two) - 1, 0), (int)sizeof(two) - 1);
    assert_int_equal(ftruncate(fd, sizeof(two) - 1), 0);
    struct err err = refused(*state, text);
    assert_has(err.text, path);
    assert_has(err.text, "one line");
    assert_null(strstr(err.text, "SECRET"));
    assert_int_equal(pwrite(fd, "oracle", 6, 0), 6);
    assert_int_equal(ftruncate(fd, 6), 0);
    err = refused(*state, text);
    assert_has(err.text, path);
    assert_has(err.text, "'oracle' is no kind");
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_has(refused(*state, text).text, path);
    assert_int_equal(ftruncate(fd, 100), 0);
    refused(*state, text);
    close(fd);
    unlink(path);
    assert_has(refused(*state, text).text, "No such file");
}

static void test_redaction(void **state)
{
    static const char *const pairs[][2] = {
        {"postgres://u:p@h/d",                        "postgres://u:***@h/d"                },
        {"postgres://u@h/d",                          "postgres://u@h/d"                    },
        {"postgres://h:5432/d",                       "postgres://h:5432/d"                 },
        {"l=postgres://u:p w@h/d",                    "l=postgres://u:***@h/d"              },
        {"mysql://u:a/b@h/d",                         "mysql://u:***@h/d"                   },
        {"mysql://u:a?b@h/d",                         "mysql://u:***@h/d"                   },
        {"mysql://u:a@b@h/d",                         "mysql://u:***@h/d"                   },
        {"mysql://u:a#b@h/d",                         "mysql://u:***@h/d"                   },
        {"postgres://h/d?a=1&password=x&b=2",         "postgres://h/d?a=1&password=***&b=2" },
        {"postgres://h/d?pass%77ord=x&sslpassword=y",
         "postgres://h/d?pass%77ord=***&sslpassword=***"                                    },
        {"postgres://h/d?passw%zz=x",                 "postgres://h/d?passw%zz=***"         },
        {"conninfo:password=x host=h",                "conninfo:password=*** host=h"        },
        {"conninfo:password = 'x\\'y z' host=h",      "conninfo:password=*** host=h"        },
        {"conninfo:password='unfinished host=h",      "conninfo:password=***"               },
        {"conninfo:password=ab cd host=h ef",         "conninfo:password=*** host=h"        },
        {"conninfo:host=h port",                      "conninfo:host=h port"                },
        {"conninfo:dbname=postgres://u:p@h/d",        "conninfo:dbname=postgres://u:***@h/d"},
        {"conninfo:postgres://u:p@h/d",               "conninfo:postgres://u:***@h/d"       },
        {"password=x",                                "password=***"                        },
        {"host=h password=x\nuser=u",                 "host=h password=*** user=u"          },
        {"mysql:u:p@h",                               "mysql:***@h"                         },
        {"redis://:p@h",                              "redis://:***@h"                      },
        {"sqlite:/tmp/x",                             "sqlite:/tmp/x"                       },
        {"",                                          ""                                    },
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        assert_string_equal(drv_redact(*state, pairs[i][0]), pairs[i][1]);
}

/* Whatever is wrong with a target, its password is in no message. */
static void test_no_secret_in_errors(void **state)
{
    static const char *const texts[] = {
        "mysql://u:SECRET/x@h",        "mysql://u:SECRET%zz@h",
        "mysql://u:SECRET@h:x",        "mysql://u:SECRET@h?a=1",
        "mysql://u:SECRET?x@h",        "mysql:u:SECRET@h",
        "postgres://u:SECRET@h?bin=1", "redis://u:SECRET@h",
        "postgres//u:SECRET@h",        "mysql://u:SECRET@h1,h2",
        "mysql://h?password=SECRET",   "postgres?password=SECRET",
        "mysql://u:SECRET\n@h",        "l=mysql://u:SECRET@h?rows=no",
        "postgres://u:SECRET/@h/d",    "postgres://u:1/SECRET@h/d",
        "postgres://u:x@SECRET@h/d",   "postgres://u:SECRET/?x@h/d",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct err err = refused(*state, texts[i]);
        if (strstr(err.text, "SECRET"))
            fail_msg("%s: %s", texts[i], err.text);
    }
}

/* A client for targets that name none. */
static void test_client(void **state)
{
    struct drv_target target;
    struct err err = {.kind = ERR_NONE};
    static const char *const texts[] = {"postgres", "postgresql://h/d", "conninfo:host=h",
                                        "mariadb",  "a=mysql://h",      "postgres?client=wire"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_true(drv_target_parse_client(*state, texts[i], "wire", &target, &err));
        assert_string_equal(target.class->name, "wire");
        assert_string_equal(target.client, "wire");
    }
    assert_true(drv_target_parse_client(*state, "postgres?client=libpq&rows=stream", "wire",
                                        &target, &err));
    assert_string_equal(target.class->name, "libpq"); /* its own word counts */
    assert_null(parsed(*state, "postgres").client);
    assert_false(drv_target_parse_client(*state, "mariadb", "libpq", &target, &err));
    assert_has(err.text, "client of a mariadb target is libmariadb or wire, not 'libpq'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),         cmocka_unit_test(test_managed),
        cmocka_unit_test(test_postgres_urls), cmocka_unit_test(test_mysql_urls),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_client),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_files),
        cmocka_unit_test(test_redaction),     cmocka_unit_test(test_no_secret_in_errors),
    };
    return cmocka_run_group_tests(tests, make_arena, drop_arena);
}
