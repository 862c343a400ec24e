#include "fake/sample_record.h"
#include "report/report.h"
#include "testing.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create(1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static const char *fill(const char *document)
{
    struct text out;
    struct err err = {0};
    text_init(&out, arena, 1 << 24);
    if (!report_fill(sample_record(arena), document, strlen(document), &out, &err))
        fail_msg("%s", err.text);
    return out.at;
}

static void expect_fault(const char *document, const char *fault)
{
    struct text out;
    struct err err = {0};
    text_init(&out, arena, 1 << 24);
    assert_false(
        report_fill(sample_failed_record(arena), document, strlen(document), &out, &err));
    assert_int_equal(out.bytes, 0);
    assert_int_equal(err.kind, ERR_CONFIG);
    if (!strstr(err.text, fault))
        fail_msg("expected \"%s\" in \"%s\"", fault, err.text);
}

static void figures_are_filled_in(void **state)
{
    (void)state;
    assert_string_equal(
        fill("A <!-- dbdyno:id_point/postgres/service_ns/p50 -->?<!-- /dbdyno --> "
             "B"),
        "A <!-- dbdyno:id_point/postgres/service_ns/p50 -->45.2 us<!-- /dbdyno "
        "--> B");
    assert_string_equal(
        fill(
            "<!-- dbdyno:concurrent/sqlite,clients=8/throughput_per_s/value --><!-- /dbdyno -->"
            "<!-- dbdyno:transaction200#commit/sqlite/service_ns/mean -->x\ny<!-- /dbdyno -->"),
        "<!-- dbdyno:concurrent/sqlite,clients=8/throughput_per_s/value -->298,765/s<!-- /dbdyno "
        "--><!-- dbdyno:transaction200#commit/sqlite/service_ns/mean -->181 us<!-- /dbdyno -->");
    assert_non_null(strstr(fill("<!-- dbdyno:scan_users/sqlite/rows/value --><!-- /dbdyno -->"),
                           ">10,000<"));
    assert_non_null(
        strstr(fill("<!-- dbdyno:id_point/sqlite/service_ns/n --><!-- /dbdyno -->"), ">7<"));
    assert_string_equal(fill("no marker\n"), "no marker\n");
    assert_string_equal(fill(""), "");
}

static void blocks_are_filled_in(void **state)
{
    (void)state;
    static const char *const names[] = {"table",   "relations", "floors", "host",
                                        "targets", "terminal",  "answer"};
    for (size_t i = 0; i < 7; i++) {
        struct err err = {0};
        const char *once =
            fill(arena_printf(arena, "# Title\n<!-- dbdyno:%s --><!-- /dbdyno -->\nend\n",
                              names[i]));
        assert_string_equal(once, fill(once));
        assert_int_equal(report_fill_check(arena, once, strlen(once), &err), 1);
        assert_non_null(strstr(once, "<!-- /dbdyno -->\nend\n"));
    }
    assert_non_null(
        strstr(fill("<!-- dbdyno:table --><!-- /dbdyno -->"), "\n| id_point | 1 |"));
}

static void examples_in_code_are_left_alone(void **state)
{
    (void)state;
    const char *document =
        "```\n<!-- dbdyno:nonsense -->\n```\n~~~ md\n```\n<!-- /dbdyno -->\n~~~\n"
        "<!-- dbdyno:id_point/sqlite/service_ns/n -->7<!-- /dbdyno -->\n";
    struct err err = {0};
    assert_string_equal(fill(document), document);
    assert_int_equal(report_fill_check(arena, document, strlen(document), &err), 1);
}

