// A collective call as ranks must agree on it, made of what a caller asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#include <weft/request.hpp>
#include <weft/request/request_shape.hpp>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/selection.hpp>

namespace weft::detail {

/// Whether a collective combines by an operator of the caller's.
enum class custom_operator : std::uint8_t { none, commutes, keeps_order };

inline custom_operator custom_of(const user_function& function) {
  if (function.apply == nullptr) return custom_operator::none;
  return function.order == commutes ? custom_operator::commutes : custom_operator::keeps_order;
}

/// A collective call, as far as ranks must agree on it, and what else its plan depends on.
struct collective_call {
  const schedules::algorithm* how = nullptr;  ///< in the table: which collective, and by what
  kernels::operation op = kernels::operation::sum;
  kernels::type type = kernels::type::float32;
  custom_operator custom = custom_operator::none;  ///< else op and type are not those of the call
  std::int32_t root = 0;
  /// Elements: of the vector, or where there are blocks, of each rank's block (for each other rank, in an all-to-all).
  std::size_t count = 0;
  std::uint32_t element_bytes = 1;  ///< where nothing is combined, elements are bytes
  std::uint32_t segments = 1;
  /// Where blocks differ: each rank's count, in an all-to-all what this rank sends to each and, behind these, receives
  /// from each. Else empty.
  std::vector<std::size_t> counts;
  friend bool operator==(const collective_call&, const collective_call&) = default;

  collective what() const noexcept { return how->kind; }
};

/// The call by what was chosen: of `count` elements, in each block where there are blocks.
collective_call planned_call(const request& wanted, const schedules::selected& found, int root, std::size_t count);

/// The call as ranks must agree on it, by whatever algorithm.
collective_call agreed_call(const request& wanted, const request_shape& shape);

/// Gives `call` the counts of each of its blocks, which are in elements of `wanted`.
void set_counts(collective_call& call, const request& wanted, std::vector<std::size_t> counts);

/// The counts of the caller's blocks: in an all-to-all of what it sends and, behind these, receives.
std::vector<std::size_t> counts_of(const request& wanted);

/// What makes two calls of one rank the same but for the buffers, and what the caller's operator does, where the ranks'
/// blocks are even.
struct call_key {
  collective what = collective::barrier;
  custom_operator custom = custom_operator::none;
  kernels::operation op = kernels::operation::sum;
  kernels::type type = kernels::type::float32;
  int root = 0;
  std::size_t element_bytes = 0;  ///< 0: of no call
  std::size_t in_count = 0;       ///< as in request; of a call among processes: of the vector,
  std::size_t out_count = 0;      ///< and of a block
  friend bool operator==(const call_key&, const call_key&) = default;
};

inline call_key key_of(const request& call) noexcept {
  return {call.what, custom_of(call.custom), call.op,       call.type,
          call.root, call.element_bytes,     call.in_count, call.out_count};
}

}  // namespace weft::detail
