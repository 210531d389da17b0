// SPDX-License-Identifier: Apache-2.0
// min_location and max_location: ties, NaNs and zeros.
#include <cstdint>
#include <limits>
#include <string>

#include "catch.hpp"
#include "pairs.hpp"
#include "targets.hpp"
#include "weft/kernels/combine.hpp"

using namespace weft::kernels;
using namespace weft_test;

namespace {

template <class T>
void check_locations() {
  using pair = weft::located<T>;
  constexpr auto least = std::numeric_limits<typename pair::index_type>::min();
  check_both_orders<pair>(operation::min_location, {2, 5}, {3, 1}, {2, 5});
  check_both_orders<pair>(operation::max_location, {2, 5}, {3, 1}, {3, 1});
  check_both_orders<pair>(operation::min_location, {-2, 7}, {-2, 4}, {-2, 4});
  check_both_orders<pair>(operation::max_location, {2, 7}, {2, least}, {2, least});
  check_both_orders<pair>(operation::max_location, {2, 7}, {2, -1}, {2, -1});
  check_both_orders<pair>(operation::min_location, {std::numeric_limits<T>::max(), 1},
                          {std::numeric_limits<T>::lowest(), 2}, {std::numeric_limits<T>::lowest(), 2});
}

template <class T>
void check_locations_of_floats() {
  using pair = weft::located<T>;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  for (const operation op : {operation::min_location, operation::max_location}) {
    check_both_orders<pair>(op, {-nan, 9}, {-infinity, 1}, {nan, 9});
    check_both_orders<pair>(op, {nan, 9}, {infinity, 1}, {nan, 9});
    check_both_orders<pair>(op, {std::numeric_limits<T>::signaling_NaN(), 9}, {-nan, 4}, {nan, 4});
  }
  check_both_orders<pair>(operation::min_location, {T(0), 1}, {-T(0), 2}, {-T(0), 2});
  check_both_orders<pair>(operation::max_location, {T(0), 2}, {-T(0), 1}, {T(0), 2});
}

}  // namespace

TEST_CASE("of equal values the lowest index is given, and of NaNs") {
  on_every_target([](const std::string&) {
    check_locations<float>();
    check_locations<double>();
    check_locations<std::int32_t>();
    check_locations<std::int64_t>();
    check_locations_of_floats<float>();
    check_locations_of_floats<double>();
  });
}
