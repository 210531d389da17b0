#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares messages by several links between two pretended hosts of this machine with those by one.

  tools/links_table.py [--links 2] [--rate 1gbit] [--what latency,bandwidth] [--alternations 5] [--from 1M] [--to 16M]
                       [--factor 4] [--budget 300] [--window 8] [--weft build/tools/weft]

Makes two network namespaces, as root, with --links interfaces each, which carry --rate each way. On them run, in turn,
`weft bench WHAT` with --weft-endpoints=1 and with an endpoint on each. Prints a table in Markdown: of each size and each
of --what the median of the median times by one link, by all, and how many times as fast these are, the median with its
95% bootstrap interval. It needs Debian's iproute2.
"""

import argparse
import contextlib
import pathlib
import statistics
import sys

import measured
from measured import at_least, named, size
from node_comparison import shown, speed_ups, times_of

sys.path.insert(1, str(measured.SOURCE / "tests/jobs"))
import hosts as pretended

MESSAGES = ["latency", "bandwidth", "bidirectional", "message-rate"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=at_least(2), default=2)
    parser.add_argument("--rate", default="1gbit", help="of each link, as tc takes it")
    parser.add_argument("--what", type=measured.some_of(MESSAGES), default=["latency", "bandwidth"])
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--from", dest="first", type=size, default=1 << 20)
    parser.add_argument("--to", dest="last", type=size, default=16 << 20)
    parser.add_argument("--factor", type=at_least(2), default=4)
    parser.add_argument("--budget", type=at_least(1), default=300, help="ms for the samples of a size")
    parser.add_argument("--window", type=at_least(1), default=8)
    parser.add_argument("--weft", type=pathlib.Path, default=measured.SOURCE / "build/tools/weft")
    return parser.parse_args()


def times(options, what, endpoints):
    """By size."""
    launcher = pretended.on("wfn0", options.weft, "run", "--bind-to", "none", "--hosts", "wfn0:1,wfn1:1", "--rsh",
                            pretended.RSH)
    windows = ["--window", options.window] if what != "latency" else []
    found = measured.bench(options.weft, what, "-b", options.first, "-e", options.last, "-f", options.factor, "--budget",
                           options.budget, *windows, f"--weft-endpoints={endpoints}",
                           road=measured.default_provider(options.weft), launcher=launcher)
    return {line["bytes"]: times_of(line) for line in found}


def rows(options):
    """Of each size and kind: pairs of the times by all links and by one."""
    pairs = {}
    for number in range(options.alternations):
        for what in options.what:
            print(f"{number + 1} of {options.alternations}: {what}", file=sys.stderr)
            one, all_of_them = times(options, what, 1), times(options, what, options.links)
            for count, time in all_of_them.items():
                pairs.setdefault((what, count), []).append((time, one[count]))
    for (what, count), each in pairs.items():
        by_all, by_one = (statistics.median(time.median for time in found) for found in zip(*each))
        yield [what, named(count), f"{by_one:.4g} µs", f"{by_all:.4g} µs", shown(speed_ups(each))]


def main():
    options = parse_arguments()
    if why := pretended.missing():
        sys.exit(why)
    with contextlib.closing(pretended.Hosts(2, options.rate)) as cluster:
        for number in range(1, options.links):
            cluster.add_link(f"eth{number}", f"10.{77 + number}.0")
        table = list(rows(options))
    heads = ["", "bytes", "one link", f"{options.links} links", "times as fast"]
    print(measured.table(heads, ["---", *["---:"] * 4], table))
    print(f"\nLinks of {options.rate}: medians of {options.alternations} alternating runs "
          f"(`{measured.this_command()}`), {measured.measured_with(options.weft)[0]}.")


if __name__ == "__main__":
    main()
