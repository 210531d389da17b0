// SPDX-License-Identifier: Apache-2.0
// What stands in for the caller's numbers while reproducible sums travel.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>
#include <weft/kernels/types.hpp>
#include <weft/request.hpp>
#include <weft/request/request_shape.hpp>
#include <weft/runtime/memory_budget.hpp>

namespace weft::detail {

/// Accumulators of floats or doubles. Their memory stays where it is when they are moved.
class accumulators {
 public:
  /// One for each of `count` numbers at `in`; of type float32 or float64. Counted in `memory`. Throws std::bad_alloc,
  /// errc::out_of_memory.
  accumulators(kernels::type numbers, const void* in, std::size_t count, std::shared_ptr<memory_budget> memory);

  /// Begins again with those of `in`, of as many numbers.
  void refill(const void* in) noexcept;

  void* data() noexcept;
  /// The accumulators' type.
  kernels::type type() const noexcept;
  /// Writes the values of `count` accumulators from `first` on to `out`.
  void values(std::size_t first, std::size_t count, void* out) const noexcept;

 private:
  memory_charge charge_;
  std::variant<std::vector<reproducible<float>>, std::vector<reproducible<double>>> all_;
};

/// Where the values of a reproducible sum go, and of which accumulators.
struct value_target {
  void* out = nullptr;
  std::size_t first = 0;
  std::size_t count = 0;
};

inline void write_values(const accumulators& of, const value_target& to) noexcept {
  if (to.count != 0) of.values(to.first, to.count, to.out);
}

/// The same reduction of `sums` in place.
request of_accumulators(request call, const request_shape& shape, accumulators& sums);

/// Where the values of that reduction's result go.
value_target target_of(const request& call, const request_shape& shape);

}  // namespace weft::detail
