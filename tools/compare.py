#!/usr/bin/env python3
"""Compares weft's all-reduce with Open MPI's on this machine, size by size, in one run.

  tools/compare.py [--providers shm,net] [--alternations 5] [--from 8] [--to 16M] [--factor 2] [--budget 200]
                   [--weft build/tools/weft] [--peers ../shared/peers] [--write] [--readme README.md]

Runs `weft bench allreduce` and PEERS/measure in turn, so that both see the machine in the same state, and prints a
table in Markdown. A ratio is the median of the ratios of the alternations: weft's median time over Open MPI's. With
--write the table replaces what stands between the markers in the README.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- compare:begin -->", "<!-- compare:end -->"
RANKS = 2
# Which of the peer's paths is the same way through the machine.
PEER_PATHS = {"shm": "shm", "net": "tcp", "tcp": "tcp", "tcp;ofi_rxm": "tcp"}


def size(text):
    units = {"k": 10, "K": 10, "M": 20, "G": 30}
    try:
        value = int(text[:-1]) << units[text[-1]] if text[-1:] in units else int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number of bytes such as 8, 64k or 16M')
    return value


def at_least(least):
    def number(text):
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is less than {least}")
        return value
    return number


def providers(text):
    names = text.split(",")
    for name in names:
        if name not in PEER_PATHS:
            raise argparse.ArgumentTypeError(f'"{name}" has no counterpart; valid: {", ".join(PEER_PATHS)}')
    return names


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--providers", type=providers, default=["shm", "net"])
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=16 << 20)
    parser.add_argument("--factor", type=at_least(2), default=2)
    parser.add_argument("--budget", type=at_least(1), default=200, help="ms for the samples of a size")
    parser.add_argument("--weft", type=pathlib.Path, default=SOURCE / "build/tools/weft")
    parser.add_argument("--peers", type=pathlib.Path, default=SOURCE.parent / "shared/peers")
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    parser.add_argument("--readme", type=pathlib.Path, default=SOURCE / "README.md")
    return parser.parse_args()


def medians(command, peer):
    """Median time in microseconds of each size, as `command` reports it for `peer`."""
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    found = {line["bytes"]: line["median_us"] for line in lines if line["peer"] == peer}
    # The peers' program may fail for another peer than the one that counts here.
    if not found or (peer.startswith("weft-") and process.returncode != 0):
        sys.exit(f"{shlex.join(map(str, command))}: status {process.returncode}, no results of {peer}\n{process.stderr}")
    if any(line.get("wrong") for line in lines):
        sys.exit(f"{shlex.join(map(str, command))}: wrong results")
    return found


def alternate(options, provider):
    """The medians of weft and of Open MPI over one provider: a pair for each alternation."""
    path = PEER_PATHS[provider]
    ours = [options.weft, "bench", "allreduce", "-n", RANKS, "-b", options.first, "-e", options.last, "-f", options.factor,
            "--budget", options.budget, "--provider", provider, "--json"]
    theirs = [options.peers / "measure", "-n", RANKS, "-c", "allreduce", "-f", options.first, "-t", options.last,
              "-x", options.factor, "-b", options.budget, "-p", path]
    pairs = []
    for number in range(options.alternations):
        print(f"{provider}: {number + 1} of {options.alternations}", file=sys.stderr)
        pairs.append((medians(list(map(str, ours)), f"weft-{provider}"), medians(list(map(str, theirs)), f"openmpi-{path}")))
    return pairs


def named(count):
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if count >= 1 << shift and count % (1 << shift) == 0:
            return f"{count >> shift} {unit}"
    return f"{count} B"


def table(results):
    heads, rules = ["message"], ["---:"]
    for provider in results:
        heads += [f"weft, {provider}", f"Open MPI, {PEER_PATHS[provider]}", "ratio"]
        rules += ["---:"] * 3
    rows = [heads, rules]
    runs = [set(run) for pairs in results.values() for pair in pairs for run in pair]
    sizes = sorted(set.union(*runs))
    missing = [named(count) for count in sizes if not all(count in run for run in runs)]
    if missing:
        sys.exit(f"compare.py: not every run reported these sizes: {', '.join(missing)}")
    for count in sizes:
        row = [named(count)]
        for pairs in results.values():
            ours, theirs = ([pair[side][count] for pair in pairs] for side in (0, 1))
            ratio = statistics.median(a / b for a, b in zip(ours, theirs))
            row += [f"{statistics.median(ours):.1f} µs", f"{statistics.median(theirs):.1f} µs", f"{ratio:.2f}"]
        rows.append(row)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[0]
    except (OSError, IndexError):
        return f"{command[0]}: unknown version"


def processor():
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def caption(options):
    info = json.loads(subprocess.run([options.weft, "info", "--json"], capture_output=True, text=True).stdout)
    commit = first_line("git", "-C", str(SOURCE), "rev-parse", "--short", "HEAD")
    command = shlex.join(["tools/compare.py", *(argument for argument in sys.argv[1:] if argument != "--write")])
    build = info["build"]
    return (f"All-reduce of float by sum, {RANKS} ranks on one machine, median of {options.alternations} alternating runs "
            f"(`{command}`), {datetime.date.today()}: {processor()}, {len(info['machine']['cores'])} cores, "
            f"Linux {platform.release()}; weft {info['version']} ({commit}, {build['compiler']}, {build['type']}, "
            f"{build['instruction_set']}), libfabric {info['provider']['libfabric']}; "
            f"{first_line('mpirun.openmpi', '--version')}.")


def write(readme, text):
    old = readme.read_text()
    if old.count(BEGIN) != 1 or old.count(END) != 1 or old.index(BEGIN) > old.index(END):
        sys.exit(f"{readme}: needs one {BEGIN} and one {END} after it")
    before, after = old.split(BEGIN)[0], old.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main():
    options = parse_arguments()
    for needed in (options.weft, options.peers / "measure"):
        if not os.access(needed, os.X_OK):
            sys.exit(f"{needed} is not there or cannot be executed (see --help)")
    results = {provider: alternate(options, provider) for provider in options.providers}
    text = f"{table(results)}\n\n{caption(options)}"
    print(text)
    if options.write:
        write(options.readme, text)


if __name__ == "__main__":
    main()
