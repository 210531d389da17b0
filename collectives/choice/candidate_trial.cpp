// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/choice/candidate_trial.hpp>

namespace weft::detail {
namespace {

/// One that is predicted to be slower is taken where it takes at most so much of the time: the rest is noise.
constexpr double clearly_faster = 0.9;

/// Of those that are known; nothing where none is.
std::optional<double> lower_quartile(std::span<const double> times) {
  std::vector<double> known(times.begin(), times.end());
  std::erase(known, 0.0);
  if (known.empty()) return std::nullopt;
  const auto quartile = known.begin() + (std::ssize(known) - 1) / 4;
  std::ranges::nth_element(known, quartile);
  return *quartile;
}

}  // namespace

candidate_trial::turn candidate_trial::next() const noexcept {
  if (calls_ < calls_before) return {};
  const std::size_t call = calls_ - calls_before, round = call / candidates_;
  turn its{(call + round) % candidates_, std::nullopt};
  if (round > 0) its.time = its.candidate * rounds + round - 1;
  return its;
}

std::size_t candidate_trial::fastest(std::span<const double> slowest) {
  std::size_t best = 0;
  std::optional<double> least;
  for (std::size_t each = 0; each < slowest.size() / rounds; ++each) {
    const auto seconds = lower_quartile(slowest.subspan(each * rounds, rounds));
    if (!seconds || (least && *seconds > clearly_faster * *least)) continue;
    best = each;
    least = seconds;
  }
  return best;
}

}  // namespace weft::detail
