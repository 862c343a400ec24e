/* Messages that no honest server sends, what clients send, and values. */

#include "testing.h"
#include "unit/wire/pg_play.h"

#include <math.h>

enum { ROOM = 4096, MOST = 1 << 20 };

static enum pgp_scan scan(const char *at, size_t bytes, size_t *need)
{
    struct pgp_frame frame;
    return pgp_frame_next((struct slice){at, bytes}, MOST, &frame, need);
}

static void check_wrong(const char *header, const char *words)
{
    char why[200];
    size_t need;
    assert_int_equal(scan(header, 5, &need), PGP_WRONG);
    pgp_frame_print(header, MOST, why, sizeof why);
    print_message("             %s\n", why);
    assert_non_null(strstr(why, words));
}

static void headers_that_cannot_be_are_wrong(void **state)
{
    (void)state;
    size_t need;
    check_wrong("D\0\0\0\3", "3 bytes, at least 4");
    check_wrong("Z\0\0\0\0", "0 bytes, at least 4");
    check_wrong("D\177\377\377\377", "2147483647 bytes, at most 1048576");
    check_wrong("D\200\0\0\0", "2147483648 bytes");
    check_wrong("D\377\377\377\377", "4294967295 bytes");
    check_wrong("C\0\0\165\61", "30001 bytes, at most 30000");
    check_wrong("\0\0\1\0\0", "type ? (0x00)");
    check_wrong("D\0\20\0\0", "1048576 bytes, at most 1048576");
    assert_int_equal(scan("D\0\17\377\377", 5, &need), PGP_MORE);
    assert_int_equal(need, MOST);
    assert_int_equal(scan("C\0\0\165\60", 5, &need), PGP_MORE);
    assert_int_equal(need, 30001);
    for (size_t bytes = 0; bytes < 5; bytes++) {
        assert_int_equal(scan("D\0\0\0\3", bytes, &need), PGP_MORE);
        assert_int_equal(need, 5);
    }
    for (const char *type = "TDdVENAt"; *type; type++)
        assert_int_equal(scan((char[]){*type, 0, 1, 0, 0}, 5, &need), PGP_MORE);
}

static void check_row(const char *body, size_t bytes, uint16_t count, const char *words)
{
    struct value values[4];
    static const uint8_t kinds[4];
    for (int walk = 0; walk < 2; walk++) {
        char *copy = malloc(bytes);
        memcpy(copy, body, bytes);
        const char *fault = pgp_row(copy, bytes, count, walk ? NULL : kinds, values);
        assert_non_null(fault);
        assert_non_null(strstr(fault, words));
        free(copy);
    }
}

static void rows_that_lie_are_told(void **state)
{
    (void)state;
    check_row("\0\2\0\0\0\1a\0\0\0\1b", 12, 1, "another number of columns");
    check_row("\0\1\0\0\0\1a", 7, 2, "another number of columns");
    check_row("\377\377", 2, 1, "another number of columns");
    check_row("\0", 1, 0, "another number of columns");
    check_row("\0\1\0\0\0\2a", 7, 1, "longer than its row");
    check_row("\0\1\177\377\377\377a", 7, 1, "longer than its row");
    check_row("\0\1\377\377\377\376a", 7, 1, "negative");
    check_row("\0\1\200\0\0\0a", 7, 1, "negative");
    check_row("\0\1\0\0\0", 5, 1, "too early");
    check_row("\0\2\377\377\377\377", 6, 2, "too early");
    check_row("\0\1\0\0\0\1ab", 8, 1, "left");
}

static void check_fault(char type, const char *body, size_t bytes)
{
    char *copy = malloc(bytes + 1);
    memcpy(copy, body, bytes);
    assert_non_null(pgp_fault(&(struct pgp_frame){
        type, {copy, bytes}
    }));
    free(copy);
}

