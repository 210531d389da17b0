// What the processes of a job write, brought to the launcher's own output in whole lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>
#include <weft/runtime/socket.hpp>

#include "event_loop.hpp"

namespace weft::tools {

/// Writes to a descriptor of the launcher's (1 or 2) without ever waiting for its reader, who may be slow. The
/// descriptor itself stays as it is, for others share it.
class sink {
 public:
  sink(event_loop& loop, int fd);

  /// Takes `text`, to be written as soon as that is possible.
  void put(std::string_view text);
  /// More is waiting than should be: whoever brings text should stop, and be called when there is room again.
  bool full() const noexcept { return waiting() >= limit; }
  void when_not_full(std::function<void()> resume) { resume_.push_back(std::move(resume)); }
  bool empty() const noexcept { return waiting() == 0; }
  /// The reader has gone: nothing can be written any more.
  bool broken() const noexcept { return broken_; }

 private:
  static constexpr std::size_t limit = 1 << 20;  // bytes

  std::size_t waiting() const noexcept { return text_.size() - written_; }
  void write();
  void settle();

  event_loop& loop_;
  int fd_;
  bool pollable_;
  bool broken_ = false;
  std::string text_;
  std::size_t written_ = 0;  ///< of text_
  std::vector<std::function<void()>> resume_;
};

/// One stream of one process.
class line_forwarder {
 public:
  /// `tag` goes before each line. An end without a newline gets one if `complete_lines`.
  line_forwarder(event_loop& loop, file_descriptor from, sink& to, std::string tag, bool complete_lines);
  ~line_forwarder();
  line_forwarder(const line_forwarder&) = delete;
  line_forwarder& operator=(const line_forwarder&) = delete;

  /// Forwards the whole lines that are there now.
  void drain();

  /// Forwards what is there now, the beginning of an unfinished line included, and closes the stream.
  void finish();

 private:
  static constexpr std::size_t longest_line = 1 << 20;  // bytes; beyond them a line is no longer kept whole

  void watch();
  bool read();
  void emit(std::string_view lines);
  void forward_lines();

  event_loop& loop_;
  file_descriptor from_;
  sink& to_;
  std::string tag_;
  bool complete_lines_;
  bool line_begun_ = false;  ///< part of a line too long has been written
  std::string pending_;
};

}  // namespace weft::tools
