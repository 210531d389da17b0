#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares messages and collectives between pretended hosts of this machine with Open MPI's and MPICH's, in one run.

  tools/hosts_table.py [--hosts 2] [--ranks 1] [--rate 1gbit] [--line "delay_ms=10 rate_mbit=400"]
                       [--what latency,bandwidth,...] [--alternations 5] [--from 8] [--to 16M] [--factor 4]
                       [--budget 30] [--window 64] [--limit 60] [--weft build/tools/weft] [--peers ../shared/peers]
                       [--write] [--readme collectives/HOSTS.md]

Makes network namespaces behind a switch, as root: --hosts of them, whose links carry --rate each way, or what the
machine can. With --line there are two such clusters with a long line between, and half of the hosts is in each. On them
run, in turn, `weft run weft bench WHAT` with --ranks processes a host, and by Open MPI and by MPICH over TCP a program
of the same method (mpi_messages.cpp and PEERS/mpi_peer.cpp, compiled here). Messages also go by weft's provider without
weft: mpi_messages.cpp over plain_libfabric/mpi.h.

Prints a table in Markdown: a row for each size, a column for each of --what: the median of weft's median times, and how
many times as fast as the better MPI of its alternation that was, the median with its 95% bootstrap interval; bold where
the whole interval is below 0.95; of messages also how many times as fast as the provider alone. The last row has the
geometric means. With --write the table replaces what stands between its markers in the page. It needs Debian's
openmpi-bin libopenmpi-dev mpich libmpich-dev iproute2.
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
from node_comparison import Times, means, shown, speed_ups, times_of

sys.path.insert(1, str(measured.SOURCE / "tests/jobs"))
import hosts as pretended

MESSAGES = ["latency", "bandwidth", "bidirectional", "message-rate"]
ONE_SIDED = ["put", "get"]
COLLECTIVES = ["allreduce", "bcast", "reduce", "reduce-scatter", "allgather", "alltoall", "barrier"]
SLOWER = 0.95
PLAIN = "plain"  # the provider's messages without weft


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=at_least(2), default=2)
    parser.add_argument("--ranks", type=at_least(1), default=1, help="processes of each host")
    parser.add_argument("--rate", default="", help="of each host's link, as tc takes it")
    parser.add_argument("--line", default="", help="between two clusters, as CLUSTER/wan-link.cpp takes it")
    parser.add_argument("--what", type=measured.some_of([*MESSAGES, *ONE_SIDED, *COLLECTIVES]))
    parser.add_argument("--alternations", type=at_least(1), default=5)
    parser.add_argument("--from", dest="first", type=size, default=8)
    parser.add_argument("--to", dest="last", type=size, default=16 << 20)
    parser.add_argument("--factor", type=at_least(2), default=4)
    parser.add_argument("--budget", type=at_least(1), default=30, help="ms for the samples of a size")
    parser.add_argument("--window", type=at_least(1), default=64)
    parser.add_argument("--limit", type=at_least(1), default=60, help="s for all sizes of one column and program")
    measured.add_peer_options(parser, "collectives/HOSTS.md")
    options = parser.parse_args()
    pair = options.hosts == 2 and options.ranks == 1
    options.what = options.what or [*(MESSAGES if pair else []), *COLLECTIVES]
    if not pair and set(options.what) & {*MESSAGES, *ONE_SIDED}:
        parser.error("messages are between two hosts with one process each")
    if options.line and options.hosts % 2:
        parser.error("two clusters need an even number of hosts")
    return options


