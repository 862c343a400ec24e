#!/usr/bin/python3
"""--keep: what stays is named in record and report, can be used, and ends when asked to."""
import os
import re
import signal
import subprocess
import time

import lib_stand as stand


def main():
    kinds = ["sqlite", *stand.managed()]
    for kind in kinds:
        with stand.Folder() as folder:
            done = folder.run("run", "point", "--quick", "--no-floors", "--keep", "--on", kind, "--out",
                              "r.json")
            kept = folder.record()["targets"][0]["kept"]
            stand.check(done.returncode == 0 and kept, f"{kind}: kept: {kept}")
            shown = " ".join(done.out.split())
            stand.check("kept:" in shown, f"{kind}: the report says so too")
            if kind == "sqlite":
                rows = subprocess.run(
                    ["/usr/bin/python3", "-c", "import sqlite3, sys; print(sqlite3.connect("
                     "sys.argv[1]).execute('select count(*) from items').fetchone()[0])", kept],
                    capture_output=True, text=True, check=True).stdout
                stand.check(int(rows) > 0, f"sqlite: the file has {rows.strip()} rows")
                continue
            pid = int(re.search(r"process (\d+)", kept).group(1))
            target = re.search(r"@(\S+)", kept).group(1)
            stand.check(os.stat(target).st_mode & 0o077 == 0, f"{kind}: only we can read the login")
            again = folder.run("run", "point", "--quick", "--no-floors", "--on", f"@{target}",
                               "--out", "again.json")
            stand.check(again.returncode == 0,
                        f"{kind}: and it logs in (exit {again.returncode}) {again.err[-300:]}")
            os.kill(pid, signal.SIGINT if kind == "postgres" else signal.SIGTERM)
            end = time.monotonic() + 20
            while time.monotonic() < end and any("process" in item for item in folder.leftovers()):
                time.sleep(0.1)
            stand.check(not any("process" in item for item in folder.leftovers()),
                        f"{kind}: it ends when asked to")


main()
