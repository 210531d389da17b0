// SPDX-License-Identifier: Apache-2.0
// Messages that share the links of a network, as the choice of an algorithm sees them.
#pragma once

#include <cstddef>
#include <memory>
#include <weft/choice/rank_groups.hpp>
#include <weft/schedules/machine_costs.hpp>
#include <weft/schedules/selection.hpp>
#include <weft/topology/network.hpp>

namespace weft::detail {

/// Of one call: what algorithms take where its messages share the links of a network that is known
/// (simulator/network_prediction.hpp). Built without the simulator weft knows of none.
class contention {
 public:
  /// As of priced() in choice/network_costs.hpp: between nodes.
  contention(const topology::network& from, const rank_groups& groups, const schedules::machine_costs& costs,
             double combine, int connections);
  ~contention();
  contention(const contention&) = delete;
  contention& operator=(const contention&) = delete;

  /// Else formulas say all.
  bool is_known() const noexcept { return known_ != nullptr; }
  /// Of a call of so many bytes, in segments of at most so many; null where nothing is known. It uses this and what is
  /// given.
  schedules::closer_look closer_look_at(const schedules::algorithm_arguments& shape, std::size_t bytes,
                                        const schedules::path_costs& each, std::size_t segment) const;

 private:
  struct network;
  std::unique_ptr<const network> known_;
};

/// Whether this build of weft sees it.
bool sees_contention() noexcept;

}  // namespace weft::detail
