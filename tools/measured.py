# SPDX-License-Identifier: Apache-2.0
"""What the scripts have in common that measure and write down what they found: how `weft bench` is asked and by which
road its calls went, sizes, intervals, tables, where it was measured."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import random
import shlex
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
RESAMPLES = 2000
ELEMENT = 4  # bytes: collectives are measured with floats
MPIS = ["openmpi", "mpich"]
MPI_MESSAGES = SOURCE / "tools/mpi_messages.cpp"
BY_BLOCK = {"reduce-scatter", "allgather", "gather", "scatter", "alltoall"}  # whose sizes `weft bench` takes by block


def size(text):
    """A type of arguments: bytes, as `weft bench` takes them."""
    units = {"k": 10, "K": 10, "M": 20, "G": 30}
    try:
        value = int(text[:-1]) << units[text[-1]] if text[-1:] in units else int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number of bytes such as 8, 64k or 16M')
    return value


def at_least(least):
    """A type of arguments: the whole numbers from `least` on."""
    def number(text):
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is less than {least}")
        return value
    return number


def positive(text):
    """A type of arguments: the numbers above 0."""
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return value


def some_of(known):
    """A type of arguments: a list of these, by comma."""
    def parse(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f'"{name}" is none of {", ".join(known)}')
        return names
    return parse


def jobs(text):
    """A type of arguments: the ranks, each a process, and the road of each job."""
    found = []
    for job in text.split(","):
        ranks, _, road = job.partition(":")
        if not ranks.isdigit() or int(ranks) < 2 or not road:
            raise argparse.ArgumentTypeError(f'"{job}" is no RANKS:ROAD with at least 2 ranks, such as 2:node or 2:shm')
        found.append((int(ranks), road))
    return found


def named(count):
    """That many bytes in words: "8 B", "64 KiB"."""
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if count >= 1 << shift and count % (1 << shift) == 0:
            return f"{count >> shift} {unit}"
    return f"{count} B"


def add_output_options(parser, readme):
    """--weft, which command measures, and --write and --readme, which write_if_wanted goes by."""
    parser.add_argument("--weft", type=pathlib.Path, default=SOURCE / "build/tools/weft")
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    parser.add_argument("--readme", type=pathlib.Path, default=SOURCE / readme)


def add_peer_options(parser, readme):
    """The same, and --peers, where the program is that measures the others."""
    parser.add_argument("--peers", type=pathlib.Path, default=SOURCE.parent / "shared/peers")
    add_output_options(parser, readme)


def need_programs(options):
    """Ends the script unless what measures weft and what measures the others can be executed."""
    for needed in (options.weft, options.peers / "measure"):
        if not os.access(needed, os.X_OK):
            sys.exit(f"{needed} is not there or cannot be executed (see --help)")


def this_command():
    """The script's own, as a reader would repeat it."""
    return shlex.join([f"tools/{pathlib.Path(sys.argv[0]).name}", *(each for each in sys.argv[1:] if each != "--write")])


def end(command, why):
    """Ends the script because of that command."""
    sys.exit(f"{shlex.join(map(str, command))}: {why}")


