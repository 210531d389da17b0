// SPDX-License-Identifier: Apache-2.0
// What the processes of a node tell each other until they share memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {

/// Everything that is said, both ways.
struct arena_note {
  std::uint64_t job = 0;
  std::int32_t process = 0;        ///< who speaks
  std::uint32_t incarnation = 0;   ///< and of him
  std::uint32_t addressee = 0;     ///< the other's incarnation: known from the job's store alone
  std::uint32_t good = 1;          ///< else `reason` says why not
  std::uint32_t reads = 1;         ///< whether he can read the other's memory; else `reason` says why not
  std::uint32_t heaps = 1;         ///< whether there are heaps, and he has mapped them
  std::uint64_t probe = 0;         ///< where in his memory there is a number to try that with: his incarnation
  std::array<char, 256> reason{};  ///< ends with 0
};

/// Says no to `what_not`, a member of `by`, and why: as much of it as there is room for.
void write_reason(arena_note& by, std::uint32_t& what_not, std::string_view reason) noexcept;

/// Sends one, with a descriptor if there is one. Never blocks: false where that fails.
bool send_note(const file_descriptor& to, const arena_note& said, const file_descriptor* passed = nullptr) noexcept;

/// The next one of whoever is there, and the descriptor that came with it, if one did. Nothing where there is none now;
/// throws errc::protocol where another message came, and at the connection's end.
struct received_note {
  arena_note note;
  file_descriptor passed;
};
std::optional<received_note> receive_note(const file_descriptor& from);

}  // namespace weft::fabric
