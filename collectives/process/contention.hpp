// SPDX-License-Identifier: Apache-2.0
// Messages that share the links of a network, as the choice of an algorithm sees them.
#pragma once

#include <memory>
#include <weft/process/choosing.hpp>
#include <weft/schedules/selection.hpp>

namespace weft::detail {

/// Of one call: what algorithms take where its messages share the links of a network that is known
/// (simulator/network_prediction.hpp). Built without the simulator weft knows of none.
class contention {
 public:
  /// What is given outlives this. `work`: seconds to combine a byte, or to copy it.
  contention(const among& these, const tuning& measured, const choice_request& of, double work);
  ~contention();
  contention(const contention&) = delete;
  contention& operator=(const contention&) = delete;

  /// Else formulas say all.
  bool is_known() const noexcept { return known_ != nullptr; }
  /// Null where it is not known; else it uses this and what is given.
  schedules::closer_look closer_look_at(const schedules::algorithm_arguments& shape,
                                        const schedules::path_costs& each) const;

 private:
  struct network;
  const among& these_;
  const choice_request& of_;
  std::unique_ptr<const network> known_;
};

/// Whether this build of weft sees it.
bool sees_contention() noexcept;

}  // namespace weft::detail
