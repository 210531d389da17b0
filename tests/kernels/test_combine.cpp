#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
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
constexpr std::size_t longest = 4097;
constexpr std::size_t margin = 64;  // bytes looked at on either side of the target
constexpr std::byte poison{0xa5};

std::uint64_t test_seed() {
  const char* given = std::getenv("WEFT_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device()();
}

/// Every length up to 300, which is several rounds of the widest loop, and some around powers of two.
std::vector<std::size_t> lengths() {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i <= 300; ++i) result.push_back(i);
  for (const std::size_t block : {512, 1024, 4096})
    for (const std::size_t i : {block - 1, block, block + 1}) result.push_back(i);
  return result;
}

/// Where in its guarded array each vector lies: against the guard page below or above, or at any byte.
enum class placement { at_start, at_end, anywhere };

/// Sixteen sources and a target, each between guard pages.
class arena {
 public:
  arena() {
    for (auto& array : arrays_) array = std::make_unique<guarded_array>(longest * 8 + 2 * margin);
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
std::array<const void*, most_sources> fill(const std::vector<std::vector<T>>& values,
                                           const std::array<std::byte*, most_sources>& places, std::size_t sources,
                                           std::size_t count) {
  std::array<const void*, most_sources> result{};
  for (std::size_t k = 0; k < sources; ++k)
    result[k] = count == 0 ? places[k] : std::memcpy(places[k], values[k].data(), count * sizeof(T));
  return result;
}

template <class T>
bool same_bits(const void* a, const std::vector<T>& b, std::size_t count) {
  return count == 0 || std::memcmp(a, b.data(), count * sizeof(T)) == 0;
}

/// One call with a target of its own.
template <class T>
bool combines(const arena& memory, combine_function combine, const std::vector<std::vector<T>>& values,
              std::size_t sources, const std::vector<T>& expected, std::size_t count, placement where,
              std::mt19937_64& random) {
  const std::size_t bytes = count * sizeof(T);
  std::array<std::byte*, most_sources> places{};
  for (std::size_t k = 0; k < sources; ++k) places[k] = memory.place(k, bytes, where, random);
  const auto addresses = fill(values, places, sources, count);
  std::byte* target = memory.place(arena::target, bytes, where, random);
  memory.poison_around(target, bytes);
  combine(addresses.data(), sources, target, count);
  return same_bits(target, expected, count) && memory.untouched_around(target, bytes);
}

/// One call whose target is source number `own`; the others keep their values.
template <class T>
bool combines_in_place(const arena& memory, combine_function combine, const std::vector<std::vector<T>>& values,
                       std::size_t sources, const std::vector<T>& expected, std::size_t count, std::size_t own,
                       std::mt19937_64& random) {
  std::array<std::byte*, most_sources> places{};
  for (std::size_t k = 0; k < sources; ++k) places[k] = memory.place(k, count * sizeof(T), placement::anywhere, random);
  const auto addresses = fill(values, places, sources, count);
  combine(addresses.data(), sources, places[own], count);
  for (std::size_t k = 0; k < sources; ++k)
    if (!same_bits(places[k], k == own ? expected : values[k], count)) return false;
  return true;
}

/// `body(operation, values, sources, expected, random)` for every operator and number of sources on elements of type T.
template <class T, class Body>
void with_every_case(std::size_t count, std::mt19937_64& random, Body body) {
  for (const operation op : tested_operations) {
    const auto values = random_sources<T>(op, most_sources, count, random);
    for (std::size_t sources = 1; sources <= most_sources; ++sources)
      body(op, values, sources, reference(op, values, sources));
  }
}

}  // namespace

TEST_CASE("every operator, type, number of sources, length and place gives the reference's bits") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const arena memory;
  const auto all_lengths = lengths();
  on_every_target([&](const std::string&) {
    with_every_type([&](auto zero) {
      using T = decltype(zero);
      with_every_case<T>(longest, random,
                         [&](operation op, const auto& values, std::size_t sources, const auto& expected) {
                           const combine_function function = combine(op, type_of<T>);
                           for (const std::size_t count : all_lengths) {
                             // In turn, so that every length meets every placement with several numbers of sources.
                             const auto where = static_cast<placement>((count + sources) % 3);
                             if (combines(memory, function, values, sources, expected, count, where, random)) continue;
                             FAIL(name(op) << " of " << sources << " x " << count << " " << name(type_of<T>)
                                           << ", placement " << static_cast<int>(where));
                           }
                         });
    });
  });
}

TEST_CASE("the target may be any of the sources") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const arena memory;
  on_every_target([&](const std::string&) {
    with_every_type([&](auto zero) {
      using T = decltype(zero);
      with_every_case<T>(300, random, [&](operation op, const auto& values, std::size_t sources, const auto& expected) {
        const combine_function function = combine(op, type_of<T>);
        for (const std::size_t count : {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 64, 67, 129, 300})
          for (std::size_t own = 0; own < sources; ++own)
            if (!combines_in_place(memory, function, values, sources, expected, count, own, random))
              FAIL(name(op) << " of " << sources << " x " << count << " " << name(type_of<T>) << ", in place of source "
                            << own);
      });
    });
  });
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
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  at_every_place([&](std::size_t at, std::size_t count) {
    const bool right = combine_at(operation::sum, most, T(1), at, count) == least &&
                       combine_at(operation::sum, least, T(-1), at, count) == most &&
                       combine_at(operation::sum, least, least, at, count) == 0 &&
                       combine_at(operation::product, least, T(-1), at, count) == least &&
                       combine_at(operation::product, most, most, at, count) == 1 &&
                       combine_at(operation::product, most, T(2), at, count) == -2 &&
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
    check_wrap_around<std::int32_t>();
    check_wrap_around<std::int64_t>();
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
        for (const auto& source : values) sources.push_back(source.data());
        std::vector<float> result(100);
        combine(op, type::float32)(sources.data(), sources.size(), result.data(), result.size());
        if (!same_bits(result.data(), expected, result.size())) FAIL(name(op) << " depends on the order");
      }
    }
  });
}
