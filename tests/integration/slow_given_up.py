#!/usr/bin/python3
"""Work that is cut off when the drain time is over leaves connections in the middle of a transaction
or of a pipeline: the next cell does not use them."""
import lib_stand as stand

SUITE = """
local function nap(name, steps)
  return scenario { name, clients = { 1, 2 }, samples = 1, warmup = 0, steps = steps }
end
local wait = { postgres = "SELECT 1 FROM pg_sleep(4)", mariadb = "SELECT SLEEP(4)" }
return suite { "given_up",
  nap("transaction", { begin {}, execute { sql = wait }, execute { sql = wait }, commit {} }),
  nap("pipeline", { pipeline { execute { sql = wait }, execute { sql = wait },
                               execute { sql = wait } } }),
}
"""


def main():
    kinds = [kind for kind in ("postgres", "mariadb") if kind in stand.managed()]
    if not kinds:
        stand.skip("no server is installed")
    with stand.Folder() as folder:
        (folder.path / "given_up.lua").write_text(SUITE)
        targets = [word for kind in kinds for word in ("--on", f"{kind}?client=wire")]
        done = folder.run("run", "./given_up.lua", *targets, "--no-floors", "--rate", "4",
                          "--arrivals", "fixed", "--duration", "600ms", "--out", "r.json")
        stand.check(done.returncode in (0, 6), f"the run ends: {done.returncode} {done.err[-300:]}")
        cells = folder.record()["scenarios"]
        stand.check(len(cells) == 4 * len(kinds), f"{len(cells)} cells")
        for cell in cells:
            name = f"{cell['name']} {cell['target']} {cell['params']['clients']}"
            stand.check(cell["verdict"] in ("valid", "reserve", "invalid"),
                        f"{name} is measured: {cell['verdict']} {cell['reason']}")
            left = cell["metrics"]["unfinished"]["value"]
            stand.check(left > 0, f"{name}: {left} were not done")
        stand.check(not folder.leftovers(), f"nothing is left: {folder.leftovers()}")


main()
