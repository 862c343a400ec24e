#!/usr/bin/env python3
"""Fails when a .c file has more than 600 lines, a header more than 300, or a function under src/
more than 70. A function's length is counted from the line of its name to its closing brace."""
import json
import pathlib
import shutil
import subprocess
import sys

C_LINES, H_LINES, FUNCTION_LINES = 600, 300, 70


def long_files(root):
    for folder in ("src", "tests"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            lines = len(path.read_text(errors="replace").splitlines())
            limit = H_LINES if path.suffix == ".h" else C_LINES
            if lines > limit:
                yield f"{path.relative_to(root)}: {lines} lines, at most {limit}"


def long_functions(root):
    sources = [str(p) for p in sorted((root / "src").rglob("*.[ch]"))]
    if not sources:
        return
    tags = subprocess.run(
        ["ctags", "--output-format=json", "--kinds-C=f", "--fields=+ne", "-f", "-", *sources],
        check=True, capture_output=True, text=True).stdout
    for line in tags.splitlines():
        tag = json.loads(line)
        lines = tag.get("end", tag["line"]) - tag["line"] + 1
        if lines > FUNCTION_LINES:
            where = pathlib.Path(tag["path"]).relative_to(root)
            yield f"{where}:{tag['line']}: {tag['name']} has {lines} lines, at most {FUNCTION_LINES}"


def main(root):
    if not shutil.which("ctags"):
        print("sizes: skipped, no ctags (package universal-ctags)")
        return 77
    faults = [*long_files(root), *long_functions(root)]
    print("\n".join(faults) or "sizes: ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parent.parent))
