#include "base/text.h"
#include "suite_testing.h"

#include <unistd.h>

/* The next character is the 64th byte. */
#define LONG_SQL "SELECT '0123456789012345678901234567890123456789012345678901234"

/* ---- parameters */
static const char params_source[] =
    "local p = params { users = integer { 1000, min = 100, max = 5000, quick = 200, help = 'h' },\n"
    "  rate = number { 1.5, min = 0 }, mode = text { 'a' }, on = boolean { true }, plain = 7 }\n"
    "local t = table { 't', rows = p.users, column { 'id', 'INT', row } }\n"
    "assert(math.type(p.rate) == 'float' and p.mode .. tostring(p.on) == 'atrue' or p.mode ~= 'a')\n"
    "return suite { 'x', scenario { 's', sql = 'SELECT 1', samples = p.plain } }\n";

static const struct suite_param *param(const struct loaded *l, const char *name)
{
    for (uint32_t i = 0; i < l->suite.param_count; i++) {
        if (strcmp(l->suite.params[i].name, name) == 0)
            return &l->suite.params[i];
    }
    fail_msg("no parameter %s", name);
    return NULL;
}

static void params_have_defaults(void **state)
{
    (void)state;
    struct loaded l = load_ok(params_source);
    assert_int_equal(l.suite.param_count, 5);
    assert_int_equal(param(&l, "users")->value.as.i, 1000);
    assert_true(param(&l, "users")->has_range && param(&l, "users")->max == 5000);
    assert_string_equal(param(&l, "users")->help, "h");
    assert_int_equal(param(&l, "on")->value.as.i, 1);
    assert_int_equal(param(&l, "rate")->value.type, VALUE_REAL);
    assert_false(param(&l, "users")->changed);
    assert_int_equal(l.suite.tables[0].rows, 1000);
    assert_int_equal(l.suite.scenarios[0].samples, 7);
    unload(&l);
}

static void params_are_overridden(void **state)
{
    (void)state;
    const char *overrides[] = {"users=300", "on=no", "mode=b=c", "rate=2"};
    struct loaded l = load_with(params_source, (struct suite_options){.quick = true,
                                                                      .overrides = overrides,
                                                                      .override_count = 4});
    assert_true(l.done);
    assert_int_equal(param(&l, "users")->value.as.i, 300);
    assert_true(param(&l, "users")->changed);
    assert_int_equal(param(&l, "on")->value.as.i, 0);
    assert_memory_equal(param(&l, "mode")->value.as.text, "b=c", 3);
    assert_false(param(&l, "plain")->changed);
    unload(&l);
    l = load_with(params_source, (struct suite_options){.quick = true});
    assert_int_equal(param(&l, "users")->value.as.i, 200);
    unload(&l);
}

static void wrong_overrides_are_usage(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"users=99",   "users: expected a whole number from 100 to 5000, got 99"               },
        {"users=1e12", "users: expected a whole number from 100 to 5000, got 1e12"             },
        {"users=",     "users: expected a whole number from 100 to 5000, got "                 },
        {"rate=-1",    "rate: expected a number from 0, got -1"                                },
        {"on=maybe",   "on: expected true or false, got maybe"                                 },
        {"userz=5",    "unknown parameter 'userz'; suite 'x' has: mode, on, plain, rate, users"},
        {"users",      "expected NAME=VALUE, got 'users'"                                      },
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *overrides[] = {rows[i][0]};
        struct loaded l =
            load_with(params_source,
                      (struct suite_options){.overrides = overrides, .override_count = 1});
        assert_false(l.done);
        assert_int_equal(l.err.kind, ERR_USAGE);
        assert_string_equal(l.err.text, rows[i][1]);
        assert_int_equal(l.faults.count, 0);
        unload(&l);
    }
}

#define TINY "local t = table { 't', rows = 9, column { 'age', 'INT', row } }\n"
#define ANSWER(fields) \
    TINY "return suite { 'x', scenario { 'a', sql = 'SELECT 1', expect = { " fields " } } }"

