#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares messages between two processes of one node with Open MPI's and MPICH's, in one run.

  tools/message_table.py [--kind latency] [--alternations 7] [--from 8] [--to 4M] [--factor 2] [--budget 50]
                         [--window 64] [--pairs 1] [--unmatched 0] [--weft build/tools/weft] [--write]
                         [--readme collectives/NODE.md]

Runs, in turn, `weft bench KIND` through the memory of the node and over libfabric's shm, and a program of the same
method (mpi_messages.cpp, compiled here) by Open MPI and by MPICH. Kinds are latency, bandwidth, bidirectional,
message-rate, put and get; windows and pairs are for those but the first, unmatched receives for message-rate. A row for each size: the median of the
alternations of the median times of one way, from 4 KiB on with the bandwidth that it comes to, or of the bandwidths or
the rates; and the median of how many times as fast as the better MPI of its alternation that memory was, with its 95%
bootstrap interval. It needs Debian's openmpi-bin libopenmpi-dev mpich libmpich-dev. With --write the table replaces
what stands between the markers of its kind in the page; those of latency are called messages.
"""

import argparse
import os
import statistics
import sys
import tempfile

import measured
from measured import at_least, named, size
from node_comparison import shown

COLUMNS = {"node": "weft, node", "shm": "weft, libfabric's shm", "openmpi": "Open MPI", "mpich": "MPICH"}
ROADS = {"node": "node", "shm": "shm"}
STARTERS = {"openmpi": ["mpirun.openmpi", "--bind-to", "core"], "mpich": ["mpiexec.mpich", "-bind-to", "core"]}
WINDOWED = {"bandwidth": "Bandwidths of all messages", "bidirectional": "Bandwidths of all messages, both ways",
            "message-rate": "Messages a second", "put": "Puts a second, flushed",
            "get": "Gets a second, flushed"}
RATES = ["message-rate", "put", "get"]
SHOWS_BANDWIDTH = 4 << 10


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=["latency", *WINDOWED], default="latency")
    parser.add_argument("--alternations", type=at_least(1), default=7)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=4 << 20)
    parser.add_argument("--factor", type=at_least(2), default=2)
    parser.add_argument("--budget", type=at_least(1), default=50, help="ms for the samples of a size")
    parser.add_argument("--window", type=at_least(1), default=64)
    parser.add_argument("--pairs", type=at_least(1), default=1)
    parser.add_argument("--unmatched", type=at_least(0), default=0)
    measured.add_output_options(parser, "collectives/NODE.md")
    options = parser.parse_args()
    if options.kind == "latency" and options.pairs > 1:
        parser.error("latency is of one pair")
    if options.kind != "message-rate" and options.unmatched > 0:
        parser.error("receives stay unmatched for message-rate alone")
    return options


def of_weft(options, road):
    windows = ["--window", options.window, "--pairs", options.pairs] if options.kind in WINDOWED else []
    unmatched = ["--unmatched", options.unmatched] if options.unmatched > 0 else []
    lines = measured.bench(options.weft, options.kind, "-n", 2 * options.pairs, "-b", options.first, "-e", options.last,
                           "-f", options.factor, "--budget", options.budget, *windows, *unmatched, road=ROADS[road])
    return {line["bytes"]: line for line in lines}


def of_mpi(options, name, program):
    command = [*STARTERS[name], "-n", 2 * options.pairs, program, name, options.kind, options.first, options.last,
               options.factor, options.budget, options.window, options.pairs, options.unmatched]
    return measured.results_of_peer(command, name)


def alternate(options, programs):
    """By column, and by size there: what the alternations gave."""
    results = {column: {} for column in COLUMNS}
    for _ in measured.shown(range(options.alternations)):
        for column in COLUMNS:
            found = of_weft(options, column) if column in ROADS else of_mpi(options, column, programs[column])
            for count, result in found.items():
                results[column].setdefault(count, []).append(result)
    return results


def cell(kind, count, results):
    def middle(figure):
        return statistics.median(result[figure] for result in results)
    if kind in RATES:
        return f"{middle('messages_per_s') / 1e3:.1f} k/s"
    if kind in WINDOWED:
        return f"{middle('bytes_per_s') / 1e6:.1f} MB/s"
    time = middle("median_us")
    return f"{time:.2f} µs" + (f", {count / time / 1000:.2f} GB/s" if count >= SHOWS_BANDWIDTH else "")


def row(kind, count, results):
    """Of a size, whose messages are as many by each column: the times compare them whatever the cells show."""
    alternations = zip(*(results[each][count] for each in ("node", *STARTERS)))
    factors = [min(peer["median_us"] for peer in peers) / mine["median_us"] for mine, *peers in alternations]
    return [named(count), *(cell(kind, count, results[column][count]) for column in COLUMNS), shown(factors)]


def method(options):
    if options.kind == "latency":
        return "Half the round trip between two processes, each on a core of its own"
    unmatched = f", {options.unmatched} receives unmatched" if options.unmatched > 0 else ""
    return (f"{WINDOWED[options.kind]} in windows of {options.window}, {2 * options.pairs} processes, each on a core of its "
            f"own{unmatched}")


def main():
    options = parse_arguments()
    if not os.access(options.weft, os.X_OK):
        sys.exit(f"{options.weft} is not there or cannot be executed (see --help)")
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    with tempfile.TemporaryDirectory() as folder:
        results = alternate(options, measured.compile_with_mpis(measured.MPI_MESSAGES, folder))
    heads = ["message", *COLUMNS.values(), "times as fast as the better MPI"]
    rows = [row(options.kind, count, results) for count in sorted(results["node"])]
    text = (f"{measured.table(heads, ['---:'] * len(heads), rows)}\n\n{method(options)}; medians of "
            f"{measured.comparison(options)}")
    print(text)
    measured.write_if_wanted(options, "messages" if options.kind == "latency" else options.kind, text)


if __name__ == "__main__":
    main()
