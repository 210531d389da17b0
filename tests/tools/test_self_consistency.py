#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/self_consistency.py against a program that only pretends to measure. Arguments: the script."""

import pathlib
import sys
import unittest

from measuring_script import MeasuringScript

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Every collective takes as many microseconds as there are bytes in the vector, all-reduces thrice as many.
TIMES = """
def times(peer, collective, ranks, vector, earlier):
    return 3 * vector if collective == "allreduce" else vector
"""


class SelfConsistency(MeasuringScript):
    script = SCRIPT
    usual = ["--alternations", "2", "--from", "64", "--to", "4k", "--factor", "4", "--jobs", "4:net"]
    has_peers = False
    times = TIMES

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
        self.pretend("def times(peer, collective, ranks, vector, earlier): return 500 if vector == 64 else vector")
        result = self.run_script()
        self.assertIn("| 4 ranks, net | scatter ≤ scatter of the next size | 0.50 | 1.95 | 64 B |", result.stdout)

    def test_writes_between_the_markers(self):
        self.assert_writes_between("guidelines")

    def test_jobs_have_ranks_and_a_provider(self):
        self.assertIn("is no RANKS:ROAD", self.run_script("--jobs", "1:shm").stderr)

    def test_jobs_are_of_the_node_s_memory_or_of_a_provider(self):
        result = self.run_script("--jobs", "2:node,2:shm")
        self.assertIn("| 2 ranks, node | reduce ≤ allreduce |", result.stdout)
        self.assertIn("| 2 ranks, shm | reduce ≤ allreduce |", result.stdout)
        self.assertEqual({line.split()[-2] for line in self.calls()}, {"--weft-node=on", "--weft-node=off"})


if __name__ == "__main__":
    unittest.main()
