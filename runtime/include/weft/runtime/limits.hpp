// SPDX-License-Identifier: Apache-2.0
// Limits of this process (getrlimit(2)), for errors that follow from them.
#pragma once

#include <cstddef>
#include <string>

namespace weft {

/// What limit a system call that failed so has met, how large that is, and how it is raised, to stand behind the
/// error: "; ...". Empty where none is known. `number` is errno, of pthread functions what they return.
std::string limit_behind(int number, const char* call);

/// The same where this process can open no file just now: for what failed in libraries that do not say why. Any thread.
std::string file_limit_met();

/// Bytes of addresses that this process has; 0 where the system does not say. Takes no memory.
std::size_t addresses_in_use() noexcept;

}  // namespace weft
