/* Answers made by hand: what no honest server sends, and values of every kind. */

#include "testing.h"
#include "unit/wire/my_play.h"

static struct arena *arena;
static struct my_play play;
static struct text says;

/* Plays payloads, each in a packet of its own; an empty slice at NULL ends the list. */
static const char *said(enum myp_command command, uint8_t flags, uint16_t known,
                        const struct slice *payloads)
{
    text_reset(&says);
    my_play_begin(&play, command, flags, &says);
    play.answer.known = known;
    for (uint8_t i = 1; payloads->at; payloads++, i++) {
        char head[4] = {(char)payloads->bytes, (char)(payloads->bytes >> 8), 0,
                        (char)(i + (play.infile - 1))};
        my_play_bytes(&play, head, sizeof(head));
        my_play_bytes(&play, payloads->at, payloads->bytes);
    }
    return says.at;
}

#define BYTES(text)            \
    {                          \
        text, sizeof(text) - 1 \
    }
#define NO_MORE \
    {           \
        NULL, 0 \
    }
#define COLUMN(type) BYTES("\3def\0\0\0\1c\0\14\55\0\24\0\0\0" type "\0\0\0\0\0")
#define END          BYTES("\376\0\0\2\0")
#define END_AND_MORE BYTES("\376\0\0\12\0")
#define OK           BYTES("\0\0\0\2\0\0\0")
#define NUMBER       COLUMN("\3")

struct hostile {
    enum myp_command command;
    uint8_t flags;
    uint16_t known;
    const char *last; /* line that it says */
    struct slice payloads[8];
};

