// SPDX-License-Identifier: Apache-2.0
// Operations in flight.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>
#include <weft/status.hpp>

namespace weft {

class handle;

namespace detail {
class pending;
struct timed_out_calls;

struct retires {
  retires() noexcept = default;
  template <class Operation>
  retires(std::default_delete<Operation>) noexcept {}
  void operator()(pending* operation) const noexcept;
};
using begun_operation = std::unique_ptr<pending, retires>;

/// Of each handle its operation; null where it is not valid.
std::vector<pending*> operations_of(std::span<handle* const> handles);
std::size_t wait_any(std::span<handle* const> handles);
std::size_t test_any(std::span<handle* const> handles);
}  // namespace detail

/// An operation in flight, with sole use of its buffers until it is done. Movable. Any thread or fiber of the rank's
/// process may wait for it, one at a time, also while the rank makes other calls. Destroying a handle in flight waits
/// for the operation; where an exception is unwinding, it aborts the communicator first, so that the wait
/// ends.
class handle {
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
  friend std::vector<detail::pending*> detail::operations_of(std::span<handle* const> handles);
  void abandon() noexcept;
  /// Waits for what is in flight, and has the communicator end first where that is not done.
  void drop() noexcept;

  detail::begun_operation operation_;
};

/// Handles in any range: an array, a vector, a list, a view of them.
template <class R>
concept handle_range = std::ranges::input_range<R> && std::same_as<std::ranges::range_reference_t<R>, handle&>;

namespace detail {
template <handle_range R>
std::vector<handle*> pointers_to(R&& handles) {
  std::vector<handle*> all;
  for (handle& each : handles) all.push_back(&each);
  return all;
}
}  // namespace detail

/// Waits for every valid handle, in whatever order they end; then throws the first error, if any.
template <handle_range R>
void wait_all(R&& handles) {
  std::exception_ptr first;
  for (handle& each : handles) {
    if (!each.valid()) continue;
    try {
      each.wait();
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

/// Blocks until the operation of one valid handle is done: the index of that handle, whose `wait` then returns at once,
/// with the status or the error. Where no handle is valid, as many as there are handles:
///
///     for (std::size_t i; (i = weft::wait_any(handles)) != handles.size();) handles[i].wait();
///
/// All are of one runtime's communicators, and nobody else waits for one of them.
template <handle_range R>
std::size_t wait_any(R&& handles) {
  return detail::wait_any(detail::pointers_to(handles));
}

/// The same without blocking: nothing where no operation of a valid handle is done, after other fibers had their turn.
template <handle_range R>
std::optional<std::size_t> test_any(R&& handles) {
  const std::vector<handle*> all = detail::pointers_to(handles);
  const std::size_t found = detail::test_any(all);
  return found == all.size() ? std::nullopt : std::optional(found);
}

/// Blocks until the operation of one valid handle is done: the indices of all whose operations are, ascending. Empty
/// where no handle is valid. As wait_any.
template <handle_range R>
std::vector<std::size_t> wait_some(R&& handles) {
  const std::vector<handle*> all = detail::pointers_to(handles);
  std::vector<std::size_t> done;
  for (std::size_t i = detail::wait_any(all); i < all.size(); ++i)
    if (all[i]->done()) done.push_back(i);
  return done;
}

}  // namespace weft
