#include "base/arena.h"
#include "driver/driver.h"
#include "testing.h"

#include <string.h>

struct seen {
    struct drv_sink sink;
    uint64_t rows;
    uint16_t count;
    const struct value *values;
};

static void see(struct drv_sink *sink, const struct value *values, uint16_t count)
{
    struct seen *seen = (struct seen *)sink;
    seen->rows++;
    seen->values = values;
    seen->count = count;
}

static struct drv_conn *opened(const struct drv_target *target)
{
    struct drv_conn *conn = NULL;
    struct err err = {0};
    assert_true(drv_open(target, &conn, &err));
    return conn;
}

static void test_registry(void **state)
{
    (void)state;
    assert_null(drv_find(slice_of("none")));
    for (size_t i = 0; drv_classes[i]; i++) {
        const struct drv_class *class = drv_classes[i];
        assert_ptr_equal(drv_find(slice_of(class->name)), class);
        assert_int_equal(class->abi, DRV_ABI);
        assert_true(class->summary && class->options && class->open && class->close);
        assert_true(class->place && class->prepare && class->query && class->describe);
        assert_true(class->submit && class->step && class->cancel && class->last_error);
        assert_int_equal(class->fd != NULL, (class->caps & DRV_CAP_ASYNC) != 0);
    }
    assert_string_equal(drv_tier_name(DRV_TIER_CACHE), "page cache");
}

static void test_wire_clients(void **state)
{
    const enum dialect dialects[] = {DIALECT_POSTGRES, DIALECT_MARIADB, DIALECT_MYSQL};
    (void)state;
    assert_null(drv_find_client(DIALECT_SQLITE, slice_of("wire")));
    for (size_t i = 0; i < ARRAY_COUNT(dialects); i++) {
        const struct drv_class *class = drv_find_client(dialects[i], slice_of("wire"));
        assert_non_null(class);
        assert_int_equal(class->abi, DRV_ABI);
        assert_true(class->files > 0 && class->control && class->control->place);
        assert_true(class->caps & DRV_CAP_PIPELINE && class->caps & DRV_CAP_ASYNC);
        assert_true(class->submit && class->step && class->cancel && class->sever && class->fd);
    }
}

static void test_answers(void **state)
{
    (void)state;
    struct drv_target target = {.label = "null", .class = drv_find(slice_of("null"))};
    struct drv_conn *conn = opened(&target);
    const struct drv_class *class = conn->class;
    struct value values[2] = {value_int(7), value_text("ab", 2)};
    struct drv_expect expect = {.rows = 3, .affected = 5, .values = values, .value_count = 2};
    struct seen seen = {.sink = {see}};
    struct drv_op op = {.depth = PROG_DECODE, .sink = &seen.sink, .expect = &expect};
    struct drv_outcome outcome;
    uint64_t calls = arena_calls();
    class->submit(conn, &op);
    assert_int_equal(class->step(conn, &outcome), DRV_DONE);
    assert_int_equal(outcome.verdict, DRV_OK);
    assert_int_equal(outcome.rows, 3);
    assert_int_equal(outcome.affected, 5);
    assert_int_equal(seen.rows, 3);
    assert_ptr_equal(seen.values, values);
    assert_int_equal(seen.count, 2);
    op.depth = PROG_DRAIN;
    class->submit(conn, &op);
    assert_int_equal(class->step(conn, &outcome), DRV_DONE);
    assert_null(seen.values);
    assert_int_equal(seen.rows, 6);
    op = (struct drv_op){.kind = DRV_OP_BEGIN};
    class->submit(conn, &op);
    assert_int_equal(class->step(conn, &outcome), DRV_DONE);
    assert_int_equal(outcome.rows, 0);
    assert_int_equal(outcome.affected, -1);
    assert_int_equal(arena_calls(), calls);
    drv_close(&conn);
    assert_null(conn);
    drv_close(&conn);
}

static void test_errors(void **state)
{
    (void)state;
    struct drv_target target = {.label = "null", .class = drv_find(slice_of("null"))};
    struct drv_conn *conn = opened(&target);
    struct drv_expect expect = {.error = true, .error_text = "23505", .rows = 9};
    struct drv_op op = {.expect = &expect};
    struct drv_outcome outcome;
    conn->class->submit(conn, &op);
    assert_int_equal(conn->class->step(conn, &outcome), DRV_DONE);
    assert_int_equal(outcome.verdict, DRV_ERROR);
    assert_int_equal(outcome.rows, 0);
    assert_int_equal(outcome.code, 23505);
    assert_string_equal(outcome.sqlstate, "23505");
    assert_string_equal(conn->class->last_error(conn), "23505");
    drv_close(&conn);
}

static void test_setup(void **state)
{
    (void)state;
    struct drv_target target = {.label = "null", .class = drv_find(slice_of("null"))};
    struct drv_conn *conn = opened(&target);
    struct err err = {0};
    struct value value = value_int(1);
    uint64_t rows = 1;
    struct drv_facts facts;
    assert_true(conn->class->place(conn, "x", true, &err));
    assert_true(conn->class->prepare(conn, NULL, 0, &err));
    assert_true(conn->class->query(conn, conn->arena, "SELECT 1", &value, &rows, &err));
    assert_int_equal(value.type, VALUE_NULL);
    assert_int_equal(rows, 0);
    assert_true(conn->class->describe(conn, conn->arena, &facts, &err));
    assert_string_equal(facts.server_version, "");
    drv_close(&conn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry), cmocka_unit_test(test_wire_clients),
        cmocka_unit_test(test_answers),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
