local t = table { "t", rows = 50,
  column { "a", "INT", zipf(10, 0.99) }, column { "b", "INT", gaussian(1, 9, 2.5) }, column { "c", "INT", exponential(1, 9, 2.5) },
  column { "d", "INT", hotspot(100, 0.1, 0.9) }, column { "e", "INT", latest(10, 1) }, column { "f", "INT", permute(row, 50) },
  column { "g", "INT", affine(7, row, 1) }, column { "h", "INT", round_robin(7) }, column { "i", "TEXT", json { { "k", row }, { "s", "x" } } },
  column { "j", "TEXT", uuid7() }, column { "k", "TEXT", choice { "a", "b", null } }, column { "l", "INT", -row // 2 % 3 + 1.5 },
  column { "m", "TEXT", row .. "-" .. col "a" }, column { "n", "INT", both(is(row, ">", 2), negate(either(0, 1))) } }
return suite { "generators", scenario { "s", sql = "SELECT 1",
  expect = { rows = distinct(t, "a") + distinct(t, "k", "a", "<", 5), value = value_at(t, "i", 3) } } }
