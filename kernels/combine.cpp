// SPDX-License-Identifier: Apache-2.0
#include "weft/kernels/combine.hpp"

#include <stdexcept>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "combine.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "families.hpp"
#include "instruction_sets.hpp"
#include "kept.hpp"
#include "streaming.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {
namespace {

combine_function find_function(operation combined_by, type element) {
  switch (combined_by) {
    case operation::sum:
      if (element == type::reproducible_float32) return &merge_arrays<float>;
      if (element == type::reproducible_float64) return &merge_arrays<double>;
      return sum_function(element);
    case operation::product:
      return product_function(element);
    case operation::min:
    case operation::max:
      return is_integer(element) ? integer_order_function(combined_by, element)
                                 : float_order_function(combined_by, element);
    case operation::bit_and:
    case operation::bit_or:
    case operation::bit_xor:
    case operation::logical_and:
    case operation::logical_or:
    case operation::logical_xor:
      return bits_function(combined_by, element);
    case operation::min_location:
    case operation::max_location:
      return location_function(combined_by, element);
  }
  return nullptr;
}

}  // namespace

bool is_built(operation combined_by, type element) noexcept {
  return has(combined_by, element) && is_kept(combined_by) && is_kept(element);
}

combine_function combine(operation combined_by, type element) {
  if (!is_built(combined_by, element)) throw std::invalid_argument(refusal(combined_by, element));
  const combine_function function = find_function(combined_by, element);
  streaming_bytes();  // before it is called: which then finds nothing out
  return function;
}

std::string_view instruction_set() noexcept { return WEFT_BEST(target_name)(); }

}  // namespace weft::kernels
#endif
