#!/usr/bin/python3
"""Ctrl-C in an open loop: what was done until then is counted, once, also by clients that wait for
their next execution; what was due and not done is told."""
import signal
import time

import lib_stand as stand

SUITE = """
return suite { "reads", scenario { "read", sql = "SELECT 1", samples = 1, clients = 4,
  expect = { rows = 1, value = 1 } } }
"""


def main():
    if "postgres" not in stand.managed():
        stand.skip("PostgreSQL is not installed")
    with stand.Folder() as folder:
        (folder.path / "reads.lua").write_text(SUITE)
        process = folder.start_measuring(
            "read", "run", "./reads.lua", "--on", "postgres?client=wire", "--no-floors", "--threads",
            "1", "--rate", "200", "--arrivals", "fixed", "--duration", "60s", "--out", "r.json")
        time.sleep(1)  # some executions, however many
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        stand.check(process.returncode == 130, f"exit 130: {process.returncode} {err[-300:]}")
        cell = folder.record()["scenarios"][0]
        metrics, checks = cell["metrics"], cell["checks"]
        done = metrics["service_ns"]["n"]
        due = metrics["response_ns"]["n"]
        stand.check(done > 20, f"{done} executions")
        stand.check(due == done + metrics["unfinished"]["value"], f"{due} were due")
        times = {check["name"]: check["times"] for check in checks}
        # each client's warm-up is checked too
        stand.check(times["rows"] >= done and times["rows"] <= done + 8, f"{times} for {done}")
        stand.check(metrics["rows"]["value"] == 1, f"a row each: {metrics['rows']}")


main()
