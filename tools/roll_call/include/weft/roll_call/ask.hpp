// SPDX-License-Identifier: Apache-2.0
// The processes of weft on this machine, found by the sockets that they listen on, and what they say when they are
// asked.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>
#include <weft/roll_call/report.hpp>
#include <weft/runtime/socket.hpp>

namespace weft::tools {

/// A socket of this machine that answers who asks for a roll. Its name is "weft-UID-JOB-PROCESS-PID", and that of a
/// `weft run` "weft-UID-JOB-run-PID".
struct roll_socket {
  std::string name;
  uid_t uid = 0;
  std::string job;   ///< hexadecimal digits
  int process = -1;  ///< -1: a `weft run`
  pid_t pid = 0;

  bool is_launcher() const noexcept { return process < 0; }
};

/// Those of this user in what /proc/net/unix says; of all users for root. Pure.
std::vector<roll_socket> parse_sockets(std::string_view table, uid_t user);
/// Those of this machine now.
std::vector<roll_socket> find_sockets();

/// A socket for whoever asks this process as `who` of the job; it does not wait. Empty where the system refuses it.
file_descriptor listen_for_askers(std::string_view job, std::string_view who = "run");
/// The next who asks there, and may; empty where there is none.
file_descriptor accept_asker(const file_descriptor& listener);

/// What a socket's owner says until it ends the connection; nothing where nobody answers in time. Blocks.
std::string ask(const roll_socket& whom, std::chrono::milliseconds patience);

/// What the processes behind `sockets` say, in the order of their numbers. One that does not answer in time has a
/// problem, and the ranks that its environment tells. Blocks for `patience` at most.
std::vector<roll_process> ask_all(const std::vector<roll_socket>& sockets, std::chrono::milliseconds patience);

/// The state of a thread: R, S, D, T, ...; ? where there is none.
char state_of(pid_t process, pid_t thread);

}  // namespace weft::tools
