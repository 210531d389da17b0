// SPDX-License-Identifier: Apache-2.0
// Links of several processes that can be joined, and broken: as an interface that goes down, which its own process
// alone is told.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>
#include <weft/fabric/joined_links.hpp>
#include <weft/fabric/transport.hpp>
#include <weft/runtime/clock.hpp>

#include "fabric/links/link_frame.hpp"

namespace weft_test {

/// Which interfaces are down, as (process, link).
using broken_links = std::set<std::pair<int, int>>;

/// Over a broken one nothing arrives. Half of what is sent seems to have left, as what TCP has taken; the other half
/// stays with the provider until the connection is cut.
class breakable_link final : public weft::fabric::transport {
 public:
  breakable_link(std::unique_ptr<transport> inner, int process, int link, const broken_links& broken)
      : inner_(std::move(inner)), process_(process), link_(link), broken_(broken) {}

  const weft::fabric::transport_limits& limits() const noexcept override { return inner_->limits(); }
  weft::fabric::address local_address() const override { return inner_->local_address(); }
  void start(std::span<const weft::fabric::address> peers, std::size_t receive_bytes) override {
    inner_->start(peers, receive_bytes);
  }
  bool inject(int peer, std::span<const std::byte> frame) override {
    return breaks(peer) || inner_->inject(peer, frame);
  }
  bool send(int peer, std::span<const std::byte> frame, weft::fabric::transfer& context) override {
    return breaks(peer) ? swallow(peer, frame.size(), context) : inner_->send(peer, frame, context);
  }
  bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes,
                    weft::fabric::transfer& context) override {
    return breaks(peer) ? swallow(peer, bytes.size(), context) : inner_->send_payload(peer, tag, bytes, context);
  }
  bool receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes,
                       weft::fabric::transfer& context) override {
    const bool posted = inner_->receive_payload(peer, tag, bytes, context);
    if (posted) receives_[&context] = peer;
    return posted;
  }
  void cancel(weft::fabric::transfer& context) override {
    if (!breaks(receives_.at(&context))) inner_->cancel(context);  // else it has begun, and only a cut ends it
  }
  void cut(int peer, std::uint64_t their_end) noexcept override {
    for (swallowed& each : swallowed_)
      if (each.peer == peer) each.ends = true;
    inner_->cut(peer, their_end);
  }
  std::size_t poll(weft::fabric::receiver& to) override {
    struct without_lost final : weft::fabric::receiver {
      without_lost(weft::fabric::receiver& user, const breakable_link& its) : to(user), of(its) {}
      void arrived(std::span<const std::byte> frame) override {
        weft::fabric::link_header head;
        std::memcpy(&head, frame.data(), sizeof head);
        if (!of.breaks(static_cast<int>(head.process))) to.arrived(frame);
      }
      void done(weft::fabric::transfer& ended, std::size_t bytes, std::error_code error) override {
        to.done(ended, bytes, error);
      }
      weft::fabric::receiver& to;
      const breakable_link& of;
    } between(to, *this);
    std::vector<swallowed> ending;
    std::erase_if(swallowed_, [&](const swallowed& each) {
      if (each.ends || each.seems_sent) ending.push_back(each);
      return each.ends || each.seems_sent;
    });
    for (const swallowed& each : ending)
      to.done(*each.context, each.bytes,
              each.seems_sent ? std::error_code() : std::make_error_code(std::errc::connection_aborted));
    return ending.size() + inner_->poll(between);
  }

 private:
  struct swallowed {
    int peer;
    std::size_t bytes;
    weft::fabric::transfer* context;
    bool seems_sent;
    bool ends = false;
  };
  bool breaks(int peer) const { return broken_.contains({process_, link_}) || broken_.contains({peer, link_}); }
  bool swallow(int peer, std::size_t bytes, weft::fabric::transfer& context) {
    swallowed_.push_back({peer, bytes, &context, ++count_ % 2 == 0});
    return true;
  }

  std::unique_ptr<transport> inner_;
  const int process_, link_;
  const broken_links& broken_;
  std::vector<swallowed> swallowed_;
  std::map<weft::fabric::transfer*, int> receives_;  // by whom; those that have ended, too
  unsigned count_ = 0;
};

/// A millisecond later whenever it is read: what settles does so within a few polls.
class counting_clock final : public weft::clock {
 public:
  time_point now() const noexcept override { return time_point(std::chrono::milliseconds(++reads_)); }

 private:
  mutable std::atomic<int> reads_ = 0;
};

/// The endpoints of a process, joined. `broken` outlives them. Within 50 polls it looks for what is broken.
inline std::unique_ptr<weft::fabric::transport> joined(std::vector<std::unique_ptr<weft::fabric::transport>> links,
                                                       int process, int processes, const broken_links& broken) {
  weft::fabric::joined_links_settings settings;
  settings.process = process;
  for (int other = 0; other < processes; ++other) settings.keys.push_back(0xabc0u + static_cast<unsigned>(other));
  static const counting_clock time;
  settings.time = &time;
  settings.works = [&broken, process](int link) { return !broken.contains({process, link}); };
  for (std::size_t i = 0; i < links.size(); ++i)
    links[i] = std::make_unique<breakable_link>(std::move(links[i]), process, static_cast<int>(i), broken);
  return weft::fabric::join_links(std::move(links), std::move(settings));
}

}  // namespace weft_test
