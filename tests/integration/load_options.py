#!/usr/bin/python3
"""Options of load on embedded targets: as many executions as were asked for, by as many clients,
after the warm-up; pins; the search for the highest rate; the same again by rerun."""
import os

import lib_cli

checks = lib_cli.Checks()


def cells(record, name="several"):
    return {cell["params"]["clients"]: cell for cell in record["scenarios"]
            if cell["name"] == name and cell["phase"] is None and "rate" not in cell["params"]}


def check_of(cell, name):
    return next(check for check in cell["checks"] if check["name"] == name)


def metric(cell, name):
    return cell["metrics"][name]


def run(place, *words, code=0):
    done = place.run("run", "tiny.lua", "--no-floors", *words)
    checks.exits(done, code)
    return place.record()


def counts(place):
    record = run(place, "--clients", "1,3", "--count", "50", "--warmup", "7")
    found = cells(record)
    checks.that(sorted(found) == [1, 3], "cells of 1 and 3 clients, got", sorted(found))
    for clients, cell in found.items():
        executions = check_of(cell, "executions")
        checks.that(executions["found"] == 50 * clients, clients, "clients:", executions)
        checks.that(metric(cell, "service_ns")["n"] == 50 * clients, metric(cell, "service_ns"))
        rows = check_of(cell, "rows")
        checks.that(rows["times"] == 57 * clients, "warm-up is checked too:", rows)
    one = next(cell for cell in record["scenarios"] if cell["name"] == "one")
    checks.that(check_of(one, "executions")["found"] == 7, "no scenario for load was changed")


def times(place):
    record = run(place, "--clients", "2", "--duration", "300ms", "--warmup", "0")
    cell = cells(record)[2]
    wall_ns = metric(cell, "wall_ns")["value"]
    checks.that(wall_ns >= 300_000_000 * 0.98, "wall time", wall_ns)
    done = metric(cell, "service_ns")["n"]
    checks.that(check_of(cell, "rows")["times"] == done > 2, "no warm-up:", done)
    rate = metric(cell, "throughput_per_s")["value"]
    checks.that(abs(rate * wall_ns / 1e9 - done) < 1, rate, wall_ns, done)

    record = run(place, "--clients", "2", "--count", "20", "--warmup", "100ms")
    cell = cells(record)[2]
    checks.that(metric(cell, "service_ns")["n"] == 40, "count after a warm-up by time")
    checks.that(check_of(cell, "rows")["times"] > 60, "so short a warm-up:", cell["checks"])


def again(place):
    first = run(place, "--clients", "3", "--count", "11", "--warmup", "2", "--threads", "1")
    checks.exits(place.run("rerun", "dbdyno.json", "--out", "again.json"), 0)
    second = place.record("again.json")
    checks.that(list(cells(second)) == [3], list(cells(second)))
    checks.that(check_of(cells(second)[3], "executions") ==
                check_of(cells(first)[3], "executions"), "the same count")
    checks.exits(place.run("rerun", "again.json", "--out", "third.json"), 0)
    checks.that(list(cells(place.record("third.json"))) == [3], "and once more")


def pins(place):
    cpu = max(os.sched_getaffinity(0))
    place.run("run", "tiny.lua", "--no-floors", "--clients", "3", "--duration", "1s", "--pin", cpu,
              "--around", "for t in /proc/$DBDYNO_CLIENT_PID/task/*; do "
              "grep Cpus_allowed_list $t/status; done > pins", "--around-at", "several")
    seen = [line.split()[1] for line in (place.work / "pins").read_text().splitlines()]
    checks.that(seen.count(str(cpu)) >= 3, "three pinned clients:", seen)
    if len(os.sched_getaffinity(0)) > 1:
        checks.that(any(one != str(cpu) for one in seen), "and threads that are not:", seen)
    checks.that(place.record()["host"]["pin"] == str(cpu), place.record()["host"])


def rates(place):
    record = run(place, "--clients", "2", "--rate", "400", "--arrivals", "fixed", "--count", "60")
    cell = next(cell for cell in record["scenarios"] if cell["name"] == "several")
    checks.that(metric(cell, "response_ns")["n"] == 60, metric(cell, "response_ns"))
    offered = metric(cell, "offered_per_s")["value"]
    checks.that(abs(offered - 400) < 1e-6, "offered", offered)
    # due at 0, 250 and 500 ms: the window counts, not when the last was done
    record = run(place, "--clients", "2", "--rate", "4", "--arrivals", "fixed", "--duration", "600ms")
    cell = next(cell for cell in record["scenarios"] if cell["name"] == "several")
    for name in ("offered_per_s", "achieved_per_s"):
        checks.that(abs(metric(cell, name)["value"] - 5) < 0.1, name, metric(cell, name))
    checks.that(metric(cell, "unfinished")["value"] == 0, metric(cell, "unfinished"))


def search(place):
    """Every step is a cell of its own; what is said to keep the limit did so."""
    record = run(place, "--clients", "2", "--max-rate", "--slo", "p50=20ms", "--duration", "150ms",
                 "--on", "null")
    found = record["searches"]
    checks.that([one["name"] for one in found] == ["several"], found)
    steps = found[0]["steps"]
    offered = [step["rate_per_s"] for step in steps]
    checks.that(offered == sorted(offered) and 0 < len(set(offered)) <= 10, offered)
    checks.that(all(offered.count(rate) <= 2 for rate in offered), offered)
    kept = [step["rate_per_s"] for step in steps if step["kept"]]
    for step in steps:
        good = (step["unfinished"] == 0 and step["value"] is not None and
                step["value"] <= 20_000_000)
        checks.that(good if step["kept"] else step["why"], step)
    checks.that(found[0]["rate_per_s"] == (max(kept) if kept else 0), found[0]["rate_per_s"], kept)
    measured = [cell for cell in record["scenarios"]
                if cell["name"] == "several" and "response_ns" in cell["metrics"]]
    checks.that(len(measured) == len(steps), len(measured), "cells for", len(steps), "steps")
    checks.that(len({str(cell["params"]) for cell in measured}) == len(steps), "keys differ")


def left_alone(place):
    place.write("mixed.lua", lib_cli.TINY.replace(
        "  scenario { \"one\"", "  scenario { \"grow\", sql = \"DELETE FROM things WHERE id = 9\",\n"
        "    clients = 1, warmup = 0, samples = 1, expect = { growth = { things, -1 } } },\n"
        "  scenario { \"one\""))
    done = place.run("run", "mixed.lua", "--no-floors", "--clients", "2", "--count", "5")
    checks.exits(done, 0, "runs as the suite says: grow: its check of the table's growth")
    checks.that(list(cells(place.record(), "grow")) == [1], "grow with one client")
    checks.that(list(cells(place.record())) == [2], "several with two")


def files(place):
    """More clients than open files: said before anything starts."""
    done = place.run("run", "tiny.lua", "--no-floors", "--clients", "100", "--out", "none.json",
                     preexec_fn=lambda: limit_files(64))
    checks.exits(done, 4, "100 clients on sqlite need ", " open files; the limit is 64: ",
                 "ulimit -n")
    checks.that(not (place.work / "none.json").exists(), "no record")
    done = place.run("run", "tiny.lua", "--no-floors", "--clients", "2", "--count", "3",
                     preexec_fn=lambda: limit_files(256))
    checks.exits(done, 0)


def limit_files(count):
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


with lib_cli.place() as place:
    place.write("tiny.lua", lib_cli.TINY)
    for test in (counts, times, again, pins, rates, search, left_alone, files):
        test(place)
    checks.nothing_left(place)
checks.end()