def shown(steps, what=""):
    """The steps, one after another. Where standard error is a terminal: with how many are done and the time left there."""
    steps = list(steps)
    draws, start = sys.stderr.isatty(), time.monotonic()
    for done, each in enumerate(steps):
        if draws:
            bar = "#" * (30 * done // len(steps))
            left = round((time.monotonic() - start) * (len(steps) - done) / done) if done else None
            of_rest = "" if left is None else f" {left // 60}:{left % 60:02} left"
            print(f"\r{what}{' ' if what else ''}{done} of {len(steps)} [{bar:30}]{of_rest}\033[K", end="", file=sys.stderr,
                  flush=True)
        yield each
    if draws:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def lines_of(command):
    """The JSON objects that a command prints, each on a line of its own, and its process, which has ended. Ends the script
    where results were wrong."""
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    if any(line.get("wrong") for line in lines):
        end(command, "wrong results")
    return lines, process


def flags_of(road):
    """The options of `weft bench` by which it takes that road: the "memory" of a process, where its ranks are all in
    one, that of the "node", or a provider of libfabric, to which processes of one node have to be told to keep.
    """
    if road == "memory":
        return []
    return ["--weft-node=on"] if road == "node" else ["--provider", road, *unsafe(road), "--weft-node=off"]


def unsafe(provider):
    """The option without which weft refuses it."""
    return ["--weft-unsafe-provider=on"] if provider == "shm" else []


def bench(weft, *arguments, road, has_to_say=True, launcher=()):
    """What `weft bench` with these arguments prints of calls that took that road. Ends the script where it fails, and
    where they took another one, so that nothing is called by the wrong name; where an older one does not say, too,
    unless it need not. `launcher`: the command that starts it on other hosts."""
    flags = [] if launcher else flags_of(road)
    command = [*launcher, weft, "bench", *arguments, *flags, "--json"]
    lines, process = lines_of(command)
    if process.returncode != 0 or not lines:
        end(command, f"status {process.returncode}, {len(lines)} results\n{process.stderr}")
    taken = {line.get("road", "one that it does not name" if has_to_say else road) for line in lines}
    if taken != {road}:
        end(command, f"the road was to be {road}, and was {', '.join(sorted(taken))}")
    return lines


def bench_vectors(weft, collective, ranks, first, last, factor, budget, *flags, road, has_to_say=True, launcher=()):
    """The same of a collective, by the size of a rank's whole vector, of which a block is one share: without the sizes
    of which it would be no whole elements, since `weft bench` takes more of them then."""
    parts = ranks if collective in BY_BLOCK else 1
    number = [] if launcher else ["-n", ranks]
    lines = bench(weft, collective, *number, "-b", max(1, first // parts), "-e", max(1, last // parts), "-f", factor,
                  "--budget", budget, *flags, road=road, has_to_say=has_to_say, launcher=launcher)
    return {line["bytes"] * parts: line for line in lines if line["bytes"] % ELEMENT == 0}


def results_of_peer(command, peer):
    """By size, what `command` reports for `peer`: median_us, p99_us and more. It may fail for another peer."""
    lines, process = lines_of(command)
    found = {line["bytes"]: line for line in lines if line["peer"] == peer}
    if not found:
        end(command, f"status {process.returncode}, no results of {peer}\n{process.stderr}")
    return found


def compile_with_mpis(source, folder):
    """By MPI, openmpi and mpich: that source as its program, in the folder."""
    programs = {mpi: pathlib.Path(folder) / f"{source.stem}-{mpi}" for mpi in MPIS}
    for mpi, program in programs.items():
        subprocess.run([f"mpicxx.{mpi}", "-std=c++17", "-O2", source, "-o", program], check=True)
    return programs


def medians(results):
    """Of each size the median time in microseconds."""
    return {count: result["median_us"] for count, result in results.items()}


def interval(count, statistic):
    """The 95% of what `statistic` gives for samples drawn again from so many, whose numbers it is given."""
    draw = random.Random(4884)
    found = sorted(statistic(draw.choices(range(count), k=count)) for _ in range(RESAMPLES))
    return found[RESAMPLES // 40], found[-RESAMPLES // 40]


def first_line(*command):
    """Of what a command prints, or that this is not known."""
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[0]
    except (OSError, IndexError):
        return f"{command[0]}: unknown version"


def table(heads, alignments, rows):
    """In Markdown; the alignments are its own: "---", or "---:" for the right."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, alignments, *rows])


def processor():
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def info_of(weft):
    """`weft info --json`."""
    # It fails where no provider works, and says the rest all the same.
    return json.loads(subprocess.run([weft, "info", "--json"], stdout=subprocess.PIPE, text=True).stdout)


def default_provider(weft):
    """libfabric's that it takes where none is named."""
    return info_of(weft)["provider"]["chosen"]


def commit_of(weft):
    """That of the source tree which that command was built in."""
    return first_line("git", "-C", str(pathlib.Path(weft).resolve().parent), "rev-parse", "--short", "HEAD")


def measured_with(weft):
    """The day, the machine and the build of that command in words, without the full stop; and what it says of itself."""
    info = info_of(weft)
    build = info["build"]
    commit = commit_of(weft)
    return (f"{datetime.date.today()}: {processor()}, {len(info['machine']['cores'])} cores, Linux "
            f"{platform.release()}; weft {info['version']} ({commit}, {build['compiler']}, {build['type']}, "
            f"{build['instruction_set']})"), info


def compared_with(weft):
    """The same in words, with the versions of libfabric and of Open MPI."""
    where, info = measured_with(weft)
    return f"{where}, libfabric {info['provider']['libfabric']}; {first_line('mpirun.openmpi', '--version')}"


def comparison(options):
    """How, where and when weft was compared with Open MPI and MPICH, in words: for a caption."""
    mpich = first_line("mpichversion").split(":")[-1].strip()
    return (f"{options.alternations} alternating runs (`{this_command()}`), {compared_with(options.weft)}; "
            f"MPICH {mpich}.")


def write_if_wanted(options, name, text):
    """With --write, `text` replaces what stands in --readme between <!-- name:begin --> and <!-- name:end -->."""
    if not options.write:
        return
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    old = options.readme.read_text()
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        sys.exit(f"{options.readme}: needs one {begin} and one {end} after it")
    options.readme.write_text(f"{old.split(begin)[0]}{begin}\n{text}\n{end}{old.split(end)[1]}")
