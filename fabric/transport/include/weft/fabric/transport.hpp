// SPDX-License-Identifier: Apache-2.0
// What weft asks of a network: small frames into buffers that the peer keeps posted, and payloads into memory that the
// peer has posted. Matching, flow control and rendezvous are the messenger's (messenger.hpp); nothing here queues or
// waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace weft::fabric {

/// One transfer in flight. Its owner keeps it, and the memory that it moves, alive and in place until `receiver::done`.
struct transfer {
  alignas(16) std::byte provider_space[64];  ///< the provider's while the transfer is in flight (fi_context2)
  bool receiving;                            ///< the transport's
};

/// What a short message says of itself where it needs no frame: between processes that share memory.
struct message_name {
  std::uint64_t communicator;
  std::uint64_t tag;
};
struct message_ends {
  std::int32_t source;       ///< rank of the communicator
  std::int32_t destination;  ///< rank of the world
};

/// What `transport::poll` reports to. Called on the thread that polls; may post and cancel, but neither poll nor throw.
class receiver {
 public:
  virtual ~receiver() = default;
  /// A frame has arrived, whole. The bytes are the transport's and gone when this returns.
  virtual void arrived(std::span<const std::byte> frame) = 0;
  /// A short message of `peer` has arrived, in order with its frames. The bytes are gone when this returns.
  virtual void arrived(int /*peer*/, message_name /*name*/, message_ends /*ends*/,
                       std::span<const std::byte> /*bytes*/) {}
  /// A transfer has ended: `bytes` landed (receives), or the memory may be reused (sends). With an error nothing is
  /// said about the bytes, but the transport no longer touches them.
  virtual void done(transfer& ended, std::size_t bytes, std::error_code error) = 0;
  /// A frame that was injected is lost; to which peer, the provider does not say.
  virtual void dropped() {}
  /// The connection with that peer has failed, and frames that were sent to it, or by it, may be lost.
  virtual void broken(int /*peer*/, std::error_code /*error*/) {}
};

/// What a transport can do; fixed once it is made, but for `inject` and `receives`, which may be more once it has been
/// started, and `links` (`transport::keep_links`).
struct transport_limits {
  std::string provider;             ///< as `--provider` names it
  std::size_t inject = 0;           ///< largest frame that `inject` takes, bytes
  std::size_t frame = 0;            ///< largest frame that `send` takes, bytes
  std::size_t payload = 0;          ///< largest payload transfer, bytes
  std::uint64_t tag_mask = 0;       ///< the bits of a payload tag that reach the other side
  std::size_t receives = SIZE_MAX;  ///< payload receives that may be posted at a time
  bool in_turn = false;             ///< payloads to one peer pass one after the other, in the order of the posts
  std::size_t links = 1;            ///< by so many payloads to one peer pass side by side
};

using address = std::vector<std::byte>;

/// An endpoint and everything it needs. Frames of one sender arrive in the order sent; payload transfers are matched by
/// (peer, tag) with a receive that was posted before the payload was sent, which the caller guarantees.
///
/// Threads: every call but the constructor's and destructor's is made by one thread at a time (whoever holds the
/// token); nothing here blocks. `false` from a posting call means that the provider is busy (-FI_EAGAIN): the caller
/// polls and tries again, within bounds of its own. Errors of the provider are thrown as weft::error
/// (errc::provider_failed) that name the call and fi_strerror's text.
class transport {
 public:
  virtual ~transport() = default;
  virtual const transport_limits& limits() const noexcept = 0;
  /// Whether that peer is reached through memory of this node. Once started.
  virtual bool is_near(int /*peer*/) const noexcept { return false; }
  /// This endpoint's address, for the others' `start`.
  virtual address local_address() const = 0;
  /// Names the peers (the index is what every other call means by `peer`; one of them may be this endpoint itself) and
  /// posts at least `receive_bytes` for their frames, each of 1 to `limits().frame` bytes. All senders together
  /// never have more than that on the way (sent, but not reported by a poll): the caller's credits see to it. Beyond it
  /// most providers hold their senders up, but shm may stop for ever.
  virtual void start(std::span<const address> peers, std::size_t receive_bytes) = 0;

  /// Sends a frame of at most `limits().inject` bytes; the bytes are copied before this returns.
  virtual bool inject(int peer, std::span<const std::byte> frame) = 0;
  /// Sends a frame from memory that stays untouched until `done`.
  virtual bool send(int peer, std::span<const std::byte> frame, transfer& context) = 0;
  /// Sends a short message to a peer that is near (`is_near`), of at most `limits().frame` bytes; they are copied
  /// before this returns. False where there is no room now.
  virtual bool put_message(int /*peer*/, message_name /*name*/, message_ends /*ends*/,
                           std::span<const std::byte> /*bytes*/) {
    return false;
  }
  /// Sends a frame of these two parts to a peer that is near, of at most `limits().frame` bytes; as put_message.
  virtual bool put_frame(int /*peer*/, std::span<const std::byte> /*head*/, std::span<const std::byte> /*body*/) {
    return false;
  }
  /// Sends a payload into the receive that the peer has posted under `tag`.
  virtual bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) = 0;
  /// Posts memory for the payload that `peer` will send under `tag`. False also while `limits().receives` are posted.
  virtual bool receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes, transfer& context) = 0;
  /// Asks for a posted payload receive back. It ends by `done` all the same: with std::errc::operation_canceled, or as
  /// if nothing had been asked where the payload was quicker.
  virtual void cancel(transfer& context) = 0;

  /// Once the connections stand: does with them what could not be done before. Returns what each peer has to know for
  /// its `cut` of the one that this endpoint opened to it, by peer; 0: nothing.
  virtual std::vector<std::uint64_t> settle_connections() { return {}; }
  /// Breaks the connection with a peer that is lost but may be alive, where there is one that can be broken: its
  /// transfers in flight then end by `done` within a few polls. A posted receive that a payload has begun to fill can
  /// end in no other way while its sender lives, since it cannot be cancelled. `their_end` is what that peer's
  /// `settle_connections` says of this endpoint, 0 if it has not said it. Where nothing can be broken this has no effect.
  virtual void cut([[maybe_unused]] int peer, [[maybe_unused]] std::uint64_t their_end) noexcept {}

  /// Where there are several links to the peers (joined_links.hpp): those, a bit each, by which all peers have been
  /// heard that were sent a frame or have sent one, until `keep_links`.
  virtual std::uint32_t links_in_contact() const { return 1; }
  /// From now on these are used side by side, the same in all processes of the job, and no others. Before any payload.
  virtual void keep_links(std::uint32_t /*kept*/) {}

  /// Reports what has happened since to `to` and returns how many events that were; 0 is nothing.
  virtual std::size_t poll(receiver& to) = 0;
};

}  // namespace weft::fabric
