// Reproducible sums against an exact reference, and against themselves in other orders.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "exact_sum.hpp"
#include "targets.hpp"
#include "weft/kernels/combine.hpp"
#include "weft/kernels/reproducible.hpp"

using weft::reproducible;
using namespace weft::kernels;
using namespace weft_test;

namespace {

std::uint64_t test_seed() {
  const char* given = std::getenv("WEFT_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device()();
}

template <class T>
constexpr int width = std::numeric_limits<T>::digits - 1;

template <class T>
constexpr int lowest_exponent = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;

enum class kind { uniform, narrow, integers, any_exponent, cancelling, subnormal, huge, ties, with_zeros, special };
constexpr kind finite_kinds[] = {kind::uniform,   kind::narrow, kind::integers, kind::any_exponent, kind::cancelling,
                                 kind::subnormal, kind::huge,   kind::ties,     kind::with_zeros};

template <class T>
T draw(kind what, std::mt19937_64& random) {
  using limits = std::numeric_limits<T>;
  const T uniform = std::uniform_real_distribution<T>(-1, 1)(random);
  const T sign = random() % 2 == 0 ? T(1) : T(-1);
  const auto exponent = [&](int from, int to) { return from + static_cast<int>(random() % std::uint64_t(to - from)); };
  switch (what) {
    case kind::uniform:
      return uniform;
    case kind::narrow:
      return T(3) + uniform / 8;
    case kind::integers:
      return T(static_cast<int>(random() % 2001) - 1000);
    case kind::any_exponent:
      return std::ldexp(uniform, exponent(lowest_exponent<T>, limits::max_exponent));
    case kind::cancelling:
      return std::ldexp(uniform, exponent(-20, 40));
    case kind::subnormal:
      return std::ldexp(uniform, exponent(lowest_exponent<T>, lowest_exponent<T> + width<T> + 10));
    case kind::huge:
      return std::ldexp(uniform, limits::max_exponent - static_cast<int>(random() % 3));
    case kind::ties: {  // half a unit of a bin, or three halves, or just beside
      const int bin = static_cast<int>(random() % 4) + static_cast<int>(random() % 2) + 2;
      const T half = std::ldexp(sign * T(random() % 2 == 0 ? 1 : 3), lowest_exponent<T> + width<T> * bin - 1);
      return random() % 3 == 0 ? std::nextafter(half, uniform) : half;
    }
    case kind::with_zeros:
      return random() % 3 == 0 ? sign * T(0) : uniform;
    case kind::special:
      break;
  }
  const std::uint64_t one = random() % 40;
  return one == 0   ? limits::infinity()
         : one == 1 ? -limits::infinity()
         : one == 2 ? sign * limits::quiet_NaN()
                    : uniform;
}

template <class T>
std::vector<T> drawn(kind what, std::size_t count, std::mt19937_64& random) {
  std::vector<T> all(count);
  for (T& each : all) each = draw<T>(what, random);
  if (what == kind::cancelling)
    for (std::size_t i = 0; i + 1 < count; i += 2) all[i + 1] = -all[i] * (1 + std::numeric_limits<T>::epsilon());
  return all;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T>
reproducible<T> one_by_one(const std::vector<T>& summands) {
  reproducible<T> sum;
  for (const T each : summands) sum += each;
  return sum;
}

/// The summands in parts of any length, each added as an array or one by one, merged in any order.
template <class T>
reproducible<T> in_random_parts(const std::vector<T>& summands, std::mt19937_64& random) {
  std::vector<reproducible<T>> parts(1);
  for (std::size_t at = 0; at < summands.size();) {
    const std::size_t most = std::array<std::size_t, 3>{4, 100, 20'000}[random() % 3];
    const std::size_t length = std::min(summands.size() - at, random() % most + 1);
    reproducible<T> part;
    const std::span<const T> next = std::span(summands).subspan(at, length);
    if (random() % 4 == 0)
      for (const T each : next) part += each;
    else
      part.add(next);
    if (random() % 2 == 0)
      parts.push_back(part);
    else
      parts[random() % parts.size()] += part;
    at += length;
  }
  while (parts.size() > 1) {
    std::swap(parts[random() % parts.size()], parts.back());
    const reproducible<T> last = parts.back();
    parts.pop_back();
    parts[random() % parts.size()] += last;
  }
  return parts[0];
}

template <class T>
T largest_magnitude(const std::vector<T>& summands) {
  T largest = 0;
  for (const T each : summands) largest = std::max(largest, std::abs(each));
  return largest;
}

/// What the documentation says that the value is: each summand rounded to the unit of the lowest bin kept, the sum of
/// those rounded once.
template <class T>
T model_value(const std::vector<T>& summands) {
  const T largest = largest_magnitude(summands);
  int top = 2;  // the lowest bin that holds `largest` in the middle half of its range, but not below the third
  while (largest >= std::ldexp(T(1), std::min(width<T> * (top + 1) - 1 + lowest_exponent<T>,
                                              std::numeric_limits<T>::max_exponent - 1)) &&
         width<T> * (top + 1) - 1 + lowest_exponent<T> < std::numeric_limits<T>::max_exponent)
    ++top;
  const int unit = width<T> * (top - 2) + lowest_exponent<T>;
  exact_sum sum;
  for (const T each : summands) {
    int exponent = 0;
    const T fraction = std::frexp(each, &exponent);
    const auto digits = static_cast<std::int64_t>(std::ldexp(fraction, std::numeric_limits<T>::digits));
    exponent -= std::numeric_limits<T>::digits;
    const int drop = unit - exponent;
    if (drop <= 0)
      sum.add(digits, exponent);
    else if (drop < 60)
      sum.add(std::llrint(std::ldexp(static_cast<long double>(digits), -drop)), unit);
  }
  return sum.rounded<T>();
}

template <class T>
exact_sum exactly(const std::vector<T>& summands) {
  exact_sum sum;
  for (const T each : summands) sum.add(each);
  return sum;
}

/// |value - exact sum|
template <class T>
exact_sum error_of(T value, const exact_sum& exact) {
  exact_sum error = exact_sum::value_of(value);
  error.subtract(exact);
  return error.magnitude();
}

/// n * 2^-2W * m + 2^-(W+1) * |value|
template <class T>
exact_sum stated_bound(const std::vector<T>& summands, T value) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const auto add_scaled = [](exact_sum& to, T number, int scale) {
    int exponent = 0;
    const T fraction = std::frexp(number, &exponent);
    to.add(static_cast<std::int64_t>(std::ldexp(fraction, digits)), exponent - digits + scale);
  };
  exact_sum bound;
  for (int bit = 0; bit < 32; ++bit)
    if ((summands.size() >> bit & 1) != 0) add_scaled(bound, largest_magnitude(summands), bit - 2 * width<T>);
  add_scaled(bound, std::abs(value), -digits);
  return bound;
}

template <class T>
void check_orders(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const std::size_t count : {0, 1, 2, 3, 15, 64, 1000, 20'000})
    for (int what = 0; what <= static_cast<int>(kind::special); ++what) {
      auto summands = drawn<T>(static_cast<kind>(what), count, random);
      const reproducible<T> expected = one_by_one(summands);
      const T value = expected.value();
      CAPTURE(count, what, sizeof(T));
      on_every_target([&](const std::string&) {
        reproducible<T> whole;
        whole.add(summands);
        REQUIRE(same_bits(whole, expected));
        for (int round = 0; round < 6; ++round) {
          std::shuffle(summands.begin(), summands.end(), random);
          const auto sum = in_random_parts(summands, random);
          REQUIRE(sum == expected);
          REQUIRE(same_bits(sum, expected));
          REQUIRE(same_bits(sum.value(), value));
        }
        std::sort(summands.begin(), summands.end(), [](T a, T b) { return std::abs(a) < std::abs(b); });
        reproducible<T> ascending;
        ascending.add(summands);
        REQUIRE(same_bits(ascending, expected));
      });
    }
}

template <class T>
void check_values(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const kind what : finite_kinds)
    for (const std::size_t count : {1, 2, 3, 10, 500}) {
      CAPTURE(static_cast<int>(what), count, sizeof(T));
      const auto summands = drawn<T>(what, count, random);
      reproducible<T> sum;
      sum.add(summands);
      const T value = sum.value();
      REQUIRE(value == model_value(summands));
      if (std::isfinite(value))
        REQUIRE(error_of(value, exactly(summands)).less_or_equal(stated_bound(summands, value)));
    }
}

}  // namespace

TEST_CASE("the same summands give the same accumulator in every order, grouping and instruction set") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_orders<float>(seed);
  check_orders<double>(seed);
}

namespace {

/// Ones, among which is a single other number of every exponent, near either end of it, wherever blocks may end.
template <class T>
void check_outliers() {
  using limits = std::numeric_limits<T>;
  std::vector<T> summands(1500, T(1.25));
  for (int exponent = lowest_exponent<T>; exponent < limits::max_exponent; ++exponent)
    for (const T fraction : {T(1), 2 - limits::epsilon(), -T(1), -(2 - limits::epsilon())}) {
      const auto at = static_cast<std::size_t>(exponent - lowest_exponent<T>) * 7 % summands.size();
      const T outlier = std::ldexp(fraction, exponent);
      const T usual = std::exchange(summands[at], outlier);
      reproducible<T> sum;
      sum.add(summands);
      if (!same_bits(sum, one_by_one(summands))) FAIL("an outlier of " << outlier << " at " << at);
      summands[at] = usual;
    }
}

}  // namespace

TEST_CASE("one summand that has nothing in common with the others is added like them") {
  on_every_target([](const std::string&) {
    check_outliers<float>();
    check_outliers<double>();
  });
}

TEST_CASE("the value is the rounded sum of the slices kept, within the bound stated") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  on_every_target([&](const std::string&) {
    check_values<float>(seed);
    check_values<double>(seed);
  });
}

