#!/usr/bin/env python3
"""Makes a table in Markdown of what `weft bench kernels` measures on this machine.

  tools/kernel_table.py [--weft build/tools/weft] [--write] [--readme kernels/README.md]

With --write the table replaces what stands between the markers in the README.
"""

import argparse
import datetime
import json
import pathlib
import platform
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- kernels:begin -->", "<!-- kernels:end -->"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", type=pathlib.Path, default=SOURCE / "build/tools/weft")
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    parser.add_argument("--readme", type=pathlib.Path, default=SOURCE / "kernels/README.md")
    return parser.parse_args()


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def table(weft):
    rows = [["what", "where", "GB/s", "of a loop", "of a copy", "of float"], ["---", "---"] + ["---:"] * 4]
    for line in map(json.loads, output(weft, "bench", "kernels", "--json").splitlines()):
        ratios = [f"{line[name]:.2f}" if line[name] else "" for name in ("of_loop", "of_copy", "of_float")]
        rows.append([line["what"], line["where"], f"{line['gb_per_s']:.0f}", *ratios])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def caption(weft):
    info = json.loads(output(weft, "info", "--json"))
    build = info["build"]
    commit = output("git", "-C", str(SOURCE), "rev-parse", "--short", "HEAD").strip()
    return (f"{datetime.date.today()}: {processor()}, {len(info['machine']['cores'])} cores, Linux "
            f"{platform.release()}; weft {info['version']} ({commit}, {build['compiler']}, {build['type']}, "
            f"{build['instruction_set']}).")


def write(readme, text):
    old = readme.read_text()
    if old.count(BEGIN) != 1 or old.count(END) != 1 or old.index(BEGIN) > old.index(END):
        sys.exit(f"{readme}: needs one {BEGIN} and one {END} after it")
    readme.write_text(f"{old.split(BEGIN)[0]}{BEGIN}\n{text}\n{END}{old.split(END)[1]}")


def main():
    options = parse_arguments()
    text = f"{table(options.weft)}\n\n{caption(options.weft)}"
    print(text)
    if options.write:
        write(options.readme, text)


if __name__ == "__main__":
    main()
