// SPDX-License-Identifier: Apache-2.0
// How far long work has come, and what is left of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace weft::tools {

/// "  42% [########            ] 1:05 left": the share that is done, in [0, 1], and the time that the rest takes if it
/// goes on so; none before there is a share.
std::string bar_text(double share, std::chrono::duration<double> passed);

/// A line on standard error that is drawn over and over, and gone in the end: nothing where that is no terminal. One
/// thread at a time.
class progress_bar {
 public:
  explicit progress_bar(std::size_t all);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar();

  /// One more is done. Draws ten times a second at most.
  void advance() { show(static_cast<double>(++done_) / static_cast<double>(all_)); }
  void show(double share);
  /// Takes the line away, so that another one can be printed; the next `show` draws it anew.
  void clear();

 private:
  using clock = std::chrono::steady_clock;

  bool shown_;
  std::size_t all_, done_ = 0;
  clock::time_point start_ = clock::now(), drawn_{};
};

/// Takes a line of another process away, as one does that is about to print what it has done.
void clear_bar();

/// The same of work that takes a known time, while it lives, and until that is over.
class timed_bar {
 public:
  explicit timed_bar(std::chrono::duration<double> all);
  ~timed_bar();

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread draws_;  // none where standard error is no terminal
};

}  // namespace weft::tools
