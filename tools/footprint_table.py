#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a process costs before it computes: its size, memory, descriptors, threads, and the way to its first all-reduce,
beside Open MPI, MPICH and a program of plain libfabric.

  tools/footprint_table.py [--alternations 11] [--processes 1,2,8,32] [--fibers 10000]
                           [--peers off,start,openmpi,mpich,libfabric] [--weft build/tools/weft] [--write]
                           [--readme tools/FOOTPRINT.md]

Builds the programs of tools/footprint into a temporary folder, for weft with what is installed beside --weft, or with
what `meson install` takes from the build directory that it lies in, which has to be a complete one. They start in turn
as so many processes of this machine, bound to nothing, add one double up and write down what they are then: 1 without a
launcher, more by `weft run`, mpirun and Hydra. Peers are weft that measures nothing when it starts (`off`) and as it
comes (`start`), the two MPIs and libfabric, whose program opens an endpoint by weft's provider instead; those that are
not installed are left out, which is said. A row for each figure: the median of the alternations, of the process of the
job that has the most. Times are from the first execution of a process of the job to the last return from the
all-reduce, with the least in brackets; processes are executed by tools/footprint/executed.c, which notes when. Those
from the command begin before the launcher does; processor time is that of one process, without the time in which others
run. System calls are those of all threads from that execution on, by one run under strace.

