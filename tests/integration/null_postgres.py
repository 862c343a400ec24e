#!/usr/bin/python3
"""The null server of tests/perf and bench/peers: it answers what a client asks, however the bytes
are cut; garbage and clients that do not read cost it nothing but that connection."""
import os
import pathlib
import random
import socket
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "perf"))
import lib_null  # noqa: E402

SEED = int(os.environ.get("DBDYNO_TEST_SEED", random.randrange(1 << 32)))
RANDOM = random.Random(SEED)


def message(kind, body=b""):
    return kind + struct.pack("!I", len(body) + 4) + body


START = struct.pack("!II", 13, 3 << 16) + b"user\0"
PARSE = message(b"P", b"s0\0SELECT $1, $2\0\0\0")
DESCRIBE = message(b"D", b"Ss0\0")


def point(binary):
    bind = b"\0s0\0" + struct.pack("!HHi4s", 0, 1, 4, b"4711") + struct.pack("!HH", 1, binary)
    return message(b"B", bind) + message(b"D", b"P\0") + message(b"E", b"\0\0\0\0\0") + message(b"S")


def connect(server):
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(60)
    made.connect(str(server.folder / f".s.PGSQL.{server.port}"))
    return made


def read_messages(sock, until, count):
    """Messages until `count` of kind `until` have come."""
    data, found = b"", []
    while sum(kind == until for kind, _ in found) < count:
        while len(data) < 5 or len(data) < 1 + struct.unpack("!I", data[1:5])[0]:
            more = sock.recv(65536)
            if not more:
                sys.exit(f"FAILED: closed after {found}")
            data += more
        length = 1 + struct.unpack("!I", data[1:5])[0]
        found.append((data[:1], data[5:length]))
        data = data[length:]
    if data:
        sys.exit(f"FAILED: left over: {data}")
    return found


def kinds(found):
    return b"".join(kind for kind, _ in found)


def test_answers(server):
    with connect(server) as sock:
        sock.sendall(struct.pack("!II", 8, 80877103))
        assert sock.recv(1) == b"N"
        sock.sendall(START)
        hello = read_messages(sock, b"Z", 1)
        assert kinds(hello)[:1] == b"R" and kinds(hello)[-2:] == b"KZ", hello
        sock.sendall(PARSE + DESCRIBE + message(b"S"))
        found = read_messages(sock, b"Z", 1)
        assert kinds(found) == b"1tTZ" and found[1][1][:2] == b"\0\2", found
        for binary, value in ((0, b"0"), (1, b"\0\0\0\0")):
            sock.sendall(point(binary))
            found = read_messages(sock, b"Z", 1)
            assert kinds(found) == b"2TDCZ", found
            assert found[1][1][-1] == binary and found[2][1][6:] == value, found
        for text, expected in ((b"", b"I"), (b"SELECT 1", b"TDC"), (b"begin", b"C"),
                               (b"SELECT current_setting('fsync', true)", b"TDC"), (b"COMMIT", b"C")):
            sock.sendall(message(b"Q", text + b"\0"))
            found = read_messages(sock, b"Z", 1)
            assert kinds(found) == expected + b"Z", (text, found)
            in_block = text in (b"begin", b"SELECT current_setting('fsync', true)")
            assert found[-1][1] == (b"T" if in_block else b"I"), (text, found)


def test_cuts(server):
    """The same conversation with every message cut at random places."""
    talk = START + PARSE + message(b"S") + b"".join(point(i % 2) for i in range(40))
    with connect(server) as sock:
        at = 0
        while at < len(talk):
            step = RANDOM.randrange(1, 40)
            sock.sendall(talk[at:at + step])
            at += step
        found = kinds(read_messages(sock, b"Z", 42))
        assert found.endswith(b"1Z" + b"2TDCZ" * 40), found


def test_long_message(server):
    with connect(server) as sock:
        sock.sendall(START + message(b"Q", b"INSERT " + b"x" * 3_000_000 + b"\0") + point(0))
        found = kinds(read_messages(sock, b"Z", 3))
        assert found.endswith(b"ZCZ2TDCZ"), found


def test_slow_reader(server):
    """Many answers to a client that first sends everything, as far as it can."""
    count = 100_000  # answers of 66 bytes
    with connect(server) as sock:
        sock.sendall(START)
        read_messages(sock, b"Z", 1)
        sock.setblocking(False)
        talk, sent, got, blocked = point(0) * count, 0, 0, False
        end = time.monotonic() + 60
        while got < count * 66 and time.monotonic() < end:
            try:
                while sent < len(talk):
                    sent += sock.send(talk[sent:sent + 65536])
            except BlockingIOError:
                blocked = True
            try:
                got += len(sock.recv(65536))
            except BlockingIOError:
                pass
        assert blocked and got == count * 66, (blocked, got)


def test_garbage(server):
    for _ in range(300):
        with connect(server) as sock:
            begin = START if RANDOM.random() < 0.7 else b""
            middle = point(0)[:RANDOM.randrange(60)]
            try:
                sock.sendall(begin + middle + RANDOM.randbytes(RANDOM.randrange(3000)))
            except OSError:
                pass  # it has closed already
    for bad in (message(b"?"), b"E\0\0\0\3", b"E\x7f\xff\xff\xff", b"E\xff\xff\xff\xff"):
        with connect(server) as sock:
            sock.sendall(START)
            read_messages(sock, b"Z", 1)
            sock.sendall(bad)
            assert sock.recv(1) == b"", bad


def main():
    print(f"DBDYNO_TEST_SEED={SEED}")
    with lib_null.NullServer() as server:
        for test in (test_answers, test_cuts, test_long_message, test_slow_reader, test_garbage,
                     test_answers):
            test(server)
            print(f"ok: {test.__name__}", flush=True)
        server.process.terminate()
        assert server.process.wait(10) == 0, "not a clean end"
        assert not list(server.folder.iterdir()), "the socket is still there"
    assert server.messages["B"] >= 100_000 and "P" in server.messages, server.messages


main()
