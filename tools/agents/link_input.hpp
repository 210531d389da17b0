// SPDX-License-Identifier: Apache-2.0
// The standard input of process 0 where it comes from the launcher's machine.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <weft/runtime/socket.hpp>
#include <weft/streams/event_loop.hpp>
#include <weft/streams/standard_input.hpp>

namespace weft::tools {

class link_input final : public process_input {
 public:
  /// `wanted` is called whenever there is room for another piece. Throws weft::error when the system has no pipe left.
  link_input(event_loop& loop, std::function<void()> wanted);
  ~link_input() override { close(); }
  link_input(const link_input&) = delete;
  link_input& operator=(const link_input&) = delete;

  int descriptor() const noexcept override { return to_process_.get(); }
  void started() override;
  void close() override;

  /// A piece for the process; an empty one is the end.
  void take(std::string_view piece);

 private:
  void write();

  event_loop& loop_;
  std::function<void()> wanted_;
  file_descriptor to_process_;
  file_descriptor from_us_;
  std::string waiting_;
};

}  // namespace weft::tools