static const struct hostile cases[] = {
    {MYP_QUERY,   0,     0, "wrong: a packet without any byte came; done",               {BYTES(""), NO_MORE}                                                     },
    {MYP_QUERY,
     0,                  0,
     "wrong: a packet ends too early, after 1 bytes; done",                              {BYTES("\0"), NO_MORE}                                                   },
    {MYP_QUERY,
     0,                  0,
     "wrong: a packet ends too early, after 6 bytes; done",                              {BYTES("\0\0\0\2\0\0"), NO_MORE}                                         },
    {MYP_QUERY,
     0,                  0,
     "wrong: a packet ends too early, after 7 bytes; done",                              {BYTES("\0\373\0\2\0\0\0"), NO_MORE}                                     },
    {MYP_QUERY,
     MYP_SESSION_TRACK,  0,
     "wrong: a packet ends too early, after 10 bytes; done",                             {BYTES("\0\0\0\0\100\0\0\0\5\0"), NO_MORE}                               },
    {MYP_QUERY,
     0,                  0,
     "wrong: a packet ends too early, after 2 bytes; done",                              {BYTES("\377\1"), NO_MORE}                                               },
    {MYP_QUERY,   0,     0, "error 1 HY000 ''; done",                                    {BYTES("\377\1\0"), NO_MORE}                                             },
    {MYP_QUERY,   0,     0, "error 1 HY000 '#2300'; done",                               {BYTES("\377\1\0#2300"), NO_MORE}                                        },
    {MYP_QUERY,   0,     0, "error 1 23000 ''; done",                                    {BYTES("\377\1\0#23000"), NO_MORE}                                       },
    {MYP_QUERY,
     0,                  0,
     "wrong: a packet ends too early, after 4 bytes; done",                              {BYTES("\377\377\377\1"), NO_MORE}                                       },
    {MYP_QUERY,   0,     0, "progress 'go'",                                             {BYTES("\377\377\377\1\1\2\0\0\0\2go"), NO_MORE}                         },
    {MYP_QUERY,
     0,                  0,
     "wrong: 1 to 4096 columns were expected, 4097 are announced; done",                 {BYTES("\374\1\20"), NO_MORE}                                            },
    {MYP_QUERY,
     0,                  0,
     "wrong: 1 to 4096 columns were expected, 18446744073709551615 are announced; done", {BYTES("\376\377\377\377\377\377\377\377\377"), NO_MORE}                 },
    {MYP_QUERY,
     0,                  0,
     "wrong: a packet of 1 bytes was expected, one of 2 came; done",                     {BYTES("\1\1"), NO_MORE}                                                 },
    {MYP_QUERY,
     MYP_CACHE_METADATA, 0,
     "wrong: a packet ends too early, after 1 bytes; done",                              {BYTES("\1"), NO_MORE}                                                   },
    {MYP_EXECUTE,
     MYP_CACHE_METADATA, 2,
     "wrong: 1 columns without definitions came, 2 are known from prepare; done",        {BYTES("\1\0"), NO_MORE}                                                 },
    {MYP_EXECUTE,
     MYP_CACHE_METADATA, 1,
     "row |5",                                                                           {BYTES("\1\0"), END, BYTES("\0\0\5\0\0\0"), NO_MORE}                     },
    {MYP_QUERY,
     0,                  0,
     "wrong: a packet ends too early, after 5 bytes; done",                              {BYTES("\1"), BYTES("\3def\0"), NO_MORE}                                 },
 /* more columns, and rows, than announced; no end where one is due */
    {MYP_QUERY,
     0,                  0,
     "wrong: the end of the column definitions (0xfe) was expected, 0x03 came; done",    {BYTES("\1"), NUMBER, NUMBER, NO_MORE}                                   },
    {MYP_QUERY,
     0,                  0,
     "wrong: the end of the column definitions (0xfe) was expected, 0x01 came; done",    {BYTES("\1"), NUMBER, BYTES("\0015"), NO_MORE}                           },
    {MYP_QUERY,   0,     0, "row |'5'",                                                  {BYTES("\1"), NUMBER, END, BYTES("\0015"), NO_MORE}                      },
    {MYP_QUERY,
     0,                  0,
     "row a row goes on after its last column",                                          {BYTES("\1"), NUMBER, END, BYTES("\0015\0016"), NO_MORE}                 },
    {MYP_QUERY,
     0,                  0,
     "row a row ends before its last column",                                            {BYTES("\2"), NUMBER, NUMBER, END, BYTES("\0015"), NO_MORE}              },
    {MYP_QUERY,
     0,                  0,
     "row a row ends before its last column",                                            {BYTES("\1"), NUMBER, END, BYTES("\1"), NO_MORE}                         },
    {MYP_EXECUTE,
     0,                  0,
     "row a row ends before its last column",                                            {BYTES("\1"), NUMBER, END, BYTES("\0\0\1\2\3"), NO_MORE}                 },
    {MYP_EXECUTE,
     0,                  0,
     "row a row ends before its last column",                                            {BYTES("\1"), NUMBER, END, BYTES("\0"), NO_MORE}                         },
    {MYP_EXECUTE,
     0,                  0,
     "row a row goes on after its last column",                                          {BYTES("\1"), NUMBER, END, BYTES("\0\4\0"), NO_MORE}                     },
    {MYP_EXECUTE, 0,     0, "row |NULL",                                                 {BYTES("\1"), NUMBER, END, BYTES("\0\4"), NO_MORE}                       },
    {MYP_EXECUTE,
     0,                  0,
     "wrong: a packet that begins with 0x00 was expected, 0x01 came; done",              {BYTES("\1"), NUMBER, END, BYTES("\1\0\1\2\3\4"), NO_MORE}               },
    {MYP_EXECUTE,
     0,                  0,
     "wrong: a packet that begins with 0x00 was expected, 0xfe came; done",              {BYTES("\1"), NUMBER, END, BYTES("\376\0\0\2\0\0\0\0\0"), NO_MORE}       },
    {MYP_EXECUTE,
     0,                  0,
     "row a row holds a value that its column cannot have",                              {BYTES("\1"), COLUMN("\12"), END, BYTES("\0\0\5\1\2\3\4\5"), NO_MORE}    },
    {MYP_EXECUTE,
     0,                  0,
     "row a row holds a value that its column cannot have",                              {BYTES("\1"), COLUMN("\375"), END, BYTES("\0\0\373"), NO_MORE}           },
    {MYP_EXECUTE,
     0,                  0,
     "row a row ends before its last column",                                            {BYTES("\1"), COLUMN("\375"), END, BYTES("\0\0\376\377\377\377\377\377\377\377\377"),
      NO_MORE}                                                                                                       },
    {MYP_QUERY,
     0,                  0,
     "error 9 HY000 'x'; done",                                                          {BYTES("\1"), NUMBER, END, BYTES("\0015"), BYTES("\377\11\0x"), NO_MORE} },
    {MYP_QUERY,
     0,                  0,
     "error 9 HY000 'x'; done",                                                          {BYTES("\2"), NUMBER, BYTES("\377\11\0x"), NO_MORE}                      },
    {MYP_QUERY,
     0,                  0,
     "wrong: a packet ends too early, after 4 bytes; done",                              {BYTES("\1"), NUMBER, END, BYTES("\376\0\0\2"), NO_MORE}                 },
    {MYP_QUERY,
     0,                  0,
     "ok affected 0 id 0 status 2 warnings 0 ''; done",                                  {BYTES("\1"), NUMBER, END, END_AND_MORE, OK, NO_MORE}                    },
    {MYP_QUERY,
     MYP_DEPRECATE_EOF,  0,
     "end affected 0 id 0 status 2 warnings 0 ''; done",                                 {BYTES("\1"), NUMBER, BYTES("\0015"), BYTES("\376\0\0\2\0\0\0"), NO_MORE}},
    {MYP_QUERY,
     MYP_DEPRECATE_EOF,  0,
     "wrong: a packet ends too early, after 5 bytes; done",                              {BYTES("\1"), NUMBER, END, NO_MORE}                                      },
    {MYP_QUERY,   0,     0, "infile 'f'",                                                {BYTES("\373f"), NO_MORE}                                                },
    {MYP_PREPARE,
     0,                  0,
     "wrong: a packet that begins with 0x00 was expected, 0x01 came; done",              {BYTES("\1"), NO_MORE}                                                   },
    {MYP_PREPARE,
     0,                  0,
     "wrong: a packet ends too early, after 9 bytes; done",                              {BYTES("\0\1\0\0\0\1\0\1\0"), NO_MORE}                                   },
    {MYP_PREPARE,
     0,                  0,
     "wrong: 1 to 4096 columns were expected, 65535 are announced; done",                {BYTES("\0\1\0\0\0\377\377\1\0\0\0\0"), NO_MORE}                         },
    {MYP_PREPARE,
     0,                  0,
     "defined; done",                                                                    {BYTES("\0\1\0\0\0\1\0\1\0\0\0\0"), NUMBER, END, NUMBER, END, NO_MORE}   },
    {MYP_PREPARE,
     MYP_DEPRECATE_EOF,  0,
     "column 0 type 3 kind 0 'c'; done",                                                 {BYTES("\0\1\0\0\0\1\0\1\0\0\0\0"), NUMBER, NUMBER, NO_MORE}             },
    {MYP_PREPARE,
     0,                  0,
     "prepared columns 0 params 0; done",                                                {BYTES("\0\1\0\0\0\0\0\0\0\0"), NO_MORE}                                 },
    {MYP_SIMPLE,
     0,                  0,
     "wrong: a packet that begins with 0x00 was expected, 0x05 came; done",              {BYTES("\5"), NO_MORE}                                                   },
};

