// SPDX-License-Identifier: Apache-2.0
// The steps of all ranks of an algorithm, for who looks at all of them together.
#pragma once

#include <cstddef>
#include <functional>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/partition.hpp>

namespace weft::schedules {

/// Emits one rank's steps.
using steps_of_rank = std::function<void(int rank, sink& to)>;

/// Those of `how`. What all ranks share is made once.
steps_of_rank steps_of(const algorithm& how, const algorithm_arguments& shape);

/// Bytes for the blocks of a `kind`, where `bytes` bytes go in: of all chunks together, in an all-to-all of one rank.
partition counts_of(collective kind, int ranks, std::size_t bytes);

}  // namespace weft::schedules
