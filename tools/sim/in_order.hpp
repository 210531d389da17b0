// SPDX-License-Identifier: Apache-2.0
// The same work for many things on several threads, its results one after another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::tools {

/// Numbers that threads take to work on, and what they bring back, handed on in the order of the numbers.
template <class Result, class Done>
class numbered_work {
 public:
  numbered_work(std::size_t count, const Done& done) : done_(done), waiting_(count), end_(count) {}

  /// Nothing: all is taken, or it failed.
  std::optional<std::size_t> take() {
    const std::lock_guard lock(mutex_);
    return taken_ < end_ ? std::optional(taken_++) : std::nullopt;
  }
  void put(std::size_t number, Result made) {
    const std::lock_guard lock(mutex_);
    waiting_[number] = std::move(made);
    for (; handed_on_ < end_ && waiting_[handed_on_]; ++handed_on_) try {
        done_(*std::exchange(waiting_[handed_on_], std::nullopt));
      } catch (...) {
        end_at(handed_on_);
      }
  }
  /// In a handler: the exception ends the work.
  void fail(std::size_t number) {
    const std::lock_guard lock(mutex_);
    if (number < end_) end_at(number);
  }
  /// When no thread works any more.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void end_at(std::size_t number) {
    end_ = number;
    failure_ = std::current_exception();
  }

  const Done& done_;
  std::mutex mutex_;
  std::vector<std::optional<Result>> waiting_;
  std::size_t taken_ = 0, handed_on_ = 0, end_;
  std::exception_ptr failure_;
};

/// Calls done(work(i)) for each i from 0 to `count` - 1: `work` on `threads` threads at a time, `done` on one of them,
/// in the order of i. Blocks until all is done. What either throws ends it behind what comes before i; of several
/// failures, that of the least i is thrown.
template <class Work, class Done>
void in_order(std::size_t count, std::size_t threads, const Work& work, const Done& done) {
  numbered_work<std::invoke_result_t<const Work&, std::size_t>, Done> all(count, done);
  const auto go = [&] {
    while (const auto number = all.take()) try {
        all.put(*number, work(*number));
      } catch (...) {
        all.fail(*number);
      }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < std::min(threads, count); ++thread) others.emplace_back(go);
    go();
  }
  all.rethrow();
}

}  // namespace weft::tools
