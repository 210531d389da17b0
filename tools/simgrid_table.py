#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `weft sim` says of traffic that shares the links of networks with what SimGrid says.

  tools/simgrid_table.py [--only REGEX] [--most 2] [--stored] [--weft build/tools/weft] [--write]
                         [--readme collectives/CONTENTION.md]

On trees, fat trees, tori and two clusters with a line between them, of links of different speeds and latencies, times
rings, random traffic (from seeds) and schedules of `weft plan` with `weft sim`, and, as the same GOAL files, with
tools/simgrid_times.cpp, which it compiles: that needs Debian's g++ and libsimgrid-dev. Prints a table in Markdown, and
ends with an error where a time differs by more than --most percent. With --write the table replaces what stands between
the markers in CONTENTION.md. With --stored SimGrid's times are those which stand there, and it is not needed.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import measured

PROGRAM = measured.SOURCE / "tools/simgrid_times.cpp"
MACHINE = {"latency": "1000", "gap-per-byte": "0.1"}  # where nothing else is said

# `kind` is what --topology says, or of trees how many nodes are below each node of each level, from the top down.
Network = collections.namedtuple("Network", "name kind machines links")


def tree(name, *below, **links):
    machines = 1
    for count in below:
        machines *= count
    return Network(name, below, machines, links)


def by_level(**links):
    return {name.replace("_", "-"): value for name, value in links.items()}


NETWORKS = [
    tree("4 switches of 8", 4, 8),
    tree("4 switches of 8, slow uplinks", 4, 8, **by_level(link_gap="0.1,0.3", link_latency="100,700")),
    tree("2 x 4 switches of 4, fast uplinks", 2, 4, 4,
         **by_level(link_gap="0.1,0.05,0.0125", link_latency="100,300,2000")),
    Network("fat tree", "fat-tree:2;4,4;1,2;1,2", 16, {}),
    Network("fat tree", "fat-tree:2;8,4;1,4;1,1", 32, by_level(link_gap="0.1,0.2", link_latency="50,400")),
    Network("fat tree", "fat-tree:3;4,2,4;1,2,2;1,1,2", 32, by_level(link_gap="0.1,0.1,0.15")),
    Network("torus", "torus:8", 8, {"ports": "many"}),
    Network("torus", "torus:4x4x4", 64, {"ports": "many"}),
    Network("torus", "torus:6x4", 24,
            {"ports": "many", **by_level(link_gap="0.1,0.25", link_latency="200,500")}),
    Network("torus", "torus:3x5x2", 30, {"ports": "many", **by_level(link_gap="0.2,0.1,0.3")}),
    tree("2 clusters of 8", 2, 8,
         **by_level(overhead="300", gap="400", link_gap="0.1,0.02", link_latency="0,5000", link_overhead="0,900",
                    link_message_gap="0,2500", flow_gap="0,0.16")),
]


class Goal:
    """The steps of ranks as text."""
    def __init__(self, ranks):
        self.steps = [[] for _ in range(ranks)]

    def add(self, rank, text, *after):
        number = len(self.steps[rank])
        self.steps[rank].append(f"l{number}: {text}" + "".join(f"\nl{number} requires l{one}" for one in after))
        return number

    def text(self):
        ranks = [f"rank {rank} {{\n" + "\n".join(steps) + "\n}\n" for rank, steps in enumerate(self.steps)]
        return f"num_ranks {len(self.steps)}\n" + "".join(ranks)


def shuffled(count, seed):
    """The numbers below `count`; not by random.shuffle, which need not stay as it is."""
    draw, numbers = random.Random(seed), list(range(count))
    for i in range(count - 1, 0, -1):
        j = int(draw.random() * (i + 1))
        numbers[i], numbers[j] = numbers[j], numbers[i]
    return numbers


def ring(order, size, rounds):
    """Every rank sends to the next in turn what it has received."""
    goal, last = Goal(len(order)), {}
    for _ in range(rounds):
        received = {}
        for place, rank in enumerate(order):
            goal.add(rank, f"send {size}b to {order[(place + 1) % len(order)]}", *last.get(rank, ()))
        for place, rank in enumerate(order):
            received[rank] = (goal.add(rank, f"recv {size}b from {order[place - 1]}", *last.get(rank, ())),)
        last = received
    return goal.text()


def random_traffic(ranks, seed, each=4):
    """Every rank sends so many messages of up to 256 KiB to any others."""
    goal, draw = Goal(ranks), random.Random(seed)
    for rank in range(ranks):
        for _ in range(each):
            peer = (rank + 1 + int(draw.random() * (ranks - 1))) % ranks
            size = 1 + int(draw.random() * (1 << 18))
            goal.add(rank, f"send {size}b to {peer} tag {rank}")
            goal.add(peer, f"recv {size}b from {rank} tag {rank}")
    return goal.text()


def planned(options, network, *words):
    command = [options.weft, "plan", *words, "--ranks", network.machines, "--format", "goal", "--compute", 0]
    return output_of(command)


