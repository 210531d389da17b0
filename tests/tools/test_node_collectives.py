#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/node_collectives.py against programs that only pretend to measure. Arguments: the script."""

import pathlib
import sys
import unittest

from measuring_script import MeasuringScript

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Open MPI takes twice as long as weft, from 2 KiB on as long, and for a broadcast among 4 hardly less; MPICH takes
# longer than both, comes to no reduction, and to 32 bytes not at all.
TIMES = """
def times(peer, collective, ranks, vector, earlier):
    if peer == "mpich":
        return None if collective == "reduce" or vector == 32 else 100 * (vector + 1)
    if peer == "weft":
        return vector + 1
    if collective == "bcast" and ranks == 4:
        return (vector + 1) * (0.96 if vector < 2048 else 0.95)
    return (2 if vector < 2048 else 1) * (vector + 1)
"""


class NodeCollectives(MeasuringScript):
    script = SCRIPT
    usual = ["--alternations", "2", "--to", "2k"]
    times = TIMES

    def test_columns_are_collectives_and_processes(self):
        result = self.run_script("--collectives", "bcast,reduce,alltoall")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "| vector | bcast, 2 | bcast, 4 | reduce, 2 | reduce, 4 | alltoall, 2 | alltoall, 4 |")
        self.assertEqual(lines[2], "| 8 B | 2.00 | 0.96 | 2.00 | 2.00 | 2.00 |  |")
        self.assertEqual(lines[3], "| 32 B | 2.00 | 0.96 | 2.00 | 2.00 | 2.00 | 2.00 |")
        self.assertEqual(lines[4], "| 56 B | 2.00 | 0.96 | 2.00 | 2.00 | 2.00 |  |")  # 14 bytes a rank
        self.assertEqual([line.split(" |")[0] for line in lines[2:11]],
                         ["| 8 B", "| 32 B", "| 56 B", "| 128 B", "| 512 B", "| 2 KiB", "| geometric mean",
                          "| geometric mean, p99", "| greatest, p99"])
        self.assertIn("2 alternating runs", lines[12])

    def test_what_is_more_than_a_twentieth_slower_is_bold(self):
        lines = self.run_script("--collectives", "bcast", "--ranks", "4").stdout.splitlines()
        self.assertEqual(lines[7], "| 2 KiB | **0.95** |")
        self.assertEqual("".join(lines[:-1]).count("**"), 2)

    def test_the_last_rows_have_the_means_over_the_sizes_and_the_tails(self):
        lines = self.run_script("--collectives", "reduce_scatter", "--ranks", "2").stdout.splitlines()
        self.assertEqual(lines[8], "| geometric mean | 1.78 [1.78, 1.78] |")  # 2 to the power of 5 / 6
        self.assertEqual(lines[9], "| geometric mean, p99 | 0.56 [0.56, 0.56] |")
        self.assertEqual(lines[10], "| greatest, p99 | 1.00 |")

    def test_a_barrier_has_one_row(self):
        lines = self.run_script("--collectives", "barrier,bcast", "--ranks", "2", "--to", "8").stdout.splitlines()
        # The peers are asked for 8 bytes, weft for none.
        self.assertEqual(lines[2:4], ["| – | 18.00 |  |", "| 8 B |  | 2.00 |"])
        self.assertEqual(sum(" barrier " in line for line in self.calls()), 2 * 2)

    def test_all_collectives_but_allreduce_in_turn_with_the_peers(self):
        result = self.run_script("--to", "64", "--ranks", "3")
        self.assertEqual(result.returncode, 0, result.stderr)
        measured = [line.split()[4] for line in self.calls() if line.startswith("measure")]
        each = ["reduce", "reduce", "bcast", "bcast", "reduce_scatter", "reduce_scatter", "allgather", "allgather",
                "alltoall", "alltoall", "barrier"]
        self.assertEqual(measured, each * 2)
        self.assertEqual([line.split()[0] for line in self.calls()[:4]], ["measure", "measure", "weft", "weft"])

    def test_writes_between_the_markers(self):
        self.assert_writes_between("collectives", "--collectives", "reduce", "--ranks", "2", "--to", "8")

    def test_unknown_words_are_refused(self):
        self.assertIn("is none of reduce, bcast", self.run_script("--collectives", "allreduce").stderr)
        self.assertIn("1 is less than 2", self.run_script("--ranks", "1").stderr)


if __name__ == "__main__":
    unittest.main()
