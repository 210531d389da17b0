// SPDX-License-Identifier: Apache-2.0
// Sums of floating-point numbers whose bits do not depend on the order in which they are added.
#pragma once

#include <weft/api.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace weft {

namespace kernels {
/// What reproducible sums add up.
template <class T>
concept summable = std::same_as<T, float> || std::same_as<T, double>;
struct binned_access;
}  // namespace kernels

/// The sum of many numbers of type T (float or double): equal multisets of summands give equal bits, of the accumulator
/// and of its value, whatever the order, the grouping into accumulators, and the instruction set.
///
///   weft::reproducible<double> dot;  // of x and y, of which this rank has a part, by way of a block of products
///   for (std::size_t i = 0; i < x.size(); i += 1024) {
///     const auto end = std::min(x.size(), i + 1024);
///     std::transform(&x[i], &x[end], &y[i], products.begin(), std::multiplies());
///     dot.add(std::span(products).first(end - i));
///   }
///   world.allreduce(std::span(&dot, 1), std::span(&dot, 1), weft::sum);
///   const double result = dot.value();  // the same bits on any number of ranks
///
/// How: binned summation (Demmel and Nguyen, Parallel Reproducible Summation, IEEE Trans. Computers 64(7), 2015;
/// Ahrens, Demmel and Nguyen, Algorithms for Efficient Reproducible Floating Point Summation, ACM TOMS 46(3), 2020).
/// The exponent range is cut into bins of W bits (52 for double, 23 for float) whose places are fixed. A summand is cut
/// at their borders into slices, each rounded to nearest, ties to even. The accumulator keeps exact sums of the slices
/// in three bins, of which the highest is that of the largest summand so far; it is the integer form of the papers'
/// binned type, so no sum depends on its order, and none overflows for fewer than 2^72 summands.
///
/// Error: with n summands, the largest of them m in magnitude,
///     |value - exact sum| <= n * 2^-2W * m + 2^-(W+1) * |value|,
/// the last term being the one rounding to T. A plain sum may err by (n - 1) * 2^-(W+1) times the sum of magnitudes
/// (Higham, Accuracy and Stability of Numerical Algorithms, 2002, 4.2), which is more from n = 3 on.
///
/// Special values: a NaN, or infinities of both signs, make the value the quiet NaN of the type; infinities of one sign
/// that infinity. Nothing in between overflows: a sum of finite numbers is infinite only if the sum of the slices
/// rounds to infinity. Subnormal numbers are summands like others. Zeros of either sign add nothing: a sum that is zero
/// is +0, the empty one too.
///
/// Cost: `add` needs 8 operations a vector where the elements have slices in two bins, 12 where they have them in
/// three; a plain sum needs one, the papers' algorithm 7 additions and what finds the bins. Two are enough, as a rule,
/// where no element is 0 and the exponents differ by less than 32 (double) or 16 (float). Measured with AVX-512 on
/// aligned doubles: 5 and 9 times the time of a plain sum out of L1, which takes no longer than its loads, 2 and 4
/// times out of L2, and 1.2 times out of memory. One summand by += takes about 10 ns, a merge 30 ns, a value 50 ns.
///
/// `add` and `value` are reproducible in the rounding mode to nearest, without FTZ and DAZ, which is how programs
/// start; the other members do not depend on them. No member blocks, allocates or throws; one accumulator is for one
/// thread at a time.
template <kernels::summable T>
class WEFT_API reproducible {
 public:
  static constexpr int bins = 3;

  /// The empty sum.
  reproducible() noexcept = default;
  explicit reproducible(T summand) noexcept { *this += summand; }

  reproducible& operator+=(T summand) noexcept;
  /// The summands of both.
  reproducible& operator+=(const reproducible& other) noexcept;
  /// Adds every element, by SIMD; for long arrays 50 times as fast as one by one.
  void add(std::span<const T> summands) noexcept;

  /// The sum, rounded once.
  T value() const noexcept;

  /// Whether the accumulators have the same bits, as they do after the same summands.
  friend bool operator==(const reproducible&, const reproducible&) = default;

 private:
  friend struct kernels::binned_access;
  static constexpr bool is_double = sizeof(T) == 8;
  using high_word = std::conditional_t<is_double, std::int64_t, std::int32_t>;
  using small_word = std::conditional_t<is_double, std::uint32_t, std::uint16_t>;

  // Sums of slices, two's complement, in units of their bins; the highest bin first.
  std::array<std::uint64_t, bins> low_{};
  std::array<high_word, bins> high_{};
  small_word top_ = bins - 1;  // number of the highest bin; bin 0 ends with the smallest subnormal number
  small_word special_ = 0;     // what was met: 1 NaN, 2 +infinity, 4 -infinity
};

static_assert(std::is_trivially_copyable_v<reproducible<double>> && sizeof(reproducible<double>) == 56);
static_assert(std::is_trivially_copyable_v<reproducible<float>> && sizeof(reproducible<float>) == 40);

}  // namespace weft

namespace weft::kernels {

/// to[i] = an accumulator that holds from[i] alone. The arrays do not overlap.
template <summable T>
WEFT_API void accumulate_each(std::span<const T> from, reproducible<T>* to) noexcept;

/// to[i] = the value of from[i]. The arrays do not overlap.
template <summable T>
WEFT_API void value_of_each(std::span<const reproducible<T>> from, T* to) noexcept;

/// Merges arrays of reproducible<T>, as `combine_function` says.
template <summable T>
WEFT_API void merge_arrays(const void* const* sources, std::size_t source_count, void* target, std::size_t count);

}  // namespace weft::kernels
