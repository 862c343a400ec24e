"""Targets that cannot be had, parameters out of range: the exit code, a message that helps, and
nothing measured or left behind."""
import json
import socket

import lib_cli

check = lib_cli.Checks()

with socket.socket() as closed:  # bound and not listening: refuses for as long as we have it
    closed.bind(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    with lib_cli.place() as place:
        place.write("tiny.lua", lib_cli.TINY)
        for scheme in ("postgresql", "mysql", "mariadb"):
            done = place.run("run", "tiny.lua", "--no-floors", "--on",
                             f"there={scheme}://me@127.0.0.1:{port}/db")
            check.exits(done, 4, "there")
            check.that(done.stdout == "", "nothing was measured, stdout is empty")
        for target in ("postgres", "mariadb", "mysql"):
            done = place.run("run", "tiny.lua", "--on", f"{target}?bin=/nonexistent")
            check.exits(done, 4, target, "/nonexistent")
        for driver in json.loads(place.run("list", "drivers", "--json").stdout)["drivers"]:
            if driver["managed"] and not driver["server"]:
                done = place.run("run", "tiny.lua", "--on", driver["target"])
                check.exits(done, 4, driver["target"], driver["package"] or "bin=DIR")
        check.exits(place.run("run", "tiny.lua", "--on", "@missing"), 2)
        check.exits(place.run("run", "shop", "--param", "users=99"), 2, "users", "100", "99")
        check.exits(place.run("run", "shop", "--param", "users=1e12"), 2, "users")
        check.exits(place.run("run", "shop", "--param", "user=1000"), 2, "user")
        check.that(not (place.work / "dbdyno.json").exists(), "no record without a run")
        check.nothing_left(place)
check.end()
