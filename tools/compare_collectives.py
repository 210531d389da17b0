#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares weft's collectives with Open MPI's and MPICH's on this machine, in one run.

  tools/compare_collectives.py [--collectives allreduce,bcast,...] [--ranks 2,4] [--paths shm,tcp] [--alternations 3]
                               [--from 8] [--to 8M] [--factor 4] [--budget 50] [--limit 20]
                               [--weft build/tools/weft]
                               [--peers ../shared/peers] [--write] [--readme collectives/COMPARISON.md]

Runs `weft bench COLLECTIVE` and PEERS/measure in turn and prints, for each number of ranks and each path, a table in
Markdown: a row for each size, for each collective weft's median time and its ratios to Open MPI's and to MPICH's, each
ratio the median of those of the alternations. Below 1 weft is faster. By shm weft goes through the memory of the node,
by tcp over the provider of libfabric that it takes by itself. A size is
that of a rank's whole vector; where each rank has a block, the block is so much smaller. With --write the tables
replace what stands between the markers in the page.
"""

import argparse
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys

import measured
from measured import at_least, medians, named, size, some_of

COLLECTIVES = ["allreduce", "reduce", "bcast", "reduce_scatter", "allgather", "alltoall", "barrier"]
PATHS = ["shm", "tcp"]
PEERS = {"openmpi": "Open MPI", "mpich": "MPICH"}


def rank_counts(text):
    return [at_least(2)(each) for each in text.split(",")]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collectives", type=some_of(COLLECTIVES), default=COLLECTIVES)
    parser.add_argument("--ranks", type=rank_counts, default=[2, 4])
    parser.add_argument("--paths", type=some_of(PATHS), default=PATHS)
    parser.add_argument("--alternations", type=at_least(1), default=3)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=8 << 20)
    parser.add_argument("--factor", type=at_least(2), default=4)
    parser.add_argument("--budget", type=at_least(1), default=50, help="ms for the samples of a size")
    parser.add_argument("--limit", type=at_least(1), default=20,
                        help="s for the peers' times of one collective: sizes that they do not come to stay empty")
    measured.add_peer_options(parser, "collectives/COMPARISON.md")
    options = parser.parse_args()
    # Which of weft's roads is the same way through the machine.
    options.roads = {"shm": "node", "tcp": measured.default_provider(options.weft) if "tcp" in options.paths else None}
    return options


def ours(options, collective, ranks, path):
    """weft's medians by size of the whole vector."""
    return medians(measured.bench_vectors(options.weft, collective.replace("_", "-"), ranks, options.first, options.last,
                                          options.factor, options.budget, road=options.roads[path]))


def end_session(leader, by):
    """Of all its process groups: `timeout`, by which PEERS/measure starts a peer, makes one of its own."""
    for process in os.scandir("/proc"):
        if not process.name.isdigit():
            continue
        try:
            if os.getsid(int(process.name)) == leader:
                os.kill(int(process.name), by)
        except ProcessLookupError:
            continue


def theirs(options, collective, ranks, path):
    """By peer that works here, and by size, what PEERS/measure reports: median_us, p99_us and more."""
    command = [options.peers / "measure", "-n", ranks, "-c", collective, "-f", options.first, "-t", options.last,
               "-x", options.factor, "-b", options.budget, "-p", path]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        printed, errors = process.communicate(timeout=options.limit)
    except subprocess.TimeoutExpired:
        end_session(process.pid, signal.SIGTERM)
        try:
            printed, errors = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            end_session(process.pid, signal.SIGKILL)
            printed, errors = process.communicate()
    found = {peer: {} for peer in PEERS}
    for line in printed.splitlines():
        if not line.startswith("{"):
            continue
        result = json.loads(line)
        count = 0 if collective == "barrier" else result["bytes"]
        found[result["peer"].removesuffix(f"-{path}")][count] = result
    if not any(found.values()):
        sys.exit(f"{shlex.join(map(str, command))}: status {process.returncode}, no results\n{errors}")
    return found


def alternate(options, collective, ranks, path):
    """By size: weft's medians, and the ratios to each peer's, one for each alternation."""
    times, ratios = {}, {}
    for _ in measured.shown(range(options.alternations), f"{ranks} ranks, {path}, {collective}"):
        mine, others = ours(options, collective, ranks, path), theirs(options, collective, ranks, path)
        for count, time in mine.items():
            times.setdefault(count, []).append(time)
            for peer, found in others.items():
                if count in found:
                    ratios.setdefault((count, peer), []).append(time / found[count]["median_us"])
    return times, ratios


def cell(times, ratios, count):
    if count not in times:
        return ""
    against = (f"{statistics.median(ratios[count, peer]):.2f}" if (count, peer) in ratios else "–" for peer in PEERS)
    return f"{statistics.median(times[count]):.1f} µs, {' / '.join(against)}"


def table(options, ranks, path):
    results = {each: alternate(options, each, ranks, path) for each in options.collectives}
    counts = sorted({count for times, _ in results.values() for count in times})
    rows = [["–" if count == 0 else named(count), *(cell(*results[each], count) for each in results)] for count in counts]
    heads = ["vector", *(each.replace("_", "-") for each in results)]
    return f"### {ranks} ranks, {path}\n\n{measured.table(heads, ['---:'] * len(heads), rows)}"


def caption(options):
    return (f"Median time of weft, and its ratio to {' / '.join(PEERS.values())}: median of "
            f"{measured.comparison(options)}")


def main():
    options = parse_arguments()
    measured.need_programs(options)
    tables = [table(options, ranks, path) for ranks in options.ranks for path in options.paths]
    text = "\n\n".join([*tables, caption(options)])
    print(text)
    measured.write_if_wanted(options, "collectives", text)


if __name__ == "__main__":
    main()
