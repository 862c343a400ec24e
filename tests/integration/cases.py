#!/usr/bin/python3
"""What users of other tools ran into, where it applies to a run: a comma for a decimal point in
some locale, a table that is not there, work that does not divide by the number of clients, a
session that dies between two scenarios, an answer of no rows, a figure below the resolution."""
import json
import os
import subprocess

import lib_stand as stand

SUITE = """
local t = table { "t", rows = 103, column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "v", "INTEGER", modulo(row, 7) } }
return suite { "cases",
  create { "make", t },
  load { "fill", t, batch = 10, commit = 10 },
  scenario { "none", sql = "SELECT id FROM t WHERE id < 0", warmup = 1, samples = 3, expect = { rows = 0 } },
  scenario { "shared", sql = "INSERT INTO t (id, v) VALUES (:id, 0)", bind = { id = 1000 * client + row },
    warmup = 0, clients = { 4 }, per_client = 5, expect = { affected = 1, growth = { t, 20 } } },
  scenario { "missing", sql = "SELECT * FROM nowhere", warmup = 1, samples = 3, expect = { rows = 1 } },
  scenario { "wrong", sql = "SELEKT 1", warmup = 1, samples = 3, expect = { rows = 1 } },
  scenario { "goes_on", sql = "SELECT COUNT(*) FROM t", samples = 3, expect = { rows = 1, value = 123 } },
  relation { "nothing", a = "missing", b = "none", metric = "service_ns", stat = "p50" },
}
"""


def unique(pairs):
    names = [name for name, _ in pairs]
    stand_names = set(names)
    if len(names) != len(stand_names):
        raise ValueError("a key twice")
    return dict(pairs)


def main():
    kinds = ["sqlite", *stand.managed()]
    targets = [word for kind in kinds for word in ("--on", kind)]
    with stand.Folder() as folder:
        (folder.path / "cases.lua").write_text(SUITE)
        environment = folder.environment(LC_ALL="pt_PT.UTF-8", LANG="de_DE.UTF-8")
        done = subprocess.run([stand.DBDYNO, "run", "./cases.lua", *targets, "--no-floors", "--out",
                               "r.json"], cwd=folder.path, env=environment, capture_output=True,
                              text=True, timeout=120, check=False)
        stand.check(done.returncode == 5, f"a failed scenario is exit 5 (got {done.returncode})")
        record = json.loads((folder.path / "r.json").read_text(), object_pairs_hook=unique)
        print("ok: JSON with a point for decimals and every key once, whatever the locale")
        for kind in kinds:
            cells = {c["name"]: c for c in record["scenarios"]
                     if c["target"] == kind and c["phase"] is None}
            good = ("valid", "reserve")
            stand.check(cells["fill"]["verdict"] in good and
                        cells["fill"]["metrics"]["affected"]["value"] == 103,
                        f"{kind}: 103 rows in commits of 10: the rest is not forgotten")
            stand.check(cells["none"]["verdict"] in good, f"{kind}: no rows is an answer")
            stand.check(cells["shared"]["verdict"] in good, f"{kind}: four clients, 20 rows more")
            for name in ("missing", "wrong"):
                stand.check(cells[name]["verdict"] == "failed" and not cells[name]["metrics"],
                            f"{kind}: {name}: no time for what did not work: "
                            f"{cells[name]['reason'][:90]}")
            stand.check(cells["goes_on"]["verdict"] in good, f"{kind}: the next scenario works")
        for relation in record["relations"]:
            stand.check(relation["ratio"] is None and relation["reason"],
                        f"no ratio without both figures: {relation['reason']}")
        listed = json.dumps(record).lower()
        stand.check("nan" not in listed.replace("nanosec", "") and "infinity" not in listed,
                    "neither NaN nor infinity")
        stand.check(not folder.wait_clean(10), "nothing left behind")


if os.environ.get("DBDYNO"):
    main()
