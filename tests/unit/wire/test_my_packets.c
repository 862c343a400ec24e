/* Packets, numbers, strings and commands, against bytes written by hand and a second reader. */

#include "testing.h"
#include "wire/my_known.h"

static void whole_packets_are_found(void **state)
{
    (void)state;
    char bytes[] = "\3\0\0\7abc\1\0\0\10z";
    uint8_t sequence = 7;
    struct myp_packet packet;
    for (size_t there = 0; there < 7; there++) {
        assert_int_equal(myp_frame_next(bytes, there, &sequence, &packet), MYP_FRAME_MORE);
        assert_int_equal(packet.need, there < 4 ? 4 : 7);
        assert_int_equal(sequence, 7);
    }
    assert_int_equal(myp_frame_next(bytes, 12, &sequence, &packet), MYP_FRAME_WHOLE);
    assert_true(packet.at == bytes + 4 && packet.bytes == 3 && packet.taken == 7);
    assert_int_equal(sequence, 8);
    assert_int_equal(myp_frame_next(bytes + 7, 5, &sequence, &packet), MYP_FRAME_WHOLE);
    assert_int_equal(sequence, 9);
    assert_int_equal(myp_frame_next(bytes + 7, 5, &sequence, &packet), MYP_FRAME_SEQUENCE);
    assert_int_equal(packet.sequence, 8);
    assert_int_equal(sequence, 9);
    sequence = 255;
    assert_int_equal(myp_frame_next((char[]){0, 0, 0, (char)255}, 4, &sequence, &packet),
                     MYP_FRAME_WHOLE);
    assert_int_equal(packet.bytes, 0);
    assert_int_equal(sequence, 0);
}

/* A payload of 17 MiB, and ones about the border: split, then joined from any prefix. */
static void long_payloads_are_split_and_joined(void **state)
{
    static const size_t sizes[] = {MYP_CHUNK_BYTES - 1, MYP_CHUNK_BYTES, MYP_CHUNK_BYTES + 1,
                                   17 << 20, (size_t)2 * MYP_CHUNK_BYTES};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        size_t payload = sizes[i], room = myp_room(payload);
        unsigned char *bytes = malloc(room);
        assert_non_null(bytes);
        for (size_t k = 0; k < payload; k++)
            bytes[MYP_HEADER_BYTES + k] = (unsigned char)(k * 7 + k / 1000);
        uint8_t sequence = 254, next = 254;
        assert_int_equal(myp_packets_put((char *)bytes, payload, &sequence), room);
        assert_int_equal(sequence, (uint8_t)(254 + payload / MYP_CHUNK_BYTES + 1));
        struct myp_packet packet;
        size_t have = 0, asked = 0;
        while (myp_frame_next((char *)bytes, have, &next, &packet) == MYP_FRAME_MORE) {
            assert_true(packet.need > have && packet.need <= room);
            have = asked++ % 2 ? packet.need : packet.need - 1;
        }
        assert_true(have == room && packet.taken == room && packet.bytes == payload);
        assert_int_equal(next, sequence);
        for (size_t k = 0; k < payload; k++) {
            if ((unsigned char)packet.at[k] != (unsigned char)(k * 7 + k / 1000))
                fail_msg("payload of %zu: byte %zu differs", payload, k);
        }
        free(bytes);
    }
}

static void a_later_piece_has_its_sequence_checked(void **state)
{
    (void)state;
    size_t room = myp_room(MYP_CHUNK_BYTES);
    char *bytes = calloc(1, room);
    uint8_t sequence = 0, next = 0;
    struct myp_packet packet = {0};
    assert_non_null(bytes);
    (void)myp_packets_put(bytes, MYP_CHUNK_BYTES, &sequence);
    bytes[room - 1] = 7;
    assert_int_equal(myp_frame_next(bytes, room, &next, &packet), MYP_FRAME_SEQUENCE);
    assert_int_equal(packet.sequence, 7);
    free(bytes);
}