/* ---- faults: a source and what it says, one fault a line */
static const char *const faults[][2] = {
    {"return 5",                                                                                                        "t.lua: expected the file to end in return suite { ... }"               },
    {"",                                                                                                                "t.lua: expected the file to end in return suite { ... }"               },
    {"local x = \nreturn )",                                                                                            "t.lua:2: unexpected symbol near 'return'"                              },
    {"local x = nil + 1",                                                                                               "t.lua:1: attempt to perform arithmetic on a nil value"                 },
    {"scenaro { }",                                                                                                     "t.lua:1: unknown name 'scenaro'; did you mean 'scenario'?"             },
    {"x = 1",                                                                                                           "t.lua:1: 'x' is not declared: write local x"                           },
    {"local p = params { users = 5 } local x = p.user",
     "t.lua:1: unknown parameter 'user'; did you mean 'users'?"                                                                                                                                 },
    {"return suite { 'x' }",                                                                                            "t.lua:1: suite 'x': expected one scenario at least"                    },
    {"return suite { 'x',\n scenario { 'a', sql = 'SELECT 1', sampels = 1 },\n"
     " scenario { 'a', sql = 'SELECT 1' },\n scenario { 'b', sql = 'SELECT :p' } }",                               "t.lua:2: scenario 'a': unknown field 'sampels'; did you mean 'samples'?\n"
     "t.lua:3: scenario 'a' is there twice, first at t.lua:2; override { } changes one\n"
     "t.lua:4: scenario 'b': SQL: :p has no bind"                                                      },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', bind = { b = 1 } } }",
     "t.lua:1: scenario 'a': bind 'b' is not named in the SQL"                                                                                                                                  },
    {"return suite { 'x', scenario { 'a', sql = { sqlite = \"SELECT '\", default = 'SELECT 1' } } }",
     "t.lua:1: scenario 'a': SQL for sqlite: column 8: the quote that begins here has no end"                                                                                                   },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', clients = { 1, 5001 } } }",
     "t.lua:1: scenario 'a': clients: expected whole numbers from 1 to 5000, got 5001"                                                                                                          },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', clients = { 2, 2 } } }",
     "t.lua:1: scenario 'a': clients: 2 is there twice"                                                                                                                                         },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', samples = 1, duration = '1s' } }",
     "t.lua:1: scenario 'a': expected one of samples, per_client and duration"                                                                                                                  },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', samples = 0 } }",
     "t.lua:1: scenario 'a': samples: expected a whole number from 1 to 1000000000, got 0"                                                                                                      },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', rate = 0 } }",
     "t.lua:1: scenario 'a': rate: expected a number from 0.00027 to 10000000, got 0"                                                                                                           },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', rate = 0/0 } }",
     "t.lua:1: scenario 'a': rate: expected a number from 0.00027 to 10000000, got -nan"                                                                                                        },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', rate = '5' } }",
     "t.lua:1: scenario 'a': rate: expected a number from 0.00027 to 10000000, got '5'"                                                                                                         },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', arrivals = 'fixed' } }",
     "t.lua:1: scenario 'a': arrivals belongs to an open loop: rate is missing"                                                                                                                 },
    {"return suite { 'x', ping { 'a', rate = 1e7, duration = '1000s' } }",
     "t.lua:1: ping 'a': rate and duration make 10000000000 executions, more than 1000000000"                                                                                                   },
    {"return suite { 'x', ping { 'a', warmup = 'long' } }",
     "t.lua:1: ping 'a': warmup: expected a duration up to 24h, as \"10s\" or \"5ms\", got "
     "'long'"                                                                                                                                                                                   },
    {"return suite { 'x', ping { 'a', warmup = '2s', duration = '9s', deadline = '10s' } }",
     "t.lua:1: ping 'a': deadline (10.0 s) is not longer than warmup and duration (11.0 s)"                                                                                                     },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', duration = 'soon' } }",
     "t.lua:1: scenario 'a': duration: expected a duration up to 24h, as \"10s\" or \"5ms\", got "
     "'soon'"                                                                                                                                                                                   },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', depth = 'deep' } }",
     "t.lua:1: scenario 'a': depth: expected \"drain\" or \"walk\" or \"decode\", got 'deep'"                                                                                                   },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', expect = { row = 1 } } }",
     "t.lua:1: scenario 'a': unknown field 'row'; did you mean 'rows'?"                                                                                                                         },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', expect = { rows = uniform(1, 2) } } }",
     "t.lua:1: scenario 'a': expect: a right answer draws nothing: use bound \"name\" and at()"                                                                                                 },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', expect = { value = bound 'z' } } }",
     "t.lua:1: scenario 'a': bound parameter 'z' is not known here"                                                                                                                             },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT :a', bind = { a = var 'v' } } }",
     "t.lua:1: scenario 'a': variable 'v' is not known here"                                                                                                                                    },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT :a', bind = { a = {} } } }",
     "t.lua:1: scenario 'a': SQL: :a has no bind\n"
     "t.lua:1: scenario 'a': bind: a: expected a generator, number, text or boolean, got a plain "
     "table"                                                                                                                                                                                    },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT :a', direct = true } }",
     "t.lua:1: scenario 'a': SQL: a direct statement has no parameters"                                                                                                                         },
    {"return suite { 'x', scenario { 'a b', sql = 'SELECT 1' } }",
     "t.lua:1: scenario: element 1: expected a name (letters, digits, '_', '-', '.'; at most 63 "
     "bytes), got 'a b'"                                                                                                                                                                        },
    {"return suite { 'x', scenario { 'a', sql = { sqlit = '' } } }",
     "t.lua:1: scenario 'a': sql: unknown dialect 'sqlit'; did you mean 'sqlite'?"                                                                                                              },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT ?' } }",
     "t.lua:1: scenario 'a': SQL: column 8: write :name instead of ?"                                                                                                                           },
    {"return suite { 'x', scenario { 'a', steps = { begin { }, 5 }, sql = 'SELECT 1' } }",
     "t.lua:1: scenario 'a': element 2: expected a step, got 5\n"
     "t.lua:1: scenario 'a': sql belongs to a step, not beside steps"                                                                                                                           },
    {"return suite { 'x', scenario { 'a', steps = { pipeline { pause { '1s' } } } } }",
     "t.lua:1: pipeline: a pipeline holds execute, insert, ping, begin, commit and rollback only"                                                                                               },
    {"local t = table { 't', rows = 2e9, column { 'a', 'INT', row } }\nreturn suite { 'x', ping { 'p' } }",
     "t.lua:1: table 't': rows: expected a whole number from 0 to 1000000000, got 2000000000"                                                                                                   },
    {"local t = table { 't', rows = 1, column { 'a', 'INT', col 'b' }, column { 'b', 'INT' } }\n"
     "return suite { 'x', ping { 'p' } }",                                                                         "t.lua:1: column 'a': column 'b' is not known here\n"
     "t.lua:1: column 'b': element 3: expected a generator or value"                                                                             },
    {"local t = table { 't', rows = 1, column { 'a', 'INT', client }, column { 'a', 'INT', 1 } }\n"
     "return suite { 'x', ping { 'p' } }",                                                                         "t.lua:1: column 'a': a column does not know the client\n"
     "t.lua:1: table 't': column 'a' is there twice"                                                                                             },
    {"local t = table { 't', rows = 9, column { 'age', 'INT', row } }\nlocal n = count(t, 'agr', '>', 1)\n"
     "local m = count(t, 'age', '>>', 1)\nreturn suite { 'x', ping { 'p' } }",                                     "t.lua:2: count: table 't' has no column 'agr'; did you mean 'age'?\n"
     "t.lua:3: count: expected a column, one of = <> < <= > >=, and a value"                                 },
    {"local t = table { 't', rows = 1e7 + 1, column { 'a', 'INT', row } }\nlocal n = count(t, 'a', '>', 1)\n"
     "return suite { 'x', ping { 'p' } }",                                                                         "t.lua:2: count(), distinct() and answer{} may run 10,000,000 rows in all (a row of large "
     "expressions counts as several)"                                                                                                            },
    {"local a, b = uniform(5, 1), zipf('x', 1)\nlocal c = format('%q', 1)\nlocal d = uniform(1, 2, 3)\n"
     "return suite { 'x', ping { 'p' } }",                                                                         "t.lua:1: uniform needs a lower end that is not above the upper end\n"
     "t.lua:1: zipf: argument 1: expected a whole number, got 'x'\n"
     "t.lua:2: format needs a value for each place; places are %d, %s, %0Nd with N up to 64, "
     "and %% for a percent sign\n"
     "t.lua:3: uniform: argument 3: expected no more arguments, got 3"                                                                           },
    {"local x = row < 5",
     "t.lua:1: compare generators with is(a, \"<\", b): < and > cannot be values"                                                                                                               },
    {"local t = table { 't', rows = 3, column { 'a', 'INT', row } }\n"
     "return suite { 'x', load { 'l', t, batch = 5, commit = 2 } }",                                               "t.lua:2: load 'l': a commit of 2 rows is smaller than a statement of 5"},
    {"local t = table { 't', rows = 0, column { 'a', 'INT', row } }\nreturn suite { 'x', load { 'l', t } }",
     "t.lua:2: load 'l': table 't' has no rows to load"                                                                                                                                         },
    {"return suite { 'x', ping { 'p', clients = { 1, 2 } },\n relation { 'r', a = 'p', b = 'q' },\n"
     " relation { 's', a = { 'p', clients = 3 }, b = { 'p', clients = 1, phase = 'z' } } }",                       "t.lua:2: relation 'r': no scenario 'q'\n"
     "t.lua:2: relation 'r': scenario 'p' has several numbers of clients: write { \"p\", clients = "
     "1 }\n"
     "t.lua:3: relation 's': scenario 'p' has no cell of 3 clients\n"
     "t.lua:3: relation 's': scenario 'p' has no phase 'z'"                                    },
    {"return suite { 'x', ping { 'ping' }, override { 'pings', samples = 1 } }",
     "t.lua:1: override: no scenario 'pings' before it; did you mean 'ping'?"                                                                                                                   },
    {"return suite { 'x', extend 'nosuch' }",
     "t.lua:1: extend: no built-in suite 'nosuch' (a file's name ends in .lua)"                                                                                                                 },
    {"return suite { 'x', extend './other.lua' }",
     "t.lua:1: extend: a suite may extend a built-in one or a file beside it"                                                                                                                   },
    {"return suite { 'x', ping { 'p', after = { query { 'q', sql = 'SELECT :a' } } } }",
     "t.lua:1: query 'q': SQL: a query has no parameters, got :a\n"
     "t.lua:1: query 'q': expected value = ... or rows = ..."                                                                                                                                   },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', duration = '10s', deadline = '10s' } }",
     "t.lua:1: scenario 'a': deadline (10.0 s) is not longer than duration (10.0 s)"                                                                                                            },
    {"return suite { 'x', ping { 'p' },\n override { 'p', duration = '2h', deadline = '1h' } }",
     "t.lua:2: ping 'p': deadline (3,600 s) is not longer than duration (7,200 s)"                                                                                                              },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', statement_deadline = '301s' } }",
     "t.lua:1: scenario 'a': statement_deadline (301 s) is longer than deadline (300 s, as none is given)"                                                                                      },
    {"return suite { 'x', scenario { 'a', sql = 'SELECT 1', deadline = '4s', statement_deadline = '5s' } }",
     "t.lua:1: scenario 'a': statement_deadline (5.00 s) is longer than deadline (4.00 s)"                                                                                                      },
    {"return suite { 'x', scenario { 'a', deadline = '4s', steps = {\n begin { deadline = '4s' },\n"
     " when { 1, commit { deadline = '5s' },\n otherwise = { rollback { deadline = '6s' } } } } } }",
     "t.lua:3: scenario 'a': the step's deadline (5.00 s) is longer than the scenario's (4.00 s)\n"
     "t.lua:4: scenario 'a': the step's deadline (6.00 s) is longer than the scenario's (4.00 s)"                                                                                               },
    {ANSWER("answer = answer { t }"),
     "t.lua:2: answer: expected a table and then 1 to 1000 columns or generators"                                                                                                               },
    {ANSWER("answer = answer { t, 'agr', where = 'wher' }"),
     "t.lua:2: answer: table 't' has no column 'agr'; did you mean 'age'?\n"
     "t.lua:2: answer: table 't' has no column 'wher'"                                                                                                                                          },
    {ANSWER("answer = answer { t, col 'agr' }"),
     "t.lua:2: answer: column 'agr' is not known here"                                                                                                                                          },
    {ANSWER("answer = answer { t, bound 'age' }"),
     "t.lua:2: answer: bound parameter 'age' is not known here"                                                                                                                                 },
    {ANSWER("answer = answer { t, 'age', uniform(1, 2) }"),
     "t.lua:2: answer: a right answer draws nothing: use columns and at()"                                                                                                                      },
    {ANSWER("answer = answer { t, 'age', where = is(permute(row, 9), '<', 5) }"),
     "t.lua:2: answer: a right answer draws nothing: use columns and at()"                                                                                                                      },
    {ANSWER("answer = answer { t, client }"),
     "t.lua:2: answer: a right answer does not know the client"                                                                                                                                 },
    {ANSWER("answer = answer { 5, {} }"),
     "t.lua:2: answer: element 1: expected a table made by table { ... }, got 5"                                                                                                                },
    {ANSWER("answer = answer { t, {}, wher = 1 }"),
     "t.lua:2: answer: element 2: expected a generator, number, text or boolean, got a plain table\n"
     "t.lua:2: answer: unknown field 'wher'; did you mean 'where'?"                                                                                                                             },
    {ANSWER("rows = 9, answer = answer { t, 'age' }"),
     "t.lua:2: scenario 'a': expect has answer and rows: an answer knows its rows"                                                                                                              },
    {ANSWER("error = '1', answer = answer { t, 'age' }"),
     "t.lua:2: scenario 'a': expect: a statement that fails has no rows, values or affected"                                                                                                    },
    {ANSWER("answer = 9"),                                                                                              "t.lua:2: scenario 'a': answer: expected an answer { ... }, got 9"      },
    {ANSWER("values = { any, any }"),
     "t.lua:2: scenario 'a': values: expected one at least that is not any"                                                                                                                     },
    {ANSWER("value = any"),
     "t.lua:2: scenario 'a': value: expected a generator, number, text or boolean, got any"                                                                                                     },
    {TINY
     "return suite { 'x', scenario { 'a', steps = { begin { } },\n expect = { answer = answer { t, 'age' } } } }",
     "t.lua:2: scenario 'a': expect: beside steps only growth; the rest belongs to a step"                                                                                                      },
    {TINY "return suite { 'x', scenario { 'a', steps = {\n"
          "  execute { 'SELECT 1', expect = { answer = answer { t, 'age' } } } } } }",                             "t.lua:3: execute: unknown field 'answer'"                              },
    {"local t = table { 't', rows = 1e7 + 1, column { 'a', 'INT', row } }\n"
     "return suite { 'x', scenario { 'a', sql = '', expect = { answer = answer { t, 'a' } } } }",
     "t.lua:2: answer: count(), distinct() and answer{} may run 10,000,000 rows in all (a row of large "
     "expressions counts as several)"                                                                                                                                                           },
    {"local function two(name)\n local n = 2\n return scenario { name, sql = 'SELECT 1', clients = 0 }\nend\n"
     "local function one(name)\n local s = two(name)\n return s\nend\n"
     "return suite { 'x', one('a'),\n two('b') }",                                                                 "t.lua:3 (called from line 10): scenario 'b': clients: expected whole numbers from 1 to 5000, got 0\n"
     "t.lua:3 (called from line 6): scenario 'a': clients: expected whole numbers from 1 to 5000, got 0"                                 },
};

