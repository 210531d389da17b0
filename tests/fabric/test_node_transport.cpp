// SPDX-License-Identifier: Apache-2.0
// Messages of which some go through the node's memory and some outside. Contract tests of both kinds of payloads are in
// test_transport*.cpp, as media "node" and "node, copying".
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>
#include <weft/runtime/error.hpp>

#include "fabric/file_limit.hpp"
#include "fabric/transport_media.hpp"
#include "sanitized.hpp"

using namespace weft_test;
using fabric::transfer;

namespace {

/// The last one is not of the node.
std::vector<station> mixed(bool reads) { return start_all(on_a_node(open({"loopback"}, 3), reads, 1)); }

/// A payload from the first of them to the second one, of which the second has copied some, but not all.
struct half_copied {
  explicit half_copied(bool reads) : at(mixed(reads)), payload(pattern(8 << 20, 1)), memory(payload.size()) {
    REQUIRE(at[1].link->receive_payload(0, 5, memory, received));
    REQUIRE(at[0].link->send_payload(1, 5, payload, sent));
    at[0].poll();
    at[1].poll();
    REQUIRE(memory.front() == payload.front());
    REQUIRE(at[1].seen.of(received) == nullptr);
  }

  std::vector<station> at;
  bytes payload;
  bytes memory;  // where it lands
  transfer sent, received;
};

}  // namespace

