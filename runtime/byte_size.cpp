// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <limits>
#include <weft/runtime/byte_size.hpp>

namespace weft {

std::optional<std::size_t> parse_byte_size(std::string_view text) noexcept {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  std::string_view unit(rest, end);
  if (unit.size() == 3 && unit.ends_with("iB")) unit.remove_suffix(2);
  const int shift = unit.empty() || unit == "B"  ? 0
                    : unit == "k" || unit == "K" ? 10
                    : unit == "M"                ? 20
                    : unit == "G"                ? 30
                                                 : -1;
  if (failure != std::errc{} || shift < 0 || number > (std::numeric_limits<std::size_t>::max() >> shift))
    return std::nullopt;
  return number << shift;
}

}  // namespace weft
