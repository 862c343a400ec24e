#!/usr/bin/python3
"""Twenty kills (-9, INT, TERM, HUP) at random moments of a run on every target: nothing left."""
import random
import signal
import time

import lib_stand as stand


def main():
    kinds = ["sqlite", *stand.managed()]
    targets = [word for kind in kinds for word in ("--on", kind)]
    seed = random.randrange(1 << 30)
    random.seed(seed)
    print(f"seed {seed}")
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 5:
        with stand.Folder() as folder:
            seconds = random.uniform(0.02, 8.0)
            process = folder.start("run", "shop", *targets, "--out", "r.json")
            time.sleep(seconds)
            process.send_signal(number)
            process.communicate(timeout=60)
            left = folder.wait_clean(20)
            stand.check(not left, f"{number.name} after {seconds:.2f} s: nothing left ({left})")


main()
