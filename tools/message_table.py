#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares messages between two processes of one node with Open MPI's and MPICH's, in one run.

  tools/message_table.py [--alternations 7] [--from 8] [--to 4M] [--factor 2] [--budget 50]
                         [--weft build/tools/weft] [--write] [--readme collectives/NODE.md]

Runs, in turn, `weft bench latency` through the memory of the node and over libfabric's shm, and a program of the
same method (mpi_one_way.cpp, compiled here) by Open MPI and by MPICH. A row for each size: the median of the
alternations of the median times of one way, from 4 KiB on with the bandwidth that it comes to, and the median of how
many times as fast as the better MPI that memory was. It needs Debian's openmpi-bin libopenmpi-dev mpich libmpich-dev.
With --write the table replaces what stands between the markers of messages in the page.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import measured
from measured import at_least, medians, named, size

COLUMNS = {"node": "weft, node", "shm": "weft, libfabric's shm", "openmpi": "Open MPI", "mpich": "MPICH"}
ROADS = {"node": "node", "shm": "shm"}
STARTERS = {"openmpi": ["mpirun.openmpi", "-n", "2", "--bind-to", "core"],
            "mpich": ["mpiexec.mpich", "-n", "2", "-bind-to", "core"]}
SHOWS_BANDWIDTH = 4 << 10


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alternations", type=at_least(1), default=7)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=4 << 20)
    parser.add_argument("--factor", type=at_least(2), default=2)
    parser.add_argument("--budget", type=at_least(1), default=50, help="ms for the samples of a size")
    measured.add_output_options(parser, "collectives/NODE.md")
    return parser.parse_args()


def compile_peers(folder):
    """The program of each MPI."""
    source = pathlib.Path(__file__).resolve().with_name("mpi_one_way.cpp")
    programs = {name: pathlib.Path(folder) / name for name in STARTERS}
    for name, program in programs.items():
        subprocess.run([f"mpicxx.{name}", "-std=c++17", "-O2", source, "-o", program], check=True)
    return programs


def of_weft(options, road):
    lines = measured.bench(options.weft, "latency", "-n", 2, "-b", options.first, "-e", options.last, "-f", options.factor,
                           "--budget", options.budget, road=ROADS[road])
    return medians({line["bytes"]: line for line in lines})


def of_mpi(options, name, program):
    command = [*STARTERS[name], program, name, options.first, options.last, options.factor, options.budget]
    return medians(measured.results_of_peer(command, name))


def alternate(options, programs):
    """By column, and by size there: the times of the alternations, in microseconds."""
    times = {column: {} for column in COLUMNS}
    for number in range(options.alternations):
        print(f"{number + 1} of {options.alternations}", file=sys.stderr)
        for column in COLUMNS:
            found = of_weft(options, column) if column in ROADS else of_mpi(options, column, programs[column])
            for count, time in found.items():
                times[column].setdefault(count, []).append(time)
    return times


def cell(count, times):
    middle = statistics.median(times)
    bandwidth = f", {count / middle / 1000:.2f} GB/s" if count >= SHOWS_BANDWIDTH else ""
    return f"{middle:.2f} µs{bandwidth}"


def row(count, times):
    factors = [min(peers) / mine for mine, *peers in zip(*(times[each][count] for each in ("node", *STARTERS)))]
    return [named(count), *(cell(count, times[column][count]) for column in COLUMNS), f"{statistics.median(factors):.2f}"]


def main():
    options = parse_arguments()
    if not os.access(options.weft, os.X_OK):
        sys.exit(f"{options.weft} is not there or cannot be executed (see --help)")
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    with tempfile.TemporaryDirectory() as folder:
        times = alternate(options, compile_peers(folder))
    heads = ["message", *COLUMNS.values(), "times as fast as the better MPI"]
    table = measured.table(heads, ["---:"] * len(heads), [row(count, times) for count in sorted(times["node"])])
    text = (f"{table}\n\nHalf the round trip between two processes, each on a core of its own; medians of "
            f"{measured.comparison(options)}")
    print(text)
    measured.write_if_wanted(options, "messages", text)


if __name__ == "__main__":
    main()
