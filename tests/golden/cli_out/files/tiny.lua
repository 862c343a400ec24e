local p = params {
  rows = integer { 100, min = 10, max = 1000, quick = 10, help = "rows of things" },
}
local things = table { "things", rows = p.rows,
  column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "age", "INTEGER", modulo(row, 10) } }

return suite { "tiny", summary = "one small table",
  create { "create_things", things },
  load { "load_things", things, batch = 50, commit = 50 },
  scenario { "one", help = "one row by its key",
    sql = "SELECT age FROM things WHERE id = :id", bind = { id = 5 },
    warmup = 1, samples = 7, expect = { rows = 1, value = 5 } },
  scenario { "several", help = "the same, several at once",
    sql = "SELECT age FROM things WHERE id = :id", bind = { id = uniform(1, p.rows) },
    clients = { 1, 4 }, per_client = 20, expect = { rows = 1 } },
}
