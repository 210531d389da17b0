#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares messages and collectives between pretended hosts of this machine with Open MPI's and MPICH's, in one run.

  tools/hosts_table.py [--hosts 2] [--ranks 1] [--rate 1gbit] [--line "delay_ms=10 rate_mbit=400"]
                       [--what latency,bandwidth,...] [--alternations 5] [--from 8] [--to 16M] [--factor 4]
                       [--budget 30] [--window 64] [--limit 60] [--weft build/tools/weft] [--peers ../shared/peers]
                       [--cluster ../shared/cluster] [--write] [--page collectives/HOSTS.md]

Makes network namespaces behind a switch by CLUSTER/net-up.sh, as root: --hosts of them, whose links carry --rate each
way, or what the machine can. With --line there are two such clusters with a long line between, and half of the hosts is
in each. In them run, in turn, `weft run weft bench WHAT` with --ranks processes a host, and by Open MPI and by MPICH
over TCP a program of the same method (mpi_messages.cpp and PEERS/mpi_peer.cpp, compiled here).

Prints a table in Markdown: a row for each size, a column for each of --what: the median of weft's median times, and how
many times as fast as the better MPI of its alternation that was, the median with its 95% bootstrap interval; bold where
the whole interval is below 0.95. The last row has the geometric means. With --write the table replaces what stands
between its markers in the page. It needs Debian's openmpi-bin libopenmpi-dev mpich libmpich-dev iproute2.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import measured
from measured import at_least, named, size
from node_comparison import shown

MESSAGES = ["latency", "bandwidth", "bidirectional", "message-rate"]
COLLECTIVES = ["allreduce", "bcast", "reduce", "reduce-scatter", "allgather", "alltoall", "barrier"]
MPIS = ["openmpi", "mpich"]
SLOWER = 0.95


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=at_least(2), default=2)
    parser.add_argument("--ranks", type=at_least(1), default=1, help="processes of each host")
    parser.add_argument("--rate", default="", help="of each host's link, as tc takes it")
    parser.add_argument("--line", default="", help="between two clusters, as CLUSTER/wan-link.cpp takes it")
    parser.add_argument("--what", type=measured.some_of([*MESSAGES, *COLLECTIVES]))
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=16 << 20)
    parser.add_argument("--factor", type=at_least(2), default=4)
    parser.add_argument("--budget", type=at_least(1), default=30, help="ms for the samples of a size")
    parser.add_argument("--window", type=at_least(1), default=64)
    parser.add_argument("--limit", type=at_least(1), default=60, help="s for all sizes of one column and program")
    parser.add_argument("--cluster", type=pathlib.Path, default=measured.SOURCE.parent / "shared/cluster")
    parser.add_argument("--page", dest="readme", type=pathlib.Path, default=measured.SOURCE / "collectives/HOSTS.md")
    parser.add_argument("--peers", type=pathlib.Path, default=measured.SOURCE.parent / "shared/peers")
    parser.add_argument("--weft", type=pathlib.Path, default=measured.SOURCE / "build/tools/weft")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    pair = options.hosts == 2 and options.ranks == 1
    options.what = options.what or [*(MESSAGES if pair else []), *COLLECTIVES]
    if not pair and set(options.what) & set(MESSAGES):
        parser.error("messages are between two hosts with one process each")
    if options.line and options.hosts % 2:
        parser.error("two clusters need an even number of hosts")
    return options


