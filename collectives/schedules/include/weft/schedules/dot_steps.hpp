// All ranks' steps as a graph for Graphviz.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Writes a digraph in the DOT language: a cluster a rank, a node a step, an edge from each step to those that depend
/// on it, and a bold one from each send to its receive, which matching by ordinal finds. Messages without a receive
/// have no edge.
void write_dot(std::span<const schedule> ranks, const std::function<void(std::string_view text)>& write);

}  // namespace weft::schedules
