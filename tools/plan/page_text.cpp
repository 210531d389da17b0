// SPDX-License-Identifier: Apache-2.0
#include "page_text.hpp"

#include <string_view>

namespace weft::tools {
namespace {

constexpr std::string_view head = R"page(<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>weft plan</title>
<style>
:root { color-scheme: light dark; --ink: #1c2733; --soft: #7b8794; --line: #c9d1d9; --back: #fff;
  --transfer: #3b78b5; --combine: #d9822b; --now: #c2255c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9ef; --soft: #93a1af; --line: #3a4652; --back: #14191f;
  --transfer: #6ba8e5; --combine: #e6a45e; --now: #ff6b9d; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 1.5rem auto;
  max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.25rem; margin: 0; }
p { margin: .3rem 0; color: var(--soft); }
#bar { position: sticky; top: 0; background: var(--back); padding: .5rem 0; border-bottom: 1px solid var(--line);
  display: flex; gap: .8rem; align-items: center; z-index: 1; }
#slider { flex: 1; accent-color: var(--now); }
#bar button { font: inherit; padding: 0 .7rem; }
#says { min-height: 1.6em; color: var(--ink); }
svg { display: block; max-width: 100%; margin-top: 1rem; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .axis { fill: var(--soft); }
.lane, .grid { stroke: var(--line); }
.node { fill: var(--back); stroke: var(--soft); stroke-width: 1.5; }
.node.now { stroke: var(--now); stroke-width: 3; }
.edge { fill: none; stroke: var(--line); stroke-width: 1.5; }
.edge.done { stroke: var(--transfer); }
.edge.now { stroke: var(--now); stroke-width: 3; }
#arrow path { fill: context-stroke; }
.transfer, .arrival { fill: var(--transfer); }
.arrival { fill-opacity: .35; }
.combine { fill: var(--combine); }
.box { opacity: .3; cursor: pointer; }
.box.done { opacity: 1; }
.box.now { opacity: 1; stroke: var(--now); stroke-width: 2.5; }
.key span { display: inline-block; width: .9em; height: .9em; margin: 0 .3em 0 1em; vertical-align: -.1em; }
</style>
<h1 id="heading"></h1>
<p><span id="facts"></span><span class="key"><span style="background:var(--transfer)"></span>send<span
  style="background:var(--transfer);opacity:.35"></span>receive<span
  style="background:var(--combine)"></span>combine or copy</span></p>
<div id="bar"><button id="play">play</button><input id="slider" type="range" min="0" value="0"
  aria-label="step"><span id="count"></span></div>
<p id="says" aria-live="polite"></p>
<div id="graph"></div>
<div id="lanes"></div>
<script type="application/json" id="plan">)page";

constexpr std::string_view tail = R"page(</script>
<script>
"use strict";
const plan = JSON.parse(document.getElementById("plan").textContent);
const bars = plan.bars, isTransfer = bar => "to" in bar;
const end = bars.reduce((latest, bar) => Math.max(latest, bar.end), 0);
const byId = id => document.getElementById(id);
const round = time => +time.toPrecision(6);

function draw(parent, name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

// Who sends to whom.
const edges = new Map();
for (const bar of bars.filter(isTransfer)) edges.set(bar.rank + ">" + bar.to, { from: bar.rank, to: bar.to });

// The parents of a tree from the root, where the pairs that talk are one; else nothing.
function parentsOfTree() {
  const beside = Array.from({ length: plan.ranks }, () => new Set());
  for (const { from, to } of edges.values()) { beside[from].add(to); beside[to].add(from); }
  const pairs = beside.reduce((all, set) => all + set.size, 0) / 2;
  if (pairs !== plan.ranks - 1) return null;
  const parents = Array(plan.ranks).fill(-1), root = plan.root ?? 0, seen = new Set([root]), order = [root];
  for (const rank of order)
    for (const next of [...beside[rank]].sort((a, b) => a - b))
      if (!seen.has(next)) { seen.add(next); parents[next] = rank; order.push(next); }
  return seen.size === plan.ranks ? { parents, order, root } : null;
}

function placesOfTree({ parents, order, root }) {
  const children = parents.map(() => []), depth = parents.map(() => 0), column = parents.map(() => 0);
  for (const rank of order) if (rank !== root) {
    children[parents[rank]].push(rank);
    depth[rank] = depth[parents[rank]] + 1;
  }
  let leaves = 0;
  for (const rank of placesAfterChildren(children, root))
    column[rank] = children[rank].length === 0 ? leaves++
      : (column[children[rank][0]] + column[children[rank].at(-1)]) / 2;
  const across = Math.max(leaves - 1, 1), levels = Math.max(...depth) || 1;
  const width = Math.max(240, Math.min(1100, 70 * leaves)), height = 56 * levels + 60;
  return { width, height, at: rank => [leaves === 1 ? width / 2 : 30 + (width - 60) * column[rank] / across,
                                       30 + (height - 60) * depth[rank] / levels] };
}

function placesAfterChildren(children, root) {
  const order = [], stack = [[root, 0]];
  while (stack.length) {
    const top = stack.at(-1), [rank, next] = top;
    if (next < children[rank].length) { top[1]++; stack.push([children[rank][next], 0]); }
    else { order.push(rank); stack.pop(); }
  }
  return order;
}

function placesOnCircle() {
  const radius = Math.max(70, Math.min(280, plan.ranks * 11)), side = 2 * radius + 60;
  const angle = rank => 2 * Math.PI * rank / plan.ranks - Math.PI / 2;
  return { width: side, height: side,
           at: rank => [side / 2 + radius * Math.cos(angle(rank)), side / 2 + radius * Math.sin(angle(rank))] };
}

// Each bar's marks: what is highlighted while it goes on.
const marks = bars.map(() => []);
const nodeRadius = plan.ranks > 48 ? 10 : 15;

function drawGraph() {
  const tree = parentsOfTree(), places = tree ? placesOfTree(tree) : placesOnCircle();
  const svg = draw(byId("graph"), "svg", { width: places.width, height: places.height,
    viewBox: `0 0 ${places.width} ${places.height}`, role: "img", "aria-label": "who sends to whom" });
  svg.dataset.shape = tree ? "tree" : "circle";
  const arrow = draw(draw(svg, "defs", {}), "marker", { id: "arrow", markerWidth: 7, markerHeight: 7, refX: 6, refY: 3.5,
    orient: "auto", markerUnits: "userSpaceOnUse", viewBox: "0 0 7 7" });
  draw(arrow, "path", { d: "M0,0 L7,3.5 L0,7 z" });
  for (const edge of edges.values()) {
    const [x1, y1] = places.at(edge.from), [x2, y2] = places.at(edge.to), length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const dx = (x2 - x1) / length, dy = (y2 - y1) / length, cut = nodeRadius + 2;
    // Two that send to each other go side by side.
    const bend = edges.has(edge.to + ">" + edge.from) ? 14 : 0;
    edge.mark = draw(svg, "path", { class: "edge", "marker-end": "url(#arrow)",
      d: `M${x1 + dx * cut},${y1 + dy * cut} Q${(x1 + x2) / 2 - dy * bend},${(y1 + y2) / 2 + dx * bend} ` +
         `${x2 - dx * cut},${y2 - dy * cut}` });
  }
  const nodes = Array.from({ length: plan.ranks }, (_, rank) => {
    const [cx, cy] = places.at(rank), node = draw(svg, "circle", { class: "node", cx, cy, r: nodeRadius });
    draw(svg, "text", { x: cx, y: cy + 4, "text-anchor": "middle" }, rank);
    return node;
  });
  bars.forEach((bar, i) => {
    if (isTransfer(bar)) marks[i].push(edges.get(bar.rank + ">" + bar.to).mark);
    else marks[i].push(nodes[bar.rank]);
  });
}

function say(bar) {
  const blocks = bar.blocks ? " blocks " + bar.blocks : "";
  const what = isTransfer(bar) ? `sends${blocks} to rank ${bar.to}, ${bar.bytes} bytes` : "combines or copies";
  return `rank ${bar.rank} ${what}, from ${round(bar.start)} to ${round(bar.end)}`;
}

let now;
function drawLanes() {
  const left = 62, width = 1100 - left - 10, half = plan.ranks > 48 ? 6 : 10, row = 2 * half + 8, top = 24;
  const height = top + row * plan.ranks + 8, x = time => left + (end > 0 ? time / end * width : 0);
  const svg = draw(byId("lanes"), "svg", { width: 1100, height, viewBox: `0 0 1100 ${height}`, role: "img",
    "aria-label": "every rank over time" });
  const rough = end / 10, power = 10 ** Math.floor(Math.log10(rough || 1)), unit = rough / power;
  const step = power * (unit <= 1 ? 1 : unit <= 2 ? 2 : unit <= 5 ? 5 : 10);
  for (let time = 0; end > 0 && time <= end * 1.0001; time += step) {
    draw(svg, "line", { class: "grid", x1: x(time), x2: x(time), y1: top - 4, y2: height - 8 });
    draw(svg, "text", { class: "axis", x: x(time), y: 12, "text-anchor": "middle" }, round(time));
  }
  const y = rank => top + row * rank;
  for (let rank = 0; rank < plan.ranks; ++rank) {
    draw(svg, "line", { class: "lane", x1: left, x2: left + width, y1: y(rank) + row - 2, y2: y(rank) + row - 2 });
    draw(svg, "text", { x: left - 8, y: y(rank) + row / 2 + 3, "text-anchor": "end" }, "rank " + rank);
  }
  bars.forEach((bar, i) => {
    const box = (kind, rank, below) => {
      const made = draw(svg, "rect", { class: "box " + kind, x: x(bar.start), y: y(rank) + below * half,
        width: Math.max(x(bar.end) - x(bar.start) - .5, 1), height: half - 1, rx: 1 });
      draw(made, "title", {}, say(bar));
      made.addEventListener("click", () => show(i + 1));
      marks[i].push(made);
    };
    if (!isTransfer(bar)) return box("combine", bar.rank, 0);
    box("transfer", bar.rank, 0);
    box("arrival", bar.to, 1);
  });
  now = draw(svg, "line", { x1: left, x2: left, y1: top - 6, y2: height - 8, stroke: "var(--now)", "stroke-width": 1.5 });
  now.at = x;
}

// Step 0 is before all, step k when the k-th begins: with it goes on what has begun and not ended.
function show(step) {
  step = Math.max(0, Math.min(bars.length, step || 0));
  const time = step > 0 ? bars[step - 1].start : 0, last = step === bars.length;
  bars.forEach((bar, i) => {
    const begun = i < step, over = begun && bar.end <= time;
    bar.state = !begun ? "" : over ? "done" : "now";
  });
  // An edge carries many: what goes on now counts most.
  const state = new Map();
  bars.forEach((bar, i) => marks[i].forEach(mark => {
    if (bar.state === "now" || (bar.state === "done" && state.get(mark) !== "now")) state.set(mark, bar.state);
    else if (!state.has(mark)) state.set(mark, "");
  }));
  state.forEach((its, mark) => {
    mark.classList.toggle("now", its === "now");
    mark.classList.toggle("done", its !== "");
  });
  now.setAttribute("x1", now.at(time));
  now.setAttribute("x2", now.at(time));
  byId("slider").value = step;
  byId("count").textContent = `step ${step} of ${bars.length}`;
  const others = bars.filter((bar, i) => bar.state === "now" && i !== step - 1).length;
  byId("says").textContent = step === 0 ? "Before the first step." : `At ${round(time)}: ` + say(bars[step - 1]) +
    (others ? `; ${others} more at the same time` : "") + (last ? ". That is the last." : ".");
  history.replaceState(null, "", "#step=" + step);
}

byId("heading").textContent = document.title = plan.heading;
const transfers = bars.filter(isTransfer);
byId("facts").textContent = `${transfers.length} transfers of ` +
  `${transfers.reduce((all, bar) => all + bar.bytes, 0)} bytes, for a vector of ${plan.bytes}; ` +
  `${bars.length - transfers.length} combinations or copies; over at ${round(end)}`;
drawGraph();
drawLanes();
byId("slider").max = bars.length;
byId("slider").addEventListener("input", event => show(+event.target.value));
const stepOfAddress = () => +(location.hash.match(/^#step=(\d+)$/) ?? [0, 0])[1];
addEventListener("hashchange", () => show(stepOfAddress()));
let playing = 0;
byId("play").addEventListener("click", () => {
  if (playing) { clearInterval(playing); playing = 0; }
  else {
    if (+byId("slider").value === bars.length) show(0);
    playing = setInterval(() => {
      show(+byId("slider").value + 1);
      if (+byId("slider").value === bars.length) byId("play").click();
    }, 400);
  }
  byId("play").textContent = playing ? "stop" : "play";
});
show(stepOfAddress());
</script>
</html>
)page";

}  // namespace

std::string page_around(const nlohmann::json& plan) {
  std::string text = plan.dump();
  // No element ends in it, nor begins.
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return std::string(head) + text + std::string(tail);
}

}  // namespace weft::tools
