// SPDX-License-Identifier: Apache-2.0
// What the launcher makes of its own process before it starts others.
#pragma once

#include <sys/resource.h>

#include <optional>
#include <weft/runtime/socket.hpp>

namespace weft::tools {

/// Numbers 0, 1 and 2 are to be what they are taken for, even when whoever started us closed them.
void open_standard_descriptors();

/// The signals that the launcher answers, taken off their usual way: they are read from the descriptor. These are
/// SIGCHLD, those that are passed on, and those that end the job: SIGINT, SIGTERM, SIGQUIT and SIGHUP. Throws
/// weft::error when the system refuses.
file_descriptor take_signals();

/// Whether the signal is for the ranks, which the launcher passes it on to: SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT.
bool is_passed_on(int number) noexcept;

/// Raises the limit of open files as far as allowed, for each process takes several, and returns the one that this
/// process began with.
std::optional<rlimit> allow_many_descriptors();

}  // namespace weft::tools
