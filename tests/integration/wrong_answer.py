#!/usr/bin/python3
"""A changed expectation or statement makes the run fail and says where, what was expected and what
came."""
import re

import lib_stand as stand

# Statements with the same number of rows, and the same first value where one is expected: what the
# scenario checks has to see it. (scenario, text of shop.lua, changed text)
CHANGED = (
    ("scan_users", "SELECT * FROM users", "SELECT id, 1, 2 FROM users"),
    ("scan_orders", "SELECT * FROM orders", "SELECT id, user_id, 'item1' FROM orders"),
    ("scan_wide512B", "SELECT * FROM wide", "SELECT id, 'x' FROM wide"),
    ("first_older", "SELECT name FROM users WHERE age > 90",
     "SELECT name FROM users WHERE age >= 90 AND age < 99"),
    ("filtered_join", "SELECT u.name FROM users u JOIN", "SELECT o.product FROM users u JOIN"),
    ("derived_join", "FROM users WHERE age > 90) d", "FROM users WHERE age < 9) d"),
    ("id_range100", "SELECT id FROM users WHERE id >=", "SELECT id + 1 FROM users WHERE id >="),
    ("group100", "SELECT age, COUNT(*) FROM users", "SELECT age, MAX(id) FROM users"),
    ("cte_group", "SELECT age, COUNT(*) FROM a", "SELECT age + 1, COUNT(*) FROM a"),
    ("correlated_exists20", "SELECT u.name FROM (SELECT", "SELECT 'user1' FROM (SELECT"),
    ("sort_top100", "ORDER BY age DESC LIMIT 100", "ORDER BY age LIMIT 100"),
    ("scalar_subquery", "(SELECT COUNT(*) FROM orders)", "(SELECT COUNT(*) FROM users)"),
    ("stats_orders", 'owners }, { "product"', 'owners }, { "id"'),
)


def run(folder, source, *words):
    (folder.path / "wrong.lua").write_text(source)
    done = folder.run("run", "./wrong.lua", "--quick", "--out", "r.json", "--no-floors", *words)
    stand.check(done.returncode == 5, f"exit 5 (got {done.returncode}): {done.err[-500:]}")
    return done.out + done.err


def changed_expectation(folder, source):
    changed, count = re.subn(r"local older = (answer [^\n]*90)", r"local older = \g<1> - 1",
                             source, count=1)
    stand.check(count == 1, "an expectation of a copy of shop.lua is changed")
    text = run(folder, changed)
    for word in ("first_older", "sqlite", "expected 100", "found 90"):
        stand.check(word in text, f"the report says {word!r}")
    cell = next(c for c in folder.record()["scenarios"] if c["name"] == "first_older")
    stand.check(cell["verdict"] == "failed" and not cell["metrics"],
                "the failed scenario has no figures in the record")
    # "reserve" is a figure with a warning, as on a busy machine.
    others = [c for c in folder.record()["scenarios"] if c["verdict"] in ("valid", "reserve")]
    stand.check(len(others) > 30, f"{len(others)} other cells are kept")


def changed_statement(folder, source, name, old, new):
    stand.check(old in source, f"shop.lua has {old!r}")
    text = run(folder, source.replace(old, new), "--param", "users=10000")
    cell = next(c for c in folder.record()["scenarios"] if c["name"] == name)
    wrong = [check for check in cell["checks"] if not check["ok"]]
    stand.check(cell["verdict"] == "failed" and wrong, f"{name} fails")
    for word in (f"{name} on sqlite", f"expected {wrong[0]['expected']!r}",
                 f"found {wrong[0]['found']!r}"):
        stand.check(word in re.sub(r"\s+", " ", text), f"the report says {word!r}")


def main():
    source = (stand.SOURCE / "suites/shop.lua").read_text()
    with stand.Folder() as folder:
        changed_expectation(folder, source)
        for name, old, new in CHANGED:
            changed_statement(folder, source, name, old, new)


main()