namespace {

/// A sum of pairs that nearly cancel, 2^30 times as large as what is left.
template <class T>
std::vector<T> ill_conditioned(std::size_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<T> any(1, 2);
  std::vector<T> all(count);
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    all[i] = std::ldexp(any(random), std::numeric_limits<T>::digits / 2);
    all[i + 1] = -all[i];
  }
  for (std::size_t i = 0; i < count; i += 100) all[i] = any(random);
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

/// One, and then what added to it one by one is rounded away each time.
template <class T>
std::vector<T> rounded_away(std::size_t count) {
  std::vector<T> all(count, std::numeric_limits<T>::epsilon() / 4);
  all[0] = 1;
  return all;
}

template <class T>
void check_long_sum(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t count = 1'000'000;
  const auto uniform = drawn<T>(kind::narrow, count, random);
  const auto ill = ill_conditioned<T>(count, random);
  const auto small = rounded_away<T>(count);
  for (const auto& summands : {uniform, ill, small}) {
    reproducible<T> sum;
    sum.add(summands);
    const exact_sum exact = exactly(summands);
    const exact_sum bound = stated_bound(summands, sum.value());
    CHECK(error_of(sum.value(), exact).less_or_equal(bound));
    exact_sum worst;  // of a plain sum, n - 1 taken as 2^19
    for (const T each : summands) worst.add(std::ldexp(std::abs(each), 19 - std::numeric_limits<T>::digits));
    CHECK(bound.less_or_equal(worst));
  }
  reproducible<T> sum;
  sum.add(small);
  const T plain = std::accumulate(small.begin(), small.end(), T(0));
  CHECK_FALSE(error_of(plain, exactly(small)).less_or_equal(stated_bound(small, sum.value())));
}

}  // namespace

