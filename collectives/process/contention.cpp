// SPDX-License-Identifier: Apache-2.0
#include "contention.hpp"

#include <weft/choice/network_costs.hpp>
#include <weft/process/process.hpp>

namespace weft::detail {

struct contention::network {
  simulator::priced_network priced;
};

contention::contention(const among& these, const tuning& measured, const choice_request& of, double work)
    : these_(these), of_(of) {
  if (these.groups.farthest < schedules::road::fabric || these.groups.machine.empty()) return;
  known_ = std::make_unique<const network>(
      network{priced(these.host.network(), these.groups, measured.machine, work, these.host.settings().connections)});
}
contention::~contention() = default;

schedules::closer_look contention::closer_look_at(const schedules::algorithm_arguments& shape,
                                                  const schedules::path_costs& each) const {
  if (!is_known()) return nullptr;
  return [this, &shape, &each](const schedules::prediction& by_formula, double worth) {
    const simulator::formula_call call{shape, of_.bytes, each, these_.selection.segment};
    return simulator::predict(by_formula, call, known_->priced, worth).predicted;
  };
}

bool sees_contention() noexcept { return true; }

}  // namespace weft::detail
