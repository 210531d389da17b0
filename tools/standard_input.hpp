// The launcher's standard input, for the process that hosts rank 0.
#pragma once

#include <string>
#include <weft/runtime/socket.hpp>

#include "event_loop.hpp"

namespace weft::tools {

/// A file or a pipe is handed on as it is, so that nothing is read that the program does not read. A terminal stays
/// with the launcher, whose process group is the one that may read it and gets Ctrl-C: what is typed goes through a
/// pipe.
class standard_input {
 public:
  explicit standard_input(event_loop& loop);
  ~standard_input() { close(); }
  standard_input(const standard_input&) = delete;
  standard_input& operator=(const standard_input&) = delete;

  /// What the process is to inherit.
  int descriptor() const noexcept { return to_process_ ? to_process_.get() : 0; }
  /// The process has it.
  void started();
  /// Nobody reads any more.
  void close();

 private:
  void read();
  void write();

  event_loop& loop_;
  file_descriptor to_process_;
  file_descriptor from_us_;
  std::string typed_;  ///< and not yet taken by the process; no more is read before it has been
};

}  // namespace weft::tools
