#include "base/arena.h"
#include "driver/driver.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    struct arena *arena;
    char folder[40], path[80];
    struct drv_target target;
};

static int setup(void **state)
{
    struct fixture *it = calloc(1, sizeof(*it));
    it->arena = arena_create(4096);
    memcpy(it->folder, "/tmp/dbdyno-pragma-XXXXXX", 26);
    assert_non_null(mkdtemp(it->folder));
    snprintf(it->path, sizeof(it->path), "%s/x.db", it->folder);
    it->target = (struct drv_target){.label = "lite",
                                     .kind = "sqlite",
                                     .path = it->path,
                                     .class = drv_find(slice_of("sqlite"))};
    *state = it;
    return 0;
}

static void remove_files(const struct fixture *it)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char other[100];
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        snprintf(other, sizeof(other), "%s%s", it->path, endings[i]);
        unlink(other);
    }
}

static int teardown(void **state)
{
    struct fixture *it = *state;
    remove_files(it);
    assert_int_equal(rmdir(it->folder), 0);
    arena_destroy(&it->arena);
    free(it);
    return 0;
}

static bool open_with(const struct fixture *it, const char *name, const char *value,
                      struct drv_conn **conn, struct err *err)
{
    struct drv_target *target = arena_new(it->arena, struct drv_target);
    struct drv_pair *pair = arena_new(it->arena, struct drv_pair);
    *pair = (struct drv_pair){name, value};
    *target = it->target;
    target->settings = pair;
    target->setting_count = 1;
    return drv_open(target, conn, err);
}

/* The shown value of a setting when two connections, one after the other, have it. */
static const char *taken(const struct fixture *it, const char *name, const char *value)
{
    struct drv_facts facts = {0};
    struct drv_conn *first = NULL, *second = NULL;
    struct err err = {0};
    const char *shown = NULL;
    if (!open_with(it, name, value, &first, &err) ||
        !open_with(it, name, value, &second, &err) ||
        !second->class->describe(second, it->arena, &facts, &err))
        fail_msg("%s=%s: %s", name, value, err.text);
    for (uint32_t i = 0; i < facts.setting_count; i++) {
        if (strcmp(facts.settings[i].name, name) == 0)
            shown = facts.settings[i].value;
    }
    drv_close(&first);
    drv_close(&second);
    remove_files(it);
    return shown;
}

