#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near what calls are predicted to take is to what they take, and whether the choice that goes by it is good.

  tools/prediction_table.py [--jobs 2:node,4:node] [--collectives allreduce,bcast,...] [--sizes 8,4K,256K,8M]
                            [--alternations 5] [--budget 20] [--tune start] [--within 1.3] [--best 1.25]
                            [--weft build/tools/weft]

Runs `weft bench COLLECTIVE --explain`, which times every algorithm and pattern that a call could take beside its
prediction, in new jobs again and again, and prints a table in Markdown: of each job, collective and size what was
chosen, what that took and how many times as much was predicted; how many times what the best took that is; and of the
others the one whose prediction is the farthest off. Ratios and times are medians over the jobs; where these choose
differently, what their choices took over the best is the geometric mean. With --tune online the choice is the one after
calls have tried what is near it. Below the table stands how many times what the best takes the choices take in all. Ends
with status 1 where a prediction is more than --within times what was measured or less than its inverse, or what is chosen
takes more than --best times what the best does. Where processes share CPUs nothing of the node is measured at the start:
there the predictions do not count.
"""

import argparse
import collections
import os
import statistics
import sys

import measured
from measured import at_least, jobs, named, positive, size

COLLECTIVES = ["allreduce", "bcast", "reduce", "reduce-scatter", "allgather", "gather", "scatter", "alltoall", "scan",
               "exscan"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=jobs, default="2:node,4:node")
    parser.add_argument("--collectives", type=measured.some_of(COLLECTIVES), default=COLLECTIVES)
    parser.add_argument("--sizes", type=lambda text: [size(each) for each in text.split(",")], default="8,4K,256K,8M")
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--budget", type=at_least(1), default=20, help="ms for the samples of an algorithm")
    parser.add_argument("--tune", choices=["start", "online"], default="start", help="what the choice goes by")
    parser.add_argument("--within", type=positive, default=1.3)
    parser.add_argument("--best", type=positive, default=1.25)
    measured.add_output_options(parser, "collectives/ALGORITHMS.md")
    return parser.parse_args()


def runs_of(options, collective, ranks, road, count):
    """By algorithm: the lines of all jobs."""
    found = collections.defaultdict(list)
    for _ in range(options.alternations):
        for line in measured.bench(options.weft, collective, "-n", ranks, "-b", count, "-e", count, "-f", 2, "--budget",
                                   options.budget, "--explain", f"--weft-tune={options.tune}", road=road):
            found[line["algorithm"]].append(line)
    return found


def apart(ratio):
    """How many times the one is the other, whichever is more."""
    return max(ratio, 1 / ratio)


def row_of(runs):
    """What was chosen in most jobs, its time, its prediction's ratio, the time of all choices over the best, the worst
    prediction of the others: name and ratio."""
    took = {name: statistics.median(line["median_us"] for line in lines) for name, lines in runs.items()}
    ratio = {name: statistics.median(line["predicted_us"] / line["median_us"] for line in lines)
             for name, lines in runs.items()}
    choices = [name for name, lines in runs.items() for line in lines if line["chosen"]]
    chosen = statistics.mode(choices)
    of_best = statistics.geometric_mean(took[name] for name in choices) / min(took.values())
    worst = max((name for name in runs if name != chosen), key=lambda name: apart(ratio[name]), default=chosen)
    return chosen, took[chosen], ratio[chosen], of_best, worst, ratio[worst]


def in_all(regrets):
    """Of each job what the choices took over the best: "2 ranks, net: 1.04 (at most 1.20)"."""
    return "; ".join(f"{job}: {statistics.geometric_mean(each):.3f} (at most {max(each):.2f})"
                     for job, each in regrets.items())


def main():
    options = parse_arguments()
    rows, regrets, bad = [], collections.defaultdict(list), False
    for ranks, road in options.jobs:
        predicts = ranks <= len(os.sched_getaffinity(0))
        for collective in options.collectives:
            for count in options.sizes:
                print(f"{ranks} ranks, {road}, {collective} of {named(count)}", file=sys.stderr)
                chosen, took, ratio, of_best, worst, others = row_of(runs_of(options, collective, ranks, road, count))
                bad |= of_best > options.best or (predicts and max(apart(ratio), apart(others)) > options.within)
                regrets[f"{ranks} ranks, {road}"].append(of_best)
                rows.append([f"{ranks} ranks, {road}", collective, named(count), chosen, f"{took:.2f}", f"{ratio:.2f}",
                             f"{of_best:.2f}", worst, f"{others:.2f}"])
    heads = ["job", "collective", "size", "chosen", "µs", "predicted", "of the best", "worst predicted", "predicted"]
    where, _ = measured.measured_with(options.weft)
    text = (f"{measured.table(heads, ['---'] * 4 + ['---:'] * 3 + ['---', '---:'], rows)}\n\nWhat was predicted over "
            f"what was measured, and what the choice took over the best: medians of {options.alternations} jobs "
            f"(`{measured.this_command()}`), {where}. What the choices took over the best, geometric means: "
            f"{in_all(regrets)}.")
    print(text)
    measured.write_if_wanted(options, "predictions", text)
    sys.exit(bad)


if __name__ == "__main__":
    main()
