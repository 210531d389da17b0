// SPDX-License-Identifier: Apache-2.0
// The transport's contract, over everything that implements it here: payloads.
#include <algorithm>
#include <cstring>
#include <deque>

#include "catch.hpp"
#include "fabric/transport_media.hpp"
#include "sanitized.hpp"

using namespace weft::fabric;
using namespace weft_test;

namespace {

/// At once, where == looks at each byte, which with sanitizers takes most of the time.
bool same(const bytes& a, const bytes& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// Moves `whole` from one endpoint to another in pieces, each into a receive posted before, `window` at a time.
bytes moved(std::vector<station>& at, int from, int to, const bytes& whole, std::size_t piece) {
  struct flight {
    transfer sent, received;
    std::size_t offset, size;
  };
  constexpr std::size_t window = 4;
  bytes copy(whole.size());
  std::deque<flight> flying;
  std::size_t next = 0, landed = 0;
  std::uint64_t tag = 0;
  until(
      [&] {
        if (next < whole.size() && flying.size() < window) {
          flight& one = flying.emplace_back();
          one.offset = next;
          one.size = std::min(piece, whole.size() - next);
          const std::span<std::byte> into(copy.data() + one.offset, one.size);
          const std::span<const std::byte> out(whole.data() + one.offset, one.size);
          ++tag;
          until([&] { return poll_all(at), at[to].link->receive_payload(from, tag, into, one.received); }, "a receive");
          until([&] { return poll_all(at), at[from].link->send_payload(to, tag, out, one.sent); },
                "a payload's posting");
          next += one.size;
        }
        poll_all(at);
        while (!flying.empty()) {
          const ending* const sent = at[from].seen.of(flying.front().sent);
          const ending* const received = at[to].seen.of(flying.front().received);
          if (sent == nullptr || received == nullptr) break;
          if (sent->error || received->error || received->bytes != flying.front().size) return true;
          landed += flying.front().size;
          std::erase_if(at[from].seen.endings, [&](const ending& e) { return e.which == &flying.front().sent; });
          std::erase_if(at[to].seen.endings, [&](const ending& e) { return e.which == &flying.front().received; });
          flying.pop_front();
        }
        return landed == whole.size();
      },
      "a payload", std::chrono::seconds(200));
  return copy;
}

}  // namespace

TEST_CASE("payloads of 1 byte to 64 MiB arrive in pieces", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{4097}, std::size_t{65536},
                                   (std::size_t{1} << 20) + 1, std::size_t{slowed ? 8 : 64} << 20}) {
      CAPTURE(size);
      const bytes whole = pattern(size, size);
      const std::size_t piece = std::min(std::size_t{256} << 10, at[0].link->limits().payload);
      CHECK(same(moved(at, 0, 1, whole, piece), whole));
    }
    CHECK((moved(at, 1, 1, pattern(70000, 1), 65536) == pattern(70000, 1)));  // to itself
  }
}

TEST_CASE("a receive may be longer than its payload", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    for (const std::size_t size : {10, 5000, 100000}) {
      transfer sent, received;
      bytes space(200000, std::byte{0xee});
      const bytes payload = pattern(size, 3);
      until([&] { return poll_all(at), at[1].link->receive_payload(0, 5, space, received); }, "a receive's posting");
      until([&] { return poll_all(at), at[0].link->send_payload(1, 5, payload, sent); }, "a payload's posting");
      until([&] { return poll_all(at), at[1].seen.of(received) != nullptr && at[0].seen.of(sent) != nullptr; }, "it");
      CHECK(at[1].seen.of(received)->bytes == size);
      CHECK((bytes(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(size)) == payload));
      CHECK(std::all_of(space.begin() + static_cast<std::ptrdiff_t>(size), space.end(),
                        [](std::byte one) { return one == std::byte{0xee}; }));
      at[0].seen.endings.clear();
      at[1].seen.endings.clear();
    }
  }
}

TEST_CASE("payloads go to the receive posted for their sender and tag", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 3);
    const std::uint64_t high = at[0].link->limits().tag_mask;
    const std::uint64_t tags[] = {1, high, high ^ 1};
    struct flight {
      transfer sent, received;
      bytes out, in;
    };
    std::vector<flight> flights(6);
    for (std::size_t index = 0; index < 6; ++index) {
      flights[index].out = pattern(1000, index);
      flights[index].in.resize(1000);
      const int from = static_cast<int>(index % 2);
      until(
          [&] {
            return poll_all(at),
                   at[2].link->receive_payload(from, tags[index / 2], flights[index].in, flights[index].received);
          },
          "a receive's posting");
    }
    for (const std::size_t index : {4, 1, 3, 0, 5, 2}) {
      const int from = static_cast<int>(index % 2);
      until(
          [&] {
            return poll_all(at),
                   at[from].link->send_payload(2, tags[index / 2], flights[index].out, flights[index].sent);
          },
          "a payload's posting");
    }
    until([&] { return poll_all(at), at[2].seen.endings.size() == 6; }, "the payloads");
    until([&] { return poll_all(at), at[0].seen.endings.size() + at[1].seen.endings.size() == 6; }, "the sends");
    for (const flight& one : flights) CHECK((one.in == one.out));
  }
}

