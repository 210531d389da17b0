#!/usr/bin/env python3
"""tools/node_table.py against programs that only pretend to measure. Arguments: the script."""

import pathlib
import sys
import unittest

from measuring_script import MeasuringScript

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# weft takes as many microseconds as there are bytes in the vector, from its second start of a size on half of them; Open
# MPI twice as many, MPICH eight times, and with 8 ranks it comes to none.
TIMES = """
def times(peer, collective, ranks, vector, earlier):
    if peer == "mpich" and ranks == 8:
        return None
    return vector * {"weft": 0.5 if earlier else 1, "openmpi": 2, "mpich": 8}[peer]
"""


class NodeTable(MeasuringScript):
    script = SCRIPT
    usual = ["--alternations", "3", "--to", "2k"]
    times = TIMES

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
        self.assert_writes_between("allreduce", "--columns", "processes")

    def test_unknown_words_are_refused(self):
        self.assertIn("is none of processes, arena", self.run_script("--columns", "cows").stderr)


if __name__ == "__main__":
    unittest.main()
