#!/usr/bin/python3
"""A server that stops answering altogether (SIGSTOP): deadlines and Ctrl-C hold all the same, the
record is written, nothing is left. Also a query after a scenario that does not end."""
import os
import signal
import time

import lib_stand as stand

SUITE = """
local t = table { "t", rows = 100, column { "id", "INTEGER PRIMARY KEY", sequence(1) } }
return suite { "long",
  create { "make", t },
  load { "fill", t, batch = 100, commit = 100 },
  scenario { "reads", sql = "SELECT id FROM t WHERE id = :id", bind = { id = uniform(1, 100) },
    %s, clients = { 2 }, expect = { rows = 1, value = bound "id" } },
  scenario { "rest", sql = "SELECT id FROM t", warmup = 1, samples = 3, expect = { rows = 100 } },
}
"""

AFTER = """
local endless = { sqlite = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n",
  postgres = "SELECT pg_sleep(120)", default = "SELECT BENCHMARK(100000000000, MD5('a'))" }
return suite { "after",
  scenario { "quick", sql = "SELECT 1", warmup = 1, samples = 3, expect = { rows = 1 }, deadline = "4s",
    after = { query { "slow", sql = endless, value = 1 } } },
  scenario { "rest", sql = "SELECT 2", warmup = 1, samples = 3, expect = { rows = 1, value = 2 } },
}
"""


def freeze(folder, kind, interrupt):
    limit = 'duration = "60s"' if interrupt else 'samples = 100000000, deadline = "8s"'
    (folder.path / "long.lua").write_text(SUITE % limit)
    process = folder.start_measuring("reads", "run", "./long.lua", "--on", kind, "--no-floors",
                                     "--out", "r.json")
    frozen = folder.server_pids(process)
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    if interrupt:
        process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        for pid in frozen:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
    seconds = time.monotonic() - began
    what = "Ctrl-C" if interrupt else "a deadline of 8 s"
    stand.check(process.returncode == (130 if interrupt else 5),
                f"{kind}: frozen, {what}: exit {process.returncode} after {seconds:.0f} s "
                f"{(out + err)[-300:] if process.returncode not in (5, 130) else ''}")
    stand.check(folder.record()["verdict"] == ("interrupted" if interrupt else "failed"),
                f"{kind}: the record is there: {folder.record()['reason']}")
    stand.check(not folder.wait_clean(20), "nothing left behind")


def main():
    kinds = stand.managed()
    if not kinds:
        stand.skip("neither PostgreSQL nor MariaDB is installed")
    for kind in kinds:
        with stand.Folder() as folder:
            freeze(folder, kind, interrupt=kind == "postgres")
    for kind in ["sqlite", *kinds]:
        with stand.Folder() as folder:
            (folder.path / "after.lua").write_text(AFTER)
            began = time.monotonic()
            done = folder.run("run", "./after.lua", "--on", kind, "--no-floors", "--out", "r.json",
                              timeout=120)
            seconds = time.monotonic() - began
            cells = {c["name"]: c for c in folder.record()["scenarios"]}
            stand.check(done.returncode == 5 and seconds < 60,
                        f"{kind}: a query after the scenario ends at its deadline, {seconds:.1f} s")
            stand.check(cells["rest"]["verdict"] in ("valid", "reserve"),
                        f"{kind}: and the next scenario works ({cells['rest']['reason']})")


main()
