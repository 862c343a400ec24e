#!/usr/bin/python3
"""A server that stands still for a while (SIGSTOP) and goes on: in open loop every execution that
was due meanwhile answers no earlier than the thaw, by the schedule; in closed loop the stall is
found and said, with any number of clients."""
import os
import signal
import time

import lib_stand as stand

SUITE = """
local t = table { "t", rows = 1000, column { "id", "INTEGER PRIMARY KEY", sequence(1) } }
return suite { "frozen",
  create { "make", t },
  load { "fill", t, batch = 500, commit = 500 },
  scenario { "reads", sql = "SELECT id FROM t WHERE id = :id", bind = { id = uniform(1, 1000) },
    per_client = 1000, clients = { 1 }, expect = { rows = 1, value = bound "id" } },
}
"""
RATE = 1000
WINDOW_S = 5
FROZEN_S = 1


def run_frozen(folder, kind, seconds, *options):
    """The cell of the reads, and how long at least the whole server stood still."""
    (folder.path / "frozen.lua").write_text(SUITE)
    process = folder.start_measuring("reads", "run", "./frozen.lua", "--on", kind, "--no-floors",
                                     "--duration", f"{WINDOW_S}s", "--out", "r.json", *options)
    frozen = folder.server_pids(process)
    try:
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
        time.sleep(seconds)  # the fact itself
        lasted = time.monotonic() - began
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    stand.check(process.returncode in (0, 6), f"{kind}: the run ends ({process.returncode}, {err[-200:]})"
                if process.returncode else f"{kind}: the run ends")
    cells = {cell["name"]: cell for cell in folder.record()["scenarios"]}
    return cells["reads"], lasted, out


def open_loop(folder, kind):
    cell, frozen_s, out = run_frozen(folder, kind, FROZEN_S, "--clients", "8", "--rate", str(RATE),
                                     "--arrivals", "fixed")
    response = next(run for run in cell["runs"] if run["metric"] == "response_ns")["histogram"]
    stand.check(response["count"] == RATE * WINDOW_S,
                f"{kind}: all {RATE * WINDOW_S} that were due are in ({response['count']})")
    for part in (0.1, 0.3, 0.5, 0.7, 0.9):
        least_s = part * frozen_s
        # due in the first frozen_s - least_s of the stall; one may have been on its way
        due = int((frozen_s - least_s) * RATE) - 2
        late = sum(count for low, count in response["pairs"] if low >= least_s * 0.998e9)
        stand.check(late >= due, f"{kind}: {late} answered after {least_s:.2f} s or more; "
                                 f"{due} were due that long before the thaw")
    service = cell["metrics"]["service_ns"]
    slow = next(run for run in cell["runs"] if run["metric"] == "service_ns")["histogram"]
    seen = sum(count for low, count in slow["pairs"] if low >= frozen_s * 0.5e9)
    stand.check(seen <= 8, f"{kind}: {seen} of {service['n']} service times alone show it")
    stand.check("offered" in out and "response" in out, "the report tells it")


def closed_loop(folder, kind, clients):
    """Found unless the machine itself is so slow that nearly as long is usual."""
    for attempt in range(3):
        cell, frozen_s, out = run_frozen(folder, kind, 2 * FROZEN_S, "--clients", str(clients))
        tail = cell["metrics"]["service_ns"]["p999"] or cell["metrics"]["service_ns"]["p99"] or 0
        if 0 < tail * 20 < frozen_s * 1e9 or attempt == 2:
            break
    found = [guard for guard in cell["guards"] if guard["id"] == "stalls-hidden"]
    stand.check(found, f"{kind}, closed loop, {clients} clients: found "
                       f"({found[0]['text'] if found else cell['guards']})")
    share = frozen_s / WINDOW_S
    stand.check(0.85 * share < found[0]["figure"] < 1.5 * share,
                f"{kind}: stalls were {found[0]['figure']:.2f} of the time, frozen {share:.2f}")
    stand.check("stalls-hidden" in out, "the report tells it")


def main():
    kinds = stand.managed()
    if not kinds:
        stand.skip("neither PostgreSQL nor MariaDB is installed")
    for target in [kind + client for kind in kinds for client in ("", "?client=wire")]:
        with stand.Folder() as folder:
            open_loop(folder, target)
            stand.check(not folder.wait_clean(20), "nothing left behind")
    for clients in (1, 4, 8):
        with stand.Folder() as folder:
            closed_loop(folder, kinds[0], clients)


main()
