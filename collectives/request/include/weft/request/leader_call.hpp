// A collective among processes, once the ranks of each have joined their parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>
#include <weft/fabric/operation.hpp>
#include <weft/request.hpp>

namespace weft::detail {

/// Sequence numbers of collectives, which wrap; those of plans, of what is agreed on before a call, and of what is
/// agreed on before all calls have marks.
inline constexpr std::uint32_t last_sequence = 0x3fff'ffff;
inline constexpr std::uint32_t sequence_of_agreement = 0x4000'0000;
inline constexpr std::uint32_t sequence_of_plan = 0x8000'0000;
inline constexpr std::uint32_t sequence_of_start = 0xc000'0000;

/// Calls of a rank of which is kept what follows from their arguments.
inline constexpr std::size_t most_calls_kept = 9;

/// A call among processes: as a request, but for buffers, which hold all of the vector.
struct leader_call {
  leader_call() noexcept {}  // as that of request

  collective what = collective::barrier;
  const request* of = nullptr;      ///< operator, type
  std::size_t count = 0;            ///< elements of the vector; of an all-to-all, that this process sends
  std::size_t block = 0;            ///< where there are blocks: elements of each process's,
  std::vector<std::size_t> counts;  ///< or if they differ, of every one's; in an all-to-all as in collective_call
  int root = 0;                     ///< a process, in the order of `leaders`
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint32_t sequence = 0;
  std::uint64_t fingerprint = 0;
  user_function custom;                            ///< of the first rank here
  std::shared_ptr<const fabric::poison> poisoned;  ///< there is nothing to send
  /// Differs in nothing but the buffers and the sequence from what whoever runs it has been given here the last time.
  bool again = false;
  std::size_t kept_at = 0;  ///< where whoever runs it keeps what follows from the rest: below most_calls_kept
};

/// What came of it.
struct leader_result {
  std::exception_ptr failure;
  std::shared_ptr<const fabric::poison> poisoned;  ///< an operator's failure, after which the communicator goes on
};

}  // namespace weft::detail
