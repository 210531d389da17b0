// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <weft/schedules/timed_trees.hpp>

#include "job.hpp"

namespace weft::tools {
namespace {

using schedules::collective;
using schedules::time_text;

schedules::timed_reduction reduction(const plan_job& job) { return schedules::time_reduction(*job.how, job.shape); }
schedules::timed_broadcast broadcast(const plan_job& job) {
  return schedules::time_broadcast(job.how->name, job.shape.ranks, job.shape.root, job.shape.transfer);
}

void print_part(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

template <class Timed>
void print_json(std::string_view collective_name, const Timed& tree) {
  print_part("{\"collective\": \"" + std::string(collective_name) + "\", \"algorithm\": \"" + tree.algorithm +
             "\", \"ranks\": " + std::to_string(tree.ranks) + ", \"root\": " + std::to_string(tree.root) +
             ", \"length\": " + time_text(tree.length) + ", \"edges\": [");
  const char* between = "\n";
  for (const schedules::timed_edge& edge : tree.edges) {
    print_part(between);
    print_part("  {\"from\": " + std::to_string(edge.from) + ", \"to\": " + std::to_string(edge.to) +
               ", \"start\": " + time_text(edge.start) + ", \"end\": " + time_text(edge.end) + "}");
    between = ",\n";
  }
  print_part("]}\n");
}

template <class Timed>
void print_dot(const Timed& tree) {
  print_part("digraph tree {\n  " + std::to_string(tree.root) + " [shape=doublecircle];\n");
  for (const schedules::timed_edge& edge : tree.edges)
    print_part("  " + std::to_string(edge.from) + " -> " + std::to_string(edge.to) + " [label=\"" +
               time_text(edge.start) + " - " + time_text(edge.end) + "\"];\n");
  print_part("}\n");
}

}  // namespace

bool is_timed_tree(const plan_job& job) {
  if (job.shape.by.segments != 1) return false;
  if (job.how->kind == collective::reduce) return job.how->shape != nullptr;
  const auto trees = schedules::broadcast_trees();
  return job.how->kind == collective::broadcast && std::find(trees.begin(), trees.end(), job.how->name) != trees.end();
}

std::string tree_as_text(const plan_job& job) {
  return job.how->kind == collective::reduce ? draw(reduction(job)) : draw(broadcast(job));
}

void print_tree_as_json(const plan_job& job) {
  const auto kind = name(job.how->kind);
  job.how->kind == collective::reduce ? print_json(kind, reduction(job)) : print_json(kind, broadcast(job));
}

void print_tree_as_dot(const plan_job& job) {
  job.how->kind == collective::reduce ? print_dot(reduction(job)) : print_dot(broadcast(job));
}

}  // namespace weft::tools
