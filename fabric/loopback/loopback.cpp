// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <weft/fabric/loopback.hpp>
#include <weft/runtime/error.hpp>

#include "loopback_mailbox.hpp"

namespace weft::fabric {

struct loopback_network::state {
  state(int endpoints, const loopback_options& given) : options(given) {
    for (int index = 0; index < endpoints; ++index) boxes.emplace_back(endpoints, given.queue, given.receives);
    opened.resize(boxes.size());
  }

  /// Endpoint `index` has gone, closed or killed.
  void remove(int index, bool killed) {
    for (loopback_mailbox& box : boxes) box.forget(index, killed);
    for (const loopback_event& event : boxes[index].die()) {
      boxes[event.from].put_completion(*event.sender, event.bytes, {});
    }
  }

  const loopback_options options;
  std::deque<loopback_mailbox> boxes;
  std::mutex opening;
  std::vector<bool> opened;  // guarded by opening
};

namespace {

class loopback_endpoint final : public transport {
 public:
  loopback_endpoint(std::shared_ptr<loopback_network::state> network, int index)
      : network_(std::move(network)), index_(index), own_(network_->boxes[index]) {
    const loopback_options& options = network_->options;
    limits_ = {"loopback", options.inject, options.frame, options.payload, options.tag_mask, options.receives};
    limits_.in_turn = options.in_turn;
    if (options.jitter_seed != 0) jitter_.emplace(options.jitter_seed + static_cast<std::uint64_t>(index));
  }
  ~loopback_endpoint() override { network_->remove(index_, false); }

  const transport_limits& limits() const noexcept override { return limits_; }

  address local_address() const override {
    address bytes(sizeof index_);
    std::memcpy(bytes.data(), &index_, sizeof index_);
    return bytes;
  }

  void start(std::span<const address> peers, std::size_t) override {
    require(peers_.empty(), "start was called twice");
    for (const address& peer : peers) {
      int index = -1;
      if (peer.size() == sizeof index) std::memcpy(&index, peer.data(), sizeof index);
      if (index < 0 || static_cast<std::size_t>(index) >= network_->boxes.size()) {
        throw error(errc::invalid_argument, "loopback: not the address of an endpoint of this network");
      }
      peers_.push_back(index);
    }
  }

  bool inject(int peer, std::span<const std::byte> frame) override {
    require(!frame.empty() && frame.size() <= limits_.inject, "an injected frame is empty or above limits().inject");
    loopback_mailbox& box = box_of(peer);
    return !shaken() && box.put_frame(index_, frame, nullptr) != loopback_post::busy;
  }

  bool send(int peer, std::span<const std::byte> frame, transfer& context) override {
    require(!frame.empty() && frame.size() <= limits_.frame, "a frame is empty or longer than limits().frame");
    loopback_mailbox& box = box_of(peer);
    return !shaken() && accepted(box.put_frame(index_, frame, &context), frame.size(), context);
  }

  bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) override {
    check_payload(tag, bytes.size());
    loopback_mailbox& box = box_of(peer);
    return !shaken() && accepted(box.put_payload(index_, tag, bytes, context), bytes.size(), context);
  }

  bool receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes, transfer& context) override {
    check_payload(tag, bytes.size());
    box_of(peer);
    return !shaken() && own_.post_receive(peers_[peer], tag, bytes, context);
  }

  void cancel(transfer& context) override { own_.cancel(context); }

  void cut(int peer, std::uint64_t) noexcept override {
    for (const loopback_event& event : own_.cut(peers_[peer]))
      network_->boxes[event.from].put_completion(*event.sender, event.bytes, {});
  }

  std::size_t poll(receiver& to) override {
    require(!polling_, "poll was called from a receiver");
    if (peers_.empty()) return 0;
    found_.clear();
    own_.collect(found_, jitter_ ? &*jitter_ : nullptr);
    for (const loopback_event& event : found_) {
      if (event.sender != nullptr) network_->boxes[event.from].put_completion(*event.sender, event.bytes, {});
    }
    polling_ = true;
    struct reset {
      bool& flag;
      ~reset() { flag = false; }
    } const reset_polling{polling_};
    for (const loopback_event& event : found_) {
      if (event.ended != nullptr) {
        to.done(*event.ended, event.bytes, event.error);
      } else {
        to.arrived(event.frame);
      }
    }
    return found_.size();
  }

 private:
  static void require(bool kept, const char* otherwise) {
    if (!kept) throw std::logic_error(std::string("loopback: ") + otherwise);
  }
  void check_payload(std::uint64_t tag, std::size_t bytes) const {
    require((tag & ~limits_.tag_mask) == 0, "a payload's tag has bits outside limits().tag_mask");
    require(bytes <= limits_.payload, "a payload is longer than limits().payload");
  }
  loopback_mailbox& box_of(int peer) const {
    require(peer >= 0 && static_cast<std::size_t>(peer) < peers_.size(), "a peer that start did not name");
    return network_->boxes[peers_[peer]];
  }
  bool shaken() { return jitter_ && (*jitter_)() % 16 == 0; }
  bool accepted(loopback_post how, std::size_t bytes, transfer& context) {
    if (how == loopback_post::vanished) own_.put_completion(context, bytes, {});
    return how != loopback_post::busy;
  }

  const std::shared_ptr<loopback_network::state> network_;
  const int index_;
  loopback_mailbox& own_;
  transport_limits limits_;
  std::optional<std::mt19937_64> jitter_;
  std::vector<int> peers_;  // endpoint by peer
  std::vector<loopback_event> found_;
  bool polling_ = false;
};

}  // namespace

loopback_network::loopback_network(int endpoints, const loopback_options& options)
    : state_(std::make_shared<state>(endpoints, options)) {}
loopback_network::~loopback_network() = default;

std::unique_ptr<transport> loopback_network::endpoint(int index) {
  const std::lock_guard lock(state_->opening);
  if (index < 0 || static_cast<std::size_t>(index) >= state_->opened.size() || state_->opened[index]) {
    throw error(errc::invalid_argument, "loopback: endpoint " + std::to_string(index) + " of " +
                                            std::to_string(state_->opened.size()) + " is out of range or open already");
  }
  state_->opened[index] = true;
  return std::make_unique<loopback_endpoint>(state_, index);
}

void loopback_network::kill(int index) { state_->remove(index, true); }

}  // namespace weft::fabric
