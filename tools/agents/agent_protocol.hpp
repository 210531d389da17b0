// SPDX-License-Identifier: Apache-2.0
// What the launcher and its agents, one on each other host of a job, say to each other.
//
// An agent is started through a remote shell, whose standard streams carry what comes before there is a connection:
//
//   agent                                                  who starts it: the launcher, or an agent nearer to it
//     greeting: a line with the versions         ----->
//              <-----  length (4 bytes), invitation
//
// Then it connects to the launcher (see agent_handshake.hpp), and both send frames: the length of what follows (4
// bytes, least significant first), the kind of message (1 byte), its body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include <weft/processes/job_settings.hpp>

namespace weft::tools {

/// Differs between builds whose launchers and agents do not understand each other.
inline constexpr int agent_protocol_version = 3;

/// The line that an agent begins with. `is_greeting`: a line of an agent of whatever version.
std::string agent_greeting();
bool is_greeting(std::string_view line);

/// No body and no invitation is longer; whoever claims it is wrong.
inline constexpr std::size_t longest_body = std::size_t{16} << 20;

/// What an agent needs to come to the launcher, and to start those behind it.
struct invitation {
  std::string secret;                  ///< the job's
  std::vector<std::string> addresses;  ///< of the launcher: one of them is within reach
  std::vector<std::string> hosts;      ///< of the job, in the order of the tree (agent_tree.hpp)
  int host = 0;                        ///< which of them the agent is for
  std::vector<std::string> rsh;
  std::string command;                   ///< the file of this very program, on every host
  std::vector<std::string> environment;  ///< "NAME=VALUE"
};

/// The processes that an agent is to start.
struct orders {
  job_settings settings;  ///< of these, what the processes need
  process_range processes;
  int host = 0;   ///< its number among
  int hosts = 1;  ///< those of the job, in the order of processes
  std::uint64_t job = 0;
  int all_processes = 0;
  std::string store_address;
  std::string folder;  ///< to run in
};

struct process_end {
  int process = 0;
  bool by_signal = false;
  bool dumped_core = false;
  int number = 0;
};

struct failure {
  int status = 1;  ///< as the launcher's exit status would be
  std::string why;
};

struct finishing {
  int kill_after = 0;  ///< milliseconds
  bool job_ended = false;
};

enum class message : std::uint8_t {
  // from the launcher
  orders = 1,
  signal,          ///< its number
  input,           ///< for process 0; an empty one is the end. One at a time: the next follows input_taken
  output_written,  ///< how many bytes of what was sent as output; -1: nobody reads that any more
  errors_written,
  finish,     ///< finishing
  take_roll,  ///< of its processes; 1: with their stacks, else 0
  settle,     ///< answer when none of its processes is about to end
  // from an agent
  started,  ///< the process numbers
  failed,   ///< failure: it has no processes, any more or at all
  ended,    ///< process_end
  output,   ///< what processes wrote, as it is
  errors,
  input_taken,
  host_failed,  ///< failure of a host that it started
  roll,         ///< of its processes, as text; one for each take_roll, in their order
  settled,      ///< one for each settle
  cleaned,      ///< nothing runs there any more; when all is written, the connection ends
};

/// A body from its content and back; strings may hold any bytes. Reading throws weft::error with errc::protocol for
/// what is not such a body.
template <class T>
std::string to_body(const T& content);
template <class T>
T from_body(std::string_view body);

/// A frame, ready to be sent.
std::string frame(message kind, std::string_view body);

/// The length of an invitation, before it.
std::string length_prefix(std::size_t length);
std::size_t read_length(std::string_view prefix);

}  // namespace weft::tools
