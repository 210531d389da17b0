#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near what calls are predicted to take is to what they take, and whether the choice that goes by it is good.

  tools/prediction_table.py [--jobs 2:node,4:node] [--collectives allreduce,bcast,...] [--sizes 8,4K,256K,8M]
                            [--alternations 5] [--budget 20] [--tune start] [--within 1.3] [--best 1.25]
                            [--weft build/tools/weft]

Runs `weft bench COLLECTIVE --explain`, which times every algorithm and pattern that a call could take beside its
prediction, all in turn, in new jobs again and again, and prints a table in Markdown: of each job, collective and size
what was chosen, what that took and how many times as much was predicted; how many times what the best took that is; and
of the others the one whose prediction is the farthest off. Ratios and times are medians over the jobs. What choices
took over the best is the geometric mean over the jobs, for each of which the best is what took least in the others: the
least of many times of one job is luck. With --tune online the choice is the one after calls have tried what is near it.
Below the table stands how many times what the best takes the choices take in all. Ends with status 1 where a prediction
is more than --within times what was measured or less than its inverse, or what is chosen takes more than --best times
what the best does. Where processes share CPUs nothing of the node is measured at the start: there the predictions do
not count.
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
    parser.add_argument("--alternations", type=at_least(2), default=5)
    parser.add_argument("--budget", type=at_least(1), default=20, help="ms for the samples of an algorithm")
    parser.add_argument("--tune", choices=["start", "online"], default="start", help="what the choice goes by")
    parser.add_argument("--within", type=positive, default=1.3)
    parser.add_argument("--best", type=positive, default=1.25)
    measured.add_output_options(parser, "collectives/ALGORITHMS.md")
    return parser.parse_args()


def runs_of(options, collective, ranks, road, count):
    """Of each job its lines by algorithm."""
    return [{line["algorithm"]: line
             for line in measured.bench(options.weft, collective, "-n", ranks, "-b", count, "-e", count, "-f", 2,
                                        "--budget", options.budget, "--explain", f"--weft-tune={options.tune}",
                                        road=road)}
            for _ in range(options.alternations)]


def apart(ratio):
    """How many times the one is the other, whichever is more."""
    return max(ratio, 1 / ratio)


def over_best(jobs):
    """What was chosen over the best: of each job by its own times, where the best is what took least in the others, so
    that luck makes nothing the best. The geometric mean over the jobs. What is predicted to take exactly as long as the
    chosen one is the same steps by another name, as all trees of two ranks are."""
    ratios = []
    for job in jobs:
        others = [other for other in jobs if other is not job]
        best = min(job, key=lambda name: statistics.median(other[name]["median_us"] for other in others))
        chosen = next(line for line in job.values() if line["chosen"])
        same = job[best]["predicted_us"] == chosen["predicted_us"]
        ratios.append(1 if same else chosen["median_us"] / job[best]["median_us"])
    return statistics.geometric_mean(ratios)


def row_of(jobs):
    """What was chosen in most jobs, its time, its prediction's ratio, the choices over the best, the worst prediction
    of the others: name and ratio."""
    ratio = {name: statistics.median(job[name]["predicted_us"] / job[name]["median_us"] for job in jobs)
             for name in jobs[0]}
    chosen = statistics.mode(name for job in jobs for name, line in job.items() if line["chosen"])
    took = statistics.median(job[chosen]["median_us"] for job in jobs)
    worst = max((name for name in ratio if name != chosen), key=lambda name: apart(ratio[name]), default=chosen)
    return chosen, took, ratio[chosen], over_best(jobs), worst, ratio[worst]


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
