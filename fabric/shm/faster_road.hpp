// SPDX-License-Identifier: Apache-2.0
// Whether long payloads go in parts through a ring or are read: which of the two is the faster is the machine's, and
// its neighbours', and changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::fabric {

/// Learns it from how long payloads took that were alone on their way.
class faster_road {
 public:
  /// Payloads of so many bytes and more are worth it.
  static constexpr std::size_t shortest = 64 << 10;

  /// Whether the next one is to go in parts: by the faster road, and now and then by the other one.
  bool by_parts() noexcept {
    const bool better = parts_.least() <= reads_.least();
    if (!parts_.is_known()) return true;
    if (!reads_.is_known()) return false;
    return ++sent_ % between_trials < trials ? !better : better;
  }
  void took(bool in_parts, std::size_t bytes, std::uint64_t time) noexcept {
    (in_parts ? parts_ : reads_).add(static_cast<double>(time) / static_cast<double>(bytes));
  }

 private:
  static constexpr unsigned between_trials = 128, trials = 2;

  /// Of the latest ones the shortest: who receives late says nothing of the road.
  class recent_times {
   public:
    bool is_known() const noexcept { return count_ >= latest_.size(); }
    double least() const noexcept { return *std::ranges::min_element(latest_); }
    void add(double time) noexcept { latest_[count_++ % latest_.size()] = time; }

   private:
    std::array<double, 4> latest_{};
    std::size_t count_ = 0;
  };

  recent_times parts_, reads_;
  unsigned sent_ = 0;
};

}  // namespace weft::fabric
