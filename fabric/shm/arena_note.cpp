// SPDX-License-Identifier: Apache-2.0
#include "arena_note.hpp"

#include <span>
#include <type_traits>
#include <utility>

#include "descriptor_passing.hpp"

namespace weft::fabric {

// It travels as it lies in memory, between processes of one machine and one build.
static_assert(std::has_unique_object_representations_v<arena_note>);

void write_reason(arena_note& by, std::uint32_t& what_not, std::string_view reason) noexcept {
  what_not = 0;
  by.reason.fill('\0');
  reason.copy(by.reason.data(), by.reason.size() - 1);
}

bool send_note(const file_descriptor& to, const arena_note& said, const file_descriptor* passed) noexcept {
  return send_message(to, std::as_bytes(std::span(&said, 1)), passed);
}

std::optional<received_note> receive_note(const file_descriptor& from) {
  received_note received;
  auto message = receive_message(from, std::as_writable_bytes(std::span(&received.note, 1)));
  if (!message) return std::nullopt;
  received.note.reason.back() = '\0';
  received.passed = std::move(message->passed);
  return received;
}

}  // namespace weft::fabric
