#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether weft's collectives keep the performance guidelines of Träff, Gropp and Thakur (IEEE TPDS 21, 2010).

  tools/self_consistency.py [--jobs 2:shm,4:shm,2:net] [--alternations 5] [--from 8] [--to 8M] [--factor 8]
                            [--budget 50] [--weft build/tools/weft] [--write] [--readme collectives/COMPARISON.md]

A collective should take no longer than others that do as much or more: an all-reduce no longer than a reduce and a
broadcast, and so on, and no longer for a vector than for a longer one. Runs `weft bench` for every collective in turn,
in jobs of so many ranks by such a road, the memory of the node or a provider of libfabric, and prints a table in
Markdown: for each job and guideline the ratio of the two sides (the median over the alternations) in the geometric mean
over the sizes, the greatest, and its size. Above 1 a guideline is broken. A size is that of the whole vector. With
--write the table replaces what stands between the markers in the page. Ends with status 1 where a ratio's median is
above --tolerance (1.25) at some size.
"""

import argparse
import statistics
import sys

import measured
from measured import at_least, jobs, medians, named, size

# The left one takes no longer than those on the right, one after the other.
GUIDELINES = [
    ("allreduce", ["reduce", "bcast"]),
    ("allreduce", ["reduce-scatter", "allgather"]),
    ("reduce", ["allreduce"]),
    ("reduce", ["reduce-scatter", "gather"]),
    ("reduce-scatter", ["reduce", "scatter"]),
    ("bcast", ["scatter", "allgather"]),
    ("allgather", ["gather", "bcast"]),
    ("allgather", ["alltoall"]),
    ("allgather", ["allreduce"]),
    ("gather", ["allgather"]),
    ("gather", ["reduce"]),
    ("scatter", ["bcast"]),
]
COLLECTIVES = sorted({name for left, right in GUIDELINES for name in [left, *right]})


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=jobs, default="2:shm,4:shm,2:net")
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=8 << 20)
    parser.add_argument("--factor", type=at_least(2), default=8)
    parser.add_argument("--budget", type=at_least(1), default=50, help="ms for the samples of a size")
    parser.add_argument("--tolerance", type=float, default=1.25)
    measured.add_output_options(parser, "collectives/COMPARISON.md")
    return parser.parse_args()


def times(options, ranks, road):
    """By collective and size of the vector, of one run of each."""
    return {name: medians(measured.bench_vectors(options.weft, name, ranks, options.first, options.last, options.factor,
                                                 options.budget, road=road)) for name in COLLECTIVES}


def ratios(runs, left, right):
    """Of each size that all of them were measured at: left over right, the median of the runs."""
    sizes = sorted(set.intersection(*(set(runs[0][name]) for name in [left, *right])))
    return {count: statistics.median(run[left][count] / sum(run[name][count] for name in right) for run in runs)
            for count in sizes}


def growth(runs, name):
    """The same of each size to the next greater one."""
    sizes = sorted(runs[0][name])
    return {count: statistics.median(run[name][count] / run[name][more] for run in runs)
            for count, more in zip(sizes, sizes[1:])}


def guidelines(runs):
    """What each says, and its ratios by size."""
    for left, right in GUIDELINES:
        yield f"{left} ≤ {' + '.join(right)}", ratios(runs, left, right)
    for name in COLLECTIVES:
        yield f"{name} ≤ {name} of the next size", growth(runs, name)


def rows_of(job, runs):
    for words, found in guidelines(runs):
        if found:
            worst = max(found, key=found.get)
            yield [job, words, f"{statistics.geometric_mean(found.values()):.2f}", f"{found[worst]:.2f}", named(worst)]


def main():
    options = parse_arguments()
    rows = []
    for ranks, road in options.jobs:
        runs = []
        for number in range(options.alternations):
            print(f"{ranks} ranks, {road}: {number + 1} of {options.alternations}", file=sys.stderr)
            runs.append(times(options, ranks, road))
        rows += rows_of(f"{ranks} ranks, {road}", runs)
    heads = ["job", "guideline", "mean", "greatest", "at"]
    where, info = measured.measured_with(options.weft)
    text = (f"{measured.table(heads, ['---', '---', '---:', '---:', '---:'], rows)}\n\nMedians of {options.alternations} "
            f"runs (`{measured.this_command()}`), {where}, libfabric {info['provider']['libfabric']}.")
    print(text)
    measured.write_if_wanted(options, "guidelines", text)
    sys.exit(any(float(row[3]) > options.tolerance for row in rows))


if __name__ == "__main__":
    main()
