#!/usr/bin/python3
"""A statement that does not end is cancelled at its deadline, on every target: the scenario fails
and says so, the next one works, and the run ends in time. So does a scenario with many statements,
and a whole run."""
import time

import lib_stand as stand

SUITE = """
local endless = { sqlite = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n",
  postgres = "SELECT pg_sleep(120)", default = "SELECT BENCHMARK(100000000000, MD5('a'))" }
return suite { "endless",
  scenario { "statement", sql = endless, statement_deadline = "700ms", samples = 1, expect = { rows = 1 } },
  scenario { "after", sql = "SELECT 1", warmup = 1, samples = 3, expect = { rows = 1, value = 1 } },
  scenario { "many", sql = "SELECT 1", samples = 1000000000, deadline = "1s", expect = { rows = 1 } },
  scenario { "last", sql = "SELECT 2", warmup = 1, samples = 3, expect = { rows = 1, value = 2 } },
}
"""


def cell(record, kind, name):
    return next(c for c in record["scenarios"] if c["target"] == kind and c["name"] == name)


def main():
    kinds = ["sqlite", *stand.managed()]
    targets = [word for kind in kinds for word in ("--on", kind)]
    with stand.Folder() as folder:
        (folder.path / "endless.lua").write_text(SUITE)
        began = time.monotonic()
        done = folder.run("run", "./endless.lua", *targets, "--no-floors", "--out", "r.json")
        seconds = time.monotonic() - began
        stand.check(done.returncode == 5, f"exit 5 (got {done.returncode}) {done.err[-300:]}")
        stand.check(seconds < 40, f"the run ended after {seconds:.1f} s")
        record = folder.record()
        for kind in kinds:
            late = cell(record, kind, "statement")
            stand.check(late["verdict"] == "failed" and "deadline" in late["reason"],
                        f"{kind}: cancelled at the deadline: {late['reason']}")
            stand.check(cell(record, kind, "after")["verdict"] in ("valid", "reserve"),
                        f"{kind}: the next scenario works")
            many = cell(record, kind, "many")
            stand.check(many["verdict"] == "failed" and "deadline" in many["reason"],
                        f"{kind}: the scenario's deadline holds: {many['reason']}")
            stand.check(cell(record, kind, "last")["verdict"] in ("valid", "reserve"),
                        f"{kind}: and the one after it works")
        began = time.monotonic()
        done = folder.run("run", "./endless.lua", "--deadline", "300ms", "--no-floors", "--out",
                          "w.json")
        stand.check(time.monotonic() - began < 15 and done.returncode == 5,
                    f"the run's own deadline ends it (exit {done.returncode})")
        stand.check(not folder.wait_clean(10), "nothing left behind")


main()
