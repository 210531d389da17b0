// SPDX-License-Identifier: Apache-2.0
// The transport's contract, over everything that implements it here: frames.
#include <set>

#include "catch.hpp"
#include "fabric/transport_media.hpp"
#include "sanitized.hpp"

using namespace weft::fabric;
using namespace weft_test;

TEST_CASE("frames of every size arrive whole", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    const transport_limits limits = at[0].link->limits();
    CHECK(limits.inject >= 64);
    CHECK(limits.frame >= limits.inject);
    CHECK(limits.tag_mask >= 0xffffffff);
    std::size_t wrong = 0;
    for (std::size_t size = 1; size <= limits.inject; ++size) {
      const bytes frame = pattern(size, size);
      until([&] { return poll_all(at), at[0].link->inject(1, frame); }, "an inject's posting");
      until([&] { return poll_all(at), !at[1].seen.frames.empty(); }, "an injected frame");
      wrong += at[1].seen.frames.size() != 1 || at[1].seen.frames[0] != frame;
      at[1].seen.frames.clear();
    }
    std::set<std::size_t> sizes = {1, limits.frame - 1, limits.frame};
    for (std::size_t size = 1; size < limits.frame; size = size * 3 / 2 + 1) sizes.insert(size);
    for (const std::size_t size : sizes) {
      const bytes frame = pattern(size, size);
      send_and_wait(at, 1, 0, frame);
      wrong += at[0].seen.frames.size() != 1 || at[0].seen.frames[0] != frame;
      at[0].seen.frames.clear();
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("thousands of frames wait in order for a receiver that polls late", "[transport]") {
  constexpr std::uint64_t count = slowed ? 20'000 : 100'000, size = 64, credits = receive_bytes / size;
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    std::uint64_t sent = 0, received = 0;
    std::size_t wrong = 0;
    const auto send_one = [&] {
      const bool yes = sent < count && sent - received < credits && at[0].link->inject(1, numbered(sent, size));
      if (yes) ++sent;
      return yes;
    };
    for (int refused = 0; refused < 1000 && sent - received < credits;) {  // until the ring or the provider is full
      if (send_one()) {
        refused = 0;
      } else {
        ++refused;
        at[0].poll();
      }
    }
    until(
        [&] {
          poll_all(at);
          while (send_one()) continue;
          for (const bytes& frame : at[1].seen.frames) wrong += frame != numbered(received++, size);
          at[1].seen.frames.clear();
          return received == count;
        },
        "the frames", std::chrono::seconds(200));
    for (int quiet = 0; quiet < 100; ++quiet) poll_all(at);
    CHECK(at[1].seen.frames.empty());
    CHECK(wrong == 0);
  }
}

TEST_CASE("receives are refused, not lost, when as many are posted as the provider bears", "[transport]") {
  for (const medium& over : media()) {
    CAPTURE(over);
    std::vector<station> at = introduced(over, 2);
    std::vector<transfer> receives(5000);
    bytes space(receives.size());
    std::size_t posted = 0;
    for (int refused = 0; refused < 20 && posted < receives.size();) {
      const bool taken = at[1].link->receive_payload(0, posted, std::span(space).subspan(posted, 1), receives[posted]);
      taken ? void(++posted) : void(++refused);
    }
    CHECK(posted >= 100);
    // Frames get through all the same, in both directions.
    for (int count = 0; count < 2000; ++count) {
      until([&] { return poll_all(at), at[0].link->inject(1, pattern(60, 1)); }, "room");
      if (count % 10 == 0) until([&] { return poll_all(at), at[1].link->inject(0, pattern(60, 1)); }, "room");
    }
    until([&] { return poll_all(at), at[1].seen.frames.size() == 2000; }, "frames");
    until([&] { return poll_all(at), at[0].seen.frames.size() == 200; }, "frames back");
    // Payload by payload, and the rest by cancelling: then as many can be posted again.
    transfer sent;
    const bytes payload = pattern(1, 7);
    until([&] { return poll_all(at), at[0].link->send_payload(1, posted / 2, payload, sent); }, "posting");
    until([&] { return poll_all(at), at[1].seen.of(receives[posted / 2]) != nullptr; }, "a payload");
    CHECK(space[posted / 2] == payload[0]);
    for (std::size_t index = 0; index < posted; ++index) at[1].link->cancel(receives[index]);
    until([&] { return poll_all(at), at[1].seen.endings.size() == posted; }, "the cancelled receives");
    std::size_t again = 0;
    until(
        [&] {
          poll_all(at);
          again += at[1].link->receive_payload(0, again, std::span(space).subspan(again, 1), receives[again]);
          return again == posted;
        },
        "room for as many receives again");
  }
}

TEST_CASE("an address of another kind is refused", "[transport]") {
  for (const medium& over : media()) {
    // shm takes any text for the name of a process that may yet come; who shares memory asks for no address.
    if (over.provider == "shm" || over.provider.starts_with("node")) continue;
    CAPTURE(over);
    std::vector<std::unique_ptr<transport>> links = open(over, 1);
    const address wrong[] = {address(3)};
    CHECK_THROWS_AS(links[0]->start(wrong, receive_bytes), weft::error);
  }
}
