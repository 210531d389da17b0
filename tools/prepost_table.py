#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What posting receives in advance saves: the start-up cost of a long message, with and without.

  tools/prepost_table.py [--provider NAME] [-n 2] [--alternations 5] [--from 16k] [--to 128k] [--budget 200]
                         [--weft build/tools/weft] [--write] [--readme collectives/ALGORITHMS.md]

Runs `weft bench reduce-scatter` with --prepost on and off in turn, over --provider alone, and prints a table in
Markdown. Each algorithm's messages follow one another in rounds; what the line through the medians of the sizes (all
above the eager limit) has at size 0, over the rounds, is the start-up cost of one message. "saved" is the median over the
alternations of the difference, and stands in one-way latencies, too, as `weft bench latency` measures them beside it.
With --write the table replaces what stands between the markers in ALGORITHMS.md.
"""

import argparse
import math
import statistics
import sys

import measured
from measured import at_least, named, size

ALGORITHMS = {"ring": lambda ranks: ranks - 1, "mst": lambda ranks: 2 * math.ceil(math.log2(ranks))}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", help="by default what weft takes of this libfabric")
    parser.add_argument("-n", "--ranks", type=at_least(2), default=2)
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--from", dest="first", type=size, default=16 << 10)
    parser.add_argument("--to", dest="last", type=size, default=128 << 10)
    parser.add_argument("--budget", type=at_least(1), default=200, help="ms for the samples of a size")
    measured.add_output_options(parser, "collectives/ALGORITHMS.md")
    options = parser.parse_args()
    options.provider = options.provider or measured.default_provider(options.weft)
    return options


def bench(options, *arguments):
    return measured.bench(options.weft, *arguments, "-n", options.ranks, "--budget", options.budget, road=options.provider)


def start_up(options, algorithm, prepost):
    """Microseconds that each message takes beside what depends on its length."""
    lines = bench(options, "reduce-scatter", "--algorithm", algorithm, "--prepost", prepost,
                  "-b", options.first, "-e", options.last)
    if any(line["algorithm"] != algorithm for line in lines):
        sys.exit(f"prepost_table.py: {lines[0]['algorithm']} was taken, not {algorithm}")
    found = {line["bytes"]: line["median_us"] for line in lines}
    if len(found) < 2:
        sys.exit("prepost_table.py: a line takes at least two sizes (--from, --to)")
    return statistics.linear_regression(list(found), list(found.values())).intercept / ALGORITHMS[algorithm](options.ranks)


def latency(options):
    return next(line["median_us"] for line in bench(options, "latency") if line["algorithm"] == "idle")


def main():
    options = parse_arguments()
    one_way = []
    costs = {algorithm: {"on": [], "off": []} for algorithm in ALGORITHMS}
    for number in range(options.alternations):
        print(f"{number + 1} of {options.alternations}", file=sys.stderr)
        one_way.append(latency(options))
        for algorithm, by_mode in costs.items():
            for mode, values in by_mode.items():
                values.append(start_up(options, algorithm, mode))
    line = statistics.median(one_way)
    rows = []
    for algorithm, by_mode in costs.items():
        on, off = (statistics.median(by_mode[mode]) for mode in ("on", "off"))
        saved = statistics.median(b - a for a, b in zip(by_mode["on"], by_mode["off"]))
        rows.append([algorithm, str(ALGORITHMS[algorithm](options.ranks)), f"{on:.1f} µs", f"{off:.1f} µs",
                     f"{saved:.1f} µs", f"{saved / line:.1f}"])
    heads = ["algorithm", "rounds", "posted in advance", "handshake each", "saved", "one-way latencies"]
    where, _ = measured.measured_with(options.weft)
    text = (f"{measured.table(heads, ['---'] + ['---:'] * 5, rows)}\n\nReduce-scatter of float by sum among "
            f"{options.ranks} ranks over {options.provider}, blocks of {named(options.first)} to {named(options.last)}: "
            f"start-up cost of one message, median of {options.alternations} alternating runs "
            f"(`{measured.this_command()}`), beside a one-way latency of {line:.1f} µs, {where}.")
    print(text)
    measured.write_if_wanted(options, "prepost", text)


if __name__ == "__main__":
    main()
