#!/usr/bin/env python3
"""Jobs that other launchers than `weft run` start. Arguments: the jobs' program, the command weft."""

import os
import shutil
import subprocess
import sys
import unittest

PROGRAM, WEFT = sys.argv.pop(1), sys.argv.pop(1)
HYDRA = shutil.which("mpiexec.hydra")


def start(*arguments, **variables):
    """What `mpiexec.hydra ARGUMENTS` does."""
    environment = os.environ | {"IPATH_NO_BACKTRACE": "1"} | variables
    return subprocess.run([HYDRA, *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False)


def hydra(processes, *command, **variables):
    return start("-n", str(processes), *command, **variables)


class Hydra(unittest.TestCase):
    def test_processes_are_one_job(self):
        for processes in (1, 2, 4):
            done = hydra(processes, PROGRAM, "meet")
            self.assertEqual((done.returncode, done.stdout), (0, f"{processes} ranks\n"), done.stderr)

    def test_collectives_over_the_network_and_the_node(self):
        for node in "off", "on":
            done = hydra(3, WEFT, "bench", "allreduce", "-b", "8", "-e", "8K", "-f", "32", "--check", "--budget", "20",
                         WEFT_NODE=node)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("8192", done.stdout)

    def test_each_process_may_host_ranks(self):
        done = hydra(2, PROGRAM, "meet", "--weft-ranks-per-process=3")
        self.assertEqual((done.returncode, done.stdout), (0, "6 ranks\n"), done.stderr)
        done = hydra(2, PROGRAM, "meet", WEFT_RANKS_PER_PROCESS="2")
        self.assertEqual((done.returncode, done.stdout), (0, "4 ranks\n"), done.stderr)

    def test_a_process_that_fails_ends_the_job_with_its_status(self):
        # Process 1 asks for another provider than the others, which is an error of them all.
        done = start("-n", "1", PROGRAM, "meet", ":", "-n", "1", PROGRAM, "meet", "--weft-provider=tcp;ofi_rxm")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("give every process the same --provider", done.stderr)

    def test_a_process_that_is_not_there_is_an_error_within_the_join_timeout(self):
        done = start("-n", "1", PROGRAM, "meet", "--weft-join-timeout=1000", ":", "-n", "1", "sleep", "60")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("not every process of the job came", done.stderr)

    def test_info_says_how_processes_meet(self):
        done = hydra(2, WEFT, "info")
        self.assertIn("rendezvous by PMI-1 over PMI_FD=", done.stdout)


if not HYDRA:
    print("skipped: there is no mpiexec.hydra; Debian's package mpich has it")
    sys.exit(77)
unittest.main()
