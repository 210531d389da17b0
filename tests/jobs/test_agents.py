#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `weft run` does with several hosts by its agents. Arguments: see on_hosts.py."""

import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

from job_under_test import Running, parent
from on_hosts import JOBS, OBEYS, STUCK, WEFT, OnNamespaces, OnShells, run
from remote_shell import program


class Everywhere:
    """What holds on whatever hosts."""

    def test_who_is_stuck_is_said_of_all_hosts(self):
        running = self.run_on(self.each(2), ["-x", "WEFT_TUNE=off", "--stuck-after", "2"], STUCK, "recv", "3")
        self.assertTrue(running.said("stuck", 1), running.err)
        said, until = "", time.monotonic() + 60
        while "; 5 others wait there" not in said and time.monotonic() < until:
            said = subprocess.run(self.start([WEFT, "ps", str(running.process.pid)]), capture_output=True, text=True).stdout
        self.assertIn("rank 3 has not entered allreduce 841 of communicator 0; it is in recv(from 0, tag 7, 8 B) for ", said)
        self.assertIn(f"6 ranks in 6 of 6 processes on {self.machines} host", said)
        self.assertEqual(said.count("sum_with_others("), 5, said)
        self.assertIn("wait_for_message", said)
        until = time.monotonic() + 60
        while "nothing has moved for 2 s (--stuck-after)" not in running.err and time.monotonic() < until:
            time.sleep(0.1)
        self.assertIn("nothing has moved for 2 s (--stuck-after)", running.err)
        self.assertIn("rank 3 has not entered allreduce 841", running.err)
        self.assertNotIn("may not be traced", running.err)  # as it is where two rolls are taken at once
        running.process.send_signal(signal.SIGTERM)
        running.wait()
        self.assertEqual(running.left_after(2), {})


    def test_a_rank_that_still_dumps_core_is_named_before_those_that_have_failed_meanwhile(self):
        if pathlib.Path("/proc/sys/kernel/core_pattern").read_text() != "core\n":
            self.skipTest("cores do not go into the working directory here")
        with tempfile.TemporaryDirectory() as folder:
            dumps = f"""cd {folder}; ulimit -c unlimited; echo $$ >pid.new; mv pid.new pid; exec {OBEYS} fill 300 signal 6"""
            fails = f"""until grep -qs "CoreDumping:.1" /proc/$(cat {folder}/pid 2>&-)/status; do sleep 0.01; done; exit 3"""
            script = f"case $WEFT_PROCESS in 3) {dumps};; 0) {fails};; *) exec sleep 60;; esac"
            status, out, err = self.outcome(self.each(2), [], "sh", "-c", script)
        self.assertEqual((status, out), (134, ""), err)
        self.assertIn("weft run: rank 3 (pid ", err)
        self.assertIn("was killed by signal 6, SIGABRT (Aborted), core dumped; ending the job", err)
        self.assertNotIn("exited with status", err)


