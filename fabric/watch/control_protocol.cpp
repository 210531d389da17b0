// SPDX-License-Identifier: Apache-2.0
#include "control_protocol.hpp"

#include <algorithm>
#include <weft/fabric/monitor_events.hpp>
#include <weft/fabric/wire_bytes.hpp>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

constexpr std::size_t longest_message =
    1 + 4 + 8 + longest_note;  // but for votes, which have as many bits as processes

bool numbered(control_kind kind) { return kind >= control_kind::note; }
bool tailed(control_kind kind) {
  return kind == control_kind::lost || kind == control_kind::note || kind == control_kind::vote;
}

}  // namespace

std::vector<std::byte> encode(const control_hello& hello) {
  std::vector<std::byte> result;
  put_prefix(result, control_hello::magic, hello.prefix);
  put(result, hello.job);
  put(result, hello.from);
  put(result, hello.to);
  put(result, hello.incarnation);
  put(result, hello.number);
  return result;
}

std::optional<control_hello> decode_hello(std::span<const std::byte> bytes) {
  auto prefix = read_prefix(bytes, control_hello::magic);
  if (!prefix || bytes.size() < control_hello::size) return std::nullopt;
  byte_reader from(bytes.subspan(build_prefix::size));
  control_hello result;
  result.prefix = std::move(*prefix);
  result.job = from.number<std::uint64_t>();
  result.from = from.number<std::uint32_t>();
  result.to = from.number<std::uint32_t>();
  result.incarnation = from.number<std::uint32_t>();
  std::ranges::copy(from.bytes(result.number.size()), result.number.begin());
  return result;
}

proof prove_end(control_end end, std::span<const std::byte> secret, std::span<const std::byte> connector_hello,
                std::span<const std::byte> acceptor_hello) {
  const auto purpose = end == control_end::connector ? "weft control connector" : "weft control acceptor";
  return prove(secret, purpose, {connector_hello, acceptor_hello});
}

std::vector<std::byte> encode(const control_message& message) {
  const bool about_process = message.kind != control_kind::alive;
  std::vector<std::byte> result;
  put(result, static_cast<std::uint16_t>(1 + (about_process ? 4 : 0) + (numbered(message.kind) ? 8 : 0) +
                                         message.bytes.size()));
  put(result, static_cast<std::uint8_t>(message.kind));
  if (about_process) put(result, message.process);
  if (numbered(message.kind)) put(result, message.sequence);
  put(result, message.bytes);
  return result;
}

std::optional<control_message> take_message(std::span<const std::byte>& from) {
  byte_reader reader(from);
  const auto length = reader.number<std::uint16_t>();
  byte_reader front = reader;
  const auto kind = front.number<std::uint8_t>();
  if (!reader.good() || (length > 0 && !front.good())) return std::nullopt;
  if (length < 1 || (length > longest_message && kind != static_cast<std::uint8_t>(control_kind::vote)))
    throw error(errc::protocol, "control message of " + std::to_string(length) + " bytes; 1 to " +
                                    std::to_string(longest_message) + " are possible");
  byte_reader body(reader.bytes(length));
  if (!reader.good()) return std::nullopt;
  control_message result;
  body.number<std::uint8_t>();
  if (kind < 1 || kind > static_cast<std::uint8_t>(control_kind::held))
    throw error(errc::protocol, "control message of the unknown kind " + std::to_string(kind));
  result.kind = static_cast<control_kind>(kind);
  if (result.kind != control_kind::alive) result.process = body.number<std::uint32_t>();
  if (numbered(result.kind)) result.sequence = body.number<std::uint64_t>();
  result.bytes = body.rest();
  if (!body.good() || (!tailed(result.kind) && !result.bytes.empty()))
    throw error(errc::protocol, "control message of kind " + std::to_string(kind) + " with " + std::to_string(length) +
                                    " bytes, which is not its length");
  from = reader.rest();
  return result;
}

}  // namespace weft::fabric
