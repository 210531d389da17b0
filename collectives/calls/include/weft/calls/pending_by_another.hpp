// SPDX-License-Identifier: Apache-2.0
// Operations that are another one, and something in the end.
#pragma once

#include <memory>
#include <vector>
#include <weft/calls/planned_operation.hpp>
#include <weft/handle.hpp>

namespace weft::detail {

/// What goes by another operation, which `Held` points to, and delivers what comes of that.
template <class Base, class Held>
class by_another : public Base {
 public:
  using Base::Base;
  event& done() override { return other->done(); }
  void await() override { other->await(); }
  const std::exception_ptr& failure() const noexcept override { return other->failure(); }
  status result() const noexcept override { return other->result(); }
  std::vector<int> missing() const override { return other->missing(); }
  bool cancel() noexcept override { return other->cancel(); }
  void raise() const override { other->raise(); }
  Held other;

 private:
  bool advance() override { return other->ready(); }
};
using pending_by_another = by_another<pending, begun_operation>;
using planned_by_another = by_another<planned_operation, std::unique_ptr<planned_operation>>;

}  // namespace weft::detail
