#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the costs that a job measures when it starts are the same from start to start.

  tools/start_costs.py [--starts 50] [--within 1.5] [--jobs 2:node,2:net] [--tune-budget 15] [--busy 0]
                       [--from 8] [--to 4M] [--factor 8] [--weft build/tools/weft]

Starts jobs of so many ranks over the node's memory, or such a provider, again and again, and prints a table in Markdown:
of each cost that was measured, of what an all-reduce is predicted to take by them, and of how many times as much as it
takes in the very job that predicts it, the least, the median and the greatest of all starts, and how many times the
least the greatest is; of the kernels only the one where that is the most. L and the handshake are differences of times:
they stand together with what they were taken from. The last row is how much longer the job takes than one that measures
nothing, and the only one that is not to be the same. --busy keeps so many processors busy meanwhile. Ends with status 1
where something is more than --within times its least.
"""

import argparse
import contextlib
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import measured
from choice_table import jobs
from measured import at_least, named, size

UNITS = {"us": 1e6, "ns/B": 1e9, "": 1}
MEASURING = "measuring"
RATIO = "predicted over measured"
LONG = 256 << 10  # bytes of a message with a handshake


def output(*command):
    """What a command prints; raises subprocess.CalledProcessError when it fails."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=at_least(1), default=50)
    parser.add_argument("--within", type=float, default=1.5)
    parser.add_argument("--jobs", type=jobs, default="2:node,2:net")
    parser.add_argument("--tune-budget", type=at_least(1), default=15, help="ms that a start may measure for, about")
    parser.add_argument("--busy", type=at_least(0), default=0)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=4 << 20)
    parser.add_argument("--factor", type=at_least(2), default=8)
    parser.add_argument("--weft", type=pathlib.Path, default=measured.SOURCE / "build/tools/weft")
    return parser.parse_args()


@contextlib.contextmanager
def busy(count):
    """So many processes that compute."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def costs_of(text):
    """What `weft tune` prints, by key: seconds."""
    pairs = (line.split("#")[0].split("=") for line in text.splitlines())
    return {pair[0].strip(): float(pair[1]) for pair in pairs if len(pair) == 2}


def compared(costs):
    """By name: L is what is left of a short message's time, the handshake of a long one's."""
    found = {key: seconds for key, seconds in costs.items() if not key.endswith((".latency", ".handshake"))}
    for road in [key.removesuffix(".latency") for key in costs if key.endswith(".latency")]:
        one_way = costs[f"{road}.latency"] + 2 * costs[f"{road}.overhead"]
        found[f"{road}.latency + 2 overhead"] = one_way
        found[f"{road}, {named(LONG)} one way"] = (one_way + costs[f"{road}.handshake"] +
                                                  LONG * costs[f"{road}.gap_per_byte"])
    return found


def predictions(options, ranks, costs):
    """Of the fastest all-reduce of each size by the costs in that file: seconds."""
    count = options.first
    while count <= options.last:
        made = json.loads(output(options.weft, "plan", "allreduce", "--ranks", str(ranks), "--bytes", str(count),
                                          "--explain", "--tuning", costs, "--format", "json"))
        yield f"allreduce of {named(count)}", min(one["predicted_us"] for one in made["alternatives"]) / 1e6
        count *= options.factor


def ratios(options, job):
    """Of each size: what the all-reduce that is chosen is predicted to take over what it takes, by one job."""
    lines, _ = measured.lines_of([options.weft, "bench", "allreduce", *job, "--explain", "-b", options.first, "-e",
                                  options.last, "-f", options.factor, "--budget", "2", "--json",
                                  f"--weft-tune-budget={options.tune_budget}"])
    for line in lines:
        if line["chosen"]:
            yield f"allreduce of {named(line['bytes'])}, {RATIO}", line["predicted_us"] / line["median_us"]


def seconds_of_job(options, job, tune):
    begin = time.monotonic()
    output(options.weft, "bench", "barrier", *job, "--budget", "1", f"--weft-tune={tune}",
                    f"--weft-tune-budget={options.tune_budget}")
    return time.monotonic() - begin


def one_start(options, ranks, provider, folder):
    """All that it measured and what follows, by name: seconds, and ratios."""
    over = [] if provider == "node" else ["--provider", provider, *measured.unsafe(provider), "--weft-node=off"]
    job = ["-n", str(ranks), *over]
    text = output(options.weft, "tune", *job, "--budget", str(options.tune_budget))
    file = folder / "costs"
    file.write_text(text)
    more = seconds_of_job(options, job, "start") - seconds_of_job(options, job, "off")
    return (compared(costs_of(text)) | dict(predictions(options, ranks, file)) | dict(ratios(options, job)) |
            {MEASURING: more})


def spread(found):
    """How many times the least the greatest is."""
    return max(found) / min(found) if min(found) > 0 else math.inf if max(found) > 0 else 1


def row(name, found):
    per_byte = name.startswith("combine") or name.endswith("per_byte") or "_copy_" in name or "_read_" in name
    unit = "" if name.endswith(RATIO) else "ns/B" if per_byte else "us"
    figures = (min(found), statistics.median(found), max(found))
    return [name, unit, *(f"{value * UNITS[unit]:.3f}" for value in figures), f"{spread(found):.2f}"]


def chosen(found):
    """The names to print: of the kernels the one that varies most."""
    kernels = [name for name in found if name.startswith("combine.")]
    worst = max(kernels, key=lambda name: spread(found[name]))
    return [name for name in found if name not in kernels or name == worst]


def main():
    options = parse_arguments()
    rows, apart = [], False
    with tempfile.TemporaryDirectory() as folder, busy(options.busy):
        for ranks, provider in options.jobs:
            starts = [one_start(options, ranks, provider, pathlib.Path(folder)) for _ in range(options.starts)]
            found = {name: [start[name] for start in starts] for name in starts[0]}
            rows += [[f"{ranks} ranks, {provider}", *row(name, found[name])] for name in chosen(found)]
            apart |= any(spread(found[name]) > options.within for name in found if name != MEASURING)
    heads = ["job", "value", "unit", "least", "median", "greatest", "ratio"]
    where, _ = measured.measured_with(options.weft)
    print(f"{measured.table(heads, ['---'] * 3 + ['---:'] * 4, rows)}\n\n{options.starts} starts "
          f"(`{measured.this_command()}`), {where}.")
    sys.exit(apart)


if __name__ == "__main__":
    main()
