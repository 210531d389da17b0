// SPDX-License-Identifier: Apache-2.0
// Who is late to calls that are alike, found out by the calls themselves (--weft-reduce=arrival).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::detail {

/// One rank's view. Some of the calls are looks: in these all ranks wait for each other, and whoever waits less has
/// come later by the difference, whatever the clocks say. Each look tells all ranks what the looks before have shown,
/// so that they go by the same from the next call on. Ranks count the same calls, so that they look in the same ones.
class arrival_watch {
 public:
  static constexpr std::uint32_t calls_before = 2;  ///< the first look
  static constexpr std::uint32_t farthest = 32;     ///< calls from look to look, in the end; 1 at first
  static constexpr std::size_t waits_kept = 3;
  static constexpr double unknown = -1;

  /// Whether the next call is a look.
  bool looks() const noexcept;
  /// It is made.
  void count() noexcept { ++calls_; }

  /// In a look this rank has waited for so many seconds.
  void waited(double seconds) noexcept { waits_[looks_++ % waits_kept] = seconds; }
  /// The median of its latest waits; unknown before the first.
  double wait() const noexcept;

 private:
  std::uint32_t calls_ = 0;
  std::size_t looks_ = 0;
  std::array<double, waits_kept> waits_{};
};

/// By how many seconds each rank comes behind the first of them, made of the waits of all; none where nobody is late.
/// Less than `late` is on time, 0; more is rounded to a power of two times that, so that it stays the same from look to
/// look. False, and `arrivals` as they were, where the wait of some rank is unknown. Allocates nothing where they have
/// the capacity.
bool find_arrivals(std::span<const double> waits, double late, std::vector<double>& arrivals);

}  // namespace weft::detail
