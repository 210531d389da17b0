// SPDX-License-Identifier: Apache-2.0
// Everything that a transport does at once, each endpoint in a thread of its own.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <iostream>
#include <thread>

#include "catch.hpp"
#include "fabric/transport_media.hpp"
#include "sanitized.hpp"

using namespace weft::fabric;
using namespace weft_test;

namespace {

/// One rank of the test below: sends frames and payloads to each other rank and takes theirs, until all is done.
class talker final : public receiver {
 public:
  talker(transport& link, int index, int count) : link_(link), index_(index), peers_(static_cast<std::size_t>(count)) {}

  void run(std::atomic<int>& unfinished) {
    bool told = false;
    until(
        [&] {
          if (!told && finished()) {
            told = true;
            // Sequentially consistent: no more than a count; the transports order what they carry themselves.
            unfinished.fetch_sub(1);
          }
          for (int peer = 0; peer < static_cast<int>(peers_.size()); ++peer) {
            if (peer != index_) talk(peer, peers_[static_cast<std::size_t>(peer)]);
          }
          link_.poll(*this);
          return unfinished.load() == 0;
        },
        "the other ranks", std::chrono::seconds(200));
  }
  std::size_t wrong() const { return wrong_; }

 private:
  static constexpr std::uint64_t rounds = slowed ? 100 : 300;
  static constexpr std::size_t frame_size = 40;

  enum class kind : std::uint32_t { plain, grant };
  struct header {
    kind what;
    std::int32_t from;
    std::uint64_t number;
  };
  struct peer_state {
    std::uint64_t sent = 0, heard = 0;       // plain frames
    std::uint64_t posted = 0, granted = 0;   // receives, and the grants sent for them
    std::uint64_t allowed = 0, started = 0;  // grants taken, payloads sent
    std::uint64_t ended_out = 0, ended_in = 0;
    transfer out, in;
    bytes outgoing, incoming;
  };

  static std::size_t size_of(std::uint64_t number) { return 1 + number * number % 90000; }
  std::uint64_t seed(int from, int to, std::uint64_t number) const { return number * 100 + from * 10u + to; }

  bool finished() const {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      if (static_cast<int>(peer) == index_) continue;
      const peer_state& one = peers_[peer];
      if (std::min({one.sent, one.heard, one.ended_out, one.ended_in}) < rounds) return false;
    }
    return true;
  }

  bool tell(int peer, kind what, std::uint64_t number) {
    bytes frame(frame_size);
    const header top{what, index_, number};
    std::memcpy(frame.data(), &top, sizeof top);
    return link_.inject(peer, frame);
  }

  void talk(int peer, peer_state& one) {
    if (one.sent < rounds && tell(peer, kind::plain, one.sent)) ++one.sent;
    if (one.posted < rounds && one.posted == one.ended_in) {
      one.incoming.assign(size_of(one.posted), std::byte{});
      if (link_.receive_payload(peer, one.posted, one.incoming, one.in)) ++one.posted;
    }
    if (one.granted < one.posted && tell(peer, kind::grant, one.granted)) ++one.granted;
    if (one.started < one.allowed && one.started == one.ended_out) {
      one.outgoing = pattern(size_of(one.started), seed(index_, peer, one.started));
      if (link_.send_payload(peer, one.started, one.outgoing, one.out)) ++one.started;
    }
  }

  void arrived(std::span<const std::byte> frame) override {
    header top{};
    wrong_ += frame.size() != frame_size;
    std::memcpy(&top, frame.data(), std::min(sizeof top, frame.size()));
    peer_state& one = peers_.at(static_cast<std::size_t>(top.from));
    std::uint64_t& count = top.what == kind::plain ? one.heard : one.allowed;
    wrong_ += top.number != count++;
  }

  void done(transfer& ended, std::size_t count, std::error_code error) override {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      peer_state& one = peers_[peer];
      if (error && (&ended == &one.in || &ended == &one.out)) ++wrong_;
      if (&ended == &one.in) {
        wrong_ += count != one.incoming.size() ||
                  one.incoming != pattern(one.incoming.size(), seed(static_cast<int>(peer), index_, one.ended_in));
        ++one.ended_in;
      } else if (&ended == &one.out) {
        ++one.ended_out;
      }
    }
  }

  transport& link_;
  const int index_;
  std::vector<peer_state> peers_;
  std::size_t wrong_ = 0;
};

}  // namespace

TEST_CASE("three endpoints, a thread each, exchange frames and payloads all at once", "[transport][threads]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 3);
    std::vector<std::unique_ptr<talker>> talkers;
    std::atomic<int> unfinished{3};
    std::atomic<int> failed{0};
    for (int index = 0; index < 3; ++index) talkers.push_back(std::make_unique<talker>(*at[index].link, index, 3));
    {
      std::vector<std::jthread> threads;
      for (int index = 0; index < 3; ++index) {
        threads.emplace_back([&, index] {
          try {
            talkers[index]->run(unfinished);
          } catch (const std::exception& problem) {
            std::cerr << problem.what() << '\n';
            ++failed;
          }
        });
      }
    }
    CHECK(failed == 0);
    for (const auto& one : talkers) CHECK(one->wrong() == 0);
  }
}
