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


def run(tool, pattern, operations):
    with tempfile.TemporaryDirectory(prefix="dbdyno-perf-") as folder:
        suite = pathlib.Path(folder, "null_loop.lua")
        suite.write_text(SUITE % operations)
        done = subprocess.run(
            ["valgrind", *tool, os.path.abspath(os.environ["DBDYNO"]), "run", str(suite), "--on", "null",
             "--no-floors", "--out", str(pathlib.Path(folder, "record.json"))],
            cwd=folder, capture_output=True, text=True, timeout=250, check=False)
        found = re.findall(pattern, done.stderr)
        if done.returncode != 0 or not found:
            sys.exit(f"{' '.join(done.args)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
        # One figure a process: the stand and its reaper.
        return sum(int(figure.replace(",", "")) for figure in found)


def per_operation(tool, pattern):
    few, many = (run(tool, pattern, n) for n in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def measure():
    """(instructions, heap allocations) of one operation."""
    return (per_operation(["--tool=callgrind", "--callgrind-out-file=/dev/null"],
                          r"Collected : (\d+)"),
            per_operation(["--tool=memcheck", "--leak-check=no", "--undef-value-errors=no"],
                          r"total heap usage: ([\d,]+) allocs"))


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    instructions, allocations = measure()
    short = False
    for name, value, bar in (("null_instructions_per_operation", instructions, INSTRUCTIONS_BAR),
                             ("null_allocations_per_operation", allocations, ALLOCATIONS_BAR)):
        # A few reallocations of a growing list are not "per operation".
        fine = value <= bar + 0.001
        if name.startswith("null_instructions") and value < 10:
            sys.exit(f"{name} {value:.3f}: too few to be true, the loop did not run")
        short = short or not fine
        print(f"{name} {value:.3f} {bar} {'ok' if fine else 'short'}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
