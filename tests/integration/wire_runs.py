#!/usr/bin/python3
"""Runs through the wire clients on running servers: repeated by rerun, answers whose columns are
known only when they come, and a warm-up by time that keeps to the rate."""
import lib_stand as stand

COUNTED = """
local t = table { "t", rows = 1, column { "id", "INTEGER PRIMARY KEY", sequence(1) } }
return suite { "counted",
  create { "make", t },
  scenario { "add", sql = "INSERT INTO t (id) VALUES (:i)", bind = { i = sequence(10) },
    samples = 1, clients = { 1 }, expect = { affected = 1 } },
  scenario { "count", sql = "SELECT COUNT(*) FROM t", samples = 3 } }
"""
RETURNING = """
local t = table { "t", rows = 1, column { "id", "INTEGER PRIMARY KEY", sequence(1) } }
return suite { "returning",
  create { "make", t },
  scenario { "add", sql = "INSERT INTO t (id) VALUES (:i) RETURNING id", bind = { i = sequence(10) },
    samples = 20, warmup = 0, expect = { rows = 1, value = bound "i" } } }
"""


def again(folder, kind, server):
    (folder.path / "counted.lua").write_text(COUNTED)
    mark = "&" if "?" in server.url() else "?"
    (folder.path / "it.url").write_text(f"{server.url()}{mark}client=wire")
    done = folder.run("run", "./counted.lua", "--on", "it=@it.url", "--no-floors", "--rate", "40",
                      "--arrivals", "fixed", "--warmup", "500ms", "--duration", "500ms", "--out",
                      "r.json")
    stand.check(done.returncode in (0, 6), f"{kind}: {done.returncode} {done.err[-300:]}")
    cells = {cell["name"]: cell for cell in folder.record()["scenarios"]}
    added = cells["add"]["checks"][0]["times"]
    stand.check(20 + 15 <= added <= 20 + 21, f"{kind}: {added} rows at 40/s in 1 s, warm-up included")
    measured = cells["add"]["metrics"]["response_ns"]["n"]
    stand.check(measured == 20, f"{kind}: {measured} measured")
    done = folder.run("rerun", "r.json", "--on", "it=@it.url", "--out", "again.json")
    stand.check(done.returncode in (0, 6), f"{kind}: rerun {done.returncode} {done.err[-300:]}")
    (folder.path / "returning.lua").write_text(RETURNING)
    done = folder.run("run", "./returning.lua", "--on", "it=@it.url", "--no-floors", "--out", "r.json")
    stand.check(done.returncode in (0, 6), f"{kind}: RETURNING {done.returncode} {done.err[-300:]}")
    stand.check(server.places() == "0", f"{kind}: nothing is left there")


def main():
    kinds = {kind: make for kind, make in (("postgres", stand.Postgres), ("mariadb", stand.Mariadb))
             if kind in stand.managed()}
    if not kinds:
        stand.skip("no server is installed")
    with stand.Folder() as folder:
        for kind, make in kinds.items():
            server = make(folder)
            try:
                again(folder, kind, server)
            finally:
                server.stop()


main()
