// SPDX-License-Identifier: Apache-2.0
// A transport in front of another: counts what passes, and refuses posts on request.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>
#include <weft/fabric/transport.hpp>
#include <weft/runtime/error.hpp>

#include "fabric/failing_allocation.hpp"
#include "fabric/messenger/wire.hpp"

namespace weft_test {

/// What one process has sent, and where its provider held it up. Read it where the messenger is not being polled.
struct traffic_counts {
  std::size_t kinds[16] = {};        ///< frames by kind
  std::size_t frame_bytes = 0;       ///< of all of them
  std::size_t short_envelopes = 0;   ///< for messages that eager sends would have taken
  std::size_t envelopes_wanted = 0;  ///< requests for envelopes only
  std::size_t short_messages = 0;    ///< that needed no frame
  std::size_t payloads = 0;
  std::size_t blocked_landings = 0;
  std::size_t blocked_departures = 0;
  std::size_t blocked_frames = 0;
  std::size_t of(weft::fabric::message_kind kind) const { return kinds[static_cast<int>(kind)]; }
  void add(const traffic_counts& other) {
    for (int i = 0; i < 16; ++i) kinds[i] += other.kinds[i];
    frame_bytes += other.frame_bytes;
    short_envelopes += other.short_envelopes;
    envelopes_wanted += other.envelopes_wanted;
    short_messages += other.short_messages;
    payloads += other.payloads;
    blocked_landings += other.blocked_landings;
    blocked_departures += other.blocked_departures;
    blocked_frames += other.blocked_frames;
  }
};

class watched_transport final : public weft::fabric::transport {
 public:
  watched_transport(std::unique_ptr<transport> inner, traffic_counts& counts, std::size_t eager_limit)
      : inner_(std::move(inner)), counts_(counts), eager_limit_(eager_limit) {}

  const weft::fabric::transport_limits& limits() const noexcept override { return inner_->limits(); }
  weft::fabric::address local_address() const override { return inner_->local_address(); }
  void start(std::span<const weft::fabric::address> peers, std::size_t receive_bytes) override {
    inner_->start(peers, receive_bytes);
  }

