# SPDX-License-Identifier: Apache-2.0
"""Says what became of the tests of these Meson builds: what failed, the end of what it printed, how to run it again,
and `N passed, N failed`.

    count.py BUILD_DIR...

Counts what ran, by meson-logs/testlog.json: the cases of a Catch2 program by the summary that it ends with, any other
test as one. A build without a log, or whose log holds no test, is a failure; so is a sanitizer's report though no test
failed. The exit status is 1 if anything failed.
"""

import json
import pathlib
import re
import shlex
import sys
from collections import Counter

ALL_PASSED = re.compile(r"^All tests passed \(\d+ assertions? in (\d+) test cases?\)$", re.M)
SHOWN_LINES = 60  # of what a test that failed printed: a log that is cut to its end shows why
SUMMARY = re.compile(r"^test cases: +\d+ \|(.*)$", re.M)
OUTCOMES = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped", "IGNORED": "skipped"}


def cases(output):
    """Outcomes of the cases of a Catch2 program; empty for the output of anything else."""
    if all_passed := ALL_PASSED.findall(output):
        return Counter(passed=int(all_passed[-1]))
    counts = Counter()
    for summary in SUMMARY.findall(output)[-1:]:
        for number, outcome in re.findall(r"(\d+) (passed|failed as expected|failed|skipped)", summary):
            counts["passed" if outcome == "failed as expected" else outcome] += int(number)
    return counts


def count_test(test):
    """Outcomes of one test of Meson's; what its program says of its cases cannot undo a failure."""
    outcome = OUTCOMES.get(test["result"], "failed")
    counts = cases(test.get("stdout") or "")
    if outcome == "passed" and "No tests ran" in (test.get("stdout") or ""):
        outcome = "failed"
    if not counts or (outcome == "failed" and not counts["failed"]):
        counts[outcome] += 1
    return counts


def show_failure(build, test):
    printed = "".join(test.get(stream) or "" for stream in ("stderr", "stdout"))
    print("\n".join(printed.splitlines()[-SHOWN_LINES:]))
    name = test["name"].rpartition(" / ")[2]
    print(f"failed: {name} ({test['result']}); again:  meson test -C {build} -v {shlex.quote(name)}")
    if cases(test.get("stdout") or ""):
        print("  and one case alone with  --test-args \"'NAME OF THE CASE'\"")


def count_build(build):
    log = build / "meson-logs" / "testlog.json"
    try:
        tests = [json.loads(line) for line in log.read_text().splitlines()]
    except (OSError, ValueError) as unreadable:
        print(unreadable)
        tests = []
    counts = Counter()
    for test in tests:
        outcomes = count_test(test)
        counts += outcomes
        if outcomes["failed"]:
            show_failure(build, test)
    if not tests:
        print(f"{build}: no test ran")
        counts["failed"] += 1
    for report in sorted(log.parent.glob("sanitizer.*")):
        print(f"{report}:\n{report.read_text(errors='replace')}")
        counts["failed"] = counts["failed"] or 1
    return counts


def text(counts):
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    return f"{counts['passed']} passed, {counts['failed']} failed{skipped}"


def main(builds):
    total = Counter()
    for build in builds:
        counts = count_build(pathlib.Path(build))
        total += counts
        if len(builds) > 1:
            print(f"{build}: {text(counts)}")
    print(text(total))
    return total["failed"] > 0


sys.exit(main(sys.argv[1:]))