/* Two hours run under a deadline of two hours and five minutes. */
static void the_deadline_follows_the_duration(void **state)
{
    (void)state;
    struct loaded l = load_ok("return suite { 'x', ping { 'p', duration = '2h' },\n"
                              "  ping { 'q', duration = '10s', deadline = '11s' },\n"
                              "  ping { 'r', statement_deadline = '300s' },\n"
                              "  override { 'q', samples = 1, deadline = '1s' } }");
    assert_int_equal(l.suite.scenarios[0].deadline_ns, 7500 * NS_PER_S);
    assert_int_equal(l.suite.scenarios[1].deadline_ns, NS_PER_S);
    assert_int_equal(l.suite.scenarios[2].deadline_ns, 300 * NS_PER_S);
    unload(&l);
}

static void faults_name_place_and_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(faults); i++) {
        struct loaded l = load_with(faults[i][0], (struct suite_options){0});
        struct text text;
        assert_false(l.done);
        text_init(&text, l.arena, 10000);
        for (uint32_t f = 0; f < l.faults.count; f++)
            text_addf(&text, "%s%s", f > 0 ? "\n" : "", l.faults.texts[f]);
        assert_string_equal(text.at, faults[i][1]);
        assert_int_equal(l.err.kind, ERR_CONFIG);
        assert_string_equal(l.err.text, l.faults.texts[0]);
        unload(&l);
    }
}

