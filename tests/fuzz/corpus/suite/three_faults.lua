local t = table { "t", rows = -1, column { "id", "INT", uniform(5, 1) } }
return suite { "x",
  scenario { "a", sql = "SELECT :x", sampels = 1 },
  scenario { "a", sql = "SELECT 'x", clients = 0 },
  relation { "r", a = "b", b = "a" } }
