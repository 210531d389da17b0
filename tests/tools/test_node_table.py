#!/usr/bin/env python3
"""tools/node_table.py against programs that only pretend to measure. Arguments: the script."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# weft takes as many microseconds as there are bytes in the vector, from its second start of a size on half of them; Open
# MPI twice as many, MPICH eight times, and with 8 ranks it comes to none.
PRETENDER = """#!/usr/bin/env python3
import json, pathlib, sys
here = pathlib.Path(__file__)
if sys.argv[1:2] == ["info"]:
    print(json.dumps({"version": "9.8", "build": {"compiler": "GCC", "type": "release", "instruction_set": "none"},
                      "provider": {"libfabric": "1.0"}, "machine": {"cores": [{}]}}))
    sys.exit()
known = (here.parent / "calls").read_text() if (here.parent / "calls").exists() else ""
line = " ".join([here.name, *sys.argv[1:]])
(here.parent / "calls").write_text(known + line + "\\n")
flag = dict(zip(sys.argv[1:], sys.argv[2:]))
def sizes(first, last, factor):
    while first <= last:
        yield first
        first *= factor
if here.name == "weft":
    times = 0.5 if line in known else 1
    parts = int(flag["-n"]) if sys.argv[2] == "allgather" else 1
    for count in sizes(int(flag["-b"]), int(flag["-e"]), int(flag["-f"])):
        print(json.dumps({"peer": "weft-net", "bytes": count, "median_us": count * parts * times, "wrong": 0}))
    sys.exit()
for peer, times in (("openmpi", 2), ("mpich", 8)):
    for count in sizes(int(flag["-f"]), int(flag["-t"]), int(flag["-x"])):
        if peer == "openmpi" or flag["-n"] == "2":
            print(json.dumps({"peer": peer + "-shm", "bytes": count, "median_us": count * times}))
"""


class NodeTable(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("weft", "measure"):
            (self.folder / name).write_text(PRETENDER)
            (self.folder / name).chmod(0o755)

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, "--weft", self.folder / "weft", "--peers", self.folder, "--alternations", "3",
                   "--readme", self.folder / "page.md", "--to", "2k"]
        return subprocess.run([*command, *arguments], capture_output=True, text=True)

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def test_cells_say_how_many_times_as_fast_as_the_better_peer(self):
        result = self.run_script("--columns", "processes,crowd")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "| vector | 2 processes | 8 processes |")
        # The first alternation gives 2, the two others 4.
        self.assertEqual(lines[2], "| 8 B | 4.00 [2.00, 4.00], 4.00 µs | 4.00 [2.00, 4.00], 4.00 µs |")
        self.assertEqual([line.split(" |")[0] for line in lines[2:8]],
                         ["| 8 B", "| 32 B", "| 56 B", "| 128 B", "| 512 B", "| 2 KiB"])
        self.assertIn("| 8 to 56 B | 4.00 [2.00, 4.00] | 4.00 [2.00, 4.00] |", lines)

    def test_columns_are_the_ways_to_place_ranks_and_buffers(self):
        self.run_script("--columns", "arena,workers,fibers")
        ours = [line for line in self.calls() if line.startswith("weft bench")]
        self.assertIn("-n 2 -b 8 -e 32 -f 4 --budget 30 --provider net --json --buffers arena", ours[0])
        self.assertIn("--json --ranks-per-process 2 --workers 2", ours[3])
        self.assertIn("-n 8 -b 8 -e 32 -f 4 --budget 30 --provider net --json --ranks-per-process 8 --workers 2", ours[6])
        theirs = [line for line in self.calls() if line.startswith("measure")]
        self.assertEqual([line.split()[2] for line in theirs], ["2", "2", "2", "8", "8", "8"] * 3)

    def test_sizes_are_those_of_whole_vectors(self):
        result = self.run_script("--collective", "allgather", "--columns", "processes")
        self.assertIn("bench allgather -n 2 -b 4 -e 16 -f 4", self.calls()[3])
        self.assertIn("| 2 KiB | 4.00", result.stdout)

    def test_writes_between_the_collective_s_markers(self):
        page = self.folder / "page.md"
        page.write_text("before\n<!-- allreduce:begin -->\nold\n<!-- allreduce:end -->\nafter\n")
        result = self.run_script("--columns", "processes", "--write")
        self.assertEqual(page.read_text(),
                         f"before\n<!-- allreduce:begin -->\n{result.stdout}<!-- allreduce:end -->\nafter\n")

    def test_unknown_words_are_refused(self):
        self.assertIn("is none of processes, arena", self.run_script("--columns", "cows").stderr)


if __name__ == "__main__":
    unittest.main()
