# SPDX-License-Identifier: Apache-2.0
"""A Slurm of two nodes on this machine, for the tests of jobs that it starts."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# The scripts that bring it up lie beside the checkout, as the descriptions of machines do.
SCRIPTS = pathlib.Path(os.environ.get("WEFT_TEST_CLUSTER", SOURCE.parent / "shared" / "cluster"))
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


def missing():
    """Why there can be none here; empty when there can."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    for program in "slurmctld", "slurmd", "srun", "munged":
        if not shutil.which(program, path=PATH):
            return f"there is no {program}; Debian's packages slurmctld, slurmd, slurm-client and munge have it"
    if not (SCRIPTS / "slurm-up.sh").exists():
        return f"there is no {SCRIPTS / 'slurm-up.sh'} to bring Slurm up"
    return ""


class Cluster:
    """Up until it is closed. There is one at a time on a machine: its ports are fixed. Its nodes are so many of the hosts
    of hosts.py, or where none are given two on this one. `topology` is its topology.conf, if it is to have one."""

    def __init__(self, plugstack="", hosts=0, topology=""):
        # Whoever has made the hosts holds the lock.
        self.lock = open(os.devnull if hosts else pathlib.Path(tempfile.gettempdir()) / "cluster.lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="wslurm"))
        (self.directory / "plugstack.conf").write_text(plugstack)
        self.scripts = self.with_topology(topology) if topology else SCRIPTS
        self.environment = {"SLURM_CONF": str(self.directory / "slurm.conf")}
        try:
            self.script("slurm-up.sh", *([str(hosts), "munge", "netns"] if hosts else ["2"]))
        except BaseException:
            self.close()
            raise

    def with_topology(self, text):
        """The folder of scripts that bring Slurm up so."""
        (self.directory / "topology.conf").write_text(text)
        folder = self.directory / "scripts"
        shutil.copytree(SCRIPTS, folder)
        with open(folder / "slurm.conf.in", "a") as configuration:
            configuration.write("TopologyPlugin=topology/tree\n")
        return folder

    def close(self):
        self.script("slurm-down.sh")
        self.lock.close()

    def script(self, name, *arguments):
        done = subprocess.run(["bash", self.scripts / name, self.directory, *arguments], env=os.environ | {"PATH": PATH},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{name} failed: {done.stdout}{done.stderr}")
