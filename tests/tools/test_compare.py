#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/compare.py against programs that only pretend to measure. Arguments: the script."""

import pathlib
import sys
import unittest

from measuring_script import MeasuringScript

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Each run of Open MPI's is slower by one: what counts is the median of the runs' ratios. The peers' program fails, as
# when MPICH fails and Open MPI does not.
TIMES = """
status = {"measure": 1}
def times(peer, collective, ranks, vector, earlier):
    return vector * {"weft": 3, "openmpi": 2 * (earlier + 1), "mpich": 77}[peer]
"""


class Compare(MeasuringScript):
    script = SCRIPT
    usual = ["--factor", "128"]
    times = TIMES

    def test_alternates_and_takes_the_median_ratio(self):
        result = self.run_script("--alternations", "3", "--ways", "net")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = result.stdout.splitlines()
        self.assertEqual(rows[0], "| message | weft, net | Open MPI, tcp | ratio |")
        self.assertEqual(rows[2], "| 8 B | 24.00 µs | 32.00 µs | 0.75 |")
        self.assertEqual(rows[3], "| 1 KiB | 3072.00 µs | 4096.00 µs | 0.75 |")
        self.assertTrue(rows[5].startswith("| 16 MiB |"))
        self.assertIn("weft 9.8", rows[7])
        self.assertIn("3 cores", rows[7])
        self.assertEqual([line.split()[0] for line in self.calls()], ["weft", "measure"] * 3)

    def test_both_are_asked_for_the_same(self):
        self.run_script("--alternations", "1", "--from", "64", "--to", "2M", "--factor", "4", "--budget", "9")
        node, shm, net, tcp = self.calls()
        self.assertEqual("weft bench allreduce -n 2 -b 64 -e 2097152 -f 4 --budget 9 --weft-node=on --json", node)
        self.assertEqual("measure -n 2 -c allreduce -f 64 -t 2097152 -x 4 -b 9 -p shm", shm)
        self.assertIn("--budget 9 --provider net --weft-node=off --json", net)
        self.assertIn("-b 9 -p tcp", tcp)

    def test_what_took_another_road_is_refused(self):
        self.pretend("def times(*asked): return {'median_us': 1, 'road': 'node'}")
        self.assertEqual(self.run_script("--ways", "node", "--alternations", "1").returncode, 0)
        result = self.run_script("--ways", "net")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("the road was to be net, and was node", result.stderr)
        self.pretend("def times(*asked): return {'median_us': 1, 'road': None}")
        self.assertIn("was one that it does not name", self.run_script("--ways", "net").stderr)

    def test_writes_between_the_markers(self):
        self.assert_writes_between("compare", "--alternations", "1")

    def test_leaves_a_file_without_markers_alone(self):
        self.page.write_text("nothing\n")
        result = self.run_script("--alternations", "1", "--write")
        self.assertEqual(result.returncode, 1)
        self.assertIn("compare:begin", result.stderr)
        self.assertEqual(self.page.read_text(), "nothing\n")

    def test_wrong_results_and_failures_are_errors(self):
        self.pretend("def times(*asked): return {'median_us': 1, 'wrong': 1}")
        self.assertIn("wrong results", self.run_script().stderr)
        self.pretend("status = {'weft': 3}\ndef times(*asked): return 1")
        self.assertIn("status 3", self.run_script().stderr)
        self.assertIn("is not there", self.run_script("--peers", "/nowhere").stderr)
        self.assertIn("valid: node, shm", self.run_script("--ways", "carrier-pigeon").stderr)


if __name__ == "__main__":
    unittest.main()
