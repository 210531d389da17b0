// SPDX-License-Identifier: Apache-2.0
// Messages that a probe has kept for its caller.
//
//   weft::matched_message found = world.mprobe(weft::any_source, tag);
//   std::vector<double> data(found.what().count<double>());
//   found.recv(data);
#pragma once

#include <weft/api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <weft/handle.hpp>
#include <weft/request.hpp>
#include <weft/status.hpp>

namespace weft {

namespace detail {
struct communicator_state;
}  // namespace detail

/// A message that `communicator::mprobe` or `improbe` has found: no receive or probe of the rank gets it any more, from
/// whatever thread or fiber, but this. It is received once. Where it is destroyed instead, or assigned to, it is
/// discarded without blocking, and its sender goes on as if it had been received. Its memory is the sender's, or weft's
/// (as that of messages that nothing has received), until then.
///
/// Movable. Used by one thread or fiber of the rank's process at a time, before the runtime ends.
class WEFT_API matched_message {
 public:
  /// Holds none.
  matched_message() noexcept;
  matched_message(std::shared_ptr<detail::communicator_state> at, std::uint64_t number, const status& what) noexcept;
  matched_message(matched_message&& other) noexcept;
  matched_message& operator=(matched_message&& other) noexcept;
  ~matched_message();

  /// Whether there is a message that has not been received.
  bool valid() const noexcept { return at_ != nullptr; }
  /// Its source, tag and length, also once it has been received.
  const status& what() const noexcept { return what_; }

  /// Blocks until the message is in `data`, as communicator::recv. Too short a `data` stays as it is: that throws
  /// errc::truncated, and the message is gone, as a receive's is. Throws errc::invalid_argument where there is no
  /// message.
  template <message_range R>
  status recv(R&& data) {
    if constexpr (described_buffer<R>)
      return receive_pieces(detail::writable_pieces_of(data));
    else
      return receive_bytes(detail::writable_bytes_of(data));
  }
  /// The same, started. A handle's `cancel` does not take it back.
  template <message_range R>
  requires lasting<R>
  [[nodiscard]] handle irecv(R&& data) {
    if constexpr (described_buffer<R>)
      return start_receive(detail::writable_pieces_of(data), "irecv");
    else
      return start_receive(detail::writable_bytes_of(data), "irecv");
  }

 private:
  status receive_bytes(std::span<std::byte> data);
  handle start_receive(std::span<std::byte> data, const char* name);
  status receive_pieces(const detail::pieces& data);
  handle start_receive(const detail::pieces& data, const char* name);
  void check(std::span<std::byte> data, const char* name) const;
  void discard() noexcept;

  std::shared_ptr<detail::communicator_state> at_;  ///< null: there is none
  std::uint64_t number_ = 0;
  status what_;
};

}  // namespace weft
