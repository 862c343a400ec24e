local things = table { "things", rows = 10,
  column { "id", "INTEGER PRIMARY KEY", sequence(1) } }
return suite { "three", summary = "three mistakes",
  create { "create_things", things },
  load { "load_things", things },
  scenario { "one", sql = "SELECT id FROM things WHERE id = :id", samplez = 7,
    bind = { id = 1 } },
  scenario { "two", sql = "SELECT id FROM things WHERE id = :id", bind = { ident = 1 } },
  scenario { "three", sql = "SELECT 1", clients = 0 },
}
