#!/usr/bin/python3
"""A server killed during the run: the run says so, keeps what was measured, and cleans up."""
import os
import signal

import lib_stand as stand


SUITE = """
local t = table { "t", rows = 1000, column { "id", "INTEGER PRIMARY KEY", sequence(1) } }
return suite { "long",
  create { "make", t },
  load { "fill", t, batch = 100, commit = 100 },
  scenario { "reads", sql = "SELECT id FROM t WHERE id = :id", bind = { id = uniform(1, 1000) },
    duration = "12s", clients = { 2 }, expect = { rows = 1, value = bound "id" } },
  scenario { "rest", sql = "SELECT id FROM t", warmup = 1, samples = 3, expect = { rows = 1000 } },
}
"""


def server_pid(folder, word):
    for item in folder.leftovers():
        if item.startswith("process") and word in item:
            return int(item.split()[1].rstrip(":"))
    return None


def main():
    kinds = stand.managed()
    if not kinds:
        stand.skip("neither PostgreSQL nor MariaDB is installed")
    for kind in kinds:
        word = {"postgres": "bin/postgres", "mariadb": "mariadbd"}[kind]
        with stand.Folder() as folder:
            (folder.path / "long.lua").write_text(SUITE)
            process = folder.start_measuring("reads", "run", "./long.lua", "--on", kind, "--on",
                                             "sqlite", "--no-floors", "--out", "r.json")
            os.kill(server_pid(folder, word), signal.SIGKILL)
            out, err = process.communicate(timeout=120)
            stand.check(process.returncode == 5, f"{kind}: exit 5 (got {process.returncode})")
            stand.check("signal 9" in out + err, f"{kind}: says how the server ended")
            cells = folder.record()["scenarios"]
            kept = [c for c in cells if c["target"] == kind and c["verdict"] in ("valid", "reserve")]
            rest = [c for c in cells if c["target"] == kind and c["verdict"] == "not-run"]
            other = [c for c in cells if c["target"] == "sqlite" and c["verdict"] == "not-run"]
            stand.check(kept and rest, f"{kind}: {len(kept)} cells kept, {len(rest)} not run")
            stand.check(not other, f"{kind}: the other target went on to its end")
            stand.check(not folder.wait_clean(10), "nothing left behind")


main()
