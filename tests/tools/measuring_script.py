# SPDX-License-Identifier: Apache-2.0
"""What the tests have in common of scripts that call `weft bench` and PEERS/measure: both only pretend to measure."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest


class MeasuringScript(unittest.TestCase):
    """Has a folder with both programs and a page, for each test a new one."""

    script = ""  # which one is tested
    usual = []  # its arguments in every test
    has_peers = True  # whether it takes --peers
    times = ""  # what pretender.py takes from times.py

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "page.md"
        for name in ("weft", "measure"):
            shutil.copy(pathlib.Path(__file__).with_name("pretender.py"), self.folder / name)
            (self.folder / name).chmod(0o755)
        self.pretend(self.times)

    def pretend(self, times):
        (self.folder / "times.py").write_text(times)

    def run_script(self, *arguments):
        command = [sys.executable, self.script, "--weft", self.folder / "weft", "--readme", self.page, *self.usual]
        peers = ["--peers", self.folder] if self.has_peers else []
        return subprocess.run([*command, *peers, *arguments], capture_output=True, text=True, timeout=180)

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def assert_writes_between(self, marker, *arguments):
        """With --write what it prints stands between <!-- marker:begin --> and <!-- marker:end -->, and nowhere else."""
        begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
        self.page.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
        result = self.run_script(*arguments, "--write")
        self.assertEqual(self.page.read_text(), f"before\n{begin}\n{result.stdout}{end}\nafter\n", result.stderr)
