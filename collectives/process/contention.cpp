// SPDX-License-Identifier: Apache-2.0
#include "contention.hpp"

#include <weft/choice/network_costs.hpp>

namespace weft::detail {

struct contention::network {
  simulator::priced_network priced;
};

contention::contention(const topology::network& from, const rank_groups& groups, const schedules::machine_costs& costs,
                       double combine, int connections) {
  if (groups.farthest < schedules::road::fabric || groups.machine.empty()) return;
  known_ = std::make_unique<const network>(network{priced(from, groups, costs, combine, connections)});
}
contention::~contention() = default;

schedules::closer_look contention::closer_look_at(const schedules::algorithm_arguments& shape, std::size_t bytes,
                                                  const schedules::path_costs& each, std::size_t segment) const {
  if (!is_known()) return nullptr;
  return [this, &shape, bytes, &each, segment](const schedules::prediction& by_formula, double worth) {
    return simulator::predict(by_formula, {shape, bytes, each, segment}, known_->priced, worth).predicted;
  };
}

bool sees_contention() noexcept { return true; }

}  // namespace weft::detail
