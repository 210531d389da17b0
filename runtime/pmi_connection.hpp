// SPDX-License-Identifier: Apache-2.0
// Text to and from a process manager that speaks PMI. The manager answers in order, a message for a message:
//
//   "cmd=NAME KEY=VALUE ...\n"               PMI-1, and the greeting of both
//   "    23cmd=NAME;KEY=VALUE;...;"          PMI-2: how many characters follow, in six, and these
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <weft/runtime/socket.hpp>

namespace weft {

/// The beginning of what a manager says, in quotation marks and without what a terminal would obey: for errors.
std::string in_quotes(std::string_view message);

/// A request as it is sent, "cmd=REQUEST" of each version.
std::string pmi1_message(const std::string& request);
std::string pmi2_message(const std::string& request);

class pmi_connection {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Duplicates `descriptor`, which stays open: its number must not come to mean another file while PMI_FD names it.
  /// Throws errc::no_rendezvous when it is no open socket.
  explicit pmi_connection(int descriptor);

  /// From now on messages are PMI-2's.
  void use_version_2() noexcept { version_2_ = true; }

  /// Sends "cmd=REQUEST" and returns the answer, which is "cmd=ANSWER ...". Blocks until it is there. Throws
  /// errc::timed_out at the deadline, errc::no_rendezvous when the manager has closed the connection, errc::protocol
  /// when it says anything else or does not end its message; no request can follow any of these.
  std::string ask(const std::string& request, std::string_view answer, time_point deadline);

  /// The value of `key` in an answer; nothing when it is not there.
  std::optional<std::string_view> field(std::string_view answer, std::string_view key) const;

  /// "the launcher's PMI (PMI_FD=6)"
  const std::string& name() const noexcept { return name_; }

  /// The connection, for the last word. Nothing else may be called after it.
  int release() noexcept { return socket_.release(); }

 private:
  void send(const std::string& request, time_point deadline);
  std::string receive(const std::string& request, time_point deadline);
  std::optional<std::string> take_message(const std::string& request);

  std::string name_;
  file_descriptor socket_;
  bool version_2_ = false;
  std::string input_;   ///< received and not yet read
  bool usable_ = true;  ///< no answer is due, and none was nonsense
};

}  // namespace weft
