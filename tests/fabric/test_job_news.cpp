// SPDX-License-Identifier: Apache-2.0
// What a process keeps of the notes that it has heard, to repeat it.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "catch.hpp"
#include "fabric/failing_allocation.hpp"
#include "fabric/watch/control_protocol.hpp"
#include "fabric/watch/job_news.hpp"

using namespace weft_test;
using weft::fabric::job_news;

namespace {

constexpr int processes = 3;

/// Notes of all processes in turn, of such lengths.
void learn(job_news& news, std::uint64_t count, std::size_t shortest, std::size_t longest) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::vector<std::byte> note(shortest + i * 7 % (longest - shortest + 1), static_cast<std::byte>(i));
    news.learn_note(static_cast<int>(i % processes), i / processes + 1, note);
  }
}

/// Checks that the latest of so many learned notes are repeated, whole and in their order. How many those are.
std::uint64_t repeated(const job_news& news, std::uint64_t count, std::size_t shortest, std::size_t longest) {
  const job_news::frame all = news.everything();
  CHECK(all.size() <= job_news::kept_notes);
  std::vector<weft::fabric::control_message> messages;
  for (std::span<const std::byte> rest = all; !rest.empty();) {
    const auto message = weft::fabric::take_message(rest);
    REQUIRE(message);
    messages.push_back(*message);
  }
  std::uint64_t i = count - messages.size();
  for (const auto& message : messages) {
    REQUIRE(message.process == i % processes);
    REQUIRE(message.sequence == i / processes + 1);
    REQUIRE(message.bytes.size() == shortest + i * 7 % (longest - shortest + 1));
    REQUIRE(message.bytes.back() == static_cast<std::byte>(i));
    ++i;
  }
  return messages.size();
}

}  // namespace

TEST_CASE("notes take no more memory than their bytes, however many and however short they are") {
  job_news news(processes);
  const std::int64_t before = bytes_in_use();
  learn(news, 100'000, 20, 40);
  CHECK(bytes_in_use() - before < static_cast<std::int64_t>(job_news::kept_notes) + (64 << 10));
}

TEST_CASE("a job without notes keeps no memory for them") {
  const std::int64_t before = bytes_in_use();
  const job_news news(processes);
  CHECK(bytes_in_use() - before < 4096);
}

TEST_CASE("the latest notes are repeated, whole and in their order") {
  job_news few(processes), many(processes);
  learn(few, 100, 1, 1000);
  CHECK(repeated(few, 100, 1, 1000) == 100);
  learn(many, 10'000, 1, 1000);
  CHECK(repeated(many, 10'000, 1, 1000) > job_news::kept_notes / 600);
}
