#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gdb with tools/gdb/weft.py, on a process of a stuck job and on a core of it.

    test_gdb.py WEFT PROGRAM SCRIPT
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LONGEST = 120


def gdb(arguments, script, commands):
    line = ["gdb", "-q", "-nx", "-batch", *arguments, "-ex", f"source {script}"]
    for each in commands:
        line += ["-ex", each]
    return subprocess.run(line, capture_output=True, text=True, timeout=LONGEST)


def process_of(job, program):
    """The process of that job: others may run the same program."""
    for each in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = (each / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == job.pid and os.path.samefile(each / "exe", program):
                return int(each.name)
        except OSError:
            continue
    return None


def check(done, where):
    text = done.stdout + done.stderr
    for rank, function in ((0, "sum_with_others"), (1, "wait_for_message")):
        found = re.search(rf"rank {rank}: parked on thread \d+ in {function} at \S*stuck_program.cpp:\d+; stack 0x", text)
        assert found, f"{where}: rank {rank} is not in {function}:\n{text}"
    assert re.search(r"#\d+  wait_for_message at \S*stuck_program.cpp:\d+", text), f"{where}: no backtrace:\n{text}"
    assert "#0  weft::context::switch_to" in text, f"{where}: no innermost frame:\n{text}"
    calls = text[text.rindex("\nrank 0"):]
    assert "communicator 0: rank 0 of 2, 842 collectives begun, in allreduce 841\n" in calls, f"{where}:\n{calls}"
    assert "communicator 0: rank 1 of 2, 841 collectives begun\n    recv(from 0, tag 7, 8 B)\n" in calls, f"{where}:\n{calls}"
    assert bool(re.search(r"rank 1, which has begun and ended nothing for \d+ s:\n", calls)) == (where == "live"), calls


def main():
    weft, program, script = sys.argv[1:]
    if shutil.which("gdb") is None:
        assert os.environ.get("CI") != "true", "gdb is missing: tools/setup.sh installs it"
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        line = [weft, "run", "-n", "2", "--ranks-per-process", "2", program, "recv", "1"]
        job = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        try:
            assert "stuck" in job.stdout.readline()
            pid = process_of(job, program)
            core = f"{folder}/core"
            commands = ["weft fibers", "weft backtrace 1", "weft calls"]
            for _ in range(20):  # rank 1 may be on its way into its call
                live = gdb(["-p", str(pid)], script, [*commands, f"gcore {core}"])
                if "not permitted" in live.stderr:
                    print(live.stderr)
                    return SKIPPED
                if "in wait_for_message" in live.stdout:
                    break
            check(live, "live")
            check(gdb([program, core], script, commands), "core")
        finally:
            job.terminate()
            job.wait(LONGEST)
    return 0


sys.exit(main())
