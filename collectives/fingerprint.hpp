// What the ranks of a collective must agree on, in the 64 bits that travel with its messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include <weft/kernels/combine.hpp>
#include <weft/operators.hpp>
#include <weft/schedules/algorithms.hpp>

namespace weft::detail {

using schedules::collective;

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

/// The call in 64 bits: root and counts only as far as they fit.
std::uint64_t fingerprint(const collective_call& call) noexcept;

/// The call in full, as far as ranks must agree on it.
struct call_terms {
  std::uint64_t fingerprint = 0;
  std::uint64_t count = 0;  ///< as in collective_call; of uneven blocks a hash of the counts
  std::int64_t root = 0;
  std::uint64_t element_bytes = 1;  ///< as in collective_call
  friend bool operator==(const call_terms&, const call_terms&) = default;
};

call_terms terms_of(const collective_call& call) noexcept;

/// As a person reads them: "allreduce(sum, double, count 20000000 elements) by ring".
std::string describe_terms(const call_terms& terms);

/// Of the same call where ranks of a process join first (joined_call.hpp), by whatever algorithm of its collective
/// `how` is: which of them goes between the processes follows from the rest.
std::uint64_t joined_fingerprint(const collective_call& call) noexcept;

/// What a fingerprint stands for, as a person reads it: "allreduce(sum, double, count 1000 elements) by ring".
std::string describe_fingerprint(std::uint64_t fingerprint);

}  // namespace weft::detail
