#!/usr/bin/python3
"""--around: the command runs beside the measured part with the pids in its environment, gets
SIGINT at its end, and does not outlive a kill -9 of the stand."""
import pathlib
import time

import lib_stand as stand

SUITE = """
return suite { "one", scenario { "busy", sql = "SELECT 1", duration = "%s", expect = { rows = 1 } },
  scenario { "other", sql = "SELECT 1", warmup = 1, samples = 3, expect = { rows = 1 } } }
"""
SCRIPT = """trap 'echo ended >> {log}; exit 0' INT
echo "$DBDYNO_SCENARIO $DBDYNO_TARGET $DBDYNO_SERVER_PID $DBDYNO_CLIENT_PID" >> {log}
while :; do sleep 0.05; done"""


def main():
    with stand.Folder() as folder:
        log = folder.path / "log"
        (folder.path / "one.lua").write_text(SUITE % "600ms")
        (folder.path / "spy.sh").write_text(SCRIPT.format(log=log))
        done = folder.run("run", "./one.lua", "--no-floors", "--out", "r.json", "--around",
                          f"exec sh {folder.path}/spy.sh", "--around-at", "busy")
        stand.check(done.returncode == 0, f"exit 0 (got {done.returncode}) {done.err[-300:]}")
        lines = log.read_text().split("\n")
        scenario, target, server, client = lines[0].split()
        stand.check((scenario, target) == ("busy", "sqlite") and int(server) and int(client),
                    "it was told scenario, target and pids")
        stand.check(lines[1] == "ended" and len(lines) == 3,
                    "it got SIGINT at the end, and ran beside that scenario only")
    with stand.Folder() as folder:
        (folder.path / "one.lua").write_text(SUITE % "20s")
        mark = f"spy-{folder.path.name}"
        process = folder.start("run", "./one.lua", "--no-floors", "--out", "r.json", "--around",
                               f"exec sh -c 'while :; do sleep 0.1; done' {mark}")
        end = time.monotonic() + 30
        running = set()
        while not running and time.monotonic() < end:
            running = alive(mark) - {process.pid}
            time.sleep(0.05)
        process.kill()
        process.communicate()
        end = time.monotonic() + 15
        while alive(mark) and time.monotonic() < end:
            time.sleep(0.1)
        stand.check(running, "the command ran beside the measured part")
        stand.check(not alive(mark), "and is gone after a kill -9 of the stand")


def alive(mark):
    found = set()
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                found.add(int(entry.name))
    return found


main()