def hosts(options):
    if not options.line:
        return [f"wfn{number}" for number in range(options.hosts)]
    return [f"{cluster}n{number}" for cluster in ("wf", "wg") for number in range(options.hosts // 2)]


@contextlib.contextmanager
def cluster(options):
    """The hosts are up within."""
    environment = os.environ | ({"HOST_RATE": options.rate} if options.rate else {})
    scripts = options.cluster
    if options.line:
        # It takes them down when its command ends, which is when its input does.
        command = ["bash", scripts / "two-clusters.sh", str(options.hosts // 2), options.line, "echo up; cat > /dev/null"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            if process.stdout.readline() != "up\n":
                measured.end(command, "there are no hosts")
            yield
        finally:
            process.communicate()
        return
    subprocess.run(["bash", scripts / "net-up.sh", str(options.hosts)], env=environment, check=True)
    try:
        yield
    finally:
        subprocess.run(["bash", scripts / "net-down.sh"], check=True)


def compile_peers(options, folder):
    """By MPI and by what it measures, the program."""
    sources = {"messages": pathlib.Path(__file__).resolve().with_name("mpi_messages.cpp"),
               "collectives": options.peers / "mpi_peer.cpp"}
    programs = {}
    for mpi in MPIS:
        for what, source in sources.items():
            programs[mpi, what] = pathlib.Path(folder) / f"{mpi}-{what}"
            subprocess.run([f"mpicxx.{mpi}", "-std=c++17", "-O2", source, "-o", programs[mpi, what]], check=True)
    return programs


def on_first(options):
    """The words that run a command on the first of the hosts."""
    first = hosts(options)[0]
    return ["ip", "netns", "exec", first, "unshare", "--uts", "sh", "-c", f'hostname {first}; exec "$@"', "sh"]


def starter(options, mpi):
    """The words that start a program of that MPI on the hosts, from the first of them."""
    rsh = str(options.cluster / "nsrsh")
    spread = ",".join(f"{host}:{options.ranks}" for host in hosts(options))
    count = str(len(hosts(options)) * options.ranks)
    # A process is bound to no core: the hosts share them, and each mpirun would take the same.
    if mpi == "openmpi":
        return ["mpirun.openmpi", "--host", spread, "-n", count, "--bind-to", "none", "--oversubscribe", "--mca",
                "plm_rsh_agent", rsh, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self,vader", "--mca",
                "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0"]
    return ["mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", rsh, "-iface", "eth0", "-hosts", spread, "-n", count,
            "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0"]


def times_of_peer(options, mpi, what, programs):
    """By size its median times; fewer sizes where it takes longer than the limit."""
    if what in MESSAGES:
        words = [programs[mpi, "messages"], mpi, what, options.first, options.last, options.factor, options.budget,
                 options.window, 1, 0]
    else:
        words = [programs[mpi, "collectives"], mpi, what.replace("-", "_"), options.first, options.last, options.budget,
                 options.factor]
    command = list(map(str, ["timeout", options.limit, *on_first(options), *starter(options, mpi), *words]))
    process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    if not lines:
        measured.end(command, f"status {process.returncode}, no results of {mpi}\n{process.stderr}")
    return {0 if what == "barrier" else line["bytes"]: line["median_us"] for line in lines}


def times_of_weft(options, what):
    ranks = len(hosts(options)) * options.ranks
    launcher = [*on_first(options), options.weft, "run", "--bind-to", "none", "--hosts", ",".join(f"{host}:{options.ranks}" for host in hosts(options)), "--rsh",
                options.cluster / "nsrsh"]
    road = measured.default_provider(options.weft)
    sizes = (options.first, options.last, options.factor, options.budget)
    if what in COLLECTIVES:
        return measured.medians(measured.bench_vectors(options.weft, what, ranks, *sizes, road=road, launcher=launcher))
    windows = ["--window", options.window] if what != "latency" else []
    lines = measured.bench(options.weft, what, "-b", options.first, "-e", options.last, "-f", options.factor, "--budget",
                           options.budget, *windows, road=road, launcher=launcher)
    return {line["bytes"]: line["median_us"] for line in lines}


def alternate(options, programs):
    """By column and size: pairs of weft's time and the better MPI's, one for each alternation."""
    pairs = {}
    for number in range(options.alternations):
        for what in options.what:
            print(f"{number + 1} of {options.alternations}: {what}", file=sys.stderr)
            mine = times_of_weft(options, what)
            theirs = [times_of_peer(options, mpi, what, programs) for mpi in MPIS]
            for count, time in mine.items():
                better = [times[count] for times in theirs if count in times]
                if better:
                    pairs.setdefault((what, count), []).append((time, min(better)))
    return pairs


def interval_of(factors):
    return measured.interval(len(factors), lambda drawn: statistics.median(factors[i] for i in drawn))


def cell(pairs):
    if not pairs:
        return ""
    factors = [theirs / mine for mine, theirs in pairs]
    text = shown(factors)
    time = statistics.median(mine for mine, _ in pairs)
    return f"{time:.4g} µs, {f'**{text}**' if interval_of(factors)[1] < SLOWER else text}"


def mean_of(what, pairs):
    """That of each alternation's geometric mean over the sizes."""
    columns = [[theirs / mine for mine, theirs in each] for (column, _), each in pairs.items() if column == what]
    return shown([statistics.geometric_mean(run) for run in zip(*columns)])


def title(options):
    """How the markers of this arrangement are called."""
    words = [f"{options.hosts}x{options.ranks}", options.rate or "as-it-comes", *(["two-clusters"] if options.line else [])]
    return "-".join(words)


def in_words(options):
    line = f" in two clusters, {options.line} between" if options.line else ""
    links = f"links of {options.rate}" if options.rate else "links as the machine makes them"
    ranks = f"{options.ranks} process{'es' if options.ranks > 1 else ''} each"
    return (f"{options.hosts} hosts{line}, {ranks}, {links}. Weft's time, and how many times as fast "
            "as the better MPI that is")


def main():
    options = parse_arguments()
    if not os.access(options.weft, os.X_OK):
        sys.exit(f"{options.weft} is not there or cannot be executed (see --help)")
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    with tempfile.TemporaryDirectory() as folder, cluster(options):
        pairs = alternate(options, compile_peers(options, folder))
    counts = sorted({count for _, count in pairs})
    rows = [[named(count) if count else "–", *(cell(pairs.get((what, count))) for what in options.what)]
            for count in counts]
    rows.append(["geometric mean", *(mean_of(what, pairs) for what in options.what)])
    heads = ["bytes", *options.what]
    text = (f"{measured.table(heads, ['---:'] * len(heads), rows)}\n\n{in_words(options)}: medians of "
            f"{measured.comparison(options)}")
    print(text)
    measured.write_if_wanted(options, title(options), text)


if __name__ == "__main__":
    main()
