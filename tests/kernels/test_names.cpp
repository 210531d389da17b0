// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <complex>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "targets.hpp"
#include "weft/kernels/combine.hpp"

using namespace weft::kernels;

static_assert(combinable<float> && combinable<double> && combinable<std::int32_t> && combinable<std::uint8_t>);
static_assert(combinable<int> && combinable<long> && combinable<long long> && combinable<unsigned long>);
static_assert(combinable<bool> && combinable<std::byte> && combinable<weft::float16> && combinable<weft::bfloat16>);
static_assert(!combinable<const int> && !combinable<long double> && !combinable<void*>);
static_assert(!combinable<char> && !combinable<wchar_t> && !combinable<char8_t> && !combinable<char32_t>);
static_assert(type_of<float> == type::float32 && type_of<double> == type::float64);
static_assert(type_of<std::int8_t> == type::int8 && type_of<std::uint64_t> == type::uint64);
static_assert(type_of<long> == (sizeof(long) == 4 ? type::int32 : type::int64));
static_assert(type_of<long long> == type::int64 && type_of<unsigned char> == type::uint8);
static_assert(type_of<std::complex<float>> == type::complex_float32);
static_assert(type_of<weft::located<std::int64_t>> == type::located_int64);
#if WEFT_HAS_FLOAT16
static_assert(type_of<_Float16> == type::float16);
#endif
static_assert(type_of<weft::reproducible<double>> == type::reproducible_float64);
static_assert(sizeof(weft::located<float>) == 8 && sizeof(weft::located<double>) == 16);

TEST_CASE("operators and types are found by their names, each of which is its own") {
  std::set<std::string_view> names;
  for (const operation op : all_operations()) {
    CHECK(find_operation(name(op)) == op);
    CHECK(names.insert(name(op)).second);
  }
  for (const type element : all_types()) {
    CHECK(find_type(name(element)) == element);
    CHECK(names.insert(name(element)).second);
  }
  CHECK(names.size() == all_operations().size() + all_types().size());
  for (const char* text : {"", "su", "sum ", "Sum", "float"}) CHECK_FALSE(find_operation(text).has_value());
  for (const char* text : {"", "int", "int640", "INT32", "sum"}) CHECK_FALSE(find_type(text).has_value());
  CHECK(name(operation::logical_xor) == "logical_xor");
  CHECK(name(type::float64) == "double");
  CHECK(name(type::located_int64) == "located_int64");
  CHECK(name(type::byte) == "byte");
}

TEST_CASE("types know their sizes") {
  for (const auto& [element, bytes] :
       {std::pair{type::int8, sizeof(std::int8_t)}, std::pair{type::uint64, sizeof(std::uint64_t)},
        std::pair{type::float16, sizeof(weft::float16)}, std::pair{type::bfloat16, sizeof(weft::bfloat16)},
        std::pair{type::float32, sizeof(float)}, std::pair{type::complex_float64, sizeof(std::complex<double>)},
        std::pair{type::located_float32, sizeof(weft::located<float>)}, std::pair{type::boolean, sizeof(bool)},
        std::pair{type::reproducible_float32, sizeof(weft::reproducible<float>)}})
    CHECK(size_of(element) == bytes);
}

TEST_CASE("an operator that a type does not have is refused with those that there are") {
  for (const operation op : all_operations())
    for (const type element : all_types()) {
      CAPTURE(name(op), name(element));
      if (has(op, element)) continue;
      CHECK_THROWS_AS(combine(op, element), std::invalid_argument);
      CHECK(refusal(op, element).find(name(op)) == 0);
    }
  CHECK(refusal(operation::min, type::complex_float32) ==
        "min does not exist on complex_float: complex_float has sum, product; min takes int8, int16, int32, int64, "
        "uint8, uint16, uint32, uint64, float16, bfloat16, float, double");
  CHECK(refusal(operation::max_location, type::boolean) ==
        "max_location does not exist on bool: bool has logical_and, logical_or, logical_xor; max_location takes "
        "located_float, located_double, located_int32, located_int64");
}

TEST_CASE("the best instruction set of the machine is chosen and named") {
  CHECK(instruction_set() == hwy::TargetName(weft_test::targets_here().front()));
  weft_test::on_every_target([](const std::string& expected) { CHECK(instruction_set() == expected); });
}

TEST_CASE("the processor is found to have what Highway's library finds") {
#if HWY_ARCH_X86
  std::int64_t asked = HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL;
#ifdef HWY_AVX3_ZEN4
  asked |= HWY_AVX3_ZEN4;
#endif
#ifdef HWY_AVX3_SPR
  asked |= HWY_AVX3_SPR;
#endif
#elif HWY_ARCH_ARM_A64 && HWY_HAVE_RUNTIME_DISPATCH
  const std::int64_t asked = HWY_SVE | HWY_SVE2;
#else
  const std::int64_t asked = HWY_STATIC_TARGET;
#endif
  CHECK((supported_targets() & asked) == (hwy::SupportedTargets() & asked));
  CHECK((supported_targets() & HWY_STATIC_TARGET) != 0);
}
