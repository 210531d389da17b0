// SPDX-License-Identifier: Apache-2.0
// What the processes of a job write down for the test that started them, in memory that they share with it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace weft_test {

/// Nanoseconds of a clock that all processes of a machine share.
inline std::int64_t common_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

enum class verdict : int { silent, lost, wrong, done };

/// One rank's lines.
struct board_line {
  std::atomic<std::int64_t> pid, struck_at;   ///< when it was about to be killed; 0: not yet
  std::atomic<std::int64_t> noticed_at;       ///< when a call first threw
  std::atomic<std::int64_t> ended_at;         ///< when its runtime was gone
  std::atomic<std::int64_t> slowest_refusal;  ///< of the calls after that, nanoseconds
  std::atomic<int> lost_rank, kind;           ///< that it threw; of the call that it is in
  std::atomic<std::int64_t> round;
  std::atomic<verdict> what;
  std::array<char, 240> text;

  void say(verdict how, const char* why) noexcept {
    std::snprintf(text.data(), text.size(), "%s", why);
    what.store(how);
  }
};

struct board_contents {
  std::array<board_line, 64> of;
};

class board {
 public:
  /// A new one, without a name of its own.
  board()
      : descriptor_(::memfd_create("board", MFD_CLOEXEC)),
        path_("/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_)) {
    if (descriptor_ < 0 || ::ftruncate(descriptor_, sizeof(board_contents)) != 0)
      throw std::runtime_error("memfd_create");
    map();
  }
  /// The one that `path` leads to.
  explicit board(const char* path) : descriptor_(::open(path, O_RDWR | O_CLOEXEC)), path_(path) {
    if (descriptor_ < 0) throw std::runtime_error("open " + path_);
    map();
  }
  ~board() {
    ::munmap(contents_, sizeof(board_contents));
    ::close(descriptor_);
  }
  board(const board&) = delete;
  board& operator=(const board&) = delete;

  const std::string& path() const noexcept { return path_; }
  board_line& operator[](int rank) const { return contents_->of.at(static_cast<std::size_t>(rank)); }

 private:
  void map() {
    void* const memory = ::mmap(nullptr, sizeof(board_contents), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap");
    contents_ = static_cast<board_contents*>(memory);
  }

  int descriptor_;
  std::string path_;
  board_contents* contents_ = nullptr;
};

}  // namespace weft_test
