#!/usr/bin/python3
"""coreutils' timeout sends TERM to the program and then to its group: two signals at once are one
wish, and the record is kept."""
import shutil
import subprocess

import lib_stand as stand

SUITE = """
return suite { "one", scenario { "busy", sql = "SELECT 1", duration = "30s", expect = { rows = 1 } } }
"""


def main():
    if not shutil.which("timeout"):
        stand.skip("timeout is not installed")
    for _ in range(4):
        with stand.Folder() as folder:
            (folder.path / "one.lua").write_text(SUITE)
            done = subprocess.run(["timeout", "-s", "TERM", "1.5", stand.DBDYNO, "run", "./one.lua",
                                   "--no-floors", "--out", "r.json"], cwd=folder.path,
                                  env=folder.environment(), capture_output=True, text=True,
                                  timeout=60, check=False)
            stand.check(done.returncode == 124 and folder.record()["verdict"] == "interrupted",
                        "the record of an interrupted run is there")
            stand.check("interrupted" in done.stdout.lower(), "and so is the report")
            stand.check(not folder.wait_clean(10), "nothing left behind")


main()
