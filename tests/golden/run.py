#!/usr/bin/env python3
"""run.py CASE...             runs golden cases and compares what they print
run.py --update CASE...    rewrites the expectations
run.py --self-test         tests this runner

A case is a folder with
  cmd      a shell script, run by `sh` in an empty folder that holds a copy of files/;
           `dbdyno` there is the program of the environment variable DBDYNO
  files/   what the script finds in its folder (may be missing)
  stdout, stderr, exit       what is expected; missing means empty, empty and 0
  mask     lines "REGEX => TEXT", applied to what was printed before it is compared: times,
           process ids, temporary names (may be missing)
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TIMEOUT_S = 50


def run_script(case, program):
    with tempfile.TemporaryDirectory(prefix="dbdyno-golden-") as folder:
        top = pathlib.Path(folder)
        work, programs, temp = top / "work", top / "bin", top / "tmp"
        for made in (programs, temp):
            made.mkdir()
        if (case / "files").is_dir():
            shutil.copytree(case / "files", work)
        else:
            work.mkdir()
        (programs / "dbdyno").symlink_to(program)
        env = {"PATH": f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(work),
               "TMPDIR": str(temp), "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "80"}
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        done = subprocess.run(["sh", str(case / "cmd")], cwd=work, env=env, timeout=TIMEOUT_S,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        left = sorted(p.name for p in temp.iterdir())
        texts = [done.stdout, done.stderr]
        texts = [t.decode(errors="backslashreplace").replace(folder, "FOLDER") for t in texts]
        return {"stdout": texts[0], "stderr": texts[1], "exit": f"{done.returncode}\n"}, left


def read_masks(case):
    path = case / "mask"
    masks = []
    for line in path.read_text().splitlines() if path.exists() else []:
        pattern, arrow, text = line.partition(" => ")
        if not arrow:
            sys.exit(f"{path}: expected REGEX => TEXT, got {line!r}")
        masks.append((re.compile(pattern, re.M), text))
    return masks


def found_in(case, program):
    found, left = run_script(case, program)
    for pattern, text in read_masks(case):
        for name in ("stdout", "stderr"):
            found[name] = pattern.sub(text, found[name])
    return found, left


def expected_of(case, name):
    path = case / name
    if path.exists():
        return path.read_text()
    return "0\n" if name == "exit" else ""


def check(case, program):
    found, left = found_in(case, program)
    faults = [f"left behind in TMPDIR: {name}" for name in left]
    for name, text in found.items():
        expected = expected_of(case, name)
        if text != expected:
            faults += difflib.unified_diff(expected.splitlines(), text.splitlines(),
                                           f"expected {name}", f"found {name}", lineterm="")
    return faults


def update(case, program):
    found, _ = found_in(case, program)
    for name, text in found.items():
        if text == ("0\n" if name == "exit" else ""):
            (case / name).unlink(missing_ok=True)
        else:
            (case / name).write_text(text)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        case = pathlib.Path(folder)
        (case / "files").mkdir()
        (case / "files" / "in").write_text("took 12 ms\n")
        (case / "mask").write_text(r"\d+ ms => N ms" + "\n")
        (case / "cmd").write_text("cat in; dbdyno bad >&2; exit 3\n")
        assert check(case, "/bin/echo"), "a case without expectations must fail"
        update(case, "/bin/echo")
        assert (case / "stdout").read_text() == "took N ms\n"
        assert (case / "stderr").read_text() == "bad\n"
        assert (case / "exit").read_text() == "3\n"
        assert not check(case, "/bin/echo")
        (case / "exit").write_text("4\n")
        assert check(case, "/bin/echo"), "a wrong exit code must fail"
        (case / "cmd").write_text("cat in; dbdyno bad >&2; touch $TMPDIR/left; exit 4\n")
        assert check(case, "/bin/echo") == ["left behind in TMPDIR: left"]
    print("golden runner: ok")
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    updating = arguments[:1] == ["--update"]
    cases = [pathlib.Path(a).resolve() for a in arguments[1 if updating else 0:]]
    program = os.environ.get("DBDYNO")
    if not cases or not program:
        sys.exit(__doc__ + "\nneeds at least one case, and DBDYNO=path of the program")
    failed = False
    for case in cases:
        if updating:
            update(case, os.path.abspath(program))
            continue
        faults = check(case, os.path.abspath(program))
        print(f"{case.name}: {'failed' if faults else 'ok'}", *faults, sep="\n")
        failed = failed or bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
