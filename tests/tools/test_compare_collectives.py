#!/usr/bin/env python3
"""tools/compare_collectives.py against programs that only pretend to measure. Arguments: the script."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# weft takes as many microseconds as there are bytes in the vector, Open MPI twice as many, MPICH half of them.
PRETENDER = """#!/usr/bin/env python3
import json, pathlib, sys, time
here = pathlib.Path(__file__)
if sys.argv[1:2] == ["info"]:
    print(json.dumps({"version": "9.8", "build": {"compiler": "GCC", "type": "release", "instruction_set": "none"},
                      "provider": {"libfabric": "1.0"}, "machine": {"cores": [{}]}}))
    sys.exit()
with open(here.parent / "calls", "a") as calls:
    print(here.name, *sys.argv[1:], file=calls)
flag = dict(zip(sys.argv[1:], sys.argv[2:]))
if here.name == "weft":
    blocks = sys.argv[2] in ("allgather", "alltoall", "reduce-scatter")
    for count in (int(flag["-b"]), int(flag["-e"])):
        vector = count * (int(flag["-n"]) if blocks else 1)
        print(json.dumps({"peer": "weft-" + flag["--provider"], "bytes": count, "median_us": vector, "wrong": 0}))
    sys.exit()
for peer, times in (("openmpi", 2), ("mpich", 0.5)):
    if peer == "mpich" and flag["-c"] == "bcast":
        continue
    for count in (int(flag["-f"]), int(flag["-t"])):
        print(json.dumps({"peer": peer + "-" + flag["-p"], "bytes": count, "median_us": count * times}), flush=True)
        if (here.parent / "slow").exists() and peer == "mpich":
            time.sleep(60)
sys.exit(1)
"""


class CompareCollectives(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("weft", "measure"):
            (self.folder / name).write_text(PRETENDER)
            (self.folder / name).chmod(0o755)

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, "--weft", self.folder / "weft", "--peers", self.folder, "--alternations", "2",
                   "--readme", self.folder / "page.md", "--from", "64", "--to", "4k"]
        return subprocess.run([*command, *arguments], capture_output=True, text=True)

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def test_sizes_that_a_peer_does_not_come_to_in_time_stay_empty(self):
        (self.folder / "slow").touch()
        result = self.run_script("--collectives", "allreduce", "--ranks", "2", "--paths", "shm", "--limit", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [line for line in result.stdout.splitlines() if "KiB" in line or "64 B" in line]
        self.assertIn("0.50 / 2.00", rows[0])
        self.assertIn("0.50 / –", rows[1])

    def test_rows_are_sizes_and_columns_collectives(self):
        result = self.run_script("--collectives", "allreduce,alltoall,bcast", "--ranks", "4", "--paths", "tcp")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "### 4 ranks, tcp")
        self.assertEqual(lines[2], "| vector | allreduce | alltoall | bcast |")
        self.assertEqual(lines[4], "| 64 B | 64.0 µs, 0.50 / 2.00 | 64.0 µs, 0.50 / 2.00 | 64.0 µs, 0.50 / – |")
        self.assertEqual(lines[5], "| 4 KiB | 4096.0 µs, 0.50 / 2.00 | 4096.0 µs, 0.50 / 2.00 | 4096.0 µs, 0.50 / – |")

    def test_blocks_are_a_rank_s_share_of_the_vector(self):
        self.run_script("--collectives", "reduce_scatter", "--ranks", "4", "--paths", "shm")
        ours, theirs = self.calls()[:2]
        self.assertIn("bench reduce-scatter -n 4 -b 16 -e 1024", ours)
        self.assertIn("--weft-node=on", ours)
        self.assertIn("-n 4 -c reduce_scatter -f 64 -t 4096", theirs)

    def test_every_collective_on_every_path_in_turn(self):
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("### "), 4)
        self.assertEqual([line.split()[0] for line in self.calls()], ["weft", "measure"] * 2 * 2 * 2 * 7)

    def test_writes_between_the_markers(self):
        page = self.folder / "page.md"
        page.write_text("before\n<!-- collectives:begin -->\nold\n<!-- collectives:end -->\nafter\n")
        result = self.run_script("--collectives", "reduce", "--ranks", "2", "--paths", "shm", "--write")
        self.assertEqual(page.read_text(),
                         f"before\n<!-- collectives:begin -->\n{result.stdout}<!-- collectives:end -->\nafter\n")

    def test_unknown_words_are_refused(self):
        self.assertIn("is none of allreduce, reduce", self.run_script("--collectives", "sing").stderr)
        self.assertIn("is none of shm, tcp", self.run_script("--paths", "pigeon").stderr)


if __name__ == "__main__":
    unittest.main()
