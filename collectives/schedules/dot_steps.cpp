// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <tuple>
#include <weft/schedules/step_names.hpp>
#include <weft/schedules/step_writers.hpp>

namespace weft::schedules {
namespace {

std::string node(std::size_t rank, std::size_t step) { return "r" + std::to_string(rank) + "s" + std::to_string(step); }

std::string label(const schedule& of, const step& s) {
  std::string text(name(s.kind));
  if (!preposition(s.kind).empty()) text.append(" ").append(preposition(s.kind)).append(std::to_string(s.peer));
  for (const segment& part : of.sources_of(s)) text += "\\n" + text_of(part);
  for (const segment& part : of.targets_of(s)) text += "\\n-> " + text_of(part);
  return text;
}

bool sends(const step& s) { return s.kind == step_kind::send || s.kind == step_kind::notify; }
bool receives(const step& s) { return s.kind == step_kind::receive || s.kind == step_kind::await; }

std::string cluster(std::size_t rank, const schedule& of) {
  const std::string number = std::to_string(rank);
  std::string text = "  subgraph cluster_" + number + " {\n    label=\"rank " + number + "\";\n";
  for (std::size_t s = 0; s < of.steps.size(); ++s)
    text += "    " + node(rank, s) + " [label=\"" + label(of, of.steps[s]) + "\"];\n";
  for (std::size_t s = 0; s < of.steps.size(); ++s)
    for (const step_index before : of.after(of.steps[s]))
      text += "    " + node(rank, before) + " -> " + node(rank, s) + ";\n";
  return text + "  }\n";
}

}  // namespace

void write_dot(std::span<const schedule> ranks, const std::function<void(std::string_view text)>& write) {
  using message = std::tuple<std::int32_t, std::int32_t, std::uint32_t>;  // from, to, ordinal
  std::map<message, std::string> received_at;
  write("digraph schedule {\n  node [shape=box];\n");
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    write(cluster(rank, ranks[rank]));
    for (std::size_t s = 0; s < ranks[rank].steps.size(); ++s)
      if (const step& one = ranks[rank].steps[s]; receives(one))
        received_at[{one.peer, static_cast<std::int32_t>(rank), one.ordinal}] = node(rank, s);
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (std::size_t s = 0; s < ranks[rank].steps.size(); ++s) {
      const step& one = ranks[rank].steps[s];
      if (!sends(one)) continue;
      const auto found = received_at.find({static_cast<std::int32_t>(rank), one.peer, one.ordinal});
      if (found != received_at.end()) write("  " + node(rank, s) + " -> " + found->second + " [style=bold];\n");
    }
  write("}\n");
}

}  // namespace weft::schedules
