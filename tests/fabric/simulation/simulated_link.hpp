// SPDX-License-Identifier: Apache-2.0
// A process's transport in a simulated job: it can die in the middle of what it sends, and credit is counted that
// passes through it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <weft/fabric/transport.hpp>

#include "fabric/failing_allocation.hpp"
#include "fabric/messenger/flow_control.hpp"
#include "fabric/messenger/wire.hpp"

namespace weft_test {

class simulated_link final : public weft::fabric::transport {
 public:
  /// What is wrong with what the messenger does is said to `fault`.
  simulated_link(std::unique_ptr<transport> inner, int processes, std::function<void(const std::string&)> fault)
      : inner_(std::move(inner)), fault_(std::move(fault)), credits_(static_cast<std::size_t>(processes)) {}

  /// The process dies, at once or after so many more posts: from then on nothing of it leaves, and it is told nothing.
  void die(std::size_t posts) { posts_left_ = posts; }
  bool dead() const { return posts_left_ == std::size_t{0}; }
  bool may_suspect = false;  ///< frames of peers may be dropped, so that credit for them is not given back

  const weft::fabric::transport_limits& limits() const noexcept override { return inner_->limits(); }
  weft::fabric::address local_address() const override { return inner_->local_address(); }
  void start(std::span<const weft::fabric::address> peers, std::size_t receive_bytes) override {
    inner_->start(peers, receive_bytes);
  }

  bool inject(int peer, std::span<const std::byte> frame) override {
    const allocations_that_succeed unharmed;
    return dies() || counted(peer, frame, inner_->inject(peer, frame));
  }
  bool send(int peer, std::span<const std::byte> frame, weft::fabric::transfer& context) override {
    const allocations_that_succeed unharmed;
    return dies() || counted(peer, frame, inner_->send(peer, frame, context));
  }
  bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes,
                    weft::fabric::transfer& context) override {
    const allocations_that_succeed unharmed;
    return dies() || inner_->send_payload(peer, tag, bytes, context);
  }
  bool receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes,
                       weft::fabric::transfer& context) override {
    const allocations_that_succeed unharmed;
    return dead() || inner_->receive_payload(peer, tag, bytes, context);
  }
  void cancel(weft::fabric::transfer& context) override {
    const allocations_that_succeed unharmed;
    if (!dead()) inner_->cancel(context);
  }
  void cut(int peer, std::uint64_t their_end) noexcept override {
    const allocations_that_succeed unharmed;
    if (!dead()) inner_->cut(peer, their_end);
  }

  std::size_t poll(weft::fabric::receiver& to) override {
    if (dead()) return 0;
    const allocations_that_succeed unharmed;
    struct between final : weft::fabric::receiver {
      between(weft::fabric::receiver& its, simulated_link& link) : to(its), self(link) {}
      void arrived(std::span<const std::byte> frame) override {
        self.take(frame);
        const allocations_that_may_fail harmed;
        to.arrived(frame);
      }
      void done(weft::fabric::transfer& ended, std::size_t bytes, std::error_code error) override {
        const allocations_that_may_fail harmed;
        to.done(ended, bytes, error);
      }
      weft::fabric::receiver& to;
      simulated_link& self;
    } watched(to, *this);
    return inner_->poll(watched);
  }

 private:
  /// Of one peer, in units.
  struct credit {
    std::int64_t spent = 0;  ///< in frames to it that it has not given back
    std::int64_t given = 0;  ///< what it gave when the connection was opened
    std::int64_t owed = 0;   ///< of its frames, taken and not given back
  };

  bool dies() {
    if (posts_left_ && *posts_left_ != 0) --*posts_left_;
    return dead();
  }

  static std::int64_t cost(const weft::fabric::header& h, std::span<const std::byte> frame) {
    return weft::fabric::flow_control::costs_credit(h) ? weft::fabric::credit_cost(frame.size()) : 0;
  }

  void take(std::span<const std::byte> frame) {
    const auto h = weft::fabric::read_part<weft::fabric::header>(frame, 0);
    credit& of = credits_[h.process];
    if (h.kind == weft::fabric::message_kind::hello && h.source != 2) of.given = static_cast<std::int64_t>(h.length);
    of.owed += cost(h, frame);
    of.spent -= h.credit;
    if (of.spent < 0 && !may_suspect)
      fault_("process " + std::to_string(h.process) + " gives back more credit than it was sent");
  }

  bool counted(int peer, std::span<const std::byte> frame, bool taken) {
    if (!taken) return false;
    const auto h = weft::fabric::read_part<weft::fabric::header>(frame, 0);
    credit& of = credits_[static_cast<std::size_t>(peer)];
    of.spent += cost(h, frame);
    if (of.spent > of.given) fault_("more is sent to process " + std::to_string(peer) + " than it gave credit for");
    if (may_suspect) return true;
    if (h.credit > of.owed) fault_("process " + std::to_string(peer) + " is given credit that it has not spent");
    if (h.credit < of.owed) fault_("process " + std::to_string(peer) + " is not given back all of its credit");
    of.owed = 0;
    return true;
  }

  std::unique_ptr<transport> inner_;
  std::function<void(const std::string&)> fault_;
  std::vector<credit> credits_;
  std::optional<std::size_t> posts_left_;
};

}  // namespace weft_test
