# SPDX-License-Identifier: Apache-2.0
"""Pretended hosts of this machine, network namespaces wfn0 to wfn2 behind a switch, for the tests of jobs on several
hosts; other numbers of them for tools/hosts_table.py."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# The scripts that make them lie beside the checkout, as the descriptions of machines do.
SCRIPTS = pathlib.Path(os.environ.get("WEFT_TEST_CLUSTER", SOURCE.parent / "shared" / "cluster"))
RSH = str(SCRIPTS / "nsrsh")
NAMES = ["wfn0", "wfn1", "wfn2"]


def missing():
    """Why there can be none here; empty when there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip"):
        return "there is no ip; Debian's package iproute2 has it"
    if not (SCRIPTS / "net-up.sh").exists():
        return f"there is no {SCRIPTS / 'net-up.sh'} to make hosts"
    return ""


def on(host, *command):
    """The words that run a command on a host: first ip, as root."""
    return ["ip", "netns", "exec", host, "unshare", "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh", *command]


def locked():
    """Whoever holds it is the only one who makes hosts on this machine; closed, it is free. Hosts that a test left which
    was killed are gone."""
    lock = open(pathlib.Path(tempfile.gettempdir()) / "cluster.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    for prefix in "wf", "wg":
        remove_idle(prefix)
    return lock


def remove_idle(prefix):
    """Takes the hosts of these names down if nothing runs on any of them."""
    listed = subprocess.run(["ip", "netns", "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = re.findall(rf"^{prefix}(?:n\d+|sw)\b", listed, re.M)
    pids = [subprocess.run(["ip", "netns", "pids", name], stdout=subprocess.PIPE, text=True, check=True).stdout
            for name in names]
    if names and not any(pids):
        subprocess.run(["bash", SCRIPTS / "net-down.sh", prefix], stdin=subprocess.DEVNULL, check=True, timeout=60)


class Hosts:
    """Up until they are closed. There is one set at a time on a machine. `rate`: of each one's link, as tc takes it; else
    what the machine can."""

    def __init__(self, count=len(NAMES), rate=""):
        self.count, self.rate = count, rate
        self.environment = os.environ | ({"HOST_RATE": rate} if rate else {})
        self.lock = locked()
        self.script("net-up.sh", str(count))

    def close(self):
        self.script("net-down.sh")
        self.lock.close()

    def script(self, name, *arguments):
        done = subprocess.run(["bash", SCRIPTS / name, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False, env=self.environment)
        if done.returncode != 0:
            raise RuntimeError(f"{name} failed: {done.stdout}{done.stderr}")

    def add_interface(self, name, address):
        """One more interface on every host, all of them with the same address, which lead nowhere."""
        for host in NAMES:
            for words in (["link", "add", name, "type", "veth", "peer", "name", f"{name}-end"],
                          ["addr", "add", address, "dev", name], ["link", "set", name, "up"],
                          ["link", "set", f"{name}-end", "up"]):
                subprocess.run(["ip", "-n", host, *words], check=True)

    def add_link(self, name, subnet):
        """One more interface on every host, behind a switch of its own; subnet: 10.78.0."""
        switch = f"br-{name}"
        self.ip("wfsw", "link", "add", switch, "type", "bridge")
        self.ip("wfsw", "link", "set", switch, "up")
        for number in range(self.count):
            host, port = f"wfn{number}", f"{name}-{number}"
            self.ip(host, "link", "add", name, "type", "veth", "peer", "name", port, "netns", "wfsw")
            self.ip("wfsw", "link", "set", port, "master", switch, "up")
            self.ip(host, "addr", "add", f"{subnet}.{number + 1}/24", "dev", name)
            self.ip(host, "link", "set", name, "up")
            for space, end in (host, name), ("wfsw", port):
                if self.rate:
                    subprocess.run(["tc", "-n", space, "qdisc", "add", "dev", end, "root", "tbf", "rate", self.rate,
                                    "burst", "128kb", "latency", "100ms"], check=True)

    def ip(self, host, *words):
        subprocess.run(["ip", "-n", host, *words], check=True)

    def bytes_sent(self, host, name):
        shown = subprocess.run(["ip", "-n", host, "-s", "-j", "link", "show", name], stdout=subprocess.PIPE, check=True)
        return json.loads(shown.stdout)[0]["stats64"]["tx"]["bytes"]

    def unplug(self, host):
        """Nobody reaches the host any more, nor it them, and none is told so."""
        subprocess.run(["ip", "-n", "wfsw", "link", "set", f"p{NAMES.index(host)}", "nomaster"], check=True)

    def plug_in(self, host):
        subprocess.run(["ip", "-n", "wfsw", "link", "set", f"p{NAMES.index(host)}", "master", "br0"], check=True)
