return suite { "plain", summary = "not made for load",
  scenario { "one", sql = "SELECT 1", samples = 1 } }
