// SPDX-License-Identifier: Apache-2.0
// Control connections between monitors: messages one behind the other, as they come in pieces, and what is made of
// them. With 0 in front: a hello.
#include <chrono>
#include <vector>
#include <weft/runtime/error.hpp>

#include "fabric/watch/control_protocol.hpp"
#include "fabric/watch/job_news.hpp"
#include "fabric/watch/verdict.hpp"
#include "input.hpp"

using namespace weft::fabric;

namespace {

constexpr std::uint32_t processes = 5;

void read_hello(std::span<const std::byte> bytes) {
  read_prefix(bytes, control_hello::magic);
  const auto hello = decode_hello(bytes);
  if (!hello) return;
  const auto again = decode_hello(encode(*hello));
  weft_fuzz::require(again && again->job == hello->job && again->from == hello->from && again->to == hello->to &&
                     again->incarnation == hello->incarnation && again->number == hello->number &&
                     again->prefix.host == hello->prefix.host && again->prefix.build == hello->prefix.build);
}

/// One process's knowledge.
struct listener {
  job_news news{static_cast<int>(processes)};
  verdict part{{.self = 0,
                .processes = static_cast<int>(processes),
                .timeout = std::chrono::seconds(1),
                .heartbeat = std::chrono::milliseconds(250),
                .flood = [](std::uint64_t, std::span<const std::byte> said) {
                  weft_fuzz::require(encode(decode_vote(said, static_cast<int>(processes))).size() == said.size());
                }}};
  verdict::time_point now{};
};

void learn(listener& one, const control_message& heard) {
  job_news& news = one.news;
  if (heard.kind == control_kind::alive || heard.process >= processes) return;
  const int process = static_cast<int>(heard.process);
  if (heard.kind == control_kind::lost) news.learn_lost(process, std::string(weft_fuzz::text_of(heard.bytes)));
  if (heard.kind == control_kind::left) news.learn_left(process);
  if (heard.kind == control_kind::note) news.learn_note(process, heard.sequence, heard.bytes);
  if (heard.kind == control_kind::vote) one.part.take(process, heard.sequence, heard.bytes, one.now);
  if (heard.kind == control_kind::left && process != 0) one.part.lose(process, one.now);
  one.now += std::chrono::milliseconds(heard.sequence % 1024);
  one.part.hear({{1}, {2}}, one.now);
}

/// What one monitor knows, another one understands.
void check(const job_news& news) {
  const auto known = news.everything();
  std::span<const std::byte> rest = known;
  while (!rest.empty()) weft_fuzz::require(take_message(rest).has_value());
}

void read_messages(weft_fuzz::input from) try {
  listener one;
  std::vector<std::byte> incoming;
  while (!from.empty()) {
    const auto piece = from.take_bytes(1 + std::size_t{from.take()});
    incoming.insert(incoming.end(), piece.begin(), piece.end());
    std::span<const std::byte> rest = incoming;
    while (const auto heard = take_message(rest)) {
      weft_fuzz::require(!encode(*heard).empty());
      learn(one, *heard);
    }
    incoming.erase(incoming.begin(), incoming.end() - static_cast<std::ptrdiff_t>(rest.size()));
  }
  check(one.news);
} catch (const weft::error& failure) {
  weft_fuzz::require(failure.code() == weft::errc::protocol);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft_fuzz::input from(data, size);
  if (size == 0 || data[0] != 0) {
    read_messages(from);
  } else {
    from.take();
    read_hello(from.rest());
  }
  return 0;
}