TEST_CASE("long sums keep the bound where plain sums break it") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_long_sum<float>(seed);
  check_long_sum<double>(seed);
}

namespace {

template <class T>
T sum_of(std::vector<T> summands) {
  std::sort(summands.begin(), summands.end());
  const T expected = one_by_one(summands).value();
  do {
    reproducible<T> sum;
    sum.add(summands);
    REQUIRE(same_bits(sum.value(), expected));
  } while (std::next_permutation(summands.begin(), summands.end()));
  return expected;
}

template <class T>
void check_extremes() {
  using limits = std::numeric_limits<T>;
  const T most = limits::max(), least = limits::denorm_min(), infinity = limits::infinity();
  const T last = std::ldexp(T(1), limits::max_exponent - limits::digits - 1);  // half the last place of `most`
  CHECK(sum_of<T>({most, most, -most}) == most);
  CHECK(sum_of<T>({most, most, most, -most, -most, -most}) == 0);
  CHECK(sum_of<T>({most, most}) == infinity);
  CHECK(sum_of<T>({-most, -most, least}) == -infinity);
  CHECK(sum_of<T>({most, last}) == infinity);
  CHECK(sum_of<T>({most, last - last / 1024}) == most);
  CHECK(sum_of<T>({most, least}) == most);
  CHECK(sum_of<T>({least, least, least}) == 3 * least);
  CHECK(sum_of<T>({limits::min(), -least}) == limits::min() - least);
  CHECK(sum_of<T>({T(1), -T(1), least}) == 0);  // below the bins kept
  const T large = std::ldexp(T(1), 2 * width<T> - 4);
  CHECK(sum_of<T>({large, T(1), -large}) == 1);
  CHECK(sum_of<T>({T(1), limits::epsilon() / 2}) == 1);  // ties to even
  CHECK(sum_of<T>({1 + limits::epsilon(), limits::epsilon() / 2}) == 1 + 2 * limits::epsilon());
  CHECK(sum_of<T>({T(1), limits::epsilon() / 2, std::ldexp(limits::epsilon(), -20)}) == 1 + limits::epsilon());
  for (const auto& zeros : {std::vector<T>{}, {T(0)}, {-T(0)}, {-T(0), -T(0)}, {T(5), -T(5)}, {-T(5), T(5)}})
    CHECK(same_bits(sum_of<T>(zeros), T(0)));
}

template <class T>
void check_specials() {
  using limits = std::numeric_limits<T>;
  const T infinity = limits::infinity(), nan = limits::quiet_NaN(), most = limits::max();
  CHECK(sum_of<T>({infinity, T(1), -most}) == infinity);
  CHECK(sum_of<T>({-infinity, most, most}) == -infinity);
  CHECK(sum_of<T>({infinity, infinity}) == infinity);
  for (const auto& none : {std::vector<T>{infinity, -infinity, T(1)}, {nan}, {-nan, T(1)}, {infinity, nan, -most}})
    for (const std::size_t zeros : {0, 1, 5}) {
      std::vector<T> summands(none);
      summands.resize(none.size() + zeros, T(0));
      for (std::size_t turn = 0; turn < summands.size(); ++turn) {
        std::rotate(summands.begin(), summands.begin() + 1, summands.end());
        reproducible<T> sum;
        sum.add(summands);
        CHECK(same_bits(sum.value(), nan));
      }
    }
  for (std::size_t at = 0; at < 700; at += 13) {  // in the midst of blocks
    std::vector<T> summands(700, T(1));
    summands[at] = nan;
    reproducible<T> sum;
    sum.add(summands);
    CHECK(same_bits(sum.value(), nan));
    summands[at] = -infinity;
    sum = {};
    sum.add(summands);
    CHECK(sum.value() == -infinity);
  }
}

}  // namespace

