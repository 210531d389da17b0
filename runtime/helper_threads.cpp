// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <weft/runtime/helper_threads.hpp>

namespace weft {

helper_threads::~helper_threads() {
  {
    const std::lock_guard lock(guard_);
    ending_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

void helper_threads::run(std::function<void()> work) {
  {
    const std::lock_guard lock(guard_);
    waiting_.push_back(std::move(work));
    if (idle_ > 0) {
      --idle_;
    } else {
      try {
        threads_.reserve(threads_.size() + 1);
        threads_.emplace_back("weft-helper", [this] { serve(); });
      } catch (...) {
        waiting_.pop_back();
        throw;
      }
    }
  }
  changed_.notify_one();
}

void helper_threads::serve() {
  std::unique_lock lock(guard_);
  for (;;) {
    changed_.wait(lock, [this] { return !waiting_.empty() || ending_; });
    if (waiting_.empty()) return;
    const auto work = std::move(waiting_.back());
    waiting_.pop_back();
    lock.unlock();
    work();
    lock.lock();
    ++idle_;
  }
}

}  // namespace weft
