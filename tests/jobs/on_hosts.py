# SPDX-License-Identifier: Apache-2.0
"""What the tests of `weft run`'s agents have in common, and their arguments: which hosts (shells: this machine by other
names; namespaces: network namespaces), the program that obeys commands, the jobs' program, the one that gets stuck, the
command weft."""

import os
import pathlib
import sys
import unittest

import hosts
from job_under_test import Running
from remote_shell import SHELL, program

KIND = sys.argv.pop(1)
OBEYS, JOBS, STUCK, WEFT = (str(pathlib.Path(sys.argv.pop(1)).resolve()) for _ in range(4))


class OnHosts(unittest.TestCase):
    """What holds for whatever hosts: subclasses say which there are."""

    hosts, shell = [], ""
    machines = 1  # that they are, as far as they can tell

    def run_on(self, hosts, options, *words, **rest):
        named = [option for option in ("--hosts", ",".join(hosts)) if hosts]
        command = [WEFT, "run", *named, "--rsh", self.shell, "--oversubscribe", *options, *words]
        return Running(self.start(command), **rest)

    def start(self, command):
        """The words that run the launcher."""
        return command

    def each(self, ranks):
        return [f"{host}:{ranks}" for host in self.hosts]

    def outcome(self, *arguments, **rest):
        running = self.run_on(*arguments, **rest)
        status = running.wait()
        self.assertEqual(running.left_after(2), {})
        return status, running.out, running.err


class OnShells(OnHosts):
    hosts = ["a", "b", "c"]

    @classmethod
    def setUpClass(cls):
        cls.shell = program(SHELL)

    @classmethod
    def tearDownClass(cls):
        os.unlink(cls.shell)


class OnNamespaces(OnHosts):
    hosts, shell = hosts.NAMES, hosts.RSH
    machines = len(hosts)

    @classmethod
    def setUpClass(cls):
        cls.up = hosts.Hosts()
        cls.up.add_interface("docker0", "172.17.0.1/16")

    @classmethod
    def tearDownClass(cls):
        cls.up.close()

    def start(self, command):
        return hosts.on(self.hosts[0], *command)


def run(**classes):
    """Runs the tests of the class for the hosts that were asked for, and exits with what came of it."""
    if KIND == "namespaces" and (why := hosts.missing()):
        print(f"skipped: {why}")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(classes[KIND])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
