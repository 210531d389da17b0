#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it gains to choose algorithms by costs that are measured at a job's start, and not by length alone.

  tools/choice_table.py [--jobs 2:shm,2:net,4:shm,4:net] [--collectives allreduce,bcast,...] [--alternations 5]
                        [--from 8] [--to 4M] [--factor 8] [--budget 50] [--weft build/tools/weft] [--write]
                        [--readme collectives/ALGORITHMS.md]

Runs `weft bench` with --weft-tune=start and =off in turn, in jobs of so many ranks by such a road, a provider of
libfabric or the memory of the node, and prints a table in Markdown: for each collective and job the geometric mean over
the sizes of the ratio of the times (start over off, the median over the alternations), and the greatest. With --write
the table replaces what stands between the markers in ALGORITHMS.md.
"""

import argparse
import statistics
import sys

import measured
from measured import at_least, jobs, named, size

COLLECTIVES = ["allreduce", "bcast", "reduce", "reduce-scatter", "allgather", "gather", "scatter", "alltoall", "scan"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=jobs, default="2:shm,2:net,4:shm,4:net")
    parser.add_argument("--collectives", type=lambda text: text.split(","), default=COLLECTIVES)
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=4 << 20)
    parser.add_argument("--factor", type=at_least(2), default=8)
    parser.add_argument("--budget", type=at_least(1), default=50, help="ms for the samples of a size")
    measured.add_output_options(parser, "collectives/ALGORITHMS.md")
    return parser.parse_args()


def times(options, collective, ranks, road, tune):
    lines = measured.bench(options.weft, collective, "-n", ranks, "-b", options.first, "-e", options.last,
                           "-f", options.factor, "--budget", options.budget, f"--weft-tune={tune}", road=road)
    return {line["bytes"]: line["median_us"] for line in lines}


def ratios(options, collective, ranks, road):
    """Of each size: the median over the alternations of the time with measured costs over that without."""
    runs = []
    for number in range(options.alternations):
        print(f"{collective}, {ranks} ranks, {road}: {number + 1} of {options.alternations}", file=sys.stderr)
        by_costs, by_length = (times(options, collective, ranks, road, tune) for tune in ("start", "off"))
        runs.append({bytes: by_costs[bytes] / by_length[bytes] for bytes in by_length})
    return [statistics.median(run[bytes] for run in runs) for bytes in runs[0]]


def main():
    options = parse_arguments()
    rows = []
    for collective in options.collectives:
        each = [ratios(options, collective, ranks, road) for ranks, road in options.jobs]
        rows.append([collective, *(f"{statistics.geometric_mean(all):.2f} ({max(all):.2f})" for all in each)])
    heads = ["collective", *(f"{ranks} ranks, {road}" for ranks, road in options.jobs)]
    where, _ = measured.measured_with(options.weft)
    text = (f"{measured.table(heads, ['---'] + ['---:'] * len(options.jobs), rows)}\n\nTime with `--weft-tune=start` over "
            f"time with `off`: geometric mean over sizes from {named(options.first)} to {named(options.last)}, in brackets "
            f"the greatest; medians of {options.alternations} alternating runs (`{measured.this_command()}`), {where}.")
    print(text)
    measured.write_if_wanted(options, "choice", text)


if __name__ == "__main__":
    main()
