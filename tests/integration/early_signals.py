#!/usr/bin/python3
"""A signal in the first moments, while the suite is read and the place of the record is tried:
nothing stays beside the record."""
import os
import signal
import time

import lib_stand as stand


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        left = []
        with stand.Folder() as folder:
            for step in range(24):
                process = folder.start("run", "shop", "--no-floors", "--quick", "--out", "r.json")
                time.sleep(0.002 + step * 0.0015)
                process.send_signal(number)
                process.communicate(timeout=60)
                left += [name for name in os.listdir(folder.path) if name not in ("r.json", "t")]
            stand.check(not left, f"{number.name}: nothing beside the record ({left})")
            rest = folder.wait_clean(10)
            stand.check(not rest, f"{number.name}: nothing left behind ({rest})")


main()
