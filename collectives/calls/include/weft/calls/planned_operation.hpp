// SPDX-License-Identifier: Apache-2.0
// What is planned once and started many times.
#pragma once

#include <weft/calls/pending.hpp>

namespace weft::detail {

/// One rank's. What a start does is left to who derives.
class planned_operation : public pending {
 public:
  using pending::pending;

  void start() {
    started_ = true;
    begin();
  }
  bool started() const noexcept { return started_; }
  /// What was started is done: what came, or throws what it failed with.
  status end() {
    started_ = false;
    return finish();
  }

 private:
  virtual void begin() = 0;

  bool started_ = false;
};

}  // namespace weft::detail
