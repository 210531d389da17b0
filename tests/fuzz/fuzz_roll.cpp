// SPDX-License-Identifier: Apache-2.0
// What processes and agents say of their ranks, and the list of sockets that they are found by.
#include <weft/roll_call/ask.hpp>
#include <weft/roll_call/report.hpp>
#include <weft/roll_call/summary.hpp>
#include <weft/runtime/error.hpp>

#include "input.hpp"

using namespace weft::tools;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft_fuzz::input from(data, size);
  const std::string_view text = weft_fuzz::text_of(from.rest());
  for (const roll_socket& each : parse_sockets(text, 1000)) weft_fuzz::require(each.uid == 1000 && each.pid > 0);
  try {
    const auto roll = parse_roll(text);
    const std::string written = to_text(roll);
    weft_fuzz::require(to_text(parse_roll(written)) == written);
    for (const std::string& shown : {in_short(roll), in_full(roll)})
      weft_fuzz::require(shown.find('\x1b') == std::string::npos);
    to_json(roll);
  } catch (const weft::error& refused) {
    weft_fuzz::require(refused.code() == weft::errc::protocol);
  }
  return 0;
}
