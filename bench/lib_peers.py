"""The servers and clients of bench/peers. Every server is private, every client is a child whose
CPU time the kernel counts (wait4); clients run on CPU 0, servers on CPU 1."""
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import lib_bench as bench

sys.path[:0] = [str(bench.ROOT / "tests/perf"), str(bench.ROOT / "tests/integration")]
os.environ["DBDYNO"] = bench.DBDYNO
import lib_null  # noqa: E402
import lib_stand as stand  # noqa: E402

CLIENT_CPU, SERVER_CPU = "0", "1"
PIPELINE = 64
SUITE = str(bench.ROOT / "bench/peers.lua")
PGBENCH_ROWS, SYSBENCH_ROWS = 1_000_000, 100_000


def say(text):
    print(text, file=sys.stderr, flush=True)


def on_server_cpu(*words):
    return ["taskset", "-c", SERVER_CPU, *map(str, words)]


class Run:
    """What one run of a client took: CPU of the whole process, transactions, their rate."""

    def __init__(self, user_s, system_s, transactions, rate, record=None):
        self.user_s, self.system_s = user_s, system_s
        self.transactions, self.rate, self.record = transactions, rate, record

    def less(self, start):
        """Without its start-up and end: a run of the same client that did next to nothing."""
        return Run(self.user_s - start.user_s, self.system_s - start.system_s,
                   self.transactions - start.transactions, self.rate, self.record)

    def user_us(self):
        return self.user_s / self.transactions * 1e6

    def total_us(self):
        return (self.user_s + self.system_s) / self.transactions * 1e6


def run_client(words, fine=(0,)):
    """Runs a client pinned; returns (user seconds, system seconds, its output)."""
    command = ["taskset", "-c", CLIENT_CPU, *map(str, words)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in fine:
        sys.exit(f"{' '.join(command)}: exit {process.returncode}\n{output}")
    return usage.ru_utime, usage.ru_stime, output


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"no {pattern!r} in:\n{text}")
    return float(found.group(1))


class Dbdyno:
    name = "dbdyno"

    def __init__(self, folder, url, clients, work="point", rows=PGBENCH_ROWS):
        self.out = pathlib.Path(folder) / "record.json"
        self.words = [bench.DBDYNO, "run", SUITE, "--on", url, "--no-floors", "--threads", "1",
                      "--clients", clients, "--param", f"work={work}", "--param", f"rows={rows}",
                      "--out", self.out]

    def _run(self, *more):
        # 6: answers were right, but a thread was busy all the time, as it is meant to be
        user, system, _ = run_client([*self.words, *more], fine=(0, 6))
        record = json.loads(self.out.read_text())
        cell = record["scenarios"][0]
        metrics = cell["metrics"]
        return Run(user, system, metrics["service_ns"]["n"], metrics["throughput_per_s"]["value"],
                   record)

    def run_for(self, seconds):
        return self._run("--duration", f"{seconds}s")

    def run_count(self, count):
        """So many transactions of each client."""
        return self._run("--count", count)


class Pgbench:
    """The real program: /usr/bin/pgbench is a wrapper in Perl."""
    name = "pgbench"

    def __init__(self, folder, host, port, user, clients, work="point"):
        self.program = pg_bin() / "pgbench"
        self.words = ["-h", host, "-p", port, "-U", user, "-n", "-M", "prepared", "-c", clients,
                      "-j", "1"]
        if work == "pipeline":
            one = (f"\\set aid random(1, {PGBENCH_ROWS})\n"
                   "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n")
            script = pathlib.Path(folder) / "pipeline.sql"
            script.write_text(f"\\startpipeline\n{one * PIPELINE}\\endpipeline\n")
            self.words += ["-f", script]
        else:
            self.words += ["-S"]

    def _run(self, *more):
        user, system, output = run_client([self.program, *self.words, *more, "postgres"])
        return Run(user, system, number(r"actually processed: (\d+)", output),
                   number(r"tps = ([\d.]+)", output))

    def run_for(self, seconds):
        return self._run("-T", seconds)

    def run_count(self, count):
        return self._run("-t", count)


class Sysbench:
    name = "sysbench"

    def __init__(self, kind, target, clients):
        self.words = sysbench_words(kind, target, f"--threads={clients}")
        self.clients = clients

    def _run(self, *more):
        user, system, output = run_client([*self.words, *more, "run"])
        return Run(user, system, number(r"transactions: +(\d+)", output),
                   number(r"transactions: +\d+ +\(([\d.]+) per sec", output))

    def run_for(self, seconds):
        return self._run(f"--time={seconds}")

    def run_count(self, count):
        return self._run("--time=0", f"--events={count * self.clients}")


def sysbench_words(kind, target, *more):
    where = ([f"--pgsql-host={target.host()}", f"--pgsql-port={target.port}",
              f"--pgsql-user={target.user}", "--pgsql-db=postgres"] if kind == "pgsql" else
             [f"--mysql-socket={target.socket}", "--mysql-user=root", "--mysql-db=sbtest"])
    return ["sysbench", "oltp_point_select", f"--db-driver={kind}", *where, "--tables=1",
            f"--table-size={SYSBENCH_ROWS}", "--rand-type=uniform", *more]


