#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job in two clusters of four hosts each, with a long line between them that carries what four hosts send.

    test_clusters.py JOB_PROGRAM WEFT [--all]

The network's description has the job take algorithms that cross the line once, from several hosts at a time, and these
are faster than those of two tiers; with --all for 64 KiB to 16 MiB and 1, 2 and 4 connections, as
collectives/CLUSTERS.md shows it.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import hosts

PROGRAM, WEFT = (str(pathlib.Path(sys.argv.pop(1)).resolve()) for _ in range(2))
WHOLE = "--all" in sys.argv
CLUSTERS = [[f"{prefix}{i}" for i in range(4)] for prefix in ("wfn", "wgn")]
LINE = "delay_ms=10 rate_mbit=400"
SIZES = [str(1 << bits) for bits in range(16, 25, 2)] if WHOLE else [str(1 << 20)]
NETWORK = "SwitchName=west Nodes=wfn[0-3]\nSwitchName=east Nodes=wgn[0-3]\nSwitchName=wan Switches=west,east\n"


def run(topology, *options, program=("line", *SIZES)):
    """What eight processes say, one on each host."""
    job = hosts.on("wfn0", WEFT, "run", "--hosts", ",".join(sum(CLUSTERS, [])), "--rsh", hosts.RSH,
                   "--topology", topology, PROGRAM, *program, *options)
    with hosts.locked():
        done = subprocess.run([hosts.SCRIPTS / "two-clusters.sh", "4", LINE, shlex.join(job)], capture_output=True,
                              text=True, timeout=1200, check=False, stdin=subprocess.DEVNULL,
                              env=os.environ | {"HOST_RATE": "100mbit"})
    return done


class Line(unittest.TestCase):
    def setUp(self):
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write(NETWORK)
        self.topology = file.name
        self.addCleanup(os.unlink, file.name)

    def test_what_crosses_the_line_at_several_places_is_chosen_and_is_faster(self):
        for connections in ("1", "2", "4") if WHOLE else ("4",):
            done = run(self.topology, "--weft-connections=" + connections)
            print(f"{connections} connections\n{done.stdout}", flush=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = re.findall(r"^(\S+) (\d+) (\S+) ([\d.]+) ms, predicted [\d.]+; \S+ ([\d.]+) ms", done.stdout, re.M)
            self.assertEqual(len(rows), 2 * len(SIZES), done.stdout)
            for collective, size, taken, chosen, tiers in rows:
                if connections == "4" and size == str(1 << 20):
                    self.assertEqual(taken, {"allreduce": "modified-rabenseifner",
                                             "bcast": "modified-van-de-geijn"}[collective])
                    self.assertLess(float(chosen), float(tiers), done.stdout)

    def test_a_host_that_the_description_does_not_know_is_an_error_of_all(self):
        pathlib.Path(self.topology).write_text(NETWORK.replace("wgn[0-3]", "wgn[0-2]"))
        done = run(self.topology, program=("meet",))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rank 7 is on wgn3, which is not in the network description", done.stderr)


if WHY := hosts.missing() or ("" if os.path.exists("/dev/net/tun") else "there is no /dev/net/tun for the line"):
    print("skipped: " + WHY)
    sys.exit(77)
unittest.main(argv=sys.argv[:1], verbosity=2)
