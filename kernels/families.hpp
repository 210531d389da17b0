// SPDX-License-Identifier: Apache-2.0
// The families of operators, a translation unit each: every one of them is compiled for every instruction set.
#pragma once

#include "weft/kernels/combine.hpp"

namespace weft::kernels {

// The function for an element type, for the best instruction set of this machine; null for a type that the operators
// of the family do not take.
combine_function sum_function(type element);
combine_function product_function(type element);
combine_function integer_order_function(operation combined_by, type element);  ///< min and max
combine_function float_order_function(operation combined_by, type element);    ///< min and max
combine_function bits_function(operation combined_by, type element);           ///< bit_* and logical_*
combine_function location_function(operation combined_by, type element);

}  // namespace weft::kernels