static void numbers_of_every_size(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
        uint64_t number;
        bool there, cut;
    } cases[] = {
        {"",                      0, 0,                           false, true },
        {"\0",                    1, 0,                           true,  false},
        {"\372",                  1, 250,                         true,  false},
        {"\373",                  1, 0xfb,                        false, false},
        {"\374\1",                2, 0,                           false, true },
        {"\374\1\2",              3, 0x201,                       true,  false},
        {"\375\1\2",              3, 0,                           false, true },
        {"\375\1\2\3",            4, 0x30201,                     true,  false},
        {"\376\1\2\3\4\5\6\7",    8, 0,                           false, true },
        {"\376\1\2\3\4\5\6\7\10", 9, UINT64_C(0x807060504030201), true,  false},
        {"\377\1\2\3\4\5\6\7\10", 9, 0,                           false, true },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct wire_bytes in = wire_bytes_of(cases[i].bytes, cases[i].count);
        uint64_t number = 0;
        assert_int_equal(myp_number(&in, &number), cases[i].there);
        assert_int_equal(in.cut, cases[i].cut);
        if (cases[i].there)
            assert_int_equal(number, cases[i].number);
        if (!cases[i].cut)
            assert_int_equal(wire_left(&in), 0);
    }
}

static void strings_stay_inside(void **state)
{
    (void)state;
    struct wire_bytes in = wire_bytes_of("\3abc\0\373\3ab", 9);
    struct slice text = myp_string(&in);
    assert_true(slice_is(text, "abc"));
    text = myp_string(&in);
    assert_true(text.at && text.bytes == 0);
    text = myp_string(&in);
    assert_true(!text.at && !in.cut);
    text = myp_string(&in);
    assert_true(text.at && text.bytes == 0 && in.cut);
    in = wire_bytes_of("\376\377\377\377\377\377\377\377\377abc", 12);
    assert_int_equal(myp_string(&in).bytes, 0);
    assert_true(in.cut);
}

static void commands_have_the_right_bytes(void **state)
{
    char buffer[64];
    uint8_t packets = 9;
    (void)state;
    assert_int_equal(myp_command_put(buffer, MYP_COM_QUERY, slice_of("DO 1"), &packets), 9);
    assert_memory_equal(buffer, "\5\0\0\0\3DO 1", 9);
    assert_int_equal(packets, 1);
    assert_int_equal(myp_command_put(buffer, MYP_COM_PING, slice_of(""), &packets), 5);
    assert_memory_equal(buffer, "\1\0\0\0\16", 5);
    assert_int_equal(myp_stmt_put(buffer, MYP_COM_STMT_CLOSE, 0x04030201), MYP_STMT_BYTES);
    assert_memory_equal(buffer, "\5\0\0\0\31\1\2\3\4", MYP_STMT_BYTES);
    assert_int_equal(myp_infile_put(buffer, slice_of(""), 2), 4);
    assert_memory_equal(buffer, "\0\0\0\2", 4);
    assert_int_equal(myp_infile_put(buffer, slice_of("a,b"), 255), 7);
    assert_memory_equal(buffer, "\3\0\0\377a,b", 7);
}

static void executions_send_types_when_they_change(void **state)
{
    const struct value number = value_int(-2), real = value_real(1.0),
                       null = {.type = VALUE_NULL};
    char buffer[128];
    uint8_t types[2] = {0}, packets;
    (void)state;
    assert_int_equal(myp_execute_put(buffer, 1, NULL, 0, NULL, &packets), 14);
    assert_memory_equal(buffer, "\12\0\0\0\27\1\0\0\0\0\1\0\0\0", 14);
    const struct value first[2] = {number, value_text("hi", 2)};
    size_t bytes = myp_execute_put(buffer, 258, first, 2, types, &packets);
    assert_int_equal(bytes, 31);
    assert_memory_equal(buffer,
                        "\33\0\0\0\27\2\1\0\0\0\1\0\0\0\0\1\10\0\376\0"
                        "\376\377\377\377\377\377\377\377\2hi",
                        31);
    assert_true(bytes <= myp_execute_room(first, 2));
    bytes = myp_execute_put(buffer, 258, first, 2, types, &packets);
    assert_int_equal(bytes, 27); /* the types are known */
    assert_int_equal(buffer[15], 0);
    const struct value second[2] = {null, value_text(NULL, 0)};
    assert_int_equal(myp_execute_put(buffer, 258, second, 2, types, &packets), 17);
    assert_memory_equal(buffer, "\15\0\0\0\27\2\1\0\0\0\1\0\0\0\1\0\0", 17);
    const struct value third[2] = {real, null};
    bytes = myp_execute_put(buffer, 258, third, 2, types, &packets);
    assert_memory_equal(buffer + 14, "\2\1\5\0\376\0\0\0\0\0\0\0\360\77", 14);
    assert_int_equal(bytes, 28);
    uint8_t fresh[2] = {0};
    (void)myp_execute_put(buffer, 1, second, 2, fresh, &packets);
    assert_memory_equal(buffer + 14, "\1\1\6\0\376\0\0", 7);
}

