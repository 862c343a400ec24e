#!/usr/bin/python3
"""One changed expectation makes the run fail and says where, what was expected and what came."""
import re

import lib_stand as stand


def main():
    with stand.Folder() as folder:
        source = (stand.SOURCE / "suites/shop.lua").read_text()
        changed, count = re.subn(r"expect = \{ rows = older \}", "expect = { rows = older + 1 }",
                                 source, count=1)
        stand.check(count == 1, "an expectation of a copy of shop.lua is changed")
        (folder.path / "wrong.lua").write_text(changed)
        done = folder.run("run", "./wrong.lua", "--quick", "--out", "r.json", "--no-floors")
        stand.check(done.returncode == 5, f"exit 5 (got {done.returncode}): {done.err[-500:]}")
        text = done.out + done.err
        for word in ("first_older", "sqlite", "expected 91", "found 90"):
            stand.check(word in text, f"the report says {word!r}")
        cell = next(c for c in folder.record()["scenarios"] if c["name"] == "first_older")
        stand.check(cell["verdict"] == "failed" and not cell["metrics"],
                    "the failed scenario has no figures in the record")
        # "reserve" is a figure with a warning, as on a busy machine.
        others = [c for c in folder.record()["scenarios"] if c["verdict"] in ("valid", "reserve")]
        stand.check(len(others) > 30, f"{len(others)} other cells are kept")


main()