static void what_a_scenario_does_is_always_said(void **state)
{
    (void)state;
    struct loaded l = load_ok(
        "local t = table { 't', rows = 3, column { 'id', 'INT', sequence(1) } }\n"
        "return suite { 'x', create { 'a', t }, load { 'b', t }, load { 'c', t, help = 'own' },\n"
        "  scenario { 'd', sql = ' SELECT id\\n  FROM t' },\n"
        "  scenario { 'e', sql = \"" LONG_SQL "\xc3\xa4\xc3\xa4'\" } }");
    static const char cut[] = LONG_SQL "\xc3\xa4...";
    const char *const helps[] = {"makes the table t", "loads the table t: 3 rows", "own",
                                 "SELECT id FROM t", cut};
    for (uint32_t i = 0; i < ARRAY_COUNT(helps); i++)
        assert_string_equal(l.suite.scenarios[i].help, helps[i]);
    unload(&l);
}

/* ---- figures from the generators */
static void counts_follow_the_generators(void **state)
{
    (void)state;
    struct loaded l = load_ok(
        "local U, O = 1000, 5000\n"
        "local users = table { 'users', rows = U, column { 'id', 'INT', sequence(1) },\n"
        "  column { 'age', 'INT', modulo(row, 100) }, column { 'twice', 'INT', col 'age' * 2 } }\n"
        "local orders = table { 'orders', rows = O, column { 'user_id', 'INT', round_robin(U) } }\n"
        "assert(count(users) == 1000)\n"
        "assert(count(users, 'age', '>', 90) == 90)\n"
        "assert(count(users, col 'twice', '>=', 180) == 100)\n"
        "assert(count(users, both(is(col 'age', '<', 10), is(row, '<=', 100))) == 10)\n"
        "assert(count(orders, at(users, 'age', col 'user_id'), '>', 90) == 450)\n"
        "assert(distinct(users, 'age') == 100)\n"
        "assert(distinct(users, 'age', 'age', '>', 90) == 9)\n"
        "assert(distinct(orders, 'user_id') == 1000)\n"
        "assert(value_at(users, 'age', 250) == 50 and users.rows == 1000 and users.name == 'users')\n"
        "local k = uniform(1, 1000000)\n"
        "local draws = table { 'draws', rows = 100, column { 'same', 'INT', k - k },\n"
        "  column { 'two', 'INT', uniform(1, 1000000) - uniform(1, 1000000) } }\n"
        "assert(count(draws, 'same', '=', 0) == 100 and count(draws, 'two', '=', 0) == 0)\n"
        "return suite { 'x', scenario { 's', sql = 'SELECT 1' } }");
    unload(&l);
}