def pg_bin():
    return sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]


class Postgres:
    """A private PostgreSQL without a password on CPU 1, with pgbench's and sysbench's tables."""
    user = "owner"

    def __init__(self, folder):
        self.home = pathlib.Path(folder) / "pg"
        self.port = stand.free_port()
        self.home.mkdir()
        who = stand.as_user("postgres")
        if who:
            os.chown(self.home, who["user"], who["group"])
        quiet = dict(cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **who)
        subprocess.run([pg_bin() / "initdb", "-D", "data", "-A", "trust", "-U", self.user, "-E",
                        "UTF8", "--locale=C", "--no-sync"], check=True, **quiet)
        self.process = subprocess.Popen(
            on_server_cpu(pg_bin() / "postgres", "-D", "data", "-p", self.port, "-c",
                          "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.home}",
                          "-c", "shared_buffers=512MB", "-c", "max_connections=200", "-c",
                          "jit=off", "-c", "autovacuum=off"), **quiet)

    def __enter__(self):
        try:
            stand.wait_for(self.port, self.process)
            stand.wait_ready(self)
            self.run("pgbench", "-i", "-q", "-s", PGBENCH_ROWS // 100_000)
            self.sql("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
            self.sql("SELECT pg_prewarm('pgbench_accounts')")
            self.sql("CHECKPOINT")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.send_signal(stand.signal.SIGINT)
        self.process.wait(30)

    def host(self, local=True):
        return str(self.home) if local else "127.0.0.1"

    def run(self, program, *words):
        return subprocess.run([pg_bin() / program, "-h", self.host(), "-p", str(self.port), "-U",
                               self.user, *map(str, words), "postgres"], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout

    def sql(self, text):
        return self.run("psql", "-XAtq", "-c", text)

    def url(self, local=True, **parameters):
        pairs = {"host": self.host(local), "port": self.port, **parameters}
        return (f"postgresql://{self.user}@/postgres?" +
                "&".join(f"{name}={value}" for name, value in pairs.items()))


class Mariadb:
    """A private MariaDB on CPU 1 with sysbench's table; root needs no password."""

    def __init__(self, folder):
        self.home = pathlib.Path(folder) / "my"
        self.home.mkdir()
        self.socket = str(self.home / "s")
        who = stand.as_user("mysql")
        if who:
            os.chown(self.home, who["user"], who["group"])
        quiet = dict(cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **who)
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={self.home}/data",
                        "--auth-root-authentication-method=normal", "--skip-test-db"],
                       check=True, **quiet)
        self.process = subprocess.Popen(
            on_server_cpu("/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.home}/data",
                          f"--socket={self.socket}", "--skip-networking",
                          f"--pid-file={self.home}/pid", "--innodb-buffer-pool-size=256M"), **quiet)

    def __enter__(self):
        try:
            stand.wait_for(self.socket, self.process)
            stand.wait_ready(self)
            self.sql("CREATE DATABASE sbtest")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)

    def sql(self, text):
        subprocess.run(["mariadb", "--no-defaults", "-S", self.socket, "-u", "root", "-e", text],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def url(self, **parameters):
        pairs = {"socket": self.socket, **parameters}
        return "mariadb://root@localhost/?" + "&".join(f"{k}={v}" for k, v in pairs.items())


def null_server():
    return lib_null.NullServer(before=on_server_cpu())


class Pairs:
    """Ratios ours / theirs of clients run in turn: AB, BA, AB …"""

    def __init__(self, name, ours, theirs, count, seconds):
        self.ours, self.theirs = [], []
        sides = [(ours, self.ours), (theirs, self.theirs)]
        for i in range(count):
            for client, runs in sides if i % 2 == 0 else reversed(sides):
                runs.append(client.run_for(seconds).less(client.run_count(1)))
            a, b = self.ours[-1], self.theirs[-1]
            say(f"{name} pair {i + 1}: dbdyno {a.user_us():.2f} us user {a.total_us():.2f} us CPU "
                f"{a.rate:.0f}/s, {theirs.name} {b.user_us():.2f} us user {b.total_us():.2f} us CPU "
                f"{b.rate:.0f}/s")

    def own_cpu(self):
        """What our record says of our CPU time, divided by what the kernel says of the process."""
        return statistics.median(
            run.record["scenarios"][0]["metrics"]["client_cpu_ns"]["value"] / 1e9 /
            (run.user_s + run.system_s) for run in self.ours)

    def ratio(self, figure):
        return statistics.median(figure(a) / figure(b) for a, b in zip(self.ours, self.theirs))


def has(program):
    return shutil.which(program) is not None


def open_loop_lag(folder, rate, seconds):
    """The 99.9th percentile of how late the stand begins, in ns, when nothing else is slow."""
    record, _ = bench.run([SUITE, "--on", "null", "--no-floors", "--threads", "1", "--clients", "1",
                           "--pin", CLIENT_CPU, "--rate", str(rate), "--duration", f"{seconds}s"],
                          folder, fine=(0, 6))
    return record["scenarios"][0]["metrics"]["lag_ns"]["p999"]
