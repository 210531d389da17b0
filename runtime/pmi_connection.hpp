// Lines of text to and from a process manager that speaks PMI: "cmd=NAME KEY=VALUE ...". The manager answers in order,
// a line for a line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <weft/runtime/socket.hpp>

namespace weft {

/// The value of `key` in a line; nothing when it is not there.
std::optional<std::string_view> pmi_field(std::string_view line, std::string_view key);

/// The beginning of what a manager says, in quotation marks and without what a terminal would obey: for errors.
std::string quoted(std::string_view line);

class pmi_connection {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Duplicates `descriptor`, which stays open: its number must not come to mean another file while PMI_FD names it.
  /// Throws errc::no_rendezvous when it is no open socket.
  explicit pmi_connection(int descriptor);

  /// Sends "cmd=REQUEST" and returns the answer, which is "cmd=ANSWER ...". Blocks until it is there. Throws
  /// errc::timed_out at the deadline, errc::no_rendezvous when the manager has closed the connection, errc::protocol
  /// when it says anything else or does not end its line; no request can follow any of these.
  std::string ask(const std::string& request, std::string_view answer, time_point deadline);

  /// "the launcher's PMI (PMI_FD=6)"
  const std::string& name() const noexcept { return name_; }

  /// The connection, for the last word. Nothing else may be called after it.
  int release() noexcept { return socket_.release(); }

 private:
  void send_line(const std::string& line, time_point deadline);
  std::string read_line(const std::string& request, time_point deadline);

  std::string name_;
  file_descriptor socket_;
  std::string input_;   ///< received and not yet read
  bool usable_ = true;  ///< no answer is due, and none was nonsense
};

}  // namespace weft
