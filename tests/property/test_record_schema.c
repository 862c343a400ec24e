/* links: record
 *
 * What the writer writes is what docs/record.schema.json describes: a full record, a failed and
 * an interrupted one, one of open loops, and one of extremes pass; the same with one member too
 * many does not. The judge is Python's jsonschema (package python3-jsonschema). */

#include "fake/sample_record_open.h"
#include "os/fs.h"
#include "os/proc.h"
#include "record/record_json.h"
#include "testing.h"

#include <string.h>

static const char judge[] =
    "import json, sys\n"
    "try:\n"
    "    import jsonschema\n"
    "except ImportError:\n"
    "    print('skip')\n"
    "    sys.exit(0)\n"
    "schema = json.load(open(sys.argv[1]))\n"
    "jsonschema.Draft202012Validator.check_schema(schema)\n"
    "check = jsonschema.Draft202012Validator(schema)\n"
    "def described(node, inside):\n"
    "    if isinstance(node, dict):\n"
    "        for key, item in node.items():\n"
    "            if inside and not (set(item) & {'description', '$ref', 'const'}):\n"
    "                print('no description:', key)\n"
    "            described(item, key == 'properties')\n"
    "described(schema, False)\n"
    "for path in sys.argv[2:]:\n"
    "    record = json.load(open(path))\n"
    "    for fault in check.iter_errors(record):\n"
    "        print(path, list(fault.absolute_path), fault.message)\n"
    "    for place in (record, record['scenarios'][0], record['targets'][0],\n"
    "                  *record['costs'], *record['searches'],\n"
    "                  *(step for search in record['searches'] for step in search['steps'])):\n"
    "        place['surplus'] = 1\n"
    "        if check.is_valid(record):\n"
    "            print(path, 'a surplus member was accepted')\n"
    "        del place['surplus']\n"
    "    if not check.is_valid(record):\n"
    "        print(path, 'invalid')\n"
    "print('done')\n";

static struct record *extreme_record(struct arena *arena)
{
    struct record *record = sample_record(arena);
    struct rec_cell *cell = &record->cells[0];
    record->seed = UINT64_MAX;
    record->suite_path = NULL;
    struct hist *hist = hist_create(arena);
    hist_record(hist, UINT64_MAX);
    hist_record(hist, UINT64_MAX);
    rec_cell_add_run(arena, cell)->histogram = hist;
    rec_cell_add_run(arena, cell)->histogram = hist_create(arena);
    *rec_cell_add_check(arena, cell) = (struct rec_check){
        .name = "value",
        .expected = {.type = VALUE_BLOB, .bytes = 2, .as.text = "\x00\xff"},
        .found = value_real(1e300)
    };
    record->targets[0].home = NULL;
    record->floors[0].unavailable = "read-only folder";
    record_add_cost(record)->name = "a";
    record_add_search(record)->name = "b";
    (void)rec_search_add_step(arena, &record->searches[0]);
    return record;
}

static void records_fit_the_schema(void **state)
{
    (void)state;
    struct record *(*const makers[])(struct arena *) = {sample_record, sample_failed_record,
                                                        sample_interrupted_record,
                                                        extreme_record, sample_open_record};
    struct arena *arena = arena_create(1 << 20);
    struct err err = {0};
    const char *folder, *output = NULL;
    const char *argv[16] = {"/usr/bin/python3", "-c", judge,
                            DBDYNO_SOURCE_DIR "/docs/record.schema.json"};
    assert_true(fs_make_temp(arena, "dbdyno-test", NULL, NULL, &folder, &err));
    for (size_t i = 0; i < ARRAY_COUNT(makers); i++) {
        argv[4 + i] = arena_printf(arena, "%s/%zu.json", folder, i);
        assert_true(record_write(makers[i](arena), argv[4 + i], &err));
    }
    bool ok = proc_capture(arena, argv, 60 * NS_PER_S, 1 << 16, &output, &err);
    assert_true(fs_remove_tree(folder, &err) || ok);
    if (!ok)
        fail_msg("%s", err.text);
    if (strcmp(output, "skip\n") == 0) {
        printf("no jsonschema: package python3-jsonschema\n");
        skip();
    }
    assert_string_equal(output, "done\n");
    arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(records_fit_the_schema)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
