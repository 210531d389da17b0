#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft report`: what its pages say of traces and benchmarks, in a browser.

    test_report.py WEFT PROGRAM     PROGRAM: examples/trouble
"""

import collections
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser

WEFT, PROGRAM = (str(pathlib.Path(sys.argv.pop(1)).resolve()) for _ in range(2))


class Tables(html.parser.HTMLParser):
    """Of the page's tables, by id, the rows: a cell is the number that it has, else its text."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.values, self.text = {}, {}, ""
        self._table = self._cell = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        if tag == "table":
            self._table = self.rows.setdefault(known["id"], [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag == "td":
            self._cell = float(known["data-value"]) if "data-value" in known else ""
        elif "data-value" in known:
            self.values[known["id"]] = float(known["data-value"])

    def handle_data(self, data):
        self.text += data
        if isinstance(self._cell, str):
            self._cell += data

    def handle_endtag(self, tag):
        if tag == "td":
            self._table[-1].append(self._cell)
            self._cell = None

    def table(self, name):
        return [row for row in self.rows[name] if row]


def call(rank, name, begin, length, sequence, **more):
    return {"ph": "X", "cat": "call", "name": name, "pid": rank, "tid": 0, "ts": begin, "dur": length,
            "args": {"communicator": 0, "sequence": sequence, "bytes": 8, "algorithm": "ring", "road": "node",
                     "form": "blocking", **more}}


def wait(rank, begin, length, whom):
    return {"ph": "X", "cat": "wait", "name": "wait", "pid": rank, "tid": 0, "ts": begin, "dur": length,
            "args": {"for": [whom]}}


# Rank 1 comes 60 us late to the first sum, 5 us to the second, which is less than clocks may be off.
EVENTS = [
    *[{"ph": "M", "name": "thread_name", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}", "rank": rank}}
      for rank in range(2)],
    call(0, "allreduce", 0, 100, 0, predicted_us=20), wait(0, 10, 80, 1), call(1, "allreduce", 60, 40, 0, predicted_us=20),
    call(0, "allreduce", 200, 30, 1, predicted_us=20), call(1, "allreduce", 205, 25, 1, predicted_us=20),
    {"ph": "X", "cat": "kernel", "name": "sum", "pid": 1, "tid": 0, "ts": 210, "dur": 4, "args": {"bytes": 8}},
]
TRACE = {"displayTimeUnit": "ns", "traceEvents": EVENTS,
         "otherData": {"program": "<b>&'\"", "version": "0.1.0", "job": "ff", "begun": "2026-01-01T00:00:00.000Z",
                       "ranks": 2, "processes": 2, "missing": [],
                       "hosts": [{"host": "a", "processes": [0], "offset_us": 0, "error_us": 0},
                                 {"host": "b", "processes": [1], "offset_us": 3, "error_us": 10}],
                       "tracks": [{"pid": rank, "tid": 0, "name": f"rank {rank}", "rank": rank, "events": 3,
                                   "dropped": 7 * rank} for rank in range(2)]}}


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "page.html"

    def report(self, *words):
        return subprocess.run([WEFT, "report", *map(str, words)], capture_output=True, text=True, check=False,
                              cwd=self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def shown(self, *inputs):
        done = self.report(*inputs, "-o", self.page)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        text, complaints = browser.open_page(self.page)
        self.assertEqual(complaints, [])
        return Tables(text)

    def test_the_numbers_of_a_trace(self):
        page = self.shown(self.write("trace.json", json.dumps(TRACE)))
        self.assertEqual(page.table("by-call"), [["allreduce", 4, 195, 100 * 195 / 400, 80, 195 / 4]])
        self.assertEqual(page.table("by-rank"), [[0, 230, 130, 80, 0, 100, 100 * 100 / 230],
                                                 [1, 170, 65, 0, 4, 105, 100 * 105 / 170]])
        self.assertEqual(page.values, {"dropped": 7, "collectives": 2})
        self.assertEqual(page.table("late"), [[1, 1, 50, 60]])
        self.assertEqual(page.table("slowest"), [["allreduce 0 of communicator 0", 8, "ring", 0, 100, 60, 1],
                                                 ["allreduce 1 of communicator 0", 8, "ring", 200, 30, 5, 1]])
        self.assertEqual(page.table("path"), [["comes, after all that it waits for", 1, 60, 0], ["goes on", 1, 60, 30],
                                              ["goes on", 0, 90, 10]])
        self.assertEqual(page.table("predictions"), [["allreduce", 8, "ring", "node", 2, 20, 40, 2]])
        self.assertIn("<b>&'\"", page.text)

    def test_a_real_trace(self):
        ran = subprocess.run([WEFT, "run", "-n", "3", "--oversubscribe", "--trace", "trace.json", "-x", "WEFT_TUNE=off",
                              PROGRAM, "slow", self.folder, "300"], capture_output=True, text=True, check=False,
                             cwd=self.folder, timeout=120)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        page = self.shown("trace.json")
        trace = json.loads((self.folder / "trace.json").read_text())
        times, ends = collections.defaultdict(list), {}
        for event in sorted((e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] == "call"),
                            key=lambda e: (e["ts"], -e["dur"])):
            track = event["pid"], event["tid"]
            if event["ts"] >= ends.get(track, 0):  # not within another one
                ends[track] = event["ts"] + event["dur"]
                times[event["name"]].append(event["dur"])
        self.assertEqual({row[0]: row[1] for row in page.table("by-call")}, {name: len(all) for name, all in times.items()})
        for row in page.table("by-call"):
            self.assertAlmostEqual(row[2], sum(times[row[0]]), delta=0.01)
        self.assertEqual([row[0] for row in page.table("by-rank")], [0, 1, 2])
        # Rank 2 has sixty times the work of the others.
        self.assertEqual(max(page.table("by-rank"), key=lambda row: row[6])[0], 2)

    def test_benchmarks_beside_each_other(self):
        lines = [{"peer": peer, "collective": name, "ranks": 2, "bytes": bytes, "median_us": bytes * factor}
                 for peer, name, factor in (("weft", "allreduce", 0.5), ("other", "all-reduce", 0.25))
                 for bytes in (64, 8, 1 << 20)]
        page = self.shown(self.write("lines", "\n".join(map(json.dumps, lines))))
        self.assertEqual(page.table("sweep-0"), [[bytes, bytes * 0.5, bytes * 0.25] for bytes in (8, 64, 1 << 20)])
        self.assertEqual((self.page.read_text()).count("<polyline"), 2)
        bench = subprocess.run([WEFT, "bench", "allreduce", "-n", "2", "-b", "8", "-e", "64", "--json", "--budget", "5"],
                               capture_output=True, text=True, check=True, timeout=120).stdout
        page = self.shown(self.write("bench", bench))
        self.assertEqual(page.table("sweep-0"), [[line["bytes"], line["median_us"]]
                                                 for line in map(json.loads, filter(str.strip, bench.splitlines()))])

    def test_bad_input_is_refused_with_where_it_is(self):
        for name, text, said in (("cut", json.dumps(TRACE)[:-40], "cut: this is no whole trace of weft"),
                                 ("words", '{"peer": "x"}\nwords\n', "words:1: this is neither a trace"),
                                 ("empty", "\n", "empty is empty: give it a trace"),
                                 ("bare", '{"traceEvents": [], "otherData": {}}', "bare: this is no whole trace")):
            done = self.report(self.write(name, text), "-o", "page")
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(said, done.stderr)
            self.assertFalse((self.folder / "page").exists())
        done = self.report("nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere cannot be read: No such file or directory", done.stderr)

    def test_nothing_else_is_written_over(self):
        trace = self.write("trace.json", json.dumps(TRACE))
        self.write("mine.html", "<p>mine")
        done = self.report(trace, "-o", "mine.html")
        self.assertEqual(done.returncode, 2)
        self.assertIn("mine.html is there, and no report", done.stderr)
        self.assertEqual((self.folder / "mine.html").read_text(), "<p>mine")
        self.assertEqual(self.report(trace, "-o", "mine.html", "--force").returncode, 0)
        self.assertEqual(self.report(trace, "-o", "mine.html").returncode, 0)  # a report by now
        self.assertEqual(self.report(trace).returncode, 0)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["mine.html", "report.html", "trace.json"])
        text = (self.folder / "report.html").read_text()
        self.assertEqual(re.findall(r"(?:src|href)=\"(?!data:)[^\"]*|https?:|<script", text), [])


if WHY := browser.missing():
    print("skipped: " + WHY)
    sys.exit(1 if os.environ.get("CI") == "true" else 77)
unittest.main(argv=sys.argv[:1], verbosity=2)
