// SPDX-License-Identifier: Apache-2.0
// What joined links write in front of frames, and say to each other.
//
//   greet      opens a connection, or asks whether it works; in no order. link: of which; sequence 1: asks for an
//   answer carried    a frame of the transport's user landed     tag_body    the payload of that tag has landed
//   elsewhere  tag_body    the payload of that tag is to come by link `link`; by `no_link`: not at all
//   given_up   link `link` is used no more between the two
//   named      tag_body    the sender's end of the connection that it opened on link `link` (transport::cut)
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::fabric {

enum class link_word : std::uint16_t { greet = 1, carried, landed, elsewhere, given_up, named };

inline constexpr std::uint16_t no_link = 0xffff;

/// In front of every frame; little-endian as all machines that weft runs on.
struct link_header {
  std::uint32_t key = 0;       ///< of the sender
  std::uint32_t process = 0;   ///< who sends
  std::uint32_t sequence = 0;  ///< counts the frames from this process to that one, whatever link each takes
  std::uint32_t expected = 0;  ///< all frames of the other direction before this one have come
  link_word word = link_word::carried;
  std::uint16_t link = 0;
};

struct tag_body {
  std::uint64_t tag = 0;
};

/// Whether `a` comes before `b` in a count that begins anew after the largest number.
constexpr bool comes_before(std::uint32_t a, std::uint32_t b) noexcept { return static_cast<std::int32_t>(a - b) < 0; }

}  // namespace weft::fabric
