#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What progress costs while nothing happens, and how much of an all-reduce passes while the program computes.

  tools/progress_tables.py [--providers net,shm] [--alternations 3] [--idle-seconds 10] [--from 64k] [--to 16M]
                           [--budget 300] [--weft build/tools/weft] [--write] [--readme collectives/PROGRESS.md]

Runs `weft bench idle` and `weft bench overlap` over each provider, none by the memory of the node, with progress by the
caller and by a thread in turn, and prints tables in Markdown: medians of the alternations (idle: once). With --write
they replace what stands between the markers in the page.
"""

import argparse
import statistics
import sys

import measured
from measured import at_least, named, positive, size

MODES = ["caller", "thread"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--providers", default="net,shm")
    parser.add_argument("--alternations", type=at_least(1), default=3)
    parser.add_argument("--idle-seconds", type=positive, default=10)
    parser.add_argument("--from", dest="first", type=size, default=64 << 10)
    parser.add_argument("--to", dest="last", type=size, default=16 << 20)
    parser.add_argument("--budget", type=at_least(1), default=300, help="ms for the samples of a size")
    measured.add_output_options(parser, "collectives/PROGRESS.md")
    options = parser.parse_args()
    options.providers = options.providers.split(",")
    return options


def idle_table(options):
    rows = []
    for provider in options.providers:
        for ranks in (2, 8):
            for mode in MODES:
                print(f"idle: {provider}, {ranks} ranks, {mode}", file=sys.stderr)
                line, = measured.bench(options.weft, "idle", "-n", ranks, "--progress", mode, "--budget",
                                       round(1000 * options.idle_seconds), road=provider)
                rows.append([provider, str(ranks), mode, f"{100 * line['idle_share']:.3f} %",
                             f"{line['idle_wake_ups_per_s']:.0f}", f"{100 * line['waiting_share']:.3f} %",
                             f"{line['waiting_wake_ups_per_s']:.0f}", f"{line['median_us']:.0f} µs",
                             f"{line['p99_us']:.0f} µs", f"{line['awake_median_us']:.1f} µs"])
    heads = ["provider", "processes", "progress by", "idle: of a core", "wake-ups/s", "in a barrier: of a core",
             "wake-ups/s", "first message", "p99", "awake"]
    return measured.table(heads, ["---", "---:", "---"] + ["---:"] * 7, rows)


def overlap_table(options):
    rows, layout = [], ""
    for provider in options.providers:
        runs = []
        for number in range(options.alternations):
            print(f"overlap: {provider}, {number + 1} of {options.alternations}", file=sys.stderr)
            runs.append(measured.bench(options.weft, "overlap", "-b", options.first, "-e", options.last,
                                       "--budget", options.budget, road=provider))
        for lines in zip(*runs):
            first = lines[0]
            layout = first["layout"]
            values = [statistics.median(line[field] for line in lines) for field in
                      ("overall_us", "compute_us", "communication_us", "overlap_percent", "thread_us")]
            rows.append([provider, first["progress"], named(first["bytes"]), *(f"{value:.0f} µs" for value in values[:3]),
                         f"{values[3]:.0f} %", f"{values[4]:.0f} µs"])
    heads = ["provider", "progress by", "message", "overall", "compute", "communication", "overlap", "thread's processor time"]
    return f"{measured.table(heads, ['---', '---'] + ['---:'] * 6, rows)}\n\nCores: {layout}."


def main():
    options = parse_arguments()
    where, info = measured.measured_with(options.weft)
    caption = f"(`{measured.this_command()}`), {where}, libfabric {info['provider']['libfabric']}."
    idle = f"{idle_table(options)}\n\nEach part for {options.idle_seconds:g} s {caption}"
    print(idle)
    measured.write_if_wanted(options, "idle", idle)
    overlap = (f"{overlap_table(options)} All-reduces of float by sum, 2 ranks in 2 processes, medians of "
               f"{options.alternations} runs {caption}")
    print(overlap)
    measured.write_if_wanted(options, "overlap", overlap)


if __name__ == "__main__":
    main()
