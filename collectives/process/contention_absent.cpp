// SPDX-License-Identifier: Apache-2.0
// In place of what the simulator is asked, where weft is built without it.
#include "contention.hpp"

namespace weft::detail {

struct contention::network {};

contention::contention(const among& these, const tuning&, const choice_request& of, double) : these_(these), of_(of) {}
contention::~contention() = default;

schedules::closer_look contention::closer_look_at(const schedules::algorithm_arguments&,
                                                  const schedules::path_costs&) const {
  return nullptr;
}

bool sees_contention() noexcept { return false; }

}  // namespace weft::detail