/* ---- whole answers */
#define PEOPLE                                                                               \
    "local t = table { 't', rows = 5, column { 'id', 'INT', sequence(1) },\n"                \
    "  column { 'name', 'TEXT', format('n%d', row) }, column { 'age', 'INT', row * 10 } }\n" \
    "local o = table { 'o', rows = 4, column { 'user_id', 'INT', round_robin(3) } }\n"

/* Rows of (a number, a text) and of a text: what the values of PEOPLE are, written by hand. */
static uint64_t row_hash(int64_t number, const char *text)
{
    const struct value values[] = {value_int(number), value_text(text, (uint32_t)strlen(text))};
    return number > 0 ? value_row_hash(values, 2) : value_row_hash(&values[1], 1);
}

static void answers_are_known_from_the_tables(void **state)
{
    (void)state;
    struct loaded l = load_ok(
        PEOPLE
        "local function s(name, a) return scenario { name, sql = 'SELECT 1', expect = a } end\n"
        "return suite { 'x',\n"
        "  s('all', { answer = answer { t, 'id', 'name' } }),\n"
        "  s('some', { answer = answer { t, col 'id', 'name', where = is(col 'age', '>', 30) } }),\n"
        "  s('join', { answer = answer { o, at(t, 'name', col 'user_id'),\n"
        "    where = is(at(t, 'age', col 'user_id'), '<', 30) } }),\n"
        "  s('none', { answer = answer { t, 'id', where = 0 } }),\n"
        "  s('null', { answer = answer { t, 'id', where = null } }),\n"
        "  s('column', { answer = answer { t, 'name', where = 'age' } }),\n"
        "  s('more', { answer = answer { t, 7, 'name', where = is(row, '=', 2) }, value = 7 }),\n"
        "  override { 'all', expect = { answer = answer { t, 'id', 'name', where = is(row, '=', 5) } } },\n"
        "  s('rows', { rows = 5 }) }");
    const struct {
        const char *name;
        uint64_t rows, checksum;
    } wants[] = {
        {"all",               1,                  row_hash(5,             "n5")             },
        {"some",              2,                  row_hash(4,             "n4") + row_hash(5, "n5")},
        {"join",                   3,                                row_hash(0,                                   "n1") + row_hash(0,            "n2") + row_hash(0, "n1")},
        {"none", 0,              0                                   },
        {"null",                  0,                       0    },
        {"column",                   5,
         row_hash(0,                             "n1") + row_hash(0,                                      "n2") + row_hash(0, "n3") + row_hash(0, "n4") +
             row_hash(0, "n5")},
        {"more", 1, row_hash(7, "n2")    },
    };
    for (size_t i = 0; i < ARRAY_COUNT(wants); i++) {
        const struct suite_scenario *s = &l.suite.scenarios[i];
        struct program program;
        assert_string_equal(s->name, wants[i].name);
        assert_true(s->has_answer);
        assert_true(s->answer == wants[i].checksum);
        assert_true(suite_compile(l.arena, &l.suite, s, DIALECT_SQLITE, &program, &l.err));
        assert_int_equal(program.checks[0].kind, PROG_CHECK_ROWS);
        assert_int_equal(program.checks[0].value.as.i, wants[i].rows);
    }
    assert_false(l.suite.scenarios[ARRAY_COUNT(wants)].has_answer);
    unload(&l);
}

