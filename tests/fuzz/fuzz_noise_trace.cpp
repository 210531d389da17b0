// SPDX-License-Identifier: Apache-2.0
// Traces of noise.
#include <stdexcept>
#include <weft/simulator/noise_trace.hpp>

#include "input.hpp"

using namespace weft::simulator;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const noise_trace read = parse_noise_trace({reinterpret_cast<const char*>(data), size});
    double end = 0;
    for (const detour& each : read.detours) {
      weft_fuzz::require(each.begin >= end && each.duration > 0);
      end = each.begin + each.duration;
    }
    weft_fuzz::require(end <= read.length && read.length > 0);
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
