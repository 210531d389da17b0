// SPDX-License-Identifier: Apache-2.0
// Messages between processes of one node through the memory that they share, all others over the network.
//
//   message, frame: copied into the ring that leads there, taken from where it lies in it; of a message the caller's
//             bytes go there at once, and up to 32 of them in one line
//   payload:  sender                          receiver
//             record (address) --ring-->      finds the receive
//             parts of it      --ring-->      takes them, from the beginning on, and while none come
//                                             reads the sender's memory in slices, from the end on
//             done             <--ring--      record (taken)
//
// A part is copied twice, but by two CPUs at once and from cache to cache, where what is read costs a system call and
// the look-up of its pages; reading goes on without the sender. Long payloads go in parts or are read alone, whichever
// has been the faster (faster_road.hpp). Those that are short and find room go in parts alone, as do all where
// processes may not read each other's memory (arena::reading_refusal). Where they may and share CPUs all are read, and
// nothing is copied twice.
#pragma once

#include <memory>
#include <span>
#include <vector>
#include <weft/fabric/arena_ring.hpp>
#include <weft/fabric/transport.hpp>

namespace weft::fabric {

class arena;
class node_neighbor;
class transfer_list;

class node_transport final : public transport {
 public:
  /// The longest frame that is sure to find room in a ring whose reader has taken everything, bytes.
  static constexpr std::size_t longest_frame = arena_ring_bytes / 2 - 128;

  node_transport();
  ~node_transport() override;

  /// From the start on those of the job's processes that share `memory` with this one are reached by it: peers are the
  /// job's processes. Before `start`, by all of them or by none. `memory` outlives this.
  void share(const arena& memory);
  /// All others are reached by `outside`. Before `start`; not needed where there are none.
  void reach_others_by(std::unique_ptr<transport> outside);

  /// Fixed, but for what the transport's description says, once it is known how the others are reached.
  const transport_limits& limits() const noexcept override { return limits_; }
  /// That of the endpoint by which others are reached; nothing where there is none.
  address local_address() const override { return outside_ != nullptr ? outside_->local_address() : address(); }
  void start(std::span<const address> peers, std::size_t receive_bytes) override;
  bool inject(int peer, std::span<const std::byte> frame) override;
  bool send(int peer, std::span<const std::byte> frame, transfer& context) override;
  bool put_message(int peer, message_name name, message_ends ends, std::span<const std::byte> bytes) override;
  bool put_frame(int peer, std::span<const std::byte> head, std::span<const std::byte> body) override;
  bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) override;
  bool receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes, transfer& context) override;
  void cancel(transfer& context) override;
  std::vector<std::uint64_t> settle_connections() override;
  void cut(int peer, std::uint64_t their_end) noexcept override;
  std::uint32_t links_in_contact() const override { return uses_outside_ ? outside_->links_in_contact() : 1; }
  void keep_links(std::uint32_t kept) override;
  bool is_near(int peer) const noexcept override { return near(peer) != nullptr; }
  std::size_t poll(receiver& to) override;

 private:
  node_neighbor* near(int peer) const noexcept {
    const auto index = static_cast<std::size_t>(peer);
    return index < by_peer_.size() ? by_peer_[index].get() : nullptr;
  }
  std::size_t report_ended(receiver& to);

  std::unique_ptr<transport> outside_;
  transport_limits limits_;
  const arena* memory_ = nullptr;
  std::vector<std::unique_ptr<node_neighbor>> by_peer_;  // null: reached from outside
  std::vector<node_neighbor*> near_;
  std::unique_ptr<transfer_list> ended_;  // to be reported by the next poll
  bool uses_outside_ = false;
};

}  // namespace weft::fabric
