#!/usr/bin/env python3
"""tools/compare.py against programs that only pretend to measure. Arguments: the script."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Each run of theirs is slower by one: what counts is the median of the runs' ratios.
PRETENDER = """#!/usr/bin/env python3
import json, pathlib, sys
here = pathlib.Path(__file__)
if sys.argv[1:2] == ["info"]:
    print(json.dumps({"version": "9.8", "build": {"compiler": "GCC", "type": "release", "instruction_set": "none"},
                      "provider": {"libfabric": "1.0"}, "machine": {"cores": [{}, {}, {}]}}))
    sys.exit()
with open(here.parent / "calls", "a") as calls:
    print(here.name, *sys.argv[1:], file=calls)
count = sum(line.startswith(here.name) for line in open(here.parent / "calls"))
flag = dict(zip(sys.argv[1:], sys.argv[2:]))
peers = ["weft-" + flag["--provider"]] if here.name == "weft" else ["openmpi-" + flag["-p"], "mpich-" + flag["-p"]]
print("not a result")
for size in (8, 1024, 1048576):
    for peer in peers:
        time = 3 * size if here.name == "weft" else 2 * size * (count if peer.startswith("openmpi") else 77)
        print(json.dumps({"peer": peer, "bytes": size, "median_us": time, "wrong": WRONG}))
sys.exit(STATUS)
"""


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.readme = self.folder / "README.md"
        self.pretend("weft")
        self.pretend("measure", status=1)  # as when MPICH fails and Open MPI does not

    def pretend(self, name, wrong=0, status=0):
        program = self.folder / name
        program.write_text(PRETENDER.replace("WRONG", str(wrong)).replace("STATUS", str(status)))
        program.chmod(0o755)

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, "--weft", self.folder / "weft", "--peers", self.folder, "--readme", self.readme]
        return subprocess.run([*command, *arguments], capture_output=True, text=True)

    def test_alternates_and_takes_the_median_ratio(self):
        result = self.run_script("--alternations", "3", "--providers", "net")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = result.stdout.splitlines()
        self.assertEqual(rows[0], "| message | weft, net | Open MPI, tcp | ratio |")
        self.assertEqual(rows[2], "| 8 B | 24.0 µs | 32.0 µs | 0.75 |")
        self.assertEqual(rows[3], "| 1 KiB | 3072.0 µs | 4096.0 µs | 0.75 |")
        self.assertTrue(rows[4].startswith("| 1 MiB |"))
        self.assertIn("weft 9.8", rows[6])
        self.assertIn("3 cores", rows[6])
        calls = [line.split()[0] for line in (self.folder / "calls").read_text().splitlines()]
        self.assertEqual(calls, ["weft", "measure"] * 3)

    def test_both_are_asked_for_the_same(self):
        self.run_script("--alternations", "1", "--from", "64", "--to", "2M", "--factor", "4", "--budget", "9")
        ours, theirs = (line for line in (self.folder / "calls").read_text().splitlines() if " shm" in line)
        self.assertIn("weft bench allreduce -n 2 -b 64 -e 2097152 -f 4 --budget 9 --provider shm --weft-node=off --json", ours)
        self.assertIn("measure -n 2 -c allreduce -f 64 -t 2097152 -x 4 -b 9 -p shm", theirs)

    def test_writes_between_the_markers(self):
        self.readme.write_text("before\n<!-- compare:begin -->\nold\n<!-- compare:end -->\nafter\n")
        result = self.run_script("--alternations", "1", "--write")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = self.readme.read_text()
        self.assertEqual(text, f"before\n<!-- compare:begin -->\n{result.stdout}<!-- compare:end -->\nafter\n")

    def test_leaves_a_file_without_markers_alone(self):
        self.readme.write_text("nothing\n")
        result = self.run_script("--alternations", "1", "--write")
        self.assertEqual(result.returncode, 1)
        self.assertIn("compare:begin", result.stderr)
        self.assertEqual(self.readme.read_text(), "nothing\n")

    def test_wrong_results_and_failures_are_errors(self):
        self.pretend("weft", wrong=1)
        self.assertIn("wrong results", self.run_script().stderr)
        self.pretend("weft", status=3)
        self.assertIn("status 3", self.run_script().stderr)
        self.assertIn("is not there", self.run_script("--peers", "/nowhere").stderr)
        self.assertIn("valid: shm, net", self.run_script("--providers", "carrier-pigeon").stderr)


if __name__ == "__main__":
    unittest.main()
