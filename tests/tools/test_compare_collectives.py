#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/compare_collectives.py against programs that only pretend to measure. Arguments: the script."""

import pathlib
import sys
import unittest

from measuring_script import MeasuringScript

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# weft takes as many microseconds as there are bytes in the vector, Open MPI twice as many, MPICH half of them, but it
# knows no broadcast.
TIMES = """
import subprocess
slow = False
status = {"measure": 1}
def times(peer, collective, ranks, vector, earlier):
    if peer == "mpich" and collective == "bcast":
        return None
    if peer == "mpich" and vector > 64 and slow:
        subprocess.run(["timeout", "60", "sleep", "60"])  # in a process group of its own
    return max(vector, 1) * {"weft": 1, "openmpi": 2, "mpich": 0.5}[peer]
"""


class CompareCollectives(MeasuringScript):
    script = SCRIPT
    usual = ["--alternations", "2", "--from", "64", "--to", "4k", "--factor", "64"]
    times = TIMES

    def test_sizes_that_a_peer_does_not_come_to_in_time_stay_empty(self):
        self.pretend(TIMES.replace("slow = False", "slow = True"))
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
        self.assert_writes_between("collectives", "--collectives", "reduce", "--ranks", "2", "--paths", "shm")

    def test_unknown_words_are_refused(self):
        self.assertIn("is none of allreduce, reduce", self.run_script("--collectives", "sing").stderr)
        self.assertIn("is none of shm, tcp", self.run_script("--paths", "pigeon").stderr)


if __name__ == "__main__":
    unittest.main()
