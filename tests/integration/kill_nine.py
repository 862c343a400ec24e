#!/usr/bin/python3
"""kill -9 of the stand in the middle of a run leaves no process, no socket and no folder."""
import random
import time

import lib_stand as stand


def main():
    kinds = ["sqlite", *stand.managed()]
    if len(kinds) == 1:
        stand.skip("neither PostgreSQL nor MariaDB is installed")
    targets = [word for kind in kinds for word in ("--on", kind)]
    seed = random.randrange(1 << 30)
    random.seed(seed)
    print(f"seed {seed}")
    for seconds in (0.3, random.uniform(0.5, 2.0), 4.0):
        with stand.Folder() as folder:
            process = folder.start("run", "shop", *targets, "--no-floors", "--out", "r.json")
            time.sleep(seconds)
            running = process.poll() is None
            servers = [item for item in folder.leftovers() if "process" in item]
            process.kill()
            process.communicate()
            left = folder.wait_clean(20)
            stand.check(running, f"killed after {seconds:.2f} s with {len(servers)} processes")
            stand.check(not left, f"nothing is left ({left})")
            # Else the check would find nothing because it sees nothing.
            stand.check(servers or seconds < 2, f"servers ran when it was killed: {len(servers)}")


main()
