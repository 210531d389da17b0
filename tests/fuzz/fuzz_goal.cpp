// SPDX-License-Identifier: Apache-2.0
// GOAL text.
#include <stdexcept>
#include <weft/simulator/goal.hpp>

#include "input.hpp"

using namespace weft::simulator;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string written = to_goal(parse_goal({reinterpret_cast<const char*>(data), size}), 0.5);
    weft_fuzz::require(to_goal(parse_goal(written), 0.5) == written);
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
