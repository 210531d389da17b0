// SPDX-License-Identifier: Apache-2.0
// Operations that are another one, and something in the end.
#pragma once

#include <vector>
#include <weft/calls/pending.hpp>
#include <weft/handle.hpp>

namespace weft::detail {

/// One that goes by another operation, and delivers what comes of that.
class pending_by_another : public pending {
 public:
  using pending::pending;
  event& done() override { return other->done(); }
  void await() override { other->await(); }
  const std::exception_ptr& failure() const noexcept override { return other->failure(); }
  status result() const noexcept override { return other->result(); }
  std::vector<int> missing() const override { return other->missing(); }
  bool cancel() noexcept override { return other->cancel(); }
  void raise() const override { other->raise(); }
  begun_operation other;

 private:
  bool advance() override { return other->ready(); }
};

}  // namespace weft::detail
