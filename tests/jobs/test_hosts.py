#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of six processes on three hosts, two on each, so that some of what they say goes through the memory of a node and
some over the network.

    test_hosts.py LAUNCHER JOB_PROGRAM WEFT [--all]

LAUNCHER: weft, hydra, openmpi, slurm-pmix, slurm-pmi2 or slurm-weft. By weft and hydra the whole API is gone through over
every provider, by the others a part of it; with --all the whole by these, too. LAUNCHERS.md has the commands.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import hosts
import slurm

LAUNCHER, PROGRAM, WEFT = sys.argv.pop(1), *(str(pathlib.Path(sys.argv.pop(1)).resolve()) for _ in range(2))
# What weft takes of this libfabric: net, or tcp where that is in it.
INFO = json.loads(subprocess.run([WEFT, "info", "--json"], stdout=subprocess.PIPE, check=False).stdout)
DEFAULT_PROVIDER = INFO["provider"]["chosen"]
WHOLE = "--all" in sys.argv or LAUNCHER in ("weft", "hydra")
COUNTS = ["0", "1", "1000", "20000", "300000"] if WHOLE else ["1000"]
PROCESSES, PER_HOST = 6, 2
SWITCHES = "SwitchName=west Nodes=wfn[0-1]\nSwitchName=east Nodes=wfn2\nSwitchName=top Switches=west,east\n"  # Slurm's
ON_ALL = ",".join(f"{name}:{PER_HOST}" for name in hosts.NAMES)


class Hydra:
    """How this launcher starts a job: `survivors` are to live on when a process of it dies."""

    ends_survivors = True  # whatever it is asked for

    def missing(self):
        return "" if shutil.which("mpiexec.hydra") else "there is no mpiexec.hydra; Debian's package mpich has it"

    def command(self, variables, survivors):
        passed = [word for name, value in variables.items() for word in ("-genv", name, value)]
        return hosts.on(hosts.NAMES[0], "mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", hosts.RSH, "-hosts",
                        ",".join(hosts.NAMES), "-ppn", str(PER_HOST), "-n", str(PROCESSES),
                        *passed)

    def close(self):
        pass


class OpenMpi(Hydra):
    def missing(self):
        return "" if shutil.which("mpirun.openmpi") else "there is no mpirun.openmpi; Debian's package openmpi-bin has it"

    def command(self, variables, survivors):
        passed = [word for name in variables for word in ("-x", name)]
        return hosts.on(hosts.NAMES[0], "mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "--mca",
                        "plm_rsh_agent", hosts.RSH, "--host", ON_ALL, "-n", str(PROCESSES),
                        *passed)


class WeftRun(Hydra):
    ends_survivors = False

    def missing(self):
        listed = subprocess.run([WEFT, "run", "--help"], capture_output=True, text=True, check=False).stdout
        return "" if "--hosts" in listed else "this `weft run` knows one host only"

    def command(self, variables, survivors):
        passed = [word for name in variables for word in ("-x", name)]
        return hosts.on(hosts.NAMES[0], WEFT, "run", "--hosts", ON_ALL, "--rsh", hosts.RSH, "-n", str(PROCESSES),
                        *(["--on-failure", "continue"] if survivors else []), *passed)


class Slurm(Hydra):
    """Runs where Slurm's controller is: on the switch between the hosts."""

    plugstack = ""

    def __init__(self, option):
        self.option, self.cluster = option, None
        self.ends_survivors = option == "--mpi=pmix"

    def missing(self):
        return slurm.missing()

    def command(self, variables, survivors):
        if not self.cluster:
            self.cluster = slurm.Cluster(self.plugstack, len(hosts.NAMES), SWITCHES)
            os.environ.update(self.cluster.environment)
        words = ["srun", self.option, "-N", str(len(hosts.NAMES)), "-n", str(PROCESSES), "--ntasks-per-node",
                 str(PER_HOST), "--overcommit", "--quiet", *(["-K0"] if survivors else [])]
        # ip would hide /sys/fs/cgroup from it.
        return ["nsenter", "--net=/run/netns/wfsw", "unshare", "--uts", "sh", "-c", 'hostname wfsw; exec "$@"', "sh",
                *words]

    def close(self):
        if self.cluster:
            self.cluster.close()


class SlurmWeft(Slurm):
    plugin = pathlib.Path(WEFT).parent / "slurm/weft_spank.so"
    plugstack = f"optional {plugin}\n"

    def missing(self):
        return super().missing() or ("" if self.plugin.exists() else "this build has no plugin for Slurm")


STARTER = {"weft": WeftRun, "hydra": Hydra, "openmpi": OpenMpi, "slurm-pmix": lambda: Slurm("--mpi=pmix"),
           "slurm-pmi2": lambda: Slurm("--mpi=pmi2"), "slurm-weft": lambda: SlurmWeft("--weft")}[LAUNCHER]()


