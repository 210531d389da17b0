#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sessions of tools/TROUBLESHOOTING.md, on three pretended hosts: what they are said to show they show.

    test_troubleshooting.py WEFT PROGRAM SOURCE     PROGRAM: examples/trouble
"""

import html
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import hosts

WEFT, PROGRAM, SOURCE = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
PAGE = re.sub(r"\s+", " ", (SOURCE / "tools/TROUBLESHOOTING.md").read_text())


def without_numbers(text):
    """What changes from run to run: names of jobs, process numbers, times, folders."""
    text = re.sub(r"\b[0-9a-f]{16}\b", "JOB", text)
    text = re.sub(r"pid \d+|\.\d+\.part", "PID", text)
    text = re.sub(r"\bfor \d+ s\b", "for S", text)
    return re.sub(r"\s+", " ", text)


class Sessions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.up = hosts.Hosts()

    @classmethod
    def tearDownClass(cls):
        cls.up.close()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_on_hosts(self, *words, each=2, timeout=100):
        command = [WEFT, "run", "--hosts", f"wfn[0-2]:{each}", "--rsh", hosts.RSH, "--oversubscribe", "--timeout", timeout,
                   *words]
        shell = f"cd {self.folder}; ulimit -c unlimited; exec {shlex.join(map(str, command))}"
        done = subprocess.run(hosts.on("wfn0", "sh", "-c", shell), capture_output=True, text=True, timeout=200, check=False,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr

    def shows(self, said, *lines):
        """Each line is said, and stands on the page."""
        said, page = without_numbers(said), without_numbers(PAGE)
        for line in map(without_numbers, lines):
            self.assertIn(line, said)
            self.assertIn(line, page)

    def test_a_hang(self):
        _, said = self.run_on_hosts("--stuck-after", "3", PROGRAM, "hang", timeout=12)
        self.shows(said, "weft run: nothing has moved for 3 s (--stuck-after)",
                   "rank 3 has not entered allreduce 1000 of communicator 0; it is in recv(from 4, tag 0, 8 B), where a "
                   "message with tag 1 has come, for 3 s at trouble.cpp:65; 5 others wait there",
                   "ranks 0 to 2, 4, 5: each is in allreduce 1000 of communicator 0 for 3 s at trouble.cpp:43")
        source = (SOURCE / "examples/trouble.cpp").read_text().splitlines()
        self.assertIn("world_.recv(", source[64])
        self.assertIn("Line 65 is the receive", PAGE)
        self.assertIn("world_.allreduce(", source[42])

    def test_a_crash(self):
        status, said = self.run_on_hosts(PROGRAM, "crash")
        self.assertEqual(status, 134, said)
        self.shows(said, "vector::_M_range_check: __n (which is 20002) >= this->size() (which is 20002)",
                   "weft run: rank 3 (pid 22032, host wfn1) was killed by signal 6, SIGABRT (Aborted), core dumped; ending "
                   "the job")
        core = pathlib.Path(self.folder) / "core"
        if not core.exists() or not shutil.which("gdb"):
            self.skipTest("there is no core in the folder of the job, or no gdb")
        done = subprocess.run(["gdb", "-q", "-nx", "-batch", "-ex", f"source {SOURCE}/tools/gdb/weft.py", "-ex",
                               "weft backtrace 3", PROGRAM, core], capture_output=True, text=True, timeout=120, check=False)
        for function, line in (("mark_hottest", 82), ("step", 41), ("simulate", 94)):
            self.assertRegex(done.stdout, rf"{function} at \S*trouble.cpp:{line}\n", done.stderr)
            self.assertIn(f"{function} at examples/trouble.cpp:{line}", PAGE)
        self.assertIn("Line 82 writes behind the rod", PAGE)

    def test_a_slow_rank(self):
        status, said = self.run_on_hosts("--trace", "slow.json", PROGRAM, "slow", self.folder, "3000")
        self.assertEqual(status, 0, said)
        done = subprocess.run([WEFT, "report", "slow.json"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        page = (pathlib.Path(self.folder) / "report.html").read_text()

        def rows(name):
            table = re.search(rf'<table id="{name}">(.*?)</table>', page, re.S)[1]
            return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
                    for row in re.findall(r"<tr>(.*?)</tr>", table, re.S) if "<td" in row]

        share = {row[0]: float(row[6].split()[0]) for row in rows("by-rank")}
        self.assertEqual(max(share, key=share.get), "2")
        self.assertGreater(share["2"], 2 * sorted(share.values())[-2])
        self.assertEqual(rows("late")[0][0], "2")  # for whom the others have waited most

    def test_a_full_disk(self):
        scratch = pathlib.Path(self.folder) / "scratch"
        scratch.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", scratch], check=True)
        try:
            status, said = self.run_on_hosts("--tag-output", PROGRAM, "disk", scratch)
            self.assertEqual(status, 1, said)
            said = said.replace(str(scratch), "/scratch")
            self.assertRegex(said, r"\[\d\] /scratch/piece.\d: No space left on device")
            (scratch / "full").write_bytes(b"")
            subprocess.run(["dd", "if=/dev/zero", f"of={scratch}/full", "bs=1k", "count=400"], stderr=subprocess.DEVNULL,
                           check=False)
            self.folder = str(scratch)
            _, said = self.run_on_hosts("--tag-output", WEFT, "doctor", each=1)
            self.shows(said.replace(str(scratch), "/scratch"),
                       "warning working folder /scratch: 0 MiB free; results and core dumps are written there: free some "
                       "(`du -x`), or go elsewhere")
            status, said = self.run_on_hosts("--trace", "t.json", PROGRAM, "none")
            self.assertEqual(status, 0, said)
            self.shows(said.replace(str(scratch), "/scratch"),
                       "weft: the trace is not written: write /scratch/t.json.24165.part: No space left on device (errno 28)")
        finally:
            subprocess.run(["umount", scratch], check=True)


if WHY := hosts.missing():
    print("skipped: " + WHY)
    sys.exit(77)
unittest.main(argv=sys.argv[:1], verbosity=2)
