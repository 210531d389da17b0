#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which algorithm is the fastest for how many ranks and how long a vector, by the simulator.

  tools/algorithm_map.py [--collectives allreduce,reduce-scatter,...] [--ranks 4,7,16,...] [--sizes 8,1k,...]
                         [--segments 1,4,...] [--degrees 4,8,...] [--machines cluster=1500:300:400:0.08:0.05,...]
                         [--tori 8x8,...] [--weft build/tools/weft] [--write] [--readme collectives/ALGORITHMS.md]

Runs `weft sim` of every algorithm that goes by messages and needs no groups of ranks, in each number of segments and in
one of each degree beside 2, on machines of L:o:g:G:c in ns and ns a byte, and prints a table in Markdown for each machine
and collective: the fastest algorithm, its segments or degree, and how many times as long the next one takes in its best.
With --tori the
ranks are the places of these, whose links messages share (`weft sim --topology torus:...`), instead of --ranks; rings go
round as the torus lies. With --write the tables replace what stands between the markers in ALGORITHMS.md.
"""

import argparse
import csv
import itertools
import json
import math
import subprocess
import sys

import measured
from measured import at_least, named, size

COLLECTIVES = ["allreduce", "reduce-scatter", "allgather", "reduce", "bcast"]
OPTIONS = ["--latency", "--overhead", "--gap", "--gap-per-byte", "--compute-per-byte"]


def list_of(type_of_each):
    return lambda text: [type_of_each(each) for each in text.split(",")]


def machine(text):
    """A name, and the options of `weft sim` for it."""
    name, _, costs = text.partition("=")
    costs = costs.split(":")
    if len(costs) != len(OPTIONS):
        raise argparse.ArgumentTypeError(f'"{text}" is not NAME=L:o:g:G:c')
    return name, costs


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collectives", type=list_of(str), default=COLLECTIVES)
    parser.add_argument("--ranks", type=list_of(int), default=[4, 7, 16, 31, 64])
    parser.add_argument("--sizes", type=list_of(size), default=[8, 1 << 10, 8 << 10, 64 << 10, 512 << 10, 8 << 20])
    parser.add_argument("--segments", type=list_of(int), default=[1, 2, 4, 16])
    parser.add_argument("--degrees", type=list_of(at_least(3)), default=[4, 8, 16])
    parser.add_argument("--machines", type=list_of(machine),
                        default=[machine("cluster=1500:300:400:0.08:0.05"), machine("far=10000:500:500:0.1:0.05")])
    parser.add_argument("--tori", type=list_of(str), default=[])
    measured.add_output_options(parser, "collectives/ALGORITHMS.md")
    return parser.parse_args()


def output_of(command):
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if process.returncode != 0:
        measured.end(command, process.stderr)
    return process.stdout


def rows_of(options, collective):
    """Names and parameters of the algorithms by messages among ranks of which none are nearer than others."""
    command = [options.weft, "plan", collective, "--list", "--format", "json"]
    return [(one["name"], one["parameters"]) for one in json.loads(output_of(command))
            if one["by"] == "messages" and "--group-size" not in one["parameters"]]


def shapes_of(options, parameters, ranks):
    """What is tried of an algorithm with these parameters: options of `weft sim`."""
    tried = [("--segments", ",".join(map(str, options.segments)))] if "--segments" in parameters else [()]
    if "--degree" in parameters:
        tried += [("--degree", degree) for degree in options.degrees if degree <= ranks]
    return tried


def places_of(where):
    """The ranks, of a number of them or of a torus."""
    return math.prod(map(int, where.split("x"))) if isinstance(where, str) else where


def options_on(where, parameters):
    """What puts an algorithm with these parameters on a torus."""
    if not isinstance(where, str):
        return []
    powers = all(int(size) & (int(size) - 1) == 0 for size in where.split("x"))
    return ["--topology", f"torus:{where}", *(["--torus", where] if "--torus" in parameters and powers else
                                              ["--network-order"] if "--topology" in parameters else [])]


def sweeps_of(options, collective, where):
    """Options of `weft sim`, those of degrees last, and the algorithms that are tried with them."""
    sweeps = {}
    for name, parameters in rows_of(options, collective):
        for shape in shapes_of(options, parameters, places_of(where)):
            sweeps.setdefault((*shape, *options_on(where, parameters)), []).append(name)
    return sorted(sweeps.items(), key=lambda sweep: "--degree" in sweep[0])


def rows_swept(options, collective, names, where, taken, costs):
    """Of each algorithm, size and number of segments."""
    machine_options = itertools.chain.from_iterable(zip(OPTIONS, costs))
    return csv.DictReader(output_of([
        options.weft, "sim", collective, "--algorithm", ",".join(names), "--ranks", places_of(where), "--bytes",
        ",".join(map(str, options.sizes)), "--csv", "-", *taken, *machine_options]).splitlines())


def best_of(options, collective, where, costs):
    """Of each size: what each algorithm takes in its best shape, and that, the fastest first."""
    found = [{name: (math.inf, "") for name, _ in rows_of(options, collective)} for _ in options.sizes]
    for taken, names in sweeps_of(options, collective, where):
        for row in rows_swept(options, collective, names, where, taken, costs):
            cut = f" d{taken[1]}" if "--degree" in taken else f" s{row['segments']}" if row["segments"] != "1" else ""
            best = found[options.sizes.index(int(row["bytes"]))]
            best[row["algorithm"]] = min(best[row["algorithm"]], (float(row["simulated_ns"]), cut),
                                         key=lambda one: one[0])
    return [sorted(((least, name, cut) for name, (least, cut) in all.items()), key=lambda one: one[0])
            for all in found]


def cell(all):
    (least, name, cut), (second, _, _) = all[:2]
    return f"{name}{cut} ({second / least:.2f})"


def table(options, collective, name, costs):
    rows = []
    for where in options.tori or options.ranks:
        print(f"{collective}, {name}, {where} ranks", file=sys.stderr)
        rows.append([str(where), *(cell(all) for all in best_of(options, collective, where, costs))])
    heads = [f"{collective}, {name}", *map(named, options.sizes)]
    return measured.table(heads, ["---:"] + ["---"] * len(options.sizes), rows)


def main():
    options = parse_arguments()
    tables = [table(options, collective, name, costs)
              for collective in options.collectives for name, costs in options.machines]
    where = ", ".join(f"{name} {':'.join(costs)}" for name, costs in options.machines)
    ranks = "On such tori, and of so many" if options.tori else "Of so many ranks and"
    text = "\n\n".join(tables) + (
        f"\n\n{ranks} bytes the fastest algorithm by messages, with its segments (s) or degree (d), and in brackets how "
        f"many times as long the next one takes; L:o:g:G:c in ns: {where} (`{measured.this_command()}`).")
    print(text)
    measured.write_if_wanted(options, "torus-map" if options.tori else "map", text)


if __name__ == "__main__":
    main()
