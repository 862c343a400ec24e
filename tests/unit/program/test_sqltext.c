#include "base/text.h"
#include "program/sqltext.h"
#include "testing.h"

/* One text and what comes out of it for SQLite, PostgreSQL and MariaDB, "!" for a fault; then
 * the names of the parameters in order, for the engines with '?' and for PostgreSQL. */
struct row {
    const char *sql;
    const char *sqlite, *postgres, *mariadb;
    const char *params, *params_postgres;
};

static const struct row rows[] = {
    {"SELECT 1",                  "SELECT 1",                 "SELECT 1",                  "SELECT 1",            "",        ""       },
    {"",                          "",                         "",                          "",                    "",        ""       },
    {":a",                        "?",                        "$1",                        "?",                   "a",       "a"      },
    {"a=:id OR b=:id OR c=:x",    "a=? OR b=? OR c=?",        "a=$1 OR b=$1 OR c=$2",      "a=? OR b=? OR c=?",
     "id id x",                                                                                                              "id x"   },
    {":a1_b,:_c",                 "?,?",                      "$1,$2",                     "?,?",                 "a1_b _c", "a1_b _c"},
    {"':a' \":b\" 'it''s :c' :d", "':a' \":b\" 'it''s :c' ?", "':a' \":b\" 'it''s :c' $1",
     "':a' \":b\" 'it''s :c' ?",                                                                                  "d",       "d"      },
    {":n::int",                   "?::int",                   "$1::int",                   "?::int",              "n",       "n"      },
    {"x := 5, a[1:2] : y:",       "x := 5, a[1:2] : y:",      "x := 5, a[1:2] : y:",       "x := 5, a[1:2] : y:",
     "",                                                                                                                     ""       },
    {"1 -- :no '\n:y",            "1 -- :no '\n?",            "1 -- :no '\n$1",            "1 -- :no '\n?",       "y",       "y"      },
    {"/* :no ' */:yes",           "/* :no ' */?",             "/* :no ' */$1",             "/* :no ' */?",        "yes",     "yes"    },
    {"/* /* */ 1",                "/* /* */ 1",               "!",                         "/* /* */ 1",          "",        ""       },
    {"/* /* :a */ :a */",         "/* /* :a */ ? */",         "/* /* :a */ :a */",         "/* /* :a */ ? */",    "a",       ""       },
    {"/*/ :a */ :b",              "/*/ :a */ ?",              "/*/ :a */ $1",              "/*/ :a */ ?",         "b",       "b"      },
    {"$$ :a ' $$ :b",             "!",                        "$$ :a ' $$ $1",             "!",                   "",        "b"      },
    {"$x$ :a $y$ $$ $x$",         "!",                        "$x$ :a $y$ $$ $x$",         "$x$ ? $y$ $$ $x$",    "a",       ""       },
    {"a$b$ :c",                   "a$b$ ?",                   "a$b$ $1",                   "a$b$ ?",              "c",       "c"      },
    {"'a\\' :b",                  "'a\\' ?",                  "'a\\' $1",                  "!",                   "b",       "b"      },
    {"E'a\\' :b'",                "!",                        "E'a\\' :b'",                "E'a\\' :b'",          "",        ""       },
    {"TRUE'a\\' :b",              "TRUE'a\\' ?",              "TRUE'a\\' $1",              "!",                   "b",       "b"      },
    {"`:a` :b",                   "`:a` ?",                   "`$1` $2",                   "`:a` ?",              "b",       "a b"    },
    {"'a'':b'",                   "'a'':b'",                  "'a'':b'",                   "'a'':b'",             "",        ""       },
    {"\xc3\xa4:b",                "\xc3\xa4?",                "\xc3\xa4$1",                "\xc3\xa4?",           "b",       "b"      },
    {"a ? 'k'",                   "!",                        "a ? 'k'",                   "!",                   "",        ""       },
    {"@@version",                 "!",                        "@@version",                 "@@version",           "",        ""       },
    {"SELECT $1",                 "!",                        "!",                         "SELECT $1",           "",        ""       },
    {"a > :a--",                  "a > ?--",                  "a > $1--",                  "a > ?--",             "a",       "a"      },
};

/* What differs by the kind of comment: names differ too. */
static const struct row comments[] = {
    {"5--:a", "5--:a", "5--:a", "5--?", NULL, "" },
    {"# :a",  "# ?",   "# $1",  "# :a", NULL, "a"},
};

