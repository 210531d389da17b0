// SPDX-License-Identifier: Apache-2.0
// Threads for work that blocks otherwise than by weft.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>
#include <weft/runtime/thread.hpp>

namespace weft {

/// As many as there was work at a time, each of which waits for more. Any thread may use it.
class helper_threads {
 public:
  helper_threads() = default;
  helper_threads(const helper_threads&) = delete;
  helper_threads& operator=(const helper_threads&) = delete;
  /// Waits until all work is done.
  ~helper_threads();

  /// Has a thread call `work`, at once, which must not throw. Throws a system error where there is none to be had, and
  /// std::bad_alloc.
  void run(std::function<void()> work);

 private:
  void serve();

  std::mutex guard_;  // all of it
  std::condition_variable changed_;
  std::vector<std::function<void()>> waiting_;  // each for one of the idle
  std::size_t idle_ = 0;                        // threads that have no work, and to which none has been given
  bool ending_ = false;
  std::vector<thread> threads_;
};

}  // namespace weft
