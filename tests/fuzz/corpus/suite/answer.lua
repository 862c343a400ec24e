local t = table { "t", rows = 9, column { "id", "INT", sequence(1) },
  column { "age", "INT", modulo(row, 3) }, column { "x", "TEXT", text(20) } }
return suite { "x",
  scenario { "a", sql = "SELECT 1", expect = { answer = answer { t, "id", col "age", at(t, "x", col "age"), 5, where = is(col "age", "<>", null) } } },
  scenario { "b", sql = "SELECT 1", expect = { values = { any, 7 }, answer = answer { t, "x", where = "age" } } } }
