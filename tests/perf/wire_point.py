#!/usr/bin/python3
"""What a prepared point select costs on PostgreSQL's wire client: user-space instructions, with the
generator, the check of the number of rows and the histogram in them; every value is decoded. The
second figure also looks at the value. Two runs against the null server that differ in the
number of statements are subtracted. The counts differ by a percent or so from run to run: an answer
may be there at the first look, or not."""
import shutil
import sys

import lib_null
import null_loop

FEW, MANY = 10_000, 60_000
INSTRUCTIONS_BAR, VALUE_BAR = 600, 680

SUITE = """
return suite { "wire_point",
  scenario { "point", sql = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid",
             bind = { aid = uniform(1, 1000000) }, warmup = 1, samples = %d,
             expect = { rows = 1 MORE } } }
"""


def measure(client="wire", value=False):
    with lib_null.NullServer() as server:
        suite = SUITE.replace("MORE", ", value = 0" if value else "")
        return null_loop.instructions(FEW, MANY, suite, server.url(client=client))


def judge(name, value, bar):
    if value < 100:
        sys.exit(f"{name}: {value:.0f} instructions: too few to be true")
    print(f"{name} {value:.0f} {bar} {'ok' if value <= bar else 'short'}")
    return value <= bar


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    fine = judge("wire_point_instructions", measure(), INSTRUCTIONS_BAR)
    fine = judge("wire_point_instructions_value_checked", measure(value=True), VALUE_BAR) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