The fibers' row is of one process with a tenth of --fibers ranks and with all of them: what each rank of the difference
adds to the anonymous memory, without the pages of its stack. With --write the table replaces what stands between the
markers of `footprint` in the page.
"""

import argparse
import collections
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import measured
from measured import at_least

HEADS = {"off": "weft, `--weft-tune=off`", "start": "weft", "openmpi": "Open MPI", "mpich": "MPICH",
         "libfabric": "libfabric"}
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"],
             "mpich": ["mpiexec.hydra", "-bind-to", "none"]}
SOURCES = measured.SOURCE / "tools/footprint"
LIMIT = 300  # s, that a job may take
STACK = 256 << 10  # bytes, of a fiber
TRACED = 2  # jobs of up to so many processes are run under strace, too: more take long
MARK = "/first all-reduce done"  # what the programs ask for where system calls are counted no further

# Of a process: bytes, counts, and ns of the monotonic clock. stacks: the touched part of those of fibers.
Process = collections.namedtuple(
    "Process",
    ["executed", "done", "processor", "descriptors", "threads", "rss", "anonymous", "shared", "mapped", "stacks"])
Peer = collections.namedtuple("Peer", ["program", "arguments", "launcher"])


def counts(text):
    """A type of arguments: numbers from 1 on, by comma."""
    return [at_least(1)(each) for each in text.split(",")]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alternations", type=at_least(1), default=11)
    parser.add_argument("--processes", type=counts, default=[1, 2, 8, 32])
    parser.add_argument("--fibers", type=at_least(10), default=10_000)
    parser.add_argument("--peers", type=measured.some_of(HEADS), default=list(HEADS))
    measured.add_output_options(parser, "tools/FOOTPRINT.md")
    return parser.parse_args()


def run(command):
    """Ends the script where the command fails."""
    try:
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        measured.end(command, f"not done after {LIMIT} s")
    if result.returncode != 0:
        measured.end(command, f"status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def flags_for(weft, folder):
    """What compiles a program for that weft, which is installed, or lies in its build directory: then it is installed
    in the folder first."""
    prefix = weft.resolve().parent.parent
    if (prefix / "meson-private").exists():
        run(["meson", "install", "-C", prefix, "--no-rebuild", "--tags", "runtime,devel", "--destdir", folder / "root"])
        prefix = next((folder / "root").rglob("bin/weft")).parent.parent
    found = next(prefix.rglob("pkgconfig/weft.pc"))
    libraries = found.parent.parent
    static = [] if (libraries / "libweft.so").exists() else ["--static"]
    flags = run(["pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", *static, found]).split()
    return [*flags, f"-Wl,-rpath,{libraries}"]


def compiled(options, folder):
    """By name, the peers that are installed, as programs in the folder; and what starts each of their processes."""
    def compile_(compiler, source, program, *more):
        run([*compiler, "-O2", "-s", SOURCES / source, "-o", folder / program, *more])
        return folder / program

    peers = {}
    if {"off", "start"} & {*options.peers}:
        program = compile_(["g++", "-std=c++20"], "weft.cpp", "weft", *flags_for(options.weft, folder))
        launcher = [options.weft, "run", "--oversubscribe", "--bind-to", "none"]
        peers |= {tune: Peer(program, [f"--weft-tune={tune}"], launcher) for tune in ("off", "start")}
    for mpi, launcher in LAUNCHERS.items():
        if mpi in options.peers and shutil.which(f"mpicc.{mpi}") and shutil.which(launcher[0]):
            peers[mpi] = Peer(compile_([f"mpicc.{mpi}"], "mpi.c", mpi), [], launcher)
    if "libfabric" in options.peers and subprocess.run(["pkg-config", "--exists", "libfabric"]).returncode == 0:
        program = compile_(["gcc"], "libfabric.c", "libfabric", "-lfabric")
        peers["libfabric"] = Peer(program, [measured.default_provider(options.weft)], None)
    return {name: peers[name] for name in options.peers if name in peers}, compile_(["gcc"], "executed.c", "executed")


def process_of(text):
    """What a process wrote down of itself."""
    said, sums, files, stacks = {}, collections.Counter(), set(), 0
    permissions = before = kind = ""
    for line in text.splitlines():
        first, *rest = line.split()
        if not first.endswith(":") and "-" in first:  # another mapping
            before, permissions, kind = permissions, rest[0], rest[4] if len(rest) > 4 else ""
            if kind.startswith("/"):
                files.add(kind)
            begin, end = (int(each, 16) for each in first.split("-"))
            of_fiber = before == "---p" and permissions == "rw-p" and not kind and end - begin == STACK
        elif first.endswith(":") and rest[-1:] == ["kB"]:
            sums[first[:-1]] += int(rest[0]) << 10
            stacks += int(rest[0]) << 10 if first == "Anonymous:" and of_fiber else 0
            if first == "Pss:" and permissions[3] == "s":
                sums["shared"] += int(rest[0]) << 10
        elif not first.endswith(":"):
            said[first] = int(rest[0])
    mapped = sum(os.stat(each).st_size for each in files if os.path.isfile(each) and not each.startswith("/dev/"))
    return Process(**said, rss=sums["Rss"], anonymous=sums["Anonymous"], shared=sums["shared"], mapped=mapped,
                   stacks=stacks)


def start(peer, processes, executed, folder, *more, before=()):
    """Starts them, and has what they wrote down, and when the command was given."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    launcher = [*peer.launcher, "-n", processes] if processes > 1 else []
    command = [*launcher, *before, executed, peer.program, folder, *peer.arguments, *more]
    given = time.monotonic_ns()
    run(command)
    found = [process_of(each.read_text()) for each in folder.iterdir()]
    if len(found) != processes:
        measured.end(command, f"{len(found)} of {processes} processes wrote down what they are")
    return found, given


def figures(found, given):
    """Of one job, by name."""
    done = max(each.done for each in found)
    most = {name: max(getattr(each, name) for each in found) for name in Process._fields}
    return most | {"from exec": done - min(each.executed for each in found), "from command": done - given}


def system_calls(peer, processes, executed, folder):
    """From its execution to its first all-reduce, those of the process that makes the most."""
    traces = folder.with_name("traces")
    shutil.rmtree(traces, ignore_errors=True)
    traces.mkdir()
    shell = ["sh", "-c", f'exec strace -f -o "{traces}/$$" "$@"', "traced"]
    start(peer, processes, executed, folder, before=shell)
    return max(calls_in(each.read_text(), str(peer.program)) for each in traces.iterdir())


def calls_in(trace, program):
    """What strace saw from the execution of the program to the mark."""
    others = ["resumed>", " +++ ", " --- "]  # ends of calls, of threads, and signals
    lines = [line for line in trace.splitlines() if not any(each in line for each in others)]
    first = next(number for number, line in enumerate(lines) if f'execve("{program}"' in line)
    last = next(number for number, line in enumerate(lines) if MARK in line)
    return last - first


