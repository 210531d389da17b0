#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/compare_builds.py against builds that only pretend to measure, and once with the weft of this build as both.
Arguments: the script. WEFT_TEST_COMMAND is that weft."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
PRETENDER = pathlib.Path(__file__).with_name("pretender.py")


class CompareBuilds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, name, takes):
        """One whose calls of `vector` bytes take so many microseconds, and more as `takes` says."""
        tools = self.folder / name / "tools"
        tools.mkdir(parents=True)
        shutil.copy(PRETENDER, tools / "weft")
        (tools / "weft").chmod(0o755)
        (tools / "times.py").write_text(f"def times(peer, collective, ranks, vector, earlier): return {takes}")

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, self.folder / "old", self.folder / "new", "--from", "8", "--to", "64"]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=180)

    def judged(self, new, old="vector", alternations=3):
        """What it says of one collective in one column."""
        self.build("old", old)
        self.build("new", new)
        return self.run_script("--alternations", str(alternations), "--collectives", "bcast", "--columns", "processes")

    def test_a_size_that_is_slower_by_more_than_a_tenth_is_found(self):
        result = self.judged("vector * (1.125 if vector == 64 else 0.75)")
        self.assertEqual(result.returncode, 1, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "### bcast")
        self.assertEqual(lines[2:7], ["| vector | 2 processes |", "| ---: | ---: |", "| 8 B | 0.75 [0.75, 0.75] |",
                                      "| 64 B | **1.12 [1.12, 1.12]** |", "| geometric mean | 0.92 [0.92, 0.92] |"])
        self.assertEqual(lines[-2:], ["Slower:", "bcast, 2 processes, 64 B: 1.12 [1.12, 1.12]"])

    def test_a_mean_that_is_slower_by_more_than_3_percent_is_found(self):
        result = self.judged("vector * 1.0625")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("Slower:\nbcast, 2 processes, geometric mean: 1.06 [1.06, 1.06]\n", result.stdout)

    def test_less_than_that_is_not_slower(self):
        result = self.judged("vector * (1.0625 if vector == 64 else 0.96875)")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.endswith("\nNothing is slower.\n"))

    def test_what_the_interval_does_not_lie_beyond_is_not_slower(self):
        # The ratio of the medians is 1.5, but of samples drawn again some are of fast runs alone.
        result = self.judged("vector * [1, 1.5, 1.5, 1, 1.5][earlier]", alternations=5)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("| 8 B | 1.50 [1.00, 1.50] |", result.stdout)

    def test_the_builds_take_turns_in_every_arrangement(self):
        self.build("old", "{'median_us': 1, 'road': None}")  # an old one does not say it
        self.build("new", "1")
        result = self.run_script("--alternations", "2", "--collectives", "allgather,barrier", "--providers", "net",
                                 "--columns", "four,fibers,workers,arena,planned")
        self.assertEqual(result.returncode, 0, result.stderr)
        old, new = ((self.folder / each / "tools/calls").read_text().splitlines() for each in ("old", "new"))
        self.assertEqual(old, new)
        usual = "-f 8 --budget 5"
        self.assertEqual(old[:len(old) // 2], [
            f"weft bench allgather -n 4 -b 2 -e 16 {usual} --weft-node=on --json",
            f"weft bench allgather -n 8 -b 1 -e 8 {usual} --ranks-per-process 8 --workers 2 --json",
            f"weft bench allgather -n 2 -b 4 -e 32 {usual} --ranks-per-process 2 --workers 2 --json",
            f"weft bench allgather -n 2 -b 4 -e 32 {usual} --buffers arena --weft-node=on --json",
            f"weft bench allgather -n 2 -b 4 -e 32 {usual} --persistent --weft-node=on --json",
            f"weft bench allgather -n 2 -b 4 -e 32 {usual} --provider net --weft-node=off --json",
            f"weft bench barrier -n 4 -b 8 -e 64 {usual} --weft-node=on --json",
            f"weft bench barrier -n 8 -b 8 -e 64 {usual} --ranks-per-process 8 --workers 2 --json",
            f"weft bench barrier -n 2 -b 8 -e 64 {usual} --ranks-per-process 2 --workers 2 --json",
            f"weft bench barrier -n 2 -b 8 -e 64 {usual} --persistent --weft-node=on --json",
            f"weft bench barrier -n 2 -b 8 -e 64 {usual} --provider net --weft-node=off --json"])
        self.assertIn("| 64 B | 1.00 [1.00, 1.00] |", result.stdout)
        self.assertIn("| 8 B |  |  | 1.00", result.stdout)  # no whole floats for each of 4 or 8

    def test_the_new_form_is_that_of_the_new_build_alone(self):
        for form, flag in (("planned", "--persistent"), ("started", "--started"), ("checked", "--weft-check=on")):
            for each in ("old", "new"):
                shutil.rmtree(self.folder / each, ignore_errors=True)
                self.build(each, "1")
            result = self.run_script("--alternations", "1", "--collectives", "scan", "--columns", "processes",
                                     "--new-form", form)
            self.assertEqual(result.returncode, 0, result.stderr)
            old, new = ((self.folder / each / "tools/calls").read_text() for each in ("old", "new"))
            self.assertEqual(old, "weft bench scan -n 2 -b 8 -e 64 -f 8 --budget 5 --weft-node=on --json\n")
            self.assertEqual(new, f"weft bench scan -n 2 -b 8 -e 64 -f 8 --budget 5 {flag} --weft-node=on --json\n")

    def test_another_form_is_not_that_of_planned_calls(self):
        self.build("old", "1")
        self.build("new", "1")
        result = self.run_script("--alternations", "1", "--collectives", "scan", "--new-form", "started")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("--persistent", (self.folder / "new/tools/calls").read_text())
        result = self.run_script("--collectives", "scan", "--new-form", "started", "--columns", "planned")
        self.assertIn("leave one of them out", result.stderr)

    def test_hosts_are_a_column_of_their_own(self):
        self.build("old", "1")
        self.build("new", "1")
        result = self.run_script("--alternations", "1", "--collectives", "scatter", "--hosts", "a:2,b:1", "--rsh", "to")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("| vector | 3 processes on hosts |", result.stdout)
        weft = self.folder / "old/tools/weft"
        self.assertEqual((self.folder / "old/tools/calls").read_text(),
                         f"weft run --hosts a:2,b:1 --rsh to {weft} bench scatter -b 2 -e 21 -f 8 --budget 5 --json\n")

    def test_what_took_another_road_is_refused(self):
        result = self.judged("{'median_us': 1, 'road': 'net'}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the road was to be node, and was net", result.stderr)

    def test_real_builds_are_measured(self):
        for name in ("old", "new"):
            (self.folder / name).mkdir()
            (self.folder / name / "tools").symlink_to(pathlib.Path(os.environ["WEFT_TEST_COMMAND"]).parent)
        result = self.run_script("--alternations", "1", "--collectives", "bcast", "--columns", "processes,fibers",
                                 "--budget", "1")
        self.assertRegex(result.stdout, r"\| 8 B( \| \**[0-9.]+ \[[0-9.]+, [0-9.]+\]\**){2} \|\n", result.stderr)
        self.assertEqual(result.returncode, "\nSlower:\n" in result.stdout)


if __name__ == "__main__":
    unittest.main()
