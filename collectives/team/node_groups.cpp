// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/process/process.hpp>
#include <weft/team/node_groups.hpp>
#include <weft/topology/groups.hpp>

namespace weft::detail {
namespace {

/// Fewer processes read each other's values in less than another round takes: the way of a cache line from core to core
/// is a tenth of a round, and their reads overlap.
constexpr std::size_t least_grouped = 16;

std::vector<std::vector<int>> rows_of(std::size_t seats, std::size_t each) {
  std::vector<std::vector<int>> rows((seats + each - 1) / each);
  for (std::size_t i = 0; i < seats; ++i) rows[i / each].push_back(static_cast<int>(i));
  return rows;
}

}  // namespace

std::optional<patterns::two_levels> worthwhile_levels(std::span<const std::vector<int>> groups, std::size_t self) {
  std::size_t seats = 0, longest = 0;
  for (const auto& group : groups) {
    seats += group.size();
    longest = std::max(longest, group.size());
  }
  if (longest + groups.size() >= seats) return std::nullopt;
  return patterns::two_levels::of(groups, self);
}

std::vector<std::vector<int>> groups_on_node(process& host, std::span<const fabric::arena_boards::seat> seats) {
  if (const int each = host.settings().group_ranks; each > 0)
    return rows_of(seats.size(), static_cast<std::size_t>(each));
  const fabric::arena& memory = *host.arena();
  if (seats.size() < least_grouped || memory.crowded()) return {};
  std::vector<topology::cpu_set> bindings;
  for (const auto& each : seats) bindings.push_back(memory.cpus_of(each.process));
  const auto caches = topology::domains(host.machine(), topology::sharing::last_level_cache);
  const auto is_bound = [&](const topology::cpu_set& cpus) {
    return !cpus.empty() && std::ranges::any_of(caches, [&](const auto& cache) { return cache.includes(cpus); });
  };
  if (!std::ranges::all_of(bindings, is_bound)) return {};
  return topology::group_ranks(host.machine(), bindings, topology::sharing::last_level_cache);
}

}  // namespace weft::detail
