#!/usr/bin/python3
"""A server that ends sessions while their clients wait for the next execution of an open loop: the
waiting costs no processor time, and the loss is told when the execution is due."""
import resource

import lib_stand as stand

SUITE = """
return suite { "idle", scenario { "read", sql = "SELECT 1", samples = 1, clients = 4,
  expect = { rows = 1, value = 1 } } }
"""
GAP_S = 9


def main():
    if "postgres" not in stand.managed():
        stand.skip("PostgreSQL is not installed")
    with stand.Folder() as folder:
        (folder.path / "idle.lua").write_text(SUITE)
        done = folder.run("run", "./idle.lua", "--on",
                          "postgres?client=wire&set.idle_session_timeout=500ms", "--no-floors",
                          "--threads", "1", "--rate", f"{3600 / GAP_S}/h", "--arrivals", "fixed",
                          "--count", "2", "--out", "r.json")
        stand.check(done.returncode == 5, f"exit 5: {done.returncode} {done.err[-300:]}")
        cell = folder.record()["scenarios"][0]
        stand.check("57P05" in str(cell) or "idle-session timeout" in str(cell),
                    f"the server's words are told: {cell['reason']}")
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        used_s = usage.ru_utime + usage.ru_stime  # with initdb and the start of the server
        stand.check(used_s < GAP_S * 0.6, f"{used_s:.1f} s of CPU in {GAP_S} s of waiting")


main()
