// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <weft/choice/arrival_watch.hpp>

namespace weft::detail {

bool arrival_watch::looks() const noexcept {
  if (calls_ <= calls_before) return calls_ == calls_before;
  const std::uint32_t since = calls_ - calls_before;
  return since <= farthest ? std::has_single_bit(since) : since % farthest == 0;
}

double arrival_watch::wait() const noexcept {
  if (looks_ == 0) return unknown;
  std::array<double, waits_kept> sorted = waits_;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(looks_, waits_kept));
  std::sort(sorted.begin(), end);
  return sorted[static_cast<std::size_t>(end - sorted.begin() - 1) / 2];
}

bool find_arrivals(std::span<const double> waits, double late, std::vector<double>& arrivals) {
  if (std::ranges::find(waits, arrival_watch::unknown) != waits.end()) return false;
  const double longest = std::ranges::max(waits);
  arrivals.clear();
  if (longest - std::ranges::min(waits) < late) return true;
  for (const double wait : waits) {
    const double behind = longest - wait;
    arrivals.push_back(behind < late ? 0 : late * std::exp2(std::round(std::log2(behind / late))));
  }
  return true;
}

}  // namespace weft::detail
