// SPDX-License-Identifier: Apache-2.0
// How much of something there has been.
#pragma once

#include <cstdint>
#include <weft/runtime/single_writer.hpp>

namespace weft {

/// Written by one thread at a time, and for any to read: the two numbers may be of different moments then.
struct tally {
  single_writer<std::uint64_t> count{0};
  single_writer<std::uint64_t> bytes{0};

  void add(std::uint64_t more_bytes) noexcept {
    ++count;
    bytes += more_bytes;
  }
};

}  // namespace weft
