// SPDX-License-Identifier: Apache-2.0
// What has gone wrong and is to be faced.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>
#include <weft/runtime/clock.hpp>

#include "peer.hpp"

namespace weft::fabric {

/// Noted where it is found, without memory, and faced when the holder of the token has done what it came for: nothing
/// is taken apart in the middle of something.
class troubles {
 public:
  /// A communicator that must fail, and has not been told to yet.
  struct owed_break {
    std::uint64_t communicator;
    std::exception_ptr why;
  };

  /// `time` outlives this.
  explicit troubles(const clock& time) : time_(time) { owed_.reserve(most_owed); }

  /// A process that is lost as soon as `patience` is over, unless something else explains it before.
  void suspect(peer& who, std::string_view why, std::chrono::milliseconds patience = {}) noexcept;
  /// The communicator is to be broken as soon as there is memory for that. With too many of them all are.
  [[gnu::noinline]] void owe_break(std::uint64_t communicator, const std::exception_ptr& why) noexcept;

  bool owes_break(std::uint64_t communicator) const noexcept {
    return general_ != nullptr || (!owed_.empty() && is_owed(communicator));
  }

  bool any() const noexcept { return any_; }
  /// Whether there are some; from now on these are not counted.
  bool take() noexcept { return std::exchange(any_, false); }
  void keep() noexcept { any_ = true; }

  std::vector<owed_break>& owed() noexcept { return owed_; }
  bool has_room() const noexcept { return owed_.size() < most_owed; }
  /// Why all communicators are to be broken, or null; asked once.
  std::exception_ptr take_general() noexcept { return std::exchange(general_, nullptr); }

 private:
  [[gnu::noinline]] bool is_owed(std::uint64_t communicator) const noexcept;

  /// So many communicators can be owed a failure at a time.
  static constexpr std::size_t most_owed = 64;

  const clock& time_;
  bool any_ = false;
  std::vector<owed_break> owed_;  // never grows beyond what is reserved: it is used when there is no memory
  std::exception_ptr general_;
};

}  // namespace weft::fabric
