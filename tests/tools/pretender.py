#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pretends to measure: `weft`, or PEERS/measure, whichever its name is (measuring_script.py puts it there under both).

`weft info --json` is answered. Every other call becomes a line of the file `calls` beside the program, and prints a
result for each size that it asks for, as the real one would. How long everything takes says the file times.py there:

  times(peer, collective, ranks, vector, earlier)

gives microseconds, or more of what is to be printed, of weft, openmpi or mpich; or None: it does not come to that size.
What is None there is not printed. `vector` is in bytes, `earlier` says how often the very same call was made before. A
program ends with the status that `status`, where there is one, has under its name.
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__)
PROVIDER = "net"  # that weft takes where it is not told
BY_BLOCK = {"reduce-scatter", "allgather", "gather", "scatter", "alltoall"}  # whose sizes weft takes by block


def note_call():
    """How often the same was called before."""
    calls, line = HERE.parent / "calls", " ".join([HERE.name, *sys.argv[1:]])
    known = calls.read_text().splitlines() if calls.exists() else []
    calls.write_text("".join(f"{each}\n" for each in [*known, line]))
    return known.count(line)


def sizes(first, last, factor):
    while first <= last:
        yield first
        first *= factor


def provider_and_road(flag):
    """As the real one says them: a provider carries nothing between processes that share memory, nor within one."""
    if flag.get("--ranks-per-process") == flag["-n"]:
        return flag.get("--provider", "loopback"), "memory"
    road = flag.get("--provider", PROVIDER) if "--weft-node=off" in sys.argv else "node"
    return flag.get("--provider", "default"), road


def results(flag):
    """Who comes to which size, and its vector, in the order of the real ones."""
    if HERE.name == "weft":
        collective, parts = sys.argv[2], int(flag["-n"]) if sys.argv[2] in BY_BLOCK else 1
        counts = sizes(int(flag["-b"]), int(flag["-e"]), int(flag["-f"])) if collective != "barrier" else [0]
        yield from (("weft", provider_and_road(flag)[0], collective, count, count * parts) for count in counts)
        return
    for peer in ("openmpi", "mpich"):
        for count in sizes(int(flag["-f"]), int(flag["-t"]), int(flag["-x"])):
            yield peer, flag["-p"], flag["-c"], count, count
            if flag["-c"] == "barrier":
                break


def main():
    if sys.argv[1:2] == ["info"]:
        print(json.dumps({"version": "9.8", "build": {"compiler": "GCC", "type": "release", "instruction_set": "none"},
                          "provider": {"libfabric": "1.0", "chosen": PROVIDER}, "machine": {"cores": [{}, {}, {}]}}))
        return
    earlier = note_call()
    if sys.argv[1:2] == ["run"]:  # it starts itself on hosts, where no rank shares another one's memory
        ranks = sum(int(each.partition(":")[2]) for each in sys.argv[sys.argv.index("--hosts") + 1].split(","))
        sys.argv[1:] = [*sys.argv[sys.argv.index("bench"):], "--weft-node=off", "-n", str(ranks)]
    told = {}
    exec((HERE.parent / "times.py").read_text(), told)
    flag = dict(zip(sys.argv[1:], sys.argv[2:]))
    print("not a result")
    for peer, path, collective, count, vector in results(flag):
        took = told["times"](peer, collective, int(flag["-n"]), vector, earlier)
        if took is None:
            continue
        took = took if isinstance(took, dict) else {"median_us": took, "p99_us": took}
        line = {"peer": f"{peer}-{path}", "bytes": count, "wrong": 0}
        line |= ({"road": provider_and_road(flag)[1]} if peer == "weft" else {}) | took
        print(json.dumps({name: value for name, value in line.items() if value is not None}), flush=True)
    sys.exit(told.get("status", {}).get(HERE.name, 0))


if __name__ == "__main__":
    main()
