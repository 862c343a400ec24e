"""Shared by the tests of the command line: a folder of its own for every test, and a look at
what is left behind."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

DBDYNO = os.path.abspath(os.environ["DBDYNO"])
SOURCE = pathlib.Path(os.environ.get("DBDYNO_SOURCE_DIR", pathlib.Path(__file__).parents[2]))

TINY = """local p = params {
  rows = integer { 200, min = 10, max = 100000, quick = 50, help = "rows of things" } }
local things = table { "things", rows = p.rows,
  column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "age", "INTEGER", modulo(row, 10) } }
return suite { "tiny", summary = "one small table",
  create { "create_things", things },
  load { "load_things", things, batch = 50, commit = 50 },
  scenario { "one", sql = "SELECT age FROM things WHERE id = :id", bind = { id = 5 },
    warmup = 1, samples = 7, expect = { rows = 1, value = 5 } },
  scenario { "several", sql = "SELECT age FROM things WHERE id = :id",
    bind = { id = uniform(1, p.rows) }, clients = { 1, 4 }, per_client = 20,
    expect = { rows = 1 } },
}
"""

# As TINY, and then long enough to be interrupted.
LONG = TINY.replace("per_client = 20", 'duration = "20s"')


class Place:
    """A working folder, an empty TMPDIR, and a mark by which our processes are known."""

    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="dbdyno-test-"))
        self.top.chmod(0o755)  # servers run as other users
        self.work, self.temp = self.top / "work", self.top / "tmp"
        self.work.mkdir()
        self.temp.mkdir()
        self.temp.chmod(0o1777)
        self.mark = f"DBDYNO_TEST_MARK={uuid.uuid4().hex}"
        name, _, value = self.mark.partition("=")
        self.env = dict(os.environ, TMPDIR=str(self.temp), LC_ALL="C.UTF-8", **{name: value})

    def write(self, name, text):
        path = self.work / name
        path.write_text(text)
        return path

    def start(self, *words, **more):
        return subprocess.Popen([DBDYNO, *map(str, words)], cwd=self.work, env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    def run(self, *words, timeout=120, **more):
        process = self.start(*words, **more)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def record(self, name="dbdyno.json"):
        return json.loads((self.work / name).read_text())

    def processes(self):
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (path / "environ").read_bytes().split(b"\0"):
                    command = (path / "cmdline").read_bytes().replace(b"\0", b" ")
                    if command:  # not a zombie
                        found.append(f"{path.name} {command.decode(errors='replace')}")
        return found

    def sockets(self):
        table = pathlib.Path("/proc/net/unix").read_text()
        return [line.split()[-1] for line in table.splitlines() if str(self.top) in line]

    def left(self, wait_s=10):
        """What is still there; a reaper gets some time."""
        due = time.monotonic() + wait_s
        while True:
            found = self.processes() + self.sockets() + [p.name for p in self.temp.iterdir()
                     if not p.name.startswith("tsan.rodata.")]  # gcc's sanitizer, as it starts
            if not found or time.monotonic() > due:
                return found
            time.sleep(0.05)

    def remove(self):
        shutil.rmtree(self.top, ignore_errors=True)


class Checks:
    def __init__(self):
        self.faults = 0

    def that(self, holds, *what):
        if not holds:
            self.faults += 1
            print("FAILED:", *what)
        return holds

    def exits(self, done, code, *texts):
        """The exit code, and texts that stderr must have."""
        shown = f"\n  {' '.join(map(str, done.args))}\n  exit {done.returncode}\n{done.stderr}"
        self.that(done.returncode == code, f"expected exit {code}", shown)
        for text in texts:
            self.that(text in done.stderr, f"expected {text!r} on stderr", shown)
        self.that("Traceback" not in done.stderr and "runtime error" not in done.stderr, shown)

    def nothing_left(self, place):
        left = place.left()
        self.that(not left, "left behind:", *left)

    def end(self):
        if self.faults:
            sys.exit(f"{self.faults} checks failed")
        print("ok")


@contextlib.contextmanager
def place():
    made = Place()
    try:
        yield made
    finally:
        made.remove()


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)
