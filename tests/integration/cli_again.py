"""The life of a record: run, a second run beside it, rerun, fill; and a wrong answer."""
import re
import subprocess

import lib_cli

check = lib_cli.Checks()

LASTING = """return suite { "lasting", scenario { "one", sql = "SELECT 1", duration = "500ms",
  expect = { rows = 1 } } }
"""

DOCUMENT = """# Figures
Before <!-- dbdyno:answer -->?<!-- /dbdyno --> after.
One row: <!-- dbdyno:one/sqlite/service_ns/p50 -->?<!-- /dbdyno -->.
"""


def beside(place):
    runs = [place.start("run", "tiny.lua", "--no-floors", "--out", f"{name}.json")
            for name in ("first", "second")]
    for process in runs:
        _, err = process.communicate(timeout=60)
        check.that(process.returncode == 0, "a run beside another:", err)
    for name in ("first", "second"):
        check.that(place.record(f"{name}.json")["verdict"] in ("valid", "reserve"), name)


def writes_the_same(place):
    """The record is one run's: a second run says who is at it; a dead run is at nothing."""
    place.write("long.lua", lib_cli.LONG)
    first = place.start("run", "long.lua", "--no-floors", "--out", "same.json")
    for _ in range(100):  # until it has begun
        done = place.run("run", "tiny.lua", "--no-floors", "--out", "other.json")
        if str(first.pid) in done.stderr:
            break
    check.exits(done, 0, "another dbdyno is running (pid ", str(first.pid))
    check.that([g for g in place.record("other.json")["guards"] if g["id"] == "another-run"],
               "the record says that another run was beside it")
    done = place.run("run", "tiny.lua", "--no-floors", "--out", "./same.json")
    check.exits(done, 4, f"another dbdyno (pid {first.pid}) writes", "give --out another name")
    check.exits(place.run("run", "tiny.lua", "--no-floors", "--out", "/dev/null"), 0)
    first.kill()
    first.communicate()
    check.exits(place.run("run", "tiny.lua", "--no-floors", "--out", "same.json"), 0)


def from_elsewhere(place):
    """A record is rerun from any folder; a suite that is gone is named."""
    below = place.work / "below"
    below.mkdir()
    place.write("moved.lua", lib_cli.TINY)
    done = place.run("run", "./below/../moved.lua", "--no-floors", "--out", "m.json",
                     "--project", "below", "--fact", "a=1", "--fact", "ab=2")
    check.exits(done, 0)
    check.that("NULL" not in done.stdout, "no NULL on screen:", done.stdout[-400:])
    check.that("not a git checkout" in done.stdout, done.stdout[-400:])
    record = place.record("m.json")
    check.that(record["suite"]["path"] == str(place.work / "moved.lua"), record["suite"])
    there = f"cd {below} && exec {lib_cli.DBDYNO} rerun ../m.json --out again.json"
    done = subprocess.run(["sh", "-c", there], env=place.env, capture_output=True, text=True,
                          check=False, timeout=60)
    check.exits(done, 0, "as they were")
    check.that((below / "again.json").exists(), "the new record is where we are")
    (place.work / "moved.lua").unlink()
    check.exits(place.run("rerun", "m.json"), 4, str(place.work / "moved.lua"), "No such file")


def temporary_folder(place):
    """TMPDIR is taken from where we are; one that cannot be written is said to be so."""
    before = place.env["TMPDIR"]
    place.env["TMPDIR"] = "missing/tmp"
    done = place.run("run", "tiny.lua", "--no-floors", "--out", "t.json")
    check.exits(done, 4, str(place.work / "missing/tmp"), "set TMPDIR to a folder")
    (place.work / "near").mkdir()
    place.env["TMPDIR"] = "near"
    check.exits(place.run("run", "tiny.lua", "--no-floors", "--keep", "--out", "t.json"), 0)
    kept = list((place.work / "near").iterdir())
    check.that(len(kept) == 1 and kept[0].name.startswith("dbdyno-"), "it is used:", kept)
    place.env["TMPDIR"] = before


