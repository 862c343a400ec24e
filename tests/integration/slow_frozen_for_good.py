#!/usr/bin/python3
"""A server that stands still and never goes on, under an open loop: nothing fails by itself, for what
is unfinished is no failure; but the target is lost, and so the run has failed."""
import os
import signal

import lib_stand as stand

SUITE = """
return suite { "frozen",
  scenario { "reads", sql = "SELECT 1", samples = 1, clients = 4, expect = { rows = 1 } },
  scenario { "more", sql = "SELECT 2", samples = 1, clients = 4, expect = { rows = 1 } } }
"""


def main():
    if "postgres" not in stand.managed():
        stand.skip("PostgreSQL is not installed")
    with stand.Folder() as folder:
        (folder.path / "frozen.lua").write_text(SUITE)
        process = folder.start_measuring(
            "reads", "run", "./frozen.lua", "--on", "postgres?client=wire", "--no-floors", "--rate",
            "200", "--duration", "2s", "--out", "r.json")
        for pid in folder.server_pids(process):
            os.kill(pid, signal.SIGSTOP)
        out, err = process.communicate(timeout=200)
        stand.check(process.returncode == 5, f"exit 5: {process.returncode} {err[-300:]}")
        record = folder.record()
        stand.check(record["verdict"] == "failed" and "postgres was lost" in record["reason"],
                    f"{record['verdict']}: {record['reason']}")
        first, more = record["scenarios"]
        stand.check(first["metrics"]["unfinished"]["value"] > 0, "what was due is told")
        stand.check(more["verdict"] == "not-run", f"the next one: {more['verdict']}")
        stand.check(not folder.wait_clean(30), f"nothing is left: {folder.leftovers()}")


main()
