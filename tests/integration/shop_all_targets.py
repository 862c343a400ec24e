#!/usr/bin/python3
"""shop --quick on every target: valid record, every check there, the same answers everywhere."""
import json

import lib_stand as stand


def main():
    kinds = ["sqlite", *stand.managed()]
    with stand.Folder() as folder:
        targets = [word for kind in kinds for word in ("--on", kind)]
        done = folder.run("run", "shop", "--quick", *targets, "--out", "r.json")
        print(done.out[-6000:], done.err[-2000:])
        stand.check(done.returncode == 0, f"exit 0 on {', '.join(kinds)} (got {done.returncode})")
        record = folder.record()
        validate(record)
        for kind in kinds:
            cells = [cell for cell in record["scenarios"]
                     if cell["target"] == kind and cell["phase"] is None]
            names = {cell["name"] for cell in cells if cell["verdict"] in ("valid", "reserve")}
            stand.check(len(names) >= 30, f"{kind}: {len(names)} scenarios with a result")
            checks = [check for cell in cells for check in cell["checks"]]
            stand.check(len(checks) >= 60 and all(check["ok"] for check in checks),
                        f"{kind}: {len(checks)} checks, all with what was expected and found")
            stand.check(all(check["expected"] == check["found"] or
                            str(check["expected"]) == str(check["found"]) for check in checks),
                        f"{kind}: expected and found agree in the record")
        known = [relation for relation in record["relations"] if relation.get("ratio")]
        stand.check(len(known) >= 10 * len(kinds), f"{len(known)} relations have figures")
        stand.check(not folder.wait_clean(5), "nothing left behind")


def validate(record):
    try:
        import jsonschema
    except ImportError:
        stand.skip("python3-jsonschema is not installed")
    schema = json.loads((stand.SOURCE / "docs/record.schema.json").read_text())
    jsonschema.validate(record, schema)
    print("ok: the record is valid by its schema")


main()
