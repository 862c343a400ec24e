"""What every bench script shares: one line a figure, `name value bar ok|short`, exit 1 when one
falls short. Absolute times are shown for people; bars are wide enough for a shared machine."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DBDYNO = os.environ.get("DBDYNO", str(ROOT / "build/release/dbdyno"))


class Figures:
    def __init__(self):
        self.short = False

    def at_most(self, name, value, bar):
        self._line(name, value, f"<={bar}", value <= bar)

    def at_least(self, name, value, bar):
        self._line(name, value, f">={bar}", value >= bar)

    def skip(self, name, why):
        print(f"{name} - - skipped: {why}", flush=True)

    def _line(self, name, value, bar, ok):
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
        print(f"{name} {shown} {bar} {'ok' if ok else 'short'}", flush=True)
        self.short = self.short or not ok

    def leave(self):
        sys.exit(1 if self.short else 0)


def run(arguments, folder):
    """Runs the stand with its record in `folder`; returns (record, seconds)."""
    out = pathlib.Path(folder) / "record.json"
    began = time.monotonic()
    done = subprocess.run([DBDYNO, "run", *arguments, "--out", str(out)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    seconds = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(f"dbdyno run {' '.join(arguments)}: exit {done.returncode}\n"
                 f"{done.stderr.decode()}")
    return json.loads(out.read_text()), seconds


def installed(kind):
    """Is this managed server there? Asked of the stand itself."""
    done = subprocess.run([DBDYNO, "list", "drivers", "--json"], stdout=subprocess.PIPE, check=True)
    for driver in json.loads(done.stdout)["drivers"]:
        if driver["name"] == kind:
            return bool(driver.get("found", driver.get("program")))
    return False


LOOP_SUITE = """
local p = params { n = integer { 10000, min = 1, max = 10000000 } }
return suite { "loop", scenario { "point", sql = "SELECT id FROM items WHERE id = :id",
  bind = { id = uniform(1, 100000) }, warmup = 10, samples = p.n,
  expect = { rows = 1, value = bound "id" } } }
"""


def _callgrind(folder, executions):
    suite = pathlib.Path(folder) / "loop.lua"
    suite.write_text(LOOP_SUITE)
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.out",
         DBDYNO, "run", str(suite), "--on", "null", "--no-floors", "--param", f"n={executions}",
         "--out", f"{folder}/loop.json"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"callgrind: exit {done.returncode}\n{done.stderr}")
    return int(found.group(1))


def loop_instructions():
    """User-space instructions of one operation on `null`: generator, driver, check, histogram and
    clock included. The difference of two runs, so that start and end cancel out."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = _callgrind(folder, 20000), _callgrind(folder, 60000)
    return (many - few) / 40000


def _allocations(folder, executions):
    suite = pathlib.Path(folder) / "loop.lua"
    suite.write_text(LOOP_SUITE)
    done = subprocess.run(
        ["valgrind", "--tool=memcheck", "--leak-check=no", DBDYNO, "run", str(suite), "--on",
         "null", "--no-floors", "--param", f"n={executions}", "--out", f"{folder}/loop.json"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    found = re.findall(r"total heap usage: ([\d,]+) allocs", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"memcheck: exit {done.returncode}\n{done.stderr}")
    return int(found[-1].replace(",", ""))


def loop_allocations():
    """Heap allocations of one operation on `null`: those of a run of 60,000 more than those of a
    run of 20,000 (both above the number of samples that are kept raw)."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = _allocations(folder, 20000), _allocations(folder, 60000)
    return (many - few) / 40000
