// SPDX-License-Identifier: Apache-2.0
// What a test lets progress poll.
#pragma once

#include <functional>
#include <utility>
#include <weft/runtime/progress.hpp>

namespace weft_test {

/// Calls a function at every poll.
struct calls final : weft::pollable {
  explicit calls(std::function<bool()> function) : function(std::move(function)) {}
  bool poll() override { return function(); }
  std::function<bool()> function;
};

inline calls nothing([] { return false; });

}  // namespace weft_test
