#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to record a trace: the times of calls with and without one, in one run.

  tools/trace_table.py [--weft build/tools/weft] [--write] [--readme collectives/TRACES.md]
                       [--jobs 2:node,2:net] [--sizes 8,1k,64k,1M] [--collectives allreduce,bcast] [--alternations 31]
                       [--budget 20]

Runs `weft bench COLLECTIVE` with and without --weft-trace in turn, whichever was last first, and prints a table in
Markdown: a row for each job, collective and size, with the medians of the alternations' median times, their ratio, with
over without, and its 95% bootstrap interval. Ends with status 1 where a trace
makes 8 B dearer by more than --most (1.05), with the whole interval beyond that.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile

import measured
from measured import at_least, named, positive, size


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=measured.jobs, default=[(2, "node"), (2, "net")])
    parser.add_argument("--sizes", type=lambda text: [size(each) for each in text.split(",")],
                        default=[8, 1 << 10, 64 << 10, 1 << 20])
    parser.add_argument("--collectives", type=lambda text: text.split(","), default=["allreduce", "bcast"])
    parser.add_argument("--alternations", type=at_least(1), default=31)
    parser.add_argument("--budget", type=at_least(1), default=20, help="ms for the samples of a size")
    parser.add_argument("--most", type=positive, default=1.05)
    measured.add_output_options(parser, "collectives/TRACES.md")
    return parser.parse_args()


def median_time(options, ranks, road, collective, count, *flags):
    found = measured.bench_vectors(options.weft, collective, ranks, count, count, 2, options.budget, *flags, road=road)
    return found[count]["median_us"]


def alternate(options, trace):
    """By job, collective and size: the median times without and with a trace, of each alternation."""
    runs = {}
    for number in range(options.alternations):
        print(f"{number + 1} of {options.alternations}", file=sys.stderr)
        for ranks, road in options.jobs:
            for collective in options.collectives:
                for count in options.sizes:
                    its = runs.setdefault((ranks, road, collective, count), ([], []))
                    for recorded in ((0, 1) if number % 2 == 0 else (1, 0)):
                        flags = [f"--weft-trace={trace}"] if recorded else []
                        its[recorded].append(median_time(options, ranks, road, collective, count, *flags))
    return runs


def ratio_of(without, recorded):
    """Of the medians, and its interval. The two are measured in turn, so that what is drawn again are alternations."""
    def ratio(drawn):
        return statistics.median(recorded[i] for i in drawn) / statistics.median(without[i] for i in drawn)

    return ratio(range(len(without))), *measured.interval(len(without), ratio)


def rows_of(runs):
    for (ranks, road, collective, count), (without, recorded) in runs.items():
        value, low, high = ratio_of(without, recorded)
        yield [f"{ranks} ranks, {road}", collective, named(count), f"{statistics.median(without):.2f}",
               f"{statistics.median(recorded):.2f}", f"{value:.2f} [{low:.2f}, {high:.2f}]"]


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        runs = alternate(options, pathlib.Path(folder) / "trace.json")
    heads = ["job", "collective", "vector", "without, µs", "with, µs", "ratio"]
    where, info = measured.measured_with(options.weft)
    text = (f"{measured.table(heads, ['---', '---', '---:', '---:', '---:', '---:'], rows_of(runs))}\n\nMedians of "
            f"{options.alternations} alternating runs (`{measured.this_command()}`), {where}, libfabric "
            f"{info['provider']['libfabric']}.")
    print(text)
    measured.write_if_wanted(options, "traces", text)
    sys.exit(any(count == 8 and ratio_of(*found)[1] > options.most and ratio_of(*found)[0] > options.most
                 for (_, _, _, count), found in runs.items()))


if __name__ == "__main__":
    main()
