/* Bytes of a real server (tests/wire/pg_*.hex), whole and cut at every byte. A file is a list
 * of
 *
 *     play
 *     > MESSAGE              (what the codec has to say)
 *     HEX
 *
 * DBDYNO_PG_UPDATE=1 prints the messages that came. */

#include "testing.h"
#include "unit/wire/pg_play.h"

#include <glob.h>

enum { BYTES_MOST = 1 << 20, SAYS_MOST = 1 << 20 };

struct bench {
    struct arena *arena;
    struct pg_play play;
    struct text says, whole, expected;
    char *bytes;
    size_t used;
    bool update;
    uint32_t plays, cuts;
};

static void play_begin(struct bench *bench)
{
    text_reset(&bench->says);
    pg_play_begin(&bench->play, &bench->says);
}

static void check_says(const struct bench *bench, const char *expected)
{
    assert_false(bench->play.wrong);
    assert_int_equal(bench->play.used, 0);
    assert_string_equal(bench->says.at, expected);
}

static void play_whole(struct bench *bench)
{
    play_begin(bench);
    pg_play_bytes(&bench->play, bench->bytes, bench->used);
    text_reset(&bench->whole);
    text_add(&bench->whole, bench->says.at);
    bench->plays++;
    if (bench->update)
        printf("play\n%s", bench->whole.at);
    else
        check_says(bench, bench->expected.at);
}

static void play_cut(struct bench *bench)
{
    for (size_t cut = 1; cut < bench->used; cut++) {
        play_begin(bench);
        pg_play_bytes(&bench->play, bench->bytes, cut);
        pg_play_bytes(&bench->play, bench->bytes + cut, bench->used - cut);
        check_says(bench, bench->whole.at);
        bench->cuts++;
    }
    for (size_t step = 1; step <= 7; step++) {
        play_begin(bench);
        for (size_t at = 0; at < bench->used; at += step) {
            size_t left = bench->used - at;
            pg_play_bytes(&bench->play, bench->bytes + at, left < step ? left : step);
        }
        check_says(bench, bench->whole.at);
    }
}

static void play_end(struct bench *bench)
{
    if (bench->used > 0) {
        play_whole(bench);
        play_cut(bench);
    }
    bench->used = 0;
    text_reset(&bench->expected);
}

static void read_hex(struct bench *bench, struct slice line)
{
    assert_true(line.bytes % 2 == 0 && bench->used + line.bytes / 2 <= BYTES_MOST);
    for (size_t i = 0; i < line.bytes; i += 2) {
        char digits[3] = {line.at[i], line.at[i + 1], '\0'};
        char *end;
        bench->bytes[bench->used++] = (char)strtoul(digits, &end, 16);
        assert_true(*end == '\0');
    }
}

static void read_line(struct bench *bench, struct slice line)
{
    if (slice_is(line, "play")) {
        play_end(bench);
    } else if (slice_starts(line, "> ")) {
        text_add_slice(&bench->expected, slice_skip(line, 2));
        text_add_char(&bench->expected, '\n');
    } else if (line.bytes > 0 && line.at[0] != '#') {
        read_hex(bench, line);
    }
}

static void play_file(struct bench *bench, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    if (bench->update)
        printf("file %s\n", path);
    for (ssize_t got = getline(&line, &room, file); got > 0;
         got = getline(&line, &room, file)) {
        size_t bytes = (size_t)got - (line[got - 1] == '\n');
        read_line(bench, (struct slice){line, bytes});
    }
    play_end(bench);
    free(line);
    fclose(file);
}

static void transcripts_say_the_same_however_they_are_cut(void **state)
{
    (void)state;
    static struct bench bench;
    glob_t files;
    bench.arena = arena_create(1 << 16);
    bench.bytes = arena_alloc(bench.arena, BYTES_MOST, 1);
    bench.update = getenv("DBDYNO_PG_UPDATE") != NULL;
    text_init(&bench.says, bench.arena, SAYS_MOST);
    text_init(&bench.whole, bench.arena, SAYS_MOST);
    text_init(&bench.expected, bench.arena, SAYS_MOST);
    assert_int_equal(glob(DBDYNO_SOURCE_DIR "/tests/wire/pg_*.hex", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        play_file(&bench, files.gl_pathv[i]);
    globfree(&files);
    print_message("             %u transcripts, %u cuts\n", bench.plays, bench.cuts);
    assert_true(bench.plays > 30);
    free(bench.play.buffer);
    arena_destroy(&bench.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transcripts_say_the_same_however_they_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
