#!/usr/bin/python3
"""Running servers that have a table `users` of strangers: shop by URL passes, the table is
untouched, our schema is gone afterwards (also after kill -9), and the password is nowhere."""
import pathlib
import sys
import time

import lib_stand as stand


def visit(folder, server, name):
    server.sql("CREATE TABLE users (id INTEGER PRIMARY KEY, note VARCHAR(40))")
    server.sql("INSERT INTO users VALUES (1, 'not yours'), (2, 'hands off')")
    before = server.sql("SELECT * FROM users ORDER BY id")

    process = folder.start("run", "shop", "--quick", "--on", f"s={server.url()}", "--out",
                           "r.json", "--no-floors")
    time.sleep(0.7)
    title = pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes() if process.poll() is None else b""
    out, err = process.communicate(timeout=200)
    stand.check(process.returncode == 0, f"{name}: shop by URL exits 0: {(out + err)[-1500:]}")
    stand.check(server.sql("SELECT * FROM users ORDER BY id") == before,
                f"{name}: the table of strangers is untouched")
    stand.check(server.places() == "0", f"{name}: nothing of ours is left")
    text = out + err + (folder.path / "r.json").read_text() + title.decode("utf-8", "replace")
    secrets = (server.password, server.url().split(":")[2].split("@")[0])
    stand.check(not any(secret in text for secret in secrets),
                f"{name}: the password is in no output, record or process title")

    wrong = folder.run("run", "shop", "--quick", "--on", server.url("not-the-password"))
    stand.check(wrong.returncode == 4, f"{name}: wrong password exits 4 (got {wrong.returncode})")
    stand.check("not-the-password" not in wrong.out + wrong.err and wrong.err.strip() != "",
                f"{name}: and says so without it: {wrong.err.strip()[-200:]}")

    secret = folder.path / "target"
    secret.write_text(server.url() + "\n")
    process = folder.start("run", "shop", "--on", f"@{secret}", "--out", "r2.json", "--no-floors")
    time.sleep(1.5)
    process.kill()
    process.communicate()
    end = time.monotonic() + 20
    while server.places() != "0" and time.monotonic() < end:
        time.sleep(0.2)
    stand.check(server.places() == "0", f"{name}: kill -9 leaves no schema either")
    stand.check(server.sql("SELECT * FROM users ORDER BY id") == before,
                f"{name}: and the table of strangers is still untouched")


def main():
    kinds = stand.managed()
    if not kinds:
        stand.skip("neither PostgreSQL nor MariaDB is installed")
    with stand.Folder() as folder:
        for kind in kinds:
            server = (stand.Postgres if kind == "postgres" else stand.Mariadb)(folder)
            try:
                visit(folder, server, kind)
            finally:
                server.stop()


sys.exit(main())
