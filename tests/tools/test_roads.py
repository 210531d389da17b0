#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That what the scripts measure took the road by which they call it: they ask the weft of this build, with next to no
time for samples. Arguments: the folder of the scripts. WEFT_TEST_COMMAND is the weft.

The MPIs only pretend to measure. A weft that goes astray keeps its processes from the road that they are asked to take:
the scripts have to refuse what it prints, and each does so only if it asks for that road and looks which was taken."""

import json
import os
import pathlib
import random
import subprocess
import sys
import unittest

from measuring_script import MeasuringScript

SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve()
WEFT = os.environ["WEFT_TEST_COMMAND"]

ASTRAY = """#!/usr/bin/env python3
import os, sys
swapped = {"--weft-node=off": "--weft-node=on", "--weft-node=on": "--weft-node=off", "--ranks-per-process": None}
words = list(sys.argv[1:])
for i in reversed(range(len(words))):
    if words[i] in swapped:
        words[i:i + (1 if swapped[words[i]] else 2)] = [swapped[words[i]]] if swapped[words[i]] else []
os.execv(os.environ["WEFT_TEST_COMMAND"], ["weft", *words])
"""

# The compilers and starters of both MPIs.
MPI = """#!/usr/bin/env python3
import json, pathlib, sys
if pathlib.Path(sys.argv[0]).name.startswith("mpicxx"):
    pathlib.Path(sys.argv[-1]).touch()
elif sys.argv[-2].endswith("mpi_consistency"):
    print(json.dumps([1.0, 3.0] * 100))
elif len(sys.argv) > 9:
    peer, _, first, last, factor, *_ = sys.argv[-9:]
    while int(first) <= int(last):
        print(json.dumps({"peer": peer, "bytes": int(first), "median_us": 1, "messages_per_s": 1, "wrong": 0}))
        first = int(first) * int(factor)
"""
MPI_PROGRAMS = ["mpicxx.openmpi", "mpicxx.mpich", "mpirun.openmpi", "mpiexec.mpich", "mpichversion"]


def some_of(*roads):
    """One of these, in each run another, or all where the test is to be thorough."""
    return roads if "WEFT_TEST_THOROUGH" in os.environ else random.sample(roads, 1)


class Roads(MeasuringScript):
    times = "def times(*asked): return 1"

    def setUp(self):
        super().setUp()
        for name in MPI_PROGRAMS:
            (self.folder / name).write_text(MPI)
            (self.folder / name).chmod(0o755)
        info = subprocess.run([WEFT, "info", "--json"], stdout=subprocess.PIPE, text=True).stdout
        self.provider = json.loads(info)["provider"]["chosen"]

    def call(self, script, weft, arguments):
        words = [sys.executable, SCRIPTS / script, "--weft", weft, "--readme", self.page, *arguments]
        found = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        return subprocess.run(words, capture_output=True, text=True, env=found, timeout=300)

    def assert_takes(self, script, road, arguments, shown, peers=False):
        """By that road, and says so with these words; and refuses what took another."""
        arguments = [*arguments, *(["--peers", self.folder] if peers else [])]
        done = self.call(script, WEFT, arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(shown, done.stdout)
        astray = self.folder / "weft"
        astray.write_text(ASTRAY)
        refused = self.call(script, astray, arguments)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn(f"the road was to be {road}, and was ", refused.stderr)

    def of_sizes(self, *sizes):
        """Once, and these sizes alone, or just the first one."""
        return ["--alternations", "1", "--from", str(sizes[0]), "--to", str(sizes[-1]), "--budget", "1"]

    def test_compare(self):
        for way in some_of("node", self.provider):
            with self.subTest(way=way):
                self.assert_takes("compare.py", way, [*self.of_sizes(8), "--ways", way], f"weft, {way}", peers=True)

    def test_compare_collectives(self):
        for path, road in some_of(("shm", "node"), ("tcp", self.provider)):
            with self.subTest(path=path):
                arguments = [*self.of_sizes(64), "--ranks", "2", "--collectives", "allgather", "--paths", path]
                self.assert_takes("compare_collectives.py", road, arguments, f"### 2 ranks, {path}", peers=True)

    def test_node_table(self):
        for column, road in some_of(("processes", "node"), ("workers", "memory")):
            with self.subTest(column=column):
                arguments = ["--alternations", "2", "--to", "8", "--budget", "1", "--columns", column]
                self.assert_takes("node_table.py", road, arguments, "| 8 B |", peers=True)

    def test_node_collectives(self):
        arguments = ["--alternations", "2", "--to", "8", "--budget", "1", "--collectives", "bcast", "--ranks", "2"]
        self.assert_takes("node_collectives.py", "node", arguments, "| bcast, 2 |", peers=True)

    def test_message_table(self):
        for kind in some_of("latency", "message-rate"):
            with self.subTest(kind=kind):
                self.assert_takes("message_table.py", "node", [*self.of_sizes(8), "--kind", kind], "weft, libfabric's shm")

    def test_prepost_table(self):
        arguments = [*self.of_sizes("16k", "32k"), "--provider", self.provider]
        self.assert_takes("prepost_table.py", self.provider, arguments, f"2 ranks over {self.provider}")

    def test_arrival_table(self):
        arguments = ["--alternations", "1", "--budget", "1", "--sizes", "8", "--late", "10", "--jobs", f"2:{self.provider}"]
        self.assert_takes("arrival_table.py", self.provider, arguments, f"| 2 ranks, {self.provider} | 8 B | 0.01 ms |")

    def test_choice_table(self):
        arguments = [*self.of_sizes(64), "--collectives", "bcast", "--jobs", f"2:{self.provider}"]
        self.assert_takes("choice_table.py", self.provider, arguments, f"| 2 ranks, {self.provider} |")

    def test_prediction_table(self):
        arguments = ["--alternations", "2", "--sizes", "64", "--budget", "1", "--collectives", "bcast", "--jobs", "2:node",
                     "--within", "1e9", "--best", "1e9"]
        self.assert_takes("prediction_table.py", "node", arguments, "| 2 ranks, node | bcast | 64 B |")

    def test_self_consistency(self):
        arguments = [*self.of_sizes(64), "--tolerance", "1e9", "--jobs", f"2:{self.provider}"]
        self.assert_takes("self_consistency.py", self.provider, arguments, f"| 2 ranks, {self.provider} |")

    def test_progress_tables(self):
        arguments = [*self.of_sizes("64k"), "--idle-seconds", "0.01", "--providers", self.provider]
        self.assert_takes("progress_tables.py", self.provider, arguments, f"| {self.provider} | thread | 64 KiB |")

    def test_consistency_table(self):
        arguments = ["--alternations", "1", "--seconds", "0.001", "--noise="]
        self.assert_takes("consistency_table.py", self.provider, arguments, f"weft's over {self.provider}")


if __name__ == "__main__":
    unittest.main()