TEST_CASE("extreme numbers are added exactly, and nothing overflows in between") {
  on_every_target([](const std::string&) {
    check_extremes<float>();
    check_extremes<double>();
  });
}

TEST_CASE("NaNs and infinities give the same value wherever they stand") {
  on_every_target([](const std::string&) {
    check_specials<float>();
    check_specials<double>();
  });
}

namespace {

/// `doublings` times as many copies of a few summands, by merging the accumulator with itself.
template <class T>
void check_many(int doublings, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const kind what : {kind::uniform, kind::narrow, kind::cancelling}) {
    const auto summands = drawn<T>(what, 37, random);
    reproducible<T> sum;
    sum.add(summands);
    for (int i = 0; i < doublings; ++i) sum += reproducible<T>(sum);
    CHECK(sum.value() == std::ldexp(model_value(summands), doublings));
  }
}

template <class T>
void check_full_lanes() {
  for (const int bin : {2, 5, 9}) {
    const T limit = std::ldexp(T(1), width<T> * bin + lowest_exponent<T> + width<T> - 1);
    const T below = std::nextafter(limit, T(0));
    for (const T each : {below, -below}) {
      const std::vector<T> summands(65'536, each);
      reproducible<T> sum;
      sum.add(summands);
      CHECK(sum.value() == each * 65'536);
      CHECK(sum == one_by_one(summands));
    }
  }
}

}  // namespace

TEST_CASE("as many summands as stated are added without overflow") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_many<float>(31, seed);
  check_many<float>(66, seed);
  check_many<double>(31, seed);
  check_many<double>(66, seed);
}

