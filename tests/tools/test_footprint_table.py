#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/footprint_table.py with the weft of this build, and what it reads of processes and traces. Arguments: the
script. WEFT_TEST_COMMAND is that weft."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

MAPPINGS = """executed 1000
done 3000
processor 500
descriptors 7
threads 2
5000-6000 r--p 00000000 08:01 42                         /no/such/library.so
Rss:                   8 kB
Pss:                   4 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
100000-101000 ---p 00000000 00:00 0
Rss:                   0 kB
Anonymous:             0 kB
101000-141000 rw-p 00000000 00:00 0
Rss:                  12 kB
Anonymous:            12 kB
141000-181000 rw-p 00000000 00:00 0
Rss:                  20 kB
Anonymous:            20 kB
200000-300000 rw-s 00000000 00:01 5                      /memfd:node (deleted)
Rss:                  40 kB
Pss:                  16 kB
Anonymous:             0 kB
"""

TRACE = """7 execve("/bin/executed", ["executed"], 0x1 /* 9 vars */) = 0
7 execve("/tmp/weft", ["weft"], 0x1 /* 9 vars */) = 0
7 brk(NULL) = 0x1
8 poll([{fd=3, events=POLLIN}], 1, 1000 <unfinished ...>
7 futex(0x1, FUTEX_WAKE_PRIVATE, 1) = 0
8 <... poll resumed>) = 1
7 --- SIGCHLD {si_signo=SIGCHLD} ---
7 access("/first all-reduce done", F_OK) = -1 ENOENT (No such file or directory)
7 exit_group(0) = ?
"""


def the_script():
    sys.path.insert(0, str(SCRIPT.parent))
    specification = importlib.util.spec_from_file_location("footprint_table", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


class FootprintTable(unittest.TestCase):
    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, "--weft", os.environ["WEFT_TEST_COMMAND"], "--alternations", "1",
                               "--processes", "1,2", "--fibers", "100", *arguments], capture_output=True, text=True)

    def test_what_a_process_wrote_down(self):
        found = the_script().process_of(MAPPINGS)
        self.assertEqual((found.executed, found.done, found.processor, found.descriptors, found.threads),
                         (1000, 3000, 500, 7, 2))
        self.assertEqual((found.rss, found.anonymous, found.shared), (80 << 10, 32 << 10, 16 << 10))
        self.assertEqual(found.stacks, 12 << 10)  # what lies above a guard alone

    def test_system_calls_are_those_from_the_program_to_its_mark(self):
        self.assertEqual(the_script().calls_in(TRACE, "/tmp/weft"), 4)

    def test_a_small_table(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text("before\n<!-- footprint:begin -->\n<!-- footprint:end -->\n")
            result = self.run_script("--peers", "off", "--readme", page, "--write")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(result.stdout, page.read_text())
        lines = result.stdout.splitlines()
        self.assertEqual(lines[:2], ["|  | weft, `--weft-tune=off` |", "| --- | ---: |"])
        cells = dict(re.match(r"\| (.*) \| (.*) \|$", line).groups() for line in lines[2:lines.index("")])
        figures = {name: float(cell.split()[0]) for name, cell in cells.items()}
        for count in ("alone", "2 on a node"):
            with self.subTest(count=count):
                self.assertGreater(figures[f"RSS, {count}"], figures[f"anonymous memory, {count}"])
                self.assertGreater(figures[f"anonymous memory, {count}"], 0.1)
                self.assertGreaterEqual(figures[f"descriptors, {count}"], 3)
                self.assertGreaterEqual(figures[f"threads, {count}"], 1)
                self.assertGreater(figures[f"first all-reduce from exec, {count}"], 0)
        self.assertGreater(figures["first all-reduce from the command, 2 on a node"],
                           figures["first all-reduce from exec, 2 on a node"])
        self.assertGreater(figures["a fiber rank beside its stack"], 0)
        self.assertGreaterEqual(figures["its stack, touched"], 4)

    def test_what_cannot_be_measured_is_said(self):
        self.assertIn("cannot be executed", self.run_script("--weft", "no-weft").stderr)
        self.assertIn("is none of", self.run_script("--peers", "nobody").stderr)


if __name__ == "__main__":
    unittest.main()