static void messages_that_lie_are_told(void **state)
{
    (void)state;
    check_fault('T', "\377\377", 2);                                    /* -1 columns */
    check_fault('T', "\0\1a\0\0\0\0\0\0\0\0\0\0\27\0\4\0\0\0\0\0", 21); /* cut */
    check_fault('T', "\0\1a\0\0\0\0\0\0\0\0\0\0\27\0\4\0\0\0\0\0\2", 22);
    check_fault('T', "\0\0\0", 3);
    check_fault('T', "", 0);
    check_fault('D', "\377\376", 2);
    check_fault('t', "\0\2\0\0\0\27", 6);
    check_fault('t', "\377\377\0\0\0\27", 6);
    check_fault('E', "SERROR", 6);
    check_fault('E', "SERROR\0", 7);
    check_fault('E', "\0x", 2);
    check_fault('E', "", 0);
    check_fault('Z', "", 0);
    check_fault('Z', "X", 1);
    check_fault('Z', "II", 2);
    check_fault('C', "SELECT 1", 8);
    check_fault('C', "SELECT 1\0x", 10);
    check_fault('S', "name\0value", 10);
    check_fault('K', "\0\0\0\1\0\0\0", 7);
    check_fault('A', "\0\0\0\1ch\0", 7);
    check_fault('G', "\0\0\2\0\0", 5);
    check_fault('H', "\2\0\0", 3);
    check_fault('W', "\0\377\377", 3);
    check_fault('1', "x", 1);
    check_fault('v', "\0\0\0\0\377\377\377\377x\0", 10);
    check_fault('R', "\0", 1);
    check_fault('?', "", 0);
    check_fault('\0', "", 0);
}

/* Random bytes, and honest bytes with one changed: nothing but an end without an accident is
 * asked for. */
static void garbage_is_read_to_its_end(void **state)
{
    (void)state;
    static const char honest[] =
        "T\0\0\0\34\0\1one\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\0"
        "D\0\0\0\13\0\1\0\0\0\0011C\0\0\0\15SELECT 1\0Z\0\0\0\5I";
    struct test_random random = test_random_init();
    struct arena *arena = arena_create(1 << 16);
    struct pg_play *play = arena_new(arena, struct pg_play);
    struct text says;
    text_init(&says, arena, 1 << 16);
    for (int round = 0; round < 20000; round++) {
        char bytes[sizeof honest - 1];
        memcpy(bytes, honest, sizeof bytes);
        uint64_t changes = round % 2 ? 1 + test_random_below(&random, 3) : sizeof bytes;
        for (uint64_t i = 0; i < changes; i++)
            bytes[test_random_below(&random, sizeof bytes)] = (char)test_random_u64(&random);
        text_reset(&says);
        pg_play_begin(play, &says);
        pg_play_bytes(play, bytes, sizeof bytes);
    }
    free(play->buffer);
    arena_destroy(&arena);
}

static void long_messages_are_read(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    static const char head[] = {0, 1, 0, 1, (char)0206, (char)0240};
    struct value value;
    char *row = malloc(LONG + 6);
    memcpy(row, head, sizeof head);
    memset(row + 6, 'x', LONG);
    assert_null(pgp_row(row, LONG + 6, 1, NULL, &value));
    assert_int_equal(value.bytes, LONG);
    free(row);
}

static void changed_rows_are_found_in_tags(void **state)
{
    (void)state;
    static const struct {
        const char *tag;
        int64_t affected;
    } tags[] = {
        {"INSERT 0 5", 5 },
        {"UPDATE 3",   3 },
        {"DELETE 0",   0 },
        {"MERGE 7",    7 },
        {"SELECT 9",   -1},
        {"COPY 4",     -1},
        {"BEGIN",      -1},
        {"",           -1},
        {"INSERT",     -1},
        {"UPDATE ",    -1},
        {"UPDATE x",   -1},
        {"DELETE -1",  -1},
        {"UPDATED 4",  -1},
        {"MOVE 3",     -1},
    };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        assert_int_equal(pgp_affected(slice_of(tags[i].tag)), tags[i].affected);
}

static void check_put(const char *end, const char *at, const char *bytes, size_t count)
{
    assert_int_equal(end - at, count);
    assert_memory_equal(at, bytes, count);
}

static void commands_are_written(void **state)
{
    (void)state;
    char at[200];
    check_put(pgp_query_put(at, slice_of("")), at, "Q\0\0\0\5", 6);
    check_put(pgp_query_put(at, slice_of("a b")), at, "Q\0\0\0\10a b", 9);
    check_put(pgp_parse_put(at, "s1", slice_of("x")), at, "P\0\0\0\13s1\0x\0\0\0", 12);
    check_put(pgp_describe_put(at, 'S', "s1"), at, "D\0\0\0\10Ss1", 9);
    check_put(pgp_close_put(at, 'P', ""), at, "C\0\0\0\6P", 7);
    check_put(pgp_execute_put(at, 258), at, "E\0\0\0\11\0\0\0\1\2", 10);
    check_put(pgp_copy_data_put(at, slice_of("row")), at, "d\0\0\0\7row", 8);
    check_put(pgp_copy_fail_put(at, "no"), at, "f\0\0\0\7no", 8);
    check_put(pgp_bare_put(at, PGP_SYNC), at, "S\0\0\0\4", 5);
    check_put(pgp_bare_put(at, PGP_FLUSH), at, "H\0\0\0\4", 5);
    check_put(pgp_bare_put(at, PGP_COPY_DONE), at, "c\0\0\0\4", 5);
    check_put(pgp_bare_put(at, PGP_TERMINATE), at, "X\0\0\0\4", 5);
}

