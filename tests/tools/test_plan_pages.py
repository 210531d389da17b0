#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of `weft plan --html` in a browser: nothing goes wrong there, they show what the plan says, and the slider
goes through it.

    test_plan_pages.py WEFT
"""

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

WEFT = str(pathlib.Path(sys.argv.pop(1)).resolve())


class Drawn(html.parser.HTMLParser):
    """Of a page's elements the classes, and the text of those that have an id."""

    def __init__(self, text):
        super().__init__()
        self.classes, self.text, self._open, self.shape = [], {}, None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        if "class" in known:
            self.classes.append(known["class"].split())
        self.shape = known.get("data-shape", self.shape)
        self._open = known.get("id")

    def handle_data(self, data):
        if self._open:
            self.text[self._open] = self.text.get(self._open, "") + data

    def handle_endtag(self, tag):
        self._open = None

    def count(self, *names):
        return sum(all(name in each for name in names) for each in self.classes)


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = pathlib.Path(folder.name) / "page.html"

    def plan(self, *words):
        return subprocess.run([WEFT, "plan", *words], capture_output=True, text=True, check=False)

    def drawn(self, *words, step=0):
        done = self.plan(*words, "--html", str(self.page))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        text, complaints = browser.open_page(self.page, f"step={step}")
        self.assertEqual(complaints, [])
        return Drawn(text)

    def test_a_tree_has_the_times_of_the_plan(self):
        words = ["reduce", "--ranks", "9", "--algorithm", "greedy", "--transfer", "1", "--compute", "2"]
        plan = json.loads(self.plan(*words, "--format", "json").stdout)
        page = self.drawn(*words)
        self.assertEqual(page.shape, "tree")
        self.assertEqual(page.text["heading"], "greedy reduce, 9 ranks, root 0")
        self.assertEqual(page.count("edge"), len(plan["edges"]))
        self.assertEqual(page.count("box", "transfer"), len(plan["edges"]))
        self.assertIn(f"{len(plan['edges'])} transfers", page.text["facts"])
        self.assertIn(f"over at {plan['length']}", page.text["facts"])
        bars = json.loads(page.text["plan"])["bars"]
        transfers = [[bar["rank"], bar["to"], bar["start"], bar["end"]] for bar in bars if "to" in bar]
        self.assertEqual(sorted(transfers), sorted([e["from"], e["to"], e["start"], e["end"]] for e in plan["edges"]))

    def test_a_ring_has_the_messages_of_the_plan(self):
        words = ["allreduce", "--ranks", "5", "--algorithm", "ring"]
        plan = json.loads(self.plan(*words, "--format", "json").stdout)
        sends = [(rank, step["peer"]) for rank, steps in enumerate(plan["steps"]) for step in steps
                 if step["kind"] == "send"]
        page = self.drawn(*words, "--bytes", "400")
        self.assertEqual(page.shape, "circle")
        self.assertEqual(page.count("edge"), len(set(sends)))
        bars = json.loads(page.text["plan"])["bars"]
        self.assertEqual(sorted((bar["rank"], bar["to"]) for bar in bars if "to" in bar), sorted(sends))
        self.assertEqual({bar["bytes"] for bar in bars if "to" in bar}, {80})
        self.assertIn(f"{len(sends)} transfers of {80 * len(sends)} bytes, for a vector of 400", page.text["facts"])

    def test_the_slider_goes_through_it(self):
        words = ["bcast", "--ranks", "8", "--algorithm", "binomial"]
        before, some, last = (self.drawn(*words, step=step) for step in (0, 3, 7))
        self.assertEqual(before.text["count"], "step 0 of 7")
        self.assertEqual((before.count("box", "done"), before.count("now")), (0, 0))
        self.assertEqual(some.text["count"], "step 3 of 7")
        # Both of the second round are on their way, sent and received; that of the first is over.
        self.assertEqual((some.count("box", "now"), some.count("box", "done")), (4, 4 + 2))
        self.assertEqual((some.count("edge", "now"), some.count("edge", "done")), (2, 3))
        self.assertRegex(some.text["says"], r"^At 1: rank \d sends .* to rank \d, 64 bytes, from 1 to 2; 1 more at the")
        self.assertEqual(last.text["count"], "step 7 of 7")
        self.assertEqual(last.count("box", "done"), 2 * 7)

    def test_what_cannot_be_drawn_is_refused(self):
        done = self.plan("allreduce", "--ranks", "1000", "--algorithm", "ring", "--html", str(self.page))
        self.assertEqual(done.returncode, 2)
        self.assertIn("at most 128 are drawn", done.stderr)
        self.assertFalse(self.page.exists())
        done = self.plan("allreduce", "--ranks", "4", "--html", str(self.page), "--rank", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--html: a page shows all ranks", done.stderr)
        done = self.plan("allreduce", "--ranks", "4", "--html", "/no/such/folder/page")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/no/such/folder/page cannot be written: No such file or directory", done.stderr)

    def test_it_needs_nothing_from_elsewhere(self):
        done = self.plan("barrier", "--ranks", "3", "--html")
        self.assertTrue(done.stdout.startswith("<!DOCTYPE html>"))
        self.assertEqual(re.findall(r"(?:src|href)=\"(?!data:)[^\"]*", done.stdout), [])
        self.assertEqual(set(re.findall(r"https?://[^\"]*", done.stdout)), {"http://www.w3.org/2000/svg"})


if WHY := browser.missing():
    print("skipped: " + WHY)
    sys.exit(1 if os.environ.get("CI") == "true" else 77)
unittest.main(argv=sys.argv[:1], verbosity=2)
