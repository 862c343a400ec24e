#!/usr/bin/python3
"""What a prepared point select costs on PostgreSQL's wire client: user-space instructions, with the
generator, the check and the histogram in them. Two runs against the null server that differ in the
number of statements are subtracted. The counts differ by a percent or so from run to run: an answer
may be there at the first look, or not."""
import shutil
import sys

import lib_null
import null_loop

FEW, MANY = 10_000, 60_000
INSTRUCTIONS_BAR = 600

SUITE = """
return suite { "wire_point",
  scenario { "point", sql = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid",
             bind = { aid = uniform(1, 1000000) }, warmup = 1, samples = %d,
             expect = { rows = 1, value = 0 } } }
"""


def measure(client="wire"):
    with lib_null.NullServer() as server:
        return null_loop.instructions(FEW, MANY, SUITE, server.url(client=client))


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    value = measure()
    if value < 100:
        sys.exit(f"{value:.0f} instructions: too few to be true")
    fine = value <= INSTRUCTIONS_BAR
    print(f"wire_point_instructions {value:.0f} {INSTRUCTIONS_BAR} {'ok' if fine else 'short'}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
