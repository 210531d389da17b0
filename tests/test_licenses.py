#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file of the repository says under which license it is: itself, or where it can hold no comment a REUSE.toml.

    test_licenses.py SOURCE
"""

import pathlib
import subprocess
import sys

LINE = "SPDX-License-Identifier: Apache-2.0"
# tests/fuzz/REUSE.toml and tools/debian/REUSE.toml speak for these.
WITHOUT = ("LICENSE", "tests/fuzz/corpus/", "tools/debian/changelog", "tools/debian/copyright", "tools/debian/source/")

source = pathlib.Path(sys.argv[1])
listed = subprocess.run(["git", "-C", source, "ls-files", "-z"], capture_output=True, text=True)
if listed.returncode != 0:
    print(f"not a checkout: {listed.stderr.strip()}")
    sys.exit(77)
names = [name for name in listed.stdout.split("\0") if name and not name.startswith(WITHOUT)]
assert names, "the repository has no files"
missing = [name for name in names if LINE not in (source / name).read_text().split("\n\n")[0]]
if missing:
    print(f"without a line '{LINE}' at the top: {', '.join(missing)}")
sys.exit(bool(missing))