def traffics(options, network):
    """By name."""
    ranks = network.machines
    yield "ring, in order", ring(range(ranks), 64 << 10, 3)
    for seed in (1, 2):
        yield f"ring, places by seed {seed}", ring(shuffled(ranks, seed), 64 << 10, 3)
    for seed in (1, 2, 3):
        yield f"random, seed {seed}", random_traffic(ranks, seed)
    yield "alltoall pairwise, 16 KiB each", planned(options, network, "alltoall", "--algorithm", "pairwise", "--bytes",
                                                    (16 << 10) * ranks)
    yield "allreduce butterfly, 1 MiB", planned(options, network, "allreduce", "--algorithm", "butterfly", "--bytes", "1M")
    if network.name.startswith("2 clusters"):
        half = ["--group-size", ranks // 2]
        for kind, name, more in [("allreduce", "two-tier", []), ("allreduce", "modified-rabenseifner", ["--connections", 4]),
                                 ("bcast", "far-first", []), ("bcast", "modified-van-de-geijn", ["--connections", 4])]:
            yield f"{kind} {name}, 1 MiB", planned(options, network, kind, "--algorithm", name, "--bytes", "1M", *half, *more)


def output_of(command):
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if process.returncode != 0:
        measured.end(command, process.stderr)
    return process.stdout


def parents_of(below):
    """Of each node of a tree, the machines first."""
    counts = [1]
    for count in below:
        counts.append(counts[-1] * count)
    starts, parents = [0], []
    for count in reversed(counts):
        starts.append(starts[-1] + count)
    for level, count in enumerate(reversed(counts[1:])):
        parents += [starts[level + 1] + node // below[-1 - level] for node in range(count)]
    return parents + [-1]


def topology_file(parents, machines, folder):
    """The tree as Slurm would describe it."""
    below = collections.defaultdict(list)
    for node, parent in enumerate(parents[:-1]):
        below[parent].append(node)
    path = folder / "topology.conf"
    path.write_text("".join(
        f"SwitchName=s{node} {'Nodes' if nodes[0] < machines else 'Switches'}=" +
        ",".join(f"{'m' if one < machines else 's'}{one}" for one in nodes) + "\n" for node, nodes in below.items()))
    return path


def is_tree(network):
    return not isinstance(network.kind, str)


def described(network):
    """For the table."""
    kind = "" if is_tree(network) else f" `{network.kind}`"
    more = "".join(f", {name} {value}" for name, value in network.links.items())
    return f"{network.name}{kind}{more}"


def weft_times(options, network, files, folder):
    where = topology_file(parents_of(network.kind), network.machines, folder) if is_tree(network) else network.kind
    settings = [word for name, value in {**MACHINE, **network.links}.items() for word in (f"--{name}", value)]
    return [json.loads(output_of([options.weft, "sim", "--goal", file, "--topology", where, *settings, "--json"]))["completion"]
            for file in files]


def simgrid_times(program, network, files):
    where = "tree:" + ",".join(map(str, parents_of(network.kind))) if is_tree(network) else network.kind
    settings = [f"{name}={value}" for name, value in {**MACHINE, **network.links}.items()]
    return list(map(float, output_of([program, where, *settings, *files]).split()))


def compiled(folder):
    """The program, or an end that says what is missing."""
    if shutil.which("g++") is None or not any(pathlib.Path(root, "simgrid/s4u.hpp").exists()
                                              for root in ("/usr/include", "/usr/local/include")):
        sys.exit("SimGrid is not installed: apt-get install g++ libsimgrid-dev; or compare with --stored times")
    program = folder / "simgrid_times"
    output_of(["g++", "-O1", "-std=c++17", PROGRAM, "-o", program, "-lsimgrid"])
    return program


def stored_times(options):
    """SimGrid's of the table, by network and traffic, in ns."""
    found = {}
    for line in options.readme.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and re.fullmatch(r"[\d.]+", cells[3]):
            found[cells[1], cells[2]] = float(cells[3]) * 1000
    return found


def rows(options, folder):
    """Network, traffic, SimGrid's time and ours, in ns."""
    stored = stored_times(options) if options.stored else None
    program = None if options.stored else compiled(folder)
    for network in NETWORKS:
        if not re.search(options.only, described(network)):
            continue
        names, files = [], []
        for name, text in traffics(options, network):
            names.append(name)
            files.append(folder / f"{len(files)}.goal")
            files[-1].write_text(text)
        ours = weft_times(options, network, files, folder)
        if stored is None:
            theirs = simgrid_times(program, network, files)
        else:
            missing = [name for name in names if (described(network), name) not in stored]
            if missing:
                sys.exit(f"{options.readme}: no time of SimGrid for {described(network)}, {missing[0]}")
            theirs = [stored[described(network), name] for name in names]
        yield from zip([described(network)] * len(names), names, theirs, ours)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="networks whose description matches")
    parser.add_argument("--most", type=measured.positive, default=2.0, help="percent")
    parser.add_argument("--stored", action="store_true")
    measured.add_output_options(parser, "collectives/CONTENTION.md")
    options = parser.parse_args()
    if options.write and options.stored:
        parser.error("--stored times cannot be written: they are there")
    return options


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        found = list(rows(options, pathlib.Path(folder)))
    if not found:
        sys.exit(f"no network's description matches {options.only}")
    apart = [100 * (ours / theirs - 1) for _, _, theirs, ours in found]
    cells = [[network, traffic, f"{theirs / 1000:.3f}", f"{ours / 1000:.3f}", f"{round(percent, 2) + 0.0:+.2f} %"]
             for (network, traffic, theirs, ours), percent in zip(found, apart)]
    text = measured.table(["network", "traffic", "SimGrid, µs", "weft, µs", "apart"],
                          ["---", "---", "---:", "---:", "---:"], cells)
    most = round(max(apart, key=abs), 2) + 0.0
    text += f"\n\nOf {len(found)} times the farthest apart are by {most:+.2f} % (`{measured.this_command()}`)."
    print(text)
    if abs(most) > options.most:
        sys.exit(f"weft differs from SimGrid by up to {abs(most):.2f} %, more than {options.most:g} %")
    measured.write_if_wanted(options, "simgrid", text)


if __name__ == "__main__":
    main()
