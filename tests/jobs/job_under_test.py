# SPDX-License-Identifier: Apache-2.0
"""A launcher that runs, and what it leaves behind."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time


def _status(pid):
    """What follows the name in /proc/PID/stat: the state, the parent, ..."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def state(pid):
    return _status(pid)[0]


def parent(pid):
    return int(_status(pid)[1])


def children(pid):
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not come to that")
        time.sleep(0.01)


class Running:
    """A `weft run` and all that it has started, which bears a mark in its environment."""

    def __init__(self, command, stdin="", **variables):
        self._mark = f"WEFT_TEST_MARK={os.getpid()}-{time.monotonic_ns()}"
        name, _, value = self._mark.partition("=")
        environment = os.environ | variables | {name: value}
        self._out, self._err, self._in = (tempfile.TemporaryFile() for _ in range(3))
        self._in.write(stdin.encode())
        self._in.seek(0)
        self.started = time.monotonic()
        self.process = subprocess.Popen(command, env=environment, stdin=self._in, stdout=self._out, stderr=self._err)

    @staticmethod
    def _text(file):
        return os.pread(file.fileno(), 1 << 26, 0).decode()

    @property
    def out(self):
        return self._text(self._out)

    @property
    def err(self):
        return self._text(self._err)

    def wait(self):
        status = self.process.wait(timeout=60)
        self.took = time.monotonic() - self.started
        return status

    def said(self, line, times):
        deadline = time.monotonic() + 30
        while self.out.splitlines().count(line) < times and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.out.splitlines().count(line) >= times

    def processes(self):
        """Those that bear the mark and live: number and command line."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                marked = self._mark.encode() in (folder / "environ").read_bytes().split(b"\0")
                if marked and state(folder.name) not in "ZX":
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue
        return found

    def agents(self):
        """Without their reapers, which bear the same command line."""
        return [pid for pid, line in sorted(self.processes().items())
                if line.endswith("weft agent") and pathlib.Path(f"/proc/{pid}/comm").read_text() == "weft\n"]

    def ranks(self):
        agents = self.agents()
        return [pid for pid in sorted(self.processes()) if pid not in agents and parent(pid) in agents]

    def left_after(self, seconds):
        deadline = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return left
