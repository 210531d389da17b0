// SPDX-License-Identifier: Apache-2.0
#include "store_connection.hpp"

#include <array>
#include <weft/runtime/error.hpp>

#include "bytes.hpp"

namespace weft {
namespace {

namespace protocol = store_protocol;

/// The length of the message that the input begins with, or 0 when that cannot be told yet.
std::size_t message_length(const store_connection& c) {
  if (c.is_stranger()) return protocol::hello_size;
  if (c.input.size() < protocol::request_size) return 0;
  auto header = std::span<const std::byte>(c.input).subspan(2);
  const std::size_t key = take<std::uint16_t>(header);
  const std::size_t value = take<std::uint32_t>(header);
  if (key > store::maximum_key || value > store::maximum_value)
    throw error(errc::protocol, "store request longer than any may be");
  return protocol::request_size + key + value;
}

}  // namespace

void store_connection::close_at_once() {
  closing = true;
  output.clear();
}

void store_connection::receive() {
  std::array<std::byte, 16 << 10> buffer;
  const std::ptrdiff_t received = receive_now(socket, buffer);
  if (received < 0) throw error(errc::protocol, "connection closed");
  append(input, std::span<const std::byte>(buffer).first(static_cast<std::size_t>(received)));
}

std::optional<std::vector<std::byte>> store_connection::next_message() {
  const std::size_t length = message_length(*this);
  if (length == 0 || input.size() < length) return std::nullopt;
  const auto end = input.begin() + static_cast<std::ptrdiff_t>(length);
  std::vector<std::byte> message(input.begin(), end);
  input.erase(input.begin(), end);
  return message;
}

void store_connection::reply(protocol::reply status, std::span<const std::byte> value) {
  append(output, static_cast<std::uint32_t>(status));
  append(output, sequence);
  append(output, static_cast<std::uint64_t>(value.size()));
  append(output, value);
}

void store_connection::send() {
  while (sent < output.size()) {
    const std::ptrdiff_t went = send_now(socket, std::span<const std::byte>(output).subspan(sent));
    if (went == 0) break;
    if (went < 0) closing = true;
    sent = went < 0 ? output.size() : sent + static_cast<std::size_t>(went);
  }
  if (sent < output.size()) return;
  output.clear();
  sent = 0;
}

}  // namespace weft
