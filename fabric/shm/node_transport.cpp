// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <system_error>
#include <utility>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/moving_transfer.hpp>
#include <weft/fabric/node_transport.hpp>

#include "node_neighbor.hpp"

namespace weft::fabric {
namespace {

/// The longest frame that is copied from its sender's memory before `inject` returns.
constexpr std::size_t longest_injected = 4 << 10;

constexpr std::size_t longest_payload = 1 << 30;

transport_limits limits_of_memory() {
  transport_limits limits;
  limits.provider = "the node's memory";
  limits.inject = longest_injected;
  limits.frame = node_transport::longest_frame;
  limits.payload = longest_payload;
  limits.tag_mask = ~std::uint64_t{0};
  return limits;
}

}  // namespace

node_transport::node_transport() : limits_(limits_of_memory()), ended_(std::make_unique<transfer_list>()) {}

node_transport::~node_transport() = default;

void node_transport::share(const arena& memory) { memory_ = &memory; }

void node_transport::reach_others_by(std::unique_ptr<transport> outside) {
  outside_ = std::move(outside);
  limits_ = outside_->limits();
  limits_.frame = std::min(limits_.frame, longest_frame);
  limits_.payload = std::min(limits_.payload, longest_payload);
}

void node_transport::start(std::span<const address> peers, std::size_t receive_bytes) {
  if (memory_ != nullptr) {
    by_peer_.resize(peers.size());
    for (const int process : memory_->processes()) {
      auto& made = by_peer_[static_cast<std::size_t>(process)];
      made = std::make_unique<node_neighbor>(*memory_, process, *ended_);
      near_.push_back(made.get());
    }
  }
  uses_outside_ = near_.size() < peers.size();
  if (uses_outside_) return outside_->start(peers, receive_bytes);
  limits_.inject = std::min(longest_injected, limits_.frame);
  limits_.receives = SIZE_MAX;
}

bool node_transport::inject(int peer, std::span<const std::byte> frame) {
  if (node_neighbor* const there = near(peer)) return there->put_frame(frame);
  return outside_->inject(peer, frame);
}

bool node_transport::send(int peer, std::span<const std::byte> frame, transfer& context) {
  node_neighbor* const there = near(peer);
  if (there == nullptr) return outside_->send(peer, frame, context);
  if (!there->put_frame(frame)) return false;
  ended_->push(moving_transfer::begin(context, false, nullptr, frame.size(), 0));
  return true;
}

bool node_transport::put_message(int peer, message_name name, message_ends ends, std::span<const std::byte> bytes) {
  node_neighbor* const there = near(peer);
  return there != nullptr && there->put_message(name, ends, bytes);
}

bool node_transport::put_frame(int peer, std::span<const std::byte> head, std::span<const std::byte> body) {
  node_neighbor* const there = near(peer);
  return there != nullptr && there->put_frame(head, body);
}

bool node_transport::send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) {
  if (node_neighbor* const there = near(peer)) return there->send(tag, bytes, context);
  return outside_->send_payload(peer, tag, bytes, context);
}

bool node_transport::receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes, transfer& context) {
  node_neighbor* const there = near(peer);
  if (there == nullptr) return outside_->receive_payload(peer, tag, bytes, context);
  there->receive(tag, bytes, context);
  return true;
}

void node_transport::cancel(transfer& context) {
  for (node_neighbor* const each : near_)
    if (each->cancel(context)) return;
  if (uses_outside_) outside_->cancel(context);
}

std::vector<std::uint64_t> node_transport::settle_connections() {
  return uses_outside_ ? outside_->settle_connections() : std::vector<std::uint64_t>{};
}

void node_transport::cut(int peer, std::uint64_t their_end) noexcept {
  if (node_neighbor* const there = near(peer)) return there->cut();
  if (uses_outside_) outside_->cut(peer, their_end);
}

void node_transport::keep_links(std::uint32_t kept) {
  if (!uses_outside_) return;
  outside_->keep_links(kept);
  limits_.links = outside_->limits().links;
}

std::size_t node_transport::report_ended(receiver& to) {
  std::size_t reported = 0;
  for (transfer_list now = std::exchange(*ended_, {}); !now.empty(); ++reported) {
    const moving_transfer& ended = now.pop();
    const bool well = ended.failure == std::errc{};
    to.done(*ended.of, well ? ended.bytes : 0, well ? std::error_code{} : make_error_code(ended.failure));
  }
  return reported;
}

std::size_t node_transport::poll(receiver& to) {
  std::size_t events = ended_->empty() ? 0 : report_ended(to);
  for (node_neighbor* const each : near_) events += each->poll(to);
  return uses_outside_ ? events + outside_->poll(to) : events;
}

}  // namespace weft::fabric