TEST_CASE("a posted receive can be cancelled", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    transfer cancelled, sent, received;
    bytes space(100), other(100);
    until([&] { return poll_all(at), at[1].link->receive_payload(0, 1, space, cancelled); }, "a receive's posting");
    until([&] { return poll_all(at), at[1].link->receive_payload(0, 2, other, received); }, "a receive's posting");
    at[1].link->cancel(cancelled);
    until([&] { return poll_all(at), at[1].seen.of(cancelled) != nullptr; }, "the cancelled receive");
    CHECK(at[1].seen.of(cancelled)->error == std::errc::operation_canceled);
    const bytes payload = pattern(100, 1);
    until([&] { return poll_all(at), at[0].link->send_payload(1, 2, payload, sent); }, "a payload's posting");
    until([&] { return poll_all(at), at[1].seen.of(received) != nullptr && at[0].seen.of(sent) != nullptr; }, "it");
    CHECK((other == payload));
    CHECK(at[1].seen.endings.size() == 2);
    at[1].link->cancel(received);  // too late: no effect
    for (int quiet = 0; quiet < 100; ++quiet) poll_all(at);
    CHECK(at[1].seen.endings.size() == 2);
  }
}

TEST_CASE("an endpoint closes with receives posted and frames unread", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 3);
    transfer waiting;
    bytes space(100);
    until([&] { return poll_all(at), at[1].link->receive_payload(0, 1, space, waiting); }, "a receive's posting");
    at[0].link->inject(1, pattern(8, 1));
    at[1].link.reset();
    at[0].poll();
    until([&] { return at[0].poll(), at[2].poll(), at[0].link->inject(2, pattern(8, 2)); }, "room");
    until([&] { return at[0].poll(), at[2].poll(), !at[2].seen.frames.empty(); }, "a frame");
    CHECK(at[2].seen.frames[0] == pattern(8, 2));
  }
}

TEST_CASE("what a cut connection was bringing ends, and nothing of it lands later", "[transport]") {
  const bool receiver_connects = GENERATE(false, true);
  for (const medium& over : media()) {
    if (over.links > 1 || (over.provider != default_provider() && over.provider != "tcp;ofi_rxm")) continue;
    CAPTURE(over, receiver_connects);
    std::vector<station> at = start_all(open(over, 2), receive_bytes);
    station &receiving = at[receiver_connects ? 0 : 1], &sending = at[receiver_connects ? 1 : 0];
    for (const int from : {0, 1})
      until([&] { return poll_all(at), at[from].link->inject(1 - from, pattern(8, 1)); }, "a first frame's posting");
    until([&] { return poll_all(at), !at[0].seen.frames.empty() && !at[1].seen.frames.empty(); }, "the first frames");

    bytes memory(std::size_t{64} << 20);
    const bytes message(memory.size(), std::byte{1});
    transfer in{}, out{};
    const int receiver = receiver_connects ? 0 : 1;
    until([&] { return receiving.poll(), receiving.link->receive_payload(1 - receiver, 1, memory, in); }, "a receive");
    until([&] { return sending.poll(), sending.link->send_payload(receiver, 1, message, out); }, "a send");
    // The sender falls silent with the payload begun: nobody polls it.
    const auto poll_receiver = [&](std::chrono::milliseconds time) {
      for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;)
        receiving.poll();
    };
    poll_receiver(std::chrono::milliseconds(100));
    receiving.link->cancel(in);
    poll_receiver(std::chrono::milliseconds(100));
    REQUIRE(receiving.seen.of(in) == nullptr);  // too late for that

    receiving.link->cut(1 - receiver, sending.link->settle_connections()[static_cast<std::size_t>(receiver)]);
    until([&] { return receiving.poll(), receiving.seen.of(in) != nullptr; }, "the end of the receive");
    CHECK(receiving.seen.of(in)->error);
    const bytes landed = memory;
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
         std::chrono::steady_clock::now() < end;)
      poll_all(at);
    CHECK(same(memory, landed));
    CHECK(!same(memory, message));
  }
}

TEST_CASE("a frame does not wait for the payload that was sent before it", "[transport]") {
  std::vector<station> at = introduced({default_provider()}, 2);
  const bytes payload = pattern(std::size_t{64} << 20, 1);
  bytes memory(payload.size());
  transfer sent, received;
  until([&] { return poll_all(at), at[1].link->receive_payload(0, 1, memory, received); }, "a receive's posting");
  until([&] { return poll_all(at), at[0].link->send_payload(1, 1, payload, sent); }, "a payload's posting");
  until([&] { return poll_all(at), at[0].link->inject(1, pattern(8, 2)); }, "a frame's posting");
  until([&] { return poll_all(at), !at[1].seen.frames.empty(); }, "the frame");
  CHECK(at[1].seen.of(received) == nullptr);
  until([&] { return poll_all(at), at[1].seen.of(received) != nullptr && at[0].seen.of(sent) != nullptr; }, "it");
  CHECK(same(memory, payload));
}
