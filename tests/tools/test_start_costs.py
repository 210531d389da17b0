#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/start_costs.py against a program that only pretends to measure. Arguments: the script."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

# Its costs are those of the next line of the file `latencies` at each `tune`.
PRETENDER = """#!/usr/bin/env python3
import json, pathlib, sys
here = pathlib.Path(__file__).parent
with (here / "calls").open("a") as calls:
    print(*sys.argv[1:], file=calls)
if sys.argv[1] == "tune":
    first, *others = (here / "latencies").read_text().split()
    (here / "latencies").write_text(" ".join(others))
    print("# weft tune", *(f"node.{key} = {value}" for key, value in dict(
        latency=first, overhead=1e-06, gap=1e-06, gap_per_byte=1e-10, exchange_per_byte=2e-10, handshake=0).items()),
        "combine.sum.float = 5e-11", "combine.min.float = 5e-11", sep="\\n")
elif sys.argv[1] == "plan":
    print(json.dumps({"alternatives": [{"predicted_us": 7}, {"predicted_us": 4}]}))
elif "--explain" in sys.argv:
    for bytes, median in ((8, 5), (64, 8)):
        for chosen in (True, False):
            print(json.dumps({"bytes": bytes, "predicted_us": 4, "median_us": median, "chosen": chosen}))
            median = 1
elif sys.argv[1] == "info":
    print(json.dumps({"version": "9.8", "build": {"compiler": "GCC", "type": "release", "instruction_set": "none"},
                      "machine": {"cores": [{}]}}))
"""


class StartCosts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.weft = self.folder / "weft"
        self.weft.write_text(PRETENDER)
        self.weft.chmod(0o755)

    def run_script(self, latencies, *arguments):
        (self.folder / "latencies").write_text(latencies)
        return subprocess.run([sys.executable, SCRIPT, "--weft", self.weft, "--jobs", "2:node", "--starts",
                               str(len(latencies.split())), "--to", "64", *arguments],
                              capture_output=True, text=True, timeout=60)

    def test_costs_that_are_near_each_other(self):
        result = self.run_script("2e-06 3e-06 2e-06")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("| 2 ranks, node | node.latency + 2 overhead | us | 4.000 | 4.000 | 5.000 | 1.25 |", result.stdout)
        self.assertIn("| 2 ranks, node | allreduce of 64 B | us | 4.000 | 4.000 | 4.000 | 1.00 |", result.stdout)
        self.assertIn("| allreduce of 64 B, predicted over measured |  | 0.500 | 0.500 | 0.500 | 1.00 |", result.stdout)
        self.assertEqual(result.stdout.count("combine."), 1)

    def test_the_status_says_that_some_are_apart(self):
        self.assertEqual(self.run_script("2e-06 9e-06").returncode, 1)
        self.assertEqual(self.run_script("2e-06 9e-06", "--within", "3").returncode, 0)

    def test_a_provider_goes_past_the_memory_of_the_node(self):
        self.run_script("2e-06", "--jobs", "3:net", "--tune-budget", "9")
        calls = (self.folder / "calls").read_text()
        self.assertIn("tune -n 3 --provider net --weft-node=off --budget 9\n", calls)
        self.assertIn("--weft-tune=off --weft-tune-budget=9\n", calls)


if __name__ == "__main__":
    unittest.main()
