// What makes two calls of one rank the same.
#pragma once

#include <cstddef>

#include "fingerprint.hpp"

namespace weft::detail {

/// What of a call its plan depends on, where the ranks' blocks are even.
struct call_key {
  collective what = collective::barrier;
  custom_operator custom = custom_operator::none;
  kernels::operation op = kernels::operation::sum;
  kernels::type type = kernels::type::float32;
  int root = 0;
  std::size_t element_bytes = 1;
  std::size_t vector = 0;  ///< elements; see request_shape
  std::size_t block = 0;
  friend bool operator==(const call_key&, const call_key&) = default;
};

}  // namespace weft::detail