static void numbers_go_the_short_way(void **state)
{
    const struct value null = {.type = VALUE_NULL};
    struct value params[MYP_NUMBERS_MOST + 1];
    uint8_t types[MYP_NUMBERS_MOST + 1] = {0}, packets;
    char slow[200], fast[200];
    (void)state;
    for (uint32_t i = 0; i <= MYP_NUMBERS_MOST; i++)
        params[i] = i % 3 ? value_int(i) : value_real(i);
    assert_int_equal(myp_numbers_put(fast, 7, params, 3, types), 0); /* types are new */
    for (uint32_t count = 1; count <= MYP_NUMBERS_MOST; count++) {
        (void)myp_execute_put(slow, 7, params, count, types, &packets);
        size_t bytes = myp_execute_put(slow, 7, params, count, types, &packets);
        assert_int_equal(myp_numbers_put(fast, 7, params, count, types), bytes);
        assert_memory_equal(fast, slow, bytes);
        assert_true(bytes <= MYP_NUMBERS_BYTES);
    }
    assert_int_equal(myp_numbers_put(fast, 7, params, MYP_NUMBERS_MOST + 1, types), 0);
    assert_int_equal(myp_numbers_put(fast, 7, params, 0, types), 0);
    params[1] = null;
    assert_int_equal(myp_numbers_put(fast, 7, params, 2, types), 0);
    params[1] = value_real(1);
    assert_int_equal(myp_numbers_put(fast, 7, params, 2, types), 0);
    params[1] = value_text("1", 1);
    assert_int_equal(myp_numbers_put(fast, 7, params, 2, types), 0);
}

/* Values of any sizes, read again by a reader of its own. */
static void executions_of_random_values(void **state)
{
    enum { PARAMS = 40 };
    struct test_random random = test_random_init();
    static char text[70000];
    struct value params[PARAMS];
    (void)state;
    memset(text, 'q', sizeof(text));
    for (int round = 0; round < 300; round++) {
        uint32_t count = (uint32_t)test_random_below(&random, PARAMS) + 1;
        uint8_t types[PARAMS] = {0}, packets;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t drawn = test_random_u64(&random);
            params[i] = (struct value){(enum value_type)(drawn % 5), .as.i = (int64_t)drawn};
            if (params[i].type >= VALUE_TEXT) {
                params[i].bytes = (uint32_t)(drawn >> 8) % (drawn & 64 ? 600 : 70000);
                params[i].as.text = text;
            }
        }
        size_t room = myp_execute_room(params, count);
        char *buffer = malloc(room);
        assert_non_null(buffer);
        size_t bytes = myp_execute_put(buffer, 1, params, count, types, &packets);
        assert_true(bytes <= room);
        struct wire_bytes in = wire_bytes_of(buffer + 14, bytes - 14);
        const char *nulls = wire_take(&in, (count + 7) / 8);
        assert_int_equal(wire_u8(&in), 1);
        const char *kinds = wire_take(&in, 2 * (size_t)count);
        assert_false(in.cut);
        for (uint32_t i = 0; i < count; i++) {
            bool null = (nulls[i / 8] >> i % 8 & 1) != 0;
            assert_int_equal(null, params[i].type == VALUE_NULL);
            assert_int_equal(kinds[2 * i + 1], 0);
            if (params[i].type >= VALUE_TEXT)
                assert_int_equal(myp_string(&in).bytes, params[i].bytes);
            else if (!null)
                assert_int_equal(wire_le(&in, 8), (uint64_t)params[i].as.i);
        }
        assert_true(wire_left(&in) == 0 && !in.cut);
        free(buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_packets_are_found),
        cmocka_unit_test(long_payloads_are_split_and_joined),
        cmocka_unit_test(a_later_piece_has_its_sequence_checked),
        cmocka_unit_test(numbers_of_every_size),
        cmocka_unit_test(strings_stay_inside),
        cmocka_unit_test(commands_have_the_right_bytes),
        cmocka_unit_test(executions_send_types_when_they_change),
        cmocka_unit_test(numbers_go_the_short_way),
        cmocka_unit_test(executions_of_random_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
