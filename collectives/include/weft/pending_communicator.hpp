// SPDX-License-Identifier: Apache-2.0
// Communicators that are being made.
//
//   weft::pending_communicator rows = world.isplit(world.rank() / columns);
//   ...                                                       // the ranks exchange who is where
//   std::optional<weft::communicator> row = rows.wait();
#pragma once

#include <weft/api.h>

#include <chrono>
#include <memory>
#include <optional>

namespace weft {

class communicator;

namespace detail {
struct division;
struct in_flight;
}  // namespace detail

/// What `communicator::isplit` and `idup` return. Several may be pending at a time, of one communicator or of several,
/// and are waited for in any order; the communicator that is divided may go meanwhile, and other calls be made on it.
///
/// Movable. Used by one thread or fiber of the rank's process at a time, before the runtime ends. Where it is destroyed
/// pending, or assigned to, it waits for the exchange as a handle does (where an exception is unwinding it aborts the
/// communicator that is divided first), and frees the new communicator on this rank: the others have theirs, and hear
/// that this rank has left it.
class WEFT_API pending_communicator {
 public:
  /// Holds none.
  pending_communicator() noexcept;
  explicit pending_communicator(std::unique_ptr<detail::division> begun) noexcept;
  pending_communicator(pending_communicator&&) noexcept;
  pending_communicator& operator=(pending_communicator&& other) noexcept;
  ~pending_communicator();

  /// Whether there is one that has not been waited for.
  bool valid() const noexcept { return division_ != nullptr; }
  /// Whether there is one that `wait` returns at once. Neither polls nor throws.
  bool done() const noexcept;
  /// Polls once; true when `wait` returns at once. Throws what `wait` throws. Does not block, but lets other fibers run
  /// when it is false.
  bool test();
  /// Blocks until all ranks have started the same, and returns the communicator: none where this rank's colour is
  /// negative; always one of `idup`. Throws what `split` throws. Afterwards this is not valid, but where a deadline has
  /// passed: then it can be waited for again. Throws errc::invalid_argument where this is not valid.
  std::optional<communicator> wait();
  /// Blocks until `wait` returns at once (true) or the deadline has passed (false: it is valid).
  bool wait_until(std::chrono::steady_clock::time_point deadline);
  bool wait_for(std::chrono::nanoseconds longest) { return wait_until(std::chrono::steady_clock::now() + longest); }

 private:
  friend struct detail::in_flight;

  template <class Look>
  bool look(const char* name, Look&& at);

  std::unique_ptr<detail::division> division_;
};

}  // namespace weft
