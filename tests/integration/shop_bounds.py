#!/usr/bin/python3
"""shop loads at the ends of its parameters, and its answers are right for sizes without round
numbers."""
import lib_stand as stand

ENDS = (("users=100", "orders=100"), ("users=1000000", "orders=1000000"),
        ("users=100", "orders=1000000"), ("users=1000000", "orders=100"))
ODD = (("users=137", "orders=113", "batch=7", "small_batch=1", "samples=1", "warmup=0"),
       ("users=313", "orders=1009", "batch=5000", "small_batch=5000"),
       ("users=9999", "orders=101"))


def run(folder, target, params):
    words = [word for param in params for word in ("--param", param)]
    return folder.run("run", "shop", "--on", target, "--no-floors", "--out", "r.json", *words)


def main():
    with stand.Folder() as folder:
        for params in ENDS:
            done = run(folder, "null", params)
            stand.check(done.returncode == 0, f"{' '.join(params)} on null: exit 0 "
                        f"(got {done.returncode}) {done.err[-500:]}")
        for params in ODD:
            done = run(folder, "sqlite", params)
            stand.check(done.returncode == 0, f"{' '.join(params)} on sqlite: exit 0 "
                        f"(got {done.returncode}) {done.out[:500]}{done.err[-500:]}")
            answers = [check for cell in folder.record()["scenarios"] for check in cell["checks"]
                       if check["name"] == "answer"]
            stand.check(len(answers) >= 13, f"{len(answers)} whole answers were compared")


main()
