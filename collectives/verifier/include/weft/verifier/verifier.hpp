// SPDX-License-Identifier: Apache-2.0
// Proves, symbolically, that the schedules of all ranks together are a collective operation.
#pragma once

#include <optional>
#include <span>
#include <weft/schedules/schedule.hpp>
#include <weft/verifier/fault.hpp>

namespace weft::schedules {

/// Checks `ranks`, the schedule of every rank, for every count of elements at once:
///  - each step is well formed, and the layouts are those of the purpose;
///  - messages match pair by pair, by ordinal, in kind and, block by block, in the elements that they carry;
///  - every step ends though no message is buffered anywhere (a send ends when its receive has begun, a notify when its
///    await has), both when steps begin as soon as what they depend on is done, and when they begin in their order,
///    local ones ending before the next begins;
///  - two accesses to one memory, of which one writes, are ordered by dependencies and messages: of a send from its
///    begin to its end, of a receive likewise; both for an output of its own and for one that is the input's memory;
///  - what lies in another rank's memory is read only once that rank has offered it, and its schedule does not end
///    before;
///  - nothing is read before it is written, and the input is not written (unless the output is the same memory);
///  - each output block holds each contribution that it should exactly once, and no other (of scans, in the order of
///    the ranks); after a barrier, every rank has heard of every other one's begin.
/// Nothing when all of this holds, else the first fault found. Blocks for about linear time in steps times ranks.
std::optional<fault> verify(const purpose& meant, std::span<const schedule> ranks);

/// Whether every output block is combined in the order of the ranks, as an operator that does not commute needs. For
/// schedules that verify; else std::invalid_argument with the fault.
bool keeps_rank_order(const purpose& meant, std::span<const schedule> ranks);

}  // namespace weft::schedules
