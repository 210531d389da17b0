#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/trace_table.py against a program that only pretends to measure. Arguments: the script."""

import pathlib
import sys
import unittest

from measuring_script import MeasuringScript

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# With a trace 8 B take as much longer as DEARER says, and longer vectors nothing.
TIMES = """
import sys
def times(peer, collective, ranks, vector, earlier):
    recorded = any(each.startswith("--weft-trace=") for each in sys.argv)
    return vector * (DEARER if recorded and vector == 8 else 1)
"""


class TraceTable(MeasuringScript):
    script = SCRIPT
    usual = ["--alternations", "2", "--jobs", "2:node,2:net", "--collectives", "allreduce"]
    has_peers = False
    times = TIMES.replace("DEARER", "1.04")

    def test_ratios_are_with_over_without(self):
        result = self.run_script()
        self.assertIn("| 2 ranks, node | allreduce | 8 B | 8.00 | 8.32 | 1.04 [1.04, 1.04] |", result.stdout)
        self.assertIn("| 2 ranks, net | allreduce | 64 KiB | 65536.00 | 65536.00 | 1.00 [1.00, 1.00] |", result.stdout)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_status_says_whether_a_trace_is_too_dear(self):
        self.pretend(TIMES.replace("DEARER", "1.06"))
        self.assertEqual(self.run_script().returncode, 1)
        self.assertEqual(self.run_script("--most", "1.1").returncode, 0)
        self.assertEqual(self.run_script("--sizes", "1k").returncode, 0)

    def test_both_are_measured_in_turn(self):
        self.run_script("--sizes", "8", "--jobs", "2:node")
        self.assertEqual(["--weft-trace=" in line for line in self.calls()], [False, True, True, False])

    def test_writes_between_the_markers(self):
        self.assert_writes_between("traces")


if __name__ == "__main__":
    unittest.main()
