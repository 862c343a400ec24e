"""Shared by the integration tests: running the stand, and servers of strangers on loopback."""
import json
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

DBDYNO = os.path.abspath(os.environ["DBDYNO"])
SOURCE = pathlib.Path(os.environ.get("DBDYNO_SOURCE_DIR",
                                     pathlib.Path(__file__).resolve().parents[2]))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


class Folder:
    """A private TMPDIR: what the stand leaves behind shows here."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="dt"))
        self.path.chmod(0o711)
        self.tmp = self.path / "t"
        self.tmp.mkdir(mode=0o1777)
        self.tmp.chmod(0o1777)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def environment(self, **more):
        return dict(os.environ, TMPDIR=str(self.tmp), NO_COLOR="1", **more)

    def start(self, *arguments, **more):
        return subprocess.Popen([DBDYNO, *arguments], cwd=self.path, env=self.environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, text=True, **more)

    def run(self, *arguments, timeout=280):
        process = self.start(*arguments)
        try:
            process.out, process.err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            sys.exit(f"FAILED: dbdyno {' '.join(arguments)} did not end within {timeout} s")
        return process

    def start_measuring(self, scenario, *arguments):
        """Starts a run and returns when the scenario's measured part has begun."""
        mark = self.path / "measuring"
        mark.unlink(missing_ok=True)
        process = self.start(*arguments, "--around", f"touch {mark}", "--around-at", scenario)
        end = time.monotonic() + 120
        while not mark.exists():
            if time.monotonic() > end or process.poll() is not None:
                process.kill()
                sys.exit(f"FAILED: {scenario} was not reached: {process.communicate()}")
            time.sleep(0.02)
        return process

    def record(self, name="r.json"):
        return json.loads((self.path / name).read_text())

    def leftovers(self):
        """Names left in TMPDIR and processes that work in it."""
        left = [entry.name for entry in self.tmp.iterdir()
                if not entry.name.startswith("tsan.rodata.")]  # gcc's sanitizer, as it starts
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if str(self.tmp) in command and state != "Z":
                left.append(f"process {entry.name}: {command[:90]}")
        return left

    def server_pids(self, process):
        """Of the managed servers of a run: the server and its children."""
        found = set()
        for item in self.leftovers():
            if item.startswith("process"):
                found.update(family(int(item.split()[1].rstrip(":"))))
        return sorted(found - {process.pid})

    def wait_clean(self, seconds):
        end = time.monotonic() + seconds
        while self.leftovers() and time.monotonic() < end:
            time.sleep(0.1)
        return self.leftovers()


def family(root):
    """A process and its children."""
    found = [root]
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == root:
                found.append(int(entry))
    return found


def managed():
    """Kinds of managed servers that are installed here."""
    listed = subprocess.run([DBDYNO, "list", "drivers", "--json"], stdout=subprocess.PIPE,
                            check=True)
    found = [driver["target"] for driver in json.loads(listed.stdout)["drivers"]
             if driver["server"]]
    return [kind for kind in ("postgres", "mariadb") if kind in found]


def wait_for(path_or_port, process, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        family = socket.AF_UNIX if isinstance(path_or_port, str) else socket.AF_INET
        address = path_or_port if family == socket.AF_UNIX else ("127.0.0.1", path_or_port)
        with socket.socket(family) as probe:
            try:
                probe.connect(address)
                return
            except OSError:
                pass
        if process.poll() is not None:
            break
        time.sleep(0.05)
    sys.exit("FAILED: a server for the test did not start")


def wait_ready(server, seconds=60):
    """A server that takes connections may still be starting up: it is ready when it answers."""
    end = time.monotonic() + seconds
    while True:
        try:
            server.sql("SELECT 1")
            return
        except subprocess.CalledProcessError:
            if time.monotonic() > end or server.process.poll() is not None:
                sys.exit("FAILED: a server for the test does not answer")
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def as_user(name):
    """Drops root for a child: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam(name)
    except KeyError:  # mariadb-server-core alone makes no user
        entry = pwd.getpwnam("nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Postgres:
    """A stranger's PostgreSQL with a password."""

    def __init__(self, folder, *settings):
        versions = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        self.bin = versions[-1]
        self.home = folder.path / "pg"
        self.home.mkdir()
        self.port = free_port()
        self.password = secrets.token_hex(8) + "%+=@/ é"
        who = as_user("postgres")
        if who:
            os.chown(self.home, who["user"], who["group"])
        secret = self.home / "pw"
        secret.write_text(self.password + "\n")
        if who:
            os.chown(secret, who["user"], who["group"])
        common = dict(cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **who)
        subprocess.run([self.bin / "initdb", "-D", self.home / "data", "-A", "scram-sha-256", "-U",
                        "owner", "-E", "UTF8", "--locale=C", "--no-sync", f"--pwfile={secret}"],
                       check=True, **common)
        self.process = subprocess.Popen(
            [self.bin / "postgres", "-D", self.home / "data", "-p", str(self.port), "-c",
             "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.home}",
             *(word for setting in settings for word in ("-c", setting))], **common)
        wait_for(self.port, self.process)
        wait_ready(self)

    def url(self, password=None):
        from urllib.parse import quote
        secret = quote(password or self.password, safe="")
        return f"postgresql://owner:{secret}@127.0.0.1:{self.port}/postgres"

    def sql(self, text):
        return subprocess.run(
            [self.bin / "psql", "-XAtq", "-h", "127.0.0.1", "-p", str(self.port), "-U", "owner",
             "-d", "postgres", "-c", text], check=True, stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, PGPASSWORD=self.password)).stdout.strip()

    def places(self):
        return self.sql("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno%'")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


class Mariadb:
    """A stranger's MariaDB with a password."""

    def __init__(self, folder):
        self.home = folder.path / "my"
        self.home.mkdir()
        self.port = free_port()
        self.socket = str(self.home / "s")
        self.password = secrets.token_hex(8) + "%+=@/$"
        who = as_user("mysql")
        if who:
            os.chown(self.home, who["user"], who["group"])
        common = dict(cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **who)
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={self.home}/data",
                        "--auth-root-authentication-method=normal", "--skip-test-db"],
                       check=True, **common)
        self.process = subprocess.Popen(
            ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.home}/data",
             f"--socket={self.socket}", f"--port={self.port}", "--bind-address=127.0.0.1",
             f"--pid-file={self.home}/pid"], **common)
        wait_for(self.socket, self.process)
        self._client("", f"CREATE USER owner@'%' IDENTIFIED BY '{self.password}';"
                         "GRANT ALL ON *.* TO owner@'%' WITH GRANT OPTION;"
                         "CREATE USER owner@localhost IDENTIFIED BY "
                         f"'{self.password}'; GRANT ALL ON *.* TO owner@localhost;"
                         "CREATE DATABASE app;", user="root")

    def _client(self, database, text, user="owner"):
        secret = "" if user == "root" else self.password
        return subprocess.run(
            ["mariadb", "--no-defaults", "-S", self.socket, "-u", user, "-N", "-B", "-e", text,
             *([database] if database else [])], check=True, stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, MYSQL_PWD=secret)).stdout.strip()

    def url(self, password=None):
        from urllib.parse import quote
        secret = quote(password or self.password, safe="")
        return f"mariadb://owner:{secret}@127.0.0.1:{self.port}/app"

    def sql(self, text):
        return self._client("app", text)

    def places(self):
        return self.sql("SELECT count(*) FROM information_schema.schemata "
                        "WHERE schema_name LIKE 'dbdyno%'")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
