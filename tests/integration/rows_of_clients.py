#!/usr/bin/python3
"""Rows that several clients insert are the same rows that one would: each once, none missing, in
loads with a remainder and in inserts that are sometimes left out."""
import lib_stand as stand

SUITE = """
local t = table { "t", rows = 1050, column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "v", "INTEGER", row * 3 } }
local w = table { "w", rows = 1000, column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "v", "INTEGER", row * 3 } }
local n = 40
return suite { "dealt",
  create { "make_t", t }, create { "make_w", w },
  load { "fill", t, batch = 100, commit = 200, clients = { 4 } },
  scenario { "all", sql = "SELECT COUNT(*), MIN(id), MAX(id), SUM(v) FROM t",
    expect = { rows = 1, values = { 1050, 1, 1050, 3 * 1050 * 1051 // 2 } } },
  scenario { "some", clients = { 3 }, per_client = n, warmup = 0,
    steps = { when { is(uniform(0, 1), "=", 1), insert { w, rows = 2 } } },
    after = { query { "no row twice", sql = "SELECT COUNT(*) - COUNT(DISTINCT id) FROM w", value = 0 },
      query { "values belong to their rows", sql = "SELECT COUNT(*) FROM w WHERE v <> id * 3", value = 0 },
      query { "rows in range", sql = "SELECT COUNT(*) FROM w WHERE id < 1 OR id > 240", value = 0 } } },
}
"""


def main():
    kinds = ["sqlite", *stand.managed()]
    targets = [word for kind in kinds for word in ("--on", kind)]
    with stand.Folder() as folder:
        (folder.path / "dealt.lua").write_text(SUITE)
        done = folder.run("run", "./dealt.lua", *targets, "--no-floors", "--out", "r.json")
        stand.check(done.returncode == 0, f"exit 0 (got {done.returncode}) {done.out[:600]}")
        for cell in folder.record()["scenarios"]:
            stand.check(cell["verdict"] in ("valid", "reserve"),
                        f"{cell['name']} on {cell['target']}")


main()