static void library_is_what_the_manual_says(void **state)
{
    (void)state;
    struct loaded l = load_ok(
        "local t = { b = 1, a = 2, [3] = 'c', [1] = 'd' }\n"
        "local s = '' for k, v in pairs(t) do s = s .. tostring(k) .. tostring(v) end\n"
        "assert(s == '1d3ca2b1', s)\n"
        "local u = { 3, 1, 2 } table.sort(u) table.insert(u, 4) table.insert(u, 1, 0)\n"
        "assert(table.concat(u, ',') == '0,1,2,3,4' and table.remove(u) == 4)\n"
        "assert(select('#', table.unpack(u)) == 4)\n"
        "assert(('x'):rep(3) == 'xxx' and ('%05.1f'):format(2.25) == '002.2')\n"
        "assert(string.upper('a') .. ('ABC'):sub(2, 2) .. #('four') == 'AB4')\n"
        "assert(math.floor(2.5) == 2 and math.maxinteger == (1 << 63) - 1)\n"
        "assert(tostring({}) == 'a plain table' and tonumber('0x10') == 16)\n"
        "return suite { 'x', { scenario { 's', sql = 'SELECT 1' }, { scenario { 't', sql = '' } } } }");
    assert_int_equal(l.suite.scenario_count, 2);
    unload(&l);
}

