// How to wait for what no event tells of.
#pragma once

#include <weft/runtime/progress.hpp>
#include <weft/runtime/rest.hpp>

namespace weft {

/// Of one thread or fiber, or of a coroutine, which is left instead.
class patience {
 public:
  explicit patience(progress& by) noexcept : by_(by), pause_(by, rest::end::is_looked_for) {}
  /// Blocks a little: lets others run, and polls.
  void wait();

 private:
  progress& by_;
  rest pause_;
};

}  // namespace weft
