// SPDX-License-Identifier: Apache-2.0
#include "reduction_run.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>

#include "arguments.hpp"

namespace weft::schedules {
namespace {

template <class Costs>
reduce_timing timed_with(const tree& of, const Costs& costs) {
  reduce_timing result;
  result.edges.reserve(static_cast<std::size_t>(of.ranks()) - 1);
  result.length = run_reduction(of, costs, [&](const timed_edge& transfer) { result.edges.push_back(transfer); });
  sort_by_start(result.edges);
  return result;
}

}  // namespace

void sort_by_start(std::vector<timed_edge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const timed_edge& a, const timed_edge& b) {
    return std::tie(a.start, a.from) < std::tie(b.start, b.from);
  });
}

reduce_timing timing(const tree& of, double transfer, double compute) {
  check_cost(transfer, "transfer");
  check_cost(compute, "compute");
  return timed_with(of, even_costs{transfer, compute});
}

reduce_timing timing(const tree& of, std::span<const rank_costs> ranks) {
  check_costs(ranks);
  if (ranks.size() != static_cast<std::size_t>(of.ranks()))
    throw std::invalid_argument("costs of " + std::to_string(ranks.size()) + " ranks for a tree of " +
                                std::to_string(of.ranks()));
  return timed_with(of, uneven_costs{ranks});
}

void check_costs(std::span<const rank_costs> ranks) {
  for (const rank_costs& one : ranks) {
    check_cost(one.arrival, "arrival");
    check_cost(one.transfer, "transfer");
    check_cost(one.compute, "compute");
  }
}

}  // namespace weft::schedules
