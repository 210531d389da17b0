// How a time is sampled and what is reported of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::tools {

struct measurement {
  std::size_t bytes = 0;
  std::size_t samples = 0;
  double min_us = 0;
  double median_us = 0;
  double p99_us = 0;
  std::int64_t wrong = 0;  ///< elements, on all ranks, that differed from the exact result
  std::string algorithm;
  std::optional<double> bytes_per_s;   ///< of messages: what the median comes to
  std::optional<double> predicted_us;  ///< of an explanation
  bool chosen = false;                 ///< likewise: what the call would take
};

/// A moment of the steady clock in seconds.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// How many samples of `once` seconds fit into the budget; 20 to 20,000.
std::size_t count_samples(std::chrono::milliseconds budget, double once);

/// Of at least one time, in seconds.
measurement summarize(std::vector<double> seconds);

}  // namespace weft::tools
