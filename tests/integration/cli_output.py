"""Where results go: stdout alone or broken, a record's folder that is read-only, full from the
start or full at the end."""
import contextlib
import json
import os
import subprocess

import lib_cli

check = lib_cli.Checks()


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def can_mount(place):
    try:
        with small_disk(place.top / "probe", "64k"):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def stdout_of_its_own(place):
    done = place.run("run", "tiny.lua", "--no-floors", "--json", "--out", "a.json")
    check.exits(done, 0)
    check.that(json.loads(done.stdout) == place.record("a.json"), "--json prints the record")
    done = place.run("run", "tiny.lua", "--no-floors", "--markdown", "--out", "b.json")
    check.exits(done, 0)
    check.that("|" in done.stdout and "\x1b" not in done.stdout, "--markdown prints Markdown")
    done = place.run("run", "tiny.lua", "--no-floors")
    check.exits(done, 0)
    check.that(done.stdout.count("\n") > 5 and "\x1b" not in done.stdout, "a plain table")
    check.that(all(len(line) <= 80 for line in done.stdout.splitlines()), "80 columns")
    for name in ("a.json", "b.json", "dbdyno.json"):
        check.that(place.record(name)["verdict"] in ("valid", "reserve"), name)


def broken_stdout(place):
    read_end, write_end = os.pipe()
    os.close(read_end)
    for target in (write_end, os.open("/dev/full", os.O_WRONLY)):
        (place.work / "c.json").unlink(missing_ok=True)
        done = subprocess.run([lib_cli.DBDYNO, "run", "tiny.lua", "--no-floors", "--out", "c.json"],
                              cwd=place.work, env=place.env, stdout=target, text=True,
                              stderr=subprocess.PIPE, check=False, timeout=60)
        os.close(target)
        check.exits(done, 4, "stdout")
        check.that(place.record("c.json")["suite"]["name"] == "tiny", "the record is kept")


def read_only(place):
    folder = place.work / "closed"
    folder.mkdir()
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):
        print("passed over: a read-only folder by mode, we may write anywhere")
        return
    done = place.run("run", "tiny.lua", "--out", "closed/r.json")
    check.exits(done, 4, "closed/r.json", "nothing was measured")


def full_disks(place):
    with small_disk(place.work / "full", "64k") as folder:
        with contextlib.suppress(OSError):
            (folder / "filler").write_bytes(b"x" * (1 << 20))
        done = place.run("run", "tiny.lua", "--out", "full/r.json")
        check.exits(done, 4, "full/r.json", "nothing was measured")
        check.that(done.stdout == "", "nothing was measured, stdout is empty")
        check.that([p.name for p in folder.iterdir()] == ["filler"], "nothing is left there")
    with small_disk(place.work / "sealed", "64k") as folder:
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        done = place.run("run", "tiny.lua", "--out", "sealed/r.json")
        check.exits(done, 4, "sealed/r.json", "nothing was measured")
    # Room for the trial before the run, none for the record after it.
    one = """  scenario { "NAME", sql = "SELECT age FROM things WHERE id = :id", bind = { id = 5 },
    samples = 4000, expect = { rows = 1 } },
"""
    many = "".join(one.replace("NAME", f"one{i}") for i in range(8))
    place.write("many.lua", lib_cli.TINY.replace('  scenario { "one"', many + '  scenario { "one"'))
    with small_disk(place.work / "tight", "72k") as folder:
        done = place.run("run", "many.lua", "--no-floors", "--out", "tight/r.json")
        check.exits(done, 4, "could not be written", "it is in ")
        check.that("one" in done.stdout, "the report is printed all the same")
        kept = list(place.temp.iterdir())
        if check.that(len(kept) == 1, "the record is kept elsewhere:", kept):
            check.that(str(kept[0]) in done.stderr, "and its place is named")
            check.that(json.loads(kept[0].read_text())["suite"]["name"] == "tiny", "it is whole")
            kept[0].unlink()
        check.that(list(folder.iterdir()) == [], "no part of it is left in the full folder")


with lib_cli.place() as here:
    here.write("tiny.lua", lib_cli.TINY)
    stdout_of_its_own(here)
    broken_stdout(here)
    read_only(here)
    if can_mount(here):
        full_disks(here)
    else:
        print("passed over: full and read-only disks, mounting a tmpfs needs root")
    check.nothing_left(here)
check.end()