static void what_no_server_sends_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct hostile *it = &cases[i];
        if (it->known > 0)
            play.columns[0] = (struct myp_column){.kind = MYP_INT, .bytes = 4, .type = 3};
        const char *text = said(it->command, it->flags, it->known, it->payloads);
        size_t bytes = strlen(text), last = strlen(it->last) + 1;
        if (bytes < last || strncmp(text + bytes - last, it->last, last - 1) != 0)
            fail_msg("case %zu: %s is not the end of:\n%s", i, it->last, text);
    }
}

static void nothing_comes_after_the_end(void **state)
{
    (void)state;
    const struct slice ok = OK;
    struct myp_answer answer;
    char text[160];
    myp_answer_begin(&answer, MYP_SIMPLE, 0, 1);
    assert_int_equal(myp_answer_take(&answer, ok), MYP_OK);
    assert_true(answer.done);
    assert_int_equal(myp_answer_take(&answer, ok), MYP_WRONG);
    myp_fault_print(&answer, text, sizeof(text));
    assert_string_equal(text, "a packet of 7 bytes came after the end of an answer");
}

/* A first value of 16 MiB or more makes a text row begin like an EOF. */
static void a_row_may_begin_like_an_end(void **state)
{
    size_t value = 17 << 20, payload = 9 + value, room = myp_room(payload);
    char *bytes = calloc(1, room);
    uint8_t sequence = 4;
    (void)state;
    assert_non_null(bytes);
    bytes[4] = (char)0xfe; /* 17 MiB, in eight bytes */
    bytes[7] = 0x10;
    bytes[8] = 1;
    assert_int_equal(myp_packets_put(bytes, payload, &sequence), room);
    const struct slice before[] = {BYTES("\1"), COLUMN("\373"), BYTES("\376\0\0\2\0"), NO_MORE};
    const struct slice new_before[] = {BYTES("\1"), COLUMN("\373"), NO_MORE};
    for (int new_end = 0; new_end < 2; new_end++) {
        (void)said(MYP_QUERY, new_end ? MYP_DEPRECATE_EOF : 0, 0,
                   new_end ? new_before : before);
        text_reset(&says);
        bytes[3] = (char)(new_end ? 3 : 4);
        bytes[MYP_CHUNK_BYTES + 4 + 3] = (char)(bytes[3] + 1);
        my_play_bytes(&play, bytes, room / 2);
        assert_string_equal(says.at, "");
        my_play_bytes(&play, bytes + room / 2, room - room / 2);
        assert_memory_equal(says.at, "row |'", 6);
        assert_int_equal(play.values[0].bytes, value);
        assert_false(play.answer.done);
    }
    free(bytes);
}

