// SPDX-License-Identifier: Apache-2.0
// A collective among processes, once the ranks of each have joined their parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>
#include <weft/fabric/collective_sequence.hpp>
#include <weft/kernels/combine.hpp>
#include <weft/request.hpp>
#include <weft/request/run_arguments.hpp>
#include <weft/schedules/pattern_call.hpp>

namespace weft::detail {

using fabric::last_sequence;
using fabric::sequence_of_agreement;
using fabric::sequence_of_plan;
using fabric::sequence_of_start;

/// How a call goes in the memory of a node: what the team of its processes has found out (team/node_team.hpp). Elements
/// are those of the operator; where nothing is combined, bytes.
struct node_way {
  std::uint32_t found = 0;  ///< under which conditions, as the team counts them; 0: nothing is known
  schedules::memory_pattern wanted = schedules::memory_pattern::none;
  bool in_line = false;    ///< by one exchange of lines
  bool one_round = false;  ///< it is over then
  bool custom = false;     ///< by an operator of the caller's
  std::size_t bytes = 0;   ///< that a process gives
  std::uint64_t fingerprint = 0;
  std::size_t element = 1;  ///< bytes
  std::size_t block = 0;    ///< elements of each block, where all are equal
  kernels::combine_function kernel = nullptr;
  schedules::pattern_call how;
};

/// A call among processes: as a request, but for buffers, which hold all of the vector; `custom` is the first rank's
/// here.
struct leader_call : run_arguments {
  leader_call() noexcept {}  // as that of request

  collective what = collective::barrier;
  const request* of = nullptr;      ///< operator, type
  std::size_t count = 0;            ///< elements of the vector; of an all-to-all, that this process sends
  std::size_t block = 0;            ///< where there are blocks: elements of each process's,
  std::vector<std::size_t> counts;  ///< or if they differ, of every one's; in an all-to-all as in collective_call
  int root = 0;                     ///< a process, in the order of `leaders`
  /// From run to run it differs in nothing but buffers and sequence, so that what is found out holds.
  bool is_kept = false;
  mutable node_way on_node;
};

/// What came of it.
struct leader_result {
  std::exception_ptr failure;
  std::shared_ptr<const fabric::poison> poisoned;  ///< an operator's failure, after which the communicator goes on
};

}  // namespace weft::detail
