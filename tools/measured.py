"""What the scripts have in common that measure and write down what they found: sizes, tables, where it was measured."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent


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


def output(*command, environment=None):
    """What a command prints, with these variables beside our own; raises subprocess.CalledProcessError when it fails."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | (environment or {})).stdout


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


def measured_with(weft):
    """The day, the machine and the build of that command in words, without the full stop; and what it says of itself."""
    info = info_of(weft)
    build = info["build"]
    commit = first_line("git", "-C", str(SOURCE), "rev-parse", "--short", "HEAD")
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