/* ---- extending */
static const struct suite_scenario *scenario(const struct loaded *l, const char *name)
{
    for (uint32_t i = 0; i < l->suite.scenario_count; i++) {
        if (strcmp(l->suite.scenarios[i].name, name) == 0)
            return &l->suite.scenarios[i];
    }
    fail_msg("no scenario %s", name);
    return NULL;
}

static void extend_overrides_and_appends(void **state)
{
    (void)state;
    const char *overrides[] = {"rows=500"};
    struct loaded l = load_with(
        "local s = extend 'point'\n"
        "assert(s.tables.items.rows == 500 and s.params.rows == 500)\n"
        "return suite { 'mine', s,\n"
        "  override { 'point', duration = '2s', sql = 'SELECT value FROM items WHERE id=:id' },\n"
        "  override { 'load_items', commit = 'all' },\n"
        "  scenario { 'more', sql = 'SELECT 1' } }",
        (struct suite_options){.overrides = overrides, .override_count = 1});
    assert_true(l.done);
    assert_string_equal(l.suite.name, "mine");
    assert_int_equal(l.suite.table_count, 1);
    assert_string_equal(l.suite.scenarios[l.suite.scenario_count - 1].name, "more");
    const struct suite_scenario *point = scenario(&l, "point");
    assert_int_equal(point->samples, 0);
    assert_int_equal(point->duration_ns, 2 * NS_PER_S);
    assert_int_equal(point->warmup, 10);
    assert_string_equal(point->where, "t.lua:4");
    assert_int_equal(scenario(&l, "load_items")->rows_per_commit, 500);
    assert_string_equal(scenario(&l, "point_zipf")->where,
                        "point.lua:21 (called from line 33)");
    unload(&l);
}

