#!/usr/bin/env python3
"""Jobs that other launchers than `weft run` start. Arguments: hydra, openmpi or slurm; the jobs' program, the command
weft."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import slurm

LAUNCHER, PROGRAM, WEFT = (sys.argv.pop(1) for _ in range(3))
NO_HYDRA = "" if shutil.which("mpiexec.hydra") else "there is no mpiexec.hydra; Debian's package mpich has it"
NO_OPEN_MPI = "" if shutil.which("mpirun.openmpi") else "there is no mpirun.openmpi; Debian's package openmpi-bin has it"


def start(*command, **variables):
    environment = os.environ | {"IPATH_NO_BACKTRACE": "1"} | variables
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


class Launcher:
    """What holds under every launcher; a class of each says how `run_job` starts so many processes of one command, and
    `run_each` one process of each command."""

    rendezvous = None  # what `weft info` says of it

    def test_processes_are_one_job(self):
        for processes in (1, 2, 4):
            done = self.run_job(processes, PROGRAM, "meet")
            self.assertEqual((done.returncode, done.stdout), (0, f"{processes} ranks\n"), done.stderr)

    def test_collectives_over_the_network_and_the_node(self):
        for node in "off", "on":
            done = self.run_job(3, WEFT, "bench", "allreduce", "-b", "8", "-e", "8K", "-f", "32", "--check", "--budget",
                                "20", WEFT_NODE=node)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("8192", done.stdout)

    def test_each_process_may_host_ranks(self):
        done = self.run_job(2, PROGRAM, "meet", "--weft-ranks-per-process=3")
        self.assertEqual((done.returncode, done.stdout), (0, "6 ranks\n"), done.stderr)
        done = self.run_job(2, PROGRAM, "meet", WEFT_RANKS_PER_PROCESS="2")
        self.assertEqual((done.returncode, done.stdout), (0, "4 ranks\n"), done.stderr)

    def test_a_process_that_fails_ends_the_job_with_its_status(self):
        # Process 1 asks for another provider than the others, which is an error of them all.
        done = self.run_each([PROGRAM, "meet"], [PROGRAM, "meet", "--weft-provider=tcp;ofi_rxm"])
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("give every process the same --provider", done.stderr)

    def test_a_process_that_is_not_there_is_an_error_within_the_join_timeout(self):
        done = self.run_each([PROGRAM, "meet", "--weft-join-timeout=1000"], [shutil.which("sleep"), "60"])
        self.assertNotEqual(done.returncode, 0, done.stderr)  # Slurm's is the greatest of all, of those it killed too
        self.assertIn("not every process of the job came", done.stderr)

    def test_info_says_how_processes_meet(self):
        done = self.run_job(2, WEFT, "info")
        self.assertIn(self.rendezvous, done.stdout)
        self.assertIn("which answers", done.stdout)


class Hydra(Launcher, unittest.TestCase):
    rendezvous = "rendezvous by PMI-1 over PMI_FD="

    def run_job(self, processes, *command, **variables):
        return start("mpiexec.hydra", "-n", str(processes), *command, **variables)

    def run_each(self, first, second):
        return start("mpiexec.hydra", "-n", "1", *first, ":", "-n", "1", *second)


class OpenMpi(Launcher, unittest.TestCase):
    rendezvous = "rendezvous by PMIx"
    # Their cores are weft's own to choose: otherwise a progress thread has none.
    command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]

    def run_job(self, processes, *command, **variables):
        passed = [word for name in variables for word in ("-x", name)]
        return start(*self.command, *passed, "-n", str(processes), *command, **variables)

    def run_each(self, first, second):
        return start(*self.command, "-n", "1", *first, ":", "-n", "1", *second)

    def test_a_server_that_is_silent_or_gone_is_an_error_in_time(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel accepts, nobody speaks
            self.assertIn("no answer to PMIx_Init", self.refusal_of(silent.getsockname()[1]))
            port = silent.getsockname()[1]
        self.assertIn("PMIx_Init: UNREACHABLE", self.refusal_of(port))

    def refusal_of(self, port):
        """What a process says whose PMIx server is at this port."""
        uri = f"prte.0;tcp4://127.0.0.1:{port}"
        done = start(PROGRAM, "meet", "--weft-join-timeout=1000", OMPI_COMM_WORLD_SIZE="2", PMIX_NAMESPACE="job",
                     PMIX_RANK="1", PMIX_SERVER_URI4=uri, PMIX_SERVER_URI41=uri, PMIX_SERVER_TMPDIR="/tmp",
                     PMIX_SECURITY_MODE="native", PMIX_GDS_MODULE="hash",
                     PMIX_BFROP_BUFFER_TYPE="PMIX_BFROP_BUFFER_NON_DESC")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("process 1 of a job started by Open MPI", done.stderr)
        self.assertIn("`weft run -n 2 PROGRAM`", done.stderr)
        return done.stderr


class Slurm(Launcher):
    mpi = None  # of srun's --mpi

    def run_job(self, processes, *command, **variables):
        return start("srun", "--mpi=" + self.mpi, "--overcommit", "--quiet", "-n", str(processes), *command,
                     **CLUSTER.environment, **variables)

    def run_each(self, first, second):
        with tempfile.NamedTemporaryFile("w") as commands:
            commands.write(f"0 {' '.join(first)}\n1 {' '.join(second)}\n")
            commands.flush()
            return self.run_job(2, "--multi-prog", commands.name)


class SlurmPmix(Slurm, unittest.TestCase):
    mpi, rendezvous = "pmix", "rendezvous by PMIx"


class SlurmPmi2(Slurm, unittest.TestCase):
    mpi, rendezvous = "pmi2", "rendezvous by PMI-1 over PMI_FD="


class SlurmAlone(unittest.TestCase):
    def test_without_a_rendezvous_processes_are_not_alone(self):
        done = start("srun", "--mpi=none", "-n", "2", PROGRAM, "meet", **CLUSTER.environment)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("srun --mpi=pmix", done.stderr)


MISSING, CASES = {
    "hydra": (NO_HYDRA, [Hydra]),
    "openmpi": (NO_OPEN_MPI, [OpenMpi]),
    "slurm": (slurm.missing(), [SlurmPmix, SlurmPmi2, SlurmAlone]),
}[LAUNCHER]
if MISSING:
    print("skipped: " + MISSING)
    sys.exit(77)
CLUSTER = slurm.Cluster() if LAUNCHER == "slurm" else None
try:
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(map(load, CASES)))
finally:
    if CLUSTER:
        CLUSTER.close()
sys.exit(not result.wasSuccessful())