def of_fibers(peer, options, executed, folder):
    """Bytes that a rank adds to the anonymous memory of its process, those of its stack's pages, and the process's."""
    def of(ranks):
        flags = [f"--weft-ranks-per-process={ranks}", f"--weft-fiber-stack={STACK}"]
        return start(peer, 1, executed, folder, *flags)[0][0]

    tenth = options.fibers // 10
    few, all_ = of(tenth), of(options.fibers)
    stack, whole = ((getattr(all_, name) - getattr(few, name)) / (options.fibers - tenth)
                    for name in ("stacks", "anonymous"))
    return whole - stack, stack, all_.anonymous


def measure(options, peers, executed, folder):
    """The figures of all jobs by peer and number of processes, and the system calls likewise."""
    jobs = [(name, count) for count in options.processes for name in peers if count == 1 or peers[name].launcher]
    found = {job: [] for job in jobs}
    for name, count in measured.shown(jobs * options.alternations):
        found[name, count].append(figures(*start(peers[name], count, executed, folder)))
    traced = [job for job in jobs if job[1] <= TRACED and shutil.which("strace")]
    return found, {(name, count): system_calls(peers[name], count, executed, folder) for name, count in traced}


def megabytes(values):
    return f"{statistics.median(values) / 1e6:.2f} MB"


def milliseconds(values):
    return f"{statistics.median(values) / 1e6:.1f} ({min(values) / 1e6:.1f}) ms"


def number(values):
    return f"{statistics.median(values):.0f}"


ROWS = [("all files that it maps", "mapped", megabytes, lambda count: count == 1),
        ("RSS", "rss", megabytes, lambda count: True),
        ("anonymous memory", "anonymous", megabytes, lambda count: True),
        ("its share of shared memory", "shared", megabytes, lambda count: count > 1),
        ("descriptors", "descriptors", number, lambda count: True),
        ("threads", "threads", number, lambda count: True),
        ("first all-reduce from exec", "from exec", milliseconds, lambda count: True),
        ("processor time until then", "processor", milliseconds, lambda count: True),
        ("first all-reduce from the command", "from command", milliseconds, lambda count: count > 1)]


def many(count):
    return "alone" if count == 1 else f"{count} on a node"


def rows(options, peers, found, calls, fibers):
    yield ["the program, stripped", *(f"{peer.program.stat().st_size / 1e3:.0f} kB" for peer in peers.values())]
    for title, figure, shown, wanted in ROWS:
        for count in filter(wanted, options.processes):
            jobs = [found.get((name, count)) for name in peers]
            yield [f"{title}, {many(count)}", *(shown([each[figure] for each in job]) if job else "" for job in jobs)]
    for count in sorted({count for _, count in calls}):
        yield [f"system calls, {many(count)}", *(str(calls.get((name, count), "")) for name in peers)]
    if fibers:
        for place, title in enumerate(("a fiber rank beside its stack", "its stack, touched")):
            yield [title, *(f"{fibers[name][place] / 1024:.2f} KiB" if name in fibers else "" for name in peers)]
        yield [f"anonymous memory, {options.fibers:,} fibers",
               *(megabytes([fibers[name][2]]) if name in fibers else "" for name in peers)]


def left_out(options, peers):
    absent = [HEADS[name] for name in options.peers if name not in peers]
    absent += [] if shutil.which("strace") else ["strace"]
    return f" Not installed and left out: {', '.join(absent)}." if absent else ""


def main():
    options = parse_arguments()
    if not os.access(options.weft, os.X_OK):
        sys.exit(f"{options.weft} is not there or cannot be executed (see --help)")
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peers, executed = compiled(options, folder)
        found, calls = measure(options, peers, executed, folder / "out")
        fibers = {each: of_fibers(peers[each], options, executed, folder / "out")
                  for each in ("off", "start") if each in peers}
        lines = list(rows(options, peers, found, calls, fibers))
    heads = ["", *(HEADS[name] for name in peers)]
    text = (f"{measured.table(heads, ['---', *['---:'] * len(peers)], lines)}\n\nMedians of "
            f"{measured.comparison(options)}{left_out(options, peers)}")
    print(text)
    measured.write_if_wanted(options, "footprint", text)


if __name__ == "__main__":
    main()
