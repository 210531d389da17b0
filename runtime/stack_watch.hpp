// SPDX-License-Identifier: Apache-2.0
// What a program says before it ends because a fiber needed more stack than it has.
#pragma once

#include <cstddef>
#include <memory>

namespace weft {

/// While it lives, a fault below the stack of a fiber of this thread is explained on stderr: whose stack, how long, and
/// by which option it gets longer. Then it goes on as without this: with the handler of SIGSEGV that the program had
/// when the first of these was made, or by the signal's default. A handler that comes later stands alone, unless it
/// calls this one, which stays from then on.
class stack_watch {
 public:
  stack_watch() noexcept;
  stack_watch(const stack_watch&) = delete;
  stack_watch& operator=(const stack_watch&) = delete;
  ~stack_watch();

 private:
  std::unique_ptr<std::byte[]> memory_;  // for handlers to run on; null: the thread has some
};

}  // namespace weft
