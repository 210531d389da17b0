// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <weft/command_line/progress_bar.hpp>

namespace weft::tools {
namespace {

constexpr std::chrono::milliseconds between_drawings{100};

bool at_terminal() noexcept { return ::isatty(STDERR_FILENO) != 0; }

}  // namespace

std::string bar_text(double share, std::chrono::duration<double> passed) {
  constexpr std::size_t width = 30;
  share = std::clamp(share, 0.0, 1.0);
  char text[64];
  std::snprintf(text, sizeof text, "%3.0f%% [", 100 * share);
  std::string bar = text;
  const auto full = static_cast<std::size_t>(share * width);
  bar += std::string(full, '#') + std::string(width - full, ' ') + "]";
  if (share == 0) return bar;
  const auto left = static_cast<long>(passed.count() * (1 - share) / share + 0.5);
  std::snprintf(text, sizeof text, " %ld:%02ld left", left / 60, left % 60);
  return bar + text;
}

progress_bar::progress_bar(std::size_t all) : shown_(at_terminal()), all_(std::max<std::size_t>(all, 1)) {}

progress_bar::~progress_bar() { clear(); }

void progress_bar::show(double share) {
  if (!shown_) return;
  const clock::time_point now = clock::now();
  if (now - drawn_ < between_drawings) return;
  drawn_ = now;
  std::fprintf(stderr, "\r%s\033[K", bar_text(share, now - start_).c_str());
}

void progress_bar::clear() {
  if (drawn_ == clock::time_point()) return;
  drawn_ = {};
  clear_bar();
}

void clear_bar() {
  if (at_terminal()) std::fputs("\r\033[K", stderr);
}

timed_bar::timed_bar(std::chrono::duration<double> all) {
  if (!at_terminal()) return;
  draws_ = std::thread([this, all] {
    const auto start = std::chrono::steady_clock::now();
    progress_bar bar(1);
    std::unique_lock lock(mutex_);
    double share = 0;
    while (share < 1 && !ended_.wait_for(lock, between_drawings, [this] { return over_; })) {
      share = (std::chrono::steady_clock::now() - start) / all;
      bar.show(share);
    }
  });
}

timed_bar::~timed_bar() {
  if (!draws_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  draws_.join();
}

}  // namespace weft::tools
