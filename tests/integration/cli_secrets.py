"""A password is nowhere: process titles, output, records, files."""
import socket
import time

import lib_cli

SECRET = "s3cret-pa55"
check = lib_cli.Checks()


def forms(port):
    place = f"127.0.0.1:{port}"
    return [
        f"postgresql://me:{SECRET}@{place}/db",
        f"pg=postgresql://me:{SECRET}@{place}/db?connect_timeout=3",
        f"postgresql://me@{place}/db?password={SECRET}&sslpassword={SECRET}",
        f"conninfo:host=127.0.0.1 port={port} user=me password={SECRET}",
        f"conninfo:host=127.0.0.1 port={port} user=me password='{SECRET} x'",
        f"mysql://me:{SECRET}@{place}/db",
        f"my=mariadb://me:{SECRET}@{place}/db",
        f"postgresql://me:{SECRET}@{place}/db?no_such_option={SECRET}",
        f"postgresql://me:{SECRET}/@{place}/db",  # malformed: the slash is not encoded
        f"postgresql://me:x@{SECRET}@{place}/db",  # and neither is this @
        f"postgresql://me:1/{SECRET}@{place}/db",
        f"nonsense://me:{SECRET}@{place}/db",
    ]


def no_secret(text, *what):
    check.that(SECRET not in text, "the password shows in", *what)


def refused(place):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        for number, target in enumerate(forms(port)):
            place.write(f"target{number}", target.partition("=")[2]
                        if target.startswith(("pg=", "my=")) else target)
            for words in (["--on", target], [f"--on={target}"], ["--on", f"@target{number}"]):
                done = place.run("run", "tiny.lua", "--no-floors", *words)
                check.that(done.returncode in (2, 4), words, done.returncode, done.stderr)
                no_secret(done.stdout + done.stderr, words, done.stdout, done.stderr)


def in_titles(place):
    """A server that never answers holds the stand while its title is read."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        port = silent.getsockname()[1]
        for target in forms(port)[:7]:
            process = place.start("run", "tiny.lua", "--no-floors", "--on", target,
                                  f"--fact=url=psql {target}")
            time.sleep(0.5)
            titles = place.processes()
            check.that(process.poll() is not None or titles, "it is there to be looked at")
            no_secret("\n".join(titles), titles)
            process.kill()
            out, err = process.communicate(timeout=30)
            no_secret(out + err, target)
            check.nothing_left(place)


def in_records(place):
    done = place.run("run", "tiny.lua", "--no-floors", "--around",
                     f"true postgresql://me:{SECRET}@h/db", f"--fact=url=mysql://me:{SECRET}@h/d")
    check.exits(done, 0)
    no_secret(done.stdout + done.stderr, "the report")
    no_secret((place.work / "dbdyno.json").read_text(), "the record")
    check.that("***" in (place.work / "dbdyno.json").read_text(), "it was there to be removed")


with lib_cli.place() as here:
    here.write("tiny.lua", lib_cli.TINY)
    refused(here)
    in_titles(here)
    in_records(here)
    check.nothing_left(here)
check.end()
