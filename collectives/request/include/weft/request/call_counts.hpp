// SPDX-License-Identifier: Apache-2.0
// How often a rank of a communicator has called each collective.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <weft/runtime/tally.hpp>
#include <weft/schedules/collective.hpp>
#include <weft/statistics.hpp>

namespace weft::detail {

/// Those of one kind by one road, by form.
using calls_by_form = std::array<tally, statistics::forms>;

/// Written by the rank, which makes one call at a time there; for any thread to read. Each collective takes memory from
/// its first call on: programs make few of them, and a process may have 10,000 ranks.
class call_counts {
 public:
  call_counts() = default;
  call_counts(const call_counts&) = delete;
  call_counts& operator=(const call_counts&) = delete;
  ~call_counts() {
    for (const auto& each : counts_) delete each.load(std::memory_order_relaxed);  // relaxed: nobody else is there
  }

  /// By the rank. Throws std::bad_alloc.
  calls_by_form& of(schedules::collective what, statistics::road by) {
    std::atomic<calls_by_road*>& its = counts_[static_cast<std::size_t>(what)];
    calls_by_road* known = its.load(std::memory_order_relaxed);  // relaxed: only the rank writes it
    if (known == nullptr) its.store(known = new calls_by_road{}, std::memory_order_release);  // release: see add_to()
    return (*known)[static_cast<std::size_t>(by)];
  }
  void add_to(statistics& sum) const noexcept {
    for (std::size_t what = 0; what < counts_.size(); ++what) {
      // acquire: pairs with the release of of(), for the zeros that they begin with.
      const calls_by_road* const known = counts_[what].load(std::memory_order_acquire);
      if (known == nullptr) continue;
      for (std::size_t by = 0; by < statistics::roads; ++by)
        for (std::size_t as = 0; as < statistics::forms; ++as) {
          const tally& its = (*known)[by][as];
          statistics::volume& to = sum.collectives[what][by][as];
          to = to + statistics::volume{its.count, its.bytes};
        }
    }
  }

 private:
  using calls_by_road = std::array<calls_by_form, statistics::roads>;

  std::array<std::atomic<calls_by_road*>, schedules::collectives> counts_{};  // null: none as yet
};

/// Where calls of one kind that go one way are counted, and the bytes of each.
struct counted_calls {
  calls_by_form* by = nullptr;
  std::uint64_t bytes = 0;

  void add(statistics::form as) const noexcept { (*by)[static_cast<std::size_t>(as)].add(bytes); }
};

}  // namespace weft::detail