class Jobs(unittest.TestCase):
    def run_job(self, *arguments, program=PROGRAM, survivors=False, **variables):
        command = [*STARTER.command(variables, survivors), program, *arguments]
        begin = time.monotonic()
        done = subprocess.run(command, env=os.environ | variables, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120, check=False)
        print(f"{time.monotonic() - begin:5.1f} s  {shlex.join(f'{n}={v}' for n, v in variables.items())} "
              f"{shlex.join(command)}", flush=True)
        return done

    def go_through(self, each=1, counts=("1", "1000"), **variables):
        done = self.run_job("whole_api", str(PER_HOST * each), *counts, **variables)
        self.assertEqual((done.returncode, done.stdout), (0, f"{PROCESSES * each} ranks on 3 nodes\n"), done.stderr)

    def meet(self, **variables):
        done = self.run_job("meet", **variables)
        self.assertEqual((done.returncode, done.stdout), (0, "6 ranks\n"), done.stderr)

    def refuses(self, what, **variables):
        begin = time.monotonic()
        done = self.run_job("meet", **variables)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(what, done.stderr)
        self.assertLess(time.monotonic() - begin, 10)


class EveryLauncher(Jobs):
    def test_api_over_the_default(self):
        self.go_through(counts=COUNTS, WEFT_PROVIDER=DEFAULT_PROVIDER)

    def test_api_over_rxm(self):
        self.go_through(counts=COUNTS, WEFT_PROVIDER="tcp;ofi_rxm")

    def test_incompatible_builds_refuse_each_other_by_name(self):
        begin = time.monotonic()
        done = self.run_job("meet", "other-wire", "3")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"process 3 on host wfn1 runs weft 9.9.9 \(wire \d+\), this one weft ")
        self.assertLess(time.monotonic() - begin, 15)

    def test_a_death_is_noticed_on_every_host_within_a_second(self):
        for victim in 0, 3:
            done = self.run_job("notice", str(victim), survivors=True)
            if STARTER.ends_survivors:
                self.assertNotEqual(done.returncode, 0)
                continue
            noticed = re.findall(rf"rank (\d) lost rank {victim} after (\d+) ms", done.stdout)
            self.assertEqual({int(rank) for rank, _ in noticed}, set(range(PROCESSES)) - {victim},
                             done.stdout + done.stderr)
            self.assertLess(max(int(after) for _, after in noticed), 1000)


class Settings(Jobs):
    def test_progress_threads(self):
        self.go_through(WEFT_PROGRESS="thread")

    def test_ranks_that_are_fibers(self):
        self.go_through(each=2, WEFT_RANKS_PER_PROCESS="2", WEFT_WORKERS="1")

    def test_without_the_memory_of_nodes(self):
        self.go_through(WEFT_NODE="off")

    def test_with_calls_compared(self):
        self.go_through(WEFT_CHECK="on")

    def test_by_lengths_and_with_short_pieces(self):
        self.go_through(WEFT_TUNE="off", WEFT_PIECE="4096", WEFT_EAGER_LIMIT="256", WEFT_SEGMENT="4096")


