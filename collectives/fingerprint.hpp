// What the ranks of a collective must agree on, in the 64 bits that travel with its messages.
#pragma once

#include <weft/communicator.hpp>
#include <weft/kernels/combine.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::detail {

enum class algorithm : std::uint8_t { dissemination, binomial, greedy, recursive_doubling, ring };

/// Whether a collective combines by an operator of the caller's.
enum class custom_operator : std::uint8_t { none, commutes, keeps_order };

/// A collective call, as far as ranks must agree on it.
struct collective_call {
  collective what = collective::barrier;
  algorithm how = algorithm::dissemination;
  kernels::operation op = kernels::operation::sum;
  kernels::type type = kernels::type::float32;
  custom_operator custom = custom_operator::none;  ///< else op and type are not those of the call
  std::int32_t root = 0;
  std::size_t count = 0;             ///< elements
  std::uint32_t element_bytes = 1;
  std::uint32_t segments = 1;
  friend bool operator==(const collective_call&, const collective_call&) = default;
};

const char* name(collective what) noexcept;
const char* name(algorithm how) noexcept;

/// The call in 64 bits: root and count only as far as they fit.
std::uint64_t fingerprint(const collective_call& call) noexcept;

/// What a fingerprint stands for, as a person reads it: "allreduce(sum, double, count 1000 by ring)".
std::string describe_fingerprint(std::uint64_t fingerprint);

}  // namespace weft::detail
