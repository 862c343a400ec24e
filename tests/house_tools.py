#!/usr/bin/env python3
"""The checks of tools/ find what they are for: each is shown a small tree with one fault."""
import contextlib
import importlib.util
import io
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(module, files):
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        for name, text in files.items():
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                code = module.main(top)
            except SystemExit as end:
                return 1, str(end)
        return code, printed.getvalue()


def test_layers():
    layers = load("check_layers")
    table = {"tools/layers.txt": "base:\nos: base\n"}
    good = {**table, "src/os/a.c": '#include "base/x.h"\n#include "os/a_internal.h"\n'}
    assert run(layers, good)[0] == 0
    for line, word in (('#include "os/a.h"\n', "may not include"),
                       (' #  include "os/a.h"\n', "may not include")):
        code, text = run(layers, {**table, "src/base/b.c": line})
        assert code == 1 and word in text, text
    code, text = run(layers, {**table, "src/os/a.c": '#include "base/x_internal.h"\n'})
    assert code == 1 and "private to base" in text, text
    code, text = run(layers, {"tools/layers.txt": "base: os\nos:\n"})
    assert code == 1 and "not below it" in text, text


def test_sizes():
    sizes = load("check_sizes")
    if not sizes.shutil.which("ctags"):
        return
    function = "int f(void)\n{\n" + "    g();\n" * 67 + "}\n"
    assert run(sizes, {"src/base/a.c": function})[0] == 0
    function = function.replace("{\n", "{\n    g();\n", 1)
    code, text = run(sizes, {"src/base/a.c": function})
    assert code == 1 and "f has 71 lines" in text, text
    code, text = run(sizes, {"src/base/a.c": "\n" * 601, "src/base/b.c": "\n" * 600})
    assert code == 1 and "a.c: 601 lines" in text and "b.c" not in text, text
    code, text = run(sizes, {"tests/a.h": "\n" * 301})
    assert code == 1 and "a.h: 301 lines" in text, text


def main():
    test_layers()
    test_sizes()
    print("tools: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