class Switches(Jobs):
    """Slurm has told its tasks of them."""

    def costs(self, **variables):
        done = self.run_job("tune", "--budget", "30", program=WEFT, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fabric.latency", done.stdout)
        return done.stdout

    def test_the_line_between_the_clusters_below_them_is_measured_unless_they_are_not_asked_for(self):
        self.assertIn("line.latency", self.costs())
        self.assertNotIn("line.latency", self.costs(WEFT_TOPOLOGY="none"))


class Interfaces(Jobs):
    """With one more interface on every host, whose address is the same everywhere and leads nowhere."""

    @classmethod
    def setUpClass(cls):
        HOSTS.add_interface("docker0", "172.17.0.1/16")

    def test_an_interface_that_leads_nowhere_is_not_taken(self):
        for provider in DEFAULT_PROVIDER, "tcp;ofi_rxm":
            self.meet(WEFT_PROVIDER=provider)

    def test_interfaces_are_named_excluded_or_told_by_their_subnet(self):
        for wanted in "eth0", "^docker0", "10.77.0.0/24", "docker0,eth0", "10.0.0.0/8,^172.16.0.0/12":
            self.meet(WEFT_INTERFACE=wanted)

    def test_what_cannot_be_is_an_error_of_every_process(self):
        self.refuses("WEFT_INTERFACE=eth9", WEFT_INTERFACE="eth9")
        self.refuses("this host has lo 127.0.0.1/8, eth0 10.77.0.", WEFT_INTERFACE="10.78.0.0/16")
        self.refuses("host wfn0 has no address by which", WEFT_INTERFACE="docker0")
        self.refuses("host wfn0 has no address by which", WEFT_ADDRESS="127.0.0.1")
        self.refuses("shm", WEFT_PROVIDER="shm", WEFT_UNSAFE_PROVIDER="1")


class Links(Jobs):
    """With a second network between the hosts, by which the default route goes: it is the first link of a job."""

    @classmethod
    def setUpClass(cls):
        HOSTS.add_link("eth1", "10.78.0")
        for host in hosts.NAMES:
            HOSTS.ip(host, "route", "replace", "default", "dev", "eth1")

    def shares(self, *options):
        """What the networks carried during a job that went by both of them, or one: bytes from a host."""
        before = [HOSTS.bytes_sent("wfn0", name) for name in ("eth0", "eth1")]
        done = self.run_job("bench", "allreduce", "-b", "4M", "-e", "4M", "--budget", "20", *options, program=WEFT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [HOSTS.bytes_sent("wfn0", name) - sent for name, sent in zip(("eth0", "eth1"), before)]

    def test_both_networks_carry_about_as_much(self):
        found = self.shares()
        self.assertGreater(min(found), max(found) / 3)

    def test_one_endpoint_takes_one_network_and_three_take_both(self):
        other, first = self.shares("--weft-endpoints=1")
        self.assertLess(other, first / 10)  # what the launcher says
        other, first = self.shares("--weft-endpoints=3")
        self.assertGreater(other, first / 4)
        self.assertLess(other, first)

    def test_a_network_that_leads_nowhere_costs_a_warning(self):
        HOSTS.add_link("eth2", "10.79.0")
        HOSTS.ip("wfsw", "link", "set", "br-eth2", "down")
        try:
            done = self.run_job("meet")
        finally:
            for host in hosts.NAMES:
                HOSTS.ip(host, "link", "set", "eth2", "down")
        self.assertEqual((done.returncode, done.stdout), (0, "6 ranks\n"), done.stderr)
        self.assertRegex(done.stderr, r"do not reach each other by the subnet of eth2 10\.79\.0\.\d/24")

    def test_a_link_that_goes_down_for_longer_than_a_silence_is_borne_costs_no_message(self):
        variables = {"WEFT_PEER_TIMEOUT": "2000"}
        command = [*STARTER.command(variables, False), PROGRAM, "soak", "4", "1", "0", "0"]
        with subprocess.Popen(command, env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as job:
            time.sleep(1.5)
            HOSTS.ip("wfn1", "link", "set", "eth1", "down")
            out, err = job.communicate(timeout=120)
        HOSTS.ip("wfn1", "link", "set", "eth1", "up")
        HOSTS.ip("wfn1", "route", "replace", "default", "dev", "eth1")
        self.assertEqual(job.returncode, 0, out + err)
        self.assertRegex(err, r"use eth1 10\.78\.0\.\d/24 no more")


class WithoutLauncher(Jobs):
    """By a second network, whose interface one of the hosts has not yet when the job begins."""

    def test_an_interface_that_comes_up_late_is_waited_for(self):
        HOSTS.add_link("eth3", "10.80.0")
        HOSTS.ip("wfn1", "link", "set", "eth3", "down")
        HOSTS.ip("wfn1", "addr", "flush", "dev", "eth3")
        with tempfile.TemporaryDirectory() as folder:
            secret, job = pathlib.Path(folder, "secret"), pathlib.Path(folder, "job")
            secret.touch(mode=0o600)
            secret.write_text("known-to-the-job-alone")
            job.write_text(f"weft.hosts=10.80.0.1,10.80.0.2,10.80.0.3 weft.secret={secret}")
            variables = os.environ | {"WEFT_JOB": "static", "WEFT_JOB_FILE": str(job)}
            ranks = [subprocess.Popen(hosts.on(host, PROGRAM, "meet"), env=variables, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                     for host in hosts.NAMES]
            for rank in ranks:
                self.addCleanup(rank.kill)
            time.sleep(3)
            self.assertEqual([rank.poll() for rank in ranks], [None] * len(ranks))
            HOSTS.ip("wfn1", "addr", "add", "10.80.0.2/24", "dev", "eth3")
            time.sleep(1)
            HOSTS.ip("wfn1", "link", "set", "eth3", "up")
            said = [rank.communicate(timeout=30) for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0] * len(ranks), said)
        self.assertEqual("".join(out for out, _ in said), "3 ranks\n")


if WHY := hosts.missing() or STARTER.missing():
    print("skipped: " + WHY)
    sys.exit(77)
HOSTS = hosts.Hosts()
try:
    # To the rest other launchers make no difference.
    more = {"weft": [Interfaces, Links, WithoutLauncher], "hydra": [Settings, Interfaces], "slurm-weft": [Switches]}
    classes = [EveryLauncher, *more.get(LAUNCHER, [])]
    cases = map(unittest.defaultTestLoader.loadTestsFromTestCase, classes)
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(cases))
finally:
    STARTER.close()
    HOSTS.close()
sys.exit(not result.wasSuccessful())
