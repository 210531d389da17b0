#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a collective on one node with Open MPI's and MPICH's in shared memory, in one run.

  tools/node_table.py [--collective allreduce] [--columns processes,arena,...] [--alternations 11] [--to 32M]
                      [--budget 30] [--limit 20] [--weft build/tools/weft] [--peers ../shared/peers] [--write]
                      [--readme collectives/NODE.md]

The columns are 2 processes with private buffers (processes) or with buffers in the arena (arena), 2 ranks in one process
on 2 workers (workers), 4 and 8 processes (four, crowd), and 8 ranks as fibers of one process on 2 workers (fibers). In
turn with them PEERS/measure runs with as many processes. The sizes are 8, 32 and 56 B, and the powers of 4 from 128 B
on. A cell says how many times as fast as the better of the two peers weft is: the median of what the alternations gave,
its 95% bootstrap interval, and weft's median time. Below come the geometric means over groups of sizes, and then the
same for 99th percentiles, but as weft's over the shorter of the peers'. With --write the tables replace what stands
between the markers in the page. How all the other collectives are in few columns: node_collectives.py.
"""

import argparse
import statistics

import compare_collectives
import measured
import node_comparison
from measured import named
from node_comparison import ARRANGEMENTS, Column, means, shown, speed_ups, tails

COLUMNS = [name for name in ARRANGEMENTS if name != "planned"]
GROUPS = {"8 to 56 B": (8, 56), "128 B to 2 KiB": (128, 2 << 10), "8 to 512 KiB": (4 << 10, 512 << 10),
          "2 to 32 MiB": (1 << 20, 32 << 20)}
TAILS = "weft's 99th percentile over the shorter of the peers', below 1 where weft's is the shorter, and weft's:"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collective", choices=compare_collectives.COLLECTIVES, default="allreduce")
    parser.add_argument("--columns", type=measured.some_of(COLUMNS), default=COLUMNS)
    node_comparison.add_options(parser)
    return parser.parse_args()


def cell(pairs, ratios, figure):
    if not pairs:
        return ""
    return f"{shown(ratios(pairs))}, {statistics.median(getattr(mine, figure) for mine, _ in pairs):.2f} µs"


def tables(titles, pairs, ratios, figure, words=""):
    """Of one figure of the times: by size, and its geometric means. `words` say which where it is not the median."""
    counts = sorted({count for _, count in pairs})
    rows = [[named(count) if count else "–", *(cell(pairs.get((title, count)), ratios, figure) for title in titles)]
            for count in counts]
    groups = [[name, *(shown(means(pairs, title, range(first, last + 1), ratios)) for title in titles)]
              for name, (first, last) in GROUPS.items()]
    return "\n\n".join(measured.table([first + words, *titles], ["---:"] * (len(titles) + 1), body)
                       for first, body in (("vector", rows), ("geometric mean", groups)))


def main():
    options = parse_arguments()
    measured.need_programs(options)
    columns = [Column(ARRANGEMENTS[each].title, options.collective, ARRANGEMENTS[each]) for each in options.columns]
    pairs = node_comparison.alternate(options, columns)
    titles = [each.title for each in columns]
    text = "\n\n".join([tables(titles, pairs, speed_ups, "median"), TAILS, tables(titles, pairs, tails, "p99", ", p99"),
                        f"Medians of {measured.comparison(options)}"])
    print(text)
    measured.write_if_wanted(options, options.collective, text)


if __name__ == "__main__":
    main()