static void test_taken(void **state)
{
    static const char *const cases[][3] = {
        {"synchronous",        "OFF",         "OFF"        },
        {"synchronous",        "extra",       "EXTRA"      },
        {"synchronous",        "1",           "NORMAL"     },
        {"Synchronous",        "FULL",        "FULL"       },
        {"journal_mode",       "TRUNCATE",    "truncate"   },
        {"cache_size",         "-2000",       "-2000"      },
        {"temp_store",         "memory",      "MEMORY"     },
        {"secure_delete",      "fast",        "FAST"       },
        {"page_size",          "8192",        "8192"       },
        {"auto_vacuum",        "incremental", "INCREMENTAL"},
        {"encoding",           "utf-16LE",    "UTF-16le"   },
        {"foreign_keys",       "yes",         "1"          },
        {"automatic_index",    "OFF",         "0"          },
        {"cache_spill",        "false",       "0"          },
        {"mmap_size",          "1048576",     "1048576"    },
        {"wal_autocheckpoint", "0",           "0"          },
        {"busy_timeout",       "20",          "20"         },
        {"user_version",       "7",           "7"          },
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(taken(*state, cases[i][0], cases[i][1]), cases[i][2]);
    struct drv_conn *conn = NULL;
    struct err err = {0};
    assert_true(open_with(*state, "cache_spill", "on", &conn, &err)); /* it answers a size */
    drv_close(&conn);
}

static void refused(const struct fixture *it, const char *name, const char *value,
                    const char *why)
{
    struct drv_conn *conn = NULL;
    struct err err = {0};
    if (open_with(it, name, value, &conn, &err))
        fail_msg("%s=%s was taken", name, value);
    assert_null(conn);
    assert_int_equal(err.kind, ERR_USAGE);
    if (!strstr(err.text, why))
        fail_msg("%s=%s: %s", name, value, err.text);
}

static void test_refused(void **state)
{
    static const char *const cases[][3] = {
        {"synchronous",      "banana",      "'banana'; it takes one of OFF, NORMAL, FULL, EXTRA"},
        {"synchronous",      "OFF;drop",    "does not take 'OFF;drop'"                          },
        {"synchronous",      "4",           "does not take '4'"                                 },
        {"synchronous",      "",            "does not take ''"                                  },
        {"journal_mode",     "banana",      "DELETE, TRUNCATE, PERSIST, MEMORY, WAL, OFF"       },
        {"cache_size",       "abc",         "'abc'; it takes a whole number"                    },
        {"cache_size",       "1 2",         "'1 2'"                                             },
        {"foreign_keys",     "maybe",       "'maybe'; it takes on or off"                       },
        {"foreign_keys",     "2",           "'2'; it takes on or off"                           },
        {"page_size",        "1000",        "did not take '1000'; it is 4096"                   },
        {"cache_size",       "99999999999", "did not take '99999999999'; it is"                 },
        {"secure_delete",    "2",           "did not take '2'; it is ON"                        },
        {"table_info",       "x",           "PRAGMA table_info is no setting"                   },
        {"wal_checkpoint",   "FULL",        "PRAGMA wal_checkpoint is no setting"               },
        {"writable_schema",  "on",          "PRAGMA writable_schema is no setting"              },
        {"main.synchronous", "OFF",         "no such pragma"                                    },
        {"no_such_pragma",   "1",           "set.no_such_pragma: SQLite has no such pragma"     },
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        refused(*state, cases[i][0], cases[i][1], cases[i][2]);
}

static void test_what_memory_has_not(void **state)
{
    struct fixture *it = *state;
    struct drv_conn *conn = NULL;
    struct err err = {0};
    it->target.path = ":memory:";
    refused(it, "journal_mode", "WAL", "did not take 'WAL'; it is memory");
    refused(it, "mmap_size", "4096", "did not take '4096'; it has no such setting here");
    assert_true(open_with(it, "journal_mode", "MEMORY", &conn, &err));
    drv_close(&conn);
}

static void test_a_file_keeps_its_layout(void **state)
{
    struct fixture *it = *state;
    struct drv_conn *conn = NULL;
    struct err err = {0};
    assert_true(drv_open(&it->target, &conn, &err));
    assert_true(conn->class->query(conn, it->arena, "CREATE TABLE t (x)", NULL, NULL, &err));
    drv_close(&conn);
    refused(it, "page_size", "8192", "did not take '8192'; it is 4096");
    refused(it, "auto_vacuum", "FULL", "did not take 'FULL'; it is NONE");
}

/* The file's own journal stays what the target says: no connection turns to WAL first, which
 * would need the file for itself. */
static void test_given_replaces_default(void **state)
{
    struct fixture *it = *state;
    struct drv_conn *first = NULL, *second = NULL;
    struct err err = {0};
    assert_true(open_with(it, "journal_mode", "DELETE", &first, &err));
    assert_true(first->class->query(first, it->arena, "CREATE TABLE t (x)", NULL, NULL, &err));
    assert_true(first->class->query(first, it->arena, "BEGIN IMMEDIATE", NULL, NULL, &err));
    if (!open_with(it, "journal_mode", "DELETE", &second, &err))
        fail_msg("%s", err.text);
    drv_close(&first);
    drv_close(&second);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(test_taken),
        WITH_FILE(test_refused),
        WITH_FILE(test_what_memory_has_not),
        WITH_FILE(test_a_file_keeps_its_layout),
        WITH_FILE(test_given_replaces_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
