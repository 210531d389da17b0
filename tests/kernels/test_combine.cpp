#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <valarray>
#include <vector>

#include "catch.hpp"
#include "guarded_array.hpp"
#include "reference.hpp"
#include "targets.hpp"
#include "weft/kernels/combine.hpp"

using namespace weft::kernels;
using namespace weft_test;

namespace {

constexpr std::size_t most_sources = 16;
constexpr std::size_t block = 4096;  // bytes that the kernels take at a time where one pass is not enough
constexpr std::size_t margin = 64;   // bytes looked at on either side of the target
constexpr std::byte poison{0xa5};

std::uint64_t test_seed() {
  const char* given = std::getenv("WEFT_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device()();
}

/// In elements of `bytes` bytes: every length up to 300, which is several rounds of the widest loop, and some around
/// blocks.
std::vector<std::size_t> lengths(std::size_t bytes) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i <= 300; ++i) result.push_back(i);
  const std::size_t whole = block / bytes;
  for (const std::size_t i : {whole - 1, whole, whole + 1, 2 * whole, 2 * whole + 1})
    if (i > 300) result.push_back(i);
  return result;
}

/// Where in its guarded array each vector lies: against the guard page below or above, or at any byte.
enum class placement { at_start, at_end, anywhere };

/// Sixteen sources and a target, each between guard pages.
class arena {
 public:
  arena() {
    for (auto& array : arrays_) array = std::make_unique<guarded_array>(3 * block + 2 * margin);
  }

  /// The place for vector `index` of `bytes` bytes.
  std::byte* place(std::size_t index, std::size_t bytes, placement where, std::mt19937_64& random) const {
    const guarded_array& array = *arrays_[index];
    if (where == placement::at_start) return array.begin();
    if (where == placement::at_end) return array.end() - bytes;
    return array.begin() + random() % margin;
  }

  /// The bytes beside the target, as far as there are any, together with those of the target.
  void poison_around(std::byte* target, std::size_t bytes) const {
    std::fill(low(target), high(target, bytes), poison);
  }
  bool untouched_around(const std::byte* target, std::size_t bytes) const {
    static const std::vector<std::byte> untouched(margin, poison);
    const std::byte* const end = target + bytes;
    return std::memcmp(low(target), untouched.data(), target - low(target)) == 0 &&
           std::memcmp(end, untouched.data(), high(target, bytes) - end) == 0;
  }

  static constexpr std::size_t target = most_sources;

 private:
  template <class Pointer>
  Pointer low(Pointer at) const {
    return at - std::min<std::size_t>(margin, at - arrays_[target]->begin());
  }
  template <class Pointer>
  Pointer high(Pointer at, std::size_t bytes) const {
    return at + bytes + std::min<std::size_t>(margin, arrays_[target]->end() - (at + bytes));
  }

  std::array<std::unique_ptr<guarded_array>, most_sources + 1> arrays_;
};

/// Copies the first `count` elements of `values` to `places` and gives the addresses that a kernel takes.
template <class T>
std::array<const void*, most_sources> fill(const std::vector<std::valarray<T>>& values,
                                           const std::array<std::byte*, most_sources>& places, std::size_t sources,
                                           std::size_t count) {
  std::array<const void*, most_sources> result{};
  for (std::size_t k = 0; k < sources; ++k)
    result[k] = std::memcpy(places[k], std::begin(values[k]), count * sizeof(T));
  return result;
}

template <class T>
bool holds(const void* place, const std::valarray<T>& values, std::size_t count) {
  return std::memcmp(place, std::begin(values), count * sizeof(T)) == 0;
}

/// One call with a target of its own.
template <class T>
bool combines(const arena& memory, combine_function combine, const std::vector<std::valarray<T>>& values,
              std::size_t sources, const std::valarray<T>& expected, std::size_t count, placement where,
              std::mt19937_64& random) {
  const std::size_t bytes = count * sizeof(T);
  std::array<std::byte*, most_sources> places{};
  for (std::size_t k = 0; k < sources; ++k) places[k] = memory.place(k, bytes, where, random);
  const auto addresses = fill(values, places, sources, count);
  std::byte* target = memory.place(arena::target, bytes, where, random);
  memory.poison_around(target, bytes);
  combine(addresses.data(), sources, target, count);
  return holds(target, expected, count) && memory.untouched_around(target, bytes);
}

