// SPDX-License-Identifier: Apache-2.0
// Operations in flight.
#pragma once

#include <weft/api.h>

#include <chrono>
#include <memory>
#include <utility>
#include <weft/status.hpp>

namespace weft {

namespace detail {
class pending;
struct in_flight;
struct timed_out_calls;

struct WEFT_API retires {
  retires() noexcept = default;
  template <class Operation>
  retires(std::default_delete<Operation>) noexcept {}
  void operator()(pending* operation) const noexcept;
};
using begun_operation = std::unique_ptr<pending, retires>;
}  // namespace detail

/// An operation in flight, with sole use of its buffers until it is done. Movable. Any thread or fiber of the rank's
/// process may wait for it, one at a time, also while the rank makes other calls. Destroying a handle in flight waits
/// for the operation; where an exception is unwinding, it aborts the communicator first, so that the wait
/// ends.
class WEFT_API handle {
 public:
  handle() noexcept = default;
  explicit handle(detail::begun_operation begun) noexcept : operation_(std::move(begun)) {}
  handle(handle&&) noexcept = default;
  handle& operator=(handle&& other) noexcept {
    const handle old(std::move(*this));  // waits as the destructor does
    operation_ = std::move(other.operation_);
    return *this;
  }
  ~handle() {
    if (operation_ != nullptr) abandon();
  }

  /// Whether there is an operation that has not been waited for.
  bool valid() const noexcept { return operation_ != nullptr; }
  /// Whether there is an operation that is done. Neither polls nor throws what it failed with.
  bool done() const noexcept;
  /// Polls once; true when the operation is done, and throws what it failed with. Does not block, but lets other fibers
  /// run when it is not done.
  bool test();
  /// Blocks until the operation is done; throws what it failed with. Afterwards the handle is not valid. For receives
  /// the status says what came. Throws errc::invalid_argument on a handle that is not valid.
  status wait();
  /// Blocks until the operation is done (true) or the deadline has passed (false: still in flight, the handle valid).
  bool wait_until(std::chrono::steady_clock::time_point deadline);
  bool wait_for(std::chrono::nanoseconds longest) { return wait_until(std::chrono::steady_clock::now() + longest); }

  /// Takes a receive back that no message has met: true, nothing comes into its buffer, and the handle is not valid any
  /// more. False: a message has come, or it is no receive: it is to be waited for as ever. Does not block.
  bool cancel();

 private:
  friend struct detail::timed_out_calls;
  friend struct detail::in_flight;
  void abandon() noexcept;
  /// Waits for what is in flight, and has the communicator end first where that is not done.
  void drop() noexcept;

  detail::begun_operation operation_;
};

}  // namespace weft
