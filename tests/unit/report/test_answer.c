#include "fake/sample_record.h"
#include "unit/report/reporting.h"

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

static void keep_cells(struct record *record, const char *const *names, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < record->cell_count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (strcmp(record->cells[i].name, names[k]) == 0) {
                record->cells[kept++] = record->cells[i];
                break;
            }
        }
    }
    record->cell_count = kept;
}

/* A suite whose reads all have numbers of clients; what makes and fills tables is no headline.
 */
static void a_read_stands_for_the_run(void **state)
{
    (void)state;
    static const char *const names[] = {"index_build", "load_users", "concurrent",
                                        "insert_single"};
    struct record *record = sample_record(arena);
    keep_cells(record, names, 4);
    assert_non_null(strstr(answer(record), "; one-row read concurrent: sqlite 4.97 us, "));
    keep_cells(record, (const char *const[]){"index_build", "load_users", "insert_single"}, 3);
    assert_non_null(strstr(answer(record), "; insert_single: sqlite 5,348/s, postgres "));
    keep_cells(record, names, 2);
    assert_null(strchr(answer(record), ';'));
    record = sample_record(arena);
    keep_cells(record, (const char *const[]){"index_build", "scan_users"}, 2);
    assert_non_null(strstr(answer(record), "; read scan_users: sqlite 1.23 ms"));
    for (size_t i = 0; i < record->cell_count; i++)
        rec_pairs_add(arena, &record->cells[i].params, "clients", value_int(8));
    assert_non_null(strstr(answer(record), "; read scan_users with 8 clients: sqlite"));
}

/* What differs between targets fails all of them with the same words. */
static void one_failure_of_all_targets_is_told_once(void **state)
{
    (void)state;
    static const char words[] = "id_point: the targets answer differently: sqlite 1 rows, "
                                "postgres 2 rows; they cannot all be right";
    struct record *record = sample_record(arena);
    for (unsigned t = 0; t < SAMPLE_TARGETS; t++) {
        struct rec_cell *cell = sample_find(record, "id_point", sample_labels[t]);
        cell->verdict = "failed";
        cell->reason = words;
    }
    *record_add_guard(record) = (struct rec_guard){.id = "answers-differ",
                                                   .code = "D46",
                                                   .level = "invalid",
                                                   .text = words};
    record->verdict = "failed";
    assert_string_equal(answer(record),
                        "shop FAILED: 1 of 13 scenarios: id_point on sqlite, postgres and "
                        "mariadb: the targets answer differently: sqlite 1 rows, postgres 2 "
                        "rows; they cannot all be right");
    struct text out = terminal(record, 400, false);
    assert_int_equal(count_of(out.at, "the targets answer differently"), 2);
    assert_non_null(
        strstr(out.at,
               "  - id_point on sqlite, postgres and mariadb: the targets answer differently"));
}

/* The reason of a cell is nearer to the cause than its first failed check. */
static void the_reason_comes_before_checks(void **state)
{
    (void)state;
    struct record *record = sample_failed_record(arena);
    struct rec_cell *cell = sample_find(record, "id_point", "postgres");
    cell->reason = "deadline: the answer did not come within 5 s";
    assert_non_null(strstr(answer(record), "id_point on postgres: deadline: the answer"));
    cell->reason = NULL;
    assert_non_null(strstr(answer(record), "id_point on postgres: rows expected 1, found 2"));
    cell->checks[0].name = "error";
    cell->checks[0].expected = value_text("1", 1);
    cell->checks[0].found = (struct value){.type = VALUE_NULL};
    assert_non_null(strstr(answer(record), "postgres: expected error '1', but the statement "
                                           "succeeded"));
    cell->checks[0].name = "insert: error";
    assert_non_null(strstr(answer(record), "postgres: insert: expected error '1', but"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_stands_for_the_run),
        cmocka_unit_test(one_failure_of_all_targets_is_told_once),
        cmocka_unit_test(the_reason_comes_before_checks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