/// One call whose target is source number `own`; the others keep their values.
template <class T>
bool combines_in_place(const arena& memory, combine_function combine, const std::vector<std::valarray<T>>& values,
                       std::size_t sources, const std::valarray<T>& expected, std::size_t count, std::size_t own,
                       std::mt19937_64& random) {
  std::array<std::byte*, most_sources> places{};
  for (std::size_t k = 0; k < sources; ++k) places[k] = memory.place(k, count * sizeof(T), placement::anywhere, random);
  const auto addresses = fill(values, places, sources, count);
  combine(addresses.data(), sources, places[own], count);
  for (std::size_t k = 0; k < sources; ++k)
    if (!holds(places[k], k == own ? expected : values[k], count)) return false;
  return true;
}

/// `body(operation, values)` for every type and every operator that it has, on `bytes` bytes of each source.
template <class Body>
void with_every_pair(std::size_t bytes, std::mt19937_64& random, Body body) {
  with_every_type([&](auto zero) {
    using T = decltype(zero);
    for (const operation op : all_operations())
      if (has(op, type_of<T>)) body(op, random_sources<T>(op, most_sources, bytes / sizeof(T), random));
  });
}

}  // namespace

TEST_CASE("every operator, type, number of sources, length and place gives the reference's bits") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const arena memory;
  const auto check = [&]<class T>(operation op, const std::vector<std::valarray<T>>& values) {
    const auto all_lengths = lengths(sizeof(T));
    for (std::size_t sources = 1; sources <= most_sources; ++sources) {
      const auto expected = reference(op, values, sources);
      on_every_target([&](const std::string&) {
        const combine_function function = combine(op, type_of<T>);
        for (const std::size_t count : all_lengths) {
          // In turn, so that every length meets every placement with several numbers of sources.
          const auto where = static_cast<placement>((count + sources) % 3);
          if (combines(memory, function, values, sources, expected, count, where, random)) continue;
          FAIL(name(op) << " of " << sources << " x " << count << " " << name(type_of<T>) << ", placement "
                        << static_cast<int>(where));
        }
      });
    }
  };
  with_every_pair(2 * block + 16, random, check);
}

TEST_CASE("the target may be any of the sources") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const arena memory;
  const auto check = [&]<class T>(operation op, const std::vector<std::valarray<T>>& values) {
    for (std::size_t sources = 1; sources <= most_sources; ++sources) {
      const auto expected = reference(op, values, sources);
      on_every_target([&](const std::string&) {
        const combine_function function = combine(op, type_of<T>);
        for (const std::size_t count : {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 64, 67, 129, 300})
          for (std::size_t own = 0; own < sources; ++own)
            if (count <= values[0].size() &&
                !combines_in_place(memory, function, values, sources, expected, count, own, random))
              FAIL(name(op) << " of " << sources << " x " << count << " " << name(type_of<T>) << ", in place of source "
                            << own);
        // Several blocks.
        const std::size_t count = values[0].size(), own = random() % sources;
        if (!combines_in_place(memory, function, values, sources, expected, count, own, random))
          FAIL(name(op) << " of " << sources << " x " << count << " " << name(type_of<T>) << ", in place of source "
                        << own);
      });
    }
  };
  with_every_pair(2 * block + 16, random, check);
}

