// SPDX-License-Identifier: Apache-2.0
// In place of what the simulator is asked, where weft is built without it.
#include "contention.hpp"

namespace weft::detail {

struct contention::network {};

contention::contention(const topology::network&, const rank_groups&, const schedules::machine_costs&, double, int) {}
contention::~contention() = default;

schedules::closer_look contention::closer_look_at(const schedules::algorithm_arguments&, std::size_t,
                                                  const schedules::path_costs&, std::size_t) const {
  return nullptr;
}

bool sees_contention() noexcept { return false; }

}  // namespace weft::detail
