#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a table in Markdown of what `weft bench kernels` measures on this machine.

  tools/kernel_table.py [--weft build/tools/weft] [--write] [--readme kernels/README.md]

With --write the table replaces what stands between the markers in the README.
"""

import argparse

import measured


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measured.add_output_options(parser, "kernels/README.md")
    return parser.parse_args()


def table(weft):
    rows = []
    lines, process = measured.lines_of([weft, "bench", "kernels", "--json"])
    if process.returncode != 0:
        measured.end(process.args, f"status {process.returncode}\n{process.stderr}")
    for line in lines:
        ratios = [f"{line[name]:.2f}" if name in line else "" for name in ("of_loop", "of_copy", "of_float")]
        rows.append([line["what"], line["where"], f"{line['gb_per_s']:.0f}", *ratios])
    heads = ["what", "where", "GB/s", "of a loop", "of a copy", "of float"]
    return measured.table(heads, ["---", "---"] + ["---:"] * 4, rows)


def main():
    options = parse_arguments()
    text = f"{table(options.weft)}\n\n{measured.measured_with(options.weft)[0]}."
    print(text)
    measured.write_if_wanted(options, "kernels", text)


if __name__ == "__main__":
    main()
