// SPDX-License-Identifier: Apache-2.0
// How to wait for what neither an event nor a stamp tells of.
#pragma once

#include <utility>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/rest.hpp>
#include <weft/runtime/wait_for.hpp>

namespace weft {

/// The pauses of one thread or fiber between two looks.
class patience {
 public:
  explicit patience(progress& by) noexcept : by_(by), pause_(by, rest::end::is_looked_for) {}
  /// Blocks a little: lets others run, and polls.
  void wait();

 private:
  progress& by_;
  rest pause_;
};

/// Blocks until `has_come` is true, which is asked again and again: true; or `is_given_up` is: false. As wait_for().
template <class HasCome, class IsGivenUp>
bool look_for(progress& by, HasCome has_come, IsGivenUp is_given_up) {
  struct {
    HasCome& come;
    IsGivenUp& given_up;
    patience until;
    bool has_come() { return come(); }
    bool is_given_up() { return given_up(); }
    static constexpr int looks() { return 0; }
    void came_after(int) {}
    void before_pauses() {}
    void pause() { until.wait(); }
  } it{has_come, is_given_up, patience(by)};
  return wait_for(it);
}
/// The same of what is never given up.
template <class HasCome>
void look_for(progress& by, HasCome has_come) {
  look_for(by, std::move(has_come), [] { return false; });
}

}  // namespace weft