def again(place):
    check.exits(place.run("run", "tiny.lua", "--no-floors", "--seed", "7", "--param", "rows=300"), 0)
    done = place.run("rerun", "dbdyno.json")
    check.exits(done, 0, "as they were", "--seed 7", "--param rows=300")
    old, new = place.record(), place.record("dbdyno-rerun.json")
    check.that(old["suite"] == new["suite"], "the same suite, parameters and seed")
    check.that([c["name"] for c in old["scenarios"]] == [c["name"] for c in new["scenarios"]],
               "the same scenarios")
    done = place.run("rerun", "dbdyno-rerun.json", "--out", "third.json")
    check.exits(done, 0, "as they were")
    check.exits(place.run("rerun", "dbdyno.json", "--on", "nobody=sqlite"), 2, "nobody")
    place.write("tiny.lua", lib_cli.TINY + "-- changed\n")
    check.exits(place.run("rerun", "dbdyno.json"), 0, "differs: suite hash")
    place.write("tiny.lua", lib_cli.TINY)
    marker = place.work / "ran"
    place.write("tiny.lua", LASTING) # long enough for a command to begin
    check.exits(place.run("run", "tiny.lua", "--no-floors", "--around", f"touch {marker}"), 0)
    check.that(marker.exists(), "--around runs")
    marker.unlink()
    check.exits(place.run("rerun", "dbdyno.json"), 0, "left out: --around")
    check.that(not marker.exists(), "a command out of a file does not run by itself")
    place.write("broken.json", '{ "schema": "dbdyno.record/1", "run": 7 }')
    done = place.run("rerun", "broken.json")
    check.exits(done, 3)
    check.exits(place.run("rerun", "missing.json"), 4, "missing.json")


def fill(place):
    place.write("doc.md", DOCUMENT)
    done = place.run("fill", "doc.md", "--from", "dbdyno.json", "--check")
    check.exits(done, 1, "doc.md:2: marker 'answer'", "doc.md:3: marker 'one/sqlite")
    check.that((place.work / "doc.md").read_text() == DOCUMENT, "--check writes nothing")
    check.exits(place.run("fill", "doc.md", "--from", "dbdyno.json"), 0)
    filled = (place.work / "doc.md").read_text()
    check.that(re.search(r"One row: <!-- [^>]+ -->[0-9.]+ [nµu]?s<!--", filled), filled)
    check.exits(place.run("fill", "doc.md", "--from", "dbdyno.json", "--check"), 0)
    check.exits(place.run("fill", "doc.md", "--check"), 0)
    place.write("doc.md", filled.replace("<!-- /dbdyno --> after", "after"))
    check.exits(place.run("fill", "doc.md", "--check"), 1, "doc.md")
    check.exits(place.run("fill", "doc.md", "--from", "dbdyno.json"), 3, "doc.md")
    place.write("doc.md", DOCUMENT.replace("one/", "none/"))
    check.exits(place.run("fill", "doc.md", "--from", "dbdyno.json"), 3, "none")
    check.exits(place.run("fill", "missing.md", "--check"), 4, "missing.md")


def wrong_answer(place):
    place.write("wrong.lua", lib_cli.TINY.replace("value = 5 }", "value = 6 }"))
    done = place.run("run", "wrong.lua", "--no-floors", "--out", "wrong.json")
    check.exits(done, 5)
    for word in ("one", "sqlite", "5", "6"):
        check.that(word in done.stdout, f"the report names {word}:", done.stdout)
    record = place.record("wrong.json")
    cell = [c for c in record["scenarios"] if c["name"] == "one"][0]
    check.that(record["verdict"] == "failed" and cell["verdict"] == "failed", "failed")
    check.that(any(not c["ok"] and c["expected"] == 6 and c["found"] == 5 for c in cell["checks"]),
               "expected and found are in the record:", cell["checks"])
    check.that([c for c in record["scenarios"] if c["name"] == "several"], "the others ran")


def machine(place):
    done = place.run("list", "drivers", "--json")
    check.exits(done, 0)
    check.that('"target": "sqlite"' in done.stdout, done.stdout)
    done = place.run("floors", "--json")
    check.exits(done, 0)
    check.that("fsync_append" in done.stdout, done.stdout)
    done = place.run("--version")
    check.exits(done, 0)
    for name in ("dbdyno ", "sqlite", "libpq", "libmariadb"):
        check.that(name in done.stdout, f"--version names {name}:", done.stdout)


with lib_cli.place() as here:
    here.write("tiny.lua", lib_cli.TINY)
    beside(here)
    writes_the_same(here)
    from_elsewhere(here)
    temporary_folder(here)
    again(here)
    fill(here)
    wrong_answer(here)
    machine(here)
    check.nothing_left(here)
check.end()
