// SPDX-License-Identifier: Apache-2.0
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
  int degree = 0;  ///< of the algorithm; 0: what the options say
  /// When each rank comes, as in schedules::selected: of algorithms that take it. Empty: all at once.
  std::vector<double> arrivals;
  /// Where blocks differ: each rank's count, in an all-to-all what this rank sends to each and, behind these, receives
  /// from each. Else empty.
  std::vector<std::size_t> counts;
  bool at_root = false;  ///< the counts are the root's alone: others have their own there, and none else
  /// Where each block of the buffer that has one of each rank begins, in an all-to-all of the input and of the output;
  /// empty: one after another.
  std::vector<std::size_t> displacements, received_displacements;
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

/// Gives `call` the counts and places of the blocks of `wanted`, which `rank` of `ranks` calls.
void set_blocks(collective_call& call, const request& wanted, const request_shape& shape, int rank, int ranks);

}  // namespace weft::detail
