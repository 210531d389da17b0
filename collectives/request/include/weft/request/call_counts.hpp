// SPDX-License-Identifier: Apache-2.0
// How often a rank of a communicator has called each collective.
#pragma once

#include <array>
#include <cstddef>
#include <weft/runtime/tally.hpp>
#include <weft/schedules/collective.hpp>
#include <weft/statistics.hpp>

namespace weft::detail {

/// Those of one kind by one road, by form.
using calls_by_form = std::array<tally, statistics::forms>;

/// Written by the rank, which makes one call at a time there; for any thread to read.
class call_counts {
 public:
  calls_by_form& of(schedules::collective what, statistics::road by) noexcept {
    return counts_[static_cast<std::size_t>(what)][static_cast<std::size_t>(by)];
  }
  void add_to(statistics& sum) const noexcept {
    for (std::size_t what = 0; what < counts_.size(); ++what)
      for (std::size_t by = 0; by < statistics::roads; ++by)
        for (std::size_t as = 0; as < statistics::forms; ++as) {
          const tally& its = counts_[what][by][as];
          statistics::volume& to = sum.collectives[what][by][as];
          to = to + statistics::volume{its.count, its.bytes};
        }
  }

 private:
  std::array<std::array<calls_by_form, statistics::roads>, schedules::collectives> counts_{};
};

/// Where calls of one kind that go one way are counted, and the bytes of each.
struct counted_calls {
  calls_by_form* by = nullptr;
  std::uint64_t bytes = 0;

  void add(statistics::form as) const noexcept { (*by)[static_cast<std::size_t>(as)].add(bytes); }
};

}  // namespace weft::detail
