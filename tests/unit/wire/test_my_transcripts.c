/* Answers of a real server (tests/wire/my_*.hex), whole and cut at every byte. A file is a list
 * of
 *
 *     answer query|execute|prepare|simple FLAG,FLAG...|-
 *     known COLUMNS          (before an execute: from prepare)
 *     infile PACKETS         (what the client sent in between)
 *     > EVENT                (what the codec has to say; without any: not compared)
 *     HEX
 *
 * DBDYNO_MY_UPDATE=1 prints the files with the events that came. */

#include "testing.h"
#include "unit/wire/my_play.h"
#include "wire/my_known.h"

#include <glob.h>

enum { BYTES_MOST = 1 << 20 };

struct answer {
    enum myp_command command;
    uint8_t flags, infile;
    uint16_t known;
    struct text says;
    char *bytes;
    size_t used;
};

struct bench {
    struct arena *arena;
    struct my_play play;
    struct text says, whole;
    bool update;
    uint32_t answers, cuts, known;
};

static uint8_t flag_of(struct slice name)
{
    static const struct {
        const char *name;
        enum myp_flag flag;
    } flags[] = {
        {"deprecate_eof",     MYP_DEPRECATE_EOF    },
        {"session_track",     MYP_SESSION_TRACK    },
        {"extended_metadata", MYP_EXTENDED_METADATA},
        {"cache_metadata",    MYP_CACHE_METADATA   },
    };
    for (size_t i = 0; i < ARRAY_COUNT(flags); i++) {
        if (slice_is(name, flags[i].name))
            return (uint8_t)flags[i].flag;
    }
    assert_true(slice_is(name, "-"));
    return 0;
}

static void read_head(struct answer *answer, struct slice line)
{
    static const char *const commands[] = {"query", "execute", "prepare", "simple"};
    struct slice word, flag;
    slice_split(line, ' ', &word, &line);
    unsigned found = 0;
    while (found < ARRAY_COUNT(commands) && !slice_is(word, commands[found]))
        found++;
    assert_true(found < ARRAY_COUNT(commands));
    answer->command = (enum myp_command)found;
    while (line.bytes > 0) {
        slice_split(line, ',', &flag, &line);
        answer->flags |= flag_of(flag);
    }
}

static void read_hex(struct answer *answer, struct slice line)
{
    assert_true(line.bytes % 2 == 0 && answer->used + line.bytes / 2 <= BYTES_MOST);
    for (size_t i = 0; i < line.bytes; i += 2) {
        char digits[3] = {line.at[i], line.at[i + 1], '\0'};
        char *end;
        answer->bytes[answer->used++] = (char)strtoul(digits, &end, 16);
        assert_true(*end == '\0');
    }
}

static void play_begin(struct bench *bench, const struct answer *answer)
{
    text_reset(&bench->says);
    my_play_begin(&bench->play, answer->command, answer->flags, &bench->says);
    bench->play.answer.known = answer->known;
    bench->play.infile = answer->infile;
}

static void play_cut(struct bench *bench, const struct answer *answer, size_t step)
{
    play_begin(bench, answer);
    for (size_t at = 0; at < answer->used; at += step) {
        size_t left = answer->used - at;
        my_play_bytes(&bench->play, answer->bytes + at, left < step ? left : step);
    }
    assert_string_equal(bench->says.at, bench->whole.at);
}

static uint32_t count_lines(const char *text, const char *begin)
{
    uint32_t count = 0;
    for (; *text; text = strchr(text, '\n') + 1)
        count += strncmp(text, begin, strlen(begin)) == 0;
    return count;
}

