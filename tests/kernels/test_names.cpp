#include <cstdint>
#include <utility>

#include "catch.hpp"
#include "targets.hpp"
#include "weft/kernels/combine.hpp"

using namespace weft::kernels;

static_assert(combinable<float> && combinable<double> && combinable<std::int32_t> && combinable<std::int64_t>);
static_assert(combinable<int> && combinable<long> && combinable<long long>);
static_assert(!combinable<unsigned> && !combinable<short> && !combinable<bool> && !combinable<const int> &&
              !combinable<long double> && !combinable<void*>);
static_assert(type_of<float> == type::float32 && type_of<double> == type::float64);
static_assert(type_of<std::int32_t> == type::int32 && type_of<std::int64_t> == type::int64);
static_assert(type_of<long> == (sizeof(long) == 4 ? type::int32 : type::int64));
static_assert(type_of<long long> == type::int64);

TEST_CASE("operators are found by their names") {
  for (const auto& [value, text] : {std::pair{operation::sum, "sum"}, std::pair{operation::product, "product"},
                                    std::pair{operation::min, "min"}, std::pair{operation::max, "max"}}) {
    CHECK(name(value) == text);
    CHECK(find_operation(text) == value);
  }
  for (const char* text : {"", "su", "sum ", "Sum", "float"}) CHECK_FALSE(find_operation(text).has_value());
}

TEST_CASE("types are found by their names and know their sizes") {
  for (const auto& [value, text] : {std::pair{type::float32, "float"}, std::pair{type::float64, "double"},
                                    std::pair{type::int32, "int32"}, std::pair{type::int64, "int64"}}) {
    CHECK(name(value) == text);
    CHECK(find_type(text) == value);
  }
  for (const char* text : {"", "int", "int640", "INT32", "sum"}) CHECK_FALSE(find_type(text).has_value());
  weft_test::with_every_type([](auto zero) { CHECK(size_of(type_of<decltype(zero)>) == sizeof zero); });
}

TEST_CASE("the best instruction set of the machine is chosen and named") {
  const auto targets = hwy::SupportedAndGeneratedTargets();  // the best has the lowest bit and comes first
  CHECK(instruction_set() == hwy::TargetName(targets.front()));
  weft_test::on_every_target([](const std::string& expected) { CHECK(instruction_set() == expected); });
}
