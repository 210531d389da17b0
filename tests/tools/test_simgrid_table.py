#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That `weft sim` says of traffic on networks what SimGrid has said, whose times are stored.

  test_simgrid_table.py SCRIPT TABLE WEFT
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT, TABLE, WEFT = sys.argv[1:4]


def run(*arguments, **environment):
    return subprocess.run([sys.executable, SCRIPT, "--weft", WEFT, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **environment})


class SimGridTable(unittest.TestCase):
    def with_table(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder, "table.md")
            table.write_text(text)
            return run("--stored", "--readme", table, *arguments)

    def test_every_stored_time_is_within_two_percent(self):
        found = run("--stored", "--readme", TABLE)
        self.assertEqual(found.returncode, 0, found.stderr)
        rows = [line for line in found.stdout.splitlines() if line.endswith("% |")]
        for network in ("switches of", "fat-tree:", "torus:", "clusters of", "link-latency", "link-overhead"):
            self.assertTrue(any(network in row for row in rows), network)
        self.assertEqual(len(rows), sum(line.endswith("% |") for line in pathlib.Path(TABLE).read_text().splitlines()))

    def test_another_time_is_found(self):
        right = pathlib.Path(TABLE).read_text()
        row = re.search(r"\| torus `torus:8`.*random, seed 1 \| ([\d.]+) \|", right)
        wrong = right.replace(row.group(0), row.group(0).replace(row.group(1), f"{1.03 * float(row.group(1)):.3f}"))
        found = self.with_table(wrong, "--only", "torus:8")
        self.assertNotEqual(found.returncode, 0)
        self.assertRegex(found.stderr, "weft differs from SimGrid by up to 2.9. %, more than 2 %")
        self.assertEqual(self.with_table(wrong, "--only", "torus:8", "--most", 4).returncode, 0)

    def test_a_time_that_is_not_stored_is_named(self):
        found = self.with_table("nothing", "--only", "torus:8")
        self.assertNotEqual(found.returncode, 0)
        self.assertIn("no time of SimGrid for torus `torus:8`", found.stderr)

    def test_what_is_not_installed_is_named(self):
        found = run(PATH="")
        self.assertNotEqual(found.returncode, 0)
        self.assertIn("apt-get install g++ libsimgrid-dev", found.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
