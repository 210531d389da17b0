#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the collectives but all-reduce on one node with Open MPI's and MPICH's in shared memory, in one run.

  tools/node_collectives.py [--collectives bcast,reduce,...] [--ranks 2,4] [--alternations 11] [--to 32M] [--budget 30]
                            [--limit 20] [--weft build/tools/weft] [--peers ../shared/peers] [--write]
                            [--readme collectives/NODE.md]

Runs `weft bench COLLECTIVE` and PEERS/measure in turn and prints one table in Markdown: a row for each size, 8, 32 and
56 B and the powers of 4 from 128 B on, and a column for each collective and number of processes, with private buffers.
A cell says how many times as fast as the better of the two peers weft is, by the median of the alternations; it is bold
where weft takes more than 1.05 times as long. The last rows have geometric means over the sizes, the median of those of
the alternations and its 95% bootstrap interval: of these, and of weft's 99th percentiles over the shorter of the peers',
of which the greatest of a size is the last. A size is that of a rank's whole vector, of which a block is a
rank's share, where that is whole floats; a barrier has none. With --write the table replaces what stands between the
markers in the page. All-reduce, with times and more ways to place ranks and buffers: node_table.py.
"""

import argparse
import statistics

import compare_collectives
import measured
import node_comparison
from measured import named
from node_comparison import Arrangement, Column, means, shown, speed_ups, tails

COLLECTIVES = [each for each in compare_collectives.COLLECTIVES if each != "allreduce"]
WORST = 1 / 1.05


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collectives", type=measured.some_of(COLLECTIVES), default=COLLECTIVES)
    parser.add_argument("--ranks", type=compare_collectives.rank_counts, default=[2, 4])
    node_comparison.add_options(parser)
    return parser.parse_args()


def cell(pairs):
    if not pairs:
        return ""
    ratio = statistics.median(speed_ups(pairs))
    return f"**{ratio:.2f}**" if ratio < WORST else f"{ratio:.2f}"


def greatest_tail(title, pairs):
    medians = [statistics.median(tails(each)) for (column, _), each in pairs.items() if column == title]
    return f"{max(medians):.2f}" if medians else ""


def table(titles, pairs):
    counts = sorted({count for _, count in pairs})
    rows = [[named(count) if count else "–", *(cell(pairs.get((title, count))) for title in titles)]
            for count in counts]
    last = [["geometric mean", *(shown(means(pairs, title, counts, speed_ups)) for title in titles)],
            ["geometric mean, p99", *(shown(means(pairs, title, counts, tails)) for title in titles)],
            ["greatest, p99", *(greatest_tail(title, pairs) for title in titles)]]
    return measured.table(["vector", *titles], ["---:"] * (len(titles) + 1), [*rows, *last])


def main():
    options = parse_arguments()
    measured.need_programs(options)
    columns = [Column(f"{collective.replace('_', '-')}, {ranks}", collective, Arrangement(f"{ranks} processes", ranks))
               for collective in options.collectives for ranks in options.ranks]
    pairs = node_comparison.alternate(options, columns)
    text = (f"{table([each.title for each in columns], pairs)}\n\nCollective and processes; bold: more than 1.05 times "
            f"the better peer's time. Medians of {measured.comparison(options)}")
    print(text)
    measured.write_if_wanted(options, "collectives", text)


if __name__ == "__main__":
    main()
