// How collectives end whose ranks of one process meet, where they do not end well.
#pragma once

#include <cstddef>
#include <exception>
#include <span>

#include "communicator_state.hpp"

namespace weft::detail {

/// Breaks the communicator because the ranks at two seats call different things; of an all-to-all with counts where
/// what a rank sends another is not what that expects: then false.
void refuse_difference(communicator_state& state, std::size_t one, std::size_t another);
bool agree_on_counts(communicator_state& state);

/// The calls of these seats end with `failure`.
void end_calls(meeting& here, std::span<const std::size_t> seats, const std::exception_ptr& failure) noexcept;

}  // namespace weft::detail
