#!/usr/bin/env python3
"""What the measured loop costs: instructions and heap allocations per operation on the null
target. Two runs that differ only in the number of operations are subtracted, so that start-up,
loading the suite and writing the record cancel out. Counts, not times: the same on a busy machine."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FEW, MANY = 20_000, 120_000
INSTRUCTIONS_BAR, ALLOCATIONS_BAR = 150, 0

SUITE = """
return suite { "null_loop",
  scenario { "point", sql = "SELECT id FROM users WHERE id = :id", bind = { id = uniform(1, 1000) },
             warmup = 0, samples = %d, expect = { rows = 1 } } }
"""


def run(tool, operations, suite=SUITE, target="null"):
    """Runs the suite under valgrind; returns its stderr and the files that the tool wrote."""
    with tempfile.TemporaryDirectory(prefix="dbdyno-perf-") as folder:
        file = pathlib.Path(folder, "suite.lua")
        file.write_text(suite % operations)
        done = subprocess.run(
            ["valgrind", *(word.replace("FOLDER", folder) for word in tool),
             os.path.abspath(os.environ["DBDYNO"]), "run", str(file), "--on", target,
             "--no-floors", "--out", str(pathlib.Path(folder, "record.json"))],
            cwd=folder, capture_output=True, text=True, timeout=250, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(done.args)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
        return done.stderr, {path.name: path.read_text()
                             for path in sorted(pathlib.Path(folder).glob("callgrind.*"))}


def instructions_by_thread(operations, suite, target):
    """The main thread's watch looks around as long as the run lasts, so its instructions depend on
    how busy the machine is; the worker's do not. One file a thread of a process."""
    _, files = run(["--tool=callgrind", "--separate-threads=yes",
                    "--callgrind-out-file=FOLDER/callgrind.%p"], operations, suite, target)
    threads = {}
    for name, text in files.items():
        found = re.search(r"^totals: (\d+)", text, re.M)
        if found:
            thread = name.rsplit("-", 1)[-1]
            threads[thread] = max(threads.get(thread, 0), int(found.group(1)))
    return threads


def allocations(operations):
    stderr, _ = run(["--tool=memcheck", "--leak-check=no", "--undef-value-errors=no"], operations)
    found = re.findall(r"total heap usage: ([\d,]+) allocs", stderr)
    if not found:
        sys.exit(f"valgrind counted no allocations:\n{stderr[-3000:]}")
    return sum(int(figure.replace(",", "")) for figure in found)  # the stand and its reaper


def instructions(few, many, suite=SUITE, target="null"):
    """Of the thread that does the work, for one operation."""
    less, more = (instructions_by_thread(count, suite, target) for count in (few, many))
    worker = max(more, key=lambda thread: more[thread] - less.get(thread, 0))
    return (more[worker] - less[worker]) / (many - few)


def measure():
    """(instructions, heap allocations) of one operation."""
    return (instructions(FEW, MANY), (allocations(MANY) - allocations(FEW)) / (MANY - FEW))


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    counted, allocated = measure()
    short = False
    for name, value, bar in (("null_instructions_per_operation", counted, INSTRUCTIONS_BAR),
                             ("null_allocations_per_operation", allocated, ALLOCATIONS_BAR)):
        # A few reallocations of a growing list are not "per operation".
        fine = value <= bar + 0.001
        if name.startswith("null_instructions") and value < 10:
            sys.exit(f"{name} {value:.3f}: too few to be true, the loop did not run")
        short = short or not fine
        print(f"{name} {value:.3f} {bar} {'ok' if fine else 'short'}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
