"""A signal at any moment: the documented exit code, what was measured is reported and kept,
nothing is left behind."""
import os
import random
import signal
import time

import lib_cli

TRIES = 20
seed = int(os.environ.get("DBDYNO_TEST_SEED", time.time_ns() % (1 << 31)))
print(f"DBDYNO_TEST_SEED={seed}")
draw = random.Random(seed)
check = lib_cli.Checks()


def interrupt(place, number, after_s):
    (place.work / "dbdyno.json").unlink(missing_ok=True)
    process = place.start("run", "long.lua")
    time.sleep(after_s)
    process.send_signal(number)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    took = time.monotonic() - began
    what = f"signal {number} after {after_s:.3f} s: exit {process.returncode}\n{out}\n{err}"
    if process.returncode == -number:  # before there was anything to end cleanly
        check.that(after_s < 1.5, "killed", what)
        check.that(not (place.work / "dbdyno.json").exists(), "no record", what)
    elif "before anything was measured" in err:
        check.that(process.returncode == 128 + number and not out, what)
        check.that(not (place.work / "dbdyno.json").exists(), "no record", what)
    elif check.that(process.returncode == 128 + number, what):
        record = place.record()
        check.that(record["verdict"] == "interrupted", "the record says so", what)
        check.that("interrupted" in out.lower(), "the report says so", what)
    check.that(took < 20, f"took {took:.1f} s to end", what)
    left = place.left()
    check.that(not left, "left behind:", left, what)


with lib_cli.place() as here:
    here.write("long.lua", lib_cli.LONG)
    for step in range(10):  # about where the run begins
        interrupt(here, signal.SIGTERM, 0.003 * step)
    for turn in range(TRIES):
        chosen = signal.SIGINT if turn % 4 else signal.SIGTERM
        interrupt(here, chosen, draw.uniform(0, 3) ** 2 / 3)
    # Two in a row count as one, as timeout(1) sends them: the record is kept.
    (here.work / "dbdyno.json").unlink(missing_ok=True)
    timed = here.start("run", "long.lua")
    time.sleep(2.5)
    timed.send_signal(signal.SIGTERM)
    timed.send_signal(signal.SIGTERM)
    out, err = timed.communicate(timeout=30)
    check.that(timed.returncode == 128 + 15, "twice:", timed.returncode)
    check.that(here.record()["verdict"] == "interrupted", "twice is once", out, err)
    check.nothing_left(here)
    for after in (0.3, 1.0, 2.0):
        killed = here.start("run", "long.lua")
        time.sleep(after)
        killed.kill()
        killed.communicate(timeout=30)
        check.nothing_left(here)
check.end()