TEST_CASE("lanes full of the largest slices do not overflow") {
  on_every_target([](const std::string&) {
    check_full_lanes<float>();
    check_full_lanes<double>();
  });
}

namespace {

template <class T>
void check_merge_kernel(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr std::size_t size = sizeof(reproducible<T>), margin = 16;
  for (std::size_t count : {0, 1, 2, 7})
    for (std::size_t sources = 1; sources <= 16; ++sources)
      for (std::size_t own = 0; own <= sources; ++own) {  // the source that is the target, or none
        std::vector<reproducible<T>> expected(count);
        std::vector<std::vector<std::byte>> arrays(17,
                                                   std::vector<std::byte>(count * size + 2 * margin, std::byte{0xa5}));
        std::array<const void*, 16> addresses{};
        for (std::size_t s = 0; s < sources; ++s) {
          std::byte* const at = arrays[s].data() + s % margin;
          addresses[s] = at;
          for (std::size_t i = 0; i < count; ++i) {
            reproducible<T> element;
            element.add(drawn<T>(kind::any_exponent, random() % 4, random));
            std::memcpy(at + i * size, &element, size);
            expected[i] += element;
          }
        }
        const std::size_t target = own < sources ? own : 16;
        std::byte* const into = arrays[target].data() + target % margin;
        const auto before = arrays[target];
        combine(operation::sum, type_of<reproducible<T>>)(addresses.data(), sources, into, count);
        REQUIRE((count == 0 || std::memcmp(into, expected.data(), count * size) == 0));
        const auto offset = into - arrays[target].data();
        const auto end = offset + static_cast<std::ptrdiff_t>(count * size);
        REQUIRE(std::equal(before.begin(), before.begin() + offset, arrays[target].begin()));
        REQUIRE(std::equal(before.begin() + end, before.end(), arrays[target].begin() + end));
      }
}

template <class T>
void check_each(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int what = 0; what <= static_cast<int>(kind::special); ++what) {
    auto from = drawn<T>(static_cast<kind>(what), 300, random);
    for (T& each : from)
      if (each == 0) each = 0;  // -0 becomes +0
    for (T& each : from)
      if (std::isnan(each)) each = std::numeric_limits<T>::quiet_NaN();
    std::vector<reproducible<T>> accumulators(from.size());
    accumulate_each(std::span<const T>(from), accumulators.data());
    std::vector<T> to(from.size());
    value_of_each(std::span<const reproducible<T>>(accumulators), to.data());
    REQUIRE(std::memcmp(from.data(), to.data(), from.size() * sizeof(T)) == 0);
  }
}

}  // namespace

TEST_CASE("arrays of accumulators are merged element by element") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_merge_kernel<float>(seed);
  check_merge_kernel<double>(seed);
}

TEST_CASE("a number comes out of its accumulator as it went in") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  check_each<float>(seed);
  check_each<double>(seed);
}
