"""Suites that try to hang, to eat the memory or to get out: a fault with file and line, soon."""
import time

import lib_cli

ENDING = '\nreturn suite { "x", scenario { "s", sql = "SELECT 1" } }\n'
HOSTILE = {
    "pcall": "while true do pcall(error) end",
    "pcall_error": "while true do pcall(function() while true do end end) end",
    "gc": "setmetatable({}, { __gc = function() while true do end end })",
    "rep_method": '("").rep("", 1 << 50)',
    "move": "table.move({}, 1, 1 << 50, 2)",
    "pattern": 'string.find(string.rep("a", 3000), ".-.-.-.-b")',
    "method_pattern": '("aaaa"):find(".-.-.-.-b")',
    "rep": 'local s = string.rep("x", 1e10)',
    "endless": "while true do end",
    "long_for": "for i = 1, 1 << 60 do end",
    "memory": "local t = {} for i = 1, 1 << 40 do t[i] = { i } end",
    "concat": 'local s = "x" while true do s = s .. s end',
    "deep": "local function f(n) return 1 + f(n + 1) end f(1)",
    "io": 'io.open("/etc/passwd")',
    "os": 'os.execute("true")',
    "require": 'require("os")',
    "load": 'load("return 1")()',
    "debug": "debug.getregistry()",
    "coroutine": "coroutine.wrap(function() end)()",
}

check = lib_cli.Checks()
with lib_cli.place() as place:
    for name, text in HOSTILE.items():
        place.write(f"{name}.lua", text + ENDING)
        began = time.monotonic()
        done = place.run("run", f"{name}.lua", timeout=30)
        took = time.monotonic() - began
        check.exits(done, 3, f"{name}.lua:")
        check.that(took < 10, f"{name}: took {took:.1f} s")
        check.that(done.stdout == "", f"{name}: stdout is empty")
    place.write("binary.lua", "\x1bLua\x54\x00")
    check.exits(place.run("run", "binary.lua"), 3)
    place.write("empty.lua", "")
    check.exits(place.run("run", "empty.lua"), 3)
    check.that(not (place.work / "dbdyno.json").exists(), "no record")
    check.nothing_left(place)
check.end()
