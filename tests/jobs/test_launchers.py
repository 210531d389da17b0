#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that other launchers than `weft run` start. Arguments: hydra, openmpi, slurm or slurm-plugin; the jobs'
program, the command weft; the plugin for Slurm, where it was built."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import slurm

LAUNCHER, PROGRAM, WEFT, *PLUGIN = sys.argv[1:]
PLUGIN = "".join(PLUGIN)
NO_HYDRA = "" if shutil.which("mpiexec.hydra") else "there is no mpiexec.hydra; Debian's package mpich has it"
NO_PLUGIN = "" if PLUGIN else "this build has no plugin for Slurm: it needs the headers of libslurm-dev and no sanitizer"
NO_OPEN_MPI = "" if shutil.which("mpirun.openmpi") else "there is no mpirun.openmpi; Debian's package openmpi-bin has it"


def start(*command, **variables):
    environment = os.environ | variables
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


class Launcher:
    """What holds under every launcher; a class of each says how `run_job` starts so many processes of one command, and
    `run_each` one process of each command."""

    rendezvous = None  # what `weft info` says of it
    absence = "not every process of the job came"  # what is said where one does not come
    sleep = "60"  # seconds that it sleeps instead, unless it is ended with the job

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
        done = self.run_each([PROGRAM, "meet", "--weft-join-timeout=1000"], [shutil.which("sleep"), self.sleep])
        self.assertNotEqual(done.returncode, 0, done.stderr)  # Slurm's is the greatest of all, of those it killed too
        self.assertIn(self.absence, done.stderr)

    def test_info_says_how_processes_meet(self):
        done = self.run_job(2, WEFT, "info")
        self.assertIn(self.rendezvous, done.stdout)
        self.assertIn("which answers", done.stdout)
        self.assertIn("this is process 1 of 2, 1 of 2 on node 0 of 1; ", done.stdout)


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
        # Open MPI 5.0.7's mpirun dies of SIGSEGV where programs are parted by a colon.
        choice = f'[ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec {shlex.join(first)}; exec {shlex.join(second)}'
        return start(*self.command, "-n", "2", "sh", "-c", choice)

    def test_a_server_that_is_silent_or_gone_is_an_error_in_time(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel accepts, nobody speaks
            self.assertIn("no answer to PMIx_Init", self.refusal_of(silent.getsockname()[1]))
            port = silent.getsockname()[1]
        self.assertRegex(self.refusal_of(port), "PMIx_Init: (PMIX_ERR_)?UNREACH")  # as PMIx 4 and 5 say it

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

    def run_each(self, first, second, *options):
        with tempfile.NamedTemporaryFile("w") as commands:
            commands.write(f"0 {' '.join(first)}\n1 {' '.join(second)}\n")
            commands.flush()
            return self.run_job(2, *options, "--multi-prog", commands.name)


class SlurmPmix(Slurm, unittest.TestCase):
    mpi, rendezvous = "pmix", "rendezvous by PMIx"


class SlurmPmi2(Slurm, unittest.TestCase):
    mpi, rendezvous = "pmi2", "rendezvous by PMI-1 over PMI_FD="


class SlurmPlugin(Slurm, unittest.TestCase):
    """`srun --weft`, by the plugin that was built with this."""

    rendezvous = "launcher         srun --weft: "
    absence = "not every process came"
    sleep = "3"  # srun ends no other task unless it is told to, by -K

    def run_job(self, processes, *command, **variables):
        return start("srun", "--weft", "--overcommit", "--quiet", "-n", str(processes), *command,
                     **CLUSTER.environment, **variables)

    def test_each_process_may_host_ranks(self):
        done = self.run_job(2, "--weft-ranks-per-process=3", PROGRAM, "meet")
        self.assertEqual((done.returncode, done.stdout), (0, "6 ranks\n"), done.stderr)

    def test_nodes_meet(self):
        done = self.run_job(4, "--nodes=2", PROGRAM, "meet")
        self.assertEqual((done.returncode, done.stdout), (0, "4 ranks\n"), done.stderr)

    def test_tasks_find_their_place_and_the_job_even_without_an_environment(self):
        done = self.run_job(2, "--nodes=2", "--export=NONE", shutil.which("env"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in "WEFT_PROCESS=0", "WEFT_PROCESS=1", "WEFT_PLACE=0,1,0,2", "WEFT_PLACE=0,1,1,2", "WEFT_RANKS=2":
            self.assertIn(line, done.stdout.split("\n"))
        self.assertNotIn("SLURM_WEFT_JOB", done.stdout)

    def test_the_secret_is_on_no_command_line(self):
        script = ("import glob, os\n"
                  "lines = [open(name, 'rb').read() for name in glob.glob('/proc/[0-9]*/cmdline') if os.path.exists(name)]\n"
                  "print(len(os.environb[b'WEFT_SECRET']), sum(os.environb[b'WEFT_SECRET'] in line for line in lines))")
        done = self.run_job(1, sys.executable, "-c", script)
        self.assertEqual(done.stdout, "64 0\n", done.stderr)

    def test_strangers_are_dropped_within_a_second_and_find_no_other_interface(self):
        script = ("import os, socket, time\n"
                  "host, port = os.environ['WEFT_STORE'].split(':')\n"
                  "ends = [line.split()[1:4] for line in open('/proc/net/tcp')]\n"
                  "listening = [here for here, _, state in ends if state == '0A' and int(here[9:], 16) == int(port)]\n"
                  "stranger = socket.create_connection((host, int(port)))\n"
                  "stranger.sendall(b'GET / HTTP/1.0')\n"
                  "begin = time.monotonic()\n"
                  "while stranger.recv(4096): pass\n"
                  "print(listening[0][:8], len(listening), time.monotonic() - begin < 1)")
        done = self.run_job(1, sys.executable, "-c", script)
        self.assertEqual(done.stdout, "0100007F 1 True\n", done.stderr)  # the loopback that these nodes have

    def test_ranks_and_progress_threads_are_bound(self):
        for choice, variables in (("auto", True), ("1", True), ("none", False)):
            done = self.run_job(1, "--cpus-per-task=2", "--weft-progress-core=" + choice, shutil.which("sh"), "-c",
                                "env; grep Cpus_allowed_list /proc/self/status")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Cpus_allowed_list:\t0\n", done.stdout)
            self.assertEqual("WEFT_PROGRESS=thread\n" in done.stdout, variables)
            self.assertEqual("WEFT_PROGRESS_CPUS=1\n" in done.stdout, variables)

    def test_a_bad_value_stops_the_job_before_it_starts(self):
        for value, reason in (("99", "this node has the cores 0 to"), ("x", "auto, none or the number"), ("-1", "auto")):
            done = self.run_job(2, "--weft-progress-core=" + value, shutil.which("echo"), "started")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            self.assertIn("--weft-progress-core=" + value, done.stderr)
            self.assertIn(reason, done.stderr)
        done = self.run_job(2, "--weft-ranks-per-process=0", shutil.which("echo"), "started")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--weft-ranks-per-process=0: a whole number", done.stderr)
        done = start("srun", "--weft-progress-core=1", "-n", "1", shutil.which("echo"), "started", **CLUSTER.environment)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("give that, too", done.stderr)

    def test_a_dead_task_is_told_to_the_others(self):
        # Before it has joined only the plugin can know of it; srun is told to leave the others alone.
        begin = time.monotonic()
        with tempfile.NamedTemporaryFile("w") as script:
            script.write("kill -9 $$\n")
            script.flush()
            done = self.run_each([PROGRAM, "meet"], [shutil.which("sh"), script.name], "--kill-on-bad-exit=0")
        self.assertIn("process 1 of the job", done.stderr)
        self.assertLess(time.monotonic() - begin, 10)  # the join timeout is 60 s

    def test_a_job_within_a_job_is_its_own(self):
        done = self.run_job(1, shutil.which("env"), SLURM_WEFT_JOB="1 2 secret 1 none =127.0.0.1:9")
        self.assertIn("WEFT_PROCESSES=1\n", done.stdout)
        done = start("srun", "-n", "1", shutil.which("env"), **CLUSTER.environment,
                     SLURM_WEFT_JOB="1 2 secret 1 none =127.0.0.1:9")
        self.assertNotIn("WEFT_JOB", done.stdout)


class SlurmAlone(unittest.TestCase):
    def test_without_a_rendezvous_processes_are_not_alone(self):
        done = start("srun", "--mpi=none", "-n", "2", PROGRAM, "meet", **CLUSTER.environment)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("srun --mpi=pmix", done.stderr)


MISSING, CASES = {
    "hydra": (NO_HYDRA, [Hydra]),
    "openmpi": (NO_OPEN_MPI, [OpenMpi]),
    "slurm": (slurm.missing(), [SlurmPmix, SlurmPmi2, SlurmAlone]),
    "slurm-plugin": (slurm.missing() or NO_PLUGIN, [SlurmPlugin]),
}[LAUNCHER]
if MISSING:
    print("skipped: " + MISSING)
    sys.exit(77)
CLUSTER = slurm.Cluster(PLUGIN and f"optional {PLUGIN}\n") if LAUNCHER.startswith("slurm") else None
try:
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(map(load, CASES)))
finally:
    if CLUSTER:
        CLUSTER.close()
sys.exit(not result.wasSuccessful())
