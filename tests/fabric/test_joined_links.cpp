// SPDX-License-Identifier: Apache-2.0
// Several links as one: which of them is taken, and what comes of those that fail. (That nothing gets lost is seen in
// test_messenger_traffic.cpp, and all that holds for any transport by transport_media.hpp.)
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "fabric/links/frame_order.hpp"
#include "fabric/transport_media.hpp"

using namespace weft_test;
using fabric::transport;

namespace {

/// What one link was given.
struct given {
  int frames = 0, payloads = 0;
  bool fails = false;  ///< posts are errors of the provider
};

class counted_link final : public transport {
 public:
  counted_link(std::unique_ptr<transport> inner, given& counts) : inner_(std::move(inner)), counts_(counts) {}
  const fabric::transport_limits& limits() const noexcept override { return inner_->limits(); }
  fabric::address local_address() const override { return inner_->local_address(); }
  void start(std::span<const fabric::address> peers, std::size_t bytes) override { inner_->start(peers, bytes); }
  bool inject(int peer, std::span<const std::byte> frame) override { return inner_->inject(peer, frame); }
  bool send(int peer, std::span<const std::byte> frame, fabric::transfer& context) override {
    if (counts_.fails) throw weft::error(weft::errc::provider_failed, "no route");
    ++counts_.frames;
    return inner_->send(peer, frame, context);
  }
  bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes, fabric::transfer& context) override {
    if (counts_.fails) throw weft::error(weft::errc::provider_failed, "no route");
    ++counts_.payloads;
    return inner_->send_payload(peer, tag, bytes, context);
  }
  bool receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes, fabric::transfer& context) override {
    return inner_->receive_payload(peer, tag, bytes, context);
  }
  void cancel(fabric::transfer& context) override { inner_->cancel(context); }
  void cut(int peer, std::uint64_t their_end) noexcept override { inner_->cut(peer, their_end); }
  std::size_t poll(fabric::receiver& to) override { return inner_->poll(to); }

 private:
  std::unique_ptr<transport> inner_;
  given& counts_;
};

/// Two processes with two links between them, which may be broken without anybody's being told.
struct pair {
  pair() {
    std::vector<std::unique_ptr<transport>> ends;
    for (int process = 0; process < 2; ++process) {
      std::vector<std::unique_ptr<transport>> links;
      for (std::size_t link = 0; link < 2; ++link)
        links.push_back(std::make_unique<counted_link>(
            std::make_unique<breakable_link>(networks[link].endpoint(process), process, static_cast<int>(link), broken),
            by_link[link]));
      fabric::joined_links_settings settings;
      settings.process = process;
      settings.keys = {7, 8};
      settings.time = &time;
      settings.given_up = [this](int, int link) { given_up.push_back(link); };
      ends.push_back(fabric::join_links(std::move(links), std::move(settings)));
    }
    at = start_all(std::move(ends));
  }
  void meet(std::uint32_t kept) {
    frame(0, 1);
    until([&] { return poll_all(at), at[0].link->links_in_contact() == 3 && at[1].link->links_in_contact() == 3; },
          "contact");
    for (station& one : at) one.link->keep_links(kept);
    until([&] { return poll_all(at), true; }, "what was on its way");
    for (given& each : by_link) each = {};
  }
  void frame(int from, int to) {
    until([&] { return poll_all(at), at[from].link->inject(to, pattern(40, 1)); }, "a frame's posting");
    until([&] { return poll_all(at), !at[to].seen.frames.empty(); }, "a frame");
    at[to].seen.frames.clear();
  }

  std::array<fabric::loopback_network, 2> networks{fabric::loopback_network(2), fabric::loopback_network(2)};
  broken_links broken;
  weft::manual_clock time;
  std::array<given, 2> by_link;
  std::vector<int> given_up;
  std::vector<station> at;
};

/// One from process 0 to process 1, of 5000 bytes.
struct payload {
  bytes message = pattern(5000, 3), space = bytes(message.size());
  fabric::transfer in, out;
  bool receive(pair& job, std::uint64_t tag) { return job.at[1].link->receive_payload(0, tag, space, in); }
  bool send(pair& job, std::uint64_t tag) { return job.at[0].link->send_payload(1, tag, message, out); }
  bool has_come() const { return space == message; }
};

}  // namespace

TEST_CASE("payloads take the links by turns, and frames that which has least to do", "[links]") {
  pair job;
  job.meet(3);
  CHECK(job.at[0].link->limits().links == 2);
  std::array<fabric::transfer, 4> in{}, out{};
  std::array<bytes, 4> space;
  const bytes message = pattern(1 << 16, 3);
  for (std::size_t i = 0; i < 4; ++i) {
    space[i].resize(message.size());
    REQUIRE(job.at[1].link->receive_payload(0, std::uint64_t{i} << 32 | 5, space[i], in[i]));
  }
  for (const std::size_t i : {0, 1, 2, 3})
    REQUIRE(job.at[0].link->send_payload(1, std::uint64_t{i} << 32 | 5, message, out[i]));
  CHECK(job.by_link[0].payloads == 2);
  CHECK(job.by_link[1].payloads == 2);
  until([&] { return poll_all(job.at), job.at[0].seen.endings.size() == 4 && job.at[1].seen.endings.size() == 4; },
        "the payloads");
  for (const bytes& each : space) CHECK((each == message));

  // One link has a payload on its way out: frames take the other.
  fabric::transfer more_in, more_out;
  REQUIRE(job.at[1].link->receive_payload(0, 6, space[0], more_in));
  REQUIRE(job.at[0].link->send_payload(1, 6, message, more_out));
  const std::size_t busy = job.by_link[0].payloads == 3 ? 0 : 1;
  job.by_link = {};
  for (int i = 0; i < 5; ++i) REQUIRE(job.at[0].link->inject(1, pattern(40, 2)));
  CHECK(job.by_link[busy].frames == 0);
  CHECK(job.by_link[1 - busy].frames == 5);
}

