// What the living ranks of a communicator tell each other, whatever has failed on it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>
#include <weft/calls/communicator_state.hpp>

namespace weft::detail {

/// The calls that go on whatever has failed.
enum class survivors_call : unsigned char { different, agree, shrink, grow };

/// What each rank gives to that call; empty: it takes no part, being dead or having left. The same on all ranks that
/// get it. Blocks. Throws as `communicator::agree`.
std::vector<std::vector<std::byte>> gather_of_survivors(communicator_state& state, survivors_call call,
                                                        std::span<const std::byte> given);

}  // namespace weft::detail
