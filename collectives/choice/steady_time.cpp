// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <iterator>
#include <weft/choice/steady_time.hpp>

namespace weft::detail {
namespace {

/// Up to which time others agree with the least one.
double longest_that_agrees(const std::vector<double>& times) { return 2 * *std::ranges::min_element(times); }

bool enough_agree(const std::vector<double>& times) {
  const double longest = longest_that_agrees(times);
  const auto agree = std::ranges::count_if(times, [&](double time) { return time <= longest; });
  return agree >= times_that_agree || agree == std::ssize(times);
}

}  // namespace

double steady_time(std::vector<double> times) {
  const double longest = longest_that_agrees(times);
  const auto half = times.begin() + static_cast<std::ptrdiff_t>((times.size() + 1) / 2);
  std::ranges::nth_element(times, half - 1);
  double sum = 0;
  int count = 0;
  for (auto time = times.begin(); time != half; ++time) {
    if (*time > longest) continue;
    sum += *time;
    ++count;
  }
  return sum / count;
}

std::int64_t more_repeats(const repeats& how, const std::vector<double>& times, double spent) {
  const auto made = static_cast<std::int64_t>(times.size());
  const double patience = how.patience * how.budget;
  if (made >= how.most || spent > 3 * patience) return 0;
  const double affordable = how.budget / std::max(steady_time(times), 1e-9);
  const auto wanted = static_cast<std::int64_t>(std::min<double>(affordable, how.most));
  if (wanted > made && spent <= patience) return std::min(wanted - made, 3 * made);
  return enough_agree(times) ? 0 : how.least;
}

double steady_time(const repeats& how, const std::function<double()>& run,
                   const std::function<std::int64_t(std::int64_t)>& agreed, const std::function<double()>& now) {
  for (int i = 0; i < how.warm_ups; ++i) run();
  std::vector<double> times;
  const double start = now();
  for (std::int64_t more = how.least; more > 0; more = agreed(more_repeats(how, times, now() - start)))
    for (std::int64_t i = 0; i < more; ++i) times.push_back(run());
  return steady_time(std::move(times));
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace weft::detail
