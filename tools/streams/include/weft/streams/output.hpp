// SPDX-License-Identifier: Apache-2.0
// What the processes of a job write, brought to the launcher's own output in whole lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>
#include <weft/runtime/socket.hpp>
#include <weft/streams/event_loop.hpp>

namespace weft::tools {

/// Where text goes that comes in pieces, as fast as whoever reads it takes it.
class sink {
 public:
  virtual ~sink() = default;

  /// Takes `text`, to be passed on as soon as that is possible; never waits.
  virtual void put(std::string_view text) = 0;
  /// More is waiting than should be: whoever brings text should stop, and be called when there is room again.
  virtual bool full() const noexcept = 0;
  void when_not_full(std::function<void()> resume) { resume_.push_back(std::move(resume)); }
  /// Nothing waits to be passed on.
  virtual bool empty() const noexcept = 0;
  /// The reader has gone: nothing can be written any more.
  virtual bool broken() const noexcept = 0;

 protected:
  static constexpr std::size_t limit = 1 << 20;  // bytes that may wait

  void resume();

 private:
  std::vector<std::function<void()>> resume_;
};

/// Writes to a descriptor (1, 2, a pipe) without ever waiting for its reader, who may be slow. The descriptor itself
/// stays as it is, for others share it.
class descriptor_sink final : public sink {
 public:
  descriptor_sink(event_loop& loop, int fd);
  ~descriptor_sink() override { loop_.forget(fd_); }
  descriptor_sink(const descriptor_sink&) = delete;
  descriptor_sink& operator=(const descriptor_sink&) = delete;

  void put(std::string_view text) override;
  bool full() const noexcept override { return waiting() >= limit; }
  bool empty() const noexcept override { return waiting() == 0; }
  bool broken() const noexcept override { return broken_; }

 private:
  std::size_t waiting() const noexcept { return text_.size() - written_; }
  void write();
  void settle();

  event_loop& loop_;
  int fd_;
  bool pollable_;
  bool broken_ = false;
  std::string text_;
  std::size_t written_ = 0;  ///< of text_
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
