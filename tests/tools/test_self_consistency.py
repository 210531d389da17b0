#!/usr/bin/env python3
"""tools/self_consistency.py against a program that only pretends to measure. Arguments: the script."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Every collective takes as many microseconds as there are bytes in the vector, all-reduces thrice as many; or, where the
# file `late` is, those of the shortest vector five hundred.
PRETENDER = """#!/usr/bin/env python3
import json, pathlib, sys
if sys.argv[1:2] == ["info"]:
    print(json.dumps({"version": "9.8", "build": {"compiler": "GCC", "type": "release", "instruction_set": "none"},
                      "provider": {"libfabric": "1.0"}, "machine": {"cores": [{}]}}))
    sys.exit()
flag = dict(zip(sys.argv[1:], sys.argv[2:]))
blocks = sys.argv[2] not in ("allreduce", "reduce", "bcast")
count = int(flag["-b"])
while count <= int(flag["-e"]):
    vector = count * (int(flag["-n"]) if blocks else 1)
    time = 3 * vector if sys.argv[2] == "allreduce" else vector
    if vector == 64 and (pathlib.Path(__file__).parent / "late").exists():
        time = 500
    print(json.dumps({"peer": "weft-" + flag["--provider"], "bytes": count, "median_us": time, "wrong": 0}))
    count *= int(flag["-f"])
"""


class SelfConsistency(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "weft").write_text(PRETENDER)
        (self.folder / "weft").chmod(0o755)

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, "--weft", self.folder / "weft", "--alternations", "2", "--from", "64", "--to",
                   "4k", "--readme", self.folder / "page.md", "--factor", "4", "--jobs", "4:net"]
        return subprocess.run([*command, *arguments], capture_output=True, text=True)

    def test_both_sides_are_times_for_the_same_vector(self):
        result = self.run_script()
        self.assertIn("| 4 ranks, net | allreduce ≤ reduce + bcast | 1.50 | 1.50 | 64 B |", result.stdout)
        self.assertIn("| 4 ranks, net | reduce-scatter ≤ reduce + scatter | 0.50 | 0.50 | 64 B |", result.stdout)
        self.assertIn("| 4 ranks, net | reduce ≤ allreduce | 0.33 | 0.33 | 64 B |", result.stdout)
        self.assertIn("| 4 ranks, net | bcast ≤ bcast of the next size | 0.25 | 0.25 | 64 B |", result.stdout)

    def test_the_status_says_whether_a_guideline_is_broken(self):
        self.assertEqual(self.run_script().returncode, 1)
        self.assertEqual(self.run_script("--tolerance", "1.6").returncode, 0)

    def test_a_longer_vector_that_is_quicker_is_found(self):
        (self.folder / "late").touch()
        result = self.run_script()
        self.assertIn("| 4 ranks, net | scatter ≤ scatter of the next size | 0.50 | 1.95 | 64 B |", result.stdout)

    def test_writes_between_the_markers(self):
        page = self.folder / "page.md"
        page.write_text("before\n<!-- guidelines:begin -->\nold\n<!-- guidelines:end -->\nafter\n")
        result = self.run_script("--write")
        self.assertEqual(page.read_text(),
                         f"before\n<!-- guidelines:begin -->\n{result.stdout}<!-- guidelines:end -->\nafter\n")

    def test_jobs_have_ranks_and_a_provider(self):
        self.assertIn("is no RANKS:PROVIDER", self.run_script("--jobs", "1:shm").stderr)


if __name__ == "__main__":
    unittest.main()
