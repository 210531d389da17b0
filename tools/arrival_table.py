#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a reduction takes from when a late rank has called, by `arrival` and by default.

  tools/arrival_table.py [--jobs 8:node,8:net] [--sizes 8 64k] [--late 100 1000 10000] [--alternations 3] [--budget 100]
                         [--weft build/tools/weft] [--write] [--readme collectives/ALGORITHMS.md]

Runs `weft bench reduce --late` with the last rank late by so many microseconds: by default, by --algorithm arrival, and
between two ranks by messages, of which the second is as late: one transfer and one combine. "nobody" late is a plain
`weft bench reduce`, with greedy in the place of the last, which has the same tree and looks at nobody. Times are
medians, over the alternations, of the medians of the samples. With --write the table replaces what stands between the
markers in ALGORITHMS.md.
"""

import argparse
import statistics
import sys

import measured
from measured import at_least, named, size


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=measured.jobs, help="by default 8 ranks on the node, and over libfabric")
    parser.add_argument("--sizes", nargs="+", type=size, default=[8, 64 << 10])
    parser.add_argument("--late", nargs="+", type=at_least(1), default=[100, 1000, 10000], help="microseconds")
    parser.add_argument("--alternations", type=at_least(1), default=3)
    parser.add_argument("--budget", type=at_least(1), default=100, help="ms for the samples of a size")
    measured.add_output_options(parser, "collectives/ALGORITHMS.md")
    return parser.parse_args()


def median_us(options, road, ranks, count, late, algorithm):
    flags = ["--late", f"{ranks - 1}:{late}"] if late else []
    lines = measured.bench(options.weft, "reduce", "-n", ranks, "-b", count, "-e", count, "--budget", options.budget,
                           "--algorithm", algorithm, *flags, road=road)
    return lines[0]["median_us"]


def row_of(options, ranks, road, count, late):
    ways = {"default": (ranks, "auto"), "arrival": (ranks, "arrival"),
            "least": (2, "binomial") if late else (ranks, "greedy")}
    times = {way: [] for way in ways}
    for _ in range(options.alternations):
        for way, (among, algorithm) in ways.items():
            times[way].append(median_us(options, road, among, count, late, algorithm))
    return [f"{ranks} ranks, {road}", named(count), f"{late / 1000:g} ms" if late else "nobody",
            *(f"{statistics.median(found):.1f} µs" for found in times.values())]


def main():
    options = parse_arguments()
    jobs = options.jobs or [(8, "node"), (8, measured.default_provider(options.weft))]
    rows = []
    for ranks, road in jobs:
        for count in options.sizes:
            for late in [0, *options.late]:
                rows.append(row_of(options, ranks, road, count, late))
                print(" | ".join(rows[-1]), file=sys.stderr)
    heads = ["job", "vector", "late", "default", "arrival", "one transfer, one combine"]
    where, _ = measured.measured_with(options.weft)
    text = (f"{measured.table(heads, ['---'] * 3 + ['---:'] * 3, rows)}\n\nReduce of float by sum to rank 0, from when "
            f"the last rank has called, which is late; where nobody is, of the whole call, and in the last column by "
            f"greedy. Medians of {options.alternations} alternating runs (`{measured.this_command()}`), {where}.")
    print(text)
    measured.write_if_wanted(options, "arrival", text)


if __name__ == "__main__":
    main()
