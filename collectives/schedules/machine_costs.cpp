// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <weft/schedules/machine_costs.hpp>

namespace weft::schedules {
namespace {

const road_costs& measured(const machine_costs& of, road which) {
  static constexpr road_costs nothing;
  const auto there_is = [](const std::optional<road_costs>& costs) { return costs.has_value(); };
  const auto wanted = of.by_road.begin() + static_cast<std::ptrdiff_t>(which);
  const auto longer = std::find_if(wanted, of.by_road.end(), there_is);
  if (longer != of.by_road.end()) return **longer;
  const auto longest = std::find_if(of.by_road.rbegin(), of.by_road.rend(), there_is);
  return longest == of.by_road.rend() ? nothing : **longest;
}

link_costs link_of(const machine_costs& of, road which, double combine) {
  const road_costs& road = measured(of, which);
  link_costs link(road.latency + 2 * road.overhead, road.gap_per_byte, combine);
  link.gap = std::min(std::max(road.gap, road.overhead), link.alpha - road.overhead);
  link.overhead = road.overhead;
  link.exchange = std::max(road.exchange_per_byte, road.gap_per_byte);
  link.handshake = road.handshake;
  link.eager = of.eager;
  if (which >= road::fabric) link.at_once = of.at_once;
  if (of.boards && which != road::memory) link.call = of.boards->call;  // ranks of one process need no kernel
  return link;
}

double at_length(const std::array<double, board_lengths.size()>& of, double bytes) {
  const auto next =
      std::ranges::find_if(board_lengths, [&](std::size_t each) { return static_cast<double>(each) >= bytes; });
  if (next == board_lengths.begin()) return of.front();
  if (next == board_lengths.end()) return of.back();
  const auto i = static_cast<std::size_t>(next - board_lengths.begin());
  const double below = std::log2(static_cast<double>(board_lengths[i - 1])),
               above = std::log2(static_cast<double>(board_lengths[i]));
  const double part = (std::log2(bytes) - below) / (above - below);
  return of[i - 1] + part * (of[i] - of[i - 1]);
}

}  // namespace

std::string_view name(road which) {
  static constexpr std::array<std::string_view, roads> names{"memory", "node", "fabric", "line"};
  return names[static_cast<std::size_t>(which)];
}

const road_costs& costs_of(const machine_costs& of, road which) { return measured(of, which); }

const board_costs& assumed_boards(bool long_slots, bool crowded) noexcept {
  static constexpr auto made = [](const std::array<double, memory_uses>& copy, double turn) {
    board_costs of;
    of.round = 1.5e-7;
    of.call = 1e-6;
    of.turn = turn;
    for (std::size_t use = 0; use < memory_uses; ++use) {
      of.by_use[use].read.fill(1e-10);
      of.by_use[use].copy.fill(copy[use]);
      of.by_use[use].copy.front() = 5e-11;
    }
    return of;
  };
  static constexpr std::array long_copy{5e-11, 5e-11, 5e-11}, short_copy{9e-11, 1e-10, 1.1e-10};
  constexpr double turn = 5e-6;
  static constexpr board_costs by_long_slots[]{made(long_copy, 0), made(long_copy, turn)},
      by_short_slots[]{made(short_copy, 0), made(short_copy, turn)};
  return (long_slots ? by_long_slots : by_short_slots)[crowded ? 1 : 0];
}

memory_use use_of(collective kind) {
  switch (kind) {
    case collective::broadcast:
    case collective::scatter:
    case collective::scan:
    case collective::exscan:
      return memory_use::one_way;
    case collective::allgather:
    case collective::gather:
    case collective::alltoall:
    case collective::reduce_scatter:
      return memory_use::exchanges;
    default:
      return memory_use::combines;
  }
}

path_costs path_of(const board_costs& of, collective kind, memory_pattern by, double given, double combine) {
  // In a reduce at once the others write on while the root combines, as the root of a broadcast does while others copy.
  const bool streams = kind == collective::reduce && by == memory_pattern::at_once;
  const memory_costs& memory = of[streams ? memory_use::one_way : use_of(kind)];
  const double beta = at_length(by == memory_pattern::single_copy ? memory.read : memory.copy, given);
  link_costs link(of.round + (by == memory_pattern::single_copy ? of.turn : 0), beta, combine);
  link.gap = of.round / 10;  // for a line of each further process: their ways overlap
  link.call = of.call;
  return link;
}

path_costs path_of(const machine_costs& of, road farthest, road within, double combine) {
  path_costs each{link_of(of, farthest, combine), link_of(of, within, combine)};
  if (farthest != road::memory) each.sharing = of.sharing;
  return each;
}

path_costs path_of(const machine_costs& of, road farthest, road within, double combine, collective kind, double given) {
  path_costs each = path_of(of, farthest, within, combine);
  if (!of.boards) return each;
  const auto& copy = (*of.boards)[memory_use::combines].copy;
  const double far = std::max(0.0, copy.back() - at_length(copy, link_costs::cached));
  for (link_costs* const one : {static_cast<link_costs*>(&each), &each.near}) {
    one->read = at_length((*of.boards)[use_of(kind)].read, given);
    one->far = far;
  }
  return each;
}

path_costs path_of_stages(const machine_costs& of, collective kind, road farthest, double bytes, double combine) {
  path_costs each = path_of(of, farthest, road::node, combine);
  each.sharing = 1;  // one process of each node sends
  if (of.boards) each.near = path_of(*of.boards, kind, memory_pattern::at_once, bytes, combine);
  return each;
}

}  // namespace weft::schedules
