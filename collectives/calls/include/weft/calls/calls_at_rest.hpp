// SPDX-License-Identifier: Apache-2.0
// Started calls that are over, for those that are started next.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace weft::detail {

/// One of them.
class resting_call {
 public:
  virtual ~resting_call() = default;
};

/// Those of one rank's communicator. Any thread.
class calls_at_rest {
 public:
  calls_at_rest() { calls_.reserve(most); }

  /// Null where there is none.
  std::unique_ptr<resting_call> take() noexcept {
    const std::lock_guard lock(guard_);
    if (calls_.empty()) return nullptr;
    auto taken = std::move(calls_.back());
    calls_.pop_back();
    return taken;
  }
  void put(std::unique_ptr<resting_call> over) noexcept {
    const std::lock_guard lock(guard_);
    if (calls_.size() < most) calls_.push_back(std::move(over));
  }

 private:
  static constexpr std::size_t most = 16;

  std::mutex guard_;  // of the next
  std::vector<std::unique_ptr<resting_call>> calls_;
};

}  // namespace weft::detail