  bool inject(int peer, std::span<const std::byte> frame) override {
    const allocations_that_succeed unharmed;
    check_failure();
    if (drop_next) {
      drop_next = false;
      return dropped_ = true;
    }
    return counted(frame, !refusing && inner_->inject(peer, renamed(frame)));
  }
  bool is_near(int peer) const noexcept override { return inner_->is_near(peer); }
  bool put_frame(int peer, std::span<const std::byte> head, std::span<const std::byte> body) override {
    const allocations_that_succeed unharmed;
    check_failure();
    std::vector<std::byte> frame(head.begin(), head.end());
    frame.insert(frame.end(), body.begin(), body.end());
    return counted(frame, !refusing && inner_->put_frame(peer, renamed(frame), {}));
  }
  bool put_message(int peer, weft::fabric::message_name name, weft::fabric::message_ends ends,
                   std::span<const std::byte> bytes) override {
    const allocations_that_succeed unharmed;
    check_failure();
    const bool put = !refusing && inner_->put_message(peer, name, ends, bytes);
    ++(put ? counts_.short_messages : counts_.blocked_frames);
    return put;
  }
  bool send(int peer, std::span<const std::byte> frame, weft::fabric::transfer& context) override {
    const allocations_that_succeed unharmed;
    check_failure();
    context.receiving = false;
    return counted(frame, !refusing && inner_->send(peer, renamed(frame), context));
  }
  bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes,
                    weft::fabric::transfer& context) override {
    const allocations_that_succeed unharmed;
    check_failure();
    context.receiving = false;
    const bool posted = !refusing && inner_->send_payload(peer, tag, bytes, context);
    ++(posted ? counts_.payloads : counts_.blocked_departures);
    if (posted) sent_payloads.push_back(tag);
    return posted;
  }
  bool receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes,
                       weft::fabric::transfer& context) override {
    const allocations_that_succeed unharmed;
    check_failure();
    if (holding) {
      held_.push_back({peer, bytes, &context});
      context.receiving = false;
      return true;
    }
    const bool posted =
        (most_receives == 0 || receives_ < most_receives) && inner_->receive_payload(peer, tag, bytes, context);
    if (posted)
      ++receives_;
    else
      ++counts_.blocked_landings;
    context.receiving = posted;
    return posted;
  }
  void cancel(weft::fabric::transfer& context) override {
    if (!held(context)) inner_->cancel(context);
  }
  void cut(int peer, std::uint64_t their_end) noexcept override {
    if (cuttable)
      for (held_receive& each : held_)
        if (each.peer == peer) each.ended = true;
    if (cuttable) inner_->cut(peer, their_end);
  }

  std::uint32_t links_in_contact() const override { return inner_->links_in_contact(); }
  void keep_links(std::uint32_t kept) override { inner_->keep_links(kept); }

  std::size_t poll(weft::fabric::receiver& to) override {
    if (frozen) return 0;
    const allocations_that_succeed unharmed;
    if (std::exchange(dropped_, false)) to.dropped();
    std::erase_if(held_, [&](const held_receive& each) {
      const allocations_that_may_fail harmed;
      if (each.ended) to.done(*each.context, 0, std::make_error_code(std::errc::connection_aborted));
      return each.ended;
    });
    struct counting final : weft::fabric::receiver {
      weft::fabric::receiver& to;
      watched_transport& self;
      counting(weft::fabric::receiver& to, watched_transport& self) : to(to), self(self) {}
      void arrived(std::span<const std::byte> frame) override {
        const allocations_that_may_fail harmed;
        to.arrived(frame);
      }
      void arrived(int peer, weft::fabric::message_name name, weft::fabric::message_ends ends,
                   std::span<const std::byte> bytes) override {
        const allocations_that_may_fail harmed;
        to.arrived(peer, name, ends, bytes);
      }
      void done(weft::fabric::transfer& ended, std::size_t bytes, std::error_code error) override {
        if (ended.receiving) --self.receives_;
        ended.receiving = false;
        const allocations_that_may_fail harmed;
        to.done(ended, bytes, error);
      }
      void broken(int peer, std::error_code error) override { to.broken(peer, error); }
    } between(to, *this);
    return inner_->poll(between);
  }

  std::size_t most_receives = 0;  ///< payload receives posted at a time; 0: as the inner transport says
  bool failing = false;           ///< every post throws errc::provider_failed
  bool refusing = false;          ///< every post of a send is refused
  bool drop_next = false;         ///< the next injected frame is lost, which the provider says, but not to whom
  bool renames_grants = false;    ///< the next grants name their messages otherwise
  bool frozen = false;            ///< polls report nothing
  bool holding = false;           ///< payload receives begin to land, and go on only by `land_held`
  bool cuttable = true;           ///< whether `cut` ends them
  std::vector<std::uint64_t> sent_payloads;  ///< their tags, in the order of the posts

  /// What is held fills its memory after all, as when a sender that was stopped goes on.
  std::size_t land_held() {
    for (held_receive& each : held_) {
      std::memset(each.memory.data(), 0xee, each.memory.size());
      each.ended = true;
    }
    return held_.size();
  }
  std::size_t held_receives() const { return held_.size(); }

 private:
  std::span<const std::byte> renamed(std::span<const std::byte> frame) {
    using namespace weft::fabric;
    if (!renames_grants || read_part<header>(frame, 0).kind != message_kind::grant) return frame;
    if (frame.size() < sizeof(header) + sizeof(grant_body)) return frame;  // none is, but GCC warns of the read below
    auto body = read_part<grant_body>(frame, sizeof(header));
    body.id += 1000;
    renamed_.assign(frame.begin(), frame.end());
    write_part(renamed_.data(), sizeof(header), body);
    return renamed_;
  }

  struct held_receive {
    int peer;
    std::span<std::byte> memory;
    weft::fabric::transfer* context;
    bool ended = false;
  };
  bool held(const weft::fabric::transfer& context) const {
    for (const held_receive& each : held_)
      if (each.context == &context) return true;
    return false;
  }
  void check_failure() const {
    if (failing) throw weft::error(weft::errc::provider_failed, "the provider failed because the test wants it");
  }
  bool counted(std::span<const std::byte> frame, bool posted) {
    if (!posted) return ++counts_.blocked_frames, false;
    counts_.frame_bytes += frame.size();
    count(frame);
    return true;
  }
  void count(std::span<const std::byte> frame) {
    using weft::fabric::message_kind;
    const auto head = weft::fabric::read_part<weft::fabric::header>(frame, 0);
    ++counts_.kinds[static_cast<int>(head.kind) & 15];
    if (head.kind == message_kind::several)
      for (auto rest = frame.subspan(sizeof head); rest.size() >= 4;) {
        const auto size = weft::fabric::read_part<std::uint32_t>(rest, 0);
        if (size < sizeof head || size > rest.size() - 4) return;  // a test's lie
        count(rest.subspan(4, size));
        rest = rest.subspan(4 + size);
      }
    if (head.kind == message_kind::envelope && head.length <= eager_limit_) ++counts_.short_envelopes;
    if (head.kind == message_kind::credit && head.source == 1) ++counts_.envelopes_wanted;
  }

  std::unique_ptr<transport> inner_;
  traffic_counts& counts_;
  std::size_t eager_limit_;
  std::size_t receives_ = 0;
  bool dropped_ = false;
  std::vector<std::byte> renamed_;
  std::vector<held_receive> held_;
};

}  // namespace weft_test
