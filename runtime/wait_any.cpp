// SPDX-License-Identifier: Apache-2.0
// One waits for several events at once.
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/waiter.hpp>

namespace weft {

/// A waiter that is left in many events, of which the first to be set sets one of its own.
class event::left_in_many final : public waiter {
 public:
  explicit left_in_many(std::span<event* const> events) : events_(events) {}
  left_in_many(const left_in_many&) = delete;
  left_in_many& operator=(const left_in_many&) = delete;
  ~left_in_many() { withdraw(); }

  /// The index of one that is set.
  std::size_t wait(progress& by) {
    for (; left_ < events_.size(); ++left_)
      if (!events_[left_]->leave(*this)) return left_;
    one_is_set_.wait(by);
    return withdraw();
  }

 private:
  void wake() noexcept override {
    one_is_set_.set();
    // release: what this did here happens before the end of who counts all that tell. The last access.
    told_.fetch_add(1, std::memory_order_release);
  }

  /// Returns when no event knows this waiter any more: the index of the first that is set.
  std::size_t withdraw() noexcept {
    std::size_t set = 0, first = left_;
    while (left_ > 0) {
      if (events_[--left_]->take_back(*this)) continue;
      ++set;
      first = left_;
    }
    // Who has set one tells this in a moment. acquire: pairs with the release in wake(), of each that told: the later
    // ones continue the release sequences of the earlier.
    for (backoff pause; told_.load(std::memory_order_acquire) < set;) pause.pause();
    return first;
  }

  std::span<event* const> events_;
  std::size_t left_ = 0;  // so many of them, from the first on, know this
  event one_is_set_;
  std::atomic<std::size_t> told_{0};
};

std::size_t event::wait_any(std::span<event* const> events, progress& by) {
  for (std::size_t i = 0; i < events.size(); ++i)
    if (events[i]->ready()) return i;
  return left_in_many(events).wait(by);
}

}  // namespace weft
