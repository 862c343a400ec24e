#!/usr/bin/python3
"""More clients than a server lets in, or more prepared statements: refused with the numbers before
anything is loaded; servers of our own have room; --client and --pin-server."""
import os

import lib_cli
from lib_stand import Folder, Mariadb, Postgres, check, managed

kinds = managed()


def refused(folder, server, *words, texts):
    done = folder.run("run", "tiny.lua", "--no-floors", "--on", f"it={server.url()}",
                      "--out", "none.json", *words)
    check(done.returncode == 4, f"{' '.join(words)} is refused: {done.returncode} {done.err}")
    for text in texts:
        check(text in done.err, f"{text!r} is said: {done.err}")
    check(not (folder.path / "none.json").exists(), "there is no record")
    check(server.places() == "0", "nothing of ours is left there")


def accepted(folder, server, *words):
    done = folder.run("run", "tiny.lua", "--no-floors", "--on", f"it={server.url()}",
                      "--out", "r.json", *words)
    check(done.returncode == 0, f"{' '.join(words)} runs: {done.returncode} {done.err}")


def postgres(folder):
    server = Postgres(folder, "max_connections=20")
    try:
        refused(folder, server, "--clients", "50", "--count", "1",
                texts=["it: 50 clients need 50 connections more", "allows 20 (max_connections)"])
        refused(folder, server, "--on", f"too={server.url()}", "--clients", "10", "--count", "1",
                texts=["it: 2 times 10 clients need 20 connections more", "2 are in use"])
        accepted(folder, server, "--on", f"too={server.url()}", "--clients", "9", "--count", "1")
        server.sql("CREATE ROLE plain LOGIN PASSWORD 'p'; GRANT CREATE ON DATABASE postgres TO plain")
        # 20 less 3 that are reserved and our own control connection
        server.url = lambda: f"postgresql://plain:p@127.0.0.1:{server.port}/postgres"
        refused(folder, server, "--clients", "17", "--count", "1", texts=["3 are reserved"])
        accepted(folder, server, "--clients", "16", "--count", "1")
        check(len(clients(folder)) == 1, "one cell of 16 clients")
    finally:
        server.stop()


def mariadb(folder):
    server = Mariadb(folder)
    try:
        server.sql("SET GLOBAL max_prepared_stmt_count = 12")
        refused(folder, server, "--clients", "13", "--count", "1",
                texts=["it: 13 clients need 13 prepared statements more",
                       "allows 12 (max_prepared_stmt_count), 0 are in use"])
        accepted(folder, server, "--clients", "12", "--count", "1")
        server.sql("SET GLOBAL max_prepared_stmt_count = 1000")
        server.sql("SET GLOBAL max_connections = 10")
        refused(folder, server, "--clients", "20", "--count", "1",
                texts=["it: 20 clients need 20 connections more", "allows 10 (max_connections)"])
    finally:
        server.stop()


def clients(folder):
    return [cell for cell in folder.record()["scenarios"]
            if cell["name"] == "several" and cell["params"].get("clients") == 16]


def many(folder):
    """300 clients on servers of our own, pinned."""
    cpu = max(os.sched_getaffinity(0))
    targets = [word for kind in kinds for word in ("--on", kind)]
    done = folder.run("run", "tiny.lua", "--no-floors", "--clients", "300", "--count", "30",
                      "--pin-server", str(cpu), "--out", "r.json", *targets,
                      "--around", "cat /proc/$DBDYNO_SERVER_PID/task/*/status | "
                      "grep Cpus_allowed_list >> pins", "--around-at", "several")
    check(done.returncode == 0, f"300 clients run: {done.err}")
    lines = [line.split() for line in (folder.path / "pins").read_text().splitlines()]
    seen = {words[1] for words in lines if len(words) == 2}  # the last may be cut off
    check(seen == {str(cpu)}, f"the servers' threads are pinned: {seen}")
    record = folder.record()
    check(record["host"]["pin-server"] == str(cpu), "the record says so")
    cells = [cell for cell in record["scenarios"] if cell["name"] == "several"]
    found = [check_["found"] for cell in cells for check_ in cell["checks"]
             if check_["name"] == "executions"]
    check(found == [9000] * len(kinds), f"9,000 executions each: {found}")


def drivers(folder):
    """--client is for servers that name none; a server that lacks it is said."""
    library = {"postgres": "libpq", "mariadb": "libmariadb"}
    for kind in kinds:
        done = folder.run("run", "tiny.lua", "--no-floors", "--on", f"a={kind}", "--on", "sqlite",
                          "--client", library[kind], "--clients", "1", "--count", "1",
                          "--out", "r.json")
        check(done.returncode == 0, f"--client {library[kind]} runs: {done.err}")
        targets = [(t["label"], t["client"]) for t in folder.record()["targets"]]
        check(targets == [("a", library[kind]), ("sqlite", "sqlite")], f"targets: {targets}")
        done = folder.run("run", "tiny.lua", "--no-floors", "--on", f"a={kind}", "--on",
                          f"b={kind}?client=wire", "--client", f"{library[kind]},wire",
                          "--clients", "2", "--count", "1", "--out", "r.json")
        check(done.returncode == 0, f"both clients run: {done.err}")
        targets = [(t["label"], t["client"]) for t in folder.record()["targets"]]
        check(targets == [("a", library[kind]), ("a-wire", "wire"), ("b", "wire")],
              f"a target for each client: {targets}")
    other = {"postgres": "libmariadb", "mariadb": "libpq"}
    for kind in kinds:
        done = folder.run("run", "tiny.lua", "--on", kind, "--client", other[kind])
        check(done.returncode == 2 and f"the clients of {kind} are {library[kind]}" in done.err,
              f"--client {other[kind]} on {kind} is refused: {done.err}")


if not kinds:
    lib_cli.skip("no server is installed")
with Folder() as place:
    (place.path / "tiny.lua").write_text(lib_cli.TINY)
    if "postgres" in kinds:
        postgres(place)
    if "mariadb" in kinds:
        mariadb(place)
    many(place)
    drivers(place)
    check(not place.wait_clean(10), f"nothing is left: {place.leftovers()}")
