#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That tools/algorithm_map.py names what `weft sim` finds to be the fastest.

  test_algorithm_map.py SCRIPT WEFT
"""

import json
import re
import subprocess
import sys
import unittest

SCRIPT, WEFT = sys.argv[1:3]
MACHINE = {"-L": 2000, "-o": 200, "-g": 300, "-G": 0.1, "--compute-per-byte": 0.05}


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def completion(algorithm, size, *shape):
    machine = [word for option in MACHINE.items() for word in option]
    return json.loads(run(WEFT, "sim", "reduce-scatter", "--algorithm", algorithm, "--ranks", 6, "--bytes", size, *shape,
                          *machine, "--json").stdout)["completion"]


class AlgorithmMap(unittest.TestCase):
    def mapped(self, *arguments):
        return run(sys.executable, SCRIPT, "--weft", WEFT, "--collectives", "reduce-scatter", "--ranks", "6", "--segments",
                   "1,3", "--degrees", "6", *arguments)

    def test_the_fastest_is_named_with_its_lead(self):
        costs = ":".join(map(str, MACHINE.values()))
        found = self.mapped("--sizes", "8,1M", "--machines", f"here={costs}")
        self.assertEqual(found.returncode, 0, found.stderr)
        row = next(line for line in found.stdout.splitlines() if line.startswith("| 6 |"))
        for size, cell in zip(["8", "1M"], row.split(" | ")[1:]):
            name, kind, value, lead = re.match(r"([\w-]+)(?: ([sd])(\d+))? \(([\d.]+)\)", cell).groups()
            shape = [] if kind is None else [{"s": "--segments", "d": "--degree"}[kind], value]
            least = completion(name, size, *shape)
            others = []
            for other in {"ring", "mst", "recursive-halving"}:
                shapes = [[], ["--segments", 3]] + ([["--degree", 6]] if other == "recursive-halving" else [])
                times = [completion(other, size, *one) for one in shapes]
                self.assertLessEqual(least, min(times))
                if other != name:
                    others.append(min(times))
            self.assertEqual(f"{min(others) / least:.2f}", lead)

    def test_on_a_torus_messages_share_links(self):
        found = run(sys.executable, SCRIPT, "--weft", WEFT, "--collectives", "allreduce", "--tori", "8x8", "--segments",
                    "1,4,64", "--degrees", "8", "--sizes", "512k,8M", "--machines", "here=1500:300:400:0.08:0.05")
        self.assertEqual(found.returncode, 0, found.stderr)
        row = next(line for line in found.stdout.splitlines() if line.startswith("| 8x8 |"))
        self.assertRegex(row, r"\| swing s64 \([\d.]+\) \| ring s4 \([\d.]+\) \|")

    def test_a_machine_without_all_its_costs_is_refused(self):
        found = self.mapped("--machines", "here=1:2:3")
        self.assertEqual(found.returncode, 2)
        self.assertIn('"here=1:2:3" is not NAME=L:o:g:G:c', found.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
