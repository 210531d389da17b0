#!/usr/bin/env python3
"""Compares collectives on one node with Open MPI's and MPICH's in shared memory, in one run.

  tools/node_table.py [--collective allreduce] [--columns processes,arena,...] [--alternations 11] [--to 32M]
                      [--budget 30] [--limit 20] [--weft build/tools/weft] [--peers ../shared/peers] [--write]
                      [--readme collectives/NODE.md]

The columns are 2 processes with private buffers (processes) or with buffers in the arena (arena), 2 ranks in one process
on 2 workers (workers), 8 processes (crowd), and 8 ranks as fibers of one process on 2 workers (fibers). In turn with
them PEERS/measure runs with as many processes. The sizes are 8, 32 and 56 B, and the powers of 4 from 128 B on. A cell
says how many times as fast as the better of the two peers weft is: the median of what the alternations gave, its 95%
bootstrap interval, and weft's median time. Below come the geometric means over groups of sizes. With --write the tables
replace what stands between the markers in the page.
"""

import argparse
import math
import random
import statistics
import sys

import compare_collectives
import measured
from compare import medians
from measured import at_least, named, size

FIBERS = ["--ranks-per-process", "{}", "--workers", "2"]
COLUMNS = {
    "processes": ("2 processes", 2, []),
    "arena": ("2 processes, buffers in the arena", 2, ["--buffers", "arena"]),
    "workers": ("2 ranks in a process on 2 workers", 2, FIBERS),
    "crowd": ("8 processes", 8, []),
    "fibers": ("8 ranks as fibers on 2 workers", 8, FIBERS),
}
GROUPS = {"8 to 56 B": (8, 56), "128 B to 2 KiB": (128, 2 << 10), "8 to 512 KiB": (4 << 10, 512 << 10),
          "2 to 32 MiB": (1 << 20, 32 << 20)}
RESAMPLES = 2000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collective", choices=compare_collectives.COLLECTIVES, default="allreduce")
    parser.add_argument("--columns", type=compare_collectives.some_of(COLUMNS), default=list(COLUMNS))
    parser.add_argument("--alternations", type=at_least(2), default=11)
    parser.add_argument("--to", dest="last", type=size, default=32 << 20)
    parser.add_argument("--budget", type=at_least(1), default=30, help="ms for the samples of a size")
    parser.add_argument("--limit", type=at_least(1), default=20,
                        help="s for the peers' times of some sizes: those that they do not come to are not compared")
    measured.add_peer_options(parser, "collectives/NODE.md")
    return parser.parse_args()


def ranges(last):
    """First and last size and factor of each run."""
    return [each for each in ((8, 32, 4), (56, 56, 4), (128, last, 4)) if each[0] <= each[1]]


def ours(options, ranks, flags):
    """weft's medians by size of the whole vector."""
    parts = ranks if options.collective in compare_collectives.BLOCKS else 1
    found = {}
    for first, last, factor in ranges(options.last):
        command = [options.weft, "bench", options.collective.replace("_", "-"), "-n", ranks, "-b", max(1, first // parts),
                   "-e", max(1, last // parts), "-f", factor, "--budget", options.budget, "--provider", "net", "--json",
                   *(each.format(ranks) for each in flags)]
        found |= {count * parts: time for count, time in medians(list(map(str, command)), "weft-net").items()}
    return found


def better_peer(options, ranks):
    """The shorter of the peers' medians by size."""
    found = {}
    for first, last, factor in ranges(options.last):
        wanted = argparse.Namespace(peers=options.peers, first=first, last=last, factor=factor, budget=options.budget,
                                    limit=options.limit)
        for times in compare_collectives.theirs(wanted, options.collective, ranks, "shm").values():
            for count, time in times.items():
                found[count] = min(time, found.get(count, math.inf))
    return found


def alternate(options):
    """By column and size: weft's times, and how many times as fast as the better peer it was."""
    times, factors = {}, {}
    for number in range(options.alternations):
        print(f"{number + 1} of {options.alternations}", file=sys.stderr)
        peers = {}
        for column in options.columns:
            _, ranks, flags = COLUMNS[column]
            if ranks not in peers:
                peers[ranks] = better_peer(options, ranks)
            for count, time in ours(options, ranks, flags).items():
                if count in peers[ranks]:
                    times.setdefault((column, count), []).append(time)
                    factors.setdefault((column, count), []).append(peers[ranks][count] / time)
    return times, factors


def interval(values, of):
    """95% of what `of` gives for samples that are drawn again from `values`."""
    draw = random.Random(4884)
    found = sorted(of(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return found[RESAMPLES // 40], found[-RESAMPLES // 40]


def shown(middle, bounds):
    return f"{middle:.2f} [{bounds[0]:.2f}, {bounds[1]:.2f}]"


def cell(times, factors, key):
    if key not in factors:
        return ""
    middle = statistics.median(factors[key])
    return f"{shown(middle, interval(factors[key], statistics.median))}, {statistics.median(times[key]):.2f} µs"


def group_cell(factors, column, sizes):
    """Of the geometric means of the alternations."""
    rows = [values for (each, count), values in factors.items() if each == column and count in sizes]
    if not rows:
        return ""
    means = [statistics.geometric_mean(run) for run in zip(*rows)]
    return shown(statistics.median(means), interval(means, statistics.median))


def tables(options, times, factors):
    heads = [COLUMNS[each][0] for each in options.columns]
    alignments = ["---:"] * (len(heads) + 1)
    counts = sorted({count for _, count in factors})
    rows = [[named(count), *(cell(times, factors, (column, count)) for column in options.columns)] for count in counts]
    groups = [[name, *(group_cell(factors, column, {count for count in counts if first <= count <= last})
                       for column in options.columns)] for name, (first, last) in GROUPS.items()]
    return "\n\n".join(measured.table([first, *heads], alignments, body)
                       for first, body in (("vector", rows), ("geometric mean", groups)))


def main():
    options = parse_arguments()
    measured.need_programs(options)
    text = f"{tables(options, *alternate(options))}\n\nMedians of {measured.comparison(options)}"
    print(text)
    measured.write_if_wanted(options, options.collective, text)


if __name__ == "__main__":
    main()
