#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How alike the times of 8-byte all-reduces are while something else takes the ranks' core (Table 3 of Moody et al.).

  tools/consistency_table.py [--noise 1000:200] [--alternations 5] [--seconds 5] [--weft build/tools/weft] [--write]
                             [--readme collectives/PROGRESS.md]

Runs `weft bench consistency` (8 ranks in 2 processes over the provider that weft takes of this libfabric, none by the
memory of the node; a thread makes progress, then one of a real-time class, then the callers) and Open MPI (8 processes
over TCP, compiled from mpi_consistency.cpp) in turn, without noise and with it, and prints a table in Markdown: medians
of the alternations. The ranks of each share the first core; Open MPI's processes have no progress threads. Needs two
cores, root for SCHED_FIFO, and Debian's openmpi-bin libopenmpi-dev. With --write the table replaces what stands between
the markers in the page.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import measured
from measured import at_least, positive

RANKS = 8
CPU = 0
FIELDS = ["mean_us", "deviation_us", "near_mode", "p50_us", "p99_us", "max_us"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", default="1000:200", help="PERIOD_US:DURATION_US")
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--seconds", type=positive, default=5, help="for the samples of one run")
    measured.add_output_options(parser, "collectives/PROGRESS.md")
    options = parser.parse_args()
    options.provider = measured.default_provider(options.weft)
    return options


def statistics_of(us):
    """As tools/bench/consistency.cpp has them."""
    us = sorted(us)
    mean = sum(us) / len(us)
    counts = {}
    for each in us:
        counts[math.floor(each)] = counts.get(math.floor(each), 0) + 1
    mode = max(sorted(counts), key=counts.get) + 0.5
    return {"mean_us": mean, "deviation_us": statistics.pstdev(us, mean),
            "near_mode": sum(abs(each - mode) <= 4 for each in us) / len(us),
            "p50_us": us[len(us) // 2], "p99_us": us[len(us) * 99 // 100], "max_us": us[-1]}


def of_weft(options, progress, noise, real_time=False):
    """The two figures: to the end of the last rank's part, and to its return."""
    found, = measured.bench(options.weft, "consistency", "--progress", progress, "--budget", round(1000 * options.seconds),
                            f"--weft-real-time={'on' if real_time else 'off'}", *(["--noise", noise] if noise else []),
                            road=options.provider)
    return {figure: found[figure] for figure in ("completed", "returned")}


def of_open_mpi(options, program, noise):
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = ["taskset", "-c", CPU, "mpirun.openmpi", "-n", RANKS, "--oversubscribe", "--bind-to", "none",
               "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo",
               "--mca", "mpi_yield_when_idle", "1", program, options.seconds]
    interferer = None
    if noise:
        interferer = subprocess.Popen([options.weft, "noise", "--make", noise, "--cpus", str(CPU), "--duration", "600000"],
                                      stdout=subprocess.PIPE, text=True)
        interferer.stdout.readline()
    try:
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True, env=environment)
    finally:
        if interferer:
            interferer.kill()
            interferer.wait()
    us = sorted(json.loads(done.stdout))
    return {"returned": {"all": statistics_of(us), "without_highest": statistics_of(us[:len(us) - len(us) // 100])}}


def compile_peer(folder):
    program = pathlib.Path(folder) / "mpi_consistency"
    source = pathlib.Path(__file__).resolve().with_name("mpi_consistency.cpp")
    subprocess.run(["mpicxx.openmpi", "-std=c++17", "-O2", source, "-o", program], check=True)
    return program


def rows_of(name, noise, runs):
    rows = []
    for figure in runs[0]:
        for samples, words in (("all", "all"), ("without_highest", "all but the highest 1 %")):
            values = [statistics.median(run[figure][samples][field] for run in runs) for field in FIELDS]
            texts = [f"{100 * value:.0f} %" if field == "near_mode" else f"{value:.1f}" for field, value in zip(FIELDS, values)]
            rows.append([noise or "none", name, "last part done" if figure == "completed" else "last return", words, *texts])
    return rows


def deviation_ratios(runs, name, samples):
    """The standard deviation of `name`, in its first figure, to those of the others, in words."""
    def deviations(which):
        return [next(iter(run.values()))[samples]["deviation_us"] for run in runs[which]]
    def ratio(other):
        return statistics.median(mine / theirs for mine, theirs in zip(deviations(name), deviations(other)))
    return f"{ratio('weft, caller'):.3f} times the caller's and {ratio('Open MPI'):.3f} times Open MPI's"


def main():
    options = parse_arguments()
    rows, runs = [], {}
    with tempfile.TemporaryDirectory() as folder:
        program = compile_peer(folder)
        for noise in ("", options.noise):
            runs = {"weft, thread": [], "weft, real-time thread": [], "weft, caller": [], "Open MPI": []}
            for number in range(options.alternations):
                print(f"noise {noise or 'none'}: {number + 1} of {options.alternations}", file=sys.stderr)
                runs["weft, thread"].append(of_weft(options, "thread", noise))
                runs["weft, real-time thread"].append(of_weft(options, "thread", noise, real_time=True))
                runs["weft, caller"].append(of_weft(options, "caller", noise))
                runs["Open MPI"].append(of_open_mpi(options, program, noise))
            for name, found in runs.items():
                rows += rows_of(name, noise, found)
    heads = ["noise, µs", "who", "until", "samples", "mean, µs", "deviation, µs", "within 4 µs of the mode", "p50, µs",
             "p99, µs", "max, µs"]
    text = (f"{measured.table(heads, ['---'] * 4 + ['---:'] * 6, rows)}\n\nUnder that noise the standard deviation with "
            f"the thread is {deviation_ratios(runs, 'weft, thread', 'without_highest')} without the highest 1 % of the "
            f"samples and {deviation_ratios(runs, 'weft, thread', 'all')} with them, with a thread of a real-time class "
            f"{deviation_ratios(runs, 'weft, real-time thread', 'without_highest')} and "
            f"{deviation_ratios(runs, 'weft, real-time thread', 'all')} (medians of the ratios). Sums of one double, "
            f"{RANKS} ranks, weft's over {options.provider}, medians of {options.alternations} alternating runs (`{measured.this_command()}`), "
            f"{measured.compared_with(options.weft)}.")
    print(text)
    measured.write_if_wanted(options, "consistency", text)


if __name__ == "__main__":
    main()
