// SPDX-License-Identifier: Apache-2.0
// Memory whose first use waits until the test lets it go on.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <stdexcept>

namespace weft_test {

/// Whole pages of one mapping: the thread that uses any of them first stops there until `release`. One at a time, with
/// a handler of SIGSEGV while it lives.
class held_pages {
 public:
  held_pages(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {
    // seq_cst, all: the handler runs on another thread.
    held.store(this);
    struct sigaction mine {};
    mine.sa_sigaction = &caught;
    mine.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &mine, &before_);
    if (::mprotect(begin, bytes, PROT_NONE) != 0) throw std::runtime_error("mprotect refuses to hold pages");
  }
  ~held_pages() {
    release();
    ::mprotect(begin_, bytes_, PROT_READ | PROT_WRITE);
    ::sigaction(SIGSEGV, &before_, nullptr);
    held.store(nullptr);
  }
  held_pages(const held_pages&) = delete;
  held_pages& operator=(const held_pages&) = delete;

  // Any thread.
  bool used() const noexcept { return used_; }
  bool released() const noexcept { return released_; }
  void release() noexcept { released_ = true; }

 private:
  static void caught(int, siginfo_t* what, void*) {
    held_pages* const mine = held.load();
    auto* const address = static_cast<std::byte*>(what->si_addr);
    if (mine == nullptr || address < mine->begin_ || address >= mine->begin_ + mine->bytes_) {
      ::signal(SIGSEGV, SIG_DFL);  // ends the program where this returns to
      return;
    }
    const int before = errno;
    mine->used_ = true;
    const timespec moment{0, 1'000'000};
    while (!mine->released_) ::nanosleep(&moment, nullptr);
    ::mprotect(mine->begin_, mine->bytes_, PROT_READ | PROT_WRITE);
    errno = before;
  }

  static inline std::atomic<held_pages*> held{nullptr};

  std::byte* const begin_;
  const std::size_t bytes_;
  struct sigaction before_ {};
  std::atomic<bool> used_{false}, released_{false};
};

}  // namespace weft_test
