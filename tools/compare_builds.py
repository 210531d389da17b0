#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the collectives of two builds of weft on this machine, in one run: whether the new one is slower anywhere.

  tools/compare_builds.py OLD NEW [--collectives allreduce,bcast,...] [--columns processes,four,...] [--providers net,...]
                          [--hosts HOST:RANKS,... [--rsh COMMAND]]
                          [--alternations 31] [--from 8] [--to 4M] [--factor 8] [--budget 5] [--new-form planned]

OLD and NEW are build directories. Runs `weft bench COLLECTIVE` of both in turn, whichever was last first, and prints a
table in Markdown for each collective: a row for each size, which is that of a rank's whole vector, and a column for each
way to place ranks and buffers: 2 and 4 processes (processes, four; 8: crowd), 2 processes with buffers in the arena or
with planned calls (arena, planned), 2 and 8 ranks of one process on 2 workers (workers, fibers); and, for each of
--providers, 2 processes over that and not by the memory of the node; and processes on --hosts, as those of `weft run`,
which both builds lie on (then no others, where --columns does not name them). A cell has the ratio of the medians of the
alternations' median times, new over old, and its 95% bootstrap interval; the last row the geometric mean of the column.
Ends with status 1 where the new build is slower: by more than 10% at a size, or by more than 3% in the mean of a column,
with the whole interval beyond that; which these are is said below, and they are bold. An old build that does not say by
which road its calls went is trusted.

--new-form has NEW's calls planned, started and waited for, or checked: with the same build twice, that form over the one
that blocks, without the column of planned calls.
"""

import argparse
import collections
import os
import pathlib
import statistics
import sys

import measured
from measured import at_least, named, size
from node_comparison import ARRANGEMENTS, Arrangement, Column

COLLECTIVES = ["allreduce", "reduce", "bcast", "reduce-scatter", "allgather", "gather", "scatter", "alltoall", "scan",
               "exscan", "barrier"]
USUAL = ["processes", "four", "fibers", "workers", "arena", "planned"]
FORMS = {"blocking": [], "planned": ["--persistent"], "started": ["--started"], "checked": ["--weft-check=on"]}
SLOWER_AT_SIZE, SLOWER_IN_MEAN = 1.10, 1.03

Ratio = collections.namedtuple("Ratio", ["value", "low", "high"])  # new over old, and its interval


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--collectives", type=measured.some_of(COLLECTIVES), default=COLLECTIVES)
    parser.add_argument("--columns", type=measured.some_of(ARRANGEMENTS))
    parser.add_argument("--providers", type=lambda text: text.split(","), default=[])
    parser.add_argument("--hosts", help="HOST:RANKS,...")
    parser.add_argument("--rsh", help="as that of `weft run`")
    parser.add_argument("--alternations", type=at_least(1), default=31)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=4 << 20)
    parser.add_argument("--factor", type=at_least(2), default=8)
    parser.add_argument("--budget", type=at_least(1), default=5, help="ms for the samples of a size")
    parser.add_argument("--new-form", choices=FORMS, default="blocking")
    options = parser.parse_args()
    if options.columns is None:
        # The column of plans is a form of its own.
        usual = [each for each in USUAL if options.new_form == "blocking" or each != "planned"]
        options.columns = [] if options.hosts else usual
    elif "planned" in options.columns and options.new_form != "blocking":
        parser.error("--columns planned: its calls are planned, and --new-form asks for another form; "
                     "leave one of them out")
    options.builds = [each / "tools/weft" for each in (options.old, options.new)]
    for weft in options.builds:
        if not os.access(weft, os.X_OK):
            parser.error(f"{weft} is not there or cannot be executed")
    return options


def columns_of(options):
    """Those of each collective; a barrier has no buffers to put anywhere."""
    placed = [ARRANGEMENTS[each] for each in options.columns]
    placed += [Arrangement(f"2 processes, {provider}", 2, road=provider) for provider in options.providers]
    if options.hosts:
        ranks = sum(int(each.partition(":")[2] or 1) for each in options.hosts.split(","))
        launcher = ["run", "--hosts", options.hosts, *(["--rsh", options.rsh] if options.rsh else [])]
        provider = measured.default_provider(options.builds[1])
        placed.append(Arrangement(f"{ranks} processes on hosts", ranks, [], provider, launcher))
    for collective in options.collectives:
        for each in placed:
            if collective != "barrier" or "--buffers" not in each.flags:
                yield Column(each.title, collective, each)


def alternate(options, columns):
    """By column and build: the median times by size, of each alternation."""
    runs = {}
    for number in measured.shown(range(options.alternations)):
        for at, column in enumerate(columns):
            for build in ((0, 1) if number % 2 == 0 else (1, 0)):
                found = measured.bench_vectors(
                    options.builds[build], column.collective, column.placed.ranks, options.first, options.last,
                    options.factor, options.budget, *column.placed.flags, *FORMS[options.new_form if build else "blocking"],
                    road=column.placed.road, has_to_say=build == 1,
                    launcher=[options.builds[build], *column.placed.launcher] if column.placed.launcher else [])
                runs.setdefault(at, ([], []))[build].append(measured.medians(found))
    return [runs[at] for at in range(len(columns))]


def ratios_of(old, new):
    """By size, and of all sizes (None) the geometric mean. The two are measured in turn, so that what is drawn again are
    alternations of both."""
    def ratio(count, drawn):
        return statistics.median(new[i][count] for i in drawn) / statistics.median(old[i][count] for i in drawn)

    def judged(statistic):
        return Ratio(statistic(range(len(new))), *measured.interval(len(new), statistic))

    sizes = sorted(new[0])
    if not sizes:
        return {}
    found = {count: judged(lambda drawn, count=count: ratio(count, drawn)) for count in sizes}
    found[None] = judged(lambda drawn: statistics.geometric_mean(ratio(count, drawn) for count in sizes))
    return found


def is_slower(count, ratio):
    return min(ratio.value, ratio.low) > (SLOWER_IN_MEAN if count is None else SLOWER_AT_SIZE)


def words(count):
    return "geometric mean" if count is None else named(count) if count else "–"


def shown(ratio):
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def cell(count, found):
    if count not in found:
        return ""
    return f"**{shown(found[count])}**" if is_slower(count, found[count]) else shown(found[count])


def table(columns):
    """Of one collective's titles and ratios."""
    counts = sorted({count for _, found in columns for count in found if count is not None})
    rows = [[words(count), *(cell(count, found) for _, found in columns)] for count in [*counts, None]]
    heads = ["vector", *(title for title, _ in columns)]
    return measured.table(heads, ["---:"] * len(heads), rows)


def main():
    options = parse_arguments()
    columns = list(columns_of(options))
    found = [ratios_of(*runs) for runs in alternate(options, columns)]
    for collective in options.collectives:
        own = [(column.title, ratios) for column, ratios in zip(columns, found) if column.collective == collective]
        print(f"### {collective}\n\n{table(own)}\n")
    before, now = map(measured.commit_of, options.builds)
    print(f"Time of {now} over that of {before}: ratio of the medians of {options.alternations} alternating runs and its "
          f"95% interval (`{measured.this_command()}`), {measured.measured_with(options.builds[1])[0]}.")
    slower = [f"{column.collective}, {column.title}, {words(count)}: {shown(ratio)}"
              for column, ratios in zip(columns, found) for count, ratio in ratios.items() if is_slower(count, ratio)]
    print("\n".join(["\nSlower:", *slower]) if slower else "\nNothing is slower.")
    sys.exit(bool(slower))


if __name__ == "__main__":
    main()