def hosts(options):
    if not options.line:
        return [f"wfn{number}" for number in range(options.hosts)]
    return [f"{cluster}n{number}" for cluster in ("wf", "wg") for number in range(options.hosts // 2)]


@contextlib.contextmanager
def two_clusters(options):
    """They are up within."""
    # The script takes them down when its command ends, which is when its input does.
    command = ["bash", pretended.SCRIPTS / "two-clusters.sh", str(options.hosts // 2), options.line,
               "echo up; cat > /dev/null"]
    environment = os.environ | ({"HOST_RATE": options.rate} if options.rate else {})
    with pretended.locked(), subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                              env=environment) as process:
        if process.stdout.readline() != "up\n":
            measured.end(command, "there are no hosts")
        yield
        process.communicate()


def cluster(options):
    """A context within which the hosts are up."""
    return two_clusters(options) if options.line else contextlib.closing(pretended.Hosts(options.hosts, options.rate))


def compile_peers(options, folder):
    """By what it measures, the program of each MPI, and of PLAIN."""
    messages = measured.compile_with_mpis(measured.MPI_MESSAGES, folder)
    messages[PLAIN] = pathlib.Path(folder) / PLAIN
    subprocess.run(["g++", "-std=c++17", "-O2", "-I", measured.SOURCE / "tools/plain_libfabric", measured.MPI_MESSAGES,
                    "-o", messages[PLAIN], "-lfabric"], check=True)
    return {"messages": messages, "collectives": measured.compile_with_mpis(options.peers / "mpi_peer.cpp", folder)}


def spread(options):
    """The hosts and how many processes are on each."""
    return ",".join(f"{host}:{options.ranks}" for host in hosts(options))


def address(host):
    """Of its interface on the network."""
    shown = subprocess.run(["ip", "-n", host, "-4", "-j", "addr", "show", "eth0"], stdout=subprocess.PIPE, check=True)
    return json.loads(shown.stdout)[0]["addr_info"][0]["local"]


def starter(options, mpi):
    """The words that start a program of that MPI on the hosts, from the first of them."""
    count = options.hosts * options.ranks
    if mpi == PLAIN:
        both = ",".join(map(address, hosts(options)))
        return [*starter(options, "openmpi"), "-x", f"PLAIN_PROVIDER={measured.default_provider(options.weft)}", "-x",
                f"PLAIN_ADDRESSES={both}"]
    # A process is bound to no core: the hosts share them, and each mpirun would take the same.
    if mpi == "openmpi":
        return ["mpirun.openmpi", "--host", spread(options), "-n", count, "--bind-to", "none", "--oversubscribe", "--mca",
                "plm_rsh_agent", pretended.RSH, "--mca", "pml", "ob1", "--mca", "osc", "pt2pt", "--mca", "btl",
                "tcp,self,vader", "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0"]
    return ["mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", pretended.RSH, "-iface", "eth0", "-hosts",
            spread(options), "-n", count, "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0"]


def times_of_peer(options, mpi, what, programs):
    """By size; fewer sizes where it takes longer than the limit."""
    if what in MESSAGES or what in ONE_SIDED:
        words = [programs["messages"][mpi], mpi, what, options.first, options.last, options.factor, options.budget,
                 options.window, 1, 0]
    else:
        words = [programs["collectives"][mpi], mpi, what.replace("-", "_"), options.first, options.last, options.budget,
                 options.factor]
    job = map(str, ["timeout", options.limit, *starter(options, mpi), *words])
    found = measured.results_of_peer(pretended.on(hosts(options)[0], *job), mpi)
    return {0 if what == "barrier" else count: times_of(result) for count, result in found.items()}


def times_of_weft(options, what):
    launcher = pretended.on(hosts(options)[0], options.weft, "run", "--bind-to", "none", "--hosts", spread(options),
                            "--rsh", pretended.RSH)
    road = measured.default_provider(options.weft)
    sizes = (options.first, options.last, options.factor)
    if what in COLLECTIVES:
        found = measured.bench_vectors(options.weft, what, options.hosts * options.ranks, *sizes, options.budget,
                                       road=road, launcher=launcher)
    else:
        windows = ["--window", options.window] if what != "latency" else []
        first, last, factor = sizes
        lines = measured.bench(options.weft, what, "-b", first, "-e", last, "-f", factor, "--budget", options.budget,
                               *windows, road=road, launcher=launcher)
        found = {line["bytes"]: line for line in lines}
    return {count: times_of(result) for count, result in found.items()}


def alternate(options, programs):
    """By column and size: pairs of weft's times and the better MPI's, one for each alternation; and of messages pairs of
    weft's times and PLAIN's."""
    pairs, with_plain = {}, {}
    for _ in measured.shown(range(options.alternations)):
        for what in options.what:
            mine = times_of_weft(options, what)
            theirs = [times_of_peer(options, mpi, what, programs) for mpi in measured.MPIS]
            for count, times in mine.items():
                others = [found[count] for found in theirs if count in found]
                if others:
                    pairs.setdefault((what, count), []).append((times, Times(*map(min, zip(*others)))))
            if what in MESSAGES:
                for count, times in times_of_peer(options, PLAIN, what, programs).items():
                    with_plain.setdefault((what, count), []).append((mine[count], times))
    return pairs, with_plain


def interval_of(factors):
    return measured.interval(len(factors), lambda drawn: statistics.median(factors[i] for i in drawn))


def cell(pairs, with_plain):
    if not pairs:
        return ""
    factors = speed_ups(pairs)
    time = statistics.median(mine.median for mine, _ in pairs)
    plain = f"; {statistics.median(speed_ups(with_plain)):.2f}" if with_plain else ""
    return f"{time:.4g} µs, {f'**{shown(factors)}**' if interval_of(factors)[1] < SLOWER else shown(factors)}{plain}"


def title(options):
    """How the markers of this arrangement are called."""
    line = ["two-clusters"] if options.line else []
    return "-".join([f"{options.hosts}x{options.ranks}", options.rate or "as-it-comes", *line])


def in_words(options):
    line = f" in two clusters, {options.line} between" if options.line else ""
    links = f"links of {options.rate}" if options.rate else "links as the machine makes them"
    ranks = f"{options.ranks} process{'es' if options.ranks > 1 else ''} each"
    return (f"{options.hosts} hosts{line}, {ranks}, {links}. Weft's time, and how many times as fast "
            "as the better MPI that is; behind the semicolon as the provider alone")


def main():
    options = parse_arguments()
    measured.need_programs(options)
    if why := pretended.missing():
        sys.exit(why)
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    with tempfile.TemporaryDirectory() as folder, cluster(options):
        pairs, with_plain = alternate(options, compile_peers(options, folder))
    counts = sorted({count for _, count in pairs})
    rows = [[named(count) if count else "–",
             *(cell(pairs.get((what, count)), with_plain.get((what, count))) for what in options.what)]
            for count in counts]
    rows.append(["geometric mean", *(shown(means(pairs, what, counts, speed_ups)) for what in options.what)])
    heads = ["bytes", *options.what]
    text = (f"{measured.table(heads, ['---:'] * len(heads), rows)}\n\n{in_words(options)}: medians of "
            f"{measured.comparison(options)}")
    print(text)
    measured.write_if_wanted(options, title(options), text)


if __name__ == "__main__":
    main()