class Shells(Everywhere, OnShells):
    def test_ranks_follow_the_hosts_and_meet(self):
        words = ["join", "variable", "WEFT_PROCESS", "variable", "WEFT_PLACE"]
        status, out, err = self.outcome(["a:2", "b:1", "c:3"], ["--tag-output"], OBEYS, *words)
        self.assertEqual((status, err), (0, ""))
        places = ["0,2,0,3", "1,2,0,3", "0,1,1,3", "0,3,2,3", "1,3,2,3", "2,3,2,3"]
        expected = [f"[{i}] WEFT_{what}" for i, place in enumerate(places) for what in (f"PLACE={place}", f"PROCESS={i}")]
        self.assertEqual(sorted(out.splitlines()), expected)

    def test_a_process_hosts_ranks(self):
        status, out, err = self.outcome(self.each(4), ["--ranks-per-process", "2"], JOBS, "meet")
        self.assertEqual((status, out), (0, "12 ranks\n"), err)

    def test_a_list_in_brackets_and_several_programs(self):
        which = ["variable", "WEFT_PROCESS", "say"]
        command = [WEFT, "run", "--host", "n[1-2,5],m:1", "-ppn", "2", "-np", "3", "--rsh", self.shell, "--oversubscribe",
                   "--tag-output", OBEYS, "join", *which, "a", ":", "-n", "5", OBEYS, "join", *which, "b"]
        running = Running(command)
        self.assertEqual(running.wait(), 0, running.err)
        expected = [f"[{i}] {line}" for i in range(8) for line in (f"WEFT_PROCESS={i}", "a" if i < 3 else "b")]
        self.assertEqual(sorted(running.out.splitlines()), expected)
        running = Running([WEFT, "run", "--hosts", "n[2-1]", "--rsh", self.shell, OBEYS, "say", "x"])
        self.assertEqual(running.wait(), 2)
        self.assertIn("runs backwards", running.err)

    def test_a_hostfile(self):
        path = program("a slots=2\n# nobody\nb:1\n")
        status, out, err = self.outcome([], ["--hostfile", path], OBEYS, "join", "say", "met")
        self.assertEqual((status, out, err), (0, "met\n" * 3, ""))
        status, out, err = self.outcome([], ["--hostfile", path, "--ranks-per-node", "2"], OBEYS, "join", "say", "met")
        self.assertEqual((status, out, err), (0, "met\n" * 4, ""))
        status, out, err = self.outcome([], ["--hostfile", path, "-n", "4"], OBEYS, "say", "x")
        self.assertEqual(status, 2)
        self.assertIn("have room for 3 ranks, and -n asks for 4", err)
        pathlib.Path(path).write_text("a\n\nb slots=few\n")
        status, out, err = self.outcome([], ["--hostfile", path], OBEYS, "say", "x")
        self.assertEqual(status, 2)
        self.assertIn(f'{path}:3: "few" is no number of ranks', err)
        os.unlink(path)

    def test_environment_and_folder_go_along(self):
        shell = program("#!/bin/sh\nshift; cd /; exec env -i sh -c \"$*\"\n")
        running = Running([WEFT, "run", "--hosts", "a,b", "--rsh", shell, "--oversubscribe", "-x", "GIVEN=a b'c\"",
                           "-x", "NAMED", "sh", "-c", 'echo "$GIVEN $NAMED $WEFT_TEST_ONE ${UNNAMED-none} $LD_LIBRARY_PATH $PWD"'],
                          NAMED="named", UNNAMED="unnamed", WEFT_TEST_ONE="1", LD_LIBRARY_PATH="/no such/folder's")
        self.assertEqual(running.wait(), 0, running.err)
        self.assertEqual(running.out, f"a b'c\" named 1 none /no such/folder's {os.getcwd()}\n" * 2)
        os.unlink(shell)

    def test_rank_0_reads_the_standard_input(self):
        text = "".join(f"line {i}\n" for i in range(100_000))
        status, out, err = self.outcome(self.each(2), [], OBEYS, "echo", stdin=text)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, text)
        status, out, err = self.outcome(self.each(2), [], OBEYS, "say", "done", stdin=text)
        self.assertEqual((status, out, err), (0, "done\n" * 6, ""))

    def test_output_comes_in_whole_lines(self):
        status, out, err = self.outcome(self.each(2), ["--tag-output"], OBEYS, "flood", "20000", "a")
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(len(lines), 120_000)
        self.assertEqual({line for line in lines}, {f"[{i}] " + "a" * 200 for i in range(6)})

    def test_a_program_that_is_not_there(self):
        status, out, err = self.outcome(self.each(1), [], "no-such-program")
        self.assertEqual(status, 127)
        self.assertRegex(err, 'host [abc]: there is no program "no-such-program" in PATH')

    def test_this_host_needs_no_shell(self):
        for name in "localhost", socket.gethostname():
            running = Running([WEFT, "run", "--hosts", f"{name}:2", "--rsh", "/no/such/shell", "--oversubscribe", OBEYS,
                               "join", "say", "met"])
            self.assertEqual(running.wait(), 0, running.err)
            self.assertEqual(running.out, "met\nmet\n")

    def test_a_shell_that_is_not_there(self):
        running = Running([WEFT, "run", "--hosts", "a,b", "--rsh", "/no/such/shell", OBEYS, "say", "x"])
        self.assertEqual(running.wait(), 127)
        self.assertIn('there is no program "/no/such/shell"', running.err)

    def test_what_start_up_files_say_does_no_harm(self):
        status, out, err = self.outcome(["chatty:2"], [], OBEYS, "join", "say", "met")
        self.assertEqual((status, out), (0, "met\nmet\n"))
        self.assertEqual(sorted(err.splitlines()), ["chatty: be good", "chatty: welcome to chatty"])

    def test_the_secret_is_on_no_command_line(self):
        running = self.run_on(self.each(1), [], OBEYS, "say", "ready", "sleep", "60000")
        self.assertTrue(running.said("ready", 3))
        rank = running.ranks()[-1]
        variables = pathlib.Path(f"/proc/{rank}/environ").read_bytes().split(b"\0")
        secret = next(v for v in variables if v.startswith(b"WEFT_SECRET=")).partition(b"=")[2].decode()
        self.assertGreaterEqual(len(secret), 32)
        for line in running.processes().values():
            self.assertNotIn(secret, line)
        running.process.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(), 128 + signal.SIGTERM)
        self.assertEqual(running.left_after(2), {})

    def test_more_hosts_than_one_starts(self):
        names = [f"h{i}" for i in range(40)]
        running = self.run_on([f"{name}:1" for name in names], [], OBEYS, "join", "say", "met", "sleep", "60000")
        self.assertTrue(running.said("met", 40), running.err)
        starters = [parent(pid) for pid in running.agents()]
        self.assertEqual(starters.count(running.process.pid), 32)
        running.process.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(), 130)
        self.assertEqual(running.left_after(2), {})
        status, out, err = self.outcome([f"{name}:1" for name in names[:33]] + ["unknown:1"], [], OBEYS, "say", "x")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("host unknown cannot be reached", err)

    def test_strangers_are_dropped_and_disturb_nobody(self):
        running = self.run_on(self.each(1), [], OBEYS, "join", "variable", "WEFT_STORE", "sleep", "2000", "join", "say", "met")
        deadline = time.monotonic() + 30
        while running.out.count("\n") < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        host, _, port = running.out.splitlines()[0].partition("=")[2].rpartition(":")
        crowd = []
        for i in range(500):
            crowd.append(socket.create_connection((host, int(port))))
            crowd[-1].send(b"garbage " * 20)
        begin = time.monotonic()
        crowd[-1].settimeout(5)
        try:
            while crowd[-1].recv(4096):
                pass
        except ConnectionResetError:
            pass
        self.assertLess(time.monotonic() - begin, 1)
        running.process.send_signal(signal.SIGTERM)
        running.wait()
        self.assertEqual(running.left_after(2), {})


