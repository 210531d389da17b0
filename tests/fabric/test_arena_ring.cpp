// SPDX-License-Identifier: Apache-2.0
// One direction of messages in shared memory, against a queue.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>
#include <weft/fabric/arena_ring.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "fabric/collecting_receiver.hpp"
#include "seed.hpp"

using namespace weft::fabric;
using weft_test::pattern;

namespace {

/// A ring whose memory is there, though it counts what it is said to need; there is none beyond `most`, and it may not
/// become longer than `longest`.
class ring {
 public:
  explicit ring(std::size_t most = arena_ring_bytes, std::size_t longest = arena_ring_bytes)
      : memory_(static_cast<std::byte*>(
            ::mmap(nullptr, arena_ring_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        writer(memory_, state_, reading_,
               [this, most, longest](std::size_t offset, std::size_t bytes) {
                 if (offset != reserved) throw std::logic_error("a part is made that does not follow the last");
                 if (offset + bytes > longest) return false;
                 if (offset + bytes > most) throw std::runtime_error("no memory");
                 reserved += bytes;
                 return true;
               }),
        reader(memory_, state_, reading_) {}
  ~ring() { ::munmap(memory_, arena_ring_bytes); }

  std::byte* memory() { return memory_; }

 private:
  std::byte* memory_;
  arena_ring_state state_;
  arena_ring_reading reading_;

 public:
  std::size_t reserved = 0;
  arena_ring_writer writer;
  arena_ring_reader reader;
};

bool is(std::span<const std::byte> record, const weft_test::bytes& expected) {
  return std::ranges::equal(record, expected);
}

}  // namespace

TEST_CASE("a ring hands on what was put into it, in order", "[arena][ring]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::size_t full = 0, grown = 0;
  for (int run = 0; run < 40; ++run) {
    CAPTURE(run);
    ring one;
    std::deque<std::uint64_t> there;
    std::uint64_t next = 0;
    const std::size_t longest = std::size_t{1} << (4 + random() % 14);
    const unsigned eager = 1 + static_cast<unsigned>(random() % 15);
    const auto size_of = [&](std::uint64_t number) { return (number * 0x9e3779b97f4a7c15u >> 20) % (longest + 1); };
    for (int turn = 0; turn < 3000; ++turn) {
      if (random() % 16 < eager) {
        const auto bytes = pattern(size_of(next), next);
        const std::size_t split = bytes.empty() ? 0 : random() % bytes.size();
        if (one.writer.put(static_cast<std::uint8_t>(1 + next % 200), std::span(bytes).first(split),
                           std::span(bytes).subspan(split)))
          there.push_back(next++);
        else
          ++full;
      } else if (const auto found = one.reader.next(); found.kind != 0) {
        REQUIRE_FALSE(there.empty());
        const std::uint64_t number = there.front();
        there.pop_front();
        REQUIRE(found.kind == 1 + number % 200);
        REQUIRE(is(found.bytes, pattern(size_of(number), number)));
        if (random() % 2 == 0) one.reader.release();
      } else {
        REQUIRE(there.empty());
        one.reader.release();
      }
    }
    if (one.reserved > 64 << 10) ++grown;
    CHECK(one.reserved <= arena_ring_bytes);
  }
  CHECK(full > 0);
  CHECK(grown > 0);
}

TEST_CASE("a ring whose reader keeps up stays within a page", "[arena][ring]") {
  ring one;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto bytes = pattern(i % 100, i);
    REQUIRE(one.writer.put(1, bytes));
    REQUIRE(is(one.reader.next().bytes, bytes));
    one.reader.release();
  }
  CHECK(one.reserved == 4096);
}

TEST_CASE("a ring holds thousands of frames while its reader is away", "[arena][ring]") {
  ring one;
  const auto frame = pattern(64, 1);
  for (int i = 0; i < (256 << 10) / 64; ++i) REQUIRE(one.writer.put(1, frame));
  for (int i = 0; i < (256 << 10) / 64; ++i) REQUIRE(is(one.reader.next().bytes, frame));
  CHECK(one.reader.next().kind == 0);
}

TEST_CASE("a ring whose reader is behind grows, rather than begin again with room for one record", "[arena][ring]") {
  ring one;
  const auto record = pattern(4000, 1);
  for (int i = 0; i < 7; ++i) REQUIRE(one.writer.put(1, record));
  for (int i = 0; i < 2; ++i) REQUIRE(one.reader.next().kind == 1);  // there is room for one at the beginning
  one.reader.release();
  for (int i = 0; i < 40; ++i) REQUIRE(one.writer.put(1, record));
  for (int i = 0; i < 45; ++i) REQUIRE(is(one.reader.next().bytes, record));
}

TEST_CASE("a ring that cannot grow begins again where there is room for a record", "[arena][ring]") {
  ring one(32 << 10);
  const auto record = pattern(4000, 1);
  for (int i = 0; i < 8; ++i) REQUIRE(one.writer.put(1, record));  // it is full
  for (int i = 0; i < 2; ++i) REQUIRE(one.reader.next().kind == 1);
  one.reader.release();
  REQUIRE(one.writer.put(1, record));
  for (int i = 0; i < 7; ++i) REQUIRE(is(one.reader.next().bytes, record));
}

TEST_CASE("a ring that may not become longer has room for two of the longest records, wherever its reader is",
          "[arena][ring]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const std::size_t longest : {100u, 16'000u, 16'400u, 40'000u}) {
    CAPTURE(longest);
    const std::size_t least = arena_ring_writer::least_bytes(longest);
    ring one(arena_ring_bytes, least);
    std::size_t waited = 0;
    for (std::uint64_t next = 0; next < 2000; ++next) {
      const auto bytes = pattern(random() % 4 == 0 ? longest : random() % (longest + 1), next);
      if (!one.writer.put(1, bytes)) {
        ++waited;
        while (one.reader.next().kind != 0) continue;
        one.reader.release();
        REQUIRE(one.writer.put(1, bytes));
      }
    }
    CHECK(waited > 0);
    CHECK(one.reserved == least);
  }
}

TEST_CASE("a ring may be full to its end", "[arena][ring]") {
  for (const std::size_t bytes : {0u, 1u, 8u, 55u, 56u, 57u, 120u, 700u, 4088u}) {
    CAPTURE(bytes);
    ring one;
    const auto frame = pattern(bytes, 1);
    int written = 0;
    while (one.writer.put(1, frame)) ++written;
    CHECK(one.reserved == arena_ring_bytes);
    for (int i = 0; i < written; ++i) REQUIRE(is(one.reader.next().bytes, frame));
    CHECK(one.reader.next().kind == 0);
  }
}

TEST_CASE("where there is no memory for more of a ring who writes hears it, and what is in it stays", "[arena][ring]") {
  ring one(4096);
  const auto frame = pattern(500, 1);
  int written = 0;
  for (; written < 7; ++written) REQUIRE(one.writer.put(1, frame));
  CHECK_THROWS_AS(one.writer.put(1, frame), std::runtime_error);
  for (int i = 0; i < written; ++i) REQUIRE(is(one.reader.next().bytes, frame));
  one.reader.release();
  REQUIRE(one.writer.put(2, frame));
  CHECK(one.reader.next().kind == 2);
}

TEST_CASE("what no writer can have written is refused", "[arena][ring]") {
  const std::uint64_t second = std::uint64_t{2} << 32 | 1 << 24;
  const std::uint64_t word = GENERATE_COPY(second | (arena_ring_bytes - 64), second | 0xffffff);
  ring one;
  REQUIRE(one.writer.put(1, pattern(8, 1)));
  REQUIRE(one.reader.next().kind == 1);
  std::memcpy(one.memory() + 64, &word, sizeof word);
  try {
    one.reader.next();
    FAIL("it was taken for a record");
  } catch (const weft::error& refused) {
    CHECK(refused.code() == weft::errc::protocol);
  }
}

TEST_CASE("what looks like the next record in the bytes of another one is none", "[arena][ring]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  ring one;
  for (std::uint32_t number = 1; number < 30'000; ++number) {
    // Wherever the record behind it may begin a lap later there are words of records to come.
    std::vector<std::uint64_t> words(random() % 4 == 0 ? random() % 1024 : random() % 16);
    for (auto& each : words) each = (number + 1 + random() % 600) << 32 | 1 << 24 | 8;
    REQUIRE(one.writer.put(1, std::as_bytes(std::span(words))));
    const auto found = one.reader.next();
    REQUIRE(found.kind == 1);
    REQUIRE(std::ranges::equal(found.bytes, std::as_bytes(std::span(words))));
    const auto none = one.reader.next();
    REQUIRE(none.kind == 0);
    if (random() % 8 != 0) one.reader.release();
  }
}

TEST_CASE("a writer and a reader on threads of their own", "[arena][ring][threads]") {
  const std::uint64_t seed = weft_test::test_seed();
  CAPTURE(seed);
  ring one;
  constexpr std::uint64_t count = 50'000;
  const auto size_of = [&](std::uint64_t number) { return ((number + seed) * 0x9e3779b97f4a7c15u >> 30) % 700; };
  std::jthread writing([&](const std::stop_token& given_up) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto bytes = pattern(size_of(i), i);
      while (!one.writer.put(1, bytes) && !given_up.stop_requested()) std::this_thread::yield();
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count;) {
    const auto found = one.reader.next();
    if (found.kind == 0) {
      one.reader.release();
      std::this_thread::yield();
      continue;
    }
    if (!is(found.bytes, pattern(size_of(i), i))) ++wrong;
    if (++i % 8 == 0) one.reader.release();
  }
  writing.join();
  CHECK(wrong == 0);
}
