#include <algorithm>
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
  link.gap = std::min(std::max(road.gap, road.overhead), link.alpha);
  link.exchange = std::max(road.exchange_per_byte, road.gap_per_byte);
  link.handshake = road.handshake;
  link.eager = of.eager;
  return link;
}

}  // namespace

std::string_view name(road which) {
  static constexpr std::array<std::string_view, roads> names{"memory", "node", "fabric", "line"};
  return names[static_cast<std::size_t>(which)];
}

path_costs path_of(const machine_costs& of, road farthest, road within, double combine) {
  return {link_of(of, farthest, combine), link_of(of, within, combine)};
}

}  // namespace weft::schedules
