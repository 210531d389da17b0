# SPDX-License-Identifier: Apache-2.0
"""Collectives on one node: the ways to place ranks and buffers, and what node_table.py and node_collectives.py have in
common, which compare them in turn with the better of Open MPI and MPICH."""

import argparse
import collections
import statistics

import compare_collectives
import measured
from measured import at_least, size


Times = collections.namedtuple("Times", ["median", "p99"])  # us
# flags: of `weft bench`; road: that its calls then take; launcher: arguments of weft that start it on other hosts
Arrangement = collections.namedtuple("Arrangement", ["title", "ranks", "flags", "road", "launcher"],
                                     defaults=[[], "node", []])
Column = collections.namedtuple("Column", ["title", "collective", "placed"])  # placed: an arrangement


def in_one_process(ranks):
    return ["--ranks-per-process", ranks, "--workers", 2]


ARRANGEMENTS = {
    "processes": Arrangement("2 processes", 2),
    "arena": Arrangement("2 processes, buffers in the arena", 2, ["--buffers", "arena"]),
    "planned": Arrangement("2 processes, planned", 2, ["--persistent"]),
    "workers": Arrangement("2 ranks in a process on 2 workers", 2, in_one_process(2), "memory"),
    "four": Arrangement("4 processes", 4),
    "crowd": Arrangement("8 processes", 8),
    "fibers": Arrangement("8 ranks as fibers on 2 workers", 8, in_one_process(8), "memory"),
}


def add_options(parser):
    parser.add_argument("--alternations", type=at_least(2), default=11)
    parser.add_argument("--to", dest="last", type=size, default=32 << 20)
    parser.add_argument("--budget", type=at_least(1), default=30, help="ms for the samples of a size")
    parser.add_argument("--limit", type=at_least(1), default=20,
                        help="s for the peers' times of some sizes: those that they do not come to are not compared")
    measured.add_peer_options(parser, "collectives/NODE.md")


def ranges(collective, last):
    """First and last size and factor of each run."""
    if collective == "barrier":
        return [(8, 8, 2)]
    return [each for each in ((8, 32, 4), (56, 56, 4), (128, last, 4)) if each[0] <= each[1]]


def times_of(result):
    return Times(result["median_us"], result["p99_us"])


def ours(options, column):
    """weft's times by size of the whole vector."""
    collective = column.collective.replace("_", "-")
    found = {}
    for first, last, factor in ranges(column.collective, options.last):
        of_range = measured.bench_vectors(options.weft, collective, column.placed.ranks, first, last, factor,
                                          options.budget, *column.placed.flags, road=column.placed.road)
        found |= {count: times_of(result) for count, result in of_range.items()}
    return found


def better_peer(options, collective, ranks):
    """By size the shorter of the peers' medians, and the shorter of their 99th percentiles."""
    found = {}
    for first, last, factor in ranges(collective, options.last):
        wanted = argparse.Namespace(peers=options.peers, first=first, last=last, factor=factor, budget=options.budget,
                                    limit=options.limit)
        for reported in compare_collectives.theirs(wanted, collective, ranks, "shm").values():
            for count, result in reported.items():
                found[count] = Times(*map(min, times_of(result), found.get(count, times_of(result))))
    return found


def alternate(options, columns):
    """By column and size: a pair for each alternation of weft's times and the better peer's. A barrier's size is 0."""
    pairs = {}
    for _ in measured.shown(range(options.alternations)):
        peers = {}
        for column in columns:
            case = column.collective, column.placed.ranks
            if case not in peers:
                peers[case] = better_peer(options, *case)
            for count, mine in ours(options, column).items():
                if count in peers[case]:
                    pairs.setdefault((column.title, count), []).append((mine, peers[case][count]))
    return pairs


def speed_ups(pairs):
    """How many times as fast as the better peer weft is, by the medians of each alternation."""
    return [theirs.median / mine.median for mine, theirs in pairs]


def tails(pairs):
    """weft's 99th percentile over the better peer's, of each alternation."""
    return [mine.p99 / theirs.p99 for mine, theirs in pairs]


def means(pairs, title, sizes, ratios):
    """Of each alternation: the geometric mean over `sizes` of those `ratios`, speed_ups or tails, in that column."""
    rows = [ratios(each) for (column, count), each in pairs.items() if column == title and count in sizes]
    return [statistics.geometric_mean(run) for run in zip(*rows)]


def shown(values):
    """The median, and the 95% of the medians of samples drawn again from `values`; empty where there are none."""
    if not values:
        return ""
    low, high = measured.interval(len(values), lambda drawn: statistics.median(values[i] for i in drawn))
    return f"{statistics.median(values):.2f} [{low:.2f}, {high:.2f}]"