TEST_CASE("who is not of the node is reached from outside", "[transport][node]") {
  const bool reads = GENERATE(true, false);
  CAPTURE(reads);
  std::vector<station> at = mixed(reads);
  std::uint64_t number = 0;
  for (const int from : {0, 1, 2})
    for (const int to : {0, 1, 2}) {
      const bytes frame = pattern(100, ++number), payload = pattern(300'000, ++number);
      bytes memory(payload.size());
      transfer sent, received;
      until([&] { return at[to].link->receive_payload(from, 5, memory, received); }, "a receive's posting");
      until([&] { return at[from].link->inject(to, frame); }, "a frame's posting");
      until([&] { return at[from].link->send_payload(to, 5, payload, sent); }, "a payload's posting");
      until([&] { return poll_all(at), at[to].seen.of(received) != nullptr && at[from].seen.of(sent) != nullptr; },
            "the payload");
      CHECK((memory == payload));
      CHECK(at[to].seen.of(received)->bytes == payload.size());
      CHECK_FALSE(at[to].seen.of(received)->error);
      CHECK_FALSE(at[from].seen.of(sent)->error);
      until([&] { return poll_all(at), !at[to].seen.frames.empty(); }, "the frame");
      CHECK((at[to].seen.frames[0] == frame));
      for (station& each : at) each.seen.frames.clear(), each.seen.endings.clear();
    }
}

TEST_CASE("short messages arrive whole, in order with frames, and only by the node's memory", "[transport][node]") {
  std::vector<station> at = mixed(GENERATE(true, false));
  CHECK(at[0].link->is_near(1));
  CHECK_FALSE(at[0].link->is_near(2));
  CHECK_FALSE(at[0].link->put_message(2, {1, 2}, {3, 4}, pattern(8, 1)));
  CHECK_FALSE(at[0].link->put_frame(2, pattern(8, 1), pattern(8, 2)));
  const bytes head = pattern(64, 1), body = pattern(200'000, 2);
  REQUIRE(at[0].link->put_frame(1, head, body));
  until([&] { return at[1].poll(), !at[1].seen.frames.empty(); }, "a frame of two parts");
  CHECK(std::equal(head.begin(), head.end(), at[1].seen.frames[0].begin()));
  CHECK(std::equal(body.begin(), body.end(), at[1].seen.frames[0].begin() + 64, at[1].seen.frames[0].end()));
  at[1].seen.frames.clear();
  at[1].seen.order.clear();
  using order_of = collecting_receiver::order_of;
  std::vector<order_of> order;
  std::uint64_t messages = 0;
  for (const std::size_t size : {0, 1, 8, 31, 32, 33, 64, 700, 4096, 8192}) {
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t number = ++messages;
      until(
          [&] {
            return at[1].poll(), at[0].link->put_message(1, {number << 40, ~number}, {-1, 7}, pattern(size, number));
          },
          "a message's posting");
      order.push_back(order_of::message);
    }
    until([&] { return at[1].poll(), at[0].link->inject(1, pattern(64, size)); }, "a frame's posting");
    order.push_back(order_of::frame);
  }
  until([&] { return at[1].poll(), at[1].seen.order.size() >= order.size(); }, "all of them");
  CHECK((at[1].seen.order == order));
  REQUIRE(at[1].seen.messages.size() == messages);
  std::uint64_t number = 0;
  for (const auto& [peer, name, ends, message] : at[1].seen.messages) {
    ++number;
    CHECK(peer == 0);
    CHECK(name.communicator == number << 40);
    CHECK(name.tag == ~number);
    CHECK(ends.source == -1);
    CHECK(ends.destination == 7);
    CHECK((message == pattern(message.size(), number)));
  }
  at[0].link->cut(1, 0);
  CHECK_FALSE(at[0].link->put_message(1, {1, 2}, {3, 4}, pattern(8, 1)));
}

TEST_CASE("a payload is taken while its sender does nothing", "[transport][node]") {
  if (emulated) return;  // where no process reads another's memory
  std::vector<station> at = mixed(true);
  const bytes payload = pattern(3'000'000, 1);
  bytes memory(payload.size());
  transfer sent, received;
  at[1].link->receive_payload(0, 5, memory, received);
  REQUIRE(at[0].link->send_payload(1, 5, payload, sent));
  until([&] { return at[1].poll(), at[1].seen.of(received) != nullptr; }, "the payload");
  CHECK((memory == payload));
  CHECK(at[0].seen.of(sent) == nullptr);
  until([&] { return at[0].poll(), at[0].seen.of(sent) != nullptr; }, "the sender's end");
}

TEST_CASE("the sender of a short payload goes on before it has been taken", "[transport][node]") {
  const bool reads = GENERATE(true, false);
  const std::size_t length = GENERATE(0, 1, 8192, 8193, 16384);
  CAPTURE(reads, length);
  std::vector<station> at = mixed(reads);
  const bytes payload = pattern(length, 1);
  bytes sent_from = payload, memory(length);
  transfer sent, received;
  at[1].link->receive_payload(0, 5, memory, received);
  REQUIRE(at[0].link->send_payload(1, 5, sent_from, sent));
  at[0].poll();
  CHECK(at[0].seen.of(sent) != nullptr);
  std::fill(sent_from.begin(), sent_from.end(), std::byte{0});
  until([&] { return at[1].poll(), at[1].seen.of(received) != nullptr; }, "the payload");
  CHECK((memory == payload));
}

TEST_CASE("payloads are whole whoever copies which part of them", "[transport][node]") {
  const bool reads = GENERATE(true, false);
  const std::uint64_t seed = test_seed();
  CAPTURE(reads, seed);
  std::vector<station> at = mixed(reads);
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  struct journey {
    bytes payload, memory;
    transfer sent, received;
  };
  for (int round = 0; round < 20; ++round) {
    const bool alike = round % 2 == 0;  // of one tag, so that their order counts
    std::vector<std::unique_ptr<journey>> all;
    for (std::uint64_t tag = 0; tag < 6; ++tag) {  // even ones from 0 to 1, odd ones back
      const std::size_t longest[]{100, 20'000, 300'000, 2'000'000};
      journey& one = *all.emplace_back(std::make_unique<journey>());
      one.payload = pattern(below(longest[below(4)]), random());
      one.memory.resize(one.payload.size());
      at[1 - tag % 2].link->receive_payload(static_cast<int>(tag % 2), alike ? 5 : tag, one.memory, one.received);
    }
    for (std::size_t tag = 0; tag < all.size(); ++tag)
      until(
          [&] {
            return at[tag % 2].link->send_payload(1 - static_cast<int>(tag % 2), alike ? 5 : tag, all[tag]->payload,
                                                  all[tag]->sent) ||
                   (poll_all(at), false);
          },
          "a payload's posting");
    const std::size_t lazy = 2 + below(30);  // one of them polls so much less than the other
    until(
        [&] {
          at[below(lazy) == 0 ? 0 : 1].poll();
          if (below(8) == 0) std::this_thread::sleep_for(std::chrono::microseconds(below(8)));
          return std::ranges::all_of(all, [&](const auto& each) {
            const std::size_t tag = static_cast<std::size_t>(&each - all.data());
            return at[tag % 2].seen.of(each->sent) != nullptr && at[1 - tag % 2].seen.of(each->received) != nullptr;
          });
        },
        "all payloads");
    for (const auto& each : all) CHECK((each->memory == each->payload));
    for (station& each : at) each.seen.endings.clear();
  }
}

TEST_CASE("of payloads that are read together one that cannot be read spoils none silently", "[transport][node]") {
  if (emulated) return;                                       // as above
  const std::size_t unreadable = GENERATE(0, 1, 20, 39, 40);  // 40: all can be read
  CAPTURE(unreadable);
  std::vector<station> at = mixed(true);
  constexpr std::size_t length = 20'000, many = 40;
  void* const hidden = ::mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(hidden != MAP_FAILED);
  struct journey {
    bytes payload, memory;
    transfer sent, received;
  };
  journey back;  // payloads behind others are read while some come the other way
  back.payload = pattern(8 << 20, many);
  back.memory.resize(back.payload.size());
  at[0].link->receive_payload(1, many, back.memory, back.received);
  REQUIRE(at[1].link->send_payload(0, many, back.payload, back.sent));
  at[0].poll();
  std::vector<std::unique_ptr<journey>> all;
  for (std::size_t i = 0; i < many; ++i) {
    journey& one = *all.emplace_back(std::make_unique<journey>());
    one.payload = pattern(length, i);
    one.memory.resize(length);
    at[1].link->receive_payload(0, i, one.memory, one.received);
    const std::span<const std::byte> from(i == unreadable ? static_cast<const std::byte*>(hidden) : one.payload.data(),
                                          length);
    REQUIRE(at[0].link->send_payload(1, i, from, one.sent));
  }
  std::size_t ended_in_one_poll = 0;
  until(
      [&] {
        const std::size_t before = at[1].seen.endings.size();
        at[1].poll();
        ended_in_one_poll = std::max(ended_in_one_poll, at[1].seen.endings.size() - before);
        return std::ranges::all_of(all, [&](const auto& each) { return at[1].seen.of(each->received) != nullptr; });
      },
      "all payloads' ends");
  CHECK(ended_in_one_poll > 1);
  for (std::size_t i = 0; i < many; ++i) {
    INFO("payload " << i);
    const std::error_code failed = at[1].seen.of(all[i]->received)->error;
    CHECK((failed || all[i]->memory == all[i]->payload));
    if (unreadable == many) CHECK_FALSE(failed);
    if (i == unreadable) CHECK(failed == std::errc::bad_address);
  }
  ::munmap(hidden, length);
}

TEST_CASE("frames pass a payload that is being copied", "[transport][node]") {
  const bool reads = GENERATE(true, false);
  CAPTURE(reads);
  half_copied copying(reads);
  std::vector<station>& at = copying.at;
  std::size_t passed = 0;
  until(
      [&] {
        at[0].link->inject(1, pattern(8, 1));
        at[1].poll();
        if (at[1].seen.of(copying.received) == nullptr) passed = at[1].seen.frames.size();
        at[0].poll();
        return at[1].seen.of(copying.received) != nullptr;
      },
      "the payload");
  CHECK(passed > 10);
  CHECK((copying.memory == copying.payload));
}

TEST_CASE("a payload that is being copied can be cancelled, and nothing of it lands later", "[transport][node]") {
  const bool reads = GENERATE(true, false);
  CAPTURE(reads);
  half_copied copying(reads);
  std::vector<station>& at = copying.at;
  at[1].link->cancel(copying.received);
  at[1].poll();
  REQUIRE(at[1].seen.of(copying.received) != nullptr);
  CHECK(at[1].seen.of(copying.received)->error == std::errc::operation_canceled);
  std::fill(copying.memory.begin(), copying.memory.end(), std::byte{0});
  until([&] { return poll_all(at), at[0].seen.of(copying.sent) != nullptr; }, "the sender's end");
  CHECK((copying.memory == bytes(copying.memory.size())));

  const bytes next = pattern(1000, 2);
  transfer sent_next, received_next;
  at[1].link->receive_payload(0, 5, std::span(copying.memory).first(next.size()), received_next);
  REQUIRE(at[0].link->send_payload(1, 5, next, sent_next));
  until([&] { return poll_all(at), at[1].seen.of(received_next) != nullptr; }, "the next payload");
  CHECK(std::equal(next.begin(), next.end(), copying.memory.begin()));
}

TEST_CASE("what is on its way to or from a process that is cut off ends", "[transport][node]") {
  const bool reads = GENERATE(true, false);
  CAPTURE(reads);
  half_copied copying(reads);
  std::vector<station>& at = copying.at;
  at[1].link->cut(0, 0);
  at[1].poll();
  REQUIRE(at[1].seen.of(copying.received) != nullptr);
  CHECK(at[1].seen.of(copying.received)->error);
  at[0].link->cut(1, 0);
  at[0].poll();
  REQUIRE(at[0].seen.of(copying.sent) != nullptr);
  CHECK(at[0].seen.of(copying.sent)->error);
  CHECK_FALSE(at[0].link->inject(1, std::span(copying.payload).first(8)));
  transfer other;
  CHECK_FALSE(at[0].link->send_payload(1, 5, copying.payload, other));
}

TEST_CASE("what is copied of who has cut this process off is no payload", "[transport][node]") {
  if (emulated) return;  // as above
  half_copied copying(true);
  std::vector<station>& at = copying.at;
  at[0].link->cut(1, 0);
  at[0].poll();
  REQUIRE(at[0].seen.of(copying.sent) != nullptr);
  std::fill(copying.payload.begin(), copying.payload.end(), std::byte{0});  // the application's again
  until([&] { return at[1].poll(), at[1].seen.of(copying.received) != nullptr; }, "the receive's end");
  CHECK(at[1].seen.of(copying.received)->error == std::errc::connection_aborted);
}

TEST_CASE("a receive that is too short for its payload ends with an error, and its neighbour stays",
          "[transport][node]") {
  const bool reads = GENERATE(true, false);
  CAPTURE(reads);
  std::vector<station> at = mixed(reads);
  const bytes payload = pattern(1000, 1);
  bytes memory(1000);
  transfer sent, received;
  at[1].link->receive_payload(0, 5, std::span(memory).first(999), received);
  REQUIRE(at[0].link->send_payload(1, 5, payload, sent));
  until([&] { return poll_all(at), at[1].seen.of(received) != nullptr && at[0].seen.of(sent) != nullptr; }, "it");
  CHECK(at[1].seen.of(received)->error);
  CHECK((memory == bytes(memory.size())));
}

TEST_CASE("where there is no memory for a ring its first message says so", "[transport][node]") {
  std::vector<station> at = mixed(true);
  const file_limit short_files(1 << 20);
  try {
    at[0].link->inject(1, pattern(8, 1));
    FAIL("it was sent");
  } catch (const weft::error& refused) {
    CHECK(refused.code().value() == EFBIG);
  }
}