static void numbers_have_their_sign_and_size(void **state)
{
    static const struct {
        uint8_t type, bytes;
        bool is_unsigned;
        const char *raw, *text;
    } numbers[] = {
        {1, 1, false, "\377",                             "-1"                    },
        {1, 1, true,  "\377",                             "255"                   },
        {2, 2, false, "\0\200",                           "-32768"                },
        {2, 2, true,  "\0\200",                           "32768"                 },
        {3, 4, false, "\377\377\377\377",                 "-1"                    },
        {3, 4, true,  "\377\377\377\377",                 "4294967295"            },
        {8, 8, false, "\377\377\377\377\377\377\377\377", "-1"                    },
        {8, 8, true,  "\377\377\377\377\377\377\377\177", "9223372036854775807"   },
        {8, 8, true,  "\377\377\377\377\377\377\377\377", "1.8446744073709552e+19"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        struct myp_column column = {.bytes = numbers[i].bytes,
                                    .is_unsigned = numbers[i].is_unsigned};
        char packet[16] = {0}, text[40];
        struct value value;
        memcpy(packet + 2, numbers[i].raw, numbers[i].bytes);
        assert_int_equal(myp_row_binary((struct slice){packet, 2U + numbers[i].bytes}, &column,
                                        1, &value),
                         MYP_ROW_FINE);
        value_print(text, sizeof(text), &value);
        assert_string_equal(text, numbers[i].text);
    }
}

static void times_are_printed_within_bounds(void **state)
{
    static const struct {
        enum myp_kind kind;
        uint8_t decimals, bytes;
        const char *raw, *text;
    } times[] = {
        {MYP_DATE,     0,  0,  "",                                 "0000-00-00"                },
        {MYP_DATE,     0,  4,  "\350\7\2\35",                      "2024-02-29"                },
        {MYP_DATETIME, 0,  4,  "\350\7\2\35",                      "2024-02-29 00:00:00"       },
        {MYP_DATETIME, 6,  7,  "\350\7\2\35\27\73\73",             "2024-02-29 23:59:59.000000"},
        {MYP_DATETIME, 2,  11, "\350\7\2\35\27\73\73\100\342\1\0", "2024-02-29 23:59:59.12"    },
        {MYP_DATETIME, 39, 11, "\350\7\2\35\27\73\73\100\342\1\0", "2024-02-29 23:59:59"       },
        {MYP_TIME,     0,  0,  "",                                 "00:00:00"                  },
        {MYP_TIME,     0,  8,  "\1\42\0\0\0\26\73\73",             "-838:59:59"                },
        {MYP_TIME,     6,  12, "\0\0\0\0\0\1\2\3\1\0\0\0",         "01:02:03.000001"           },
    };
    char buffer[MYP_TIME_BYTES];
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(times); i++) {
        struct myp_column column = {.kind = (uint8_t)times[i].kind,
                                    .decimals = times[i].decimals};
        struct value value = {VALUE_BLOB, times[i].bytes, .as.text = times[i].raw};
        uint32_t bytes = myp_time_print(&column, &value, buffer);
        assert_true(slice_is((struct slice){buffer, bytes}, times[i].text));
    }
    for (unsigned kind = MYP_DATE; kind <= MYP_TIME; kind++) {
        struct myp_column column = {.kind = (uint8_t)kind, .decimals = 6};
        char most[12];
        memset(most, 0xff, sizeof(most));
        struct value value = {VALUE_BLOB, kind == MYP_TIME ? 12 : 11, .as.text = most};
        assert_true(myp_time_print(&column, &value, buffer) < MYP_TIME_BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_server_sends_is_told),
        cmocka_unit_test(nothing_comes_after_the_end),
        cmocka_unit_test(a_row_may_begin_like_an_end),
        cmocka_unit_test(numbers_have_their_sign_and_size),
        cmocka_unit_test(times_are_printed_within_bounds),
    };
    arena = arena_create(1 << 16);
    text_init(&says, arena, 1 << 20);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(play.buffer);
    arena_destroy(&arena);
    return failed;
}