static void check(const struct row *row, enum dialect dialect, const char *sql,
                  const char *params)
{
    struct arena *arena = arena_create(4096);
    struct sqltext out = {0};
    struct err err = {0};
    bool done = sqltext_compile(arena, row->sql, dialect, &out, &err);
    print_message("%s: %s -> %s\n", dialect_name(dialect), row->sql, done ? out.sql : err.text);
    assert_int_equal(done, strcmp(sql, "!") != 0);
    if (done) {
        struct text names;
        text_init(&names, arena, 1000);
        for (uint32_t i = 0; i < out.param_count; i++)
            text_addf(&names, "%s%s", i > 0 ? " " : "", out.params[i]);
        assert_string_equal(out.sql, sql);
        if (params)
            assert_string_equal(names.at, params);
    }
    arena_destroy(&arena);
}

static void check_row(const struct row *row)
{
    check(row, DIALECT_SQLITE, row->sqlite, row->params);
    check(row, DIALECT_POSTGRES, row->postgres, row->params_postgres);
    check(row, DIALECT_MARIADB, row->mariadb, row->params);
    check(row, DIALECT_MYSQL, row->mariadb, row->params);
}

static void texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        check_row(&rows[i]);
    for (size_t i = 0; i < ARRAY_COUNT(comments); i++)
        check_row(&comments[i]);
}

static void fails(const char *sql, enum dialect dialect, const char *text)
{
    struct arena *arena = arena_create(4096);
    struct sqltext out = {.param_count = 77};
    struct err err = {0};
    assert_false(sqltext_compile(arena, sql, dialect, &out, &err));
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_string_equal(err.text, text);
    assert_int_equal(out.param_count, 77);
    arena_destroy(&arena);
}

static void faults_name_their_place(void **state)
{
    (void)state;
    fails("SELECT 'a", DIALECT_SQLITE, "column 8: the quote that begins here has no end");
    fails("SELECT\n  ?", DIALECT_SQLITE, "line 2 column 3: write :name instead of ?");
    fails("SELECT ?", DIALECT_MYSQL, "column 8: write :name instead of ?");
    fails("SELECT $2", DIALECT_POSTGRES, "column 8: write :name instead of $1");
    fails("SELECT @x", DIALECT_SQLITE, "column 8: write :name instead of @name");
    fails("SELECT $x", DIALECT_SQLITE, "column 8: write :name instead of $name");
    fails("a /* b", DIALECT_POSTGRES, "column 3: the comment that begins here has no end");
    fails("$a$ b $$", DIALECT_POSTGRES, "column 1: the $ quote that begins here has no end");
}

static void names_have_63_bytes(void **state)
{
    (void)state;
    struct arena *arena = arena_create(4096);
    struct text sql;
    text_init(&sql, arena, 1000);
    text_add(&sql, ":");
    text_add_many(&sql, 'n', 63);
    struct sqltext out;
    struct err err;
    assert_true(sqltext_compile(arena, sql.at, DIALECT_SQLITE, &out, &err));
    assert_int_equal(strlen(out.params[0]), 63);
    text_add(&sql, "n");
    assert_false(sqltext_compile(arena, sql.at, DIALECT_SQLITE, &out, &err));
    arena_destroy(&arena);
}

static void many_params(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1 << 20);
    struct text sql;
    text_init(&sql, arena, SQLTEXT_BYTES_MAX);
    for (uint32_t i = 0; i < SQLTEXT_PARAMS_MAX; i++)
        text_add(&sql, ":a,");
    struct sqltext out;
    struct err err;
    assert_true(sqltext_compile(arena, sql.at, DIALECT_SQLITE, &out, &err));
    assert_int_equal(out.param_count, SQLTEXT_PARAMS_MAX);
    text_add(&sql, ":a");
    assert_false(sqltext_compile(arena, sql.at, DIALECT_SQLITE, &out, &err));
    assert_true(sqltext_compile(arena, sql.at, DIALECT_POSTGRES, &out, &err));
    assert_int_equal(out.param_count, 1);
    arena_destroy(&arena);
}

static void length_is_bounded(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1 << 20);
    struct text sql;
    text_init(&sql, arena, (size_t)2 * SQLTEXT_BYTES_MAX);
    text_add_many(&sql, ' ', SQLTEXT_BYTES_MAX + 1);
    struct sqltext out;
    struct err err;
    assert_false(sqltext_compile(arena, sql.at, DIALECT_SQLITE, &out, &err));
    sql.at[SQLTEXT_BYTES_MAX] = '\0';
    assert_true(sqltext_compile(arena, sql.at, DIALECT_SQLITE, &out, &err));
    assert_int_equal(strlen(out.sql), SQLTEXT_BYTES_MAX);
    arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(faults_name_their_place),
        cmocka_unit_test(names_have_63_bytes),
        cmocka_unit_test(many_params),
        cmocka_unit_test(length_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
