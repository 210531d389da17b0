#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/message_table.py against programs that only pretend to measure. Arguments: the script."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# A message, or a window of 64, takes as many nanoseconds as it has bytes by weft's memory of the node, and so many times
# as long by the others. What an MPI's compiler makes says which one it is of.
PRETENDER = """#!/usr/bin/env python3
import json, pathlib, sys
here = pathlib.Path(__file__)
arguments = sys.argv[1:]
with (here.parent / "calls").open("a") as calls:
    calls.write(" ".join([here.name, *arguments]) + "\\n")
if arguments[:1] == ["info"]:
    print(json.dumps({"version": "9.8", "build": {"compiler": "GCC", "type": "release", "instruction_set": "none"},
                      "provider": {"libfabric": "1.0"}, "machine": {"cores": [{}]}}))
elif here.name.startswith("mpicxx"):
    pathlib.Path(arguments[-1]).write_text(here.name.split(".")[1])
elif here.name == "weft" or "-n" in arguments:
    if here.name == "weft":
        flag = dict(zip(arguments, arguments[1:]))
        first, last, factor = (int(flag[each]) for each in ("-b", "-e", "-f"))
        road, times = ("shm", 3) if "--weft-node=off" in arguments else ("node", 1)
        peer = "weft"
    else:
        program = next(each for each in arguments if each.startswith("/"))
        road = None
        peer, kind, first, last, factor, *_ = arguments[arguments.index(program) + 1:]
        assert pathlib.Path(program).read_text() == peer
        first, last, factor = int(first), int(last), int(factor)
        times = {"openmpi": 2, "mpich": 4}[peer]
    wrong = int((here.parent / "wrong").exists())
    while first <= last:
        print(json.dumps({"peer": peer, "road": road, "bytes": first, "median_us": first * times / 1000, "wrong": wrong,
                          "bytes_per_s": 64e9 / times, "messages_per_s": 64e9 / first / times}))
        first *= factor
"""
NAMES = ["weft", "mpicxx.openmpi", "mpicxx.mpich", "mpirun.openmpi", "mpiexec.mpich", "mpichversion"]


class MessageTable(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in NAMES:
            (self.folder / name).write_text(PRETENDER)
            (self.folder / name).chmod(0o755)

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, "--weft", self.folder / "weft", "--alternations", "2", "--from", "512", "--to",
                   "32k", "--factor", "8", "--readme", self.folder / "page.md", *arguments]
        variables = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        return subprocess.run(command, capture_output=True, text=True, env=variables)

    def test_rows_have_times_and_from_a_page_on_bandwidths(self):
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "| message | weft, node | weft, libfabric's shm | Open MPI | MPICH | times as fast as "
                                   "the better MPI |")
        self.assertEqual(lines[2], "| 512 B | 0.51 µs | 1.54 µs | 1.02 µs | 2.05 µs | 2.00 [2.00, 2.00] |")
        self.assertEqual(lines[3], "| 4 KiB | 4.10 µs, 1.00 GB/s | 12.29 µs, 0.33 GB/s | 8.19 µs, 0.50 GB/s | 16.38 µs, "
                                   "0.25 GB/s | 2.00 [2.00, 2.00] |")
        self.assertTrue(lines[4].startswith("| 32 KiB | 32.77 µs, 1.00 GB/s |"))
        self.assertEqual(lines[5], "")

    def test_all_four_measure_in_turn(self):
        self.run_script("--budget", "9")
        calls = [line for line in (self.folder / "calls").read_text().splitlines() if " -n 2 " in line]
        self.assertEqual([line.split()[0] for line in calls], ["weft", "weft", "mpirun.openmpi", "mpiexec.mpich"] * 2)
        sizes = "weft bench latency -n 2 -b 512 -e 32768 -f 8 --budget 9"
        self.assertEqual(calls[:2], [f"{sizes} --weft-node=on --json",
                                     f"{sizes} --provider shm --weft-unsafe-provider=on --weft-node=off --json"])
        self.assertTrue(calls[2].endswith("openmpi latency 512 32768 8 9 64 1 0"))

    def test_windows_have_bandwidths_or_rates(self):
        for kind, cells in (("bandwidth", "64000.0 MB/s | 21333.3 MB/s | 32000.0 MB/s | 16000.0 MB/s"),
                            ("bidirectional", "64000.0 MB/s | 21333.3 MB/s | 32000.0 MB/s | 16000.0 MB/s"),
                            ("message-rate", "125000.0 k/s | 41666.7 k/s | 62500.0 k/s | 31250.0 k/s"),
                            ("put", "125000.0 k/s | 41666.7 k/s | 62500.0 k/s | 31250.0 k/s")):
            with self.subTest(kind=kind):
                lines = self.run_script("--kind", kind).stdout.splitlines()
                self.assertEqual(lines[2], f"| 512 B | {cells} | 2.00 [2.00, 2.00] |")

    def test_the_numbers_of_windows_reach_all_programs(self):
        text = self.run_script("--kind", "message-rate", "--window", "7", "--pairs", "3", "--unmatched", "5").stdout
        self.assertIn("Messages a second in windows of 7, 6 processes, each on a core of its own, 5 receives unmatched", text)
        calls = [line for line in (self.folder / "calls").read_text().splitlines() if " -n 6 " in line]
        self.assertEqual(len(calls), 8)
        self.assertIn("bench message-rate -n 6 -b 512 -e 32768 -f 8 --budget 50 --window 7 --pairs 3 --unmatched 5", calls[0])
        for call in calls[2:4]:
            self.assertTrue(call.endswith(" message-rate 512 32768 8 50 7 3 5"), call)

    def test_what_a_kind_does_not_have_is_refused(self):
        self.assertIn("one pair", self.run_script("--pairs", "2").stderr)
        self.assertIn("for message-rate alone", self.run_script("--kind", "bandwidth", "--unmatched", "2").stderr)
        self.assertIn("less than 1", self.run_script("--kind", "bandwidth", "--window", "0").stderr)

    def test_writes_between_the_markers_of_its_kind(self):
        page = self.folder / "page.md"
        for kind, marker in (("latency", "messages"), ("bidirectional", "bidirectional")):
            with self.subTest(kind=kind):
                page.write_text(f"before\n<!-- {marker}:begin -->\nold\n<!-- {marker}:end -->\nafter\n")
                result = self.run_script("--kind", kind, "--write")
                self.assertEqual(page.read_text(),
                                 f"before\n<!-- {marker}:begin -->\n{result.stdout}<!-- {marker}:end -->\nafter\n")

    def test_wrong_results_and_missing_programs_end_it(self):
        self.assertIn("cannot be executed", self.run_script("--weft", "no-weft").stderr)
        (self.folder / "wrong").touch()
        self.assertIn("wrong results", self.run_script().stderr)


if __name__ == "__main__":
    unittest.main()