TEST_CASE("one array may be several sources and the target too") {
  on_every_target([](const std::string&) {
    for (std::size_t count = 1; count < 70; ++count) {
      std::vector<std::int64_t> values(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(i) - 3;
      const std::array<const void*, 3> sources{values.data(), values.data(), values.data()};
      combine(operation::sum, type::int64)(sources.data(), 3, values.data(), count);
      for (std::size_t i = 0; i < count; ++i)
        if (values[i] != 3 * (static_cast<std::int64_t>(i) - 3)) FAIL("element " << i << " of " << count);
    }
  });
}

TEST_CASE("the tree is the one that is drawn") {
  // Which sums of 1 and 2^-53 keep the small ones, and so which were added to each other first.
  const auto sum_of = [](std::vector<double> values) {
    std::vector<const void*> sources;
    for (const double& value : values) sources.push_back(&value);
    double result = 0;
    combine(operation::sum, type::float64)(sources.data(), sources.size(), &result, 1);
    return result;
  };
  constexpr double tiny = 0x1p-53;
  on_every_target([&](const std::string&) {
    CHECK(sum_of({1, tiny, tiny}) == 1);                                     // (0 1) 2
    CHECK(sum_of({1, 0, tiny, tiny}) == 1 + 2 * tiny);                       // (0 1) (2 3)
    CHECK(sum_of({1, tiny, tiny, 0}) == 1);                                  //
    CHECK(sum_of({1, 0, 0, 0, tiny, tiny}) == 1 + 2 * tiny);                 // (0..3) (4 5)
    CHECK(sum_of({0, 0, 0, 0, 1, tiny, tiny}) == 1);                         // (0..3) ((4 5) 6)
    CHECK(sum_of({1, 0, 0, 0, 0, tiny, tiny}) == 1 + 2 * tiny);              // (0..3) ((4 5) 6)
    CHECK(sum_of({1, 0, 0, 0, 0, 0, 0, 0, tiny, 0, tiny}) == 1 + 2 * tiny);  // (0..7) ((8 9) 10)
  });
}

TEST_CASE("random arrays give the reference's bits") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto check = [&]<class T>(operation op, const std::vector<std::valarray<T>>& values) {
    const std::size_t sources = 2 + random() % (most_sources - 1);
    const auto expected = reference(op, values, sources);
    on_every_target([&](const std::string&) {
      std::vector<const void*> addresses;
      for (const auto& source : values) addresses.push_back(std::begin(source));
      std::valarray<T> result(values[0].size());
      combine(op, type_of<T>)(addresses.data(), sources, std::begin(result), result.size());
      if (!holds(std::begin(result), expected, result.size()))
        FAIL(name(op) << " of " << sources << " x " << result.size() << " " << name(type_of<T>));
    });
  };
  for (int round = 0; round < 3; ++round) with_every_pair(16 + random() % 50'000, random, check);
}

namespace {

/// What a kernel makes of two numbers at place `at` among `count` pairs of ones.
template <class T>
T combine_at(operation op, T a, T b, std::size_t at, std::size_t count) {
  std::vector<T> left(count, T(1)), right(count, T(1)), result(count, T(7));
  left[at] = a;
  right[at] = b;
  const std::array<const void*, 2> sources{left.data(), right.data()};
  combine(op, type_of<T>)(sources.data(), 2, result.data(), count);
  return result[at];
}

/// `body(at, count)` for every place in vectors that take every path: one element, a partial vector, the loops.
template <class Body>
void at_every_place(Body body) {
  for (const std::size_t count : {1, 3, 6, 15, 40, 85})
    for (std::size_t at = 0; at < count; ++at) body(at, count);
}

template <class T>
bool is_positive_quiet_nan(T value) {
  const T expected = std::numeric_limits<T>::quiet_NaN();
  return std::memcmp(&value, &expected, sizeof value) == 0;
}

template <class T>
void check_nans() {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T negative = -nan;
  const T signaling = std::numeric_limits<T>::signaling_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  at_every_place([&](std::size_t at, std::size_t count) {
    CAPTURE(at, count);
    for (const operation op : {operation::min, operation::max})
      for (const T other : {T(0), T(-5), infinity, -infinity, nan, negative})
        for (const T bad : {nan, negative, signaling})
          if (!is_positive_quiet_nan(combine_at(op, bad, other, at, count)) ||
              !is_positive_quiet_nan(combine_at(op, other, bad, at, count)))
            FAIL("not the NaN of the type for " << bad << " " << name(op) << " " << other);
    for (const operation op : {operation::sum, operation::product})
      if (!std::isnan(combine_at(op, nan, T(3), at, count)) || !std::isnan(combine_at(op, T(3), nan, at, count)))
        FAIL("no NaN from " << name(op));
    if (!std::isnan(combine_at(operation::sum, infinity, -infinity, at, count))) FAIL("no NaN from inf - inf");
  });
}

template <class T>
void check_zeros() {
  at_every_place([&](std::size_t at, std::size_t count) {
    CAPTURE(at, count);
    for (const auto& [a, b] : {std::pair{T(0), -T(0)}, std::pair{-T(0), T(0)}}) {
      if (!std::signbit(combine_at(operation::min, a, b, at, count))) FAIL("min of zeros is not -0");
      if (std::signbit(combine_at(operation::max, a, b, at, count))) FAIL("max of zeros is not +0");
      if (std::signbit(combine_at(operation::sum, a, b, at, count))) FAIL("sum of zeros is not +0");
      if (!std::signbit(combine_at(operation::product, a, b, at, count))) FAIL("product of zeros is not -0");
    }
    if (!std::signbit(combine_at(operation::sum, -T(0), -T(0), at, count))) FAIL("-0 + -0 is not -0");
  });
}

template <class T>
void check_wrap_around() {
  using limits = std::numeric_limits<T>;
  constexpr T least = limits::min(), most = limits::max();
  constexpr T minus_one = static_cast<T>(-1), minus_two = static_cast<T>(-2);
  at_every_place([&](std::size_t at, std::size_t count) {
    const bool right = combine_at(operation::sum, most, T(1), at, count) == least &&
                       combine_at(operation::sum, least, minus_one, at, count) == most &&
                       combine_at(operation::sum, least, least, at, count) == 0 &&
                       combine_at(operation::product, least, minus_one, at, count) == least &&
                       combine_at(operation::product, most, most, at, count) == 1 &&
                       combine_at(operation::product, most, T(2), at, count) == minus_two &&
                       combine_at(operation::min, least, most, at, count) == least &&
                       combine_at(operation::max, least, most, at, count) == most;
    if (!right) FAIL("place " << at << " of " << count);
  });
}

}  // namespace

TEST_CASE("a NaN in any source gives a NaN, for min and max always the same one") {
  on_every_target([](const std::string&) {
    check_nans<float>();
    check_nans<double>();
  });
}

TEST_CASE("minus zero is less than plus zero") {
  on_every_target([](const std::string&) {
    check_zeros<float>();
    check_zeros<double>();
  });
}

TEST_CASE("integers wrap around") {
  on_every_target([](const std::string&) {
    check_wrap_around<std::int8_t>();
    check_wrap_around<std::int16_t>();
    check_wrap_around<std::int32_t>();
    check_wrap_around<std::int64_t>();
    check_wrap_around<std::uint8_t>();
    check_wrap_around<std::uint16_t>();
    check_wrap_around<std::uint32_t>();
    check_wrap_around<std::uint64_t>();
  });
}

TEST_CASE("min and max give the same bits in whatever order the sources come") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  on_every_target([&](const std::string&) {
    for (const operation op : {operation::min, operation::max}) {
      auto values = random_sources<float>(op, 7, 100, random);
      const auto expected = reference(op, values, values.size());
      for (int shuffle = 0; shuffle < 20; ++shuffle) {
        std::shuffle(values.begin(), values.end(), random);
        std::vector<const void*> sources;
        for (const auto& source : values) sources.push_back(std::begin(source));
        std::vector<float> result(100);
        combine(op, type::float32)(sources.data(), sources.size(), result.data(), result.size());
        if (!holds(result.data(), expected, result.size())) FAIL(name(op) << " depends on the order");
      }
    }
  });
}

