// SPDX-License-Identifier: Apache-2.0
// What malloc has given out.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace weft_test {

/// Bytes. Sanitizers have a malloc of their own, which says nothing of that.
inline std::size_t heap_in_use() {
  const struct mallinfo2 all = ::mallinfo2();
  return all.uordblks + all.hblkhd;
}

}  // namespace weft_test
