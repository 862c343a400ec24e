local t = table { "t", rows = 10, column { "id", "INTEGER PRIMARY KEY", sequence(1) } }
return suite { "fixed", summary = "its growth is known",
  create { "make", t },
  scenario { "grow", steps = { insert { t } }, samples = 5, clients = 1,
    expect = { growth = { t, 5 } } } }
