// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input, for the process that hosts rank 0.
#pragma once

#include <string>
#include <weft/runtime/socket.hpp>
#include <weft/streams/event_loop.hpp>

namespace weft::tools {

/// Where the process that hosts rank 0 reads from.
class process_input {
 public:
  virtual ~process_input() = default;
  /// What the process is to inherit.
  virtual int descriptor() const noexcept = 0;
  /// The process has it.
  virtual void started() = 0;
  /// Nobody reads any more.
  virtual void close() = 0;
};

/// A file or a pipe is handed on as it is, so that nothing is read that the program does not read. A terminal stays
/// with the launcher, whose process group is the one that may read it and gets Ctrl-C: what is typed goes through a
/// pipe.
class standard_input final : public process_input {
 public:
  explicit standard_input(event_loop& loop);
  ~standard_input() override { close(); }
  standard_input(const standard_input&) = delete;
  standard_input& operator=(const standard_input&) = delete;

  int descriptor() const noexcept override { return to_process_ ? to_process_.get() : 0; }
  void started() override;
  void close() override;

 private:
  void read();
  void write();

  event_loop& loop_;
  file_descriptor to_process_;
  file_descriptor from_us_;
  std::string typed_;  ///< and not yet taken by the process; no more is read before it has been
};

}  // namespace weft::tools