class Namespaces(Everywhere, OnNamespaces):
    def test_the_doctor_finds_what_is_unplugged(self):
        words = self.start([WEFT, "doctor", "--hosts", ",".join(self.hosts), "--rsh", self.shell])
        running = Running(words)
        running.wait()
        for host in self.hosts:
            self.assertRegex(running.out, rf"(?m)^ok +host {host} +reached at 10\.77\.0\.\d+:\d+, and reaches 10\.77\.0\.1:")
        self.up.unplug(self.hosts[2])
        running = Running(words)
        status = running.wait()
        self.up.plug_in(self.hosts[2])
        self.assertEqual(status, 4, running.out)
        self.assertRegex(running.out, rf"(?m)^error +host {self.hosts[2]} +cannot be connected to from here: ")
        self.assertRegex(running.out, rf"(?m)^ok +host {self.hosts[1]} ")

    def test_ranks_meet_at_the_address_that_all_reach(self):
        status, out, err = self.outcome(self.each(2), [], OBEYS, "join", "variable", "WEFT_STORE")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual({line.rpartition(":")[0] for line in out.splitlines()}, {"WEFT_STORE=10.77.0.1"})
        self.assertEqual(len(out.splitlines()), 6)


run(shells=Shells, namespaces=Namespaces)