/* Puts an execution and returns where its values begin. */
static char *put(struct pgp_bind *bind, const struct value *values, char *at, char **end)
{
    *end = pgp_bind_put(bind, values, true, at);
    assert_non_null(*end);
    assert_true((size_t)(*end - at) <= pgp_bind_bytes(bind, values));
    return at + bind->head_bytes;
}

static void an_execution_is_two_pieces_around_its_values(void **state)
{
    (void)state;
    static const uint8_t params[] = {PGP_PARAM_TEXT, PGP_PARAM_CHARS, PGP_PARAM_BYTEA};
    struct pgp_bind_spec spec = {.stmt = "s7",
                                 .params = params,
                                 .param_count = 3,
                                 .describe = true};
    struct pgp_bind bind;
    char room[ROOM], at[ROOM], *end;
    const struct value values[] = {
        value_int(-12),
        value_text("ab", 2),
        {.type = VALUE_BLOB, .bytes = 2, .as.text = "\0\1"}
    };
    static const char expected[] =
        "B\0\0\0\51\0s7\0\0\3\0\0\0\0\0\1\0\3\0\0\0\3-12\0\0\0\2ab\0\0\0\2\0\1\0\1\0\0"
        "D\0\0\0\6P\0E\0\0\0\11\0\0\0\0\0S\0\0\0\4";
    pgp_bind_make(&bind, &spec, room);
    (void)put(&bind, values, at, &end);
    check_put(end, at, expected, sizeof expected - 1);
    assert_ptr_equal(pgp_bind_put(&bind, values, false, at), end - PGP_SYNC_BYTES);
    const struct value nulls[3] = {{.type = VALUE_NULL}};
    char *value = put(&bind, nulls, at, &end);
    assert_memory_equal(value, "\377\377\377\377\377\377\377\377\377\377\377\377\0\1", 14);
    const struct value odd[] = {value_text("1\0002", 3), nulls[0], nulls[0]};
    assert_null(pgp_bind_put(&bind, odd, true, at));
    spec.before = slice_of("Pxx");
    spec.describe = false;
    pgp_bind_make(&bind, &spec, room);
    (void)put(&bind, values, at, &end);
    assert_memory_equal(at, "PxxB\0\0\0\51", 8);
    check_put(end, end - 15, "E\0\0\0\11\0\0\0\0\0S\0\0\0\4", 15);
}

static void numbers_fill_their_room(void **state)
{
    (void)state;
    static const uint8_t text[] = {PGP_PARAM_TEXT};
    static const struct {
        struct value value;
        const char *text;
    } cases[] = {
        {{.type = VALUE_INT, .as.i = INT64_MIN},                "-9223372036854775808"    },
        {{.type = VALUE_INT, .as.i = INT64_MAX},                "9223372036854775807"     },
        {{.type = VALUE_REAL, .as.r = -1.7976931348623157e308}, "-1.7976931348623157e+308"},
        {{.type = VALUE_REAL, .as.r = (double)NAN},             "NaN"                     },
        {{.type = VALUE_REAL, .as.r = (double)INFINITY},        "inf"                     },
        {{.type = VALUE_REAL, .as.r = 0.5},                     "0.5"                     },
    };
    struct pgp_bind_spec spec = {.stmt = "", .params = text, .param_count = 1};
    struct pgp_bind bind;
    char room[ROOM], at[ROOM], *end;
    pgp_bind_make(&bind, &spec, room);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *value = put(&bind, &cases[i].value, at, &end);
        assert_int_equal(pgp_u32(value), strlen(cases[i].text));
        assert_memory_equal(value + 4, cases[i].text, strlen(cases[i].text));
    }
}

