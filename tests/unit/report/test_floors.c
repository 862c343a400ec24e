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

static struct text terminal(const struct record *record, unsigned width, bool colour)
{
    struct text out;
    text_init(&out, arena, 1 << 24);
    report_terminal(record, &out, width, colour);
    return out;
}

/* The floor is the faster of two ways to write a log; it holds for its own file system. */
static void commits_stand_against_the_right_floor(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    struct rec_floor *floor = record_add_floor(record);
    *floor = (struct rec_floor){
        .name = "fsync_overwrite",
        .what = "8 KiB over older data, fdatasync",
        .unit = "ns",
        .when = "before",
        .n = 100,
        .p50 = {true, 100000}
    };
    struct text out = terminal(record, 100, false);
    assert_non_null(strstr(out.at, "(fdatasync of an overwrite: 100 us p50)"));
    assert_non_null(strstr(out.at, "187 us  1.9x "));
    assert_null(strstr(out.at, "below the floor"));
    floor = &record->floors[record->floor_count - 1];
    floor->p50.value = 200000;
    for (size_t i = 0; i < record->floor_count; i++) {
        if (strcmp(record->floors[i].name, "fsync_append") == 0)
            record->floors[i].p50.value = i % 2 == 0 ? 190000 : 400000;
    }
    rec_pairs_add(arena, &record->host, "filesystem", value_text("ext4", 4));
    record->targets[1].data_folder_filesystem = "tmpfs";
    record->targets[2].data_folder_filesystem = NULL;
    out = terminal(record, 100, false);
    assert_non_null(strstr(out.at, "(fdatasync of an append: 190 us p50)"));
    assert_non_null(strstr(out.at, "187 us  0.98x*  412 us     -  1.31 ms     -"));
    assert_non_null(
        strstr(out.at,
               "  * below the floor: the floor was unsteady or the target did not sync\n"));
    assert_non_null(strstr(out.at, "  postgres has no ratio: its data is on tmpfs, the floors "
                                   "were measured on ext4\n"));
    assert_non_null(strstr(out.at, "  mariadb has no ratio: where its data is, is not known"));
    assert_non_null(strstr(out.at, "  the floor was unsteady: 400 us after the run\n"));
    assert_non_null(strstr(out.at, "  The floors were unsteady: fsync_append 190 us before and "
                                   "400 us after the run.\n"));
}

static struct text floors(const struct record *record, unsigned width)
{
    struct text out;
    text_init(&out, arena, 1 << 20);
    report_floors(record->floors, record->floor_count, &out, width);
    return out;
}

/* What was done, and why it could not be, is read in full at any width. */
static void what_floors_are_is_never_cut(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    record->floors[2].unavailable =
        "creating a scratch file: Read-only file system; set TMPDIR "
        "to a folder that can be written";
    for (unsigned width = 80; width < 240; width += 40) {
        struct text out = floors(record, width);
        assert_null(strchr(out.at, '~'));
        assert_non_null(strstr(out.at, "folder that can be"));
        assert_non_null(strstr(out.at, "64 bytes over a unix socket and back"));
        for (const char *at = out.at, *end; (end = strchr(at, '\n')); at = end + 1)
            assert_true((size_t)(end - at) <= width);
    }
}

static void floors_that_stay_alike_are_steady(void **state)
{
    (void)state;
    struct record *record = sample_record(arena);
    record->floors[1].p50.value = 2 * record->floors[0].p50.value;
    assert_null(strstr(floors(record, 80).at, "unsteady"));
    record->floors[1].p50.value = 3 * record->floors[0].p50.value;
    assert_non_null(strstr(floors(record, 80).at, "The floors were unsteady: fsync_append"));
    record->floors[1].p50.value = record->floors[0].p50.value / 3;
    assert_non_null(strstr(floors(record, 80).at, "The floors were unsteady: fsync_append"));
    record->floors[1].p50.known = false;
    assert_null(strstr(floors(record, 80).at, "unsteady"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits_stand_against_the_right_floor),
        cmocka_unit_test(what_floors_are_is_never_cut),
        cmocka_unit_test(floors_that_stay_alike_are_steady),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
