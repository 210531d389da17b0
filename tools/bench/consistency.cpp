// SPDX-License-Identifier: Apache-2.0
#include "consistency.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <weft/api/stamped.hpp>

#include "measurement.hpp"

namespace weft::tools {
namespace {

using moment = std::chrono::steady_clock::time_point;

std::int64_t nanoseconds_of(moment when) { return std::chrono::nanoseconds(when.time_since_epoch()).count(); }

/// Of each sample, on this rank and then the latest of all.
struct moments {
  std::vector<std::int64_t> begun, completed, returned;
};

double mode_of(const std::vector<double>& us) {
  std::map<std::int64_t, std::size_t> histogram;
  for (const double each : us) ++histogram[static_cast<std::int64_t>(std::floor(each))];
  const auto fullest = std::max_element(histogram.begin(), histogram.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  return static_cast<double>(fullest->first) + 0.5;
}

consistency_figure figure_of(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
  std::vector<double> us;
  for (std::size_t i = 0; i < from.size(); ++i) us.push_back(static_cast<double>(to[i] - from[i]) * 1e-3);
  return {statistics_of(us), statistics_without_highest(us)};
}

}  // namespace

time_statistics statistics_of(std::vector<double> us) {
  constexpr double near = 4;
  std::sort(us.begin(), us.end());
  const auto count = static_cast<double>(us.size());
  time_statistics result;
  result.samples = us.size();
  result.mean = std::accumulate(us.begin(), us.end(), 0.0) / count;
  const double squares = std::accumulate(us.begin(), us.end(), 0.0, [&](double sum, double each) {
    return sum + (each - result.mean) * (each - result.mean);
  });
  result.deviation = std::sqrt(squares / count);
  result.mode = mode_of(us);
  result.near_mode = static_cast<double>(std::count_if(
                         us.begin(), us.end(), [&](double each) { return std::abs(each - result.mode) <= near; })) /
                     count;
  result.p50 = us[us.size() / 2];
  result.p99 = us[us.size() * 99 / 100];
  result.max = us.back();
  return result;
}

time_statistics statistics_without_highest(std::vector<double> us) {
  std::sort(us.begin(), us.end());
  us.resize(us.size() - us.size() / 100);
  return statistics_of(std::move(us));
}

consistency_measurement measure_consistency(communicator& world, std::chrono::milliseconds budget) {
  constexpr std::size_t warm_up = 100, most = 100'000;
  const std::array mine{1.0 + world.rank()};
  const double right = static_cast<double>(world.size()) * (world.size() + 1) / 2;
  std::array<double, 1> all{};
  moments seen;
  std::int64_t wrong = 0;
  const double end = seconds_now() + std::chrono::duration<double>(budget).count();
  for (std::size_t i = 0;; ++i) {
    // Rank 0 says when it is enough, in the barrier before each.
    std::array go_on{world.rank() == 0 && i < most && (i < 2 * warm_up || seconds_now() < end) ? 1 : 0};
    world.allreduce(go_on, go_on, max);
    if (go_on[0] == 0) break;
    moment completed{};
    handle started = detail::stamped::allreduce(world, mine, all, completed);
    const moment begun = std::chrono::steady_clock::now();
    started.wait();
    const moment returned = std::chrono::steady_clock::now();
    if (all[0] != right) ++wrong;
    if (i < warm_up) continue;
    seen.begun.push_back(nanoseconds_of(begun));
    seen.completed.push_back(nanoseconds_of(completed));
    seen.returned.push_back(nanoseconds_of(returned));
  }
  for (std::vector<std::int64_t>* each : {&seen.begun, &seen.completed, &seen.returned})
    world.allreduce(*each, *each, max);
  std::array all_wrong{wrong};
  world.allreduce(all_wrong, all_wrong, sum);
  return {figure_of(seen.begun, seen.completed), figure_of(seen.begun, seen.returned), all_wrong[0]};
}

}  // namespace weft::tools
