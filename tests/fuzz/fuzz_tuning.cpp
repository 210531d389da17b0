// SPDX-License-Identifier: Apache-2.0
// Files of costs, by which algorithms are chosen.
#include <weft/choice/tuning.hpp>
#include <weft/runtime/error.hpp>

#include "input.hpp"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto refused = [](const error& failure) { weft_fuzz::require(failure.code() == errc::invalid_argument); };
  try {
    detail::parse_tuning_part(text, "costs");
  } catch (const error& failure) {
    refused(failure);
  }
  try {
    const std::string written = to_text(detail::parse_tuning(text, "costs"), "as read");
    weft_fuzz::require(to_text(detail::parse_tuning(written, "costs"), "as read") == written);
  } catch (const error& failure) {
    refused(failure);
  }
  return 0;
}
