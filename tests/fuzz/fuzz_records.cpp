// SPDX-License-Identifier: Apache-2.0
// Records by which processes introduce themselves through the store.
#include <weft/fabric/process_record.hpp>
#include <weft/runtime/error.hpp>

#include "input.hpp"

using namespace weft::fabric;

namespace {

/// As every process does with what the others tell of their interfaces.
void choose(const process_record& read) try {
  const interface_owner here{"here", "here", {{"eth0", "10.0.0.2", 24, true}, {"eth1", "fd00::2", 64, false}}};
  choose_interfaces({here, {read.host.node, read.host.name, read.interfaces}});
} catch (const weft::error& none) {
  weft_fuzz::require(none.code() == weft::errc::invalid_argument);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const process_record read = decode(std::as_bytes(std::span(data, size)), 3);
    choose(read);
    try {
      weft_fuzz::require(decode(encode(read), 3) == read);
    } catch (const weft::error& longer) {
      weft_fuzz::require(longer.code() == weft::errc::invalid_argument);
    }
  } catch (const weft::error& failure) {
    weft_fuzz::require(failure.code() == weft::errc::protocol || failure.code() == weft::errc::incompatible);
  }
  return 0;
}
