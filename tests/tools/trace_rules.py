# SPDX-License-Identifier: Apache-2.0
"""The rules of Chrome's trace-event format that a trace of weft's keeps, and what it says beside them.

Format: "Trace Event Format" (Google, the document that chrome://tracing and Perfetto's importer go by)."""

import collections
import json

NEEDED = {"M": {"name", "pid", "args"}, "X": {"name", "cat", "pid", "tid", "ts", "dur"},
          "b": {"name", "cat", "pid", "id", "ts"}, "e": {"name", "cat", "pid", "id", "ts"}}
CATEGORIES = {"call", "step", "transfer", "wait", "kernel", "sleep"}


def nanoseconds(microseconds):
    """Exact: what a file says has three decimals."""
    found = round(microseconds * 1000)
    assert abs(found - microseconds * 1000) < 1e-3, f"{microseconds} has more than three decimals"
    return found


def load(file):
    with open(file, encoding="utf-8") as text:
        return json.load(text)


def check(trace):
    """Raises AssertionError that names what breaks a rule."""
    assert set(trace) == {"traceEvents", "displayTimeUnit", "otherData"}, f"the members are {sorted(trace)}"
    assert trace["displayTimeUnit"] in ("ms", "ns"), "displayTimeUnit"
    for event in trace["traceEvents"]:
        check_event(event)
    check_nesting(trace["traceEvents"])
    check_pairs(trace["traceEvents"])
    check_tracks(trace)
    check_hosts(trace["otherData"])


def check_event(event):
    phase = event.get("ph")
    assert phase in NEEDED, f"phase of {event}"
    lacking = NEEDED[phase] - set(event)
    assert not lacking, f"{sorted(lacking)} of {event}"
    for key in ("pid", "tid"):
        assert isinstance(event.get(key, 0), int), f"{key} of {event}"
    if phase == "M":
        return
    assert event["cat"] in CATEGORIES, f"category of {event}"
    assert nanoseconds(event["ts"]) >= 0, f"begin of {event}"
    assert nanoseconds(event.get("dur", 0)) >= 0, f"length of {event}"
    if event["cat"] == "wait" and phase != "e":
        assert all(isinstance(rank, int) for rank in event["args"]["for"]), f"who is waited for: {event}"


def by_track(events, phase):
    found = collections.defaultdict(list)
    for event in events:
        if event["ph"] == phase:
            found[event["pid"], event["tid"]].append(event)
    return found


def check_nesting(events):
    """Complete events of a track lie within each other, or apart."""
    for track, own in by_track(events, "X").items():
        spans = sorted((nanoseconds(e["ts"]), -nanoseconds(e["dur"]), e["name"]) for e in own)
        ends = []
        for begin, length, name in spans:
            end = begin - length
            while ends and ends[-1][0] <= begin:
                ends.pop()
            assert not ends or end <= ends[-1][0], f"on {track} {name} at {begin} overlaps {ends[-1][1]}"
            ends.append((end, name))


def check_pairs(events):
    """Each asynchronous event that begins ends once, not before, and no other of its category has its id."""
    begun = {}
    for event in (e for e in events if e["ph"] == "b"):
        key = event["cat"], event["id"], event["name"], event["pid"]
        assert key not in begun, f"begins twice: {key}"
        begun[key] = event
    for event in (e for e in events if e["ph"] == "e"):
        key = event["cat"], event["id"], event["name"], event["pid"]
        first = begun.pop(key, None)
        assert first is not None, f"ends and did not begin: {key}"
        assert nanoseconds(first["ts"]) <= nanoseconds(event["ts"]), f"ends before it begins: {key}"
    assert not begun, f"never end: {sorted(begun)[:3]}"


def check_tracks(trace):
    events, other = trace["traceEvents"], trace["otherData"]
    named = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    described = {(t["pid"], t["tid"]): t for t in other["tracks"]}
    assert set(described) <= set(named), f"tracks without a name: {set(described) - set(named)}"
    counted = collections.Counter((e["pid"], e["tid"]) for e in events if e["ph"] in "Xb")
    assert set(counted) <= set(named), f"events on tracks that are not named: {set(counted) - set(named)}"
    assert sum(counted.values()) == sum(t["events"] for t in other["tracks"]) or other["missing"], "events are missing"
    for track in other["tracks"]:
        assert track["dropped"] >= 0, f"{track}"
    processes = {e["pid"] for e in events if e["name"] == "process_name"}
    assert set(range(other["processes"])) == processes | set(other["missing"]), "neither there nor missing"


def check_hosts(other):
    listed = sorted(p for host in other["hosts"] for p in host["processes"])
    assert listed == list(range(other["processes"])), f"processes of the hosts: {listed}"
    for host in other["hosts"]:
        assert set(host["processes"]) <= set(other["missing"]) or host["error_us"] >= 0, f"{host}"


def calls(trace, **wanted):
    """The calls whose arguments are these, by rank."""
    ranks = {(t["pid"], t["tid"]): t.get("rank") for t in trace["otherData"]["tracks"]}
    found = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        args = event.get("args", {})
        if event.get("cat") == "call" and event["ph"] in "Xb" and all(args.get(k) == v for k, v in wanted.items()):
            found[ranks[event["pid"], event["tid"]]].append(event)
    return found
