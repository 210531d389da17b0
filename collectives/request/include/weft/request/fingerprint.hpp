// SPDX-License-Identifier: Apache-2.0
// What the ranks of a collective must agree on, in the 64 bits that travel with its messages.
#pragma once

#include <cstdint>
#include <string>
#include <weft/request/collective_call.hpp>

namespace weft::detail {

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
