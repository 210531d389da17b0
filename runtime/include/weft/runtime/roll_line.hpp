// SPDX-License-Identifier: Apache-2.0
// How a process says who it is and what it does to whoever asks it: the name of its socket, and the words of a line.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// The number of a job in the names of its sockets: 16 hexadecimal digits.
std::string roll_job_name(std::uint64_t job);

/// "weft-UID-JOB-WHO-PID", of this process: `who` is its number in the job, or "run". An abstract name: in no folder.
std::string roll_socket_name(std::string_view job, std::string_view who);

/// Adds " KEY=VALUE" to a line; blanks and the like in the value are written as %20.
void add_to_roll_line(std::string& line, std::string_view key, std::string_view value);

}  // namespace weft
