// What stands in for the caller's numbers while reproducible sums travel.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>
#include <weft/kernels/types.hpp>

namespace weft::detail {

/// Accumulators of floats or doubles. Their memory stays where it is when they are moved.
class accumulators {
 public:
  /// One for each of `count` numbers at `in`; of type float32 or float64.
  accumulators(kernels::type numbers, const void* in, std::size_t count);

  /// Begins again with those of `in`, of as many numbers.
  void refill(const void* in) noexcept;

  void* data() noexcept;
  /// The accumulators' type.
  kernels::type type() const noexcept;
  /// Writes the values of `count` accumulators from `first` on to `out`.
  void values(std::size_t first, std::size_t count, void* out) const noexcept;

 private:
  std::variant<std::vector<reproducible<float>>, std::vector<reproducible<double>>> all_;
};

}  // namespace weft::detail
