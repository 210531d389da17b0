#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares weft's all-reduce with Open MPI's on this machine, size by size, in one run.

  tools/compare.py [--ways node,net] [--alternations 5] [--from 8] [--to 16M] [--factor 2] [--budget 200]
                   [--weft build/tools/weft] [--peers ../shared/peers] [--write] [--readme README.md]

Runs `weft bench allreduce` and PEERS/measure in turn, so that both see the machine in the same state, and prints a
table in Markdown. A way is the memory of the node, as weft takes it by itself, or one of libfabric's providers. A ratio
is the median of the ratios of the alternations: weft's median time over Open MPI's. With --write the table replaces what
stands between the markers in the README.
"""

import argparse
import statistics
import sys

import measured
from measured import at_least, medians, named, size

RANKS = 2
# Which of the peer's paths is the same way through the machine.
PEER_PATHS = {"node": "shm", "shm": "shm", "net": "tcp", "tcp": "tcp", "tcp;ofi_rxm": "tcp"}


def ways(text):
    names = text.split(",")
    for name in names:
        if name not in PEER_PATHS:
            raise argparse.ArgumentTypeError(f'"{name}" has no counterpart; valid: {", ".join(PEER_PATHS)}')
    return names


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", type=ways, help="by default node and the provider that weft takes of this libfabric")
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=16 << 20)
    parser.add_argument("--factor", type=at_least(2), default=2)
    parser.add_argument("--budget", type=at_least(1), default=200, help="ms for the samples of a size")
    measured.add_peer_options(parser, "README.md")
    options = parser.parse_args()
    options.ways = options.ways or ["node", measured.default_provider(options.weft)]
    return options


def alternate(options, way):
    """The medians of weft and of Open MPI by one way: a pair for each alternation."""
    path = PEER_PATHS[way]
    theirs = [options.peers / "measure", "-n", RANKS, "-c", "allreduce", "-f", options.first, "-t", options.last,
              "-x", options.factor, "-b", options.budget, "-p", path]
    pairs = []
    for _ in measured.shown(range(options.alternations), way):
        ours = measured.bench_vectors(options.weft, "allreduce", RANKS, options.first, options.last, options.factor,
                                      options.budget, road=way)
        pairs.append((medians(ours), medians(measured.results_of_peer(theirs, f"openmpi-{path}"))))
    return pairs


def table(results):
    heads, rules = ["message"], ["---:"]
    for way in results:
        heads += [f"weft, {way}", f"Open MPI, {PEER_PATHS[way]}", "ratio"]
        rules += ["---:"] * 3
    rows = []
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
            row += [f"{statistics.median(ours):.2f} µs", f"{statistics.median(theirs):.2f} µs", f"{ratio:.2f}"]
        rows.append(row)
    return measured.table(heads, rules, rows)


def caption(options):
    return (f"All-reduce of float by sum, {RANKS} ranks on one machine, median of {options.alternations} alternating runs "
            f"(`{measured.this_command()}`), {measured.compared_with(options.weft)}.")


def main():
    options = parse_arguments()
    measured.need_programs(options)
    results = {way: alternate(options, way) for way in options.ways}
    text = f"{table(results)}\n\n{caption(options)}"
    print(text)
    measured.write_if_wanted(options, "compare", text)


if __name__ == "__main__":
    main()