TEST_CASE("a link that is not kept is not used", "[links]") {
  pair job;
  job.meet(1);
  CHECK(job.at[0].link->limits().links == 1);
  for (int i = 0; i < 10; ++i) job.frame(i % 2, 1 - i % 2);
  CHECK(job.by_link[1].frames == 0);
}

TEST_CASE("a link whose provider fails is given up, and the errors of the last one are its user's", "[links]") {
  pair job;
  job.meet(3);
  job.by_link[0].fails = true;
  for (int i = 0; i < 10; ++i) job.frame(i % 2, 1 - i % 2);
  CHECK(job.given_up == std::vector{0, 0});
  job.by_link[1].fails = true;
  CHECK_THROWS_AS(job.at[0].link->inject(1, pattern(40, 1)), weft::error);
}

TEST_CASE("where the last link fails while what others said is answered, that peer alone is lost", "[links]") {
  pair job;
  job.meet(3);
  payload sent;
  REQUIRE(sent.receive(job, 5));
  REQUIRE(sent.send(job, 5));
  for (given& each : job.by_link) each.fails = true;  // what has landed cannot be said
  until([&] { return job.at[1].poll(), !job.at[1].seen.lost.empty(); }, "the peer's loss");
  CHECK(job.at[1].seen.lost == std::vector{0});
  CHECK(sent.has_come());
}

TEST_CASE("a payload that the last link refuses for good is its user's again", "[links]") {
  pair job;
  job.meet(3);
  payload sent;
  for (given& each : job.by_link) each.fails = true;
  // By their turns the first would take link 0, which is given up, and the second link 1.
  REQUIRE(sent.send(job, 4));
  CHECK(job.given_up == std::vector{0});
  payload other;
  CHECK_THROWS_AS(other.send(job, 5), weft::error);
  job.at[0].link->cancel(other.out);  // it is not there
  for (given& each : job.by_link) each.fails = false;
  poll_all(job.at);
  CHECK(job.at[0].seen.of(other.out) == nullptr);
  REQUIRE(other.receive(job, 5));
  REQUIRE(other.send(job, 5));
  until([&] { return poll_all(job.at), job.at[1].seen.of(other.in) != nullptr; }, "the payload");
  CHECK(other.has_come());
}

TEST_CASE("a link on which all vanishes is given up once the other side answers by another", "[links]") {
  pair job;
  job.meet(3);
  const auto poll_for = [&](std::chrono::milliseconds time) {
    for (; time.count() > 0; time -= std::chrono::milliseconds(50)) {
      job.time.advance(std::chrono::milliseconds(50));
      poll_all(job.at);
    }
  };
  job.broken.insert({0, 1});
  payload sent;
  REQUIRE(sent.receive(job, 5));
  REQUIRE(sent.send(job, 5));
  // Nobody is given up because it does not poll.
  for (int i = 0; i < 20; ++i) {
    job.time.advance(std::chrono::seconds(1));
    job.at[0].poll();
  }
  CHECK(job.given_up.empty());
  poll_for(std::chrono::seconds(9));
  CHECK(job.given_up == std::vector{1, 1});
  REQUIRE(job.at[1].seen.of(sent.in) != nullptr);
  CHECK(sent.has_come());
  REQUIRE(job.at[0].seen.of(sent.out) != nullptr);
  CHECK_FALSE(job.at[0].seen.of(sent.out)->error);
}

TEST_CASE("links that work are kept, however little is said by one side", "[links]") {
  pair job;
  job.meet(3);
  for (int i = 0; i < 400; ++i) {
    if (i % 10 == 0) job.frame(0, 1);
    job.time.advance(std::chrono::milliseconds(50));
    poll_all(job.at);
  }
  CHECK(job.given_up.empty());
}

TEST_CASE("frames are put in order, and what comes twice is dropped", "[links]") {
  fabric::frame_order order;
  bytes next;
  CHECK_FALSE(order.takes(2, pattern(10, 2)));
  CHECK_FALSE(order.takes(1, pattern(10, 1)));
  CHECK_FALSE(order.takes(2, pattern(10, 9)));
  CHECK_FALSE(order.next(next));
  CHECK(order.takes(0, pattern(10, 0)));
  for (const std::uint64_t number : {1, 2}) {
    REQUIRE(order.next(next));
    CHECK((next == pattern(10, number)));
  }
  CHECK_FALSE(order.next(next));
  CHECK_FALSE(order.takes(1, pattern(10, 1)));
  CHECK(order.expected() == 3);
  CHECK(order.takes(3, pattern(10, 3)));
}
