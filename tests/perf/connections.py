#!/usr/bin/python3
"""5,000 connections on one thread, against the null server: the run completes with right answers,
every client works, and resident memory stays within its bar."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import lib_null

CLIENTS, SPARE, MIB_BAR = 5000, 200, 200
SUITE = pathlib.Path(__file__).resolve().parents[2] / "bench/peers.lua"


def run(server, folder, client="wire", clients=CLIENTS):
    out = pathlib.Path(folder, "record.json")
    done = subprocess.run(
        [os.environ["DBDYNO"], "run", str(SUITE), "--on", server.url(client=client), "--clients",
         str(clients), "--threads", "1", "--count", "20", "--no-floors", "--out", str(out)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250,
        check=False)
    if done.returncode not in (0, 6):  # 6: one thread was busy all the time, which is no wonder
        sys.exit(f"FAILED: {' '.join(done.args)}: exit {done.returncode}\n{done.stdout[-3000:]}")
    return json.loads(out.read_text())


def measure(client="wire", clients=CLIENTS):
    """Peak resident bytes of the client."""
    with tempfile.TemporaryDirectory() as folder, lib_null.NullServer() as server:
        record = run(server, folder, client, clients)
    metrics = record["scenarios"][0]["metrics"]
    if metrics["service_ns"]["n"] != 20 * clients:
        sys.exit(f"FAILED: {metrics['service_ns']['n']} executions, not {20 * clients}")
    if server.messages["B"] < 20 * clients:
        sys.exit(f"FAILED: the server saw {server.messages}")
    return metrics["client_peak_resident_bytes"]["value"]


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < CLIENTS + SPARE:
        print(f"skipped: {hard} descriptors at most (ulimit -Hn), {CLIENTS + SPARE} needed")
        return 77
    peak = measure() / (1 << 20)
    fine = peak <= MIB_BAR
    print(f"resident_mib_{CLIENTS}_connections {peak:.1f} {MIB_BAR} {'ok' if fine else 'short'}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
