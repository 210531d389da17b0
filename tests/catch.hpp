// SPDX-License-Identifier: Apache-2.0
// Catch2 version 2 (one header) or 3 (many): whichever this machine has.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
namespace weft_test {
using Approx = Catch::Approx;
using Catch::Matchers::ContainsSubstring;
}  // namespace weft_test
#else
#include <catch2/catch.hpp>
namespace weft_test {
using Approx = Catch::Detail::Approx;
inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
}  // namespace weft_test
#endif