static void check_binary(enum pgp_param kind, struct value value, const char *bytes,
                         uint32_t count, uint16_t format)
{
    const uint8_t params[] = {(uint8_t)kind};
    static const uint8_t formats[] = {1};
    struct pgp_bind_spec spec = {
        .stmt = "", .params = params, .param_count = 1, .formats = formats, .column_count = 1};
    struct pgp_bind bind;
    char room[ROOM], at[ROOM], *end;
    pgp_bind_make(&bind, &spec, room);
    char *put_at = put(&bind, &value, at, &end);
    assert_int_equal(pgp_u16(at + bind.formats_at), format);
    assert_int_equal(pgp_u32(put_at), count);
    assert_memory_equal(put_at + 4, bytes, count);
    assert_memory_equal(put_at + 4 + count, "\0\1\0\1E", 5);
}

static void parameters_go_in_binary(void **state)
{
    (void)state;
    check_binary(PGP_PARAM_INT8, value_int(-2), "\377\377\377\377\377\377\377\376", 8, 1);
    check_binary(PGP_PARAM_INT4, value_int(-2), "\377\377\377\376", 4, 1);
    check_binary(PGP_PARAM_INT4, value_int(2147483648), "2147483648", 10, 0);
    check_binary(PGP_PARAM_INT2, value_int(-32768), "\200\0", 2, 1);
    check_binary(PGP_PARAM_INT2, value_int(32768), "32768", 5, 0);
    check_binary(PGP_PARAM_BOOL, value_int(1), "\1", 1, 1);
    check_binary(PGP_PARAM_BOOL, value_int(2), "2", 1, 0);
    check_binary(PGP_PARAM_INT4, value_real(1.5), "1.5", 3, 0);
    check_binary(PGP_PARAM_FLOAT8, value_int(1), "\77\360\0\0\0\0\0\0", 8, 1);
    check_binary(PGP_PARAM_FLOAT8, value_real(-2), "\300\0\0\0\0\0\0\0", 8, 1);
    check_binary(PGP_PARAM_INT8, value_text("12", 2), "12", 2, 0);
    check_binary(PGP_PARAM_INT8, value_text("", 0), "", 0, 0);
}

/* Every type's text and binary form give the same value. */
static void text_and_binary_mean_the_same(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        const char *text, *binary;
        uint32_t bytes;
    } cases[] = {
        {16,   "t",                    "\1",                 1 },
        {16,   "f",                    "\0",                 1 },
        {21,   "-2",                   "\377\376",           2 },
        {23,   "-2147483648",          "\200\0\0\0",         4 },
        {20,   "-9223372036854775808", "\200\0\0\0\0\0\0\0", 8 },
        {26,   "4294967295",           "\377\377\377\377",   4 },
        {701,  "-2",                   "\300\0\0\0\0\0\0\0", 8 },
        {17,   "\\x00fF7a",            "\0\377z",            3 },
        {17,   "\\x",                  "",                   0 },
        {25,   "x",                    "x",                  1 },
        {1082, "2024-02-29",           "2024-02-29",         10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[40], binary[40];
        memcpy(text, cases[i].text, strlen(cases[i].text) + 1);
        memcpy(binary, cases[i].binary, cases[i].bytes);
        struct value a =
            pgp_decode(pgp_kind_of(cases[i].type, false), text, (uint32_t)strlen(text));
        struct value b = pgp_decode(pgp_kind_of(cases[i].type, true), binary, cases[i].bytes);
        assert_int_equal(a.type, b.type);
        assert_true(value_same(&a, &b));
    }
    assert_false(pgp_has_binary(700) || pgp_has_binary(1700) || pgp_has_binary(25));
    assert_true(pgp_has_binary(23) && pgp_has_binary(17) && pgp_has_binary(16));
    char numeric[] = "2.50", real[] = "Infinity";
    assert_true(pgp_decode(pgp_kind_of(1700, true), numeric, 4).as.r == 2.5);
    assert_true(isinf(pgp_decode(pgp_kind_of(700, true), real, 8).as.r));
    /* Too short for its type: what came, as it came. */
    assert_int_equal(pgp_decode(PGP_BINARY_INT8, numeric, 4).type, VALUE_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_that_cannot_be_are_wrong),
        cmocka_unit_test(rows_that_lie_are_told),
        cmocka_unit_test(messages_that_lie_are_told),
        cmocka_unit_test(garbage_is_read_to_its_end),
        cmocka_unit_test(long_messages_are_read),
        cmocka_unit_test(changed_rows_are_found_in_tags),
        cmocka_unit_test(commands_are_written),
        cmocka_unit_test(an_execution_is_two_pieces_around_its_values),
        cmocka_unit_test(numbers_fill_their_room),
        cmocka_unit_test(parameters_go_in_binary),
        cmocka_unit_test(text_and_binary_mean_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