namespace {

/// Two elements, in both orders, at every place: must become `expected`.
template <class T>
void check_both_orders(operation op, T a, T b, T expected) {
  at_every_place([&](std::size_t at, std::size_t count) {
    for (const auto& [left, right] : {std::pair{a, b}, std::pair{b, a}}) {
      std::valarray<T> lefts(left, count), rights(right, count), result(count);
      const std::array<const void*, 2> sources{std::begin(lefts), std::begin(rights)};
      combine(op, type_of<T>)(sources.data(), 2, std::begin(result), count);
      if (!same_bits(result[at], expected)) FAIL(name(op) << " at " << at << " of " << count);
    }
  });
}

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

template <class T>
void check_halves() {
  const auto half = [](float value) { return T(value); };
  const T nan = half(std::numeric_limits<float>::quiet_NaN());
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const operation op : {operation::sum, operation::product, operation::min, operation::max}) {
    check_both_orders(op, T::from_bits(0xffff), half(1), nan);
    check_both_orders(op, T::from_bits(0x7fff), half(-infinity), nan);
  }
  check_both_orders(operation::sum, half(infinity), half(-infinity), nan);
  check_both_orders(operation::product, half(infinity), half(0), nan);
  check_both_orders(operation::min, half(0), half(-0.0f), half(-0.0f));
  check_both_orders(operation::max, half(0), half(-0.0f), half(0));
  check_both_orders(operation::max, half(-infinity), half(-3), half(-3));
  // The smallest subnormal, which nothing flushes to zero.
  check_both_orders(operation::sum, T::from_bits(1), T::from_bits(1), T::from_bits(2));
  check_both_orders(operation::sum, T::from_bits(1), T::from_bits(0x8000), T::from_bits(1));
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

TEST_CASE("halves keep NaNs, zeros and subnormals, and round to the even one") {
  on_every_target([](const std::string&) {
    check_halves<weft::float16>();
    check_halves<weft::bfloat16>();
    using weft::bfloat16, weft::float16;
    // Halfway between two: the even one.
    check_both_orders(operation::sum, float16(2048), float16(1), float16(2048));
    check_both_orders(operation::sum, float16(2050), float16(1), float16(2052));
    check_both_orders(operation::sum, float16(65504), float16(16), float16(std::numeric_limits<float>::infinity()));
    check_both_orders(operation::sum, bfloat16(256), bfloat16(1), bfloat16(256));
    check_both_orders(operation::sum, bfloat16(258), bfloat16(1), bfloat16(260));
  });
}

TEST_CASE("every pair of a float16 and one of some has the sum of the reference") {
  std::valarray<weft::float16> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = weft::float16::from_bits(static_cast<std::uint16_t>(i));
  for (const float other : {0.0f, 1.0f, -0x1p-24f, 1023.5f, -65504.0f}) {
    const std::vector<std::valarray<weft::float16>> values{all, {weft::float16(other), all.size()}};
    const auto expected = reference(operation::sum, values, 2);
    on_every_target([&](const std::string&) {
      const std::array<const void*, 2> sources{std::begin(values[0]), std::begin(values[1])};
      std::valarray<weft::float16> result(all.size());
      combine(operation::sum, type::float16)(sources.data(), 2, std::begin(result), result.size());
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!same_bits(result[i], expected[i])) FAIL(i << " + " << other << " gives " << result[i].bits());
    });
  }
}

