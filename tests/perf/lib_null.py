"""null_postgres (bench/null_postgres.c) for tests and bench/peers."""
import os
import pathlib
import shutil
import subprocess
import tempfile


class NullServer:
    """Runs inside a `with`; its standard input is a pipe, so it ends with us, however we end."""

    def __init__(self, program=None, before=()):
        self.program = program or os.environ["NULL_POSTGRES"]
        self.before = before  # a command that starts it: taskset, say

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dn"))
        self.process = subprocess.Popen([*self.before, self.program, str(self.folder)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline() or 0)
        if not self.port:
            self.__exit__()
            raise RuntimeError("null_postgres did not start")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def host(self, local=True):
        return str(self.folder) if local else "127.0.0.1"

    def url(self, local=True, **parameters):
        pairs = {"host": self.host(local), "port": self.port, **parameters}
        return "postgresql://x@/x?" + "&".join(f"{name}={value}" for name, value in pairs.items())