static void faults_name_their_line(void **state)
{
    (void)state;
    expect_fault("a\n\n<!-- dbdyno:table -->\n",
                 "line 3: no \"<!-- /dbdyno -->\" for the marker");
    expect_fault("a\n<!-- /dbdyno -->", "line 2: \"<!-- /dbdyno -->\" without a marker");
    expect_fault(
        "<!-- dbdyno:table -->\n\n<!-- dbdyno:host -->x<!-- /dbdyno --><!-- /dbdyno -->",
        "line 3: another marker begins inside of the one of line 1");
    expect_fault("<!-- dbdyno:tables -->x<!-- /dbdyno -->",
                 "line 1: unknown marker \"tables\"");
    expect_fault("\n<!-- dbdyno:tab\n-->x<!-- /dbdyno -->",
                 "line 2: the marker has no \"-->\"");
    expect_fault("<!-- dbdyno:a/sqlite/service_ns/p50 -->x<!-- /dbdyno -->",
                 "line 1: the record has no a on sqlite");
    expect_fault("<!-- dbdyno:concurrent/sqlite,clients=9/service_ns/p50 -->x<!-- /dbdyno -->",
                 "no concurrent on sqlite");
    expect_fault("<!-- dbdyno:concurrent/sqlite,cl=9/service_ns/p50 -->x<!-- /dbdyno -->",
                 "expected clients=N after the target, got \"cl=9\"");
    expect_fault("<!-- dbdyno:id_point/sqlite/service_ns/p42 -->x<!-- /dbdyno -->",
                 "expected METRIC/STAT");
    expect_fault("<!-- dbdyno:id_point/sqlite/service_ns/p99 -->x<!-- /dbdyno -->",
                 "service_ns of id_point on sqlite has no p99");
    expect_fault("<!-- dbdyno:id_point/sqlite/fsyncs/value -->x<!-- /dbdyno -->",
                 "has no metric fsyncs");
    expect_fault("<!-- dbdyno:id_point/postgres/service_ns/p50 -->x<!-- /dbdyno -->",
                 "id_point on postgres has no result: rows: expected 1, found 2");
    expect_fault("<!-- dbdyno:catalog/sqlite/service_ns/p50 -->x<!-- /dbdyno -->",
                 "no result: SQLite has no information_schema");
    expect_fault("<!-- dbdyno:scan_users/sqlite/server_cores/value -->x<!-- /dbdyno -->",
                 "has no value: the database runs in the client's threads");
}

static int check(const char *metric, const char *inside)
{
    struct err err = {0};
    const char *document =
        arena_printf(arena, "<!-- dbdyno:a/b/%s -->%s<!-- /dbdyno -->", metric, inside);
    int count = report_fill_check(arena, document, strlen(document), &err);
    assert_true(count == 1 || (count == -1 && err.kind == ERR_CONFIG));
    return count;
}

static void forms_are_checked_without_a_record(void **state)
{
    (void)state;
    static const char *const right[][2] = {
        {"service_ns/p50",         "12.3 ms"         },
        {"service_ns/max",         "800 ns"          },
        {"service_ns/n",           "7"               },
        {"throughput_per_s/value", "13,116/s"        },
        {"rows_per_s/value",       "1,234,567 rows/s"},
        {"ns_per_row/value",       "12.3 ns"         },
        {"peak_bytes/value",       "12.3 MiB"        },
        {"client_cores/value",     "0.93 cores"      },
        {"rows/value",             "10,000"          },
        {"fsyncs/value",           "3"               },
    };
    static const char *const wrong[][2] = {
        {"service_ns/p50",         "12.3"    },
        {"service_ns/p50",         "TODO"    },
        {"service_ns/p50",         "12.3 mss"},
        {"service_ns/p50",         ""        },
        {"service_ns/n",           "7 ms"    },
        {"throughput_per_s/value", "13116"   },
        {"rows/value",             "10,00"   },
        {"rows/value",             "1,0000"  },
        {"rows/value",             ",100"    },
        {"rows/value",             "many"    },
        {"peak_bytes/value",       "12.3 ms" },
        {"rows/value",             "1,000.,5"},
    };
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        if (check(right[i][0], right[i][1]) != 1)
            fail_msg("%s: refused \"%s\"", right[i][0], right[i][1]);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (check(wrong[i][0], wrong[i][1]) != -1)
            fail_msg("%s: took \"%s\"", wrong[i][0], wrong[i][1]);
    }
}

static void blocks_have_a_form_too(void **state)
{
    (void)state;
    struct err err = {0};
    const char *words = "x\n<!-- dbdyno:table -->words<!-- /dbdyno -->";
    assert_int_equal(report_fill_check(arena, words, strlen(words), &err), -1);
    assert_non_null(strstr(err.text, "line 2: expected a table"));
    const char *empty = "<!-- dbdyno:answer -->\n<!-- /dbdyno -->";
    assert_int_equal(report_fill_check(arena, empty, strlen(empty), &err), -1);
    assert_non_null(strstr(err.text, "is empty"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_filled_in),
        cmocka_unit_test(blocks_are_filled_in),
        cmocka_unit_test(examples_in_code_are_left_alone),
        cmocka_unit_test(faults_name_their_line),
        cmocka_unit_test(forms_are_checked_without_a_record),
        cmocka_unit_test(blocks_have_a_form_too),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