static void hash_covers_what_is_extended(void **state)
{
    (void)state;
    struct loaded a = load_ok("return suite { 'x', extend 'point' }");
    struct loaded b = load_ok("return suite { 'x', extend 'shop' }");
    struct loaded c = load_ok("return suite { 'x', extend 'point' }");
    assert_true(a.suite.hash == c.suite.hash);
    assert_true(a.suite.hash != b.suite.hash);
    unload(&a);
    unload(&b);
    unload(&c);
}

static void files_extend_their_neighbours(void **state)
{
    (void)state;
    char path[] = "/tmp/dbdyno_suite_XXXXXX";
    assert_non_null(mkdtemp(path));
    struct arena *arena = arena_create(4096);
    const char *base = arena_printf(arena, "%s/base.lua", path);
    const char *mine = arena_printf(arena, "%s/mine.lua", path);
    FILE *file = fopen(base, "we");
    fputs("return suite { 'base', scenario { 'b', sql = 'SELECT 1' } }", file);
    fclose(file);
    file = fopen(mine, "we");
    fputs("return suite { 'mine', extend 'base.lua' }", file);
    fclose(file);
    struct suite suite;
    struct suite_faults faults_found;
    struct err err;
    struct suite_options options = {.name = mine, .seed = 42};
    assert_true(suite_load(arena, &options, &suite, &faults_found, &err));
    assert_string_equal(suite.scenarios[0].where, "base.lua:1");
    assert_string_equal(suite.path, mine);
    options.name = path; /* a folder */
    assert_false(suite_load(arena, &options, &suite, &faults_found, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_int_equal(remove(base) | remove(mine) | rmdir(path), 0);
    arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(params_have_defaults),
        cmocka_unit_test(params_are_overridden),
        cmocka_unit_test(wrong_overrides_are_usage),
        cmocka_unit_test(faults_name_place_and_remedy),
        cmocka_unit_test(the_deadline_follows_the_duration),
        cmocka_unit_test(what_a_scenario_does_is_always_said),
        cmocka_unit_test(counts_follow_the_generators),
        cmocka_unit_test(answers_are_known_from_the_tables),
        cmocka_unit_test(library_is_what_the_manual_says),
        cmocka_unit_test(extend_overrides_and_appends),
        cmocka_unit_test(hash_covers_what_is_extended),
        cmocka_unit_test(files_extend_their_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
