// SPDX-License-Identifier: Apache-2.0
#include "measurement.hpp"

#include <time.h>

#include <algorithm>

namespace weft::tools {

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::size_t count_samples(std::chrono::milliseconds budget, double once) {
  const double fitting = std::chrono::duration<double>(budget).count() / std::max(once, 1e-7);
  return static_cast<std::size_t>(std::clamp(fitting, 20.0, 20'000.0));
}

measurement summarize(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  measurement result;
  result.samples = seconds.size();
  result.min_us = seconds.front() * 1e6;
  result.median_us = seconds[seconds.size() / 2] * 1e6;
  result.p99_us = seconds[seconds.size() * 99 / 100] * 1e6;
  return result;
}

}  // namespace weft::tools
