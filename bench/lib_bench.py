"""What every bench script shares: one line a figure, `name value bar ok|short`, exit 1 when one
falls short. Absolute times are shown for people; bars are wide enough for a shared machine."""
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DBDYNO = os.environ.get("DBDYNO", str(ROOT / "build/release/dbdyno"))


class Figures:
    def __init__(self):
        self.short = False

    def at_most(self, name, value, bar):
        self._line(name, value, f"<={bar:.4g}", value <= bar)

    def at_least(self, name, value, bar):
        self._line(name, value, f">={bar:.4g}", value >= bar)

    def show(self, name, value):
        print(f"{name} {value:.4g} - -", flush=True)

    def skip(self, name, why):
        print(f"{name} - - skipped: {why}", flush=True)

    def _line(self, name, value, bar, ok):
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
        print(f"{name} {shown} {bar} {'ok' if ok else 'short'}", flush=True)
        self.short = self.short or not ok

    def leave(self):
        sys.exit(1 if self.short else 0)


def run(arguments, folder, fine=(0,)):
    """Runs the stand with its record in `folder`; returns (record, seconds). `fine`: exit codes."""
    out = pathlib.Path(folder) / "record.json"
    began = time.monotonic()
    done = subprocess.run([DBDYNO, "run", *arguments, "--out", str(out)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    seconds = time.monotonic() - began
    if done.returncode not in fine:
        sys.exit(f"dbdyno run {' '.join(arguments)}: exit {done.returncode}\n"
                 f"{done.stderr.decode()}")
    return json.loads(out.read_text()), seconds


def installed(kind):
    """Is this managed server there? Asked of the stand itself."""
    done = subprocess.run([DBDYNO, "list", "drivers", "--json"], stdout=subprocess.PIPE, check=True)
    for driver in json.loads(done.stdout)["drivers"]:
        if driver["target"] == kind:
            return bool(driver["server"])
    return False
