"""null_postgres (bench/null_postgres.c) for tests and bench/peers."""
import os
import pathlib
import shutil
import subprocess
import tempfile


def program():
    """Where it is: said by ctest, else beside the stand."""
    named = os.environ.get("NULL_POSTGRES")
    return named or str(pathlib.Path(os.environ["DBDYNO"]).parent / "null_postgres")


class NullServer:
    """Runs inside a `with`; its standard input is a pipe, so it ends with us, however we end."""

    def __init__(self, before=()):
        self.before = before  # a command that starts it: taskset, say
        self.messages = {}  # after the end: how many of each type came

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dn"))
        self.process = subprocess.Popen([*self.before, program(), str(self.folder)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline() or 0)
        if not self.port:
            self.__exit__()
            raise RuntimeError("null_postgres did not start")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            said, _ = self.process.communicate(timeout=10)
            self.messages = {line[0]: int(line[2:]) for line in said.splitlines()}
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)

    def host(self, local=True):
        return str(self.folder) if local else "127.0.0.1"

    def url(self, local=True, **parameters):
        pairs = {"host": self.host(local), "port": self.port, **parameters}
        return "postgresql://x@/x?" + "&".join(f"{name}={value}" for name, value in pairs.items())
