#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of real jobs keep the rules of Chrome's trace-event format, and say what happened. Arguments: the program
`traced`, the command weft."""

import copy
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import hosts

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import trace_rules  # noqa: E402

PROGRAM, WEFT = (str(pathlib.Path(sys.argv.pop(1)).resolve()) for _ in range(2))


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "job.json"

    def run_job(self, options, *words, status=0, on=None, program=PROGRAM, **variables):
        command = [WEFT, "run", "--oversubscribe", "--trace", str(self.file), *options, program, *words]
        done = subprocess.run(on(command) if on else command, capture_output=True, text=True, timeout=120, check=False,
                              env=os.environ | variables)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("the trace", done.stderr)
        return trace_rules.load(self.file)

    def checked(self, *arguments, **rest):
        trace = self.run_job(*arguments, **rest)
        trace_rules.check(trace)
        return trace

    def check_forms(self, trace, ranks, **wanted):
        for form, times in (("blocking", 4), ("started", 4), ("planned", 4)):
            found = {rank: sum(e["name"] == "allreduce" for e in events)
                     for rank, events in trace_rules.calls(trace, form=form, **wanted).items()}
            self.assertEqual(found, {rank: times for rank in range(ranks)}, form)
        self.assertEqual(trace["otherData"]["missing"], [])
        self.assertEqual(trace["otherData"]["ranks"], ranks)
        self.assertEqual(list(self.folder.iterdir()), [self.file])

    def test_node(self):
        self.check_forms(self.checked(["-n", "2"], "2"), 2, road="node")

    def test_four_of_a_node(self):
        self.check_forms(self.checked(["-n", "4"], "2"), 4, road="node")

    def test_messages(self):
        for provider in ([], ["--provider", "tcp;ofi_rxm"]):
            self.check_forms(self.checked(["-n", "2", *provider, "-x", "WEFT_NODE=off"], "2"), 2, road="messages")

    def test_ranks_of_a_process(self):
        trace = self.checked(["-n", "4", "--ranks-per-process", "4", "--workers", "2"], "2")
        self.check_forms(trace, 4, road="process")
        self.assertEqual(trace["otherData"]["processes"], 1)
        self.check_forms(self.checked(["-n", "8", "--ranks-per-process", "4"], "2"), 8, road="process")

    def test_progress_thread(self):
        for road in ("on", "off"):
            trace = self.checked(["-n", "2", "--progress", "thread", "-x", f"WEFT_NODE={road}"], "2")
            self.check_forms(trace, 2)
            tracks = [t["name"] for t in trace["otherData"]["tracks"]]
            self.assertEqual(tracks.count("progress thread"), 2)

    def test_who_is_late(self):
        for options in (["-n", "3"], ["-n", "3", "-x", "WEFT_NODE=off", "-x", "WEFT_BARRIER=dissemination"]):
            trace = self.checked(options, "1", "late", "2")
            waited_for = [e["args"]["for"] for e in trace["traceEvents"]
                          if e.get("cat") == "wait" and e["ph"] == "X" and e["dur"] > 100_000]
            self.assertIn([2], waited_for)
            blocked = [e for e in trace_rules.calls(trace, form="blocking")[0]
                       if e["name"] == "barrier" and e["dur"] > 100_000]
            self.assertEqual(len(blocked), 1)

    def test_lost_process(self):
        for lost in (1, 0):
            self.file.unlink(missing_ok=True)
            trace = self.checked(["-n", "3", "--on-failure", "continue"], "1", "lose", str(lost), status=9)
            self.assertEqual(trace["otherData"]["missing"], [lost])
            self.assertEqual({t["pid"] for t in trace["otherData"]["tracks"]}, {0, 1, 2} - {lost})

    def test_process_that_goes_on(self):
        """It is waited for, whoever writes the trace."""
        for road in ("on", "off"):
            for staying in ("0", "1"):
                trace = self.checked(["-n", "3", "-x", f"WEFT_NODE={road}"], "1", "stay", staying)
                self.assertEqual(trace["otherData"]["missing"], [])

    def test_bounded(self):
        trace = self.checked(["-n", "2", "-x", "WEFT_TRACE_BUFFER=4k"], "50")
        for track in trace["otherData"]["tracks"]:
            self.assertEqual(track["events"], 64)
            self.assertGreater(track["dropped"], 0)

    def test_relative_name(self):
        subprocess.run([WEFT, "run", "-n", "1", "--trace", "here.json", PROGRAM, "1"], cwd=self.folder, timeout=60,
                       check=True)
        trace_rules.check(trace_rules.load(self.folder / "here.json"))

    def test_unwritable(self):
        done = subprocess.run([WEFT, "run", "-n", "2", "--oversubscribe", "--trace", "/proc/none/of it", PROGRAM, "1"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"the trace is not written: open /proc/none/of it.*: No such file.*\(errno 2\)")

    def test_full_disk(self):
        done = subprocess.run([WEFT, "run", "-n", "2", "--oversubscribe", "--trace", "/dev/full", PROGRAM, "1"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("No space left on device (errno 28)", done.stderr)
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())

    def test_hosts(self):
        """Two hosts, of which one has a clock that is an hour ahead."""
        if why := hosts.missing():
            self.skipTest(why)
        program = self.folder / "program"
        program.write_text(f'#!/bin/sh\n[ "$(hostname)" = {hosts.NAMES[1]} ] || exec {PROGRAM} "$@"\n'
                           f'exec unshare --time --monotonic 3600 --fork --kill-child {PROGRAM} "$@"\n')
        program.chmod(0o755)
        if subprocess.run(["unshare", "--time", "--monotonic", "1", "true"], check=False).returncode != 0:
            self.skipTest("there are no time namespaces")
        up = hosts.Hosts()
        self.addCleanup(up.close)
        trace = self.run_job(["--hosts", ",".join(f"{name}:2" for name in hosts.NAMES[:2]), "--rsh", hosts.RSH],
                             "2", "late", "3", program=str(program), on=lambda command: hosts.on(hosts.NAMES[0], *command))
        trace_rules.check(trace)
        mine, other = trace["otherData"]["hosts"]
        self.assertEqual(mine["offset_us"], 0)
        self.assertGreater(other["error_us"], 0)
        self.assertLess(other["error_us"], 1e6)
        # It is the same clock beside that hour.
        self.assertLessEqual(abs(other["offset_us"] - 3600e6), other["error_us"])
        self.check_barriers(trace, other["error_us"])

    def check_barriers(self, trace, bound):
        """Nobody leaves one before all have entered it."""
        found = trace_rules.calls(trace, form="blocking")
        by_number = {}
        for events in found.values():
            for e in events:
                if e["name"] == "barrier":
                    by_number.setdefault(e["args"]["sequence"], []).append(e)
        self.assertTrue(by_number)
        for number, each in by_number.items():
            self.assertEqual(len(each), 4)
            last_in = max(e["ts"] for e in each)
            first_out = min(e["ts"] + e["dur"] for e in each)
            self.assertGreaterEqual(first_out + 2 * bound + 1, last_in, f"barrier {number}")


class Rules(unittest.TestCase):
    """What breaks a rule is found."""

    TRACE = {"traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "process 0 on a"}},
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 0, "args": {"name": "rank 0", "rank": 0}},
        {"ph": "X", "cat": "call", "name": "barrier", "pid": 0, "tid": 0, "ts": 1.5, "dur": 3.0, "args": {}},
        {"ph": "X", "cat": "wait", "name": "wait", "pid": 0, "tid": 0, "ts": 2.0, "dur": 1.0, "args": {"for": [1]}},
        {"ph": "b", "cat": "transfer", "name": "send", "pid": 0, "tid": 0, "ts": 2.0, "id": "1", "args": {}},
        {"ph": "e", "cat": "transfer", "name": "send", "pid": 0, "tid": 0, "ts": 9.0, "id": "1"}],
        "displayTimeUnit": "ns",
        "otherData": {"processes": 1, "missing": [], "hosts": [{"host": "a", "processes": [0], "error_us": 0}],
                      "tracks": [{"pid": 0, "tid": 0, "events": 3, "dropped": 0}]}}

    def test_right(self):
        trace_rules.check(self.TRACE)

    def test_wrong(self):
        def change(event, **values):
            def apply(trace):
                trace["traceEvents"][event].update(values)
            return apply

        def drop(event):
            return lambda trace: trace["traceEvents"].pop(event)

        def without(event, key):
            return lambda trace: trace["traceEvents"][event].pop(key)

        for wrong in (change(2, ts=-1.0), change(2, dur=-1.0), change(3, dur=5.0), change(3, ph="Q"),
                      change(3, args={}), change(3, cat="other"), change(5, ts=1.0), change(5, id="2"),
                      change(4, ts=2.00001), change(4, tid=7), drop(1), drop(2), drop(4), drop(5), without(2, "ts"),
                      without(2, "dur"), without(4, "id"), without(3, "pid"),
                      lambda trace: trace["otherData"].update(missing=[0, 1]),
                      lambda trace: trace["otherData"].update(hosts=[]),
                      lambda trace: trace["otherData"]["tracks"][0].update(events=4)):
            trace = copy.deepcopy(self.TRACE)
            wrong(trace)
            with self.assertRaises((AssertionError, KeyError), msg=str(trace)):
                trace_rules.check(trace)


if __name__ == "__main__":
    unittest.main(verbosity=2)