/* The look at a whole answer says the same as the walk through it, and nothing of a part. */
static void check_known(struct bench *bench, const struct answer *answer)
{
    struct myp_known known = {0};
    const char *text = bench->whole.at;
    bool want = answer->command == MYP_EXECUTE && count_lines(text, "result of") == 1 &&
                strstr(text, ", known\n") && !(answer->flags & MYP_DEPRECATE_EOF);
    bool found = myp_known_result(answer->bytes, answer->used, 1, answer->known, &known);
    assert_int_equal(found, want);
    if (!want)
        return;
    bench->known++;
    assert_int_equal(known.taken, answer->used);
    assert_int_equal(known.rows, count_lines(text, "row |"));
    for (size_t bytes = 0; bytes < answer->used; bytes++)
        assert_false(myp_known_result(answer->bytes, bytes, 1, answer->known, &known));
    assert_false(myp_known_result(answer->bytes, answer->used, 2, answer->known, &known));
    assert_false(myp_known_result(answer->bytes, answer->used, 1, answer->known + 1U, &known));
}

static void play_answer(struct bench *bench, const struct answer *answer)
{
    play_begin(bench, answer);
    my_play_bytes(&bench->play, answer->bytes, answer->used);
    assert_true(bench->play.answer.done);
    assert_false(bench->play.wrong || bench->play.answer.fault);
    assert_int_equal(bench->play.used, 0);
    text_reset(&bench->whole);
    text_add(&bench->whole, bench->says.at);
    check_known(bench, answer);
    for (size_t cut = 1; cut < answer->used; cut++) {
        play_begin(bench, answer);
        my_play_bytes(&bench->play, answer->bytes, cut);
        assert_false(bench->play.answer.done);
        my_play_bytes(&bench->play, answer->bytes + cut, answer->used - cut);
        assert_string_equal(bench->says.at, bench->whole.at);
        bench->cuts++;
    }
    for (size_t step = 1; step <= 7; step++)
        play_cut(bench, answer, step);
    bench->answers++;
    if (bench->update)
        printf("%s", bench->whole.at);
    else
        assert_string_equal(bench->whole.at, answer->says.at);
}

static void answer_end(struct bench *bench, struct answer *answer)
{
    if (answer->used > 0)
        play_answer(bench, answer);
    answer->used = 0;
    answer->flags = 0;
    answer->known = 0;
    answer->infile = 1;
    text_reset(&answer->says);
}

static void read_line(struct bench *bench, struct answer *answer, struct slice line)
{
    if (slice_starts(line, "answer ")) {
        answer_end(bench, answer);
        read_head(answer, slice_skip(line, 7));
    } else if (slice_starts(line, "known ")) {
        answer->known = (uint16_t)strtoul(line.at + 6, NULL, 10);
    } else if (slice_starts(line, "infile ")) {
        answer->infile = (uint8_t)strtoul(line.at + 7, NULL, 10);
    } else if (slice_starts(line, "> ")) {
        text_add_slice(&answer->says, slice_skip(line, 2));
        text_add_char(&answer->says, '\n');
    } else if (line.bytes > 0 && line.at[0] != '#') {
        read_hex(answer, line);
    }
}

static void play_file(struct bench *bench, const char *path)
{
    char line[20000];
    struct answer answer = {.bytes = malloc(BYTES_MOST), .infile = 1};
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(answer.bytes);
    text_init(&answer.says, bench->arena, BYTES_MOST);
    if (bench->update)
        printf("FILE %s\n", path);
    while (fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        read_line(bench, &answer, slice_of(line));
    }
    answer_end(bench, &answer);
    fclose(file);
    free(answer.bytes);
}

static void transcripts_are_understood_however_cut(void **state)
{
    static struct bench bench;
    glob_t found;
    (void)state;
    bench.arena = arena_create(1 << 16);
    bench.update = getenv("DBDYNO_MY_UPDATE") != NULL;
    text_init(&bench.says, bench.arena, BYTES_MOST);
    text_init(&bench.whole, bench.arena, BYTES_MOST);
    assert_int_equal(glob(DBDYNO_SOURCE_DIR "/tests/wire/my_*.hex", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        play_file(&bench, found.gl_pathv[i]);
    globfree(&found);
    print_message("             %u answers, %u cuts\n", bench.answers, bench.cuts);
    assert_true(bench.answers > 100);
    assert_true(bench.known > 3);
    free(bench.play.buffer);
    bench.play.buffer = NULL;
    arena_destroy(&bench.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transcripts_are_understood_however_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
