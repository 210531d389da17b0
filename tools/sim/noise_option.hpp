// SPDX-License-Identifier: Apache-2.0
// What takes simulated CPUs away, as --noise says it.
#pragma once

#include <cstdint>
#include <string>
#include <weft/simulator/model.hpp>

namespace weft::tools {

/// Noise of which nothing is drawn yet.
struct noise_option {
  std::string text;  ///< as it is given; empty: none
  simulator::noise_model model;
  bool exponential = false;
};

/// Reads `text`, and the file that it may name, into the rest. Throws CLI::ValidationError for what is none.
void read_noise(noise_option& line);

/// What `seed` draws.
simulator::noise_model drawn(const noise_option& line, std::uint64_t seed);

}  // namespace weft::tools
