#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How jobs of `weft run` on several hosts end. Arguments: see on_hosts.py."""

import os
import re
import shlex
import signal
import subprocess
import time

from job_under_test import children, parent, state, wait_until
from on_hosts import JOBS, OBEYS, STUCK, WEFT, OnNamespaces, OnShells, run


class Shells(OnShells):
    def test_a_death_is_reported_with_host_rank_and_signal(self):
        status, out, err = self.outcome(self.each(2), [], OBEYS, "join", "only", "3", "signal", "9")
        self.assertEqual(status, 137, err)
        self.assertRegex(err, r"^weft run: rank 3 \(pid \d+, host b\) was killed by signal 9, SIGKILL \(Killed\)")
        status, out, err = self.outcome(self.each(2), [], "sh", "-c", "[ $WEFT_PROCESS = 4 ] && exit 5; exec sleep 60")
        self.assertEqual(status, 5)
        self.assertRegex(err, r"^weft run: rank 4 \(pid \d+, host c\) exited with status 5; ending the job\n$")

    def test_the_others_may_go_on(self):
        script = f'if [ $WEFT_PROCESS = 1 ]; then exec "{OBEYS}" join signal 9; else exec "{OBEYS}" join lost 1; fi'
        status, out, err = self.outcome(self.each(1), ["--on-failure", "continue"], "sh", "-c", script)
        self.assertEqual((status, out), (137, "process 1 is lost\n" * 2), err)
        self.assertIn("the others go on", err)

    def test_a_timeout_ends_the_job(self):
        status, out, err = self.outcome(self.each(1), ["--timeout", "1"], OBEYS, "ignore", "15", "sleep", "60000")
        self.assertEqual(status, 124)
        self.assertIn("did not end within 1 s", err)

    def test_hosts_that_cannot_be_used_end_the_job(self):
        for host, said in {
            "unknown": ["unknown: unknown: no such host is known\n", "host unknown cannot be reached: ", "status 255"],
            "refused": ["refused: refused: permission denied\n", "host refused cannot be reached: "],
            "missing": [f"host missing: there is no {WEFT} there"],
            "old": ['host old has another version of weft: "weft agent 0.0.1, protocol 0" there, "weft agent '],
            "silent": ["no agent of weft answered from silent within 1500 ms (WEFT_JOIN_TIMEOUT)"],
        }.items():
            running = self.run_on(["a:1", f"{host}:1", "b:1"], [], OBEYS, "say", "x", WEFT_JOIN_TIMEOUT="1500")
            self.assertEqual(running.wait(), 1, host)
            self.assertLess(running.took, 8)
            self.assertEqual(running.out, "")
            for part in said:
                self.assertIn(part, running.err)
            self.assertEqual(running.left_after(2), {})

    def test_signals_end_everything(self):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup would have the job ignore
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            running = self.run_on(self.each(1), [], OBEYS, "fork", "escape", "say", "ready", "sleep", "60000")
            self.assertTrue(running.said("ready", 3))
            running.process.send_signal(number)
            self.assertEqual(running.wait(), 128 + number)
            self.assertEqual(running.left_after(2), {})

    def test_whoever_is_killed_everything_ends(self):
        for hosts_of_it in ["a:2", "b:2", "c:2"], ["apart-a:2", "apart-b:2", "apart-c:2"]:
            for victim, status in {"launcher": -9, "agent": 1, "rank": 137, "shell": 1}.items():
                running = self.run_on(hosts_of_it, [], OBEYS, "fork", "ignore", "15", "say", "ready", "sleep", "60000")
                self.assertTrue(running.said("ready", 6))
                pid = {"launcher": lambda: running.process.pid, "agent": lambda: running.agents()[1],
                       "rank": lambda: running.ranks()[-1],
                       "shell": lambda: children(running.process.pid)[1]}[victim]()
                os.kill(pid, signal.SIGKILL)
                begin = time.monotonic()
                ended = running.wait()
                self.assertEqual(running.left_after(2), {}, victim)
                self.assertLess(time.monotonic() - begin, 2, victim)
                self.assertEqual(ended, status, victim)
                if status == 1:
                    self.assertRegex(running.err, "host (apart-)?[abc]: the agent there.* is gone: ")

    def test_an_agent_that_does_not_answer_keeps_nobody_waiting(self):
        for host in "b", "apart":
            running = self.run_on(["a:1", f"{host}:1"], ["--grace", "0.5"], OBEYS, "say", "ready", "sleep", "60000")
            self.assertTrue(running.said("ready", 2))
            deaf = running.agents()[-1]
            os.kill(deaf, signal.SIGSTOP)
            running.process.terminate()
            begin = time.monotonic()
            self.assertEqual(running.wait(), 128 + signal.SIGTERM)
            self.assertLess(time.monotonic() - begin, 3)
            self.assertIn(f"host {host}: the agent there does not answer", running.err)
            if host == "apart":
                os.kill(deaf, signal.SIGCONT)
            self.assertEqual(running.left_after(2), {})

    def test_an_agent_that_others_depend_on_is_killed(self):
        names = [f"apart{i}" for i in range(34)]
        running = self.run_on([f"{name}:1" for name in names], [], OBEYS, "say", "ready", "sleep", "60000")
        self.assertTrue(running.said("ready", 34), running.err)
        agents = running.agents()
        first = next(parent(parent(agent)) for agent in agents if parent(parent(agent)) in agents)
        os.kill(first, signal.SIGKILL)
        self.assertEqual(running.wait(), 1)
        self.assertEqual(running.left_after(2), {})
        self.assertIn("host apart0: the agent there, with rank 0, is gone", running.err)

    def test_a_launcher_that_is_killed_while_hosts_start(self):
        running = self.run_on(["a:1", "apart:1", "silent:1"], [], OBEYS, "say", "x")
        while len(running.agents()) < 2:
            time.sleep(0.01)
        running.process.kill()
        running.wait()
        self.assertEqual(running.left_after(2), {})

    def test_a_timeout_holds_while_hosts_start(self):
        status, out, err = self.outcome(["a:1", "silent:1"], ["--timeout", "1"], OBEYS, "say", "x")
        self.assertEqual((status, out), (124, ""))
        self.assertIn("did not end within 1 s", err)

    def test_a_job_is_stopped_and_goes_on(self):
        running = self.run_on(self.each(1), [], OBEYS, "say", "ready", "sleep", "1000", "say", "done")
        self.assertTrue(running.said("ready", 3))
        ranks = running.ranks()
        running.process.send_signal(signal.SIGTSTP)
        wait_until(lambda: [state(pid) for pid in [running.process.pid, *ranks]] == ["T"] * 4)
        running.process.send_signal(signal.SIGCONT)
        self.assertEqual((running.wait(), running.out), (0, "ready\n" * 3 + "done\n" * 3), running.err)

    def test_signals_for_the_ranks_reach_them(self):
        running = self.run_on(self.each(2), [], OBEYS, "block", "10", "block", "12", "say", "ready", "await", "10", "await", "12")
        self.assertTrue(running.said("ready", 6))
        for agent in running.agents():
            os.kill(agent, signal.SIGUSR1)  # as a resource manager may send it to everything of a job
        running.process.send_signal(signal.SIGUSR1)
        self.assertTrue(running.said("signal 10", 6))
        running.process.send_signal(signal.SIGUSR2)
        self.assertEqual(running.wait(), 0, running.err)
        self.assertEqual(running.out.count("signal 12\n"), 6)

    def test_ranks_have_time_to_end_by_themselves(self):
        words = ["block", "15", "say", "ready", "await", "15", "sleep", "1500", "say", "done"]
        running = self.run_on(self.each(2), [], OBEYS, *words)
        self.assertTrue(running.said("ready", 6))
        running.process.terminate()
        self.assertEqual(running.wait(), 128 + signal.SIGTERM)
        self.assertEqual(running.out.count("done\n"), 6)
        running = self.run_on(self.each(2), ["--grace", "1"], OBEYS, "ignore", "15", "say", "ready", "sleep", "60000")
        self.assertTrue(running.said("ready", 6))
        begin = time.monotonic()
        running.process.terminate()
        self.assertEqual(running.wait(), 128 + signal.SIGTERM)
        self.assertGreaterEqual(time.monotonic() - begin, 1)
        self.assertLess(time.monotonic() - begin, 6)
        self.assertEqual(running.left_after(2), {})

    def test_writers_learn_that_nobody_reads(self):
        command = [WEFT, "run", "--hosts", "a:1,b:1", "--rsh", self.shell, "--oversubscribe", OBEYS, "flood", "9999999", "x"]
        done = subprocess.run(["bash", "-c", shlex.join(command) + " | head -n 1; exit ${PIPESTATUS[0]}"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 128 + signal.SIGPIPE, done.stderr)
        self.assertEqual(done.stdout, "x" * 200 + "\n")


class Namespaces(OnNamespaces):
    def test_a_host_that_is_not_there(self):
        status, out, err = self.outcome([f"{self.hosts[0]}:1", "weftnowhere:1"], [], OBEYS, "say", "x")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("host weftnowhere cannot be reached", err)

    def test_whoever_is_killed_everything_ends(self):
        for victim in "launcher", "agent", "rank":
            running = self.run_on(self.each(2), [], OBEYS, "fork", "say", "ready", "join", "sleep", "60000")
            self.assertTrue(running.said("ready", 6), running.err)
            pid = {"launcher": lambda: running.process.pid, "agent": lambda: running.agents()[-1],
                   "rank": lambda: running.ranks()[-1]}[victim]()
            os.kill(pid, signal.SIGKILL)
            begin = time.monotonic()
            running.wait()
            self.assertEqual(running.left_after(2), {}, victim)
            self.assertLess(time.monotonic() - begin, 2, victim)

    def test_a_host_that_vanishes(self):
        for words in ["sleep", "60000"], ["flood", "99999999", "x"]:
            running = self.run_on(self.each(1), ["--tag-output"], OBEYS, "say", "ready", *words)
            wait_until(lambda: all(f"[{i}] ready" in running.out for i in range(3)))
            self.up.unplug(self.hosts[2])
            begin = time.monotonic()
            status = running.wait()
            left = running.left_after(8)
            self.up.plug_in(self.hosts[2])
            self.assertEqual((status, left), (1, {}))
            self.assertLess(time.monotonic() - begin, 20)
            # The shell is a process of this machine, and ends when the agent has noticed, too.
            self.assertRegex(running.err, f"host {self.hosts[2]}: the agent there.* is gone: ")

    def test_a_stopped_rank_is_waited_for_where_another_one_of_its_host_says_so(self):
        options = ["--peer-timeout", "1000", "-x", "WEFT_TUNE=off"]
        running = self.run_on(self.each(2), options, STUCK, "stop", "3")
        self.assertTrue(running.said("stuck", 1), running.err)
        wait_until(lambda: "T" in [state(pid) for pid in running.ranks()])
        time.sleep(4)  # of this the test is: nobody loses it meanwhile
        [stopped] = [pid for pid in running.ranks() if state(pid) == "T"]
        os.kill(stopped, signal.SIGCONT)
        self.assertEqual((running.wait(), running.err), (0, ""))
        # Alone on its host it is silent like one whose host is gone.
        running = self.run_on(self.each(1), options, STUCK, "stop", "1")
        self.assertNotEqual(running.wait(), 0)
        self.assertIn("rank 1 of the world (process 1) is lost", running.err)
        self.assertEqual(running.left_after(8), {})

    def test_a_host_that_vanishes_while_the_others_go_on(self):
        running = self.run_on(self.each(2), ["--on-failure", "continue"], JOBS, "notice", "-1")
        wait_until(lambda: all(f"rank {i} is there" in running.out for i in range(6)))
        self.up.unplug(self.hosts[2])
        status = running.wait()
        left = running.left_after(8)
        self.up.plug_in(self.hosts[2])
        self.assertEqual((status, left), (1, {}))
        for i in range(4):
            noticed = re.search(rf"rank {i} lost rank [45] after (\d+) ms", running.out)
            self.assertTrue(noticed, running.out + running.err)
            self.assertLess(int(noticed[1]), 10_000)  # 5 s by default
        self.assertRegex(running.err, f"host {self.hosts[2]}: the agent there.* is gone: ")


run(shells=Shells, namespaces=Namespaces)