TEST_CASE("targets that are written past the caches hold the same as those that are not") {
  // Long enough for streaming stores, in pieces that are not.
  constexpr std::size_t sources = 16, bytes = (std::size_t{2} << 20) + 77, piece = 1 << 20;
  std::mt19937_64 random(test_seed());
  std::vector<std::byte> source(bytes + margin), whole(bytes + 2 * margin), pieces(bytes);
  for (std::byte& each : source) each = std::byte(random() % 3);
  on_every_target([&](const std::string&) {
    for (const auto& [op, element] : {std::pair{operation::sum, type::uint8}, std::pair{operation::max, type::float16},
                                      std::pair{operation::bit_xor, type::uint64}})
      for (const std::size_t shift : {0, 56}) {
        CAPTURE(name(op), name(element), shift);
        const std::size_t size = size_of(element), count = bytes / size;
        const combine_function function = combine(op, element);
        const auto call = [&](std::size_t first, std::size_t elements, std::byte* to) {
          std::array<const void*, sources> from;
          for (std::size_t k = 0; k < sources; ++k) from[k] = source.data() + k % 3 * size + first * size;
          function(from.data(), sources, to, elements);
        };
        std::fill(whole.begin(), whole.end(), poison);
        call(0, count, whole.data() + shift);
        for (std::size_t first = 0; first < count; first += piece / size)
          call(first, std::min(piece / size, count - first), pieces.data() + first * size);
        CHECK(std::memcmp(whole.data() + shift, pieces.data(), count * size) == 0);
        CHECK(std::all_of(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(shift),
                          [](std::byte b) { return b == poison; }));
        CHECK(std::all_of(whole.begin() + static_cast<std::ptrdiff_t>(shift + count * size), whole.end(),
                          [](std::byte b) { return b == poison; }));
      }
  });
}
