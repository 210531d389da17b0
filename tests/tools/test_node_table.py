#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/node_table.py against programs that only pretend to measure. Arguments: the script."""

import pathlib
import sys
import unittest

from measuring_script import MeasuringScript

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# weft takes as many microseconds as there are bytes in the vector, from its second start of a size on half of them; Open
# MPI twice as many, MPICH eight times, and with 8 ranks it comes to none. Of the 99th percentiles MPICH's is shorter.
TIMES = """
def times(peer, collective, ranks, vector, earlier):
    if peer == "mpich" and ranks == 8:
        return None
    median, p99 = {"weft": (0.5 if earlier else 1, 12), "openmpi": (2, 24), "mpich": (8, 9.6)}[peer]
    return {"median_us": median * vector, "p99_us": p99 * vector}
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

    def test_tables_of_their_own_compare_99th_percentiles(self):
        lines = self.run_script("--columns", "processes", "--alternations", "2").stdout.splitlines()
        first = lines.index("| vector, p99 | 2 processes |")
        self.assertEqual(lines[first + 2], "| 8 B | 1.25 [1.25, 1.25], 96.00 µs |")
        self.assertIn("| 128 B to 2 KiB | 1.25 [1.25, 1.25] |", lines[first:])
        self.assertIn("| 2 to 32 MiB |  |", lines)

    def test_columns_are_the_ways_to_place_ranks_and_buffers(self):
        result = self.run_script("--columns", "arena,workers,four,fibers", "--alternations", "2")
        ours = [line for line in self.calls() if line.startswith("weft bench")]
        self.assertIn("-n 2 -b 8 -e 32 -f 4 --budget 30 --buffers arena --weft-node=on", ours[0])
        self.assertIn("--budget 30 --ranks-per-process 2 --workers 2 --json", ours[3])
        self.assertIn("-n 4 -b 8 -e 32 -f 4 --budget 30 --weft-node=on --json", ours[6])
        self.assertIn("-n 8 -b 8 -e 32 -f 4 --budget 30 --ranks-per-process 8 --workers 2 --json", ours[9])
        self.assertEqual(len(result.stdout.splitlines()[2].split("|")), 7, result.stderr)
        theirs = [line for line in self.calls() if line.startswith("measure")]
        self.assertEqual([line.split()[2] for line in theirs], [ranks for ranks in "248" for _ in range(3)] * 2)
        self.assertIn("| 4 processes |", result.stdout)

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
