// Control connections between monitors: messages one behind the other, as they come in pieces, and what is made of
// them. With 0 in front: a hello.
#include <vector>
#include <weft/runtime/error.hpp>

#include "fabric/watch/control_protocol.hpp"
#include "fabric/watch/job_news.hpp"
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

void learn(job_news& news, const control_message& heard) {
  if (heard.kind == control_kind::alive || heard.process >= processes) return;
  const int process = static_cast<int>(heard.process);
  if (heard.kind == control_kind::lost) news.learn_lost(process, std::string(weft_fuzz::text_of(heard.bytes)));
  if (heard.kind == control_kind::left) news.learn_left(process);
  if (heard.kind == control_kind::note) news.learn_note(process, heard.sequence, heard.bytes);
}

/// What one monitor knows, another one understands.
void check(const job_news& news) {
  const auto known = news.everything();
  std::span<const std::byte> rest = known;
  while (!rest.empty()) weft_fuzz::require(take_message(rest).has_value());
}

void read_messages(weft_fuzz::input from) try {
  job_news news(static_cast<int>(processes));
  std::vector<std::byte> incoming;
  while (!from.empty()) {
    const auto piece = from.take_bytes(1 + std::size_t{from.take()});
    incoming.insert(incoming.end(), piece.begin(), piece.end());
    std::span<const std::byte> rest = incoming;
    while (const auto heard = take_message(rest)) {
      weft_fuzz::require(!encode(*heard).empty());
      learn(news, *heard);
    }
    incoming.erase(incoming.begin(), incoming.end() - static_cast<std::ptrdiff_t>(rest.size()));
  }
  check(news);
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
