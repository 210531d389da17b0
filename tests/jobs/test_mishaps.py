#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in users' programs, and what they look into it with.

    test_mishaps.py MISHAP HELLO WEFT
"""

import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from job_under_test import Running

MISHAP, HELLO, WEFT = (str(pathlib.Path(sys.argv.pop(1)).resolve()) for _ in range(3))
MARK = b"what lies in the node's memory"
# A core of a process without memory of the node has 11 MB; this is too little for any page that nobody took.
MOST_OF_A_CORE = 24 << 20


def run(*arguments, limit=None, **variables):
    """A `weft run` in a folder of its own, and the files that it left there."""
    with tempfile.TemporaryDirectory() as folder:
        running = subprocess.run([WEFT, "run", "--timeout", "120", "--oversubscribe", *arguments], cwd=folder,
                                 env=os.environ | variables, capture_output=True, text=True, timeout=150, check=False,
                                 stdin=subprocess.DEVNULL, preexec_fn=limit)
        files = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    return running, files


def allow_cores():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def leave_addresses(megabytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    return limit


def kibibytes(pid, of):
    return int(pathlib.Path(f"/proc/{pid}/status").read_text().partition(of + ":")[2].split()[0])


class Mishaps(unittest.TestCase):
    def test_a_core_has_what_was_taken_of_the_node_s_memory_and_no_more(self):
        if pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip() != "core":
            self.skipTest("cores do not go into the working directory here")
        done, files = run("-n", "2", MISHAP, "abort", limit=allow_cores)
        self.assertEqual(done.returncode, 128 + signal.SIGABRT, done.stderr)
        self.assertRegex(done.stderr, r"rank 0 \(pid \d+, host \S+\) was killed by signal 6, SIGABRT \(Aborted\), core dumped")
        self.assertEqual(list(files), ["core"])
        self.assertIn(MARK, files["core"])
        self.assertLess(len(files["core"]), MOST_OF_A_CORE)

    def hold(self, ranks):
        """The processes of a job that waits, until this test has ended."""
        job = Running([WEFT, "run", "-n", str(ranks), "--oversubscribe", MISHAP, "hold"])

        def end():
            job.process.terminate()
            job.wait()
            self.assertEqual(job.left_after(2), {})
        self.addCleanup(end)
        self.assertTrue(job.said("ready", ranks), job.err)
        return [pid for pid, line in job.processes().items() if line.startswith(MISHAP)]

    @unittest.skipUnless(shutil.which("gcore"), "gdb is missing")
    def test_gcore_makes_no_pages_either(self):
        pid = self.hold(2)[0]
        before = kibibytes(pid, "RssShmem")
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run(["gcore", "-o", folder + "/core", str(pid)], capture_output=True, text=True,
                                  timeout=120, check=False)
            cores = [path.read_bytes() for path in pathlib.Path(folder).iterdir()]
        self.assertEqual(len(cores), 1, made.stderr)
        self.assertIn(MARK, cores[0])
        self.assertLess(kibibytes(pid, "RssShmem"), before + 2048)

    def test_addresses_are_taken_as_they_are_needed(self):
        for pid in self.hold(4):
            self.assertLess(kibibytes(pid, "VmSize"), 1 << 20)

    def test_a_limit_of_addresses_holds(self):
        done, _ = run("-n", "4", MISHAP, "reduce", limit=leave_addresses(1024))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.splitlines()), [f"rank {i}: 4 in shared memory" for i in range(4)])

    def test_a_stack_that_is_too_short_is_named(self):
        done, _ = run("-n", "2", "--ranks-per-process", "2", MISHAP, "overflow")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertIn("weft: rank 1 needs more stack than the 256 KiB that a fiber has: --weft-fiber-stack or "
                      "WEFT_FIBER_STACK makes it longer\n", done.stderr)
        self.assertIn("was killed by signal 11, SIGSEGV", done.stderr)
        done, _ = run("-n", "2", "--ranks-per-process", "2", MISHAP, "overflow", "--weft-fiber-stack=8M")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_it_is_named_where_the_program_has_a_handler_which_runs_then(self):
        done, _ = run("-n", "2", "--ranks-per-process", "2", MISHAP, "handled")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertLess(done.stderr.index("weft: rank 1 needs more stack"),
                        done.stderr.index("the program's own handler"))

    def test_another_fault_is_not_taken_for_that(self):
        done, _ = run("-n", "2", "--ranks-per-process", "2", MISHAP, "fault")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertNotIn("stack", done.stderr)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is missing")
    def test_valgrind_has_nothing_to_say(self):
        for options, program in ([], [HELLO]), (["--ranks-per-process", "2"], [MISHAP, "throw"]):
            done, _ = run("-n", "2", *options, "valgrind", "-q", "--error-exitcode=9", *program)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("==", done.stderr)  # what it finds; else it may not know calls of the system
            self.assertEqual(len(done.stdout.splitlines()), 2)


unittest.main(argv=sys.argv[:1], verbosity=2)
