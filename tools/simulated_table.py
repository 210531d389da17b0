#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near predictions are to the simulation, and how good the choice is that goes by them, on machines that are drawn.

  tools/simulated_table.py [--draws 200] [--seed 1] [--ranks 2:90] [--bytes 4:8M] [--clusters] [--weft build/tools/weft]

Draws a collective, a number of ranks, a size (of an all-to-all for all ranks at most 256 KiB each) and L, o, g, G and c
of a machine, asks `weft plan --explain` for all predictions, simulates each of these schedules by `weft sim` with the
same costs, and prints a table in Markdown: of each collective how many predictions there were and how many of them were
more than a tenth and a quarter off, and how many times as long as the best, both simulated, the chosen one takes: the
geometric mean and the greatest. With --clusters the ranks of half the draws are in clusters of 2 to 8. Ends with status
1 where the mean over all draws is above --mean or the greatest above --worst. --list prints every prediction that is
more than a tenth off on standard error, with its call and the costs.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import measured
from measured import at_least, named, positive, size

COLLECTIVES = ["reduce", "broadcast", "all-reduce", "reduce-scatter", "all-gather", "barrier", "gather", "scatter",
               "all-to-all", "scan", "exscan"]
OF_ALTERNATIVE = ["segments", "degree", "splits", "connections"]  # fields of a prediction that are options of a run


def span(of):
    """A type of arguments: the least and the most of something, LEAST:MOST."""
    def parse(text):
        least, _, most = text.partition(":")
        both = of(least), of(most)
        if both[0] > both[1]:
            raise argparse.ArgumentTypeError(f"{least} is more than {most}")
        return both
    return parse


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=at_least(1), default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=span(at_least(2)), default=(2, 90))
    parser.add_argument("--bytes", type=span(size), default=(4, 8 << 20))
    parser.add_argument("--clusters", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--mean", type=positive, default=1.10)
    parser.add_argument("--worst", type=positive, default=1.5)
    measured.add_output_options(parser, "collectives/ALGORITHMS.md")
    return parser.parse_args()


def drawn(options, number):
    """A collective, its arguments for both commands, and a file of costs as text. By the seed and its number alone."""
    random_ = random.Random(f"{options.seed} {number}")
    def between(least, most):
        return least * (most / least) ** random_.random()
    latency = between(5e-7, 3e-5)
    overhead = latency * random_.uniform(0.05, 0.5)
    per_byte = between(3e-11, 1e-8)
    costs = {"fabric.latency": latency, "fabric.overhead": overhead, "fabric.gap": overhead * random_.uniform(0.5, 2),
             "fabric.gap_per_byte": per_byte, "fabric.exchange_per_byte": per_byte, "fabric.handshake": 0,
             "combine.sum.float": between(2e-11, 3e-10)}
    collective = random_.choice(COLLECTIVES)
    ranks = round(between(*options.ranks))
    arguments = [collective, "-n", ranks]
    least, most = options.bytes
    if collective == "all-to-all":
        most = max(least, min(most, 256 << 10))
    count = max(1, round(between(least, most) / measured.ELEMENT)) * measured.ELEMENT
    if collective != "barrier":
        arguments += ["--bytes", count]
    if options.clusters and ranks > 3 and random_.random() < 0.5:
        arguments += ["--group-size", random_.choice([2, 3, 4, 8])]
    return collective, arguments, "".join(f"{name} = {value:.4g}\n" for name, value in costs.items())


def output_of(options, *arguments):
    command = [options.weft, *map(str, arguments)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode == 0:
        return json.loads(process.stdout)
    if "--group-size" in arguments and "--group-size" in process.stderr:  # an algorithm that knows no clusters
        at = arguments.index("--group-size")
        return output_of(options, *arguments[:at], *arguments[at + 2:])
    return measured.end(command, f"status {process.returncode}\n{process.stderr}")


def simulated(options, arguments, road, one):
    """The time of that prediction's schedule, in us."""
    more = [part for field in OF_ALTERNATIVE if one.get(field, 0) > (1 if field == "segments" else 0)
            for part in (f"--{field}", one[field])]
    report = output_of(options, "sim", *arguments, "--algorithm", one["algorithm"], *more, *road, "--json")
    return report["completion"] / 1e3


def is_off(ratio, limit):
    return max(ratio, 1 / ratio) > limit


def compare(options, number):
    """The collective; of each algorithm what was predicted over what was simulated; the chosen one over the best."""
    collective, arguments, costs = drawn(options, number)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "costs"
        file.write_text(costs, encoding="utf-8")
        road = ["--tuning", file, "--road", "fabric"]
        made = output_of(options, "plan", *arguments, "--explain", *road, "--format", "json")
        took = {one["algorithm"]: simulated(options, arguments, road, one) for one in made["alternatives"]}
    ratios = {one["algorithm"]: one["predicted_us"] / took[one["algorithm"]] for one in made["alternatives"]}
    if options.list:
        for one in made["alternatives"]:
            if is_off(ratios[one["algorithm"]], 1.1):
                fields = " ".join(f"{field} {one[field]}" for field in OF_ALTERNATIVE if field in one)
                print(f"{ratios[one['algorithm']]:.2f} {one['algorithm']} {fields}: {' '.join(map(str, arguments))}; "
                      f"{costs.strip().replace(chr(10), ', ')}", file=sys.stderr)
    return collective, list(ratios.values()), took[made["chosen"]] / min(took.values())


def row_of(name, draws):
    ratios = [ratio for _, each, _ in draws for ratio in each]
    regrets = [regret for _, _, regret in draws]
    off = [sum(is_off(ratio, limit) for ratio in ratios) for limit in (1.1, 1.25)]
    return [name, str(len(draws)), str(len(ratios)), str(off[0]), str(off[1]),
            f"{statistics.geometric_mean(regrets):.3f}", f"{max(regrets):.2f}"]


def main():
    options = parse_arguments()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        draws = list(pool.map(lambda number: compare(options, number), range(options.draws)))
    by_collective = collections.defaultdict(list)
    for draw in draws:
        by_collective[draw[0]].append(draw)
    rows = [row_of(name, by_collective[name]) for name in COLLECTIVES if by_collective[name]] + [row_of("all", draws)]
    heads = ["collective", "draws", "predictions", "off > 10 %", "off > 25 %", "of the best", "at most"]
    least, most = options.ranks
    text = (f"{measured.table(heads, ['---'] + ['---:'] * 6, rows)}\n\nPredictions beside the simulation, and what the "
            f"choice takes over the best, both simulated: {options.draws} drawn machines of {least} to {most} ranks, "
            f"{named(options.bytes[0])} to {named(options.bytes[1])} (`{measured.this_command()}`).")
    print(text)
    measured.write_if_wanted(options, "simulated", text)
    regrets = [regret for _, _, regret in draws]
    sys.exit(statistics.geometric_mean(regrets) > options.mean or max(regrets) > options.worst)


if __name__ == "__main__":
    main()
